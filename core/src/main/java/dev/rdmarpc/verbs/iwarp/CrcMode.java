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

package dev.rdmarpc.verbs.iwarp;

/**
 * When this side asks for the CRC32C of every FPDU. A peer that asks for it gets it in
 * every mode (RFC 5044, section 7.1).
 */
public enum CrcMode {

	/** Ask unless the peer is on this host, where TCP never leaves memory. */
	AUTO,

	/** Always ask. */
	REQUIRED,

	/** Never ask. */
	OFF

}
