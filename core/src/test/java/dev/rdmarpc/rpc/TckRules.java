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

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.opentest4j.TestAbortedException;
import org.testng.SkipException;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

/**
 * Runs the tests of a class of the Reactive Streams TCK, which is written for TestNG: one
 * test for each rule that can be tested. One that the TCK skips fails, since nothing here
 * is beyond its reach, but for rules about several messages if a publisher has but one.
 */
final class TckRules {

	private static final String ONE_MESSAGE = "is higher than supported by given producer: 1";

	private TckRules() {
	}

	/**
	 * The rules of a verification.
	 * @param verification an instance, used for all of its rules
	 */
	static Stream<DynamicTest> of(Object verification) {
		return of(verification, "untested_");
	}

	/**
	 * The rules of a verification but for those that it is not subject to.
	 * @param optional how the names of those begin that need not be kept
	 */
	static Stream<DynamicTest> of(Object verification, String... optional) {
		return Arrays.stream(verification.getClass().getMethods())
			.filter((method) -> method.isAnnotationPresent(Test.class) && !method.getName().startsWith("untested_"))
			.filter((method) -> Arrays.stream(optional).noneMatch(method.getName()::startsWith))
			.sorted(Comparator.comparing(Method::getName))
			.map((rule) -> DynamicTest.dynamicTest(rule.getName(), () -> check(verification, rule)));
	}

	private static void check(Object verification, Method rule) throws Throwable {
		for (Method method : verification.getClass().getMethods()) {
			if (method.isAnnotationPresent(BeforeMethod.class)) {
				method.invoke(verification);
			}
		}
		try {
			rule.invoke(verification);
		}
		catch (InvocationTargetException ex) {
			if (ex.getCause() instanceof SkipException && ex.getCause().getMessage().endsWith(ONE_MESSAGE)) {
				throw new TestAbortedException("a rule about several messages", ex);
			}
			throw ex.getCause();
		}
	}

}
