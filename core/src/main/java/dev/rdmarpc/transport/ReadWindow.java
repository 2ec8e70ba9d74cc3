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

package dev.rdmarpc.transport;

/**
 * How much of large messages may be on its way to this side, and in what slices. Confined
 * to the loop's driver.
 *
 * <p>
 * Implementation notes. The peer answers Reads in order, and its Sends wait behind those
 * answers, wherever in between they are: in its adapter or its stack, in its socket, in
 * the network. What is asked for is therefore all that a small message can find ahead of
 * it, and the side that Reads bounds it. A window of the product of bandwidth and delay
 * keeps the connection busy, and a multiple of it because Reads are posted together, when
 * half of the window is free. Both factors are measured with the Reads themselves
 * ({@link BusyBytes}).
 */
final class ReadWindow {

	/** After how long without others a transfer counts as alone. */
	static final long LATELY_NANOS = 100_000_000;

	/** Where nothing is known of the connection. */
	private static final long FIRST_BYTES = 512 * 1024;

	/** The window in times of the product of bandwidth and delay. */
	private static final double WINDOW_FACTOR = 2;

	/**
	 * The same while small messages arrive, which wait for all of it: their p99 was
	 * measured to be a third shorter than with the former, with an eighth less of what is
	 * large.
	 */
	private static final double SHORT_WINDOW_FACTOR = 1.25;

	/**
	 * The same for a transfer that is alone, for the sake of the first message that comes
	 * after a pause, and finds all of it ahead.
	 */
	private static final double ALONE_FACTOR = 4;

	/** Into so many slices a window is divided. */
	private static final int SLICES = 4;

	/** What is asked for ends and begins at pages, as the memory does. */
	private static final int PAGE_BYTES = 4096;

	private final SchedulerOptions options;

	/** The messages for which transfers make way. */
	private final RecentClasses others = new RecentClasses(LATELY_NANOS);

	/** Those that come in one frame, on any channel. */
	private final SmallMessages small;

	private final BusyBytes busy = new BusyBytes();

	private int[] lengths = new int[1];

	private long head;

	private long tail;

	private long inFlightBytes;

	/**
	 * Creates a window.
	 * @param small those of all channels of the loop
	 */
	ReadWindow(SchedulerOptions options, SmallMessages small) {
		this.options = options;
		this.small = small;
	}

	/**
	 * How many Reads the connection allows at once, which may become known when the first
	 * ones are under way already: no fewer than these.
	 */
	void readDepth(int depth) {
		int[] before = this.lengths;
		this.lengths = new int[Math.max(1, depth)];
		for (long read = this.head; read < this.tail; read++) {
			this.lengths[(int) (read % this.lengths.length)] = before[(int) (read % before.length)];
		}
	}

	/** A message of a class has arrived, for which transfers of others make way. */
	void arrived(int priority, long nowNanos) {
		this.others.add(priority, nowNanos);
	}

	/** It has come in one frame. */
	void smallArrived(int priority, long nowNanos) {
		this.small.arrived(priority, nowNanos);
	}

	/**
	 * Whether small messages arrive, on any channel of the loop, for which transfers of a
	 * class make way.
	 */
	boolean isBesideSmall(int priority, long nowNanos) {
		return this.small.haveArrivedFrom(priority, nowNanos);
	}

	/** Whether transfers of a class make way for others. */
	private boolean isShared(int priority, long nowNanos) {
		return this.others.hasFrom(priority, nowNanos) || isBesideSmall(priority, nowNanos);
	}

	/** The window of a transfer of a class. */
	long windowBytes(int priority, long nowNanos) {
		long most = this.options.maxWindowBytes();
		long busyBytes = this.busy.bytes();
		boolean shared = isShared(priority, nowNanos);
		if (busyBytes == 0) {
			return shared ? Math.max(this.options.minWindowBytes(), Math.min(most, FIRST_BYTES)) : most;
		}
		double factor = !shared ? ALONE_FACTOR
				: isBesideSmall(priority, nowNanos) ? SHORT_WINDOW_FACTOR : WINDOW_FACTOR;
		return Math.max(this.options.minWindowBytes(), Math.min(most, (long) (factor * busyBytes)));
	}

	/** The length of its next slice. */
	int sliceBytes(int priority, long nowNanos) {
		long window = windowBytes(priority, nowNanos);
		long part = Math.max(window / SLICES, window / this.lengths.length) / PAGE_BYTES * PAGE_BYTES;
		return (int) Math.max(this.options.minSliceBytes(), Math.min(this.options.maxSliceBytes(), part));
	}

	/** Whether a transfer of a class may ask for more. */
	boolean hasRoom(int priority, long nowNanos) {
		if (this.inFlightBytes == 0) {
			return true;
		}
		return this.inFlightBytes < windowBytes(priority, nowNanos) && !mustRunEmpty(priority, nowNanos);
	}

	/** Whether so little is on its way that the next Reads are due. */
	boolean isHalfEmpty(int priority, long nowNanos) {
		return this.inFlightBytes <= windowBytes(priority, nowNanos) / 2;
	}

	/** Whether the delay is to be measured anew. */
	private boolean mustRunEmpty(int priority, long nowNanos) {
		return isShared(priority, nowNanos) && this.busy.isStale(nowNanos);
	}

	/** What was asked for and is not there. */
	long inFlightBytes() {
		return this.inFlightBytes;
	}

	/** A Read was posted. */
	void posted(int bytes) {
		if (this.inFlightBytes == 0) {
			this.busy.begin(System.nanoTime());
		}
		this.lengths[(int) (this.tail++ % this.lengths.length)] = bytes;
		this.inFlightBytes += bytes;
	}

	/** The oldest Read has completed or was flushed. */
	void completed(long nowNanos) {
		int bytes = this.lengths[(int) (this.head++ % this.lengths.length)];
		this.inFlightBytes -= bytes;
		this.busy.delivered(bytes, this.inFlightBytes == 0, nowNanos);
	}

}
