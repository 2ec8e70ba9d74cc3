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

import java.time.Duration;

import dev.rdmarpc.verbs.iwarp.rdmap.ProtocolViolation;
import dev.rdmarpc.verbs.iwarp.rdmap.RdmapStream;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;

/**
 * The time that an inbound FPDU has to arrive whole, once a part of it is there and the
 * socket was found empty. Guarded by the reactor's lock.
 *
 * <p>
 * A length field that is wrong, by fault or by intent, makes a stream wait for bytes that
 * never come, or swallow those of later frames as they come; no CRC helps before the
 * frame is complete. The time of a frame begins when its connection is first looked at,
 * and bytes that trickle in do not extend it. When it is over the connection reads once
 * more, because nobody may have read for long: only a frame whose rest is in no socket
 * ends the connection. While this side itself does not read, no time passes.
 */
final class FrameDeadline {

	private final Connection connection;

	private final RdmapStream stream;

	private final long limitNanos;

	private boolean watched;

	private boolean begun;

	private long frame;

	private long deadline;

	FrameDeadline(Connection connection, RdmapStream stream, Duration limit) {
		this.connection = connection;
		this.stream = stream;
		this.limitNanos = limit.toNanos();
	}

	/** Begins to watch; returns whether that is new. */
	boolean begin() {
		if (this.watched || this.limitNanos == 0) {
			return false;
		}
		this.watched = true;
		this.begun = false;
		return true;
	}

	/** Whether there is nothing more to watch; ends the connection when it is time. */
	boolean isOver(long now) {
		if (isCurrent() && now - this.deadline >= 0) {
			this.connection.lifecycle().advance();
			if (isCurrent()) {
				this.connection.end(ProtocolViolation.ofDelay(TerminateError.MPA_CONNECTION_LOST,
						"frame that the peer has begun did not arrive whole in time"));
			}
		}
		if (this.connection.isClosed() || this.connection.isAtBoundary()) {
			this.watched = false;
			return true;
		}
		if (!isCurrent()) {
			this.begun = true;
			this.frame = this.stream.framesReceived();
			this.deadline = now + this.limitNanos;
		}
		return false;
	}

	/** Whether the frame that the time was set for is still waited for. */
	private boolean isCurrent() {
		return this.begun && !this.connection.isClosed() && this.connection.awaitsRest()
				&& this.frame == this.stream.framesReceived();
	}

	/** The time until the next look, at most the given one. */
	long until(long now, long timeoutNanos) {
		return Math.min(timeoutNanos, Math.max(1, this.deadline - now));
	}

}
