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
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.RdmaVerbs;
import org.jspecify.annotations.Nullable;

/**
 * An adapter and its connection manager, under DiSNI's objects but without any native
 * library: the test says what they answer, and sees what they are left with. Until it is
 * closed, DiSNI as a whole is its.
 */
final class FakeAdapter implements AutoCloseable {

	/** A call of the connection thread that has nothing to do later. */
	static final String WAIT_FOR_EVER = "awaitEvent for ever";

	static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

	private static final long HANDLE = 1;

	private static final Field PROVIDER = provider();

	private final Object before;

	private final Map<String, Throwable> failures = new ConcurrentHashMap<>();

	private final Queue<String> calls = new ConcurrentLinkedQueue<>();

	private final Set<Object> open = ConcurrentHashMap.newKeySet();

	private final Queue<long[]> completions = new ConcurrentLinkedQueue<>();

	private final Queue<Event> events = new ConcurrentLinkedQueue<>();

	private final Semaphore wakeUps = new Semaphore(0);

	private final AtomicInteger lastNumber = new AtomicInteger();

	private final AdapterVerbs verbs = proxy(AdapterVerbs.class);

	private final ConnectionVerbs connections = proxy(ConnectionVerbs.class);

	private final Adapter adapter;

	private volatile boolean answering = true;

	FakeAdapter(AdapterAttributes attributes) throws IOException {
		try {
			this.before = PROVIDER.get(null);
			PROVIDER.set(null, new Provider(new FakeVerbs(this)));
			this.adapter = new Adapter("fake", HANDLE, new Context(), attributes);
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Field provider() {
		try {
			Field field = RdmaProvider.class.getDeclaredField("provider");
			field.setAccessible(true);
			return field;
		}
		catch (NoSuchFieldException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private <T> T proxy(Class<T> type) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> answer(method, arguments)));
	}

	DisniDevice openDevice() {
		return DisniDevice.open(this.adapter, this.verbs);
	}

	Adapter adapter() {
		return this.adapter;
	}

	AdapterVerbs verbs() {
		return this.verbs;
	}

	/** Has all calls of a method fail from now on. */
	void fail(String method, Throwable failure) {
		this.failures.put(method, failure);
	}

	/** No request for a connection is answered from now on. */
	void keepSilent() {
		this.answering = false;
	}

	/** The methods called so far. */
	List<String> calls() {
		return List.copyOf(this.calls);
	}

	/** What was created, registered or opened, and is still there. */
	Set<Object> open() {
		return this.open;
	}

	/** Has the next poll bring a completion. */
	void complete(int queuePair, long id, int status) {
		this.completions.add(new long[] { id, status, queuePair });
	}

	/** Has the connection thread told of an event. */
	void happen(ConnectionEventType type, long id, long listenId) {
		this.events.add(new Event(type, id, listenId));
		this.wakeUps.release();
	}

	/** Notes a call of a method, which may fail. */
	void called(String method) {
		this.calls.add(method);
		Throwable failure = this.failures.get(method);
		if (failure != null) {
			FakeAdapter.<RuntimeException>sneak(failure);
		}
	}

	@SuppressWarnings("unchecked") // that is the trick
	private static <T extends Throwable> void sneak(Throwable failure) throws T {
		throw (T) failure;
	}

	<T> T opened(T object) {
		this.open.add(object);
		return object;
	}

	void closed(Object object) throws IOException {
		if (!this.open.remove(object)) {
			throw new IOException(object + " is not open");
		}
	}

	/** Fills a poll's memory; returns how many completions there were. */
	int poll(ByteBuffer memory, int most) {
		int count = 0;
		while (count < most && !this.completions.isEmpty()) {
			long[] completion = this.completions.remove();
			int at = count++ * WorkCompletionDescriptor.size();
			memory.putLong(at + WorkCompletionDescriptor.ID_OFFSET, completion[0]);
			memory.putInt(at + WorkCompletionDescriptor.STATUS_OFFSET, (int) completion[1]);
			memory.putInt(at + WorkCompletionDescriptor.QUEUE_PAIR_NUMBER_OFFSET, (int) completion[2]);
		}
		return count;
	}

	private @Nullable Object answer(Method method, @Nullable Object[] arguments) throws Exception {
		called(method.getName());
		return switch (method.getName()) {
			case "openConnections" -> this.connections;
			case "createSharedReceiveQueue" -> opened(new IbvQP(0));
			case "destroySharedReceiveQueue", "closeId" -> {
				closed(arguments[0]);
				yield null;
			}
			case "createId" -> opened((long) this.lastNumber.incrementAndGet());
			case "adapterOf" -> HANDLE;
			case "localAddress", "remoteAddress" -> ADDRESS;
			case "resolveAddress" -> next(ConnectionEventType.ADDRESS_RESOLVED, arguments[0]);
			case "resolveRoute" -> next(ConnectionEventType.ROUTE_RESOLVED, arguments[0]);
			case "connect", "accept" -> this.answering ? next(ConnectionEventType.ESTABLISHED, arguments[0]) : null;
			case "createQueuePair" -> queuePair((long) arguments[0]);
			case "destroyQueuePair" -> {
				closed(((ConnectionVerbs.AdapterQueuePair) arguments[0]).verbs());
				yield null;
			}
			case "awaitEvent" -> awaitEvent((ConnectionEvent) arguments[0], (long) arguments[1]);
			case "awaitCompletion" -> false;
			case "wake" -> {
				this.wakeUps.release();
				yield null;
			}
			default -> null;
		};
	}

	private @Nullable Object next(ConnectionEventType type, Object id) {
		happen(type, (long) id, 0);
		return null;
	}

	/** Queue pairs are numbered as their ids. */
	private ConnectionVerbs.AdapterQueuePair queuePair(long id) throws IOException {
		return new ConnectionVerbs.AdapterQueuePair(id, opened(new IbvQP((int) id)), (int) id);
	}

	private boolean awaitEvent(ConnectionEvent event, long timeoutNanos) throws InterruptedException {
		if (timeoutNanos < 0) {
			called(WAIT_FOR_EVER);
		}
		Event next = this.events.poll();
		if (next == null) {
			this.wakeUps.tryAcquire((timeoutNanos >= 0) ? timeoutNanos : TimeUnit.MINUTES.toNanos(5),
					TimeUnit.NANOSECONDS);
			return false;
		}
		if (next.type() == ConnectionEventType.CONNECT_REQUEST) {
			opened(next.id());
		}
		event.set(next.type(), 0, next.id(), next.listenId());
		return true;
	}

	@Override
	public void close() {
		try {
			PROVIDER.set(null, this.before);
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** What the connection manager has to tell. */
	private record Event(ConnectionEventType type, long id, long listenId) {

	}

	/** Gives DiSNI the verbs of the test. */
	private static final class Provider extends RdmaProvider {

		private final RdmaVerbs verbs;

		Provider(RdmaVerbs verbs) {
			this.verbs = verbs;
		}

		@Override
		public RdmaVerbs openVerbs() {
			return this.verbs;
		}

		@Override
		public RdmaCm openCm() {
			throw new UnsupportedOperationException();
		}

		@Override
		public int getVersion() {
			throw new UnsupportedOperationException();
		}

	}

	/** Has a constructor. */
	private static final class Context extends IbvContext {

		Context() throws IOException {
			super(0, 0);
		}

	}

}
