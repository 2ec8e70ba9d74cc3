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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.GenericMethod;

/** Calls a method by its name. */
@Command(name = "call", sortOptions = false,
		description = "Calls a method of a server that has reflection. Arguments and result are JSON, with the names "
				+ "that the schema has; bytes are Base64. A stream is one line for each message.")
final class CallCommand implements Callable<Integer> {

	@Spec
	@SuppressWarnings("NullAway.Init") // set by picocli before the command is called
	private CommandSpec spec;

	@Mixin
	private Target target = new Target();

	@Parameters(index = "1", paramLabel = "SERVICE", description = "The service, as 'services' shows it.")
	private String service = "";

	@Parameters(index = "2", paramLabel = "METHOD", description = "The method.")
	private String method = "";

	@Parameters(index = "3", arity = "0..1", paramLabel = "JSON",
			description = "The arguments: the components of the record if that is the only parameter, otherwise the "
					+ "parameters. @FILE reads a file, - the standard input.")
	private @Nullable String arguments;

	@Option(names = "--compact", description = "The result in one line.")
	private boolean compact;

	@Option(names = "--most", paramLabel = "COUNT", description = "The most messages of a stream; all unless given.",
			defaultValue = "0")
	private long most;

	@Mixin
	@SuppressWarnings("UnusedVariable") // picocli looks at it
	private Help help = new Help();

	@Override
	public Integer call() {
		PrintWriter out = this.spec.commandLine().getOut();
		String given = this.arguments;
		Object tree = (given != null) ? Json.read(given, System.in) : null;
		try (Connection connection = this.target.open()) {
			GenericMethod found = ServicesCommand
				.reflected(() -> connection.generic().method(this.service, this.method));
			if (found.description().streaming()) {
				print(found.withOptions(CallOptions.deadline(this.target.timeout())).stream(tree), out);
				return 0;
			}
			Object result = found.call(tree);
			if (!found.description().oneWay()) {
				out.println(this.compact ? Json.line(result) : Json.indented(result));
				out.flush();
			}
		}
		return 0;
	}

	private void print(Flow.Publisher<Object> messages, PrintWriter out) {
		Printer printer = new Printer(out, (this.most > 0) ? this.most : Long.MAX_VALUE);
		messages.subscribe(printer);
		try {
			printer.ended.join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw ex;
		}
	}

	/** Prints each message in a line. */
	private static final class Printer implements Flow.Subscriber<Object> {

		private final PrintWriter out;

		private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

		private long left;

		private Flow.@Nullable Subscription subscription;

		Printer(PrintWriter out, long most) {
			this.out = out;
			this.left = most;
		}

		@Override
		public void onSubscribe(Flow.Subscription given) {
			this.subscription = given;
			given.request(1);
		}

		@Override
		public void onNext(Object message) {
			this.out.println(Json.line(message));
			boolean read = !this.out.checkError();
			this.left = read ? this.left - 1 : 0;
			Flow.Subscription current = this.subscription;
			if (current == null) {
				return;
			}
			if (this.left > 0) {
				current.request(1);
				return;
			}
			current.cancel();
			this.ended.complete(null);
		}

		@Override
		public void onError(Throwable failure) {
			this.ended.completeExceptionally(failure);
		}

		@Override
		public void onComplete() {
			this.ended.complete(null);
		}

	}

}
