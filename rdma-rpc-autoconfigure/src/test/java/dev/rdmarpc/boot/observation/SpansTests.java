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

package dev.rdmarpc.boot.observation;

import java.util.Map;
import java.util.TreeMap;

import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingSenderTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.CallObserver;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.rpc.ServiceDescriptor;

import static org.assertj.core.api.Assertions.assertThat;

/** The attributes of spans, as OpenTelemetry names those of calls. */
class SpansTests {

	private final MethodDescriptor method = ServiceDescriptor.of(Greeter.class, new FlatBuffersCodec())
		.methods()
		.get(0);

	private final InMemorySpanExporter spans = InMemorySpanExporter.create();

	private final ObservationRegistry registry = ObservationRegistry.create();

	SpansTests() {
		Tracer exporting = SdkTracerProvider.builder()
			.addSpanProcessor(SimpleSpanProcessor.create(this.spans))
			.build()
			.get("test");
		OtelTracer tracer = new OtelTracer(exporting, new OtelCurrentTraceContext(), (event) -> {
		});
		OtelPropagator propagator = new OtelPropagator(ContextPropagators.noop(), exporting);
		this.registry.observationConfig()
			.observationHandler(new PropagatingSenderTracingObservationHandler<>(tracer, propagator))
			.observationHandler(new PropagatingReceiverTracingObservationHandler<>(tracer, propagator));
	}

	@Test
	void clientsOfAnAddress() {
		assertThat(attributes(new RdmaClientObserver(this.registry, null), "db.example.org:7471"))
			.containsEntry("rpc.system", "rdma-rpc")
			.containsEntry("rpc.service", this.method.service())
			.containsEntry("rpc.method", this.method.name())
			.containsEntry("server.address", "db.example.org")
			.containsEntry("server.port", "7471")
			.containsEntry("network.peer.port", "7471");
	}

	@Test
	void clientsOfAName() {
		assertThat(attributes(new RdmaClientObserver(this.registry, null), "prices"))
			.containsEntry("server.address", "prices")
			.doesNotContainKeys("server.port", "network.peer.port");
	}

	@Test
	void servers() {
		RdmaServerObserver observer = new RdmaServerObserver(this.registry, null);
		assertThat(attributes(observer, "/127.0.0.1:52272")).containsEntry("rpc.system", "rdma-rpc")
			.containsEntry("rpc.service", this.method.service())
			.containsEntry("rpc.method", this.method.name())
			.containsEntry("network.peer.address", "127.0.0.1")
			.containsEntry("network.peer.port", "52272")
			.doesNotContainKeys("server.address", "server.port");
		assertThat(attributes(observer, "host/[0:0:0:0:0:0:0:1]:52272"))
			.containsEntry("network.peer.address", "[0:0:0:0:0:0:0:1]")
			.containsEntry("network.peer.port", "52272");
		assertThat(attributes(observer, "null")).doesNotContainKeys("network.peer.address", "network.peer.port");
	}

	private Map<String, String> attributes(CallObserver observer, String peer) {
		this.spans.reset();
		observer.callStarted(this.method, peer, new CallMetadata()).callEnded(RpcStatus.OK, null);
		assertThat(this.spans.getFinishedSpanItems()).hasSize(1);
		SpanData span = this.spans.getFinishedSpanItems().get(0);
		Map<String, String> attributes = new TreeMap<>();
		span.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), String.valueOf(value)));
		return attributes;
	}

}
