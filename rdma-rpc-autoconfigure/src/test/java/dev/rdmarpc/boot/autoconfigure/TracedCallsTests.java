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
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingSenderTracingObservationHandler;
import io.micrometer.tracing.handler.TracingAwareMeterObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.tracer.common.SpanContext;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.ChannelSnapshot;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

/** Traces of real calls, with handlers as Spring Boot arranges them. */
class TracedCallsTests {

	private final InMemorySpanExporter spans = InMemorySpanExporter.create();

	private final PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT,
			new PrometheusRegistry(), Clock.SYSTEM, new CurrentSpan());

	private final ObservationRegistry registry = ObservationRegistry.create();

	private int queuePair;

	private int clientQueuePair;

	TracedCallsTests() {
		Tracer exporting = SdkTracerProvider.builder()
			.addSpanProcessor(SimpleSpanProcessor.create(this.spans))
			.build()
			.get("test");
		OtelTracer tracer = new OtelTracer(exporting, new OtelCurrentTraceContext(), (event) -> {
		});
		OtelPropagator propagator = new OtelPropagator(
				ContextPropagators.create(W3CTraceContextPropagator.getInstance()), exporting);
		this.registry.observationConfig()
			.observationHandler(new ObservationHandler.FirstMatchingCompositeObservationHandler(
					new PropagatingSenderTracingObservationHandler<>(tracer, propagator),
					new PropagatingReceiverTracingObservationHandler<>(tracer, propagator)))
			.observationHandler(
					new TracingAwareMeterObservationHandler<>(new DefaultMeterObservationHandler(this.meters), tracer));
	}

	@Test
	void serverContinuesTheTraceOfItsClient() {
		call();
		assertThat(ofKind(SpanKind.SERVER).getTraceId()).isEqualTo(ofKind(SpanKind.CLIENT).getTraceId());
		assertThat(ofKind(SpanKind.SERVER).getParentSpanId()).isEqualTo(ofKind(SpanKind.CLIENT).getSpanId());
		assertThat(ofKind(SpanKind.SERVER).getName()).isEqualTo(Greeter.class.getName() + "/greet");
	}

	@Test
	void serverSaysOverWhichQueuePairAndHowLongTheCallHasWaited() {
		call();
		SpanData served = ofKind(SpanKind.SERVER);
		assertThat(served.getAttributes().get(AttributeKey.stringKey("rdma.queue_pair")))
			.isEqualTo(String.valueOf(this.queuePair));
		assertThat(served.getAttributes().get(AttributeKey.stringKey("rdma.waited_us"))).matches("\\d+");
		assertThat(served.getAttributes().get(AttributeKey.stringKey("rdma.provider"))).isEqualTo("iwarp");
	}

	@Test
	void clientSaysOverWhichQueuePairAndHowLongTheCallHasWaited() {
		call();
		SpanData made = ofKind(SpanKind.CLIENT);
		assertThat(made.getAttributes().get(AttributeKey.stringKey("rdma.queue_pair")))
			.isEqualTo(String.valueOf(this.clientQueuePair));
		assertThat(made.getAttributes().get(AttributeKey.stringKey("rdma.waited_us"))).matches("\\d+");
		assertThat(made.getAttributes().get(AttributeKey.stringKey("rdma.provider"))).isEqualTo("iwarp");
		assertThat(Integer.parseInt(made.getAttributes().get(AttributeKey.stringKey("rdma.send_credits"))))
			.as("the only call on a new connection need not wait")
			.isPositive();
	}

	@Test
	void timersHaveExemplarsOfTheirCalls() {
		call();
		Map<String, String> exemplars = this.meters.scrape("application/openmetrics-text; version=1.0.0; charset=utf-8")
			.lines()
			.filter((line) -> line.contains("trace_id="))
			.collect(Collectors.toMap((line) -> line.substring(0, line.indexOf('{')), Function.identity(),
					(one, other) -> one));
		assertThat(exemplars.get("rdma_rpc_client_calls_seconds_count"))
			.contains("trace_id=\"" + ofKind(SpanKind.CLIENT).getTraceId() + "\"")
			.contains("span_id=\"" + ofKind(SpanKind.CLIENT).getSpanId() + "\"");
		assertThat(exemplars.get("rdma_rpc_server_calls_seconds_count"))
			.contains("trace_id=\"" + ofKind(SpanKind.SERVER).getTraceId() + "\"")
			.contains("span_id=\"" + ofKind(SpanKind.SERVER).getSpanId() + "\"");
	}

	private void call() {
		RdmaContextRunner.create()
			.withPropertyValues("rdma.rpc.provider=iwarp")
			.withUserConfiguration(GreeterService.class)
			.withBean(ObservationRegistry.class, () -> this.registry)
			.run((context) -> {
				context.getBean(RdmaClients.class).proxy("greetings", Greeter.class).greet("world");
				this.queuePair = ChannelSnapshot.of(context.getBean(RpcServer.class).channels().get(0)).queuePair();
				this.clientQueuePair = context.getBean(RdmaTransport.class)
					.loops()
					.stream()
					.flatMap((loop) -> loop.channels().stream())
					.map(ChannelSnapshot::of)
					.filter(ChannelSnapshot::initiator)
					.findFirst()
					.orElseThrow()
					.queuePair();
				long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
				while (this.spans.getFinishedSpanItems().size() < 2) {
					assertThat(System.nanoTime() - deadline).isNegative();
					Thread.onSpinWait();
				}
			});
	}

	private SpanData ofKind(SpanKind kind) {
		List<SpanData> found = this.spans.getFinishedSpanItems()
			.stream()
			.filter((span) -> span.getKind() == kind)
			.toList();
		assertThat(found).as(kind.name()).hasSize(1);
		return found.get(0);
	}

	/** What Spring Boot tells Prometheus of the current span. */
	private static final class CurrentSpan implements SpanContext {

		@Override
		public String getCurrentTraceId() {
			return id(Span.current().getSpanContext().getTraceId());
		}

		@Override
		public String getCurrentSpanId() {
			return id(Span.current().getSpanContext().getSpanId());
		}

		private static String id(String hexadecimal) {
			return Pattern.matches("0+", hexadecimal) ? null : hexadecimal;
		}

		@Override
		public boolean isCurrentSpanSampled() {
			return Span.current().getSpanContext().isSampled();
		}

		@Override
		public void markCurrentSpanAsExemplar() {
		}

	}

}
