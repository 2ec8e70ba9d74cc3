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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.MemoryRegion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ExtentsTests {

	private static final int PAGES = 16;

	private static final int EXTENT_BYTES = PAGES * MemoryOptions.PAGE_BYTES;

	private static final Duration RETENTION = Duration.ofSeconds(1);

	private final Registrar registrar = new Registrar();

	private final RecordingHook hook = new RecordingHook();

	private final Extents extents = new Extents(MemoryOptions.DEFAULTS.withMaxBytes(8L * EXTENT_BYTES)
		.withInitialBytes(EXTENT_BYTES)
		.withExtentBytes(EXTENT_BYTES)
		.withRetention(RETENTION), this.registrar, this::now, this::deregisterRetired);

	private final List<Span> spans = new ArrayList<>();

	private long nowNanos;

	/** Whether there is none the next time that the clock is looked at. */
	private boolean noHeap;

	private int hooks = 1;

	ExtentsTests() {
		this.extents.open();
		this.registrar.attach(this.hook);
	}

	private long now() {
		if (this.noHeap) {
			this.noHeap = false;
			throw new OutOfMemoryError("made up");
		}
		return this.nowNanos;
	}

	@AfterEach
	void whatIsCountedIsRegistered() {
		assertThat(this.hook.registeredBytes()).isEqualTo(this.hooks * this.extents.registeredBytes());
		this.extents.close();
		this.registrar.close();
		assertThat(this.hook.regions).isEmpty();
	}

	@Test
	void growsByAnExtentWhenNothingIsFree() {
		take(PAGES);
		assertThat(this.extents.takeSpan(1, Span.LARGE)).isNull();
		assertThat(this.extents.grow(1, this.extents.added())).isTrue();
		assertThat(this.extents.takeSpan(1, Span.LARGE)).isNotNull();
		assertThat(this.extents.count()).isEqualTo(2);
		assertThat(this.extents.registeredBytes()).isEqualTo(2 * EXTENT_BYTES);
	}

	/** It takes long where much is allocated, and others wait for it meanwhile. */
	@Test
	void somethingMovesWhileItGrows() {
		List<Long> still = new ArrayList<>();
		this.registrar.attach(new RegistrationHook() {
			@Override
			public MemoryRegion register(ByteBuffer extent) {
				still.add(ExtentsTests.this.extents.stillNanos());
				return ExtentsTests.this.hook.register(extent);
			}

			@Override
			public void deregister(MemoryRegion region) {
				ExtentsTests.this.hook.deregister(region);
			}
		});
		this.hooks++;
		still.clear();
		this.nowNanos += 1000;
		assertThat(this.extents.grow(1, this.extents.added())).isTrue();
		assertThat(still).containsExactly(0L);
		this.nowNanos += 1000;
		assertThat(this.extents.stillNanos()).isEqualTo(1000);
		assertThat(this.extents.grow(8 * PAGES, this.extents.added())).as("beyond the budget").isFalse();
		assertThat(this.extents.stillNanos()).isEqualTo(1000);
	}

	@Test
	void anExtentForWhichThereIsNoRoomInTheIndexIsNotRegistered() {
		this.noHeap = true;
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> this.extents.grow(7 * PAGES, this.extents.added()));
		assertThat(this.hook.registeredBytes()).isEqualTo(EXTENT_BYTES);
		collectAndGrow(7 * PAGES);
		assertThat(this.extents.takeSpan(7 * PAGES, Span.LARGE)).isNotNull();
	}

	@Test
	void doesNotGrowTwiceForTheSameShortage() {
		long seen = this.extents.added();
		assertThat(this.extents.grow(1, seen)).isTrue();
		assertThat(this.extents.grow(1, seen)).isTrue();
		assertThat(this.extents.count()).isEqualTo(2);
	}

	@Test
	void largeRequestsGetAnExtentOfTheirOwnWithinTheBudget() {
		assertThat(this.extents.grow(8 * PAGES, this.extents.added())).isFalse();
		assertThat(this.extents.grow(7 * PAGES, this.extents.added())).isTrue();
		assertThat(this.extents.takeSpan(7 * PAGES, Span.LARGE)).isNotNull();
		assertThat(this.extents.grow(1, this.extents.added())).isFalse();
	}

	@Test
	void shrinksWhenMuchIsFree() {
		for (int index = 0; index < 8; index++) {
			grow(PAGES);
		}
		giveAll();
		assertThat(this.extents.count()).as("for the next who needs them").isEqualTo(8);
		passRetention();
		assertThat(this.extents.count()).isOne();
		assertThat(this.extents.removed()).isEqualTo(7);
	}

	@Test
	void keepsTheExtentOfALargeBufferBetweenTwoUses() {
		for (int turn = 0; turn < 100; turn++) {
			Span large = grow(4 * PAGES);
			this.spans.remove(large);
			give(large);
			this.nowNanos += RETENTION.toNanos() - 1;
		}
		assertThat(this.extents.added()).isEqualTo(2);
		assertThat(this.extents.removed()).isZero();
		passRetention();
		assertThat(this.extents.count()).isOne();
	}

	@Test
	void whatIsRetainedIsNoReasonToEmptyTheCaches() {
		Span large = grow(4 * PAGES);
		this.spans.clear();
		give(large);
		assertThat(this.extents.cacheLimit()).isEqualTo(Integer.MAX_VALUE);
		assertThat(this.extents.pollScattered()).isFalse();
		passRetention();
	}

	@Test
	void doesNotGrowAndShrinkInTurns() {
		for (int index = 0; index < 4; index++) {
			grow(PAGES);
		}
		long added = this.extents.added();
		for (int turn = 0; turn < 100; turn++) {
			Span last = this.spans.remove(3);
			give(last);
			grow(PAGES);
		}
		assertThat(this.extents.added()).isEqualTo(added);
		assertThat(this.extents.removed()).isZero();
		giveAll();
	}

	@Test
	void freeExtentsMakeRoomForALargeOne() {
		for (int index = 0; index < 4; index++) {
			grow(PAGES);
		}
		give(this.spans.remove(1));
		assertThat(this.extents.grow(5 * PAGES, this.extents.added())).isFalse();
		this.extents.makeRoom(6 * PAGES);
		assertThat(this.extents.count()).as("not enough, so nothing is given up").isEqualTo(4);
		this.extents.makeRoom(5 * PAGES);
		assertThat(this.extents.count()).as("two extents have made room").isEqualTo(3);
		collectAndGrow(5 * PAGES);
		assertThat(this.extents.takeSpan(5 * PAGES, Span.LARGE)).isNotNull();
	}

	@Test
	void whatIsToGoIsTakenBackBeforeAnythingIsAdded() {
		for (int index = 0; index < 4; index++) {
			grow(PAGES);
		}
		this.spans.forEach(this.extents::giveSpan);
		this.spans.clear();
		this.nowNanos += RETENTION.toNanos();
		this.extents.trim();
		assertThat(this.extents.hasRetired()).isTrue();
		long added = this.extents.added();
		for (int index = 0; index < 4; index++) {
			grow(PAGES);
		}
		assertThat(this.extents.added()).isEqualTo(added);
		assertThat(this.hook.registeredBytes()).isEqualTo(4 * EXTENT_BYTES);
		giveAll();
	}

	@Test
	void refusedExtentIsNotThere() {
		this.hook.registrationsLeft.set(0);
		assertThatExceptionOfType(MemoryExhaustedException.class)
			.isThrownBy(() -> this.extents.grow(1, this.extents.added()));
		assertThat(this.extents.count()).isOne();
		this.hook.registrationsLeft.set(1);
		assertThat(this.extents.grow(1, this.extents.added())).isTrue();
	}

	@Test
	void theSameRunGetsTheSameSpanAgain() {
		Span span = grow(4);
		give(span);
		this.spans.clear();
		assertThat(grow(4)).isSameAs(span);
		give(span);
	}

	@Test
	void asksForWhatIsKeptWhenMuchIsFreeButScattered() {
		List<Span> kept = new ArrayList<>();
		for (int index = 0; index < 8; index++) {
			kept.add(grow(1));
			grow(PAGES - 1);
		}
		this.spans.removeAll(kept);
		giveAll();
		assertThat(this.extents.pollScattered()).isTrue();
		assertThat(this.extents.pollScattered()).isFalse();
		assertThat(this.extents.cacheLimit()).isEqualTo((8 * MemoryOptions.PAGE_BYTES) >> 6);
		kept.forEach(this::give);
		passRetention();
		assertThat(this.extents.count()).isOne();
		assertThat(this.extents.cacheLimit()).isEqualTo(Integer.MAX_VALUE);
	}

	private void deregisterRetired() {
		this.extents.deregisterRetired();
	}

	private void passRetention() {
		this.nowNanos += RETENTION.toNanos();
		this.extents.trim();
		this.extents.deregisterRetired();
	}

	/** What was given back in pieces that are too small is freed before it is reused. */
	private void collectAndGrow(int pages) {
		while (!this.extents.grow(pages, this.extents.added())) {
			assertThat(this.extents.want(pages)).isTrue();
			this.extents.collect();
		}
	}

	private Span grow(int pages) {
		Span span = this.extents.takeSpan(pages, Span.LARGE);
		while (span == null) {
			assertThat(this.extents.grow(pages, this.extents.added())).isTrue();
			span = this.extents.takeSpan(pages, Span.LARGE);
		}
		this.spans.add(span);
		return span;
	}

	private void take(int pages) {
		@Nullable Span span = this.extents.takeSpan(pages, Span.LARGE);
		assertThat(span).isNotNull();
	}

	private void give(Span span) {
		this.extents.giveSpan(span);
		this.extents.deregisterRetired();
	}

	private void giveAll() {
		this.spans.forEach(this::give);
		this.spans.clear();
	}

}
