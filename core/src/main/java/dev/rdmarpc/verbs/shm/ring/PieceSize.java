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

package dev.rdmarpc.verbs.shm.ring;

/**
 * How large messages are cut, so that both sides copy at the same time and a piece is
 * still in the processor's cache when the peer copies it on.
 *
 * @param least what is worth a record unless the rest is shorter
 * @param most the payload of a record at most
 */
record PieceSize(int least, int most) {

	private static final int LEAST_BYTES = 2048;

	private static final int MOST_BYTES = 32 * 1024;

	static PieceSize of(int ringBytes) {
		return new PieceSize(LEAST_BYTES, Math.min(MOST_BYTES, ringBytes / 4));
	}

	int least(long remaining) {
		return (int) Math.min(this.least, remaining);
	}

	int most(long remaining) {
		return (int) Math.min(this.most, remaining);
	}

}
