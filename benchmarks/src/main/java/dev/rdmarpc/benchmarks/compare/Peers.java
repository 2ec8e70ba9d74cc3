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

package dev.rdmarpc.benchmarks.compare;

import java.util.List;
import java.util.stream.Stream;

import dev.rdmarpc.benchmarks.compare.aeron.AeronPeer;
import dev.rdmarpc.benchmarks.compare.floor.CopyPeer;
import dev.rdmarpc.benchmarks.compare.floor.FloorPeer;
import dev.rdmarpc.benchmarks.compare.grpc.GrpcInProcessPeer;
import dev.rdmarpc.benchmarks.compare.grpc.GrpcPeer;
import dev.rdmarpc.benchmarks.compare.grpc.GrpcSpringPeer;
import dev.rdmarpc.benchmarks.compare.rdma.RdmaPeer;
import dev.rdmarpc.benchmarks.compare.rdma.RdmaPeer.Variant;
import dev.rdmarpc.benchmarks.compare.rdma.RdmaSpringPeer;
import dev.rdmarpc.benchmarks.compare.tls.TlsPeer;
import dev.rdmarpc.benchmarks.compare.verbs.VerbsPeer;

/** The peers of the comparison. */
public final class Peers {

	/** The peer that others are held against: the least that TCP can do. */
	public static final String FLOOR = "floor";

	/** The peer that others are to beat. */
	public static final String GRPC = "grpc-direct";

	private static final List<Peer> COMPARED = List.of(new FloorPeer(FloorPeer.Variant.TCP),
			new FloorPeer(FloorPeer.Variant.UNIX), new CopyPeer(), new AeronPeer(),
			new GrpcPeer(GrpcPeer.Variant.DIRECT), new GrpcPeer(GrpcPeer.Variant.DEFAULT),
			new GrpcPeer(GrpcPeer.Variant.RDMA), new RdmaPeer(Variant.INLINE), new RdmaPeer(Variant.DEFAULT),
			new RdmaPeer(Variant.EXECUTOR), new RdmaPeer(Variant.REGISTERED), new RdmaPeer(Variant.SHARED_MEMORY),
			new RdmaPeer(Variant.SHARED_MEMORY_REGISTERED), new GrpcSpringPeer(), new RdmaSpringPeer(true),
			new RdmaSpringPeer(false), new TlsPeer(), new RdmaPeer(Variant.TLS), new RdmaPeer(Variant.TLS_REGISTERED),
			new GrpcPeer(GrpcPeer.Variant.TLS));

	private static final List<Peer> ON_DEMAND = List.of(new FloorPeer(FloorPeer.Variant.TCP_PLACING), new VerbsPeer(),
			new RdmaPeer(Variant.EAGER), new RdmaPeer(Variant.READ), new RdmaPeer(Variant.RAILS),
			new RdmaPeer(Variant.SHARED_MEMORY_TRUSTED), new GrpcPeer(GrpcPeer.Variant.RDMA_DEFAULT),
			new GrpcPeer(GrpcPeer.Variant.RDMA_SHM), new GrpcInProcessPeer());

	private Peers() {
	}

	/** The names of those that are compared unless asked otherwise, in that order. */
	public static List<String> compared() {
		return COMPARED.stream().map(Peer::name).toList();
	}

	/** What is compared when it has to be quick, without applications of Spring Boot. */
	public static List<String> judged() {
		return List.of(FLOOR, GRPC, "grpc-default", Variant.INLINE.peer(), Variant.DEFAULT.peer(),
				Variant.REGISTERED.peer());
	}

	/** All names. */
	public static List<String> all() {
		return Stream.concat(COMPARED.stream(), ON_DEMAND.stream()).map(Peer::name).toList();
	}

	/**
	 * Finds a peer.
	 * @throws IllegalArgumentException if there is none of that name
	 */
	public static Peer named(String name) {
		return Stream.concat(COMPARED.stream(), ON_DEMAND.stream())
			.filter((peer) -> peer.name().equals(name))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("peer " + name + " (expected: one of " + all() + ")"));
	}

}
