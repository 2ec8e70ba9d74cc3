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
import dev.rdmarpc.verbs.VerbsException;

/**
 * One of the ways that a transport has to its peers: an opened device, with its
 * protection domain and the transport's memory registered with it. Thread-safe.
 */
public final class Rail {

	private static final Logger logger = LoggerFactory.getLogger(Rail.class);

	private final ProviderSelection selection;

	private final VerbsDevice device;

	private final ProtectionDomain protectionDomain;

	private final MemoryAttachment attachment;

	private Rail(ProviderSelection selection, VerbsDevice device, RegisteredMemory memory) {
		this.selection = selection;
		this.device = device;
		this.protectionDomain = device.allocateProtectionDomain();
		this.attachment = memory.attach(RegistrationHook.of(this.protectionDomain, EnumSet.of(AccessFlag.LOCAL_WRITE)));
		logger.info("Opened device {} of verbs provider {}", device.name(), name());
		logger.debug("Verbs provider {}: {}", name(), selection.reason());
	}

	/**
	 * Opens a device.
	 * @param deviceName its name, or an empty string for the provider's default
	 * @throws VerbsException if it cannot be opened
	 */
	static Rail open(ProviderSelection selection, String deviceName, RegisteredMemory memory) {
		VerbsDevice device = selection.provider().openDevice(deviceName.isEmpty() ? null : deviceName);
		try {
			return new Rail(selection, device, memory);
		}
		catch (Throwable ex) {
			device.close();
			throw ex;
		}
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
					logger.info("Verbs provider {} is left out: {}", selection.provider().name(), ex.getMessage());
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
		return this.device.isRunning() && this.device.mayReach(remote);
	}

	/** The provider and why it was chosen. */
	public ProviderSelection selection() {
		return this.selection;
	}

	/** The device. */
	public VerbsDevice device() {
		return this.device;
	}

	ProtectionDomain protectionDomain() {
		return this.protectionDomain;
	}

	MemoryAttachment attachment() {
		return this.attachment;
	}

	/** Whether channels can be protected on it as asked. */
	public boolean canProtect(ChannelOptions channel) {
		return channel.security().tls() == null || this.device.supportsTls();
	}

	QueuePair createQueuePair(LoopResources loop, QueuePairListener channel, TransportOptions options) {
		int depth = Math.min(options.sendQueueDepth(), this.device.limits().maxSendQueueDepth());
		return this.protectionDomain.createQueuePair(
				new QueuePairOptions(loop.completionQueue(), loop.sharedReceiveQueue(), depth, 1, 1, 1, channel));
	}

	ConnectOptions connectOptions(ChannelOptions channel, TransportOptions options) {
		int depth = Math.min(options.readDepth(), this.device.limits().maxReadDepth());
		return new ConnectOptions(new byte[0], depth, depth, channel.handshakeTimeoutNanos(), channel.security().tls());
	}

	/** What is open on the device goes with it, also where something fails. */
	void close() {
		try {
			this.attachment.close();
			this.protectionDomain.close();
		}
		finally {
			this.device.close();
		}
	}

	@Override
	public String toString() {
		return name();
	}

}
