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

package dev.rdmarpc.boot.observation;

import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A handler of observations that fails leaves nothing on the thread of a call. */
class ObservedCallTests {

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void theThreadIsAsItWasWhenAHandlerFails(boolean opening) {
		ObservationRegistry registry = ObservationRegistry.create();
		Observation outer = Observation.start("outer", registry);
		registry.observationConfig().observationHandler(new ObservationHandler<>() {
			@Override
			public void onScopeOpened(Observation.Context context) {
				fail(opening, context);
			}

			@Override
			public void onScopeClosed(Observation.Context context) {
				fail(!opening, context);
			}

			@Override
			public boolean supportsContext(Observation.Context context) {
				return true;
			}

			private void fail(boolean now, Observation.Context context) {
				if (now && "call".equals(context.getName())) {
					throw new IllegalStateException("of a handler");
				}
			}
		});
		try (Observation.Scope scope = outer.openScope()) {
			ObservedCall call = new ObservedCall(Observation.start("call", registry), registry, (status) -> {
			});
			assertThatIllegalStateException().isThrownBy(() -> call.openScope().close());
			assertThat(registry.getCurrentObservationScope()).isSameAs(scope);
		}
		assertThat(registry.getCurrentObservationScope()).isNull();
	}

	@Test
	void theObservationStopsThoughAHandlerFails() {
		ObservationRegistry registry = ObservationRegistry.create();
		AtomicInteger stopped = new AtomicInteger();
		registry.observationConfig().observationHandler(new ObservationHandler<>() {

			@Override
			public void onError(Observation.Context context) {
				throw new IllegalStateException("of a handler");
			}

			@Override
			public void onStop(Observation.Context context) {
				stopped.incrementAndGet();
			}

			@Override
			public boolean supportsContext(Observation.Context context) {
				return true;
			}

		});
		ObservedCall call = new ObservedCall(Observation.start("call", registry), registry, (status) -> {
		});
		assertThatIllegalStateException()
			.isThrownBy(() -> call.callEnded(RpcStatus.UNAVAILABLE, new IllegalStateException("of the call")))
			.withMessage("of a handler");
		assertThat(stopped).hasValue(1);
	}

}
