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

import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.RpcContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

/** Options of calls reach them through whatever stands before or in place of a client. */
@SpringBootTest(properties = { "rdma.rpc.server.port=0", "rdma.rpc.server.address=127.0.0.1",
		"rdma.rpc.client.default.port=0", "rdma.rpc.client.default.deadline=1h" })
class CallOptionsTests {

	private static final CallOptions MINUTE = CallOptions.deadline(Duration.ofMinutes(1));

	@Autowired
	@Qualifier("plain")
	private Clock plain;

	@MockitoSpyBean(name = "spied.callOptionsTests.Clock")
	private Clock spied;

	@MockitoBean(name = "mocked.callOptionsTests.Clock")
	private Clock mocked;

	@Autowired
	@Qualifier("advised")
	private Clock advised;

	@Autowired
	private Advice advice;

	@AfterEach
	void nothingIsLeft() {
		assertThat(CallOptions.current()).isSameAs(CallOptions.NONE);
	}

	private static void assertMinute(long seconds) {
		assertThat(seconds).isBetween(1L, 60L);
	}

	@Test
	void aClient() throws Exception {
		assertThat(this.plain.remaining()).isGreaterThan(3000);
		assertMinute(MINUTE.on(this.plain).remaining());
		assertMinute(MINUTE.call(this.plain::remaining));
		assertMinute(MINUTE.call(this.plain::remainingLater).get());
		assertThat(this.plain.remaining()).isGreaterThan(3000);
	}

	@Test
	void aProxyOfAspects() {
		int before = this.advice.calls;
		assertThat(AopUtils.isAopProxy(this.advised)).isTrue();
		assertMinute(MINUTE.on(this.advised).remaining());
		assertThat(this.advice.calls).isEqualTo(before + 1);
	}

	@Test
	void aSpy() {
		assertMinute(MINUTE.on(this.spied).remaining());
		verify(this.spied).remaining();
	}

	@Test
	void aMock() throws Exception {
		given(this.mocked.remaining())
			.willAnswer((call) -> Objects.requireNonNull(CallOptions.current().deadline()).toSeconds());
		assertThat(MINUTE.on(this.mocked).remaining()).isEqualTo(60);
		verify(this.mocked).remaining();
		given(this.mocked.refuse()).willThrow(new IOException("mocked"));
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> MINUTE.on(this.mocked).refuse())
			.withMessage("mocked");
	}

	@Test
	void optionsOnOptionsReplaceThem() {
		Clock mock = mock(Clock.class);
		given(mock.remaining())
			.willAnswer((call) -> Objects.requireNonNull(CallOptions.current().deadline()).toSeconds());
		assertThat(CallOptions.deadline(Duration.ofSeconds(5)).on(MINUTE.on(mock)).remaining()).isEqualTo(5);
		Clock client = MINUTE.on(mock);
		assertThat(client.equals(client)).isTrue();
		assertThat(client).isNotEqualTo(mock).hasSameHashCodeAs(mock);
	}

	@Test
	void blocksAddToEachOther() {
		CallMetadata reply = new CallMetadata();
		MINUTE.withMetadata("a", "outer").withMetadata("b", "outer").run(() -> {
			CallOptions inner = CallOptions.NONE.withMetadata("b", "inner").withReplyMetadata(reply);
			inner.run(() -> {
				assertMinute(this.plain.remaining());
				assertThat(CallOptions.NONE.withMetadata("c", "own").on(this.plain).metadata())
					.isEqualTo("outer inner own");
			});
			assertThat(this.plain.metadata()).isEqualTo("outer outer null");
		});
		assertThat(reply.get("seen")).isEqualTo("yes");
		assertThat(this.plain.metadata()).isEqualTo("null null null");
	}

	@Test
	void whatABlockThrowsEndsIt() {
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> MINUTE.call(() -> {
			throw new IOException("checked");
		}));
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> MINUTE.on(this.plain).refuse())
			.withMessage("refused");
	}

	@Test
	void whatImplementsNothingIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> MINUTE.on(new Object()))
			.withMessage("java.lang.Object implements no interface (expected: a client, or what stands in its place)");
	}

	/** The service. */
	public interface Clock {

		long remaining();

		CompletableFuture<Long> remainingLater();

		String metadata();

		String refuse() throws IOException;

	}

	@RdmaService
	static class RemainingTime implements Clock {

		private static RpcContext context() {
			return Objects.requireNonNull(RpcContext.current());
		}

		@Override
		public long remaining() {
			return (context().deadlineNanos() - System.nanoTime()) / 1_000_000_000 + 1;
		}

		@Override
		public CompletableFuture<Long> remainingLater() {
			return CompletableFuture.completedFuture(remaining());
		}

		@Override
		public String metadata() {
			context().replyMetadata().put("seen", "yes");
			return value("a") + " " + value("b") + " " + value("c");
		}

		private static @Nullable String value(String key) {
			return context().requestMetadata().get(key);
		}

		@Override
		public String refuse() throws IOException {
			throw new IOException("refused");
		}

	}

	@Aspect
	static class Advice {

		private int calls;

		@Before("bean(advised.*) && execution(* remaining())")
		void count() {
			this.calls++;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ RemainingTime.class, Advice.class })
	@ImportRdmaClients(target = "plain", types = Clock.class)
	@ImportRdmaClients(target = "advised", types = Clock.class)
	@ImportRdmaClients(target = "spied", types = Clock.class)
	@ImportRdmaClients(target = "mocked", types = Clock.class)
	static class Application {

	}

}
