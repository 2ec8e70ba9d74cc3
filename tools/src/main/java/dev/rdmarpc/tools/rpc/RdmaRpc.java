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
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import dev.rdmarpc.codec.CodecException;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * The command {@code rdma-rpc}. It ends with 0 if all went well, 1 if something failed
 * here or on the way or there was no answer in time, 2 if its arguments are wrong, and 3
 * if a call failed with another status. What went wrong is one line on the standard error
 * stream.
 */
@Command(name = "rdma-rpc", sortOptions = false,
		description = "Asks servers of rdma-rpc for their services, calls them and measures them.",
		subcommands = { DevicesCommand.class, PingCommand.class, BenchCommand.class, ServicesCommand.class,
				CallCommand.class, TopCommand.class, GenerateCompletion.class, CommandLine.HelpCommand.class },
		exitCodeListHeading = "%nIt ends with:%n",
		exitCodeList = { "0:all went well", "1:something failed here or on the way, or no answer in time",
				"2:wrong arguments", "3:a call failed with another status" })
public final class RdmaRpc {

	/** Something failed here or on the way, or nobody has answered. */
	static final int FAILED = 1;

	/** A call failed with a status that does not mean that. */
	static final int REFUSED = 3;

	private static final Set<RpcStatus> UNANSWERED = EnumSet.of(RpcStatus.UNAVAILABLE, RpcStatus.UNAUTHENTICATED,
			RpcStatus.DEADLINE_EXCEEDED, RpcStatus.CANCELLED);

	@Mixin
	@SuppressWarnings("UnusedVariable") // picocli looks at it
	private Help help = new Help();

	private RdmaRpc() {
	}

	/** Runs the command and exits. */
	public static void main(String[] arguments) {
		System.exit(commandLine().execute(arguments));
	}

	static CommandLine commandLine() {
		CommandLine command = new CommandLine(new RdmaRpc()).setExpandAtFiles(false)
			.setParameterExceptionHandler(RdmaRpc::explain)
			.setExecutionExceptionHandler((ex, failed, parsed) -> report(ex, failed));
		Objects.requireNonNull(command.getSubcommands().get("generate-completion"))
			.getCommandSpec()
			.usageMessage()
			.hidden(true);
		return command;
	}

	private static int explain(CommandLine.ParameterException ex, String[] arguments) {
		say(ex.getCommandLine(), String.valueOf(ex.getMessage()));
		ex.getCommandLine()
			.getErr()
			.println(ex.getCommandLine().getCommandSpec().qualifiedName(" ") + " --help shows " + "what there is");
		ex.getCommandLine().getErr().flush();
		return CommandLine.ExitCode.USAGE;
	}

	private static int report(Exception ex, CommandLine failed) {
		failed.getOut().flush();
		if (!(ex instanceof RpcException rpc)) {
			String message = ex.getMessage();
			say(failed, (message != null) ? message : ex.toString());
			return (ex instanceof IllegalArgumentException) ? CommandLine.ExitCode.USAGE : FAILED;
		}
		if (rpc.getCause() instanceof CodecException && rpc.status() == RpcStatus.INVALID_ARGUMENT) {
			say(failed, rpc.detail());
			return CommandLine.ExitCode.USAGE;
		}
		say(failed, rpc.status() + ": " + rpc.detail());
		return UNANSWERED.contains(rpc.status()) ? FAILED : REFUSED;
	}

	private static void say(CommandLine command, String message) {
		PrintWriter err = command.getErr();
		err.println("rdma-rpc: " + message.replaceAll("\\s*[\\r\\n]+\\s*", " "));
		err.flush();
	}

}
