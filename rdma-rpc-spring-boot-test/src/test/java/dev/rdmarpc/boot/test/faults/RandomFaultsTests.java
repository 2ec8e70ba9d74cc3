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

package dev.rdmarpc.boot.test.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.test.context.TestContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** What follows from the seed, and how it is told. */
class RandomFaultsTests {

	private final RdmaFaults faults = new RdmaFaults(42, () -> Set.of("stores"));

	private List<Object> draws(RdmaFaults of) {
		of.begin();
		of.cutRandomly("depot", 0.5);
		of.delay("depot", Duration.ZERO, Duration.ofSeconds(1));
		List<Object> draws = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			draws.add(of.of("depot (10.0.0.1:7471)").loses());
			draws.add(of.of("depot").delayNanos());
		}
		of.end();
		return draws;
	}

	@Test
	void whatIsRandomFollowsFromTheSeed() {
		List<Object> first = draws(this.faults);
		assertThat(first).contains(true, false);
		assertThat(draws(this.faults)).as("in the next test").isEqualTo(first);
		assertThat(draws(new RdmaFaults(42, () -> Set.of("stores")))).as("in the next run").isEqualTo(first);
		assertThat(draws(new RdmaFaults(43, Set::of))).isNotEqualTo(first);
	}

	@Test
	void badFaultsAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.faults.delay("depot", Duration.ofMillis(-1)))
			.withMessage("delay of PT-0.001S to PT-0.001S (expected: not negative, and the longer one last)");
		assertThatIllegalArgumentException().isThrownBy(() -> this.faults.cutAfter("depot", -1))
			.withMessage("cut after -1 messages (expected: at least 0)");
		assertThatIllegalArgumentException().isThrownBy(() -> this.faults.cutRandomly("depot", Double.NaN))
			.withMessage("probability NaN (expected: 0 to 1)");
	}

	@Test
	void aTargetToWhichNobodyHasConnectedIsAMistake() {
		assertThat(this.faults.of("depot").refuses()).isFalse();
		this.faults.begin();
		this.faults.cut("depot");
		assertThat(this.faults.mistake()).isNull();
		this.faults.cutAfter("Depot", 0);
		assertThat(this.faults.cuts("stock")).isZero();
		assertThat(this.faults.mistake())
			.isEqualTo("the test has named the targets [Depot, stock], of which this application has no client "
					+ "(expected: [depot, stores])");
		this.faults.end();
		this.faults.begin();
		this.faults.cut("stores");
		this.faults.clear("anything");
		assertThat(this.faults.mistake()).isNull();
		this.faults.end();
		this.faults.begin();
		assertThat(this.faults.mistake()).isNull();
	}

	@Test
	void whatWasLeftBehindEndsWhenATestBegins() {
		this.faults.refuse("depot");
		this.faults.begin();
		assertThat(this.faults.of("depot").refuses()).isFalse();
		assertThat(this.faults.isUsed()).isFalse();
	}

	@Test
	void testsThatRunAtTheSameTimeCannotUseThem() {
		this.faults.begin();
		this.faults.begin();
		assertThatIllegalStateException().isThrownBy(() -> this.faults.stall("depot"))
			.withMessageStartingWith("two tests that share a context run at the same time");
		this.faults.end();
		this.faults.stall("depot");
		assertThatIllegalStateException().isThrownBy(this.faults::begin);
		assertThat(this.faults.of("depot").isStalled()).isTrue();
		this.faults.end();
		this.faults.end();
		assertThat(this.faults.of("depot").isStalled()).isFalse();
	}

	@Test
	void aTestThatFailsTellsItsFaults() {
		FaultsTestExecutionListener listener = new FaultsTestExecutionListener();
		AssertionError failure = new AssertionError("of the test");
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			context.registerBean(RdmaFaults.class, () -> this.faults);
			context.refresh();
			TestContext test = mock();
			given(test.hasApplicationContext()).willReturn(true);
			given(test.getApplicationContext()).willReturn(context);
			given(test.getTestException()).willReturn(failure);
			listener.beforeTestMethod(test);
			listener.afterTestMethod(test);
			assertThat(failure.getSuppressed()).isEmpty();
			listener.beforeTestMethod(test);
			this.faults.cutAfter("depot", 3);
			this.faults.refuse("depot");
			listener.afterTestMethod(test);
			assertThat(failure.getSuppressed()[0])
				.hasMessage("faults with rdma.test.faults.seed=42: {depot=[cut after 3, refuse] (0 cut, 0 refused)}");
			assertThat(failure.getSuppressed()[1]).hasMessageContaining("[depot], of which");
			assertThat(this.faults.of("depot").refuses()).isFalse();
			listener.beforeTestMethod(test);
			assertThat(this.faults.isUsed()).isFalse();
			listener.afterTestMethod(test);
			given(test.getTestException()).willReturn(null);
			listener.beforeTestMethod(test);
			this.faults.cut("depo");
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> listener.afterTestMethod(test))
				.withMessageContaining("[depo], of which this application has no client (expected: [depot, stores])");
		}
	}

}
