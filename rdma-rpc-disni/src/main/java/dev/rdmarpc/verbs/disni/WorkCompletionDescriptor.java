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

import com.ibm.disni.verbs.IbvWC;

/**
 * Where the fields of libibverbs' {@code ibv_wc} lie, in native byte order. Of an
 * unsuccessful one only id, status and queue pair number are defined.
 *
 * <pre>{@code
 *  0 +------------------------------+
 *    | wr_id                        |
 *  8 +--------------+---------------+
 *    | status       | opcode        |
 * 16 +--------------+---------------+
 *    | vendor_err   | byte_len      |
 * 24 +--------------+---------------+
 *    | invalidated  | qp_num        |
 * 32 +--------------+---------------+
 *    | src_qp       | wc_flags      |
 * 40 +--------------+---------------+
 *    | ...                          |
 *    +------------------------------+
 * }</pre>
 */
final class WorkCompletionDescriptor {

	static final int ID_OFFSET = 0;

	static final int STATUS_OFFSET = 8;

	static final int VENDOR_ERROR_OFFSET = 16;

	static final int BYTE_LENGTH_OFFSET = 20;

	static final int INVALIDATED_KEY_OFFSET = 24;

	static final int QUEUE_PAIR_NUMBER_OFFSET = 28;

	static final int FLAGS_OFFSET = 36;

	/** {@code IBV_WC_WITH_INV}. */
	static final int WITH_INVALIDATE = 1 << 3;

	private WorkCompletionDescriptor() {
	}

	static int size() {
		return IbvWC.CSIZE;
	}

}
