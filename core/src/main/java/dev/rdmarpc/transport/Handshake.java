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

import java.nio.ByteBuffer;
import java.security.Principal;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;

/**
 * The handshake of a channel: the side that connected says what it accepts and shows who
 * it is, the other side answers. Until then nothing else may be sent.
 *
 * <p>
 * Confined to the loop's driver; what the peer accepts may be read by any thread that has
 * seen the channel open.
 */
final class Handshake {

	private static final RateLimitedLogger refusals = new RateLimitedLogger(LoggerFactory.getLogger(Handshake.class));

	private static final byte[] NO_TOKEN = new byte[0];

	private final RpcChannel channel;

	private final ChannelOptions options;

	private final boolean initiator;

	private int peerFrameBytes;

	private int peerMaxMessageBytes;

	private int peerMaxCalls;

	private int peerCredits;

	private int peerMostCredits;

	private int peerMetadataBytes;

	private int peerStreamWindowBytes;

	private List<X509Certificate> peerCertificates = List.of();

	private @Nullable AcceptedChannels accepted;

	private boolean authenticating;

	private boolean peerReads;

	private boolean peerTakesProgress;

	private boolean peerTellsSchemas;

	private boolean peerKnowsOneWay;

	Handshake(RpcChannel channel, ChannelOptions options, boolean initiator) {
		this.channel = channel;
		this.options = options;
		this.initiator = initiator;
	}

	/** What the peer has proved before the handshake. */
	void peerCertificates(List<X509Certificate> certificates) {
		this.peerCertificates = certificates;
	}

	/** Says who has accepted the connection. */
	void acceptedAmong(AcceptedChannels channels) {
		this.accepted = channels;
	}

	/** Speaks first. */
	void begin() {
		byte[] token;
		try {
			token = ownToken();
		}
		catch (RuntimeException ex) {
			this.channel.shut("no token for the handshake: " + ex.getClass().getName());
			return;
		}
		send(FrameType.HELLO, 0, this.channel.handler().codec(), token);
	}

	private byte[] ownToken() {
		Supplier<byte[]> source = this.options.security().token();
		byte[] token = (source != null) ? source.get() : NO_TOKEN;
		if (token.length > ChannelSecurity.MAX_TOKEN_BYTES) {
			throw new IllegalArgumentException(
					"token of " + token.length + " bytes (expected: at most " + ChannelSecurity.MAX_TOKEN_BYTES + ")");
		}
		return token;
	}

	private void send(int type, int refusal, String text) {
		send(type, refusal, text, NO_TOKEN);
	}

	private void send(int type, int refusal, String text, byte[] token) {
		OutgoingMessage hello = this.channel.loop().outgoingMessages().hello(type, (frame) -> {
			int length = HelloFlyweight.put(frame, HelloFlyweight.VERSION, HelloFlyweight.VERSION, this.options,
					refusal, text);
			HelloFlyweight.putFeatures(frame, features());
			length = HelloFlyweight.putMetadataBytes(frame, length, this.options.maxMetadataBytes());
			length = HelloFlyweight.putStreamWindowBytes(frame, length, this.options.streamWindowBytes());
			return (token.length > 0) ? HelloFlyweight.putToken(frame, length, token) : length;
		});
		if (!this.channel.sender().send(hello)) {
			this.channel.shut("no registered memory for the handshake");
		}
	}

	private int features() {
		int reads = this.channel.loop().resources().canRead() ? HelloFlyweight.FEATURE_READS : 0;
		int schemas = this.channel.handler().tellsSchemas() ? HelloFlyweight.FEATURE_SCHEMAS : 0;
		return reads | schemas | HelloFlyweight.FEATURE_READ_PROGRESS | HelloFlyweight.FEATURE_ONE_WAY
				| HelloFlyweight.FEATURE_BUNDLES;
	}

	/** The first frame of the peer has arrived. */
	void onFrame(ByteBuffer frame, int length, int type) {
		if (type == FrameType.HELLO && !this.initiator && !this.authenticating) {
			onHello(frame, length);
		}
		else if (type == FrameType.HELLO_REPLY && this.initiator) {
			onReply(frame, length);
		}
		else {
			this.channel.violation(FrameType.name(type) + " instead of a handshake");
		}
	}

	private void onHello(ByteBuffer frame, int length) {
		String problem = HelloFlyweight.problem(frame, length);
		if (problem == null && HelloFlyweight.refusal(frame) != 0) {
			problem = "a refusal from the side that connected";
		}
		if (problem != null) {
			this.channel.giveUp(problem);
			return;
		}
		int low = HelloFlyweight.lowVersion(frame);
		int high = HelloFlyweight.highVersion(frame);
		if (low > HelloFlyweight.VERSION || high < HelloFlyweight.VERSION) {
			refuse(HelloFlyweight.REFUSED_VERSION, "protocol versions " + low + " to " + high + " offered, "
					+ HelloFlyweight.VERSION + " spoken here");
		}
		else if (!isOwnCodec(HelloFlyweight.text(frame, length))) {
			refuse(HelloFlyweight.REFUSED_CODEC, "codec '" + HelloFlyweight.text(frame, length) + "' offered, '"
					+ this.channel.handler().codec() + "' spoken here");
		}
		else if (this.channel.loop().isDraining()) {
			refuse(HelloFlyweight.REFUSED_DRAINING, "the server is shutting down");
		}
		else {
			agree(frame, length);
			authenticate(HelloFlyweight.token(frame));
		}
	}

	private void authenticate(byte @Nullable [] token) {
		RdmaAuthenticator authenticator = this.options.security().authenticator();
		if (authenticator == null) {
			welcome();
			return;
		}
		CompletableFuture<? extends Principal> decision;
		try {
			decision = authenticator
				.authenticate(new PeerCredentials(this.channel.remoteAddress(), token, this.peerCertificates))
				.toCompletableFuture();
		}
		catch (RuntimeException ex) {
			decision = CompletableFuture.failedFuture(ex);
		}
		if (decision.isDone()) {
			decision.whenComplete(this::authenticated);
			return;
		}
		this.authenticating = true;
		decision.whenComplete(
				(principal, failure) -> this.channel.loop().executeLater(() -> authenticated(principal, failure)));
	}

	/** It is decided who the peer is; driver. */
	private void authenticated(@Nullable Principal principal, @Nullable Throwable failure) {
		if (this.channel.state() != ChannelState.HANDSHAKING) {
			return;
		}
		this.authenticating = false;
		if (principal != null && failure == null) {
			identified(principal);
			return;
		}
		refused(failure);
	}

	private void refused(@Nullable Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		if (cause instanceof PeerRejectedException) {
			String reason = String.valueOf(cause.getMessage());
			refusals.log(Level.WARN, "Refused a connection from {}: {}", this.channel.remoteAddress(), reason);
			refuse(HelloFlyweight.REFUSED_UNAUTHENTICATED, "not authenticated: " + reason);
			return;
		}
		refusals.log(Level.WARN, "Refused a connection from {}: it could not be authenticated",
				this.channel.remoteAddress(), cause);
		refuse(HelloFlyweight.REFUSED_UNAUTHENTICATED, "not authenticated");
	}

	/** Lets a peer in that is known, unless it has too many connections. */
	private void identified(Principal principal) {
		if (principal instanceof Anonymous) {
			welcome();
			return;
		}
		AcceptedChannels among = Objects.requireNonNull(this.accepted, "accepted");
		String name;
		try {
			name = String.valueOf(principal.getName());
		}
		catch (RuntimeException ex) {
			refused(ex);
			return;
		}
		PeerShare share = among.tryIdentify(this.channel, name);
		if (share != null) {
			this.channel.handler().onAuthenticated(principal, share);
			welcome();
			return;
		}
		String reason = "too many connections of " + PeerShare.shortName(name) + " (limit "
				+ among.principals().limits().maxConnections() + ")";
		refusals.log(Level.WARN, "Refused a connection from {}: {}", this.channel.remoteAddress(), reason);
		refuse(HelloFlyweight.REFUSED_BUSY, reason);
	}

	private void welcome() {
		if (!this.channel.lendReceives()) {
			refuse(HelloFlyweight.REFUSED_BUSY, "no receive buffers for another connection");
			return;
		}
		send(FrameType.HELLO_REPLY, 0, this.channel.handler().codec());
		this.channel.opened();
	}

	private void refuse(int refusal, String text) {
		send(FrameType.HELLO_REPLY, refusal, text);
		this.channel.flush();
		this.channel.shut("refused: " + text);
	}

	private void onReply(ByteBuffer frame, int length) {
		String problem = HelloFlyweight.problem(frame, length);
		if (problem == null && HelloFlyweight.refusal(frame) != 0) {
			problem = "refused by the peer: " + HelloFlyweight.text(frame, length);
			if (HelloFlyweight.refusal(frame) == HelloFlyweight.REFUSED_UNAUTHENTICATED) {
				this.channel.handler().onUnauthenticated(this.channel);
			}
		}
		else if (problem == null && HelloFlyweight.lowVersion(frame) != HelloFlyweight.VERSION) {
			problem = "the peer chose version " + HelloFlyweight.lowVersion(frame) + " (expected: "
					+ HelloFlyweight.VERSION + ")";
		}
		else if (problem == null && !isOwnCodec(HelloFlyweight.text(frame, length))) {
			problem = "the peer speaks codec '" + HelloFlyweight.text(frame, length) + "' (expected: '"
					+ this.channel.handler().codec() + "')";
		}
		if (problem != null) {
			this.channel.shut(problem);
			return;
		}
		agree(frame, length);
		this.channel.opened();
	}

	private boolean isOwnCodec(String name) {
		String own = this.channel.handler().codec();
		return name.isEmpty() || own.isEmpty() || name.equals(own);
	}

	private void agree(ByteBuffer frame, int length) {
		this.peerMetadataBytes = HelloFlyweight.metadataBytes(frame, length);
		this.peerStreamWindowBytes = HelloFlyweight.streamWindowBytes(frame, length);
		this.peerFrameBytes = HelloFlyweight.frameBytes(frame);
		this.peerMaxMessageBytes = HelloFlyweight.maxMessageBytes(frame);
		this.peerMaxCalls = HelloFlyweight.maxCalls(frame);
		this.peerCredits = HelloFlyweight.credits(frame);
		this.peerMostCredits = HelloFlyweight.mostCredits(frame);
		this.peerReads = (HelloFlyweight.features(frame) & HelloFlyweight.FEATURE_READS) != 0;
		this.peerTakesProgress = (HelloFlyweight.features(frame) & HelloFlyweight.FEATURE_READ_PROGRESS) != 0;
		this.peerTellsSchemas = (HelloFlyweight.features(frame) & HelloFlyweight.FEATURE_SCHEMAS) != 0;
		this.peerKnowsOneWay = (HelloFlyweight.features(frame) & HelloFlyweight.FEATURE_ONE_WAY) != 0;
		this.channel.sender().outbound().bundleUpTo(HelloFlyweight.bundleBytes(frame));
	}

	/** What each stream to the peer may have on the way; 0 if it knows no streams. */
	int peerStreamWindowBytes() {
		return this.peerStreamWindowBytes;
	}

	/** Whether the peer wants to hear how much of its messages was read. */
	boolean peerTakesProgress() {
		return this.peerTakesProgress;
	}

	/** Whether the peer answers questions about the schemas of its methods. */
	boolean peerTellsSchemas() {
		return this.peerTellsSchemas;
	}

	/** Whether the peer leaves the reply to a request out where nobody waits for it. */
	boolean peerKnowsOneWay() {
		return this.peerKnowsOneWay;
	}

	boolean peerReads() {
		return this.peerReads;
	}

	int peerFrameBytes() {
		return this.peerFrameBytes;
	}

	int peerMaxMessageBytes() {
		return this.peerMaxMessageBytes;
	}

	int peerMetadataBytes() {
		return this.peerMetadataBytes;
	}

	int peerMaxCalls() {
		return this.peerMaxCalls;
	}

	/** Credits from the peer to begin with. */
	int peerCredits() {
		return this.peerCredits;
	}

	/** The most that they will become. */
	int peerMostCredits() {
		return this.peerMostCredits;
	}

}
