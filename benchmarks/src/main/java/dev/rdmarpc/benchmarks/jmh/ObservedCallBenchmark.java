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

package dev.rdmarpc.benchmarks.jmh;

import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import dev.rdmarpc.boot.observation.RdmaCallMeters;
import dev.rdmarpc.boot.observation.RdmaClientObserver;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.CallObserver;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.rpc.ServiceDescriptor;

/**
 * What it costs a client to observe a call, with so many calls outstanding. One operation
 * ends the oldest one and starts another.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ObservedCallBenchmark {

	/** How calls are observed. */
	public enum Kind {

		/** As observations. */
		OBSERVATIONS,

		/** By their meters alone. */
		METERS,

		/** By their timer alone. */
		TIMER

	}

	/** How calls are observed. */
	@Param
	public Kind kind = Kind.METERS;

	/** Calls outstanding. */
	@Param({ "1", "64" })
	public int outstanding;

	private CallObserver observer = new RdmaClientObserver(ObservationRegistry.NOOP, null);

	private final MethodDescriptor method = ServiceDescriptor.of(Echo.class, new FlatBuffersCodec()).methods().get(0);

	private CallObservation[] calls = {};

	private int next;

	/** Starts the first calls. */
	@Setup
	public void start() {
		ObservationRegistry observations = ObservationRegistry.create();
		MeterRegistry registry = new SimpleMeterRegistry();
		DefaultMeterObservationHandler handler = new DefaultMeterObservationHandler(registry);
		observations.observationConfig().observationHandler(handler);
		this.observer = new RdmaClientObserver(observations, null, (this.kind != Kind.OBSERVATIONS)
				? new RdmaCallMeters(handler, registry, this.kind == Kind.METERS) : null);
		this.calls = new CallObservation[this.outstanding];
		for (int i = 0; i < this.calls.length; i++) {
			this.calls[i] = startOne();
		}
	}

	private CallObservation startOne() {
		return this.observer.callStarted(this.method, "target", new CallMetadata());
	}

	/** One call ends, another one starts. */
	@Benchmark
	public void call() {
		int at = this.next;
		this.calls[at].callEnded(RpcStatus.OK, null);
		this.calls[at] = startOne();
		this.next = (at + 1 < this.calls.length) ? at + 1 : 0;
	}

	/** What is called. */
	public interface Echo {

		/** Returns what it is given. */
		byte[] echo(byte[] payload);

	}

}
