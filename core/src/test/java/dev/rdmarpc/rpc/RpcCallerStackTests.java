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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What a caller is thrown has the stack of that caller, although most failures are found
 * by whichever thread drives the loop.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcCallerStackTests {

	private static final int THREADS = 8;

	private static final int CALLS = 200;

	private static final CallOptions TEN_SECONDS = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(10)));

	@Test
	void whatIsThrownHasTheStackOfItsCaller() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Failing.class, new FailingService());
				RpcClient client = fixture.newClient(server)) {
			Failing service = TEN_SECONDS.on(client.proxy(Failing.class));
			List<Future<Integer>> strangers = new ArrayList<>();
			for (int t = 0; t < THREADS; t++) {
				Caller caller = Caller.values()[t % Caller.values().length];
				strangers.add(threads.submit(() -> strangers(caller, service)));
			}
			int sum = 0;
			for (Future<Integer> each : strangers) {
				sum += each.get(50, TimeUnit.SECONDS);
			}
			assertThat(sum).as("stacks of strangers among %d", THREADS * CALLS).isZero();
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static int strangers(Caller caller, Failing service) {
		int count = 0;
		for (int i = 0; i < CALLS; i++) {
			Throwable thrown = catchThrowable(() -> caller.call(service));
			RpcException failure = rpc(thrown);
			assertThat(failure.status()).isEqualTo(RpcStatus.NOT_FOUND);
			assertThat(failure).hasMessageContaining("NOT_FOUND: no ");
			boolean alone = caller.isAlone(failure) && (thrown == failure || caller.isAlone(thrown));
			count += alone ? 0 : 1;
		}
		return count;
	}

	private static RpcException rpc(Throwable thrown) {
		Throwable failure = (thrown instanceof ExecutionException || thrown instanceof CompletionException)
				? thrown.getCause() : thrown;
		assertThat(failure).isInstanceOf(RpcException.class);
		return (RpcException) failure;
	}

	@Test
	void eachOfSeveralThreadsThatWaitForOneCallHasItsOwn() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try (RpcFixture fixture = new RpcFixture()) {
			CompletableFuture<Void> call = fixture.echo.never();
			List<Future<Throwable>> waiting = new ArrayList<>();
			List<Callable<Throwable>> waits = List.of(() -> firstWaits(call), () -> secondWaits(call));
			for (Callable<Throwable> wait : waits) {
				waiting.add(threads.submit(wait));
			}
			RpcFixture.awaitTrue(() -> call.getNumberOfDependents() == 2);
			fixture.client.close();
			fixture.server.close();
			assertThat(rpc(waiting.get(0).get(20, TimeUnit.SECONDS)).getStackTrace())
				.anyMatch((frame) -> frame.getMethodName().equals("firstWaits"))
				.noneMatch((frame) -> frame.getMethodName().equals("secondWaits"));
			assertThat(rpc(waiting.get(1).get(20, TimeUnit.SECONDS)).getStackTrace())
				.anyMatch((frame) -> frame.getMethodName().equals("secondWaits"))
				.noneMatch((frame) -> frame.getMethodName().equals("firstWaits"));
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static Throwable firstWaits(CompletableFuture<Void> call) {
		return catchThrowable(call::join);
	}

	private static Throwable secondWaits(CompletableFuture<Void> call) {
		return catchThrowable(call::get);
	}

	@Test
	void aStageLearnsOfAFailureWithoutTheStackOfAStranger() throws Exception {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Failing.class, new FailingService());
				RpcClient client = fixture.newClient(server)) {
			CompletionStage<@Nullable Throwable> seen = client.proxy(Failing.class)
				.promised("x")
				.handle((text, failure) -> failure);
			Throwable failure = seen.toCompletableFuture().get(10, TimeUnit.SECONDS);
			assertThat(failure).isInstanceOf(RpcException.class).hasMessageContaining("NOT_FOUND: no x");
			assertThat(failure.getStackTrace()).isEmpty();
		}
	}

	@Test
	void whatAHandlerThrowsIsAnOrdinaryException() {
		RpcException thrown = new RpcException(RpcStatus.ABORTED, "mine", "service", "method",
				new IllegalStateException("why"));
		assertThat(thrown.getStackTrace()[0].getMethodName()).isEqualTo("whatAHandlerThrowsIsAnOrdinaryException");
		assertThat(thrown).hasMessage("service/method ABORTED: mine").hasRootCauseMessage("why");
		RpcException special = new RpcException(RpcStatus.ABORTED, null) {
		};
		assertThat(special.getStackTrace()[0].getMethodName()).isEqualTo("whatAHandlerThrowsIsAnOrdinaryException");
		assertThat(special).hasMessage("ABORTED: ");
	}

	/** Calls that only fail. */
	interface Failing {

		@RdmaMethod(inline = true)
		String blocking(String text);

		CompletableFuture<String> promised(String text);

	}

	private static final class FailingService implements Failing {

		@Override
		public String blocking(String text) {
			throw new RpcException(RpcStatus.NOT_FOUND, "no " + text);
		}

		@Override
		public CompletableFuture<String> promised(String text) {
			return CompletableFuture.failedFuture(new RpcException(RpcStatus.NOT_FOUND, "no " + text));
		}

	}

	/** Each makes calls of its own kind below a frame that only it has. */
	private enum Caller {

		BLOCKING {
			@Override
			void call(Failing service) {
				service.blocking("x");
			}
		},

		JOINING {
			@Override
			void call(Failing service) {
				service.promised("x").join();
			}
		},

		GETTING {
			@Override
			void call(Failing service) throws Exception {
				service.promised("x").get();
			}
		},

		GETTING_IN_TIME {
			@Override
			void call(Failing service) throws Exception {
				service.promised("x").get(10, TimeUnit.SECONDS);
			}
		},

		JOINING_A_DEPENDENT_STAGE {
			@Override
			void call(Failing service) {
				service.promised("x")
					.thenApply((text) -> text + "!")
					.thenCombine(service.promised("y"), String::concat)
					.join();
			}
		},

		LOOKING {
			@Override
			void call(Failing service) {
				CompletableFuture<String> call = service.promised("x");
				RpcFixture.awaitTrue(call::isDone);
				call.getNow("none");
			}
		};

		abstract void call(Failing service) throws Exception;

		/** Whether a stack has the frames of this caller and of no other one. */
		boolean isAlone(Throwable failure) {
			List<String> callers = Stream.of(failure.getStackTrace())
				.filter((frame) -> frame.getClassName().startsWith(Caller.class.getName() + "$")
						&& frame.getMethodName().equals("call"))
				.map(StackTraceElement::getClassName)
				.distinct()
				.toList();
			return callers.equals(List.of(getClass().getName()));
		}

	}

}
