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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.lang.reflect.Constructor;

import com.ibm.disni.verbs.impl.NativeDispatcher;

/**
 * DiSNI's native methods themselves, with whatever a test passes. The library is loaded
 * before the first use.
 */
final class NativeCalls {

	static final int INVALID_ARGUMENT = 22;

	static final int STALE_HANDLE = 9;

	static final NativeDispatcher DISPATCHER = create();

	private NativeCalls() {
	}

	private static NativeDispatcher create() {
		try {
			Constructor<NativeDispatcher> constructor = NativeDispatcher.class.getDeclaredConstructor();
			constructor.setAccessible(true);
			return constructor.newInstance();
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Posts a chain of sends; returns 0 or an errno. */
	static int postSend(long queuePair, long address) throws IOException {
		return errno(() -> DISPATCHER._postSend(queuePair, address));
	}

	/** Posts a chain of receives; returns 0 or an errno. */
	static int postReceive(long queue, long address) throws IOException {
		return errno(() -> DISPATCHER._postRecv(queue, address));
	}

	/** Polls for one completion; returns 0 or an errno. */
	static int poll(long queue, long address) throws IOException {
		return errno(() -> DISPATCHER._pollCQ(queue, 1, address));
	}

	/** Asks for a notification; returns 0 or an errno. */
	static int requestNotification(long queue) throws IOException {
		return errno(() -> DISPATCHER._reqNotifyCQ(queue, 0));
	}

	private static int errno(Call call) throws IOException {
		try {
			call.make();
			return 0;
		}
		catch (NativeVerbsException ex) {
			return ex.errno();
		}
	}

	/** A call that may fail. */
	interface Call {

		void make() throws IOException;

	}

}
