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

package dev.rdmarpc.transport;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * A message that is not complete yet, and the memory for it, which it owns. Confined to
 * the loop's driver.
 */
abstract class InboundMessage {

	private final IncomingMessage head = new IncomingMessage();

	private final boolean request;

	private @Nullable RegisteredBuffer memory;

	/** Copies the fields of a message that has been begun. */
	InboundMessage(IncomingMessage begun, boolean request) {
		this.head.copyFrom(begun);
		this.request = request;
	}

	/** The fields of the message, without its bytes. */
	final IncomingMessage head() {
		return this.head;
	}

	final int requestId() {
		return this.head.requestId();
	}

	/** Whether it is a request, and no reply. */
	final boolean isRequest() {
		return this.request;
	}

	/** Its memory; {@code null} before it has some, and where it is dropped. */
	final @Nullable RegisteredBuffer memory() {
		return this.memory;
	}

	/** Takes ownership of memory; what it had before is the caller's. */
	final void continueIn(@Nullable RegisteredBuffer larger) {
		this.memory = larger;
	}

	/** How much memory it has. */
	final int heldBytes() {
		RegisteredBuffer held = this.memory;
		return (held != null) ? held.length() : 0;
	}

	/** The message, all of which is there. */
	final IncomingMessage complete() {
		this.head.relocate(Objects.requireNonNull(this.memory), 0);
		return this.head;
	}

	/** Gives the memory back, if there is any that was not taken with the message. */
	final void release() {
		RegisteredBuffer held = this.memory;
		this.memory = null;
		ArrivingBytes filled = this.head.takeArriving();
		if (filled != null) {
			filled.release();
		}
		if (!this.head.release() && held != null) {
			held.release();
		}
	}

}
