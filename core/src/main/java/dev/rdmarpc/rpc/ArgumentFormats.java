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

package dev.rdmarpc.rpc;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;

/**
 * How to decode arguments, also those of peers that have fewer or more of them at the
 * end. The formats of such peers are compiled when the first of them appears.
 * Thread-safe.
 */
final class ArgumentFormats {

	private final MessageCodec codec;

	private final MethodSignature signature;

	private final int count;

	private final MessageFormat own;

	/** The format of peers with one argument, once there is such a peer. */
	private volatile @Nullable MessageFormat one;

	/** The same for more than one. */
	private volatile @Nullable MessageFormat several;

	/**
	 * Compiles that of this side.
	 * @param count how many arguments there are at this side
	 */
	ArgumentFormats(MessageCodec codec, MethodSignature signature, int count) {
		this.codec = codec;
		this.signature = signature;
		this.count = count;
		this.own = codec.arguments(signature);
	}

	/** The format of this side. */
	MessageFormat own() {
		return this.own;
	}

	/** That of a peer with that many arguments; 0 for one that does not say. */
	MessageFormat of(int peers) {
		if (peers == this.count || peers == 0) {
			return this.own;
		}
		MessageFormat known = (peers == 1) ? this.one : this.several;
		if (known == null) {
			known = this.codec.arguments(this.signature, peers);
			if (peers == 1) {
				this.one = known;
			}
			else {
				this.several = known;
			}
		}
		return known;
	}

}
