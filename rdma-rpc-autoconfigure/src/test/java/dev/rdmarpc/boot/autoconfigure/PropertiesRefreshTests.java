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

package dev.rdmarpc.boot.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaPropertiesRefresh;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Properties that change while the application runs. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ExtendWith(OutputCaptureExtension.class)
class PropertiesRefreshTests {

	private static final String CLIENT = "rdma.rpc.client.slow.";

	private static final String DEADLINE = CLIENT + "deadline";

	private static final String OF_METHOD = CLIENT + "methods.Sleepy.late.deadline";

	private static final String LIMIT = "rdma.rpc.server.max-concurrent-calls";

	@Test
	void defaultsClientsAndMethodsChangeAndKeepTheirConnections() {
		run((context) -> {
			RdmaClients clients = context.getBean(RdmaClients.class);
			RpcClient slow = clients.client("slow");
			Sleepy sleepy = slow.proxy(Sleepy.class);
			assertThat(sleepy.now()).isEqualTo("now");
			long opened = slow.metrics().connects();
			refresh(context, "rdma.rpc.client.default.deadline", "2h", LIMIT, "77");
			assertThat(slow.defaultDeadline()).isEqualTo(Duration.ofHours(2));
			refresh(context, DEADLINE, "1h", OF_METHOD, "30ms");
			assertThat(slow.defaultDeadline()).isEqualTo(Duration.ofHours(1));
			assertThat(outcome(sleepy.late())).contains("DEADLINE_EXCEEDED");
			assertThat(clients.client("other").defaultDeadline()).isEqualTo(Duration.ofHours(2));
			assertThat(context.getBean(RpcServer.class).options().maxConcurrentCalls()).isEqualTo(77);
			refresh(context, OF_METHOD, "1h");
			CompletableFuture<String> patient = sleepy.late();
			context.getBean(SleepyService.class).answer("in time");
			assertThat(patient.get()).isEqualTo("in time");
			assertThat(slow.metrics().connects()).as("connections").isEqualTo(opened);
		});
	}

	@Test
	void hedgingOfMethodsChanges() {
		run((context) -> {
			SleepyService service = context.getBean(SleepyService.class);
			Sleepy sleepy = context.getBean(RdmaClients.class).proxy("slow", Sleepy.class);
			refresh(context, CLIENT + "methods.Sleepy.late.hedging.max-attempts", "3",
					CLIENT + "methods.Sleepy.late.hedging.delay", "1ms");
			CompletableFuture<String> reply = sleepy.late();
			service.awaitCalls(3);
			service.answer("third");
			assertThat(reply.get()).isEqualTo("third");
		});
	}

	@Test
	void deadlineThatWasChangedOtherwiseStaysUntilItsPropertyChanges() {
		run((context) -> {
			RdmaClients clients = context.getBean(RdmaClients.class);
			clients.defaultDeadline("slow", Duration.ofSeconds(7));
			refresh(context, LIMIT, "5");
			assertThat(clients.client("slow").defaultDeadline()).isEqualTo(Duration.ofSeconds(7));
			refresh(context, DEADLINE, "8s");
			assertThat(clients.client("slow").defaultDeadline()).isEqualTo(Duration.ofSeconds(8));
		});
	}

	@Test
	void propertiesThatTakeARestartAreNamedOnceInOneLine(CapturedOutput output) {
		run((context) -> {
			assertThat(context.getBean(RdmaPropertiesRefresh.class).refresh()).isEmpty();
			RpcClient slow = context.getBean(RdmaClients.class).client("slow");
			assertThat(refresh(context, CLIENT + "max-calls", "9", CLIENT + "token", "secret-token",
					CLIENT + "queue-pairs.max", "3", CLIENT + "retry.max-retries", "4", "rdma.rpc.memory.max", "512MB",
					DEADLINE, "4s"))
				.containsExactly(CLIENT + "max-calls", CLIENT + "queue-pairs.max", CLIENT + "retry.max-retries",
						CLIENT + "token", "rdma.rpc.memory.max");
			assertThat(slow.defaultDeadline()).isEqualTo(Duration.ofSeconds(4));
			assertThat(refresh(context, DEADLINE, "5s")).hasSize(5);
			assertThat(refresh(context, "rdma.rpc.memory.max", "256MB")).hasSize(4);
		});
		assertThat(output.toString().lines().filter((line) -> line.contains(" WARN "))).singleElement()
			.asString()
			.contains("take effect when the application is started again: " + CLIENT + "max-calls, ",
					"rdma.rpc.memory.max")
			.doesNotContain("secret-token");
	}

	@ParameterizedTest
	@CsvSource({ DEADLINE + ",-5s,not negative", OF_METHOD + ",-1ms,not negative",
			CLIENT + "methods.Sleepy.later.deadline,1s,a method of", CLIENT + "hedging.max-attempts,99,from 1 to",
			CLIENT + "methods.Sleepy.now.hedging.max-attempts,2,idempotent", LIMIT + ",0,at least 1" })
	void impossibleValueChangesNothing(String name, String value, String expected) {
		run((context) -> {
			RpcClient slow = context.getBean(RdmaClients.class).client("slow");
			slow.proxy(Sleepy.class);
			Duration before = slow.defaultDeadline();
			assertThatThrownBy(() -> refresh(context, "rdma.rpc.client.default.deadline", "9s", name, value))
				.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class, (ex) -> {
					assertThat(name).startsWith(ex.getName());
					assertThat(ex.getReason()).contains(expected);
				});
			assertThat(slow.defaultDeadline()).isEqualTo(before);
			assertThat(context.getBean(RpcServer.class).options().maxConcurrentCalls()).isEqualTo(1024);
		});
	}

	/** Also where the change would have needed a restart. */
	@ParameterizedTest
	@CsvSource({ "rdma.rpc.shm.ring-size,3B,from ", "rdma.rpc.shm.ring-size,96KB,a power of two",
			"rdma.rpc.grpc.server.port,-1,from 0 to 65535", "rdma.rpc.server.slow-call-threshold,-1s,positive",
			"rdma.rpc.server.tokens.reports,'',a token of 1 to" })
	void impossibleValueOfWhatTakesARestartChangesNothing(String name, String value, String expected) {
		run((context) -> {
			RpcClient slow = context.getBean(RdmaClients.class).client("slow");
			Duration before = slow.defaultDeadline();
			assertThatThrownBy(() -> refresh(context, "rdma.rpc.client.default.deadline", "9s", name, value))
				.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class, (ex) -> {
					assertThat(ex.getName()).isEqualTo(name);
					assertThat(ex.getReason()).contains(expected);
				});
			assertThat(slow.defaultDeadline()).isEqualTo(before);
		});
	}

	@ParameterizedTest
	@CsvSource({ DEADLINE + ",soon", LIMIT + ",many", CLIENT + "dedline,1s" })
	void valueOfAnotherTypeOrUnknownPropertyChangesNothing(String name, String value) {
		run((context) -> {
			RpcClient slow = context.getBean(RdmaClients.class).client("slow");
			Duration before = slow.defaultDeadline();
			assertThatThrownBy(() -> refresh(context, "rdma.rpc.client.default.deadline", "9s", name, value))
				.isInstanceOf(BindException.class);
			assertThat(slow.defaultDeadline()).isEqualTo(before);
		});
	}

	private static void run(ContextConsumer<AssertableApplicationContext> test) {
		AtomicReference<RegisteredMemory> memory = new AtomicReference<>();
		RdmaContextRunner.create().withBean(SleepyService.class).run((context) -> {
			memory.set(context.getBean(RegisteredMemory.class));
			test.accept(context);
		});
		assertThat(memory.get().metrics().outstanding()).isZero();
	}

	private static Set<String> refresh(AssertableApplicationContext context, String... namesAndValues) {
		Map<String, String> changed = new HashMap<>();
		for (int i = 0; i < namesAndValues.length; i += 2) {
			changed.put(namesAndValues[i], namesAndValues[i + 1]);
		}
		TestPropertyValues.of(changed).applyTo(context.getEnvironment(), TestPropertyValues.Type.MAP, "changed");
		return context.getBean(RdmaPropertiesRefresh.class).refresh();
	}

	private static String outcome(CompletableFuture<String> reply) {
		return reply.handle((value, failure) -> String.valueOf(failure)).join();
	}

	/** Answers when it is told to. */
	public interface Sleepy {

		String now();

		@RdmaMethod(idempotent = true)
		CompletableFuture<String> late();

	}

	@RdmaService
	static class SleepyService implements Sleepy {

		private final List<CompletableFuture<String>> pending = new ArrayList<>();

		private @Nullable String answer;

		@Override
		public String now() {
			return "now";
		}

		@Override
		public synchronized CompletableFuture<String> late() {
			CompletableFuture<String> reply = new CompletableFuture<>();
			this.pending.add(reply);
			notifyAll();
			if (this.answer != null) {
				reply.complete(this.answer);
			}
			return reply;
		}

		synchronized void awaitCalls(int count) throws InterruptedException {
			while (this.pending.size() < count) {
				wait();
			}
		}

		/**
		 * Answers all calls, those so far and those to come: a call whose deadline has
		 * passed for its caller may still go on here, or not have arrived yet.
		 */
		synchronized void answer(String text) {
			this.answer = text;
			this.pending.forEach((reply) -> reply.complete(text));
		}

	}

}
