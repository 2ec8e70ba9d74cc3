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

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What principals use is counted exactly, and forgotten when it is over. */
class PeerSharesTests {

	@Test
	void aPrincipalThatHasGoneIsForgottenWithItsLastCall() {
		PeerShares shares = new PeerShares(new PrincipalLimits(1, 1, 10), 1000);
		PeerShare share = shares.tryConnect("a");
		assertThat(share).isNotNull();
		assertThat(shares.tryConnect("a")).isNull();
		assertThat(shares.rejected()).isOne();
		assertThat(share.tryBegin(20)).as("a single one").isNull();
		assertThat(share.tryBegin(1)).isEqualTo(PeerShare.Limit.CALLS);
		shares.disconnected(share);
		assertThat(shares.size()).as("its call goes on").isOne();
		PeerShare back = shares.tryConnect("a");
		assertThat(back).isSameAs(share);
		assertThat(back.tryBegin(1)).as("the call that it left behind").isEqualTo(PeerShare.Limit.CALLS);
		shares.disconnected(back);
		share.end(20);
		assertThat(shares.size()).isZero();
	}

	@Test
	void repliesLeftBehindAreFoundAgain() {
		PeerShares shares = new PeerShares(new PrincipalLimits(1, 1, 10), 1000);
		PeerShare share = shares.tryConnect("a");
		assertThat(share).isNotNull();
		assertThat(share.replies().tryAdd(1000, Patience.NONE)).isTrue();
		shares.disconnected(share);
		assertThat(shares.size()).as("its reply is not gone").isOne();
		PeerShare back = shares.tryConnect("a");
		assertThat(back).isSameAs(share);
		assertThat(back.replies().tryAdd(1, Patience.NONE)).isFalse();
		assertThat(back.explain(PeerShare.Limit.REPLY_BYTES)).contains("replies to 'a'", "(limit 1000)");
		shares.disconnected(back);
		back.replies().remove(1000);
		assertThat(shares.size()).isZero();
	}

	@Test
	void bytesBeyondTheLimitAreRefusedAndNotCounted() {
		PeerShares shares = new PeerShares(new PrincipalLimits(1, 10, 10), 1000);
		PeerShare share = shares.tryConnect("a");
		assertThat(share).isNotNull();
		assertThat(share.tryBegin(8)).isNull();
		assertThat(share.tryBegin(3)).isEqualTo(PeerShare.Limit.REQUEST_BYTES);
		assertThat(share.tryBegin(2)).isNull();
		assertThat(share.explain(PeerShare.Limit.REQUEST_BYTES))
			.isEqualTo("too many bytes in requests of 'a' (limit 10)");
	}

	@Test
	void messagesOfStreamsCountBesideRequestsAndAreKnownUntilTheyAreConsumed() {
		PeerShares shares = new PeerShares(new PrincipalLimits(1, 10, 10), 1000);
		PeerShare share = shares.tryConnect("a");
		assertThat(share).isNotNull();
		assertThat(share.tryHold(30)).as("the only one").isTrue();
		assertThat(share.tryHold(1)).isFalse();
		assertThat(share.explainHeld()).isEqualTo("too many bytes in messages of streams of 'a' that have not been"
				+ " consumed, and in its requests (limit 10)");
		assertThat(share.tryBegin(1)).isEqualTo(PeerShare.Limit.REQUEST_BYTES);
		share.consumed(30);
		assertThat(share.tryBegin(8)).isNull();
		assertThat(share.tryHold(3)).isFalse();
		assertThat(share.tryHold(2)).isTrue();
		share.end(8);
		shares.disconnected(share);
		assertThat(shares.size()).as("a message is not consumed").isOne();
		assertThat(shares.tryConnect("a")).isSameAs(share);
		shares.disconnected(share);
		share.consumed(2);
		assertThat(shares.size()).isZero();
	}

	@Test
	void aLongNameIsNotToldInFull() {
		assertThat(PeerShare.shortName("x".repeat(5000))).hasSizeLessThan(80);
	}

	@Test
	void limitsArePositive() {
		assertThatIllegalArgumentException().isThrownBy(() -> new PrincipalLimits(1, 0, 1))
			.withMessageContaining("expected: both at least 1");
	}

	@Test
	void nothingIsLeftOfWhatManyThreadsCount() throws Exception {
		long seed = System.nanoTime();
		PeerShares shares = new PeerShares(new PrincipalLimits(3, 4, 100), 1000);
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try {
			List<Callable<Boolean>> tasks = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				Random random = new Random(seed + i);
				tasks.add(() -> use(shares, random));
			}
			for (Future<Boolean> future : threads.invokeAll(tasks)) {
				assertThat(future.get()).as("within the limits, seed %d", seed).isTrue();
			}
		}
		finally {
			threads.shutdown();
		}
		assertThat(shares.size()).as("seed %d", seed).isZero();
	}

	/** Connects and calls at random, leaves, and ends its calls before or after that. */
	private static boolean use(PeerShares shares, Random random) {
		for (int i = 0; i < 20_000; i++) {
			PeerShare share = shares.tryConnect((random.nextInt(3) == 0) ? "a" : "b");
			if (share == null) {
				continue;
			}
			int bytes = random.nextInt(60);
			boolean begun = share.tryBegin(bytes) == null;
			boolean leaveFirst = random.nextBoolean();
			if (leaveFirst) {
				shares.disconnected(share);
			}
			if (begun) {
				share.end(bytes);
			}
			if (!leaveFirst) {
				shares.disconnected(share);
			}
		}
		return true;
	}

}
