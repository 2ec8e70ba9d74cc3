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

package dev.rdmarpc.transport;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.VerbsException;

/** Accepts connections and spreads them over loops in turn. */
public final class ChannelListener implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(ChannelListener.class);

	private final RateLimitedLogger rejections = new RateLimitedLogger(logger);

	private final RdmaTransport transport;

	private final List<ChannelLoop> loops;

	private final ChannelOptions options;

	private final Supplier<? extends ChannelHandler> handlers;

	private final RateLimitedLogger refusals = new RateLimitedLogger(logger);

	private final AtomicInteger next = new AtomicInteger();

	private final AcceptedChannels accepted;

	private final ConnectionListener listener;

	ChannelListener(RdmaTransport transport, List<ChannelLoop> loops, InetSocketAddress address, int maxConnections,
			ChannelOptions options, Supplier<? extends ChannelHandler> handlers) {
		this.transport = transport;
		this.loops = loops;
		this.options = options;
		this.handlers = handlers;
		this.accepted = new AcceptedChannels(maxConnections);
		this.listener = transport.device()
			.listen(address, transport.options().listenOptions(maxConnections, options), this::onConnectionRequest);
	}

	private void onConnectionRequest(ConnectionRequest request) {
		ChannelLoop loop = this.loops.get(Math.floorMod(this.next.getAndIncrement(), this.loops.size()));
		loop.executeLater(() -> accept(loop, request));
	}

	private void accept(ChannelLoop loop, ConnectionRequest request) {
		if (loop.isDraining()) {
			reject(request, "the server is shutting down");
			return;
		}
		RpcChannel channel = null;
		try {
			channel = new RpcChannel(loop, this.options, this.handlers.get(), false);
			channel.acceptedAmong(this.accepted);
			if (!this.accepted.tryEnter(channel, request.remoteAddress().getAddress())) {
				this.rejections.log(Level.WARN, "Rejected a connection from {}: there are {}", request.remoteAddress(),
						this.accepted.limit());
				reject(request, "too many connections (limit " + this.accepted.limit() + ")");
				return;
			}
			if (!loop.add(channel) && !(loop.evictNewcomer(channel) && loop.add(channel))) {
				this.accepted.leave(channel);
				reject(request, "no receive buffers for another connection");
				return;
			}
			accept(loop, channel, request);
		}
		catch (Throwable ex) {
			try {
				this.refusals.log(Level.WARN, "Connection from {} refused", request.remoteAddress(), ex);
				if (channel != null) {
					channel.shut(LoopFailures.reason(ex));
				}
			}
			finally {
				reject(request, "no resources for another connection");
			}
		}
	}

	private void accept(ChannelLoop loop, RpcChannel channel, ConnectionRequest request) {
		channel.attach(this.transport.createQueuePair(loop, channel));
		channel.accepting(request.remoteAddress(), request.peerCertificates());
		ConnectOptions connect = this.transport.connectOptions(this.options);
		request.accept(channel.queuePair(), connect).whenComplete((info, failure) -> {
			if (failure == null) {
				loop.executeLater(() -> {
					channel.receiver().transfers().readDepth(info.readDepth());
					channel.established(info.localAddress(), info.remoteAddress());
				});
			}
			else {
				logger.debug("Connection from {} was not established", request.remoteAddress(), failure);
				loop.executeLater(() -> channel.shut("not established: " + failure.getMessage()));
			}
		});
	}

	private static void reject(ConnectionRequest request, String why) {
		try {
			byte[] text = why.getBytes(StandardCharsets.US_ASCII);
			request.reject(Arrays.copyOf(text, Math.min(text.length, ConnectOptions.MAX_PRIVATE_DATA_BYTES)));
		}
		catch (VerbsException ex) {
			logger.debug("Connection request from {} has gone", request.remoteAddress(), ex);
		}
	}

	/** The address listened on, with the real port. */
	public InetSocketAddress localAddress() {
		return this.listener.localAddress();
	}

	/** Stops accepting; channels stay. Idempotent. */
	@Override
	public void close() {
		this.listener.close();
	}

}
