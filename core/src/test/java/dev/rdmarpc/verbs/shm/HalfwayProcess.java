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

package dev.rdmarpc.verbs.shm;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import dev.rdmarpc.verbs.shm.ring.RingDescriptor;

/**
 * A process with connections in all phases of their set-up, of which none goes on: it
 * waits to be killed.
 */
public final class HalfwayProcess {

	/** Connects to a port. */
	static final String CONNECTING = "connecting";

	/** Listens at ports of its own, which it says. */
	static final String LISTENING = "listening";

	/** Requests of a process that connects; it wants answers to the first of them. */
	static final int REQUESTS = 4;

	static final int ANSWERS = 3;

	/** Ports of a process that listens. */
	static final int PORTS = 4;

	private static final long TOTAL_BYTES = RingDescriptor.totalBytes(Station.RING_BYTES);

	private final Path directory;

	/** What must not be collected as garbage. */
	private final List<Object> kept = new ArrayList<>();

	private HalfwayProcess(Path directory) {
		this.directory = directory;
	}

	/** Takes a directory, which side it is, and the port to connect to. */
	@SuppressWarnings("SystemOut")
	public static void main(String[] args) throws Exception {
		HalfwayProcess process = new HalfwayProcess(Path.of(args[0]));
		if (args[1].equals(CONNECTING)) {
			process.connect(Integer.parseInt(args[2]));
			System.out.println(SharingProcess.READY + 0);
		}
		else {
			process.listen();
		}
		new CountDownLatch(1).await();
	}

	/** Established, mapped, answered, asked, and connected only. */
	private void connect(int port) throws IOException {
		SocketChannel established = answered(port, true);
		established.write(ByteBuffer.allocate(1));
		answered(port, true);
		answered(port, false);
		asked(port);
		open(port);
	}

	private SocketChannel open(int port) throws IOException {
		SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
		socket.connect(UnixDomainSocketAddress.of(this.directory.resolve(port + ".socket")));
		this.kept.add(socket);
		return socket;
	}

	private SocketChannel asked(int port) throws IOException {
		SocketChannel socket = open(port);
		new SetupFrame(SetupFrame.Kind.REQUEST, 4, 4, 4711, new byte[0], "").write(socket);
		return socket;
	}

	private SocketChannel answered(int port, boolean mapping) throws IOException {
		SocketChannel socket = asked(port);
		SetupFrame answer = read(socket);
		if (mapping) {
			Rendezvous rendezvous = Rendezvous.open(SharedMemoryOptions.DEFAULTS.withDirectory(this.directory));
			FileChannel file = rendezvous.openFile(port, answer.name(), TOTAL_BYTES);
			this.kept.add(file.map(FileChannel.MapMode.READ_WRITE, 0, TOTAL_BYTES));
			this.kept.add(file);
			rendezvous.removeConnection(answer.name());
		}
		return socket;
	}

	private static SetupFrame read(SocketChannel socket) throws IOException {
		ByteBuffer frame = ByteBuffer.allocate(SetupFrame.BYTES);
		while (frame.hasRemaining()) {
			if (socket.read(frame) < 0) {
				throw new IOException("socket was closed");
			}
		}
		return SetupFrame.read(frame);
	}

	/** Listening only, asked, with a file, and answered. */
	@SuppressWarnings("SystemOut")
	private void listen() throws IOException {
		Rendezvous rendezvous = Rendezvous.open(SharedMemoryOptions.DEFAULTS.withDirectory(this.directory));
		List<ServerSocketChannel> listening = new ArrayList<>();
		StringBuilder ports = new StringBuilder();
		for (int i = 0; i < PORTS; i++) {
			ServerSocketChannel channel = rendezvous.bind(0, 4);
			channel.configureBlocking(true);
			listening.add(channel);
			ports.append((i > 0) ? "," : "").append(Rendezvous.port(channel));
		}
		this.kept.add(listening);
		System.out.println(SharingProcess.READY + ports);
		for (int i = 1; i < PORTS; i++) {
			SocketChannel socket = listening.get(i).accept();
			this.kept.add(socket);
			read(socket);
			if (i > 1) {
				answer(rendezvous, Rendezvous.port(listening.get(i)), socket, i > 2);
			}
		}
		System.out.println(SharingProcess.READY + 0);
	}

	private void answer(Rendezvous rendezvous, int port, SocketChannel socket, boolean telling) throws IOException {
		Path path = rendezvous.newFile(port);
		this.kept.add(rendezvous.create(path, TOTAL_BYTES));
		if (telling) {
			new SetupFrame(SetupFrame.Kind.ACCEPTANCE, 4, 4, Station.RING_BYTES, new byte[0],
					path.getFileName().toString())
				.write(socket);
		}
	}

}
