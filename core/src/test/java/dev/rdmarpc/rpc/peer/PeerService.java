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

package dev.rdmarpc.rpc.peer;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * What the other process serves: calls of all kinds, and what a test must know and do
 * there.
 */
public interface PeerService {

	@RdmaMethod(inline = true)
	String echo(String text);

	String echoOnExecutor(String text);

	@RdmaMethod(inline = true)
	CompletableFuture<String> echoAsync(String text);

	byte[] bytes(byte[] bytes);

	CompletableFuture<byte[]> bytesLater(byte[] bytes);

	/** Data that goes there only; the sum of its bytes comes back. */
	long sum(byte[] bytes);

	/** Data that comes back only: bytes 0, 1, 2 and so on. */
	byte[] count(int length);

	AllTypes all(AllTypes value);

	void fail(@Nullable RpcStatus status, String text);

	/** Waits so long, or until {@link #release()}. */
	String slow(long millis);

	CompletableFuture<Void> never();

	/** Is answered when called for the second time with the same key. */
	@RdmaMethod(idempotent = true)
	CompletableFuture<String> secondTime(String key);

	RegisteredBuffer buffer(RegisteredBuffer data);

	Blob blob(Blob blob);

	@Nullable GatherMessage message(@Nullable GatherMessage message);

	State state();

	/** Ends all calls of {@link #slow}. */
	void release();

	/** Cuts all connections, also that of the caller. */
	CompletableFuture<Void> loseConnections();

	/** Closes the server and starts it again on the same port. */
	CompletableFuture<Void> restart();

	/** Ends the process, or what stands for it. */
	CompletableFuture<Void> end();

	/** A record with a part of registered memory, and one without. */
	record Blob(String name, @Nullable RegisteredBuffer data, ByteBuffer plain) {

	}

	/**
	 * What the other side sees.
	 *
	 * @param running calls of {@link PeerService#slow} being served
	 * @param interrupted of those, how many ever were
	 * @param activeCalls calls being served, this one included
	 * @param connections queue pairs accepted and open
	 * @param readBytes fetched by RDMA Read
	 * @param keys that {@link PeerService#secondTime} was ever called with
	 */
	record State(int running, int interrupted, int activeCalls, int connections, long readBytes, int keys) {

	}

}
