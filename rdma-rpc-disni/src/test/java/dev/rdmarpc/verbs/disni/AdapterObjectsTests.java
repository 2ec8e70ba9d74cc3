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
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

import com.ibm.disni.verbs.IbvPd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.support.Registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What is left of an adapter's objects when something fails between them. */
class AdapterObjectsTests {

	private final OutOfMemoryError noHeap = new OutOfMemoryError("made up");

	private final FakeAdapter adapter = new FakeAdapter(
			new AdapterAttributes(false, 16, 16, 1, 1, 16, 1, 1, 16, 1, 1, false));

	private final AdapterDomain domain = new AdapterDomain(this.adapter.verbs(), this.adapter.adapter(), () -> {
		throw this.noHeap;
	}, new LongAdder());

	AdapterObjectsTests() throws IOException {
	}

	@AfterEach
	void close() {
		this.domain.close();
		this.adapter.close();
		assertThat(this.adapter.open()).isEmpty();
	}

	private DisniMemoryRegion register() throws IOException {
		return this.domain.register(Registration.of(ByteBuffer.allocateDirect(8), Set.of()));
	}

	private void assertNothingIsLeft() {
		assertThat(this.adapter.open()).singleElement().isInstanceOf(IbvPd.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "createCQ", "prepare poll", "prepare notification" })
	void nothingIsLeftOfACompletionQueueThatCannotBePrepared(String step) {
		for (Throwable failure : List.of(new IOException("made up"), new IllegalStateException("made up"),
				this.noHeap)) {
			this.adapter.fail(step, failure);
			assertThatThrownBy(() -> AdapterCompletionQueue.create(this.adapter.verbs(), this.adapter.adapter(), 16))
				.isSameAs(failure);
			assertNothingIsLeft();
		}
	}

	@Test
	void nothingIsLeftOfASharedReceiveQueueThatCannotBePrepared() {
		this.adapter.fail("prepare receives", this.noHeap);
		assertThatThrownBy(() -> new AdapterSharedReceives(this.domain, 16, 1, 1, (queue) -> {
		})).isSameAs(this.noHeap);
		assertNothingIsLeft();
	}

	@Test
	void whatCannotBeTakenIntoTheDomainIsNotRegistered() {
		this.adapter.fail("getLkey", this.noHeap);
		assertThatThrownBy(this::register).isSameAs(this.noHeap);
		assertNothingIsLeft();
	}

	@Test
	void aRegionIsDeregisteredBeforeWhichNotEverythingCanBeDelivered() throws Exception {
		DisniMemoryRegion region = register();
		assertThatThrownBy(region::close).isSameAs(this.noHeap);
		assertNothingIsLeft();
	}

}
