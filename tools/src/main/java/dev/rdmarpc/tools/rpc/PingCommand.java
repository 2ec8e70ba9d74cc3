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
import java.util.Locale;
import java.util.concurrent.Callable;

import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Connects to a server and makes small calls. */
@Command(name = "ping", sortOptions = false,
		description = "Connects to a server and makes small calls, which any server answers: TLS, token, handshake "
				+ "and calls, but no service. (rdma-ping tests the path below, without a server of rdma-rpc.)")
final class PingCommand implements Callable<Integer> {

	@Spec
	@SuppressWarnings("NullAway.Init") // set by picocli before the command is called
	private CommandSpec spec;

	@Mixin
	private Target target = new Target();

	@Option(names = { "-n", "--count" }, description = "How many calls are made.", defaultValue = "5",
			showDefaultValue = Visibility.ALWAYS)
	private int count;

	@Mixin
	@SuppressWarnings("UnusedVariable") // picocli looks at it
	private Help help = new Help();

	@Override
	public Integer call() {
		if (this.count < 1) {
			throw new IllegalArgumentException("count of " + this.count + " (expected: at least 1)");
		}
		PrintWriter out = this.spec.commandLine().getOut();
		try (Connection connection = this.target.open()) {
			Connection.Pinger pinger = connection.pinger(this.target.timeout());
			long begun = System.nanoTime();
			boolean reflection = pinger.hasReflection();
			out.printf(Locale.ROOT, "connected to %s, first answer after %.1f ms; %s reflection%n",
					this.target.address(), (System.nanoTime() - begun) / 1e6, reflection ? "with" : "without");
			out.println(connection.device());
			out.flush();
			Histogram nanos = Latencies.histogram();
			for (int i = 0; i < this.count; i++) {
				long before = System.nanoTime();
				pinger.run();
				nanos.recordValue(System.nanoTime() - before);
			}
			out.println(this.count + ((this.count == 1) ? " call, " : " calls, ") + Latencies.line(nanos));
			out.flush();
		}
		return 0;
	}

}
