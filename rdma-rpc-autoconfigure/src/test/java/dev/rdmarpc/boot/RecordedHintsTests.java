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

package dev.rdmarpc.boot;

import java.io.Closeable;
import java.lang.StackWalker.StackFrame;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aot.agent.HintType;
import org.springframework.aot.agent.RecordedInvocation;
import org.springframework.aot.agent.RecordedInvocationsPublisher;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.test.agent.EnabledIfRuntimeHintsAgent;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.rdmarpc.boot.AheadOfTimeTests.Application;
import dev.rdmarpc.boot.AheadOfTimeTests.Closed;
import dev.rdmarpc.boot.AheadOfTimeTests.Shop;
import dev.rdmarpc.boot.AheadOfTimeTests.User;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.FieldViolations;
import dev.rdmarpc.rpc.GenericClient;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * What the project's classes look up by reflection while an application starts, serves
 * and calls, compared with the hints that are generated ahead of time. It is recorded by
 * Spring's agent for runtime hints, with which the build runs this class.
 */
@EnabledIfRuntimeHintsAgent
class RecordedHintsTests {

	/** An image has no template of classes on purpose: it cannot define any. */
	private static final String CLASS_TEMPLATE = "[TableBodyTemplate.class]";

	/** Filled by any thread, hence not the recorder of the agent's own test support. */
	private static final Queue<RecordedInvocation> RECORDED = new ConcurrentLinkedQueue<>();

	static {
		RecordedInvocationsPublisher.addListener(RECORDED::add);
	}

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(Application.class)
		.withPropertyValues("rdma.rpc.server.address=127.0.0.1", "rdma.rpc.server.port=0",
				"rdma.rpc.client.default.port=0", "rdma.rpc.server.reflection.enabled=true",
				"rdma.rpc.memory.leak-detection=paranoid");

	@BeforeEach
	void forget() {
		RECORDED.clear();
	}

	@Test
	void whatIsLookedUpHasHints() {
		RegisteredMemory[] memory = new RegisteredMemory[1];
		this.runner.run((context) -> {
			memory[0] = context.getBean(RegisteredMemory.class);
			call(context.getBean(User.class));
			callByNames(context.getBean(RdmaClients.class).client("shops"));
		});
		assertThat(memory[0].metrics().outstanding()).isZero();
		assertThat(RECORDED).as("all kinds of look-ups")
			.extracting(RecordedInvocation::getHintType)
			.contains(HintType.REFLECTION, HintType.JDK_PROXIES);
		assertThat(withoutHints(hints())).isEmpty();
	}

	@Test
	void whatHasNoHintsIsNoticed() {
		this.runner.run((context) -> {
			Closeable proxy = context.getBean(RdmaClients.class).proxy("shops", Unannounced.class);
			assertThat(proxy).isNotNull();
		});
		assertThat(withoutHints(hints()))
			.anySatisfy((missing) -> assertThat(missing).contains("newProxyInstance")
				.contains(Unannounced.class.getSimpleName()))
			.anySatisfy((missing) -> assertThat(missing).contains("getMethods"));
	}

	private static void call(User user) {
		user.shop().price("pear");
		user.shop().find("pear");
		user.shop().offers("pear").join();
		assertThatExceptionOfType(Closed.class).isThrownBy(() -> user.shop().price("closed"));
		assertThatExceptionOfType(RpcException.class).isThrownBy(() -> user.shop().price("missing"));
		assertThat(
				catchThrowableOfType(RpcException.class, () -> user.shop().price(" ")).details(FieldViolations.class))
			.isPresent();
		assertThat(user.greeter().greet("Ada")).isEqualTo("Hello Ada");
	}

	private static void callByNames(RpcClient client) {
		GenericClient generic = client.generic();
		assertThat(generic.services()).contains(Shop.class.getName());
		assertThat(generic.method(Shop.class.getName(), "find").call(Map.of("key", "pear")))
			.isEqualTo(Map.of("name", "pear"));
	}

	/** The hints of the application and of all libraries. */
	private RuntimeHints hints() {
		RuntimeHints hints = AheadOfTimeTests.hints(Application.class);
		AotServices.factories()
			.load(RuntimeHintsRegistrar.class)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		return hints;
	}

	private static List<String> withoutHints(RuntimeHints hints) {
		return List.copyOf(RECORDED)
			.stream()
			.filter((invocation) -> !invocation.matches(hints) && !foundNoMethod(invocation))
			.map((invocation) -> describe(invocation, caller(invocation)))
			.filter((text) -> !text.contains("by $Proxy") && !text.contains(CLASS_TEMPLATE))
			.distinct()
			.sorted()
			.toList();
	}

	/** Here and in an image, with the hint for the type, which others need. */
	private static boolean foundNoMethod(RecordedInvocation invocation) {
		return invocation.getMethodReference().getMethodName().equals("getMethod")
				&& invocation.getReturnValue() == null && invocation.getInstance() == Object.class;
	}

	private static String describe(RecordedInvocation invocation, StackFrame caller) {
		String on = invocation.isStatic() ? "" : " of " + invocation.getInstance();
		return invocation.getMethodReference() + on + " with "
				+ Arrays.deepToString(invocation.getArguments().toArray()).replaceAll("@[0-9a-f]+", "") + " by "
				+ caller.getClassName().replaceAll(".*\\.", "") + "." + caller.getMethodName();
	}

	private static StackFrame caller(RecordedInvocation invocation) {
		return invocation.getStackFrames()
			.filter((frame) -> frame.getClassName().startsWith("dev.rdmarpc."))
			.findFirst()
			.orElseThrow();
	}

	/** A service that no client is imported of. */
	@RdmaService
	public interface Unannounced extends Closeable {

		@Override
		void close();

	}

}
