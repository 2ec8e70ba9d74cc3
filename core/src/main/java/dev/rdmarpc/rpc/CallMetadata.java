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
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RequestTemplate;

/**
 * Names and values that travel with a request or a reply, such as those of a trace.
 * Encoded as {@code u8 key length, key, u16 value length, value} in UTF-8, one after
 * another.
 *
 * <p>
 * Values of names that end in {@code -bin} are bytes. As text they are Base64, which is
 * also how they travel.
 *
 * <p>
 * Some names are those of rdma-rpc itself: {@code rdma-refused}, and
 * {@code rdma-exception} and {@code rdma-details}, also with {@code -bin} or
 * {@code -types}. They cannot be added, and of what was received they are left out.
 *
 * <p>
 * Thread-safe.
 */
public final class CallMetadata {

	static final int MAX_KEY_BYTES = 255;

	private static final String BINARY_SUFFIX = "-bin";

	/** What is read in place of bytes that are not UTF-8. */
	private static final char REPLACEMENT = '\uFFFD';

	/** That of a request that carries none. */
	static final CallMetadata NONE = new CallMetadata(0);

	private final int maxBytes;

	/** Mutable once there is an entry. */
	private Map<String, String> entries = Map.of();

	private int encodedBytes;

	/** Creates metadata of at most the default size. */
	public CallMetadata() {
		this(ChannelOptions.DEFAULTS.maxMetadataBytes());
	}

	CallMetadata(int maxBytes) {
		this.maxBytes = maxBytes;
	}

	/**
	 * Reads a peer's metadata but for names that are reserved; entries from the first
	 * malformed one on are ignored.
	 */
	static CallMetadata decode(ByteBuffer encoded) {
		CallMetadata metadata = new CallMetadata(0);
		metadata.fill(encoded);
		return metadata;
	}

	/** Reads them also with names that are reserved, which are not for users. */
	static CallMetadata decodeAll(ByteBuffer encoded) {
		CallMetadata metadata = new CallMetadata(0);
		metadata.fill(encoded, true);
		return metadata;
	}

	/** Whether it came with a request, so that there is no room to add anything. */
	boolean isReceived() {
		return this.maxBytes == 0;
	}

	/**
	 * Replaces all entries with those of a peer's metadata whose name is not reserved.
	 */
	void fill(ByteBuffer encoded) {
		fill(encoded, false);
	}

	/**
	 * They need more bytes than the peer's metadata has if some are not UTF-8, and fewer
	 * if a name is there twice.
	 */
	private synchronized void fill(ByteBuffer encoded, boolean reserved) {
		this.entries = new LinkedHashMap<>();
		this.encodedBytes = 0;
		while (encoded.remaining() >= 3) {
			int keyBytes = encoded.get() & 0xFF;
			if (encoded.remaining() < keyBytes + 2) {
				break;
			}
			String key = text(encoded, keyBytes);
			int valueBytes = encoded.getShort() & 0xFFFF;
			if (encoded.remaining() < valueBytes) {
				break;
			}
			String value = text(encoded, valueBytes);
			if (!reserved && ReservedNames.include(key)) {
				continue;
			}
			String before = this.entries.put(key, value);
			this.encodedBytes += 3 + encodedBytes(key, keyBytes) + encodedBytes(value, valueBytes)
					- ((before != null) ? encodedBytes(key, before) : 0);
		}
	}

	/** Replaces all entries with those of another, which nobody changes. */
	void fill(CallMetadata other) {
		fill(other.asMap(), other.encodedBytes());
	}

	private synchronized void fill(Map<String, String> all, int bytes) {
		this.entries = new LinkedHashMap<>(all);
		this.encodedBytes = bytes;
	}

	private synchronized int encodedBytes() {
		return this.encodedBytes;
	}

	/** What a text takes that was read from so many bytes. */
	private static int encodedBytes(String text, int readBytes) {
		return (text.indexOf(REPLACEMENT) < 0) ? readBytes : text.getBytes(StandardCharsets.UTF_8).length;
	}

	private static String text(ByteBuffer encoded, int bytes) {
		byte[] utf8 = new byte[bytes];
		encoded.get(utf8);
		return new String(utf8, StandardCharsets.UTF_8);
	}

	/**
	 * Adds an entry, unless there is one of that name.
	 * @return whether there was room for it
	 * @throws IllegalArgumentException if the name is reserved, or ends in {@code -bin}
	 * and the value is not Base64
	 */
	public synchronized boolean put(String key, String value) {
		check(key, value);
		return putReserved(key, value);
	}

	/**
	 * Adds an entry whose value is bytes, unless there is one of that name.
	 * @param key a name that ends in {@code -bin}
	 * @return whether there was room for it
	 * @throws IllegalArgumentException if the name does not, or is reserved
	 */
	public boolean put(String key, byte[] value) {
		return put(key, text(key, value));
	}

	/** Adds an entry likewise, of any name. */
	synchronized boolean putReserved(String key, String value) {
		return !this.entries.containsKey(key) && add(key, value, 0);
	}

	/**
	 * Sets an entry, in place of one of that name if there is one.
	 * @throws RpcException with {@link RpcStatus#RESOURCE_EXHAUSTED} if there is no room
	 * @throws IllegalArgumentException if the name is reserved, or ends in {@code -bin}
	 * and the value is not Base64
	 */
	public synchronized void set(String key, String value) {
		check(key, value);
		String before = this.entries.get(key);
		if (!add(key, value, (before != null) ? encodedBytes(key, before) : 0)) {
			throw new RpcException(RpcStatus.RESOURCE_EXHAUSTED, noRoom(key, this.maxBytes));
		}
	}

	/**
	 * Sets an entry whose value is bytes.
	 * @param key a name that ends in {@code -bin}
	 */
	public void set(String key, byte[] value) {
		set(key, text(key, value));
	}

	private boolean add(String key, String value, int replacedBytes) {
		int bytes = encodedBytes(key, value);
		if (key.getBytes(StandardCharsets.UTF_8).length > MAX_KEY_BYTES
				|| this.encodedBytes - replacedBytes + bytes > this.maxBytes) {
			return false;
		}
		if (this.entries.isEmpty()) {
			this.entries = new LinkedHashMap<>();
		}
		this.entries.put(key, value);
		this.encodedBytes += bytes - replacedBytes;
		return true;
	}

	private static int encodedBytes(String key, String value) {
		return 3 + key.getBytes(StandardCharsets.UTF_8).length + value.getBytes(StandardCharsets.UTF_8).length;
	}

	/** What is wrong when there is no room for an entry. */
	static String noRoom(String key, int maxBytes) {
		return "no room for metadata '" + key + "' (expected: at most " + maxBytes
				+ " bytes in all, which max-metadata-size sets, and names of at most " + MAX_KEY_BYTES + ")";
	}

	/** The text of bytes. */
	static String text(String key, byte[] value) {
		if (!key.endsWith(BINARY_SUFFIX)) {
			throw new IllegalArgumentException(
					"bytes as metadata '" + key + "' (expected: a name that ends in " + BINARY_SUFFIX + ")");
		}
		return Base64.getEncoder().withoutPadding().encodeToString(value);
	}

	/** Checks that a name is not reserved, and that the text of bytes is one. */
	static void check(String key, String value) {
		if (ReservedNames.include(key)) {
			throw new IllegalArgumentException(
					"metadata '" + key + "' (expected: a name that rdma-rpc does not use itself)");
		}
		if (key.endsWith(BINARY_SUFFIX) && bytes(value) == null) {
			throw new IllegalArgumentException("metadata '" + key + "' (expected: bytes, or their text in Base64)");
		}
	}

	private static byte @Nullable [] bytes(String text) {
		try {
			return Base64.getDecoder().decode(text);
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** The value of a name, or {@code null}. */
	public synchronized @Nullable String get(String key) {
		return this.entries.get(key);
	}

	/**
	 * The bytes that are the value of a name, or {@code null} if there is none, or if the
	 * peer has sent something else.
	 * @param key a name that ends in {@code -bin}
	 */
	public byte @Nullable [] getBytes(String key) {
		String text = get(key);
		return (text != null) ? bytes(text) : null;
	}

	/** All entries, in their order. */
	public synchronized Map<String, String> asMap() {
		return Collections.unmodifiableMap(new LinkedHashMap<>(this.entries));
	}

	synchronized byte[] encode() {
		if (this.entries.isEmpty()) {
			return RequestTemplate.NO_METADATA;
		}
		ByteBuffer encoded = ByteBuffer.allocate(this.encodedBytes).order(ByteOrder.LITTLE_ENDIAN);
		this.entries.forEach((key, value) -> {
			byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
			byte[] valueBytes = value.getBytes(StandardCharsets.UTF_8);
			encoded.put((byte) keyBytes.length).put(keyBytes).putShort((short) valueBytes.length).put(valueBytes);
		});
		return encoded.array();
	}

}
