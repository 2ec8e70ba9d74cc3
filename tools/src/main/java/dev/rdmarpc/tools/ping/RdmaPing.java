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

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.iwarp.CrcMode;
import dev.rdmarpc.verbs.iwarp.IwarpOptions;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/**
 * The command {@code rdma-ping}. It ends with 0 if all went well, 1 if something failed,
 * and 2 if its arguments are wrong.
 */
@Command(name = "rdma-ping", sortOptions = false, abbreviateSynopsis = true, showDefaultValues = true,
		description = "Pings over RDMA: each ping is fetched by the peer with an RDMA Read and brought back with an "
				+ "RDMA Write, and said to be so with four Sends. The peer is rdma-ping --listen, or rping -s of "
				+ "rdma-core; rping -c may ping rdma-ping --listen too.")
public final class RdmaPing implements Callable<Integer> {

	@Spec
	@SuppressWarnings("NullAway.Init") // set by picocli before the command is called
	private CommandSpec spec;

	@ArgGroup(multiplicity = "1")
	private Mode mode = new Mode();

	@Option(names = "--provider", description = "The verbs provider: auto, or one of those that --list shows.",
			defaultValue = TransportOptions.AUTO)
	private String provider = TransportOptions.AUTO;

	@Option(names = "--device", description = "The device; by default the provider chooses.")
	private @Nullable String device;

	@Option(names = { "-S", "--size" }, description = "Bytes of data in each ping, 16 to 16777216.",
			defaultValue = "64")
	private int size;

	@Option(names = { "-C", "--count" }, description = "Pings that are measured.", defaultValue = "1000")
	private long count;

	@Option(names = "--warm-up", description = "Pings before those that are measured.", defaultValue = "100")
	private long warmUp;

	@Option(names = { "-V", "--validate" }, description = "Compare every byte with what was sent.")
	private boolean validate;

	@Option(names = "--crc", description = "When provider iwarp asks for checksums: ${COMPLETION-CANDIDATES}.",
			defaultValue = "AUTO")
	private CrcMode crc = CrcMode.AUTO;

	@Option(names = "--timeout", description = "Seconds to wait for each step.", defaultValue = "5")
	private int timeoutSeconds;

	@Option(names = "--connections", description = "With --listen: end after so many connections, 0 for never.",
			defaultValue = "0")
	private int connections;

	@Option(names = { "-h", "--help" }, usageHelp = true, description = "Show this text.")
	@SuppressWarnings("UnusedVariable") // picocli looks at the option, not at its value
	private boolean help;

	/** Runs the command and exits. */
	public static void main(String[] arguments) {
		System.exit(commandLine().execute(arguments));
	}

	static CommandLine commandLine() {
		return new CommandLine(new RdmaPing()).setCaseInsensitiveEnumValuesAllowed(true)
			.setParameterExceptionHandler(RdmaPing::explain);
	}

	private static int explain(CommandLine.ParameterException ex, String[] arguments) {
		PrintWriter err = ex.getCommandLine().getErr();
		err.println("rdma-ping: " + ex.getMessage());
		err.println("rdma-ping --help shows what there is");
		err.flush();
		return CommandLine.ExitCode.USAGE;
	}

	@Override
	public Integer call() throws InterruptedException {
		PrintWriter out = this.spec.commandLine().getOut();
		try {
			if (this.mode.list) {
				new ProviderList(providers()).print(out);
				return 0;
			}
			return (this.mode.listen != null) ? listen(this.mode.listen, out) : ping(this.mode.target, out);
		}
		catch (IllegalArgumentException ex) {
			throw new CommandLine.ParameterException(this.spec.commandLine(), ex.getMessage());
		}
		catch (PingException | VerbsException ex) {
			out.flush();
			this.spec.commandLine().getErr().println("rdma-ping: " + ex.getMessage());
			this.spec.commandLine().getErr().flush();
			return 1;
		}
	}

	private int ping(String target, PrintWriter out) {
		PingPlan plan = new PingPlan(this.size, this.count, this.warmUp, this.validate, timeout());
		PingAddress address = PingAddress.parse(target);
		try (VerbsDevice opened = open(out)) {
			new PingInitiator(opened, address, plan, (info) -> {
				out.println("pinging " + PingAddress.of(info.remoteAddress()) + " from "
						+ PingAddress.of(info.localAddress()) + ", " + info.readDepth() + " Reads out, "
						+ info.responderResources() + " in");
				out.flush();
			}).run().print(out);
			return 0;
		}
	}

	private int listen(String local, PrintWriter out) throws InterruptedException {
		PingAddress address = PingAddress.parseLocal(local);
		Semaphore ended = new Semaphore(0);
		AtomicBoolean failed = new AtomicBoolean();
		try (VerbsDevice opened = open(out);
				PingResponder responder = new PingResponder(opened, address.resolve(), this.validate, timeout(),
						(outcome) -> {
							out.println(outcome);
							out.flush();
							failed.compareAndSet(false, outcome.failure() != null);
							ended.release();
						})) {
			out.println("listening on " + PingAddress.of(responder.localAddress()));
			out.flush();
			ended.acquire((this.connections > 0) ? this.connections : Integer.MAX_VALUE);
		}
		return failed.get() ? 1 : 0;
	}

	private Duration timeout() {
		return Duration.ofSeconds(this.timeoutSeconds);
	}

	private VerbsDevice open(PrintWriter out) {
		ProviderSelection selection = ProviderSelection.select(this.provider, providers());
		VerbsDevice opened = selection.provider().openDevice(this.device);
		out.println("provider " + selection.provider().name() + ", device " + opened.name() + " (" + selection.reason()
				+ ")");
		return opened;
	}

	/** Those on the class path; that of iWARP with our settings. */
	private List<VerbsProvider> providers() {
		List<VerbsProvider> providers = new ArrayList<>(ProviderSelection.discover());
		providers.replaceAll((found) -> (found instanceof IwarpProvider)
				? new IwarpProvider(IwarpOptions.DEFAULTS.withCrc(this.crc)) : found);
		return providers;
	}

	/** What to do; exactly one of these. */
	private static final class Mode {

		@Parameters(paramLabel = "HOST[:PORT]", showDefaultValue = Visibility.NEVER,
				description = "Whom to ping; rping's port 7174 unless given.")
		private String target = "";

		@Option(names = { "-l", "--listen" }, arity = "0..1", paramLabel = "[ADDRESS:]PORT", fallbackValue = "7174",
				description = "Answer pings, on port 7174 of all addresses unless given.")
		private @Nullable String listen;

		@Option(names = "--list", showDefaultValue = Visibility.NEVER,
				description = "Show the providers, what they miss, and their devices.")
		private boolean list;

	}

}
