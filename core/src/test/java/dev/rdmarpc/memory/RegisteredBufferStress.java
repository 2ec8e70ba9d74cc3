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

package dev.rdmarpc.memory;

import java.nio.ByteBuffer;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Reference counting by two threads. */
final class RegisteredBufferStress {

	private static final int REVIVED = 2;

	private static final int UNSEEN = 3;

	private RegisteredBufferStress() {
	}

	/** A buffer that returns to nowhere, so that no other state meets it. */
	private static RegisteredBuffer buffer() {
		RegisteredBuffer buffer = new RegisteredBuffer(new Nowhere(), new Extent(ByteBuffer.allocate(2)));
		buffer.activate(2);
		return buffer;
	}

	private static int released(RegisteredBuffer buffer) {
		return buffer.release() ? 1 : 0;
	}

	/** Who releases last sees what the other did before. */
	@JCStressTest
	@Outcome(id = { "0, 1", "1, 0" }, expect = Expect.ACCEPTABLE,
			desc = "exactly one is last and sees the other's byte")
	@Outcome(expect = Expect.FORBIDDEN, desc = "not exactly one is last, or it does not see")
	@State
	public static class TwoReleases {

		private final RegisteredBuffer buffer = buffer().retain();

		private final ByteBuffer memory = this.buffer.memory();

		@Actor
		public void first(II_Result result) {
			this.memory.put(0, (byte) 1);
			result.r1 = released(this.buffer);
			if (result.r1 == 1 && this.memory.get(1) != 1) {
				result.r1 = UNSEEN;
			}
		}

		@Actor
		public void second(II_Result result) {
			this.memory.put(1, (byte) 1);
			result.r2 = released(this.buffer);
			if (result.r2 == 1 && this.memory.get(0) != 1) {
				result.r2 = UNSEEN;
			}
		}

	}

	/** A released buffer cannot be retained any more. */
	@JCStressTest
	@Outcome(id = { "0, 1", "1, 0" }, expect = Expect.ACCEPTABLE, desc = "retained in time")
	@Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "too late")
	@Outcome(expect = Expect.FORBIDDEN, desc = "revived, or released twice")
	@State
	public static class RetainAgainstRelease {

		private final RegisteredBuffer buffer = buffer();

		@Actor
		public void retain(II_Result result) {
			try {
				this.buffer.retain();
				result.r1 = released(this.buffer);
			}
			catch (IllegalStateException ex) {
				result.r1 = REVIVED;
			}
		}

		@Actor
		public void release(II_Result result) {
			result.r2 = released(this.buffer);
		}

	}

	/** A slice keeps the buffer, whose last release is not lost. */
	@JCStressTest
	@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "released by both, no reference is left")
	@Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "too late to slice")
	@Outcome(expect = Expect.FORBIDDEN, desc = "a reference is left or lost")
	@State
	public static class SliceAgainstRelease {

		private final RegisteredBuffer buffer = buffer();

		@Actor
		public void slice(II_Result result) {
			try {
				this.buffer.slice(1, 1).release();
			}
			catch (IllegalStateException ex) {
				result.r1 = REVIVED;
			}
		}

		@Actor
		public void release() {
			this.buffer.release();
		}

		@Arbiter
		public void count(II_Result result) {
			result.r2 = this.buffer.references();
		}

	}

}
