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

package dev.rdmarpc.tools.ping;

import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import org.HdrHistogram.Histogram;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.RemoteRegion;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsException;

/** The side that connects and pings, as {@code rping -c}. */
final class PingInitiator {

	private static final long GREATEST_LATENCY_NANOS = TimeUnit.MINUTES.toNanos(10);

	private static final int LATENCY_DIGITS = 3;

	private final VerbsDevice device;

	private final PingAddress target;

	private final PingPlan plan;

	private final Consumer<ConnectionInfo> connected;

	/**
	 * Creates an initiator.
	 * @param device borrowed
	 * @param connected told when there is a connection
	 */
	PingInitiator(VerbsDevice device, PingAddress target, PingPlan plan, Consumer<ConnectionInfo> connected) {
		this.device = device;
		this.target = target;
		this.plan = plan;
		this.connected = connected;
	}

	/**
	 * Connects, pings and disconnects.
	 * @throws PingException if any of it fails
	 */
	PingReport run() {
		InetSocketAddress address = this.target.resolve();
		try (PingConnection connection = new PingConnection(this.device, this.plan.timeout())) {
			ConnectionInfo info = connect(connection, address);
			this.connected.accept(info);
			Session session = new Session(connection, this.plan);
			for (long i = 0; i < this.plan.warmUp(); i++) {
				session.ping();
			}
			Histogram latencies = new Histogram(GREATEST_LATENCY_NANOS, LATENCY_DIGITS);
			long began = System.nanoTime();
			for (long i = 0; i < this.plan.count(); i++) {
				latencies.recordValue(Math.min(session.ping(), GREATEST_LATENCY_NANOS));
			}
			long nanos = System.nanoTime() - began;
			connection.disconnect();
			return new PingReport(info, this.plan, nanos, latencies);
		}
	}

	private ConnectionInfo connect(PingConnection connection, InetSocketAddress address) {
		ConnectOptions options = ConnectOptions.DEFAULTS.withTimeout(this.plan.timeout());
		try {
			return this.device.connect(connection.queuePair(), address, options)
				.get(options.timeoutNanos() + TimeUnit.SECONDS.toNanos(1), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof VerbsException cause) ? explain(cause)
					: new PingException("could not connect to " + this.target + ": " + ex.getCause(), ex);
		}
		catch (VerbsException ex) {
			throw explain(ex);
		}
		catch (TimeoutException ex) {
			throw new PingException(this.target + " gave no answer, and connecting did not end in time", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new PingException("interrupted while connecting to " + this.target, ex);
		}
	}

	private PingException explain(VerbsException ex) {
		String sentence = switch (ex.error()) {
			case CONNECTION_REFUSED -> "nobody listens on %s; start rdma-ping --listen or rping -s there";
			case CONNECTION_REJECTED ->
				"%s speaks RDMA but rejected the connection; is it the port of another service?";
			case PROTOCOL_ERROR -> "what listens on %s does not speak RDMA, or not as it should; is the port right?";
			case CONNECTION_LOST -> "%s closed the connection while it was set up; is the port right?";
			case TIMED_OUT -> "%s did not answer in time; is there a firewall, or another service on the port?";
			case UNREACHABLE -> "there is no way to %s";
			default -> "could not connect to %s";
		};
		return new PingException(String.format(Locale.ROOT, sentence, this.target) + " (" + ex.getMessage() + ")", ex);
	}

	/** The memory of a connection, and the pings. */
	private static final class Session {

		private final PingConnection connection;

		private final PingPlan plan;

		private final MemoryRegion source;

		private final MemoryRegion sink;

		private final RemoteRegion advertisedSource;

		private final RemoteRegion advertisedSink;

		private long pings;

		Session(PingConnection connection, PingPlan plan) {
			this.connection = connection;
			this.plan = plan;
			this.source = connection.register(plan.sizeBytes(), EnumSet.of(AccessFlag.REMOTE_READ));
			this.sink = connection.register(plan.sizeBytes(), EnumSet.of(AccessFlag.REMOTE_WRITE));
			this.advertisedSource = this.source.remoteRegion(0, plan.sizeBytes());
			this.advertisedSink = this.sink.remoteRegion(0, plan.sizeBytes());
		}

		/** Pings once and returns how long it took, in nanoseconds. */
		long ping() {
			String what = "ping " + (this.pings + 1) + " of " + (this.plan.warmUp() + this.plan.count());
			PingData.fill(this.source.memory(), this.plan.sizeBytes(), this.pings++);
			long began = System.nanoTime();
			this.connection.send(this.advertisedSource, what);
			awaitRead(what);
			this.connection.send(this.advertisedSink, what);
			this.connection.receive("the data of " + what + " to come back");
			long nanos = System.nanoTime() - began;
			if (this.plan.validate()) {
				PingData.check(this.source.memory(), this.sink.memory(), this.plan.sizeBytes(),
						"the data of " + what + " that came back");
				PingData.clear(this.sink.memory(), this.plan.sizeBytes());
			}
			return nanos;
		}

		private void awaitRead(String what) {
			try {
				this.connection.receive("the data of " + what + " to be read");
			}
			catch (PingException ex) {
				throw (this.pings > 1) ? ex
						: new PingException(ex.getMessage() + "; is it the port of a responder, with room for "
								+ this.plan.sizeBytes() + " bytes (rping -s -S SIZE)?", ex);
			}
		}

	}

}
