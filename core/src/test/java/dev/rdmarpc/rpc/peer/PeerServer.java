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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * The server of the contract, here or, by {@link #main}, in a process of its own.
 */
public final class PeerServer implements AutoCloseable, ServedPeer.PeerActions {

	static final String READY = "ready on port ";

	private final RegisteredMemory memory = PeerSettings.memory();

	private final RdmaTransport transport = PeerSettings.open(PeerSettings.transport(), this.memory);

	private final ServedPeer service = new ServedPeer(() -> this.server, this);

	private final CountDownLatch ended = new CountDownLatch(1);

	private volatile RpcServer server;

	PeerServer(InetSocketAddress address) {
		this.server = start(address);
	}

	private RpcServer start(InetSocketAddress address) {
		return RpcServer.builder()
			.transport(this.transport)
			.options(RpcServerOptions.DEFAULTS.withAddress(address)
				.withDrainTimeout(Duration.ZERO)
				.withChannel(PeerSettings.channel()))
			.service(PeerService.class, this.service)
			.build()
			.start();
	}

	int port() {
		return this.server.port();
	}

	@Override
	public void restart() {
		InetSocketAddress address = this.server.address();
		this.server.close();
		this.server = start(address);
	}

	@Override
	public void end() {
		this.ended.countDown();
	}

	/**
	 * Closes everything.
	 * @throws IllegalStateException if something is outstanding
	 */
	@Override
	public void close() {
		this.server.close();
		this.transport.close();
		int calls = this.server.activeCalls();
		long bytes = this.memory.metrics().allocatedBytes();
		this.memory.close();
		if (calls != 0 || bytes != 0) {
			throw new IllegalStateException(
					"outstanding at the server: " + calls + " calls, " + bytes + " bytes of memory");
		}
	}

	/**
	 * Serves on the address and port given until it is told to end: by
	 * {@link PeerService#end} or a line {@code end} on the standard input. Says when it
	 * is ready, and whether anything was outstanding in the end.
	 */
	public static void main(String[] arguments) throws Exception {
		InetSocketAddress address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
		try (PeerServer server = new PeerServer(address)) {
			System.out.println("provider " + server.transport.selection().provider().name() + " ("
					+ server.transport.selection().reason() + ")");
			System.out.println(READY + server.port());
			Thread reader = new Thread(server::readCommands, "commands");
			reader.setDaemon(true);
			reader.start();
			server.ended.await();
		}
		System.out.println("ended, nothing outstanding");
		System.exit(0);
	}

	private void readCommands() {
		try (BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
			for (String line = commands.readLine(); line != null; line = commands.readLine()) {
				if (line.strip().equals("end")) {
					end();
				}
			}
		}
		catch (IOException ex) {
			end();
		}
	}

}
