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

/**
 * The handshake of a channel: the side that connected says what it accepts, the other
 * side answers. Until then nothing else may be sent.
 *
 * <p>
 * Confined to the loop's driver; what the peer accepts may be read by any thread that has
 * seen the channel open.
 */
final class Handshake {

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

	private boolean peerReads;

	private boolean peerTakesProgress;

	private boolean peerTellsSchemas;

	Handshake(RpcChannel channel, ChannelOptions options, boolean initiator) {
		this.channel = channel;
		this.options = options;
		this.initiator = initiator;
	}

	/** Speaks first. */
	void begin() {
		send(FrameType.HELLO, 0, this.channel.handler().codec());
	}

	private void send(int type, int refusal, String text) {
		OutgoingMessage hello = this.channel.loop().outgoingMessages().hello(type, (frame) -> {
			int length = HelloFlyweight.put(frame, HelloFlyweight.VERSION, HelloFlyweight.VERSION, this.options,
					refusal, text);
			HelloFlyweight.putFeatures(frame, features());
			length = HelloFlyweight.putMetadataBytes(frame, length, this.options.maxMetadataBytes());
			return HelloFlyweight.putStreamWindowBytes(frame, length, this.options.streamWindowBytes());
		});
		if (!this.channel.sender().send(hello)) {
			this.channel.shut("no registered memory for the handshake");
		}
	}

	private int features() {
		int reads = this.channel.loop().resources().canRead() ? HelloFlyweight.FEATURE_READS : 0;
		int schemas = this.channel.handler().tellsSchemas() ? HelloFlyweight.FEATURE_SCHEMAS : 0;
		return reads | schemas | HelloFlyweight.FEATURE_READ_PROGRESS;
	}

	/** The first frame of the peer has arrived. */
	void onFrame(ByteBuffer frame, int length, int type) {
		if (type == FrameType.HELLO && !this.initiator) {
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
			this.channel.shut(problem);
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
		else if (!this.channel.lendReceives()) {
			refuse(HelloFlyweight.REFUSED_BUSY, "no receive buffers for another connection");
		}
		else {
			agree(frame, length);
			send(FrameType.HELLO_REPLY, 0, this.channel.handler().codec());
			this.channel.opened();
		}
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
