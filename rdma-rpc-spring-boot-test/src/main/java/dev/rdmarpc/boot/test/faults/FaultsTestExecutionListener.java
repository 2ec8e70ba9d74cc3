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

import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/** Ends the faults of a test with it, and tells the seed if it has failed. */
class FaultsTestExecutionListener extends AbstractTestExecutionListener {

	/** Before what a test arranges in its own callbacks. */
	@Override
	public int getOrder() {
		return 3_100;
	}

	@Override
	public void beforeTestMethod(TestContext test) {
		RdmaFaults faults = faults(test);
		if (faults != null) {
			faults.begin();
		}
	}

	@Override
	public void afterTestMethod(TestContext test) {
		RdmaFaults faults = faults(test);
		if (faults == null) {
			return;
		}
		Throwable failure = test.getTestException();
		String mistake = faults.mistake();
		if (failure != null && faults.isUsed()) {
			failure.addSuppressed(new Arranged(faults.toString()));
		}
		faults.end();
		if (mistake != null && failure != null) {
			failure.addSuppressed(new Arranged(mistake));
		}
		else if (mistake != null) {
			throw new AssertionError(mistake);
		}
	}

	private static @Nullable RdmaFaults faults(TestContext test) {
		if (!test.hasApplicationContext()) {
			return null;
		}
		ApplicationContext context = test.getApplicationContext();
		boolean closed = context instanceof ConfigurableApplicationContext configurable && !configurable.isActive();
		return closed ? null : context.getBeanProvider(RdmaFaults.class).getIfUnique();
	}

	/** What a test has arranged, where its failure is printed. */
	private static final class Arranged extends RuntimeException {

		private static final long serialVersionUID = 1L;

		Arranged(String message) {
			super(message, null, false, false);
		}

	}

}
