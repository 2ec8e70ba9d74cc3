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
 * The layout of a window table, in the byte order of the host: which regions of a device
 * lie in memory that peers which are trusted may map. A record is found by the index in
 * the key of its region.
 *
 * <pre>
 *  0            8            16                       32
 *  +------------+------------+------------------------+
 *  | RDMAWIN1   | records    | unused                 |
 *  +------------+------------+------------------------+
 *  | unused                                           |
 *  +------------+------+-----+------------+-----------+ 64 + 64 * index
 *  | generation | key  | len | address    | grantee   |
 *  +------------+------+-----+------------+-----------+
 *  | pool       | extent     | offset     | unused    |
 *  +------------+------------+------------+-----------+
 * </pre>
 *
 * <p>
 * The generation counts up; a record holds something while it is odd. Pool and extent
 * name the file of the memory.
 */
public final class WindowDescriptor {

	/** How many regions a table has room for; others cannot be read directly. */
	public static final int RECORDS = 8191;

	static final long MAGIC = 0x52444d41_57494e31L;

	static final int MAGIC_WORD = 0;

	static final int RECORDS_WORD = 8;

	static final int RECORD_BYTES = 64;

	/** The size of a table. */
	public static final int TOTAL_BYTES = (1 + RECORDS) * RECORD_BYTES;

	static final int GENERATION = 0;

	static final int KEY = 8;

	static final int LENGTH = 12;

	static final int ADDRESS = 16;

	static final int GRANTEE = 24;

	static final int POOL = 32;

	static final int EXTENT = 40;

	static final int OFFSET = 48;

	private WindowDescriptor() {
	}

	static int record(int index) {
		return (1 + index) * RECORD_BYTES;
	}

}
