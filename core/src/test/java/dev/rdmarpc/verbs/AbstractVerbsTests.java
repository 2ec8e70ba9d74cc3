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

package dev.rdmarpc.verbs;

import java.nio.ByteBuffer;
import java.util.stream.IntStream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What the themes of the behaviour suite have in common: the fixture. */
abstract class AbstractVerbsTests {

	/** The largest request the suite makes. */
	static final int LARGEST_BYTES = 64 << 20;

	/** What every device takes in one request. */
	static final int LEAST_LARGEST_BYTES = 8 << 20;

	@RegisterExtension
	final VerbsFixture fixture;

	AbstractVerbsTests(VerbsFixture fixture) {
		this.fixture = fixture;
	}

	/** A number from {@code low} to {@code high}, both included. */
	int between(int low, int high) {
		return low + this.fixture.random().nextInt(high - low + 1);
	}

	/** Passes some time that depends on nothing. */
	static void spin(int rounds) {
		for (int i = 0; i < rounds; i++) {
			Thread.onSpinWait();
		}
	}

	/** A length for a round of gathering or scattering: mostly small, at times large. */
	int someLength(int round) {
		if (round % 20 == 0) {
			return between(100_000, 1_000_000);
		}
		return (round % 3 == 0) ? between(3000, 100_000) : between(0, 3000);
	}

	/** Splits a range into random pieces, some of them empty, with gaps between them. */
	Segment[] scattered(GuardedMemory memory, int totalBytes, int pieces) {
		int[] cuts = this.fixture.random().ints(pieces - 1, 0, totalBytes + 1).sorted().toArray();
		int slack = (memory.lengthBytes() - totalBytes) / pieces;
		Segment[] segments = new Segment[pieces];
		int offset = 0;
		int cut = 0;
		for (int i = 0; i < pieces; i++) {
			int next = (i < pieces - 1) ? cuts[i] : totalBytes;
			offset += between(0, slack);
			segments[i] = memory.segment(offset, next - cut);
			offset += next - cut;
			cut = next;
		}
		return segments;
	}

	/** The bytes that segments of one memory name, in their order. */
	static ByteBuffer gathered(GuardedMemory memory, Segment... segments) {
		ByteBuffer bytes = ByteBuffer.allocate(Segment.total(segments));
		for (Segment segment : segments) {
			bytes.put(memory.view(segment.offsetBytes(), segment.lengthBytes()));
		}
		return bytes.flip();
	}

	/** Asserts that something fails as verbs do. */
	static void assertFails(VerbsError error, ThrowingCallable call) {
		assertThatThrownBy(call).isInstanceOfSatisfying(VerbsException.class, (ex) -> {
			assertThat(ex.error()).as(ex.getMessage()).isEqualTo(error);
			assertThat(ex.getMessage()).isNotBlank();
		});
	}

	/** The largest request that the devices take, as far as the suite goes. */
	int largestBytes() {
		return (int) Math.min(this.fixture.largestBytes(), this.fixture.left().limits().maxMessageBytes());
	}

	/** Every power of two up to the largest request, with its neighbours. */
	int[] sizes() {
		int most = largestBytes();
		return IntStream.rangeClosed(0, 26)
			.flatMap((exponent) -> IntStream.rangeClosed(-1, 1).map((d) -> (1 << exponent) + d))
			.filter((size) -> size > 0 && size <= most)
			.distinct()
			.sorted()
			.toArray();
	}

}
