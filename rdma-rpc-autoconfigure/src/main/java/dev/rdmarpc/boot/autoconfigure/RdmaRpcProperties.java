/*
 * Copyright 2026 the rdma-rpc authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.rdmarpc.boot.autoconfigure;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

import dev.rdmarpc.balancing.LoadBalancing;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.rpc.Dispatch;
import dev.rdmarpc.rpc.HandlerThreads;
import dev.rdmarpc.rpc.Priority;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.transport.PollingMode;
import dev.rdmarpc.verbs.TlsOptions.ClientAuthentication;
import dev.rdmarpc.verbs.iwarp.CrcMode;
import dev.rdmarpc.verbs.shm.SharedMemoryTrust;

/**
 * The properties of RDMA RPC.
 *
 * @param provider Name of the only verbs provider to use, such as 'iwarp'. 'auto' uses
 * all that are available.
 * @param providers Names of the verbs providers to use, in order of preference, such as
 * 'shm,iwarp'. By default all that are available. Not beside 'rdma.rpc.provider'.
 * @param device Name of the provider's device. By default the provider chooses. Of
 * several providers, those that have a device of that name open it.
 * @param eagerLimit Largest message that is sent in frames; four times as much on a
 * connection with little else to send, unless it has registered memory. The receiver
 * fetches larger ones by RDMA Read, once it has memory for them.
 * @param maxMetadataSize Most metadata of a request or reply. Has to fit into one frame
 * with 552 bytes beside it.
 * @param streamWindow What one stream may have on the way to its consumer, and ready to
 * be sent at its producer. Each message counts for 64 bytes more than it has, but for at
 * most half of it.
 * @param memory Registered memory.
 * @param queuePairs Queue pairs and their receive buffers.
 * @param scheduler How large transfers make way for other messages of a connection.
 * @param polling How threads wait for completions.
 * @param codec FlatBuffers codec.
 * @param iwarp User-space iWARP provider.
 * @param shm Shared-memory provider.
 * @param observation Observation of calls.
 * @param security Protection of connections.
 * @param server Server.
 * @param grpc Applications written for gRPC.
 * @param discovery Targets at locations 'discovery:///service'.
 * @param client Clients by the names of their targets. The entry 'default' holds defaults
 * for all targets.
 */
@ConfigurationProperties(prefix = "rdma.rpc", ignoreUnknownFields = false)
public record RdmaRpcProperties(@DefaultValue("auto") String provider, @DefaultValue List<String> providers,
		@DefaultValue("") String device, @DefaultValue("40KB") DataSize eagerLimit,
		@DefaultValue("1KB") DataSize maxMetadataSize, @DefaultValue("256KB") DataSize streamWindow,
		@DefaultValue Memory memory, @DefaultValue QueuePairs queuePairs, @DefaultValue Scheduler scheduler,
		@DefaultValue Polling polling, @DefaultValue Codec codec, @DefaultValue Iwarp iwarp, @DefaultValue Shm shm,
		@DefaultValue Observation observation, @DefaultValue Security security, @DefaultValue Server server,
		@DefaultValue Grpc grpc, @DefaultValue Discovery discovery, @DefaultValue Map<String, Client> client) {

	/** The entry of {@link #client()} that applies to all targets. */
	public static final String DEFAULT_CLIENT = "default";

	/** The port of servers, and of targets, unless configured. */
	public static final int DEFAULT_PORT = 7471;

	@Nullable Client client(String target) {
		return MethodEntries.find(this.client, target);
	}

	/**
	 * Registered memory.
	 *
	 * @param initial Memory registered at startup and kept. A multiple of 4KB.
	 * @param max Maximum direct memory of the pool. Calls that find none free wait, then
	 * fail with RESOURCE_EXHAUSTED. A multiple of 4KB.
	 * @param extent Amount by which the pool grows and shrinks. A multiple of 4KB.
	 * @param threadCache Free memory that a thread may keep for itself. 0 for none. All
	 * threads together keep at most a quarter of max.
	 * @param allocationTimeout How long an allocation waits for memory if nothing large
	 * is taken or released; 0 for not at all. While something is, each second, blocking
	 * calls wait until their deadline, and everything else for up to 2 s, or this if it
	 * is more.
	 * @param leakDetection How thoroughly to look for buffers that are never released.
	 * @param registrationCache How much of the application's own memory stays registered
	 * while it is not in use.
	 * @param retention How long unused memory of the pool stays registered for reuse.
	 */
	public record Memory(@DefaultValue("16MB") DataSize initial, @DefaultValue("256MB") DataSize max,
			@DefaultValue("4MB") DataSize extent, @DefaultValue("1MB") DataSize threadCache,
			@DefaultValue("100ms") Duration allocationTimeout, @DefaultValue("disabled") LeakDetection leakDetection,
			@DefaultValue("64MB") DataSize registrationCache, @DefaultValue("1s") Duration retention) {

	}

	/**
	 * Queue pairs and their receive buffers.
	 *
	 * @param frameSize Size of a receive buffer, and thus of the largest frame accepted.
	 * A multiple of 8 bytes.
	 * @param minCredits Receives kept posted for an idle peer.
	 * @param credits Receives kept posted for a busy peer, if there is memory.
	 * @param maxReceives Maximum number of receives posted for all peers of a loop.
	 * @param sendDepth Maximum number of outstanding work requests per queue pair.
	 * @param readDepth Maximum number of outstanding RDMA Reads per queue pair and
	 * direction.
	 */
	public record QueuePairs(@DefaultValue("8KB") DataSize frameSize, @DefaultValue("8") int minCredits,
			@DefaultValue("128") int credits, @DefaultValue("65536") int maxReceives,
			@DefaultValue("256") int sendDepth, @DefaultValue("16") int readDepth) {

	}

	/**
	 * How large transfers make way for other messages of a connection.
	 *
	 * @param minSlice Smallest piece in which a large message is fetched.
	 * @param maxSlice Largest piece in which a large message is fetched.
	 * @param minWindow How much of large messages is asked for at a time at least while
	 * other messages as urgent, or more urgent ones, arrive on the connection, or small
	 * ones on any of its loop. Twice as much at least of less urgent messages is sent in
	 * frames at a time beside more urgent ones.
	 * @param maxWindow How much of large messages is asked for, or of less urgent ones
	 * sent in frames, at a time at most. The same as the least one switches all of this
	 * off.
	 */
	public record Scheduler(@DefaultValue("64KB") DataSize minSlice, @DefaultValue("256KB") DataSize maxSlice,
			@DefaultValue("128KB") DataSize minWindow, @DefaultValue("4MB") DataSize maxWindow) {

	}

	/**
	 * How threads wait for completions.
	 *
	 * @param mode Whether to poll continuously, to poll for a measured or for a fixed
	 * time and then wait for an event, or only to wait for events. By default adaptive,
	 * or event on a single processor.
	 * @param spinMax How long to poll in vain at most before waiting for an event. In
	 * adaptive mode, each loop polls for about as long as replies take, as it measures
	 * it, and not at all if most take longer than this; now and then up to 25 times as
	 * long, after polling has met replies for as much time. In fixed mode, for exactly
	 * this long.
	 */
	public record Polling(@Nullable PollingMode mode, @DefaultValue("200us") Duration spinMax) {

	}

	/**
	 * FlatBuffers codec.
	 *
	 * @param gatherThreshold A message references byte arrays and buffers of at least
	 * this size and copies smaller ones.
	 * @param maxDepth Maximum nesting depth of tables.
	 * @param maxAmplification How many bytes the reader of a message may visit and
	 * allocate per byte of the message. More fail with RESOURCE_EXHAUSTED.
	 * @param maxDecodedSize Maximum heap for the values of all received messages in use.
	 * More fail with RESOURCE_EXHAUSTED. By default a quarter of the heap.
	 */
	public record Codec(@DefaultValue("512B") DataSize gatherThreshold, @DefaultValue("64") int maxDepth,
			@DefaultValue("40") int maxAmplification, @Nullable DataSize maxDecodedSize) {

	}

	/**
	 * User-space iWARP provider.
	 *
	 * @param crc When to request a CRC of every frame. 'auto' requests it unless the peer
	 * is on this host.
	 * @param maxSegmentSize Longest DDP segment sent. By default derived for each
	 * connection from its path.
	 * @param copyThreshold Pieces of a payload up to this size are copied behind their
	 * header; longer ones are written to the socket in place.
	 * @param directReceiveThreshold When at least this much of a segment is still in the
	 * socket, it is read directly into its destination.
	 * @param sendBuffer Size of the socket send buffer. By default the system's.
	 * @param receiveBuffer Size of the socket receive buffer. By default the system's.
	 * @param peerToPeer Whether to announce, as the connecting side, that the listening
	 * side may send first (RFC 6581).
	 * @param maxQueuePairs Maximum number of open queue pairs.
	 * @param maxReadDepth Maximum number of outstanding RDMA Reads in one direction of a
	 * connection.
	 * @param drainTimeout How long an orderly disconnect waits for posted work to be
	 * sent.
	 * @param lingerTimeout How long the last bytes of a connection may take to reach the
	 * peer.
	 * @param frameTimeout How long a frame may take to arrive, from its first byte to its
	 * last, before the connection ends. 0 for no limit.
	 * @param staging Memory of each loop for partial frames and for bytes that peers do
	 * not take. When it is exhausted, the connection that has held some for longest ends.
	 * By default a 64th of rdma.rpc.memory.max, from 1MB to 64MB.
	 */
	public record Iwarp(@DefaultValue("auto") CrcMode crc, @Nullable DataSize maxSegmentSize,
			@DefaultValue("2KB") DataSize copyThreshold, @DefaultValue("8KB") DataSize directReceiveThreshold,
			@Nullable DataSize sendBuffer, @Nullable DataSize receiveBuffer, @DefaultValue("true") boolean peerToPeer,
			@DefaultValue("65536") int maxQueuePairs, @DefaultValue("128") int maxReadDepth,
			@DefaultValue("5s") Duration drainTimeout, @DefaultValue("2s") Duration lingerTimeout,
			@DefaultValue("10s") Duration frameTimeout, @Nullable DataSize staging) {

	}

	/**
	 * Shared-memory provider.
	 *
	 * @param directory Directory in which processes meet, permitted to the user, or
	 * group, alone. By default one of the user's, or group's, below /dev/shm.
	 * @param group Name or number of a group whose members may meet there. By default
	 * only processes of one user meet.
	 * @param ringSize Shared memory of a connection for each direction at most, a power
	 * of two. The side that listens decides, and takes less, down to 256KB, where a
	 * connection would need more than a 512th of what is free.
	 * @param maxQueuePairs Maximum number of open queue pairs.
	 * @param maxReadDepth Maximum number of outstanding RDMA Reads in one direction of a
	 * connection.
	 * @param drainTimeout How long an orderly disconnect waits for posted work to be
	 * taken.
	 * @param trust Which peers may read what they were lent out of this process's memory
	 * by themselves, which saves a copy of large messages: processes of the same user, or
	 * none. Both sides have to say so.
	 */
	public record Shm(@Nullable Path directory, @Nullable String group, @DefaultValue("1MB") DataSize ringSize,
			@DefaultValue("65536") int maxQueuePairs, @DefaultValue("128") int maxReadDepth,
			@DefaultValue("5s") Duration drainTimeout, @DefaultValue("none") SharedMemoryTrust trust) {

	}

	/**
	 * Observation of calls.
	 *
	 * @param client Whether to observe the calls that this application makes.
	 * @param server Whether to observe the calls that this application serves.
	 */
	public record Observation(@DefaultValue("true") boolean client, @DefaultValue("true") boolean server) {

	}

	/**
	 * Protection of connections.
	 *
	 * @param required Whether to refuse to start a server that others can reach without
	 * TLS or without authentication.
	 */
	public record Security(@DefaultValue("false") boolean required) {

	}

	/**
	 * Server.
	 *
	 * @param enabled Whether to serve the beans annotated with '@RdmaService'.
	 * @param address Network address to listen on. By default all addresses of this host.
	 * @param port Port to listen on. With 0 the system chooses one, which the property
	 * 'local.rdma.port' then holds.
	 * @param loops Event loops, each with a thread, that share the connections.
	 * @param maxConnections Maximum number of connections. Further ones are rejected,
	 * unless one that has been silent since it connected can be evicted.
	 * @param maxConnectionsPerAddress Maximum number of connections from one network
	 * address. Further ones are rejected.
	 * @param maxHandshakesPerSecond How many connections one network address may begin
	 * per second, on average. Further ones are rejected.
	 * @param maxConnectionsPerPrincipal Maximum number of connections of one caller that
	 * is known. Further ones are refused.
	 * @param maxCallsPerPrincipal Maximum number of calls in progress of one caller that
	 * is known. Further calls fail with RESOURCE_EXHAUSTED.
	 * @param maxRequestSizePerPrincipal Size of all requests in progress of one caller
	 * that is known, and of messages of its streams that were not consumed; a single one
	 * may have more. An address of which nobody knows who it is may have as much in
	 * messages of streams. Further calls and streams fail with RESOURCE_EXHAUSTED. By
	 * default three quarters of 'rdma.rpc.memory.max'.
	 * @param maxReplySizePerPeer Size of all replies, and messages of streams, that one
	 * caller has not taken yet: a principal, or an address of which nobody knows who it
	 * is. A single one may have more. Further calls fail with RESOURCE_EXHAUSTED. By
	 * default half of 'rdma.rpc.memory.max', or 'rdma.rpc.server.max-message-size' if
	 * that is more.
	 * @param maxConcurrentCalls Maximum number of concurrent calls, including those that
	 * wait for a thread. One connection may have four times what remains for others.
	 * Further calls fail with RESOURCE_EXHAUSTED.
	 * @param maxCallsPerConnection Maximum number of outstanding calls per connection.
	 * @param maxMessageSize Largest request accepted and largest reply sent.
	 * @param maxUnfinishedSize Memory for partially received requests of one connection.
	 * Further requests fail with RESOURCE_EXHAUSTED, but a single one is always accepted.
	 * @param handshakeTimeout Time for a peer to set up a connection, and again to make a
	 * call or answer a ping.
	 * @param keepAlive Silence after which a peer is pinged.
	 * @param deadPeerTimeout Silence after which a peer is considered dead. Must exceed
	 * keep-alive.
	 * @param drainTimeout How long shutdown waits for outstanding calls.
	 * @param dispatch Where handlers run: those that have been quick so far on the thread
	 * of the loop and all others on the executor, or all of them on one of the two.
	 * @param handlerThreads Threads of the server's own executor. 'auto' means virtual
	 * threads from Java 24 on, unless spring.threads.virtual.enabled says otherwise, and
	 * on Java 21 to 23 if it is true.
	 * @param maxHandlerThreads Maximum number of platform threads of the server's own
	 * executor. Virtual threads are as many as there are calls.
	 * @param slowCallThreshold How long a call takes, the wait for a thread included, of
	 * which a line is logged, for each method at most one in ten seconds. By default none
	 * is.
	 * @param accessLog Whether to log a line for each call.
	 * @param reflection What the server says about its services.
	 * @param ssl TLS.
	 * @param tokens Tokens by the names of the principals that show them. With tokens,
	 * callers without one of them are refused.
	 * @param services Who may call services, by their names or the last parts of these:
	 * 'allow' lists the principals, or is '*' for all that are known. By default all may
	 * call them that may connect.
	 */
	public record Server(@DefaultValue("true") boolean enabled, @Nullable InetAddress address,
			@DefaultValue("" + DEFAULT_PORT) int port, @DefaultValue("1") int loops,
			@DefaultValue("1024") int maxConnections, @DefaultValue("768") int maxConnectionsPerAddress,
			@DefaultValue("1000") int maxHandshakesPerSecond, @DefaultValue("768") int maxConnectionsPerPrincipal,
			@DefaultValue("16384") int maxCallsPerPrincipal, @Nullable DataSize maxRequestSizePerPrincipal,
			@Nullable DataSize maxReplySizePerPeer, @DefaultValue("1024") int maxConcurrentCalls,
			@DefaultValue("4096") int maxCallsPerConnection, @DefaultValue("16MB") DataSize maxMessageSize,
			@DefaultValue("64MB") DataSize maxUnfinishedSize, @DefaultValue("5s") Duration handshakeTimeout,
			@DefaultValue("10s") Duration keepAlive, @DefaultValue("30s") Duration deadPeerTimeout,
			@DefaultValue("10s") Duration drainTimeout, @DefaultValue("adaptive") Dispatch dispatch,
			@DefaultValue("auto") HandlerThreads handlerThreads, @DefaultValue("256") int maxHandlerThreads,
			@Nullable Duration slowCallThreshold, @DefaultValue("false") boolean accessLog,
			@DefaultValue Reflection reflection, @DefaultValue ServerSsl ssl, @DefaultValue Map<String, String> tokens,
			@DefaultValue Map<String, Service> services) {

		/** Shows no secret. */
		@Override
		public String toString() {
			return "Server[address=" + this.address + ", port=" + this.port + ", ssl=" + this.ssl + ", tokens of "
					+ this.tokens.keySet() + "]";
		}

	}

	/**
	 * What the server says about its services.
	 *
	 * @param enabled Whether whoever may call the server may ask for its services,
	 * methods and schemas, as tools do.
	 */
	public record Reflection(@DefaultValue("false") boolean enabled) {

	}

	/**
	 * A service of the server.
	 *
	 * @param allow Names of the principals that may call it, or '*' for all that are
	 * known.
	 */
	public record Service(@Nullable List<String> allow) {

	}

	/**
	 * TLS of the server.
	 *
	 * @param bundle Name of the SSL bundle with the certificate of this server. Without
	 * it, connections are not encrypted.
	 * @param clientAuth Whether callers have to show a certificate. Unless there are
	 * tokens, it says who they are.
	 * @param principal What of a caller's certificate is its name.
	 */
	public record ServerSsl(@DefaultValue("") String bundle, @DefaultValue("none") ClientAuthentication clientAuth,
			@DefaultValue("subject") CertificatePrincipal principal) {

	}

	/**
	 * Applications written for gRPC.
	 *
	 * @param server Server of gRPC services.
	 */
	public record Grpc(@DefaultValue GrpcServer server) {

	}

	/**
	 * Server of gRPC services.
	 *
	 * @param address Network address to listen on. By default all addresses of this host.
	 * @param port Port on which the gRPC services of this application are served over
	 * RDMA. With 0 the system chooses one, which the property 'local.rdma.grpc.port' then
	 * holds. Without a port they are not served over RDMA.
	 * @param loops Event loops, each with a thread, that share the connections.
	 * @param maxConnections Maximum number of connections. Further ones are rejected.
	 * @param maxConcurrentCalls Maximum number of open calls of all connections. One
	 * connection may have four times what remains for others. Further calls fail with
	 * RESOURCE_EXHAUSTED. By default 16384, or as many as need a quarter of the heap with
	 * all the metadata that are accepted, but at least 1024.
	 */
	public record GrpcServer(@Nullable InetAddress address, @Nullable Integer port, @DefaultValue("1") int loops,
			@DefaultValue("1024") int maxConnections, @Nullable Integer maxConcurrentCalls) {

	}

	/**
	 * Targets at locations 'discovery:///service'.
	 *
	 * @param portKey Key of the metadata in which an instance of a service announces its
	 * port for RDMA.
	 * @param zoneKey Key of the metadata that names the zone of an instance.
	 */
	public record Discovery(@DefaultValue("rdma.port") String portKey, @DefaultValue("zone") String zoneKey) {

	}

	/**
	 * The client of one target. What is not set comes from the entry 'default', then from
	 * the built-in defaults.
	 *
	 * @param host Name or address of the target.
	 * @param port Port of the target. Use 0 for the port on which this application's own
	 * server listens.
	 * @param addresses Addresses of the target in place of host and port: a list of
	 * host:port, or 'dns:///name:port' for all addresses of a name, or
	 * 'discovery:///service' for the instances that Spring Cloud's DiscoveryClient knows.
	 * @param loadBalancing Which of several addresses a call goes to: each in turn, that
	 * with the fewest outstanding calls, or the same one for the same key.
	 * @param resolutionInterval How often the addresses are looked up again if they can
	 * change. They are also looked up when a connection is lost. 0 for only then.
	 * @param outlierDetection When one of several addresses gets no calls for a while.
	 * @param providers Names of the verbs providers over which to connect, in order of
	 * preference. By default all that are in use.
	 * @param railTimeout How long a connection may take to be set up over one provider
	 * while there is another one to be tried.
	 * @param railInterval How often a better provider than the one in use is tried.
	 * @param required Whether the application depends on this target: it is connected at
	 * startup, and health is DOWN while there is no connection.
	 * @param deadline Default deadline of calls. 0 for none.
	 * @param connectTimeout How long a call waits for a connection to be set up.
	 * @param initialBackoff Pause after the first failed attempt to connect. It doubles
	 * with each failure.
	 * @param maxBackoff Longest pause between attempts to connect. While a call waits for
	 * a connection it is at most 250ms.
	 * @param handshakeTimeout Time for the target to set up a connection.
	 * @param keepAlive Silence after which the target is pinged.
	 * @param deadPeerTimeout Silence after which the target is considered dead. Must
	 * exceed keep-alive.
	 * @param maxMessageSize Largest request sent and largest reply accepted.
	 * @param maxCalls Maximum number of outstanding calls per queue pair.
	 * @param restartTimeout How long after the loss of a connection calls of idempotent
	 * methods wait for another one, within their deadline. 0 for no longer than others.
	 * @param waitForReady Whether all calls wait for a connection, within their deadline,
	 * instead of failing with the first failed attempt to connect.
	 * @param priority Priority of calls of methods that declare none.
	 * @param queuePairs Queue pairs to the target.
	 * @param zone Zone of this application. Of several addresses, those in the same zone
	 * get the calls as long as one of them is available.
	 * @param retry Retries of calls.
	 * @param hedging Further attempts of calls that take long.
	 * @param methods Settings of single methods, by the simple name of the service and
	 * the name of the method, or 'default' for all methods of the service.
	 * @param ssl TLS.
	 * @param token What is shown to the target to say who calls.
	 */
	public record Client(@Nullable String host, @Nullable Integer port, @Nullable List<String> addresses,
			@Nullable LoadBalancing loadBalancing, @Nullable Duration resolutionInterval,
			@Nullable OutlierDetection outlierDetection, @Nullable List<String> providers,
			@Nullable Duration railTimeout, @Nullable Duration railInterval, @Nullable Boolean required,
			@Nullable Duration deadline, @Nullable Duration connectTimeout, @Nullable Duration initialBackoff,
			@Nullable Duration maxBackoff, @Nullable Duration handshakeTimeout, @Nullable Duration keepAlive,
			@Nullable Duration deadPeerTimeout, @Nullable DataSize maxMessageSize, @Nullable Integer maxCalls,
			@Nullable Duration restartTimeout, @Nullable Boolean waitForReady, @Nullable Priority priority,
			@Nullable ClientQueuePairs queuePairs, @Nullable String zone, @Nullable Retry retry,
			@Nullable Hedging hedging, @Nullable Map<String, Map<String, ClientMethod>> methods,
			@Nullable ClientSsl ssl, @Nullable String token) {

		/** Nothing set. */
		static final Client EMPTY = new Client(null, null, null, null, null, null, null, null, null, null, null, null,
				null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);

		/** Shows no secret. */
		@Override
		public String toString() {
			return "Client[host=" + this.host + ", port=" + this.port + ", ssl=" + this.ssl + "]";
		}

	}

	/**
	 * TLS of a client.
	 *
	 * @param bundle Name of the SSL bundle with the certificates that are trusted, and
	 * this application's own if there is one. Without it, connections are not encrypted.
	 * @param verifyHostName Whether the certificate of the target must be one of the host
	 * that is connected to.
	 */
	public record ClientSsl(@Nullable String bundle, @Nullable Boolean verifyHostName) {

	}

	/**
	 * When one of several addresses gets no calls for a while.
	 *
	 * @param consecutiveFailures Failures in a row after which an address gets no calls:
	 * replies with UNAVAILABLE, and lost connections. 0 for never.
	 * @param baseEjectionTime How long it gets none, times how often that was so shortly
	 * before.
	 * @param maxEjectionTime Longest such time.
	 * @param maxEjectionPercent Largest part of the addresses that get none at a time.
	 */
	public record OutlierDetection(@Nullable Integer consecutiveFailures, @Nullable Duration baseEjectionTime,
			@Nullable Duration maxEjectionTime, @Nullable Integer maxEjectionPercent) {

		/** Nothing set. */
		static final OutlierDetection EMPTY = new OutlierDetection(null, null, null, null);

	}

	/**
	 * Settings of one method.
	 *
	 * @param deadline Deadline of its calls. 0 for none.
	 * @param retry Retries of its calls. What is not set comes from the target, and the
	 * budget always.
	 * @param hedging Further attempts of its calls, likewise.
	 */
	public record ClientMethod(@Nullable Duration deadline, @Nullable Retry retry, @Nullable Hedging hedging) {

	}

	/**
	 * Retries of calls.
	 *
	 * @param maxRetries How often a call is made again at most. 0 for never.
	 * @param delay Pause before the first retry.
	 * @param multiplier Factor by which the pause grows from one retry to the next.
	 * @param jitter What is added to the pause or subtracted from it at random, at most.
	 * It grows with the pause.
	 * @param maxDelay Longest pause.
	 * @param statuses Failures of idempotent methods that are retried. Calls that no
	 * handler has begun with are retried in any case.
	 * @param budget How many retries a target gets for each call, on average, beside a
	 * reserve of 10.
	 */
	public record Retry(@Nullable Integer maxRetries, @Nullable Duration delay, @Nullable Double multiplier,
			@Nullable Duration jitter, @Nullable Duration maxDelay, @Nullable Set<RpcStatus> statuses,
			@Nullable Double budget) {

	}

	/**
	 * Further attempts of calls of idempotent methods that take long. The first answer
	 * counts.
	 *
	 * @param maxAttempts How often a call is made at most, the first time included. 1 for
	 * no further attempts.
	 * @param delay How long a call has had no answer when it is made once more, to
	 * another address if there are several.
	 * @param budget How many further attempts a target gets for 100 calls, on average,
	 * beside a reserve of 10.
	 */
	public record Hedging(@Nullable Integer maxAttempts, @Nullable Duration delay, @Nullable Integer budget) {

	}

	/**
	 * Queue pairs that a client keeps to its target.
	 *
	 * @param min Minimum number of queue pairs.
	 * @param max Maximum number of queue pairs. Those above the minimum follow the load.
	 * @param callsPerQueuePair Outstanding calls on the least busy queue pair at which
	 * another one is added.
	 * @param idleTimeout Time without calls after which an additional queue pair is
	 * closed.
	 * @param loops Event loops, each with a thread, that the queue pairs are spread over.
	 * Targets share them. At most queue-pairs.max.
	 */
	public record ClientQueuePairs(@Nullable Integer min, @Nullable Integer max, @Nullable Integer callsPerQueuePair,
			@Nullable Duration idleTimeout, @Nullable Integer loops) {

		/** Nothing set. */
		static final ClientQueuePairs EMPTY = new ClientQueuePairs(null, null, null, null, null);

	}

}
