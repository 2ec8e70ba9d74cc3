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

package dev.rdmarpc.verbs.iwarp.wire;

/**
 * The control word with which every DDP segment begins (RFC 5041, section 4.1; RFC 5040,
 * section 4.1).
 *
 * <pre>
 *  0                   1
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
 * +-+-+-------+---+---+---+-------+
 * |T|L| Resrv |DV |RV |Rsv|Opcode |
 * +-+-+-------+---+---+---+-------+
 * </pre>
 *
 * T tagged, L last segment of its message, DV version of DDP (1), RV version of RDMAP
 * (1).
 */
public final class DdpControl {

	static final int TAGGED = 0x8000;

	static final int LAST = 0x4000;

	public static final int OPCODE_WRITE = 0;

	public static final int OPCODE_READ_REQUEST = 1;

	public static final int OPCODE_READ_RESPONSE = 2;

	public static final int OPCODE_SEND = 3;

	public static final int OPCODE_SEND_INVALIDATE = 4;

	public static final int OPCODE_SEND_SOLICITED = 5;

	public static final int OPCODE_SEND_SOLICITED_INVALIDATE = 6;

	public static final int OPCODE_TERMINATE = 7;

	/** Queue number of the Send family. */
	public static final int QUEUE_SEND = 0;

	/** Queue number of Read Requests. */
	public static final int QUEUE_READ_REQUEST = 1;

	/** Queue number of Terminates. */
	public static final int QUEUE_TERMINATE = 2;

	private static final int DDP_VERSION_MASK = 0x0300;

	private static final int DDP_VERSION_1 = 0x0100;

	private static final int RDMAP_VERSION_MASK = 0x00C0;

	private static final int RDMAP_VERSION_1 = 0x0040;

	private static final int OPCODE_MASK = 0x000F;

	private DdpControl() {
	}

	/** A control word of version 1. */
	public static int of(boolean tagged, boolean last, int opcode) {
		return (tagged ? TAGGED : 0) | (last ? LAST : 0) | DDP_VERSION_1 | RDMAP_VERSION_1 | opcode;
	}

	public static boolean isTagged(int control) {
		return (control & TAGGED) != 0;
	}

	public static boolean isLast(int control) {
		return (control & LAST) != 0;
	}

	public static boolean isDdpVersion1(int control) {
		return (control & DDP_VERSION_MASK) == DDP_VERSION_1;
	}

	public static boolean isRdmapVersion1(int control) {
		return (control & RDMAP_VERSION_MASK) == RDMAP_VERSION_1;
	}

	public static int opcode(int control) {
		return control & OPCODE_MASK;
	}

}
