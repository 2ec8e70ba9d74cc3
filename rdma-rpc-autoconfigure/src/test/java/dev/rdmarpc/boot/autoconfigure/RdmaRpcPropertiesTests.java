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
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.util.unit.DataSize;

import dev.rdmarpc.flatbuffers.FlatBuffersOptions;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.rpc.Dispatch;
import dev.rdmarpc.rpc.HandlerOptions;
import dev.rdmarpc.rpc.HandlerThreads;
import dev.rdmarpc.rpc.Priority;
import dev.rdmarpc.rpc.QueuePairPoolOptions;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.PrincipalLimits;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.iwarp.CrcMode;
import dev.rdmarpc.verbs.iwarp.IwarpOptions;
import dev.rdmarpc.verbs.shm.SharedMemoryOptions;
import dev.rdmarpc.verbs.shm.SharedMemoryTrust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class RdmaRpcPropertiesTests {

	@Test
	void defaultsAreThoseOfTheCore() {
		RdmaRpcProperties properties = bind(Map.of());
		assertThat(PropertyMapping.memory(properties.memory())).isEqualTo(MemoryOptions.DEFAULTS);
		assertThat(PropertyMapping.transport(properties)).isEqualTo(TransportOptions.DEFAULTS);
		assertThat(PropertyMapping.codec(properties.codec())).isEqualTo(FlatBuffersOptions.DEFAULTS);
		assertThat(PropertyMapping.iwarp(properties.iwarp(), properties.memory())).isEqualTo(IwarpOptions.DEFAULTS);
		assertThat(PropertyMapping.shm(properties.shm())).isEqualTo(SharedMemoryOptions.DEFAULTS);
		assertThat(PropertyMapping.server(properties))
			.isEqualTo(RpcServerOptions.DEFAULTS.withAddress(new InetSocketAddress(RdmaRpcProperties.DEFAULT_PORT)));
		ClientSettings client = ClientSettings.of("any", properties);
		assertThat(client).isEqualTo(
				new ClientSettings("localhost", RdmaRpcProperties.DEFAULT_PORT, false, RpcClientOptions.DEFAULTS));
	}

	@Test
	void serverOptions() {
		RdmaRpcProperties properties = bind(Map.ofEntries(Map.entry("rdma.rpc.server.address", "127.0.0.1"),
				Map.entry("rdma.rpc.server.port", "99"), Map.entry("rdma.rpc.server.loops", "2"),
				Map.entry("rdma.rpc.server.max-connections", "3"),
				Map.entry("rdma.rpc.server.max-connections-per-address", "2"),
				Map.entry("rdma.rpc.server.max-handshakes-per-second", "5"),
				Map.entry("rdma.rpc.server.max-connections-per-principal", "6"),
				Map.entry("rdma.rpc.server.max-calls-per-principal", "7"),
				Map.entry("rdma.rpc.server.max-request-size-per-principal", "8MB"),
				Map.entry("rdma.rpc.server.max-reply-size-per-peer", "9MB"),
				Map.entry("rdma.rpc.server.max-concurrent-calls", "4"),
				Map.entry("rdma.rpc.server.max-calls-per-connection", "5"),
				Map.entry("rdma.rpc.server.max-message-size", "1MB"),
				Map.entry("rdma.rpc.server.max-unfinished-size", "3MB"),
				Map.entry("rdma.rpc.server.handshake-timeout", "6s"), Map.entry("rdma.rpc.server.keep-alive", "7s"),
				Map.entry("rdma.rpc.server.dead-peer-timeout", "8s"), Map.entry("rdma.rpc.server.drain-timeout", "9s"),
				Map.entry("rdma.rpc.server.dispatch", "executor"),
				Map.entry("rdma.rpc.server.handler-threads", "platform"),
				Map.entry("rdma.rpc.server.max-handler-threads", "11"),
				Map.entry("rdma.rpc.queue-pairs.frame-size", "4KB"), Map.entry("rdma.rpc.eager-limit", "100KB"),
				Map.entry("rdma.rpc.stream-window", "1MB"), Map.entry("rdma.rpc.max-metadata-size", "2KB"),
				Map.entry("rdma.rpc.queue-pairs.min-credits", "9"), Map.entry("rdma.rpc.queue-pairs.credits", "10")));
		ChannelOptions channel = new ChannelOptions(4096, 9, 10, 1 << 20, 3 << 20, 5, Duration.ofSeconds(6).toNanos(),
				Duration.ofSeconds(7).toNanos(), Duration.ofSeconds(8).toNanos(), 100 * 1024, 2048, 1 << 20);
		assertThat(PropertyMapping.server(properties))
			.isEqualTo(new RpcServerOptions(new InetSocketAddress(InetAddress.getLoopbackAddress(), 99), channel, 2, 3,
					4, Duration.ofSeconds(9), new HandlerOptions(Dispatch.EXECUTOR, HandlerThreads.PLATFORM, 11),
					new PeerLimits(2, 5, new PrincipalLimits(6, 7, 8 << 20), 9 << 20)));
	}

	@Test
	void queuePairsOfAClient() {
		RdmaRpcProperties properties = bind(
				Map.of("rdma.rpc.client.default.queue-pairs.min", "5", "rdma.rpc.client.orders.queue-pairs.max", "9",
						"rdma.rpc.client.orders.queue-pairs.calls-per-queue-pair", "7",
						"rdma.rpc.client.orders.queue-pairs.idle-timeout", "3s",
						"rdma.rpc.client.default.queue-pairs.loops", "2"));
		assertThat(ClientSettings.of("orders", properties).options().queuePairs())
			.isEqualTo(new QueuePairPoolOptions(5, 9, 7, Duration.ofSeconds(3), 2));
		assertThat(ClientSettings.of("others", properties).options().queuePairs().max()).isEqualTo(5);
		assertThatException()
			.isThrownBy(() -> ClientSettings.of("orders",
					bind(Map.of("rdma.rpc.client.orders.queue-pairs.min", "3", "rdma.rpc.client.orders.queue-pairs.max",
							"2"))))
			.withMessageContaining("rdma.rpc.client.orders.queue-pairs.max")
			.withMessageContaining("from 3 to 256");
		assertThatException()
			.isThrownBy(
					() -> ClientSettings.of("orders", bind(Map.of("rdma.rpc.client.orders.queue-pairs.loops", "5"))))
			.withMessageContaining("rdma.rpc.client.orders.queue-pairs.loops")
			.withMessageContaining("from 1 to 4");
	}

	@Test
	void targetThenDefaultThenBuiltIn() {
		RdmaRpcProperties properties = bind(Map.of("rdma.rpc.client.default.host", "general",
				"rdma.rpc.client.default.deadline", "2s", "rdma.rpc.client.orders.host", "special",
				"rdma.rpc.client.orders.required", "true", "rdma.rpc.client.orders.max-calls", "17",
				"rdma.rpc.client.orders.initial-backoff", "1ms", "rdma.rpc.client.default.max-backoff", "3ms",
				"rdma.rpc.client.orders.max-message-size", "1KB"));
		ClientSettings orders = ClientSettings.of("orders", properties);
		assertThat(orders.host()).isEqualTo("special");
		assertThat(orders.port()).isEqualTo(RdmaRpcProperties.DEFAULT_PORT);
		assertThat(orders.required()).isTrue();
		assertThat(orders.options().defaultDeadline()).isEqualTo(Duration.ofSeconds(2));
		assertThat(orders.options().initialBackoff()).isEqualTo(Duration.ofMillis(1));
		assertThat(orders.options().maxBackoff()).isEqualTo(Duration.ofMillis(3));
		assertThat(orders.options().channel().maxCalls()).isEqualTo(17);
		assertThat(orders.options().channel().maxMessageBytes()).isEqualTo(1024);
	}

	@Test
	void priorityIsThatOfTheTarget() {
		RdmaRpcProperties properties = bind(
				Map.of("rdma.rpc.client.default.priority", "high", "rdma.rpc.client.orders.priority", "low"));
		assertThat(ClientSettings.of("orders", properties).options().priority()).isEqualTo(Priority.LOW);
		assertThat(ClientSettings.of("others", properties).options().priority()).isEqualTo(Priority.HIGH);
		assertThat(ClientSettings.of("others", bind(Map.of())).options().priority()).isEqualTo(Priority.NORMAL);
	}

	@Test
	void unknownTargetHasTheDefaults() {
		RdmaRpcProperties properties = bind(
				Map.of("rdma.rpc.client.default.host", "general", "rdma.rpc.client.orders.host", "special"));
		assertThat(ClientSettings.of("others", properties).host()).isEqualTo("general");
	}

	@Test
	void stagingMayBeSet() {
		RdmaRpcProperties properties = bind(Map.of("rdma.rpc.iwarp.staging", "1536KB"));
		assertThat(PropertyMapping.iwarp(properties.iwarp(), properties.memory()).stagingBytes()).isEqualTo(3 << 19);
	}

	@ParameterizedTest
	@CsvSource({ "4KB, 1MB", "16MB, 1MB", "100MB, 1536KB", "256MB, 4MB", "1GB, 16MB", "64GB, 64MB" })
	void stagingIsAShareOfTheBudget(String max, String staging) {
		RdmaRpcProperties properties = bind(Map.of("rdma.rpc.memory.max", max, "rdma.rpc.memory.initial", "0B"));
		assertThat(PropertyMapping.iwarp(properties.iwarp(), properties.memory()).stagingBytes())
			.isEqualTo(DataSize.parse(staging).toBytes());
	}

	@Test
	void sharedMemoryOptions() {
		RdmaRpcProperties properties = bind(Map.of("rdma.rpc.shm.directory", "/tmp/rdma", "rdma.rpc.shm.group", "0",
				"rdma.rpc.shm.ring-size", "1MB", "rdma.rpc.shm.max-queue-pairs", "7", "rdma.rpc.shm.max-read-depth",
				"8", "rdma.rpc.shm.drain-timeout", "9s", "rdma.rpc.shm.trust", "same-user"));
		assertThat(PropertyMapping.shm(properties.shm())).isEqualTo(new SharedMemoryOptions(Path.of("/tmp/rdma"), "0",
				1 << 20, 7, 8, Duration.ofSeconds(9), SharedMemoryTrust.SAME_USER));
	}

	@Test
	void iwarpOptions() {
		RdmaRpcProperties properties = bind(Map.of("rdma.rpc.iwarp.crc", "required", "rdma.rpc.iwarp.max-segment-size",
				"1400B", "rdma.rpc.iwarp.copy-threshold", "1KB", "rdma.rpc.iwarp.direct-receive-threshold", "4KB",
				"rdma.rpc.iwarp.send-buffer", "1MB", "rdma.rpc.iwarp.receive-buffer", "2MB",
				"rdma.rpc.iwarp.peer-to-peer", "false", "rdma.rpc.iwarp.max-queue-pairs", "7",
				"rdma.rpc.iwarp.max-read-depth", "8", "rdma.rpc.iwarp.frame-timeout", "9s"));
		assertThat(PropertyMapping.iwarp(properties.iwarp(), properties.memory()))
			.isEqualTo(new IwarpOptions(CrcMode.REQUIRED, 1400, 1024, 4096, 1 << 20, 2 << 20, false, 7, 8,
					Duration.ofSeconds(5), Duration.ofSeconds(2), Duration.ofSeconds(9), 4 << 20));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			rdma.rpc.memory.max                      | 5000B   | a positive multiple of 4096B
			rdma.rpc.shm.ring-size                   | 8KB     | from 16384B to 268435456B
			rdma.rpc.shm.ring-size                   | 96KB    | a power of two
			rdma.rpc.shm.group                       | no-such | the name or number of a group of this host
			rdma.rpc.shm.max-read-depth              | 2000    | from 1 to 1024
			rdma.rpc.iwarp.staging                   | 0B      | a multiple of 524288B from 524288B to 1073741824B
			rdma.rpc.iwarp.staging                   | 513KB   | a multiple of 524288B
			rdma.rpc.memory.max                      | 0B      | a positive multiple of 4096B
			rdma.rpc.memory.initial                  | 512MB   | from 0B to rdma.rpc.memory.max, which is 268435456B
			rdma.rpc.memory.initial                  | 1B      | a multiple of 4096B
			rdma.rpc.memory.extent                   | 0B      | a multiple of 4096B from 4096B to 1073741824B
			rdma.rpc.memory.extent                   | 2GB     | from 4096B to 1073741824B
			rdma.rpc.memory.thread-cache             | -1B     | from 0B to 2147483647B
			rdma.rpc.memory.allocation-timeout       | -1s     | not negative
			rdma.rpc.memory.registration-cache       | -1B     | at least 0B
			rdma.rpc.memory.retention                | -1s     | not negative
			rdma.rpc.queue-pairs.frame-size          | 1KB     | a multiple of 8B from 2048B to 1048576B
			rdma.rpc.queue-pairs.frame-size          | 8193B   | a multiple of 8B
			rdma.rpc.max-metadata-size               | 8KB     | from 0B to 7640B
			rdma.rpc.stream-window                   | 1023B   | from 1024B to 1073741824B
			rdma.rpc.stream-window                   | 2GB     | from 1024B to 1073741824B
			rdma.rpc.queue-pairs.credits             | 1       | from 8 to 16384
			rdma.rpc.queue-pairs.min-credits         | 7       | from 8 to 128
			rdma.rpc.queue-pairs.min-credits         | 129     | from 8 to 128
			rdma.rpc.queue-pairs.max-receives        | 0       | at least 8
			rdma.rpc.queue-pairs.send-depth          | 0       | at least 8
			rdma.rpc.scheduler.min-slice             | 4095B   | from 4096B to 1048576B
			rdma.rpc.scheduler.max-slice             | 63KB    | from 65536B to 1048576B
			rdma.rpc.scheduler.min-window            | 63KB    | from 65536B to 268435456B
			rdma.rpc.scheduler.max-window            | 127KB   | from 131072B to 268435456B
			rdma.rpc.queue-pairs.read-depth          | 0       | at least 1
			rdma.rpc.polling.spin-max                | 2s      | from 0s to 1s
			rdma.rpc.polling.spin-max                | -1ns    | from 0s to 1s
			rdma.rpc.codec.gather-threshold          | -1B     | from 0B to 2147483647B
			rdma.rpc.codec.max-depth                 | 0       | from 1 to 1000
			rdma.rpc.codec.max-amplification         | 0       | at least 1
			rdma.rpc.codec.max-decoded-size          | 1023KB  | at least 1MB
			rdma.rpc.iwarp.max-segment-size          | 64KB    | from 128B to 65535B
			rdma.rpc.iwarp.copy-threshold            | 64KB    | from 0B to 65535B
			rdma.rpc.iwarp.direct-receive-threshold  | 0B      | from 1B to 2147483647B
			rdma.rpc.iwarp.send-buffer               | 0B      | from 1B to 2147483647B
			rdma.rpc.iwarp.receive-buffer            | 4GB     | from 1B to 2147483647B
			rdma.rpc.iwarp.max-queue-pairs           | 0       | from 1 to 16777216
			rdma.rpc.iwarp.max-read-depth            | 20000   | from 1 to 16382
			rdma.rpc.iwarp.drain-timeout             | -1s     | not negative
			rdma.rpc.iwarp.linger-timeout            | -1s     | not negative
			rdma.rpc.iwarp.frame-timeout             | -1s     | not negative
			rdma.rpc.server.port                     | 65536   | from 0 to 65535
			rdma.rpc.server.loops                    | 0       | from 1 to 1024
			rdma.rpc.server.max-connections          | 0       | at least 1
			rdma.rpc.server.max-connections-per-address | 0    | at least 1
			rdma.rpc.server.max-handshakes-per-second   | 0    | at least 1
			rdma.rpc.server.max-connections-per-principal  | 0  | at least 1
			rdma.rpc.server.max-calls-per-principal  | 0       | at least 1
			rdma.rpc.server.max-request-size-per-principal | 0B | at least 1B
			rdma.rpc.server.max-reply-size-per-peer | 0B | at least 1B
			rdma.rpc.server.max-concurrent-calls     | 0       | at least 1
			rdma.rpc.server.max-calls-per-connection | 65537   | from 1 to 65536
			rdma.rpc.server.max-unfinished-size      | 0B      | at least 1B
			rdma.rpc.server.max-message-size         | 1B      | from 1024B to 1073741823B
			rdma.rpc.server.max-message-size         | 1GB     | from 1024B to 1073741823B
			rdma.rpc.server.handshake-timeout        | 0s      | positive
			rdma.rpc.server.keep-alive               | 0s      | positive
			rdma.rpc.server.dead-peer-timeout        | 10s     | more than keep-alive, which is PT10S
			rdma.rpc.server.keep-alive               | 30s     | less than dead-peer-timeout, which is PT30S
			rdma.rpc.server.drain-timeout            | -1s     | not negative
			rdma.rpc.server.max-handler-threads      | 0       | at least 1
			rdma.rpc.client.a.port                   | 70000   | from 0 to 65535
			rdma.rpc.client.a.host                   | ' '     | a name or address
			rdma.rpc.client.a.deadline               | -1s     | not negative
			rdma.rpc.client.default.deadline         | -1s     | not negative
			rdma.rpc.client.a.connect-timeout        | 0s      | positive
			rdma.rpc.client.a.initial-backoff        | 0s      | positive
			rdma.rpc.client.a.max-backoff            | 1ms     | not less than initial-backoff, which is PT0.05S
			rdma.rpc.client.a.handshake-timeout      | 0s      | positive
			rdma.rpc.client.a.keep-alive             | 400d    | positive, at most 365 days
			rdma.rpc.client.a.dead-peer-timeout      | 1s      | more than keep-alive
			rdma.rpc.client.a.keep-alive             | 40s     | less than dead-peer-timeout, which is PT30S
			rdma.rpc.client.a.max-message-size       | 1023B   | from 1024B
			rdma.rpc.client.a.max-calls              | 0       | from 1 to 65536
			rdma.rpc.provider                        | ' '     | the name of a provider, or auto
			""")
	void valueOutOfBoundsIsRefusedByName(String name, String value, String expected) {
		RdmaRpcProperties properties = bind(Map.of(name, value));
		assertThatExceptionOfType(InvalidConfigurationPropertyValueException.class).isThrownBy(() -> {
			PropertyMapping.memory(properties.memory());
			PropertyMapping.transport(properties);
			PropertyMapping.codec(properties.codec());
			PropertyMapping.iwarp(properties.iwarp(), properties.memory());
			PropertyMapping.shm(properties.shm());
			PropertyMapping.server(properties);
			ClientSettings.of("a", properties);
		}).satisfies((ex) -> {
			assertThat(ex.getName()).isEqualTo(name);
			assertThat(ex.getValue()).isNotNull();
			assertThat(ex.getReason()).startsWith("Expected: ").contains(expected).endsWith(".");
		});
	}

	@Test
	@EnabledForJreRange(max = JRE.JAVA_20)
	void virtualThreadsAreRefusedWhereThereAreNone() {
		RdmaRpcProperties properties = bind(Map.of("rdma.rpc.server.handler-threads", "virtual"));
		assertThatExceptionOfType(InvalidConfigurationPropertyValueException.class)
			.isThrownBy(() -> PropertyMapping.server(properties))
			.satisfies((ex) -> {
				assertThat(ex.getName()).isEqualTo("rdma.rpc.server.handler-threads");
				assertThat(ex.getValue()).isEqualTo("virtual");
				assertThat(ex.getReason()).startsWith("Expected: auto or platform on Java ");
			});
	}

	private static RdmaRpcProperties bind(Map<String, String> values) {
		return new Binder(List.of(new MapConfigurationPropertySource(values)), null,
				ApplicationConversionService.getSharedInstance())
			.bindOrCreate("rdma.rpc", Bindable.of(RdmaRpcProperties.class));
	}

}
