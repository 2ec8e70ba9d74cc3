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

package dev.rdmarpc.codec;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Turns method signatures into message formats. Both ends of a connection use the same
 * codec: its name is exchanged when they connect, and another one is refused.
 *
 * <p>
 * Thread-safe. Compiling is slow and meant for start-up; formats are fast.
 */
public interface MessageCodec {

	/**
	 * The name peers agree on, for example {@code flatbuffers}; 1 to 100 printable ASCII
	 * characters. Servers and clients refuse to be built with another one.
	 */
	String name();

	/**
	 * Compiles the format of a method's arguments. Its values are {@code Object[]} with
	 * one element per parameter, primitives boxed.
	 * @throws UnsupportedTypeException if a parameter has no message form
	 */
	MessageFormat arguments(MethodSignature method);

	/**
	 * Compiles the format in which a peer of another age sends a method's arguments,
	 * whose method has fewer or more parameters at the end. Missing ones are absent,
	 * unknown ones ignored.
	 * @param count how many parameters the peer's method has
	 * @throws UnsupportedTypeException if a parameter has no message form
	 */
	default MessageFormat arguments(MethodSignature method, int count) {
		return arguments(method);
	}

	/**
	 * Compiles the format of a method's result. For {@code void} it encodes nothing and
	 * decodes null.
	 * @throws UnsupportedTypeException if the result has no message form
	 */
	MessageFormat result(MethodSignature method);

	/**
	 * What peers must agree about to understand the messages of a method, as ASCII text:
	 * of two methods with equal texts, each reads what the other writes. Peers compare
	 * them once per connection, first by their hash.
	 * @return the text, or {@code null} if peers are not to be compared
	 */
	default @Nullable String digest(MethodSignature method) {
		return null;
	}

	/**
	 * The schema of a service's messages, for people and for generators of code in other
	 * languages.
	 * @param service its name
	 * @return the text, or {@code null} if there is none
	 */
	default @Nullable String schema(String service, List<MethodSignature> methods) {
		return null;
	}

	/**
	 * Whether two methods of different {@linkplain #digest digests} nevertheless read
	 * what the other one writes, because one is an older version of the other.
	 * @param own the digest of this side
	 * @param peers that of the peer: any text
	 * @return one half sentence that says what contradicts what, this side first, or
	 * {@code null} if nothing does
	 */
	default @Nullable String difference(String own, String peers) {
		return own.equals(peers) ? null : "they are not equal";
	}

}
