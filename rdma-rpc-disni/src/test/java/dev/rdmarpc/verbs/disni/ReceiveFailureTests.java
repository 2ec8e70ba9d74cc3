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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

import com.ibm.disni.verbs.IbvQP;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Receives whose end cannot be reported, because there is no heap for it. */
class ReceiveFailureTests {

	private final OutOfMemoryError noHeap = new OutOfMemoryError("made up");

	private final CompletionReporter withoutHeap = (id, status, opcode, bytes, key) -> {
		throw this.noHeap;
	};

	private final FakeAdapter adapter = new FakeAdapter(
			new AdapterAttributes(false, 16, 16, 1, 1, 16, 1, 1, 16, 1, 1, false));

	private final AdapterDomain domain = new AdapterDomain(this.adapter.verbs(), this.adapter.adapter(), () -> {
	}, new LongAdder());

	ReceiveFailureTests() throws IOException {
	}

	@AfterEach
	void close() {
		this.domain.close();
		this.adapter.close();
	}

	@Test
	void ownReceivesAreReportedLater() throws Exception {
		OwnReceives receives = new OwnReceives(this.domain, 4, 1);
		for (int id = 5; id <= 7; id++) {
			receives.post(new WorkRequest(0).receive(id), new SegmentList(1), false, false);
		}
		assertThatThrownBy(() -> receives.reportEnded(this.withoutHeap)).isSameAs(this.noHeap);
		List<Long> reported = new ArrayList<>();
		receives.reportEnded((id, status, opcode, bytes, key) -> reported.add(id));
		assertThat(reported).containsExactly(5L, 6L, 7L);
	}

	@Test
	void sharedReceivesOfTheAdapterCanBeWithdrawn() throws Exception {
		canBeWithdrawn(new AdapterSharedReceives(this.domain, 4, 1, 1, (queue) -> {
		}));
	}

	@Test
	void emulatedSharedReceivesCanBeWithdrawn() throws Exception {
		canBeWithdrawn(new EmulatedSharedReceives(this.domain, 4, 1, 1, (queue) -> {
		}));
	}

	private void canBeWithdrawn(SharedReceives receives) throws IOException {
		DisniReceiveSource source = receives.newSource();
		source.open(new IbvQP(0), 1);
		receives.postReceive(new WorkRequest(0).receive(5));
		long[] ids = new long[2];
		assertThat(receives.withdrawReceives(ids, 2)).as("while the adapter has it").isZero();
		assertThatThrownBy(() -> source.completed(this.withoutHeap, 0, WorkStatus.SUCCESS, 0, 0)).isSameAs(this.noHeap);
		assertThat(receives.withdrawReceives(ids, 2)).isOne();
		assertThat(ids[0]).isEqualTo(5);
	}

}
