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

package dev.rdmarpc.verbs.shm;

import java.nio.file.Path;

import dev.rdmarpc.verbs.MemoryRegion;

/**
 * A process that listens, and lends its memory to who connects, until it is killed.
 */
public final class LendingProcess {

	private LendingProcess() {
	}

	/** Takes a directory, a trust, and a group to let in if there is one. */
	public static void main(String[] args) throws Exception {
		SharedMemoryOptions options = LendingPeer.options(Path.of(args[0]), SharedMemoryTrust.valueOf(args[1]));
		LendingPeer peer = new LendingPeer((args.length > 2) ? options.withGroup(args[2]) : options);
		peer.fill(0);
		System.out.println(SharingProcess.READY + peer.listen().getPort());
		peer.accept();
		MemoryRegion window = peer.lend(0, LendingPeer.BYTES);
		System.out.println(SharingProcess.READY + window.remoteAddress() + " " + window.remoteKey());
		while (true) {
			peer.poll();
		}
	}

}
