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

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.memory.RegistrationHook;
import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * One of the ways that a transport has to its peers: an opened device, with its
 * protection domain and the transport's memory registered with it. A device that has gone
 * is closed, and opened again when it is there again; the rail stays the same. Opening
 * and closing are up to the {@link RailKeeper}. Thread-safe.
 */
public final class Rail {

	private static final Logger logger = LoggerFactory.getLogger(Rail.class);

	private final ProviderSelection selection;

	private final String deviceName;

	private final RegisteredMemory memory;

	/** The last one, also while it is closed. */
	private volatile Opened opened;

	private volatile @Nullable String problem;

	/** Guarded by this, as is opening and closing. */
	private boolean closed;

	private Rail(ProviderSelection selection, String deviceName, RegisteredMemory memory) {
		this.selection = selection;
		this.deviceName = deviceName;
		this.memory = memory;
		this.opened = Opened.open(selection, deviceName, memory, 0, 0);
		logger.info("Opened device {} of verbs provider {}", device().name(), name());
		logger.debug("Verbs provider {}: {}", name(), selection.reason());
	}

	/**
	 * Opens a device.
	 * @param deviceName its name, or an empty string for the provider's default
	 * @throws VerbsException if it cannot be opened
	 */
	static Rail open(ProviderSelection selection, String deviceName, RegisteredMemory memory) {
		return new Rail(selection, deviceName, memory);
	}

	/**
	 * Opens the devices of several providers, in order of preference. Those that nobody
	 * has asked for by name are left out where they cannot be opened, but for one.
	 * @throws VerbsException if one cannot be opened that is needed
	 */
	static List<Rail> openAll(List<ProviderSelection> selections, TransportOptions options, RegisteredMemory memory) {
		boolean optional = options.providers().contains(TransportOptions.AUTO);
		List<Rail> opened = new ArrayList<>();
		VerbsException failure = null;
		try {
			for (ProviderSelection selection : selections) {
				try {
					opened.add(open(selection, deviceName(options.device(), selection, selections), memory));
				}
				catch (VerbsException ex) {
					failure = ex;
					if (!optional) {
						throw ex;
					}
					logger.warn("Verbs provider {} is left out: {}", selection.provider().name(), ex.getMessage());
				}
			}
			if (opened.isEmpty() && failure != null) {
				throw failure;
			}
			return opened;
		}
		catch (Throwable ex) {
			opened.forEach(Rail::close);
			throw ex;
		}
	}

	/** Of several providers, those open the device asked for that have it. */
	private static String deviceName(String asked, ProviderSelection selection, List<ProviderSelection> all) {
		boolean known = all.stream().anyMatch((any) -> any.provider().deviceNames().contains(asked));
		return (all.size() == 1 || !known || selection.provider().deviceNames().contains(asked)) ? asked : "";
	}

	/** The name of its provider; the rails of a transport have different ones. */
	public String name() {
		return this.selection.provider().name();
	}

	/** Whether it reaches other hosts. */
	public boolean reachesOtherHosts() {
		return this.selection.provider().reachesOtherHosts();
	}

	/** Whether it is worthwhile to connect to an address over it. */
	public boolean mayReach(InetSocketAddress remote) {
		return isRunning() && device().mayReach(remote);
	}

	/** Whether connections can begin and end on it. Cheap; never blocks. */
	public boolean isRunning() {
		return this.problem == null && device().isRunning();
	}

	/** Why it is not running, or {@code null}. Cheap; never blocks. */
	public @Nullable String problem() {
		String known = this.problem;
		return (known == null && !device().isRunning()) ? gone() : known;
	}

	private String gone() {
		return "device " + device().name() + " of provider " + name() + " has gone, was closed or has failed";
	}

	/** The provider and why it was chosen. */
	public ProviderSelection selection() {
		return this.selection;
	}

	/** The device; while the rail is down, the one that it had. */
	public VerbsDevice device() {
		return this.opened.device();
	}

	/** See {@link VerbsDevice#copiedBytes()}, of all devices that the rail has had. */
	public long copiedBytes() {
		return this.opened.copiedBytes();
	}

	/** See {@link VerbsDevice#readSinks()}, of all devices that the rail has had. */
	public long readSinks() {
		return this.opened.readSinks();
	}

	ProtectionDomain protectionDomain() {
		return this.opened.protectionDomain();
	}

	MemoryAttachment attachment() {
		return this.opened.attachment();
	}

	/** Whether channels can be protected on it as asked. */
	public boolean canProtect(ChannelOptions channel) {
		return channel.security().tls() == null || device().supportsTls();
	}

	QueuePair createQueuePair(LoopResources loop, QueuePairListener channel, TransportOptions options) {
		int depth = Math.min(options.sendQueueDepth(), device().limits().maxSendQueueDepth());
		return protectionDomain().createQueuePair(
				new QueuePairOptions(loop.completionQueue(), loop.sharedReceiveQueue(), depth, 1, 1, 1, channel));
	}

	ConnectOptions connectOptions(ChannelOptions channel, TransportOptions options) {
		int depth = Math.min(options.readDepth(), device().limits().maxReadDepth());
		return new ConnectOptions(new byte[0], depth, depth, channel.handshakeTimeoutNanos(), channel.security().tls());
	}

	/** It is not used from here on, until it is opened again. */
	void lost() {
		this.problem = gone();
	}

	/**
	 * Closes the device that has gone, so that the kernel can remove it. What fails with
	 * it is not of interest any more. Waits for it.
	 */
	synchronized void closeLost() {
		if (this.closed) {
			return;
		}
		try {
			this.opened.close();
		}
		catch (RuntimeException ex) {
			logger.debug("{} was not closed in order", gone(), ex);
		}
	}

	/**
	 * Opens the device again that has gone.
	 * @throws VerbsException if it is not there, or the rail was closed
	 */
	synchronized void reopen() {
		if (this.closed) {
			throw new VerbsException(VerbsError.CLOSED, "rail " + name() + " was closed");
		}
		this.opened = Opened.open(this.selection, this.deviceName, this.memory, copiedBytes(), readSinks());
		this.problem = null;
		logger.info("Opened device {} of verbs provider {} again", device().name(), name());
	}

	/** For good. What is open on the device goes with it, also where something fails. */
	synchronized void close() {
		this.closed = true;
		this.opened.close();
	}

	@Override
	public String toString() {
		return name();
	}

	/**
	 * A device and what belongs to it.
	 *
	 * @param device that was opened
	 * @param protectionDomain of the transport's
	 * @param attachment the transport's memory, registered with it
	 * @param copiedBefore bytes that the rail's devices before it have copied
	 * @param sinksBefore registrations for Reads that those have made
	 */
	private record Opened(VerbsDevice device, ProtectionDomain protectionDomain, MemoryAttachment attachment,
			long copiedBefore, long sinksBefore) {

		static Opened open(ProviderSelection selection, String name, RegisteredMemory memory, long copied, long sinks) {
			VerbsDevice device = selection.provider().openDevice(name.isEmpty() ? null : name);
			try {
				ProtectionDomain domain = device.allocateProtectionDomain();
				return new Opened(device, domain,
						memory.attach(RegistrationHook.of(domain, EnumSet.of(AccessFlag.LOCAL_WRITE))), copied, sinks);
			}
			catch (Throwable ex) {
				device.close();
				throw ex;
			}
		}

		long copiedBytes() {
			return this.copiedBefore + this.device.copiedBytes();
		}

		long readSinks() {
			return this.sinksBefore + this.device.readSinks();
		}

		/** Idempotent. */
		void close() {
			try {
				this.attachment.close();
				this.protectionDomain.close();
			}
			finally {
				this.device.close();
			}
		}

	}

}
