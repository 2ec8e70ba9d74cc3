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

package dev.rdmarpc.tools.rpc;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import dev.rdmarpc.rpc.GenericClient;
import dev.rdmarpc.rpc.RdmaReflection;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/** Shows the services of a server that has reflection. */
@Command(name = "services", sortOptions = false,
		description = "Shows the services of a server and their methods, or the schema of one of them. The server "
				+ "has to have reflection: rdma.rpc.server.reflection.enabled=true.")
final class ServicesCommand implements Callable<Integer> {

	@Spec
	@SuppressWarnings("NullAway.Init") // set by picocli before the command is called
	private CommandSpec spec;

	@Mixin
	private Target target = new Target();

	@Parameters(index = "1", arity = "0..1", paramLabel = "SERVICE", description = "The service whose schema is shown.")
	private @Nullable String service;

	@Mixin
	@SuppressWarnings("UnusedVariable") // picocli looks at it
	private Help help = new Help();

	@Override
	public Integer call() {
		PrintWriter out = this.spec.commandLine().getOut();
		try (Connection connection = this.target.open()) {
			GenericClient generic = connection.generic();
			String asked = this.service;
			if (asked != null) {
				RdmaReflection.Service found = reflected(() -> generic.service(asked));
				print(found, out);
				out.println();
				out.print(printable(found.schema()));
			}
			else {
				for (String name : reflected(generic::services)) {
					print(generic.service(name), out);
				}
			}
			out.flush();
		}
		return 0;
	}

	/** Says what a server lacks that has no reflection. */
	static <T> T reflected(Supplier<T> asking) {
		try {
			return asking.get();
		}
		catch (RpcException ex) {
			if (ex.status() == RpcStatus.UNIMPLEMENTED && RdmaReflection.SERVICE.equals(ex.service())) {
				throw new RpcException(RpcStatus.UNIMPLEMENTED,
						"the server has no reflection (expected: rdma.rpc.server.reflection.enabled=true there)");
			}
			throw ex;
		}
	}

	private static void print(RdmaReflection.Service service, PrintWriter out) {
		out.println(printable(service.name()));
		for (RdmaReflection.Method method : service.methods()) {
			StringBuilder line = new StringBuilder("  ").append(printable(method.name())).append(", ");
			line.append(method.parameters()).append((method.parameters() == 1) ? " parameter" : " parameters");
			line.append(method.consuming() ? ", takes a stream" : "");
			line.append(method.streaming() ? ", replies with a stream" : "");
			line.append(method.oneWay() ? ", one-way" : "").append(method.idempotent() ? ", idempotent" : "");
			out.println(line);
		}
	}

	/** Text of a server that a terminal does not take for commands. */
	static String printable(@Nullable String text) {
		return (text != null) ? text.replaceAll("[\\p{Cntrl}&&[^\\n\\t]]", "?") : "";
	}

}
