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

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** The client side of a service: turns method invocations into calls. */
final class ServiceProxy implements InvocationHandler, OptionsTarget {

	private static final @Nullable Object[] NO_ARGUMENTS = new Object[0];

	private final ClientCalls calls;

	private final ServiceDescriptor service;

	private final ProxyMethods methods;

	private final @Nullable ClientInterceptors interceptors;

	private final CallOptions options;

	ServiceProxy(ClientCalls calls, ServiceDescriptor service, List<RpcClientInterceptor> interceptors) {
		this(calls, service, new ProxyMethods(service.methodsByJava()),
				ClientInterceptors.of(interceptors, calls, service), CallOptions.NONE);
	}

	private ServiceProxy(ClientCalls calls, ServiceDescriptor service, ProxyMethods methods,
			@Nullable ClientInterceptors interceptors, CallOptions options) {
		this.calls = calls;
		this.service = service;
		this.methods = methods;
		this.interceptors = interceptors;
		this.options = options;
	}

	@Override
	public Object withOptions(CallOptions other) {
		return new ServiceProxy(this.calls, this.service, this.methods, this.interceptors, other).newProxy();
	}

	Object newProxy() {
		Class<?> type = this.service.type();
		return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, this);
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
			throws Throwable {
		MethodDescriptor descriptor = this.methods.find(method);
		if (descriptor != null) {
			try {
				return call(descriptor, (arguments != null) ? arguments : NO_ARGUMENTS);
			}
			catch (RpcException ex) {
				throw ex.forCaller();
			}
		}
		if (method.isDefault()) {
			return Modifier.isPublic(method.getDeclaringClass().getModifiers())
					? InvocationHandler.invokeDefault(proxy, method, arguments)
					: this.methods.bodyOf(method)
						.bindTo(proxy)
						.invokeWithArguments((arguments != null) ? arguments : NO_ARGUMENTS);
		}
		return switch (method.getName()) {
			case "equals" -> arguments != null && proxy == arguments[0];
			case "hashCode" -> System.identityHashCode(proxy);
			default -> "client of " + this.service.name() + " at " + this.calls.target();
		};
	}

	private @Nullable Object call(MethodDescriptor method, @Nullable Object[] arguments) {
		CallOptions made = OptionsScope.around(this.options);
		ClientInterceptors around = this.interceptors;
		return (around != null) ? around.call(method, arguments, made) : this.calls.call(method, arguments, made);
	}

}
