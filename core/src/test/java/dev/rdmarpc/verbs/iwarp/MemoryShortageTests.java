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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import dev.rdmarpc.verbs.iwarp.wire.Fpdu;

import static org.assertj.core.api.Assertions.assertThat;

/** A process whose memory is used up, whoever did that, and after that. */
@EnabledOnOs(OS.LINUX)
@Tag("slow")
class MemoryShortageTests {

	private static final int ATTACKERS = 100;

	/** A length, and three bytes of a frame that never comes. */
	private static final byte[] BEGINNING = { (byte) 0xFF, (byte) 0xF0, 0x41, 0x43, 0 };

	private static void sendInTwoParts(RawPeer peer, int sequence) throws Exception {
		byte[] frame = Fpdu.frame(Fpdu.send(sequence, new byte[1000]), false);
		peer.write(Arrays.copyOf(frame, 500));
		peer.write(Arrays.copyOfRange(frame, 500, frame.length));
	}

	@Test
	void frameThatIsBegunNeedsNoDirectMemory() throws Exception {
		try (ChildProcess process = new ChildProcess("true", "-Xmx128m", "-XX:MaxDirectMemorySize=32m")) {
			RawPeer good = process.established();
			sendInTwoParts(good, 1);
			process.awaitReceived(1);
			process.command(AcceptingProcess.USE_UP_DIRECT_MEMORY);
			List<RawPeer> attackers = new ArrayList<>();
			for (int i = 0; i < ATTACKERS; i++) {
				RawPeer attacker = process.established();
				attacker.write(BEGINNING);
				attackers.add(attacker);
			}
			sendInTwoParts(good, 2);
			process.awaitReceived(2);
			sendInTwoParts(process.established(), 1);
			process.awaitReceived(3);
			for (RawPeer attacker : attackers) {
				attacker.close();
			}
			assertThat(process.report().running()).isTrue();
			assertThat(process.warnings()).isEmpty();
		}
	}

	@Test
	void processThatHadNoHeapServesAgain() throws Exception {
		try (ChildProcess process = new ChildProcess("true", "-Xmx48m", "-XX:+UseSerialGC")) {
			RawPeer first = process.established();
			sendInTwoParts(first, 1);
			process.awaitReceived(1);
			process.command(AcceptingProcess.USE_UP_HEAP);
			for (int i = 0; i < ATTACKERS; i++) {
				process.connected().write(BEGINNING);
			}
			process.command(AcceptingProcess.FREE);
			RawPeer second = process.established();
			sendInTwoParts(second, 1);
			process.awaitReceived(2);
			assertThat(process.report().running()).isTrue();
		}
	}

}
