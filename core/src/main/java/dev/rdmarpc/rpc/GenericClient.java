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

package dev.rdmarpc.rpc;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.flatbuffers.SchemaCodec;

/**
 * Finds the services of a server and calls their methods without having their interfaces.
 * The server must have {@link RpcServer.Builder#reflection()}; otherwise calls fail with
 * {@link RpcStatus#UNIMPLEMENTED}. <pre>
 * GenericMethod find = client.generic().method("dev.example.Catalog", "find");
 * Map&lt;?, ?&gt; found = (Map&lt;?, ?&gt;) find.call(Map.of("id", 7));
 * </pre>
 *
 * <p>
 * Thread-safe. What the server says is not kept: a {@link GenericMethod} is to be.
 */
public final class GenericClient {

	/** More pages would be those of a server that never ends. */
	private static final int MAX_PAGES = 1000;

	private final RpcClient client;

	private final FlatBuffersCodec codec;

	private final RdmaReflection reflection;

	GenericClient(RpcClient client, FlatBuffersCodec codec) {
		this.client = client;
		this.codec = codec;
		this.reflection = client.proxy(RdmaReflection.SERVICE, RdmaReflection.class);
	}

	/** The names of all services, that of reflection among them. */
	public List<String> services() {
		List<String> all = new ArrayList<>();
		String last = "";
		for (int i = 0; i < MAX_PAGES; i++) {
			RdmaReflection.Services page = said(this.reflection.services(last));
			List<String> names = page.names();
			if (names == null || names.isEmpty()) {
				return all;
			}
			all.addAll(names);
			String greatest = names.get(names.size() - 1);
			if (!page.more() || greatest.compareTo(last) <= 0) {
				return all;
			}
			last = greatest;
		}
		return all;
	}

	/**
	 * A service with its methods and schema.
	 * @throws RpcException with {@link RpcStatus#NOT_FOUND} if there is none of that name
	 */
	public RdmaReflection.Service service(String name) {
		RdmaReflection.Service service = said(this.reflection.service(name));
		return new RdmaReflection.Service(said(service.name()), said(service.methods()), said(service.schema()));
	}

	/**
	 * Asks for the schema of a method, and compiles it.
	 * @throws RpcException with {@link RpcStatus#NOT_FOUND} if there is none of that
	 * name; with {@link RpcStatus#UNIMPLEMENTED} if it takes a stream, or messages of
	 * which the schema is not known; with {@link RpcStatus#INTERNAL} if the schema cannot
	 * be read
	 */
	public GenericMethod method(String service, String name) {
		RdmaReflection.MethodSchema said = said(this.reflection.method(service, name));
		RdmaReflection.Method method = said(said.method());
		if (method.consuming()) {
			throw new RpcException(RpcStatus.UNIMPLEMENTED,
					"it takes a stream of messages (expected: a method that takes none)", service, name, null);
		}
		try {
			SchemaCodec codec = SchemaCodec.of(this.codec, service + "/" + name, method.parameters(),
					said(said.schema()), said(said.types()));
			String waiting = method.idempotent() ? "repeatable" : "call";
			String later = method.idempotent() ? "repeatableFuture" : "future";
			if (method.streaming() || method.oneWay()) {
				waiting = method.oneWay() ? "oneWay" : "stream";
				later = waiting;
			}
			return new GenericMethod(service, method, proxy(service, name, method.parameters(), waiting, codec),
					proxy(service, name, method.parameters(), later, codec));
		}
		catch (UnsupportedOperationException ex) {
			throw new RpcException(RpcStatus.UNIMPLEMENTED, String.valueOf(ex.getMessage()), service, name, ex);
		}
		catch (IllegalArgumentException ex) {
			throw new RpcException(RpcStatus.INTERNAL, "the server's schema cannot be read: " + ex.getMessage(),
					service, name, ex);
		}
	}

	private GenericCall proxy(String service, String name, int parameters, String form, SchemaCodec codec) {
		MethodDescriptor method = new MethodDescriptor(service, name, parameters, GenericCall.form(form),
				new BoundTypes(GenericCall.class), codec);
		return this.client.proxy(new ServiceDescriptor(service, GenericCall.class, List.of(method)), GenericCall.class);
	}

	/** Records of a peer may lack what they should have. */
	private static <T> T said(@Nullable T value) {
		if (value == null) {
			throw new RpcException(RpcStatus.INTERNAL, "the answer of the server's reflection is not complete");
		}
		return value;
	}

}
