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

package dev.rdmarpc.benchmarks.jmh;

import java.nio.ByteBuffer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.memory.RegistrationHook;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/** The allocators compared by {@link AllocatorBenchmark}. */
public enum AllocatorKind {

	/** The pool of this project with its default options. */
	REGISTERED {
		@Override
		BenchmarkMemory open() {
			return new Pool(MemoryOptions.DEFAULTS);
		}
	},

	/** The same without thread caches. */
	REGISTERED_UNCACHED {
		@Override
		BenchmarkMemory open() {
			return new Pool(MemoryOptions.DEFAULTS.withThreadCacheBytes(0));
		}
	},

	/** Netty's pooled direct buffers with its thread caches. */
	NETTY {
		@Override
		BenchmarkMemory open() {
			return new Netty(true);
		}
	},

	/** Netty's pooled direct buffers without thread caches. */
	NETTY_UNCACHED {
		@Override
		BenchmarkMemory open() {
			return new Netty(false);
		}
	},

	/** The C library's; only on Java 22 and later. */
	MALLOC {
		@Override
		BenchmarkMemory open() {
			return new CMemory();
		}
	},

	/** Direct buffers that are allocated and registered each time. */
	REGISTER_EACH {
		@Override
		BenchmarkMemory open() {
			return new RegisterEach();
		}
	};

	abstract BenchmarkMemory open();

	/** Registered memory on a device of the user-space provider. */
	private abstract static class Registered implements BenchmarkMemory {

		private final VerbsDevice device = new IwarpProvider().openDevice(null);

		private final ProtectionDomain domain = this.device.allocateProtectionDomain();

		final RegisteredMemory memory;

		Registered(MemoryOptions options) {
			this.memory = RegisteredMemory.create(options);
			this.memory.attach(RegistrationHook.of(this.domain));
		}

		@Override
		public void close() {
			this.memory.close();
			this.domain.close();
			this.device.close();
		}

	}

	private static final class Pool extends Registered {

		Pool(MemoryOptions options) {
			super(options);
		}

		@Override
		public Object allocate(int lengthBytes) {
			RegisteredBuffer buffer = this.memory.allocate(lengthBytes);
			ByteBuffer view = buffer.buffer();
			view.putLong(0, lengthBytes);
			view.putLong(lengthBytes - Long.BYTES, lengthBytes);
			return buffer;
		}

		@Override
		public void release(Object buffer) {
			((RegisteredBuffer) buffer).release();
		}

	}

	private static final class RegisterEach extends Registered {

		RegisterEach() {
			super(MemoryOptions.DEFAULTS.withRegistrationCacheBytes(0));
		}

		@Override
		public Object allocate(int lengthBytes) {
			RegisteredBuffer buffer = this.memory.register(ByteBuffer.allocateDirect(lengthBytes));
			ByteBuffer view = buffer.buffer();
			view.putLong(0, lengthBytes);
			view.putLong(lengthBytes - Long.BYTES, lengthBytes);
			return buffer;
		}

		@Override
		public void release(Object buffer) {
			((RegisteredBuffer) buffer).release();
		}

	}

	private static final class Netty implements BenchmarkMemory {

		private final PooledByteBufAllocator allocator;

		Netty(boolean cached) {
			int small = cached ? PooledByteBufAllocator.defaultSmallCacheSize() : 0;
			int normal = cached ? PooledByteBufAllocator.defaultNormalCacheSize() : 0;
			this.allocator = new PooledByteBufAllocator(true, 0, PooledByteBufAllocator.defaultNumDirectArena(),
					PooledByteBufAllocator.defaultPageSize(), PooledByteBufAllocator.defaultMaxOrder(), small, normal,
					cached);
		}

		@Override
		public Object allocate(int lengthBytes) {
			ByteBuf buffer = this.allocator.directBuffer(lengthBytes);
			buffer.setLongLE(0, lengthBytes);
			buffer.setLongLE(lengthBytes - Long.BYTES, lengthBytes);
			return buffer;
		}

		@Override
		public void release(Object buffer) {
			((ByteBuf) buffer).release();
		}

		@Override
		public void close() {
		}

	}

}
