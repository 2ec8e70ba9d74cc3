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

import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcExceptionHandler;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * Tells callers which of their arguments a validated service has rejected, and why. What
 * is wrong with a result, or with the arguments of other beans, is no fault of theirs.
 */
final class ValidationExceptionHandler implements RpcExceptionHandler {

	@Override
	public @Nullable Throwable handle(MethodDescriptor method, Throwable failure) {
		Class<?> service = method.javaMethod().getDeclaringClass();
		List<String> fields = List.of();
		if (failure instanceof ConstraintViolationException ex && ex.getConstraintViolations() != null
				&& ex.getConstraintViolations().stream().allMatch((violation) -> isArgument(violation, service))) {
			fields = ex.getConstraintViolations().stream().map(ValidationExceptionHandler::describe).toList();
		}
		else if (failure instanceof MethodValidationException ex && !ex.isForReturnValue()
				&& service.isInstance(ex.getTarget())) {
			fields = ex.getParameterValidationResults().stream().flatMap(ValidationExceptionHandler::describe).toList();
		}
		return fields.isEmpty() ? null : new RpcException(RpcStatus.INVALID_ARGUMENT,
				fields.stream().sorted().collect(Collectors.joining("; ")));
	}

	private static boolean isArgument(ConstraintViolation<?> violation, Class<?> service) {
		return service.isAssignableFrom(violation.getRootBeanClass()) && nodes(violation).anyMatch(
				(node) -> node.getKind() == ElementKind.PARAMETER || node.getKind() == ElementKind.CROSS_PARAMETER);
	}

	private static Stream<Path.Node> nodes(ConstraintViolation<?> violation) {
		return StreamSupport.stream(violation.getPropertyPath().spliterator(), false);
	}

	private static String describe(ConstraintViolation<?> violation) {
		String path = nodes(violation).filter((node) -> node.getKind() != ElementKind.METHOD)
			.map(Path.Node::toString)
			.collect(Collectors.joining("."));
		return path + ": " + violation.getMessage();
	}

	private static Stream<String> describe(ParameterValidationResult result) {
		String name = result.getMethodParameter().getParameterName();
		if (result instanceof ParameterErrors errors) {
			return errors.getAllErrors()
				.stream()
				.map((error) -> name + ((error instanceof FieldError field) ? "." + field.getField() : "") + ": "
						+ error.getDefaultMessage());
		}
		return result.getResolvableErrors().stream().map((error) -> name + ": " + error.getDefaultMessage());
	}

}
