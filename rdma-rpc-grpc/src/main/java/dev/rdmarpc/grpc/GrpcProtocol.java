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

package dev.rdmarpc.grpc;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.grpc.SecurityLevel;
import io.grpc.internal.TransportTracer;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RequestTemplate;

/** What both sides of a connection that carries gRPC calls agree on. */
final class GrpcProtocol {

	/**
	 * The name of the codec: the handshake refuses a peer whose messages are others.
	 */
	static final String CODEC = "grpc";

	/** A call; which method it is for is in its head. */
	static final RequestTemplate CALL = template("call");

	/** A question whether the peer answers. */
	static final RequestTemplate PING = template("ping");

	/** What is sent at the latest, though more of the message follows. */
	static final int MOST_WAITING_BYTES = 4 << 20;

	/** Calls may accept more than their connection does by default. */
	private static final int LEAST_MESSAGE_BYTES = 64 << 20;

	private static final int BESIDE_MESSAGE_BYTES = 256 * 1024;

	private static final ThreadLocal<MessageSegments> SEGMENTS = ThreadLocal.withInitial(MessageSegments::new);

	private static final TransportTracer.Factory TRACERS = new TransportTracer.Factory(
			() -> TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()));

	private GrpcProtocol() {
	}

	private static RequestTemplate template(String name) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256")
				.digest(("dev.rdmarpc.grpc/" + name).getBytes(StandardCharsets.UTF_8));
			return new RequestTemplate(ByteBuffer.wrap(hash).getLong(), RequestTemplate.NORMAL_PRIORITY, 1);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** What a connection has to be set up with for what gRPC's builders were told. */
	static ChannelOptions options(ChannelOptions base, int maxMessageBytes, int maxMetadataBytes, long keepAliveNanos,
			long keepAliveTimeoutNanos) {
		long wanted = (long) maxMessageBytes + 2L * maxMetadataBytes + BESIDE_MESSAGE_BYTES;
		int most = (int) Math.min(Integer.MAX_VALUE / 2,
				Math.max(Math.max(base.maxMessageBytes(), LEAST_MESSAGE_BYTES), wanted));
		int calls = (base.maxCalls() == ChannelOptions.DEFAULTS.maxCalls()) ? ChannelOptions.MAX_CALLS
				: base.maxCalls();
		ChannelOptions options = base.withLimits(most, calls);
		if (keepAliveNanos == ServerSettings.NEVER) {
			return options;
		}
		long timeoutNanos = Math.min(keepAliveTimeoutNanos, Long.MAX_VALUE / 8);
		return options.withTimeouts(Duration.ofNanos(options.handshakeTimeoutNanos()), Duration.ofNanos(keepAliveNanos),
				Duration.ofNanos(keepAliveNanos + timeoutNanos));
	}

	/** What gRPC may know of how a connection is protected. */
	static SecurityLevel securityLevel(ChannelOptions options) {
		return (options.security().tls() != null) ? SecurityLevel.PRIVACY_AND_INTEGRITY : SecurityLevel.NONE;
	}

	/**
	 * Counts what a connection does, for channelz. Its times, of which there are several
	 * for each call, are in milliseconds: gRPC's own clock takes three times as long.
	 */
	static TransportTracer newTracer() {
		return TRACERS.create();
	}

	/** For the message at hand, to be cleared; the current thread's. */
	static MessageSegments segments() {
		return SEGMENTS.get();
	}

}
