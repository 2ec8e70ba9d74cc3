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

import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/** A contract, written with nothing but this artifact. */
class ContractTests {

	private final Failing prices = new Failing();

	@Test
	void theEngineIsNotOnTheClassPath() {
		assertThat(Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.map((entry) -> Path.of(entry).getFileName().toString())).isNotEmpty()
			.noneMatch((name) -> name.matches("(rdma-rpc-core|flatbuffers|jctools|slf4j).*"));
		assertThatExceptionOfType(ClassNotFoundException.class)
			.isThrownBy(() -> Class.forName("dev.rdmarpc.rpc.RpcClient"));
	}

	@Test
	void settingsOfMethodsHaveDefaults() throws Exception {
		RdmaMethod find = Prices.class.getMethod("find", String.class).getAnnotation(RdmaMethod.class);
		assertThat(find.idempotent()).isTrue();
		assertThat(find.priority()).isEmpty();
		assertThat(find.deadlineMillis()).isZero();
		assertThat(find.name()).isEmpty();
		assertThat(find.inline()).isFalse();
	}

	@Test
	void oneValueIsAPriority() throws Exception {
		RdmaMethod findNow = Prices.class.getMethod("findNow", String.class).getAnnotation(RdmaMethod.class);
		assertThat(findNow.priority()).containsExactly(Priority.HIGH);
	}

	@Test
	void aFailureSaysWhatWasChosen() {
		assertThatExceptionOfType(RpcException.class).isThrownBy(() -> this.prices.find("apple"))
			.withMessage("NOT_FOUND: no such article")
			.satisfies((failure) -> {
				assertThat(failure.status()).isEqualTo(RpcStatus.NOT_FOUND);
				assertThat(failure.details(Suggestions.class)).contains(new Suggestions(List.of("pear")));
				assertThat(failure.details(FieldViolations.class)).isEmpty();
				assertThat(failure.getStackTrace()[0].getMethodName()).isEqualTo("find");
			});
	}

	@Test
	void successIsNoFailure() {
		assertThatIllegalArgumentException().isThrownBy(() -> new RpcException(RpcStatus.OK, "done"));
		assertThatNullPointerException().isThrownBy(() -> new RpcException(null, "done"));
	}

	@ParameterizedTest
	@EnumSource(RpcStatus.class)
	void statusesKeepTheirNumbers(RpcStatus status) {
		assertThat(RpcStatus.ofCode(status.code())).isEqualTo(status);
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 17, Integer.MAX_VALUE })
	void numbersOfNewerPeersAreUnknown(int code) {
		assertThat(RpcStatus.ofCode(code)).isEqualTo(RpcStatus.UNKNOWN);
	}

	@ParameterizedTest
	@EnumSource(Priority.class)
	void prioritiesKeepTheirNumbers(Priority priority) {
		assertThat(Priority.ofCode(priority.code())).isEqualTo(priority);
		assertThat(Priority.ofCode(200)).isEqualTo(Priority.HIGH);
	}

	@Test
	void violationsAreHalved() {
		List<FieldViolations.Violation> three = List.of(new FieldViolations.Violation("a", "x"),
				new FieldViolations.Violation("b", "y"), new FieldViolations.Violation("c", "z"));
		FieldViolations half = new FieldViolations(three, 4).firstHalf();
		assertThat(half).isEqualTo(new FieldViolations(three.subList(0, 1), 6));
		assertThat(half.firstHalf()).isNull();
	}

	/** The contract. */
	public interface Prices {

		@RdmaMethod(idempotent = true)
		long find(String article);

		@RdmaMethod(priority = Priority.HIGH)
		long findNow(String article);

		CompletableFuture<Long> findLater(String article);

	}

	/** Details. */
	public record Suggestions(List<String> articles) {

	}

	private static final class Failing implements Prices {

		@Override
		public long find(String article) {
			throw new RpcException(RpcStatus.NOT_FOUND, "no such article", new Suggestions(List.of("pear")));
		}

		@Override
		public long findNow(String article) {
			return find(article);
		}

		@Override
		public CompletableFuture<Long> findLater(String article) {
			return CompletableFuture.completedFuture(1L);
		}

	}

}
