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

import java.nio.ByteBuffer;

/**
 * A received MPA Request or Reply Frame, taken apart.
 *
 * @param flags the flags byte
 * @param revision the revision byte
 * @param truncated whether enhanced data is announced and not there
 * @param ird the IRD field with its flags, 0 without enhanced data
 * @param ord the ORD field with its flags, 0 without enhanced data
 * @param privateData the private data behind the enhanced data
 */
public record MpaFrame(int flags, int revision, boolean truncated, int ird, int ord, byte[] privateData) {

	/** Takes a complete frame apart. */
	public static MpaFrame decode(ByteBuffer buffer) {
		int flags = MpaFrameFlyweight.flags(buffer, 0);
		int revision = MpaFrameFlyweight.revision(buffer, 0);
		int length = MpaFrameFlyweight.privateDataLength(buffer, 0);
		boolean enhanced = isEnhanced(flags, revision) && length >= MpaFrameFlyweight.ENHANCED_BYTES;
		int skipped = enhanced ? MpaFrameFlyweight.ENHANCED_BYTES : 0;
		byte[] privateData = new byte[length - skipped];
		buffer.get(MpaFrameFlyweight.HEADER_BYTES + skipped, privateData);
		return new MpaFrame(flags, revision, isEnhanced(flags, revision) && !enhanced,
				enhanced ? MpaFrameFlyweight.ird(buffer, 0) : 0, enhanced ? MpaFrameFlyweight.ord(buffer, 0) : 0,
				privateData);
	}

	private static boolean isEnhanced(int flags, int revision) {
		return revision == MpaFrameFlyweight.REVISION_2 && (flags & MpaFrameFlyweight.FLAG_ENHANCED) != 0;
	}

	public boolean enhanced() {
		return isEnhanced(this.flags, this.revision);
	}

	public boolean markers() {
		return (this.flags & MpaFrameFlyweight.FLAG_MARKERS) != 0;
	}

	public boolean crc() {
		return (this.flags & MpaFrameFlyweight.FLAG_CRC) != 0;
	}

	public boolean rejected() {
		return (this.flags & MpaFrameFlyweight.FLAG_REJECT) != 0;
	}

	public boolean peerToPeer() {
		return (this.ird & MpaFrameFlyweight.IRD_PEER_TO_PEER) != 0;
	}

	/**
	 * RDMA Reads the sender of the frame serves at once, or the maximum if it left it
	 * open.
	 */
	public int inboundReads() {
		return this.ird & MpaFrameFlyweight.DEPTH_MASK;
	}

	/** RDMA Reads the sender of the frame wants to have outstanding. */
	public int outboundReads() {
		return this.ord & MpaFrameFlyweight.DEPTH_MASK;
	}

}
