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

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.logging.PeerText;

/**
 * A message in the metadata of a reply, as three values under one key: {@code key} is the
 * name of its class, {@code key-bin} the message in Base64, and {@code key-types} what
 * the sender's class holds, so that a receiver whose class holds something else does not
 * read one thing as another. Thread-safe.
 */
final class MetadataFormat {

	private static final String VALUE = "-bin";

	private static final String TYPES = "-types";

	private static final int MAX_BYTES = 65_535;

	private static final int MAX_ARGUMENTS = 255;

	private final String key;

	private final MessageCodec codec;

	private final MessageFormat own;

	/** {@code null} for a message that is like a result. */
	private final @Nullable ArgumentFormats arguments;

	/** Of the arguments, and the codec's digest; {@code null} if nobody compares. */
	private final @Nullable String types;

	private MetadataFormat(String key, MessageCodec codec, MethodSignature signature, MessageFormat own,
			@Nullable ArgumentFormats arguments) {
		this.key = key;
		this.codec = codec;
		this.own = own;
		this.arguments = arguments;
		String digest = codec.digest(signature);
		this.types = (digest != null) ? signature.parameterTypes().size() + " " + digest : null;
	}

	/**
	 * Messages like the arguments of a method.
	 * @throws RuntimeException if there can be none
	 */
	static MetadataFormat ofArguments(String key, MessageCodec codec, MethodSignature signature) {
		ArgumentFormats arguments = new ArgumentFormats(codec, signature, signature.parameterTypes().size());
		return new MetadataFormat(key, codec, signature, arguments.own(), arguments);
	}

	/**
	 * Messages like the result of a method.
	 * @throws RuntimeException if there can be none
	 */
	static MetadataFormat ofResult(String key, MessageCodec codec, MethodSignature signature) {
		return new MetadataFormat(key, codec, signature, codec.result(signature), null);
	}

	/** The names of the three values. */
	static Stream<String> names(String key) {
		return Stream.of(key, key + VALUE, key + TYPES);
	}

	/**
	 * Adds a message, unless there is no room for it. The value comes last, so that a
	 * shorter message can be tried then.
	 * @param type the name of its class
	 * @return whether there was; if not, receivers see no message
	 * @throws RuntimeException if it cannot be encoded, or is longer than any value
	 */
	boolean write(String type, Object message, CallMetadata metadata) {
		return (this.types == null || putOnce(this.key + TYPES, this.types, metadata))
				&& putOnce(this.key, type, metadata) && metadata.putReserved(this.key + VALUE, encoded(message));
	}

	private static boolean putOnce(String key, String value, CallMetadata metadata) {
		return value.equals(metadata.get(key)) || metadata.putReserved(key, value);
	}

	private String encoded(Object message) {
		MessageSegments segments = new MessageSegments();
		try {
			segments.maxBytes(MAX_BYTES);
			this.own.encode(message, segments);
			byte[] bytes = new byte[segments.totalBytes()];
			segments.copyTo(ByteBuffer.wrap(bytes));
			return Base64.getEncoder().encodeToString(bytes);
		}
		finally {
			segments.clear();
		}
	}

	/**
	 * What a message of a peer cannot be read for, because its class holds something else
	 * there, or {@code null} if nothing is known against it.
	 */
	@Nullable String contradictionOf(Received message) {
		String mine = this.types;
		String peers = message.types();
		if (mine == null || peers == null || peers.equals(mine)) {
			return null;
		}
		String contradiction = (countOf(peers) < 0) ? "they cannot be read"
				: this.codec.difference(digestOf(mine), digestOf(peers));
		return (contradiction != null) ? "it holds " + PeerText.shown(digestOf(mine)) + " here and "
				+ PeerText.shown(digestOf(peers)) + " at the server: " + PeerText.shown(contradiction) : null;
	}

	/**
	 * Decodes a message of a peer.
	 * @throws RuntimeException whatever is wrong with it
	 */
	Object read(Received message) {
		String peers = message.types();
		MessageFormat format = (this.arguments != null && peers != null) ? this.arguments.of(countOf(peers)) : this.own;
		byte[] bytes = Base64.getDecoder().decode(message.value());
		ReceivedMemory memory = ReceivedMemory.given();
		try {
			return Objects
				.requireNonNull(format.decode(ByteBuffer.allocateDirect(bytes.length).put(bytes).flip(), memory));
		}
		finally {
			memory.release();
		}
	}

	/** How many arguments types begin with; negative if that cannot be read. */
	private static int countOf(String types) {
		int end = types.indexOf(' ');
		if (end < 1 || end > 3 || !types.chars().limit(end).allMatch((c) -> c >= '0' && c <= '9')) {
			return -1;
		}
		int count = Integer.parseInt(types.substring(0, end));
		return (count <= MAX_ARGUMENTS) ? count : -1;
	}

	private static String digestOf(String types) {
		return types.substring(types.indexOf(' ') + 1);
	}

	/**
	 * A message that a reply carries.
	 *
	 * @param type the name of its class
	 * @param value what it holds, in Base64
	 * @param types what its class holds at the sender; {@code null} if it does not say
	 */
	record Received(String type, String value, @Nullable String types) {

		/** The one of that key, or {@code null} if there is none. */
		static @Nullable Received of(String key, CallMetadata metadata) {
			String type = metadata.get(key);
			String value = metadata.get(key + VALUE);
			return (type != null && value != null) ? new Received(type, value, metadata.get(key + TYPES)) : null;
		}

	}

}
