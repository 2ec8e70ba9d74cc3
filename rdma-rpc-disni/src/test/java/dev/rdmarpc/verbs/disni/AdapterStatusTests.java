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

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

class AdapterStatusTests {

	@Test
	void theNumbersAreThoseOfLibibverbs() {
		assertThat(AdapterStatus.of(0).ofSend(false)).isEqualTo(WorkStatus.SUCCESS);
		assertThat(AdapterStatus.of(4).ofSend(false)).isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
		assertThat(AdapterStatus.of(5).ofReceive()).isEqualTo(WorkStatus.FLUSHED);
		assertThat(AdapterStatus.of(10).ofSend(false)).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
		assertThat(AdapterStatus.of(12).ofSend(false)).isEqualTo(WorkStatus.CONNECTION_LOST);
		assertThat(AdapterStatus.of(13).ofSend(false)).isEqualTo(WorkStatus.REMOTE_INVALID_REQUEST);
		assertThat(AdapterStatus.of(2).ofSend(false)).isEqualTo(WorkStatus.LOCAL_OPERATION_ERROR);
		assertThat(AdapterStatus.of(2).ofSend(true)).isEqualTo(WorkStatus.CONNECTION_LOST);
		assertThat(AdapterStatus.of(21)).isEqualTo(AdapterStatus.GENERAL_ERROR);
	}

	@Test
	void whatIsAddedLaterIsAGeneralError() {
		assertThat(AdapterStatus.of(22)).isEqualTo(AdapterStatus.GENERAL_ERROR);
		assertThat(AdapterStatus.of(-1)).isEqualTo(AdapterStatus.GENERAL_ERROR);
	}

	@Test
	void aReceiveThatIsTooShortIsALengthErrorWhateverTheAdapterSays() {
		assertThat(AdapterStatus.LOCAL_LENGTH_ERROR.ofReceive()).isEqualTo(WorkStatus.LOCAL_LENGTH_ERROR);
		assertThat(AdapterStatus.REMOTE_INVALID_REQUEST.ofReceive()).isEqualTo(WorkStatus.LOCAL_LENGTH_ERROR);
	}

	@Test
	void successIsSuccessAndFailureFailureEitherWay() {
		for (AdapterStatus status : AdapterStatus.values()) {
			boolean success = status == AdapterStatus.SUCCESS;
			assertThat(status.ofSend(false) == WorkStatus.SUCCESS).isEqualTo(success);
			assertThat(status.ofReceive() == WorkStatus.SUCCESS).isEqualTo(success);
		}
		assertThat(AdapterStatus.originOf(WorkStatus.REMOTE_ACCESS_ERROR)).isEqualTo(Origin.REMOTE);
		assertThat(AdapterStatus.originOf(WorkStatus.LOCAL_LENGTH_ERROR)).isEqualTo(Origin.LOCAL);
	}

}
