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

package dev.rdmarpc.verbs.iwarp;

import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import javax.management.ObjectName;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.verbs.iwarp.rdmap.StreamBuffers;

import static org.assertj.core.api.Assertions.assertThat;

/** More buffers at once than before need no memory, which there may be none of. */
@Timeout(60)
class ThreadVectorsTests {

	/** What the platform would allocate for that many is more. */
	private static final long FEW_BYTES = 8L * StreamBuffers.MOST_VECTORS;

	/** Threads that are asked: the question itself allocates, and now and then more. */
	private static final int THREADS = 5;

	@Test
	void manyBuffersNeedNoMoreMemoryThanFew() throws Exception {
		try (ServerSocketChannel server = ServerSocketChannel.open()) {
			server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
			try (TcpStream client = TcpStream.connect((InetSocketAddress) server.getLocalAddress(),
					IwarpOptions.DEFAULTS); TcpStream accepted = TcpStream.accept(server)) {
				accepted.prepare(IwarpOptions.DEFAULTS);
				while (!client.finishConnect()) {
					Thread.onSpinWait();
				}
				assertThat(leastAllocatedBy(client)).isLessThan(FEW_BYTES);
				assertThat(leastAllocatedBy(accepted)).isLessThan(FEW_BYTES);
				client.shutdownOutput();
				assertThat(receivedBy(client)).as("by a thread that has never written").isPositive();
			}
		}
	}

	private static long leastAllocatedBy(TcpStream stream) throws Exception {
		long least = Long.MAX_VALUE;
		for (int i = 0; i < THREADS; i++) {
			least = Math.min(least, allocatedBy(stream));
		}
		return least;
	}

	/** What has come that was not read, since it was written later. */
	private static long receivedBy(TcpStream stream) throws Exception {
		FutureTask<Long> task = new FutureTask<>(() -> stream.read(buffers(2), 0, 2));
		new Thread(task).start();
		return task.get(20, TimeUnit.SECONDS);
	}

	/**
	 * By a thread that has written and read two buffers at once, and then as many as it
	 * may.
	 */
	private static long allocatedBy(TcpStream stream) throws Exception {
		FutureTask<Long> task = new FutureTask<>(() -> {
			ByteBuffer[] few = buffers(2);
			ByteBuffer[] many = buffers(StreamBuffers.MOST_VECTORS);
			allocatedBytes();
			stream.write(few, 0, few.length);
			stream.read(few, 0, few.length);
			long before = allocatedBytes();
			stream.write(many, 0, many.length);
			stream.read(many, 0, many.length);
			return allocatedBytes() - before;
		});
		new Thread(task).start();
		return task.get(20, TimeUnit.SECONDS);
	}

	private static ByteBuffer[] buffers(int count) {
		ByteBuffer[] buffers = new ByteBuffer[count];
		for (int i = 0; i < count; i++) {
			buffers[i] = ByteBuffer.allocateDirect(1);
		}
		return buffers;
	}

	private static long allocatedBytes() throws Exception {
		return (long) ManagementFactory.getPlatformMBeanServer()
			.invoke(new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME), "getThreadAllocatedBytes",
					new Object[] { Thread.currentThread().getId() }, new String[] { "long" });
	}

}
