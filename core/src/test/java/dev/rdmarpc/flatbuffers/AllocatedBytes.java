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

package dev.rdmarpc.flatbuffers;

import java.lang.management.ManagementFactory;

import javax.management.JMException;
import javax.management.ObjectName;

/**
 * How many bytes the current thread has allocated on the heap; asking allocates some,
 * too.
 */
public final class AllocatedBytes {

	private AllocatedBytes() {
	}

	/** All of them since the thread was started. */
	public static long byThisThread() {
		try {
			return (long) ManagementFactory.getPlatformMBeanServer()
				.getAttribute(new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME), "CurrentThreadAllocatedBytes");
		}
		catch (JMException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
