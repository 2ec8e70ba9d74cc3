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
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;

import dev.rdmarpc.codec.MessageSegments;

import static org.assertj.core.api.Assertions.assertThat;

/** A call whose request is followed by messages, on either side of a channel. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class AbstractRequestStreamTests {

	static final int WINDOW = 4096;

	static final int ID = 3;

	static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS.withFrames(8192, 16)
		.withCredits(64, 64)
		.withLimits(20_000, 16)
		.withStreamWindow(WINDOW);

	static final RequestTemplate TEMPLATE = new RequestTemplate(0x1234, 1, 1);

	static final byte[] REQUEST = Frames.followed(Frames.request(0, ID, 2, 1, 4, new byte[4]));

	final RecordingStream user = new RecordingStream();

	final ServingHandler handler = new ServingHandler();

	final StubCall call = new StubCall();

	void asCaller(Caller body) throws Exception {
		asCaller(WINDOW, body);
	}

	void asCaller(int window, Caller body) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS.withStreamWindow(window), this.handler,
						Frames.withStreams(Frames.hello(2, 64, 64), window));
				StreamSender sender = channel.streams().requestSender(this.user);
				this.call.streamSender = sender;
				body.run(fixture, channel, sender);
				channel.close("end of the test");
				sender.close();
				assertThat(this.call.ends).isOne();
				fixture.turn();
			});
		}
	}

	RpcChannel server(LoopFixture fixture) {
		return fixture.server(OPTIONS, this.handler, Frames.withStreams(Frames.hello(1, 64, 64), WINDOW));
	}

	void asServer(Server body) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = server(fixture);
				StreamReceiver receiver = channel.streams().requestReceiver(ID, this.user);
				this.handler.receiver = receiver;
				fixture.deliver(channel, REQUEST);
				assertThat(this.handler.events).endsWith("request " + ID + " of 4");
				body.run(fixture, channel, receiver);
			});
		}
	}

	static Arguments broken(String expected, byte[]... frames) {
		return Arguments.of(expected, frames);
	}

	/** Frames of a caller that was granted three messages close the connection. */
	void breaksTheRule(String expected, byte[]... frames) throws Exception {
		asServer((fixture, channel, receiver) -> {
			receiver.grant(3, 0);
			fixture.turn();
			for (byte[] frame : frames) {
				fixture.deliver(channel, frame);
			}
			assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
			assertThat(this.handler.events).last().asString().contains("protocol violation").contains(expected);
		});
	}

	/** Sends the request, and lets that complete. */
	void begin(LoopFixture fixture, RpcChannel channel) {
		request(channel, 4);
		fixture.turn();
		LoopFixture.pair(channel).completeAll();
		fixture.turn();
	}

	void request(RpcChannel channel, int bytes) {
		channel.prepareRequest(this.call, TEMPLATE, Long.MAX_VALUE, 0, RequestTemplate.NO_METADATA, segments(bytes))
			.submit();
	}

	void reply(LoopFixture fixture, RpcChannel channel) {
		fixture.deliver(channel, Frames.reply(0, this.call.requestId(), 0, 0, new byte[0]));
		assertThat(this.call.status).isZero();
	}

	byte[] demand(int messages, int bytes) {
		return Frames.demand(this.call.requestId(), messages, bytes);
	}

	String idHex() {
		byte[] id = new byte[4];
		ByteBuffer.wrap(id).order(ByteOrder.LITTLE_ENDIAN).putInt(this.call.requestId());
		return HexFormat.of().formatHex(id);
	}

	static String hex(ByteBuffer frame) {
		byte[] bytes = new byte[frame.capacity()];
		frame.get(0, bytes);
		return HexFormat.of().formatHex(bytes);
	}

	static void submit(StreamSender sender, int bytes) {
		sender.prepare(segments(bytes)).submit();
	}

	static MessageSegments segments(int bytes) {
		MessageSegments segments = new MessageSegments();
		segments.addBytes(ByteBuffer.wrap(new byte[bytes]));
		return segments;
	}

	interface Caller {

		void run(LoopFixture fixture, RpcChannel channel, StreamSender sender);

	}

	interface Server {

		void run(LoopFixture fixture, RpcChannel channel, StreamReceiver receiver);

	}

	/** Serves the calls that have arrived, one of them with a stream. */
	static final class ServingHandler extends RecordingHandler {

		@Nullable StreamReceiver receiver;

		boolean serving = true;

		@Override
		public boolean isServing(int requestId) {
			return this.serving && List.of(ID, 4).contains(requestId) && !this.messages.isEmpty();
		}

		@Override
		public @Nullable StreamReceiver streamReceiver(int requestId) {
			return (requestId == ID) ? this.receiver : null;
		}

	}

}
