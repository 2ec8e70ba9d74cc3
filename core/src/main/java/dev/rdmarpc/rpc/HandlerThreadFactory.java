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

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * Makes threads for handlers. They inherit nothing from the thread that happens to need
 * them: no thread-locals, and the class loader is that of the thread that started the
 * server.
 */
final class HandlerThreadFactory implements ThreadFactory {

	private static final String PREFIX = "rdma-rpc-handler-";

	private final AtomicInteger number = new AtomicInteger();

	private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();

	private final @Nullable ThreadFactory virtual;

	private HandlerThreadFactory(@Nullable ThreadFactory virtual) {
		this.virtual = virtual;
	}

	static HandlerThreadFactory platform() {
		return new HandlerThreadFactory(null);
	}

	/** By reflection, because the code is compiled for Java 17. */
	static HandlerThreadFactory virtual() {
		try {
			Class<?> type = Class.forName("java.lang.Thread$Builder");
			Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
			type.getMethod("inheritInheritableThreadLocals", boolean.class).invoke(builder, false);
			return new HandlerThreadFactory((ThreadFactory) type.getMethod("factory").invoke(builder));
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("no virtual threads (expected: Java 21 or later)", ex);
		}
	}

	@Override
	public Thread newThread(Runnable task) {
		String name = PREFIX + this.number.incrementAndGet();
		Thread thread;
		if (this.virtual != null) {
			thread = this.virtual.newThread(task);
			thread.setName(name);
		}
		else {
			thread = new Thread(null, task, name, 0, false);
			thread.setDaemon(true);
		}
		thread.setContextClassLoader(this.loader);
		return thread;
	}

}
