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

import java.time.Duration;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;

import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Client;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.ClientQueuePairs;
import dev.rdmarpc.rpc.QueuePairPoolOptions;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RailOptions;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * The settings of one target, combined from its own entry, the default entry and the
 * built-in defaults.
 *
 * @param host where it is
 * @param port where it is; 0 is the port of the application's own server
 * @param required whether health depends on it
 * @param options of the client
 */
record ClientSettings(String host, int port, boolean required, RpcClientOptions options) {

	static ClientSettings of(String target, RdmaRpcProperties properties) {
		Source source = new Source(target, properties);
		RpcClientOptions defaults = RpcClientOptions.DEFAULTS;
		ChannelOptions channelDefaults = defaults.channel();
		Setting<String> host = source.get("host", Client::host, "localhost");
		PropertyCheck.that(!host.value().isBlank(), host.name(), host.value(), "a name or address");
		Setting<Integer> port = source.get("port", Client::port, RdmaRpcProperties.DEFAULT_PORT);
		PropertyCheck.range(port.name(), port.value(), 0, 65535);
		Setting<Duration> deadline = source.get("deadline", Client::deadline, defaults.defaultDeadline());
		PropertyCheck.notNegative(deadline.name(), deadline.value());
		Duration connectTimeout = positive(
				source.get("connect-timeout", Client::connectTimeout, defaults.connectTimeout()));
		Duration initialBackoff = positive(
				source.get("initial-backoff", Client::initialBackoff, defaults.initialBackoff()));
		Setting<Duration> maxBackoff = source.get("max-backoff", Client::maxBackoff, defaults.maxBackoff());
		positive(maxBackoff);
		PropertyCheck.that(maxBackoff.value().compareTo(initialBackoff) >= 0, maxBackoff.name(), maxBackoff.value(),
				"not less than initial-backoff, which is " + initialBackoff);
		Setting<DataSize> messageSize = source.get("max-message-size", Client::maxMessageSize,
				DataSize.ofBytes(channelDefaults.maxMessageBytes()));
		Setting<Integer> maxCalls = source.get("max-calls", Client::maxCalls, channelDefaults.maxCalls());
		Duration handshake = positive(source.get("handshake-timeout", Client::handshakeTimeout,
				Duration.ofNanos(channelDefaults.handshakeTimeoutNanos())));
		Setting<Duration> keepAlive = source.get("keep-alive", Client::keepAlive,
				Duration.ofNanos(channelDefaults.keepAliveNanos()));
		Setting<Duration> deadPeer = source.get("dead-peer-timeout", Client::deadPeerTimeout,
				Duration.ofNanos(channelDefaults.deadPeerNanos()));
		Setting<Duration> restart = source.get("restart-timeout", Client::restartTimeout, defaults.restartTimeout());
		PropertyCheck.notNegative(restart.name(), restart.value());
		ChannelOptions channel = PropertyMapping.channel(properties,
				PropertyMapping.messageBytes(messageSize.name(), messageSize.value()),
				channelDefaults.maxUnfinishedBytes(),
				PropertyCheck.range(maxCalls.name(), maxCalls.value(), 1, ChannelOptions.MAX_CALLS), handshake,
				positive(keepAlive),
				PropertyMapping.deadPeer(deadPeer.name(), deadPeer.value(), keepAlive.name(), keepAlive.value()));
		return new ClientSettings(host.value(), port.value(), source.get("required", Client::required, false).value(),
				new RpcClientOptions(channel, deadline.value(), connectTimeout, initialBackoff, maxBackoff.value(),
						queuePairs(source), restart.value(),
						source.get("wait-for-ready", Client::waitForReady, defaults.waitForReady()).value(),
						rails(source), source.get("priority", Client::priority, defaults.priority()).value()));
	}

	/** Which rails a target is reached by, and how. */
	static RailOptions rails(String target, RdmaRpcProperties properties) {
		return rails(new Source(target, properties));
	}

	private static RailOptions rails(Source source) {
		RailOptions defaults = RailOptions.DEFAULTS;
		Setting<List<String>> providers = source.get("providers", Client::providers, defaults.providers());
		PropertyCheck.names(providers.name(), providers.value());
		return new RailOptions(providers.value(),
				positive(source.get("rail-timeout", Client::railTimeout, defaults.attemptTimeout())),
				positive(source.get("rail-interval", Client::railInterval, defaults.betterInterval())));
	}

	/**
	 * Checks that a target has only rails that there are, and one that can protect it.
	 */
	static void checkRails(String target, RdmaRpcProperties properties, RdmaTransport transport,
			ChannelOptions channel) {
		Source source = new Source(target, properties);
		Setting<List<String>> asked = source.get("providers", Client::providers, List.of());
		List<String> known = transport.rails().stream().map(Rail::name).toList();
		PropertyCheck.that(known.containsAll(asked.value()), asked.name(), asked.value(),
				"some of the providers in use, which are " + known);
		Setting<String> bundle = source.get("ssl.bundle", ClientSettings::bundle, "");
		List<String> able = transport.rails(channel).stream().map(Rail::name).toList();
		PropertyCheck.that(!able.isEmpty(), bundle.name(), bundle.value(), "no value, because of the providers in use, "
				+ known + ", none can protect connections with TLS; iwarp can");
		PropertyCheck.that(asked.value().isEmpty() || asked.value().stream().anyMatch(able::contains), asked.name(),
				asked.value(),
				"one that can protect connections with TLS, of " + able + ", because of '" + bundle.name() + "'");
	}

	/** The SSL bundle of a target. */
	static @Nullable String bundle(Client client) {
		return (client.ssl() != null) ? client.ssl().bundle() : null;
	}

	private static QueuePairPoolOptions queuePairs(Source source) {
		QueuePairPoolOptions defaults = QueuePairPoolOptions.DEFAULTS;
		Setting<Integer> min = source.get("queue-pairs.min", (client) -> of(client).min(), defaults.min());
		PropertyCheck.range(min.name(), min.value(), 1, QueuePairPoolOptions.MOST);
		Setting<Integer> max = source.get("queue-pairs.max", (client) -> of(client).max(),
				Math.max(min.value(), defaults.max()));
		PropertyCheck.range(max.name(), max.value(), min.value(), QueuePairPoolOptions.MOST);
		Setting<Integer> calls = source.get("queue-pairs.calls-per-queue-pair",
				(client) -> of(client).callsPerQueuePair(), defaults.callsPerQueuePair());
		PropertyCheck.range(calls.name(), calls.value(), 1, ChannelOptions.MAX_CALLS);
		Duration idleTimeout = positive(
				source.get("queue-pairs.idle-timeout", (client) -> of(client).idleTimeout(), defaults.idleTimeout()));
		Setting<Integer> loops = source.get("queue-pairs.loops", (client) -> of(client).loops(), defaults.loops());
		PropertyCheck.range(loops.name(), loops.value(), 1, max.value());
		return new QueuePairPoolOptions(min.value(), max.value(), calls.value(), idleTimeout, loops.value());
	}

	private static ClientQueuePairs of(Client client) {
		ClientQueuePairs set = client.queuePairs();
		return (set != null) ? set : ClientQueuePairs.EMPTY;
	}

	private static Duration positive(Setting<Duration> setting) {
		return PropertyCheck.positive(setting.name(), setting.value());
	}

	/** A value and the property that it is from, or would be. */
	record Setting<T>(String name, T value) {

	}

	/** Looks up a setting and records where it was found. */
	record Source(String target, RdmaRpcProperties properties) {

		<T> Setting<T> get(String setting, Function<Client, @Nullable T> getter, T fallback) {
			for (String entry : new String[] { this.target, RdmaRpcProperties.DEFAULT_CLIENT }) {
				Client client = this.properties.client(entry);
				T value = (client != null) ? getter.apply(client) : null;
				if (value != null) {
					return new Setting<>(nameOf(entry, setting), value);
				}
			}
			return new Setting<>(nameOf(RdmaRpcProperties.DEFAULT_CLIENT, setting), fallback);
		}

		private static String nameOf(String entry, String setting) {
			return "rdma.rpc.client." + entry + "." + setting;
		}

	}

}
