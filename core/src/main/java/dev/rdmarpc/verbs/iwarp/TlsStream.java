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

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.verbs.TlsOptions;

/**
 * TLS 1.3 on another stream. The handshake belongs to the connection thread, where reads
 * and writes move nothing until it is over; what it has to compute runs elsewhere.
 *
 * <p>
 * Implementation notes. Writes are counted when their records have left altogether, not
 * when they are encrypted: whoever writes begins the next write with the same bytes, of
 * which the first {@code owed} are skipped then. So a full socket shows above as a short
 * write, as it does without TLS, and nobody else has to see to records that wait. What
 * TLS itself has to say, such as new keys, leaves with the next read or write. A peer
 * that ends the stream without saying so in TLS was cut off. Once TLS has failed, what is
 * written goes nowhere and what is read means nothing, until the peer has seen why.
 */
final class TlsStream implements ByteStream {

	/** Records that one read looks at, most of which may be empty. */
	private static final int MOST_RECORDS = 64;

	/** What a peer may say before the handshake is over. */
	private static final int MOST_HANDSHAKE_BYTES = 256 * 1024;

	/**
	 * The longest record of a client that has said nothing yet; its request for MPA is
	 * first.
	 */
	private static final int MOST_FIRST_BYTES = 2048;

	private static final byte[] PLAIN_MPA = "MPA".getBytes(StandardCharsets.US_ASCII);

	private final ByteStream below;

	private final SSLEngine engine;

	private final ConnectionThread thread;

	private final TlsRecords records;

	private final TlsAllowance allowance;

	private final ByteBuffer[] single = new ByteBuffer[1];

	/** Where sources of a write began. */
	private int[] starts = new int[8];

	private int owed;

	private State state = State.HANDSHAKE;

	private long handshakeBytes;

	private boolean begun;

	/** Whether the peer has sent any data. */
	private boolean heard;

	private boolean computing;

	/** Why what was to be computed was not. */
	private @Nullable Throwable uncomputed;

	private boolean ended;

	private boolean closing;

	private boolean outputShut;

	private boolean closed;

	private @Nullable SocketHandler handler;

	private boolean watched;

	private int wanted;

	private int needed;

	private int applied;

	TlsStream(ByteStream below, SSLEngine engine, ConnectionThread thread) {
		this.below = below;
		this.engine = engine;
		this.thread = thread;
		this.records = new TlsRecords(below, engine, thread.tlsBuffers());
		this.allowance = new TlsAllowance(engine.getUseClientMode() ? TlsAllowance.OF_SERVERS : TlsAllowance.OF_CLIENTS,
				System.nanoTime());
		this.needed = engine.getUseClientMode() ? SelectionKey.OP_CONNECT : SelectionKey.OP_READ;
	}

	@Override
	public boolean finishConnect() throws IOException {
		return this.below.finishConnect() && handshake();
	}

	/** Goes on with the handshake as far as possible; returns whether it is over. */
	private boolean handshake() throws IOException {
		try {
			if (!this.begun) {
				this.begun = true;
				this.engine.beginHandshake();
			}
			boolean possible = true;
			while (possible && this.state == State.HANDSHAKE) {
				if (this.computing) {
					possible = need(0);
				}
				else {
					possible = flush() ? step() : need(SelectionKey.OP_WRITE);
				}
			}
			return possible;
		}
		catch (SSLException ex) {
			throw failed(ex);
		}
	}

	/** Makes a step of the handshake; returns whether the next one is possible. */
	private boolean step() throws IOException {
		Throwable cause = this.uncomputed;
		if (cause != null) {
			throw new SSLException("handshake cannot be computed: " + FailureText.of(cause), cause);
		}
		HandshakeStatus status = this.engine.getHandshakeStatus();
		if (status == HandshakeStatus.NEED_TASK) {
			return compute();
		}
		if (status == HandshakeStatus.NEED_WRAP) {
			return this.records.encryptControl();
		}
		if (status == HandshakeStatus.NEED_UNWRAP || status == HandshakeStatus.NEED_UNWRAP_AGAIN) {
			return hear() || need(SelectionKey.OP_READ);
		}
		if (!TlsOptions.APPLICATION_PROTOCOL.equals(this.engine.getApplicationProtocol())) {
			throw new SSLException("peer speaks '" + this.engine.getApplicationProtocol() + "' in TLS (expected: '"
					+ TlsOptions.APPLICATION_PROTOCOL + "')");
		}
		this.state = State.OPEN;
		apply();
		return true;
	}

	private boolean need(int operations) {
		this.needed = operations;
		apply();
		return false;
	}

	private boolean compute() throws SSLException {
		Runnable task = this.engine.getDelegatedTask();
		if (task == null) {
			// it would need one for ever
			throw new SSLException("handshake needs a task that has ended without a result");
		}
		this.computing = true;
		this.thread.compute(task, this::computed);
		return need(0);
	}

	/**
	 * What the handshake needs is there, or has failed; on the connection thread.
	 */
	private void computed(@Nullable Throwable failure) {
		this.computing = false;
		this.uncomputed = failure;
		SocketHandler waiting = this.handler;
		if (!this.closed && waiting != null) {
			waiting.progressed();
			this.thread.resume(waiting);
		}
	}

	/** Hears the peer in the handshake; returns false if it has to say more. */
	private boolean hear() throws IOException {
		while (!this.records.hasRecord()) {
			int read = this.records.receive();
			if (read < 0) {
				throw new EOFException("peer closed the connection " + ((this.handshakeBytes == 0)
						? "without a word in TLS, for which it may not be configured" : "during the TLS handshake"));
			}
			if (read == 0) {
				return false;
			}
			if (this.handshakeBytes + read > MOST_HANDSHAKE_BYTES) {
				throw new SSLException("TLS handshake of more than " + MOST_HANDSHAKE_BYTES + " bytes");
			}
			this.handshakeBytes += read;
			if (!this.engine.getUseClientMode() && this.records.beginsWith(PLAIN_MPA)) {
				this.state = State.REFUSED;
				this.records.giveUndecrypted();
				apply();
				return true;
			}
		}
		if (this.records.decrypt().getStatus() == Status.CLOSED) {
			throw new EOFException("peer ended TLS during the handshake");
		}
		return true;
	}

	@Override
	public @Nullable String objection() {
		return (this.state == State.REFUSED) ? "TLS is required here" : null;
	}

	@Override
	public int read(ByteBuffer target) throws IOException {
		this.single[0] = target;
		return (int) read(this.single, 0, 1);
	}

	@Override
	public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
		flush();
		if (this.state == State.HANDSHAKE && !handshake()) {
			return 0;
		}
		try {
			return (this.state == State.OPEN) ? readRecords(targets, offset, length)
					: readBelow(targets, offset, length);
		}
		catch (SSLException ex) {
			throw failed(ex);
		}
		finally {
			apply();
		}
	}

	private long readBelow(ByteBuffer[] targets, int offset, int length) throws IOException {
		long copied = this.records.readDecrypted(targets, offset, length);
		return (copied > 0) ? copied : this.below.read(targets, offset, length);
	}

	private long readRecords(ByteBuffer[] targets, int offset, int length) throws IOException {
		long asked = remaining(targets, offset, length);
		long left = asked - this.records.readDecrypted(targets, offset, length);
		boolean drained = false;
		int count = 0;
		while (left > 0 && !this.ended && !this.closed && count < MOST_RECORDS) {
			if (this.records.hasRecord()) {
				SSLEngineResult result = decrypt(targets, offset, length, left);
				boolean aside = this.records.hasDecrypted();
				left -= aside ? this.records.readDecrypted(targets, offset, length) : result.bytesProduced();
				this.ended = result.getStatus() == Status.CLOSED;
				this.records.serve(result);
				count++;
				continue;
			}
			int read = drained ? 0 : this.records.receive();
			if (read < 0 && left == asked) {
				throw new IOException("peer closed the connection without ending TLS");
			}
			if (read <= 0) {
				break;
			}
			drained = this.records.hasDrained();
		}
		return (this.ended && left == asked && left > 0) ? -1 : asked - left;
	}

	/** Decrypts a record, which may say only so much for the sake of TLS. */
	private SSLEngineResult decrypt(ByteBuffer[] targets, int offset, int length, long left) throws SSLException {
		if (!this.heard && !this.engine.getUseClientMode() && this.records.recordBytes() > MOST_FIRST_BYTES) {
			throw new SSLException("first TLS record of " + this.records.recordBytes() + " bytes (expected: at most "
					+ MOST_FIRST_BYTES + ")");
		}
		SSLEngineResult result = this.records.decrypt(targets, offset, length, left);
		if (result.bytesProduced() > 0) {
			this.heard = true;
		}
		else if (result.getStatus() != Status.CLOSED
				&& !this.allowance.take(result.bytesConsumed(), System.nanoTime())) {
			throw new SSLException(
					"too many TLS records without data, the last one of " + result.bytesConsumed() + " bytes");
		}
		return result;
	}

	@Override
	public int write(ByteBuffer source) throws IOException {
		this.single[0] = source;
		return (int) write(this.single, 0, 1);
	}

	@Override
	public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
		if (this.state == State.HANDSHAKE && !handshake()) {
			return 0;
		}
		try {
			return switch (this.state) {
				case OPEN -> writeRecords(sources, offset, length);
				case FAILED -> skip(sources, offset, length, Long.MAX_VALUE);
				default -> this.below.write(sources, offset, length);
			};
		}
		catch (SSLException ex) {
			throw failed(ex);
		}
		finally {
			apply();
		}
	}

	private long writeRecords(ByteBuffer[] sources, int offset, int length) throws IOException {
		if (!flush()) {
			return 0;
		}
		long total = skip(sources, offset, length, this.owed);
		this.owed = 0;
		long left = remaining(sources, offset, length);
		while (left > 0) {
			remember(sources, offset, length);
			int encrypted = this.records.encrypt(sources, offset, length);
			if (!flush()) {
				this.owed = encrypted;
				rewind(sources, offset, length);
				break;
			}
			total += encrypted;
			left -= encrypted;
		}
		return total;
	}

	private void remember(ByteBuffer[] sources, int offset, int length) {
		if (this.starts.length < length) {
			this.starts = new int[length];
		}
		for (int i = 0; i < length; i++) {
			this.starts[i] = sources[offset + i].position();
		}
	}

	private void rewind(ByteBuffer[] sources, int offset, int length) {
		for (int i = 0; i < length; i++) {
			sources[offset + i].position(this.starts[i]);
		}
	}

	private static long skip(ByteBuffer[] sources, int offset, int length, long bytes) {
		long left = bytes;
		for (int i = offset; i < offset + length && left > 0; i++) {
			int piece = (int) Math.min(left, sources[i].remaining());
			sources[i].position(sources[i].position() + piece);
			left -= piece;
		}
		return bytes - left;
	}

	private static long remaining(ByteBuffer[] buffers, int offset, int length) {
		long bytes = 0;
		for (int i = offset; i < offset + length; i++) {
			bytes += buffers[i].remaining();
		}
		return bytes;
	}

	/** Writes records that wait; returns whether there are none any more. */
	private boolean flush() throws IOException {
		boolean more = true;
		while (more) {
			if (!this.records.flush()) {
				return false;
			}
			more = this.closing && !this.engine.isOutboundDone() && this.records.encryptControl();
		}
		if (this.closing && !this.outputShut) {
			this.outputShut = true;
			this.below.shutdownOutput();
		}
		return true;
	}

	/** Tells the peer why there will be no TLS any more, if it listens. */
	private SSLException failed(SSLException cause) {
		if (this.state == State.FAILED) {
			return cause;
		}
		this.state = State.FAILED;
		try {
			if (flush() && this.engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP
					&& this.records.encryptControl()) {
				flush();
			}
		}
		catch (IOException ex) {
			cause.addSuppressed(ex);
		}
		apply();
		return cause;
	}

	@Override
	public boolean holdsBytes() {
		return this.records.hasDecrypted() || (this.state == State.OPEN && !this.ended && this.records.hasRecord());
	}

	@Override
	public boolean awaitsRest() {
		return this.state == State.OPEN && !this.records.hasDecrypted() && this.records.hasPart();
	}

	@Override
	public List<X509Certificate> peerCertificates() {
		try {
			return Arrays.stream(this.engine.getSession().getPeerCertificates())
				.map(X509Certificate.class::cast)
				.toList();
		}
		catch (SSLPeerUnverifiedException ex) {
			return List.of();
		}
	}

	@Override
	public void watch(Selector selector, int interest, Object attachment) throws IOException {
		this.wanted = interest;
		this.handler = (attachment instanceof SocketHandler waiting) ? waiting : null;
		this.applied = effective();
		this.below.watch(selector, this.applied, attachment);
		this.watched = true;
	}

	@Override
	public void interest(int interest) {
		this.wanted = interest;
		apply();
	}

	private int effective() {
		if (this.state == State.HANDSHAKE) {
			return this.needed;
		}
		boolean writes = this.records.areLeaving() && (this.wanted & SelectionKey.OP_READ) != 0;
		return this.wanted | (writes ? SelectionKey.OP_WRITE : 0);
	}

	private void apply() {
		int now = effective();
		if (this.watched && now != this.applied) {
			this.applied = now;
			this.below.interest(now);
		}
	}

	@Override
	public void unwatch() {
		this.watched = false;
		this.below.unwatch();
	}

	/** Ends TLS, and the stream below once that is said. */
	@Override
	public void shutdownOutput() throws IOException {
		if (this.state == State.OPEN || this.state == State.FAILED) {
			this.closing = true;
			this.engine.closeOutbound();
			flush();
			apply();
		}
		else {
			this.below.shutdownOutput();
		}
	}

	@Override
	public InetSocketAddress localAddress() throws IOException {
		return this.below.localAddress();
	}

	@Override
	public InetSocketAddress remoteAddress() throws IOException {
		return this.below.remoteAddress();
	}

	@Override
	public boolean isOpen() {
		return this.below.isOpen();
	}

	@Override
	public void close() throws IOException {
		this.closed = true;
		this.records.close();
		this.below.close();
	}

	private enum State {

		/** The handshake is under way. */
		HANDSHAKE,

		/** Bytes can be read and written. */
		OPEN,

		/** The peer does not speak TLS, and is told so without. */
		REFUSED,

		/** There is no TLS any more. */
		FAILED

	}

}
