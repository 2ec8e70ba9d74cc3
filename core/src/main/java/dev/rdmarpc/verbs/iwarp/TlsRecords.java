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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

import org.jspecify.annotations.Nullable;

/**
 * The records of a TLS stream that are on their way, in memory that is borrowed only
 * while there are some: those that came, what was decrypted of them and not read, and
 * those that leave. Guarded as its stream is.
 */
final class TlsRecords {

	private static final ByteBuffer[] NOTHING = { ByteBuffer.allocate(0) };

	private static final int HEADER_BYTES = 5;

	private static final int FIRST_TYPE = 20;

	private static final int LAST_TYPE = 24;

	private static final int APPLICATION_DATA = 23;

	/** The longest record, with what older versions of TLS add to it. */
	private static final int MOST_RECORD_BYTES = HEADER_BYTES + 16 * 1024 + 2048;

	private final ByteStream below;

	private final SSLEngine engine;

	private final TlsBuffers buffers;

	private @Nullable ByteBuffer received;

	private @Nullable ByteBuffer decrypted;

	private @Nullable ByteBuffer leaving;

	TlsRecords(ByteStream below, SSLEngine engine, TlsBuffers buffers) {
		this.below = below;
		this.engine = engine;
		this.buffers = buffers;
	}

	/** Whether a record is there as a whole, or something that is none. */
	boolean hasRecord() {
		ByteBuffer records = this.received;
		return records != null && records.remaining() >= HEADER_BYTES
				&& (!isSound(records) || records.remaining() >= recordBytes(records));
	}

	/** Whether only a part of a record is there. */
	boolean hasPart() {
		return this.received != null && !hasRecord();
	}

	boolean hasDecrypted() {
		return this.decrypted != null;
	}

	/** Whether records wait for the stream below to take them. */
	boolean areLeaving() {
		return this.leaving != null;
	}

	private static boolean isSound(ByteBuffer records) {
		int type = records.get(records.position());
		return type >= FIRST_TYPE && type <= LAST_TYPE && recordBytes(records) <= MOST_RECORD_BYTES;
	}

	/** The length of the record that is there. */
	int recordBytes() {
		return recordBytes(Objects.requireNonNull(this.received));
	}

	private static int recordBytes(ByteBuffer records) {
		return HEADER_BYTES + (records.getShort(records.position() + 3) & 0xFFFF);
	}

	/** Whether what came, all of it being here, begins with these bytes. */
	boolean beginsWith(byte[] bytes) {
		ByteBuffer records = this.received;
		return records != null && records.remaining() >= bytes.length
				&& ByteBuffer.wrap(bytes).equals(records.slice(records.position(), bytes.length));
	}

	/** Has what came be read as it is. */
	void giveUndecrypted() {
		releaseDecrypted();
		this.decrypted = this.received;
		this.received = null;
	}

	/**
	 * Takes what the stream below has.
	 * @return how much, or less than 0 at its end
	 */
	int receive() throws IOException {
		ByteBuffer records = this.received;
		if (records == null) {
			records = this.buffers.acquire();
			this.received = records;
		}
		else {
			records.compact();
		}
		try {
			return this.below.read(records);
		}
		finally {
			records.flip();
			releaseEmpty();
		}
	}

	/** Whether the last {@link #receive} has left nothing, as far as one can know. */
	boolean hasDrained() {
		ByteBuffer records = this.received;
		return records == null || records.limit() < records.capacity();
	}

	private void releaseEmpty() {
		ByteBuffer records = this.received;
		if (records != null && !records.hasRemaining()) {
			this.received = null;
			this.buffers.release(records);
		}
		ByteBuffer bytes = this.decrypted;
		if (bytes != null && !bytes.hasRemaining()) {
			releaseDecrypted();
		}
	}

	/**
	 * Decrypts a record, straight to its place if it is sure to fit; otherwise it is to
	 * be read with {@link #readDecrypted}.
	 * @param left how much fits
	 * @return what TLS says, with the bytes produced at their place
	 */
	SSLEngineResult decrypt(ByteBuffer[] targets, int offset, int length, long left) throws SSLException {
		ByteBuffer records = this.received;
		if (records == null || !isSound(records)) {
			throw new SSLException("peer does not speak TLS: no record");
		}
		boolean fits = records.get(records.position()) == APPLICATION_DATA && left >= recordBytes(records);
		try {
			SSLEngineResult result = fits ? this.engine.unwrap(records, targets, offset, length)
					: decryptAside(records);
			if (result.getStatus() != Status.OK && result.getStatus() != Status.CLOSED) {
				throw new SSLException("TLS record cannot be read: " + result.getStatus());
			}
			return result;
		}
		finally {
			releaseEmpty();
		}
	}

	/** Decrypts a record of the handshake. */
	SSLEngineResult decrypt() throws SSLException {
		return decrypt(NOTHING, 0, 0, 0);
	}

	private SSLEngineResult decryptAside(ByteBuffer records) throws SSLException {
		ByteBuffer aside = this.buffers.acquire();
		this.decrypted = aside;
		try {
			return this.engine.unwrap(records, aside);
		}
		finally {
			aside.flip();
		}
	}

	/** Reads what was decrypted aside; returns how much that was. */
	long readDecrypted(ByteBuffer[] targets, int offset, int length) {
		ByteBuffer source = this.decrypted;
		long copied = 0;
		for (int i = offset; source != null && i < offset + length && source.hasRemaining(); i++) {
			ByteBuffer target = targets[i];
			int piece = Math.min(source.remaining(), target.remaining());
			if (piece > 0) {
				target.put(target.position(), source, source.position(), piece);
				target.position(target.position() + piece);
				source.position(source.position() + piece);
				copied += piece;
			}
		}
		releaseEmpty();
		return copied;
	}

	/** Encrypts what TLS itself has to say; returns whether that was anything. */
	boolean encryptControl() throws SSLException {
		ByteBuffer records = this.leaving;
		if (records == null) {
			records = this.buffers.acquire();
			this.leaving = records;
		}
		else {
			records.compact();
		}
		try {
			return this.engine.wrap(NOTHING, records).bytesProduced() > 0;
		}
		finally {
			records.flip();
			if (!records.hasRemaining()) {
				releaseLeaving();
			}
		}
	}

	/**
	 * Encrypts as much as a buffer takes, while nothing else is leaving; returns how much
	 * that was.
	 */
	int encrypt(ByteBuffer[] sources, int offset, int length) throws SSLException {
		ByteBuffer records = this.buffers.acquire();
		this.leaving = records;
		int most = this.engine.getSession().getPacketBufferSize();
		int end = offset + length;
		int first = offset;
		int total = 0;
		try {
			while (records.remaining() >= most) {
				while (first < end && !sources[first].hasRemaining()) {
					first++;
				}
				if (first == end) {
					break;
				}
				SSLEngineResult result = this.engine.wrap(sources, first, end - first, records);
				if (result.getStatus() != Status.OK) {
					throw new SSLException("TLS record cannot be written: " + result.getStatus());
				}
				total += result.bytesConsumed();
			}
			return total;
		}
		finally {
			records.flip();
		}
	}

	/** Writes records that are leaving; returns whether there are none any more. */
	boolean flush() throws IOException {
		ByteBuffer records = this.leaving;
		while (records != null && records.hasRemaining()) {
			if (this.below.write(records) == 0) {
				return false;
			}
		}
		releaseLeaving();
		return true;
	}

	/** Does what TLS wants for its own sake, once it is open. */
	void serve(SSLEngineResult result) throws IOException {
		HandshakeStatus status = result.getHandshakeStatus();
		if (status == HandshakeStatus.NEED_TASK) {
			Runnable task = this.engine.getDelegatedTask();
			if (task != null) {
				task.run();
			}
			status = this.engine.getHandshakeStatus();
		}
		if (status == HandshakeStatus.NEED_WRAP && flush()) {
			encryptControl();
			flush();
		}
	}

	private void releaseDecrypted() {
		ByteBuffer bytes = this.decrypted;
		if (bytes != null) {
			this.decrypted = null;
			this.buffers.release(bytes);
		}
	}

	private void releaseLeaving() {
		ByteBuffer records = this.leaving;
		if (records != null) {
			this.leaving = null;
			this.buffers.release(records);
		}
	}

	/** Gives all memory back. */
	void close() {
		ByteBuffer records = this.received;
		if (records != null) {
			this.received = null;
			this.buffers.release(records);
		}
		releaseDecrypted();
		releaseLeaving();
	}

}
