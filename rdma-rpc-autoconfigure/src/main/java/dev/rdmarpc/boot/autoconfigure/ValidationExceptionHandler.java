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

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import jakarta.validation.ConstraintViolation;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.ElementKind;
import jakarta.validation.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.validation.FieldError;
import org.springframework.validation.method.MethodValidationException;
import org.springframework.validation.method.ParameterErrors;
import org.springframework.validation.method.ParameterValidationResult;

import dev.rdmarpc.rpc.FieldViolations;
import dev.rdmarpc.rpc.FieldViolations.Violation;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcExceptionHandler;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * Tells callers which of their arguments a validated service has rejected, and why. What
 * is wrong with a result, or with the arguments of other beans, is no fault of theirs.
 */
final class ValidationExceptionHandler implements RpcExceptionHandler {

	/** A call can be wrong in as many ways as it has bytes. */
	private static final int MAX_VIOLATIONS = 32;

	private static final int MAX_TEXT_LENGTH = 256;

	@Override
	public @Nullable Throwable handle(MethodDescriptor method, Throwable failure) {
		Class<?> service = method.javaMethod().getDeclaringClass();
		List<Violation> found = List.of();
		if (failure instanceof ConstraintViolationException ex && ex.getConstraintViolations() != null
				&& ex.getConstraintViolations().stream().allMatch((violation) -> isArgument(violation, service))) {
			found = ex.getConstraintViolations().stream().map(ValidationExceptionHandler::describe).toList();
		}
		else if (failure instanceof MethodValidationException ex && !ex.isForReturnValue()
				&& service.isInstance(ex.getTarget())) {
			found = ex.getParameterValidationResults().stream().flatMap(ValidationExceptionHandler::describe).toList();
		}
		return found.isEmpty() ? null : rejected(found);
	}

	private static RpcException rejected(List<Violation> found) {
		List<Violation> told = found.stream()
			.sorted(Comparator.comparing(Violation::field).thenComparing(Violation::message))
			.limit(MAX_VIOLATIONS)
			.toList();
		int omitted = found.size() - told.size();
		String text = told.stream()
			.map((violation) -> violation.field() + ": " + violation.message())
			.collect(Collectors.joining("; "));
		return new RpcException(RpcStatus.INVALID_ARGUMENT, (omitted == 0) ? text : text + "; and " + omitted + " more",
				new FieldViolations(told, omitted));
	}

	private static Violation violation(String field, @Nullable String message) {
		return new Violation(shortened(field), shortened((message != null) ? message : "not valid"));
	}

	private static String shortened(String text) {
		return (text.length() <= MAX_TEXT_LENGTH) ? text : text.substring(0, MAX_TEXT_LENGTH) + "…";
	}

	private static boolean isArgument(ConstraintViolation<?> violation, Class<?> service) {
		return service.isAssignableFrom(violation.getRootBeanClass()) && nodes(violation).anyMatch(
				(node) -> node.getKind() == ElementKind.PARAMETER || node.getKind() == ElementKind.CROSS_PARAMETER);
	}

	private static Stream<Path.Node> nodes(ConstraintViolation<?> violation) {
		return StreamSupport.stream(violation.getPropertyPath().spliterator(), false);
	}

	private static Violation describe(ConstraintViolation<?> violation) {
		String path = nodes(violation).filter((node) -> node.getKind() != ElementKind.METHOD)
			.map(Path.Node::toString)
			.collect(Collectors.joining("."));
		return violation(path, violation.getMessage());
	}

	private static Stream<Violation> describe(ParameterValidationResult result) {
		String name = result.getMethodParameter().getParameterName() + position(result);
		if (result instanceof ParameterErrors errors) {
			return errors.getAllErrors()
				.stream()
				.map((error) -> violation(name + ((error instanceof FieldError field) ? "." + field.getField() : ""),
						error.getDefaultMessage()));
		}
		return result.getResolvableErrors().stream().map((error) -> violation(name, error.getDefaultMessage()));
	}

	/** Which element of a parameter that is a list, an array or a map. */
	private static String position(ParameterValidationResult result) {
		Object position = (result.getContainerIndex() != null) ? result.getContainerIndex() : result.getContainerKey();
		return (position != null) ? "[" + position + "]" : "";
	}

}
