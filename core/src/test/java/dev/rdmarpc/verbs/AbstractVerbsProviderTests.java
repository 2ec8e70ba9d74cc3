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

package dev.rdmarpc.verbs;

import java.net.InetAddress;

import org.junit.jupiter.api.Nested;

import dev.rdmarpc.TestEnvironment;

/**
 * The behaviour every {@link VerbsProvider} must show. A provider's test class extends
 * this one and supplies the provider; the themes then run as its nested classes. Where
 * the provider is not available the tests are skipped with its reason.
 */
public abstract class AbstractVerbsProviderTests {

	/** What every device takes in one request. */
	protected static final int LEAST_LARGEST_BYTES = AbstractVerbsTests.LEAST_LARGEST_BYTES;

	/** The provider under test; asked for once per test. */
	protected abstract VerbsProvider provider();

	/**
	 * The local address to listen on; an address of the device where loopback will not
	 * do.
	 */
	protected InetAddress address() {
		return InetAddress.getLoopbackAddress();
	}

	/**
	 * Whether both sides learn why one was refused: with which status the request failed,
	 * and who found out. Adapters tell it to one side, and not always.
	 */
	protected boolean explainsFaults() {
		return true;
	}

	/**
	 * Whether a queue that is to notify of solicited Sends and errors only does so; asked
	 * when the provider is available.
	 */
	protected boolean notifiesOfSolicitedAlone() {
		return true;
	}

	/**
	 * Whether a Read needs the permission of the region that it reads; asked when the
	 * provider is available.
	 */
	protected boolean checksPermissionToRead() {
		return true;
	}

	/**
	 * Whether not one byte is placed any more once a region is deregistered, even of what
	 * was just being placed; asked when the provider is available.
	 */
	protected boolean stopsPlacingAtOnce() {
		return true;
	}

	/**
	 * Whether not one byte of a region gets into a peer's memory any more once it is
	 * deregistered, even of a Read that then fails; asked when the provider is available.
	 */
	protected boolean stopsSendingAtOnce() {
		return stopsPlacingAtOnce();
	}

	/**
	 * Whether steady traffic of small messages allocates nothing, as it must over
	 * anything that takes and gives them whole.
	 */
	protected boolean movesWithoutGarbage() {
		return true;
	}

	/**
	 * The largest request that is made, as far as the device takes it. What only differs
	 * from another provider in how a stream is cut needs no more than every cut.
	 */
	protected int largestBytes() {
		return TestEnvironment.rounds(AbstractVerbsTests.LARGEST_BYTES, LEAST_LARGEST_BYTES);
	}

	/**
	 * Whether a shared receive that a message had begun to take is flushed when the
	 * connection ends; otherwise it may go back to the others.
	 */
	protected boolean flushesSharedReceivesTaken() {
		return true;
	}

	/**
	 * The keys under which peers may write into a region at present because it is being
	 * filled by Reads; none where a Read opens nothing that the device would look up.
	 */
	protected int[] keysToldBy(MemoryRegion region) {
		return new int[0];
	}

	private VerbsFixture fixture() {
		return new VerbsFixture(this::provider, address(), explainsFaults(), this::notifiesOfSolicitedAlone,
				this::checksPermissionToRead, this::stopsPlacingAtOnce, this::stopsSendingAtOnce, movesWithoutGarbage(),
				largestBytes(), this::keysToldBy);
	}

	@Nested
	class Lifecycle extends AbstractLifecycleTests {

		Lifecycle() {
			super(fixture());
		}

	}

	@Nested
	class Arguments extends AbstractArgumentTests {

		Arguments() {
			super(fixture());
		}

	}

	@Nested
	class Connections extends AbstractConnectionTests {

		Connections() {
			super(fixture());
		}

	}

	@Nested
	class Listeners extends AbstractListenerTests {

		Listeners() {
			super(fixture());
		}

	}

	@Nested
	class Messaging extends AbstractMessagingTests {

		Messaging() {
			super(fixture());
		}

	}

	@Nested
	class OneSided extends AbstractOneSidedTests {

		OneSided() {
			super(fixture());
		}

	}

	@Nested
	class Ordering extends AbstractOrderingTests {

		Ordering() {
			super(fixture());
		}

	}

	@Nested
	class Queues extends AbstractQueueTests {

		Queues() {
			super(fixture());
		}

	}

	@Nested
	class SharedReceiveQueues extends AbstractSharedReceiveQueueTests {

		SharedReceiveQueues() {
			super(fixture(), flushesSharedReceivesTaken());
		}

	}

	@Nested
	class Notification extends AbstractNotificationTests {

		Notification() {
			super(fixture());
		}

	}

	@Nested
	class Protection extends AbstractProtectionTests {

		Protection() {
			super(fixture());
		}

	}

	@Nested
	class LocalProtection extends AbstractLocalProtectionTests {

		LocalProtection() {
			super(fixture());
		}

	}

	@Nested
	class Disconnects extends AbstractDisconnectTests {

		Disconnects() {
			super(fixture());
		}

	}

	@Nested
	class Release extends AbstractReleaseTests {

		Release() {
			super(fixture());
		}

	}

	@Nested
	class Concurrency extends AbstractConcurrencyTests {

		Concurrency() {
			super(fixture());
		}

	}

}
