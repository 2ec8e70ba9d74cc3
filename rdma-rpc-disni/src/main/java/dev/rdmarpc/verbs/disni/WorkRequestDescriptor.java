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

import com.ibm.disni.verbs.impl.NatIbvRecvWR;
import com.ibm.disni.verbs.impl.NatIbvSendWR;
import com.ibm.disni.verbs.impl.NatIbvSge;

/**
 * Where the fields of libibverbs' work requests lie, in native byte order.
 *
 * <pre>{@code
 * struct ibv_send_wr                               struct ibv_recv_wr
 *  0 +------------------------------+               0 +------------------------------+
 *    | wr_id                        |                 | wr_id                        |
 *  8 +------------------------------+               8 +------------------------------+
 *    | next                         |                 | next                         |
 * 16 +------------------------------+              16 +------------------------------+
 *    | sg_list                      |                 | sg_list                      |
 * 24 +--------------+---------------+              24 +--------------+---------------+
 *    | num_sge      | opcode        |                 | num_sge      | (unused)      |
 * 32 +--------------+---------------+              32 +--------------+---------------+
 *    | send_flags   | invalidate    |
 * 40 +--------------+---------------+              struct ibv_sge
 *    | remote_addr                  |               0 +------------------------------+
 * 48 +--------------+---------------+                 | addr                         |
 *    | rkey         | ...           |               8 +--------------+---------------+
 *    +--------------+---------------+                 | length       | lkey          |
 *                                                     +--------------+---------------+
 * }</pre>
 *
 * The sizes, and where remote address and key lie, are what DiSNI has found out from the
 * native library.
 */
final class WorkRequestDescriptor {

	static final int ID_OFFSET = 0;

	static final int NEXT_OFFSET = 8;

	static final int SEGMENT_COUNT_OFFSET = 24;

	static final int OPCODE_OFFSET = 28;

	static final int FLAGS_OFFSET = 32;

	static final int INVALIDATED_KEY_OFFSET = 36;

	static final int SEGMENT_ADDRESS_OFFSET = 0;

	static final int SEGMENT_LENGTH_OFFSET = 8;

	static final int SEGMENT_KEY_OFFSET = 12;

	/** {@code IBV_SEND_SIGNALED}. */
	static final int SIGNALED = 1 << 1;

	/** {@code IBV_SEND_SOLICITED}. */
	static final int SOLICITED = 1 << 2;

	/** {@code IBV_SEND_INLINE}. */
	static final int INLINE = 1 << 3;

	private WorkRequestDescriptor() {
	}

	static int sendSize() {
		return NatIbvSendWR.CSIZE;
	}

	static int receiveSize() {
		return NatIbvRecvWR.CSIZE;
	}

	static int segmentSize() {
		return NatIbvSge.CSIZE;
	}

	static int remoteAddressOffset() {
		return NatIbvSendWR.REMOTEADDR_OFFSET;
	}

	static int remoteKeyOffset() {
		return NatIbvSendWR.RKEY_OFFSET;
	}

}
