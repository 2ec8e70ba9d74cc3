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

package dev.rdmarpc;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.condition.OS;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.MemorySource;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryOptions;
import dev.rdmarpc.verbs.shm.SharedMemoryProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryTrust;

/**
 * Where the tests run: on what provider, at what address, and how slowly. System
 * properties say so in the laboratory ({@code lab/README.md}); without them it is the
 * provider that the test names, on loopback, at full speed.
 */
public final class TestEnvironment {

	/** The provider of tests that run on any. */
	public static final String PROVIDER_PROPERTY = "rdma.test.provider";

	/** The address of the device, both to listen on and to connect to. */
	public static final String ADDRESS_PROPERTY = "rdma.test.address";

	/** Whether connections of the provider are connections of TCP, which is usual. */
	public static final String TCP_PROPERTY = "rdma.test.tcp";

	/**
	 * Whether the device bears an answer that is none of its protocol's, which is usual.
	 */
	public static final String STRANGERS_PROPERTY = "rdma.test.strangers";

	/** Whether processes that share memory trust those of the same user. */
	public static final String TRUST_PROPERTY = "rdma.test.trust";

	/** How many times slower than usual this machine is. */
	public static final String TIME_SCALE_PROPERTY = "rdma.test.time-scale";

	/** Which of the virtual machines that share the tests this is, from 1. */
	public static final String FORK_PROPERTY = "rdma.test.fork";

	private static final int TIME_SCALE = Integer.getInteger(TIME_SCALE_PROPERTY, 1);

	/** How many times longer than necessary a usual deadline is, at least. */
	private static final int LAVISHNESS = 5;

	private TestEnvironment() {
	}

	/**
	 * The name of the provider, or what the test would have had; of all that are
	 * available the one that is everywhere, so that tests know what they are about.
	 */
	public static String provider(String usual) {
		return System.getProperty(PROVIDER_PROPERTY, usual.equals(TransportOptions.AUTO) ? "iwarp" : usual);
	}

	/** Whether this provider was asked for, so that it has to be available. */
	public static boolean isMeant(String provider) {
		return provider.equals(System.getProperty(PROVIDER_PROPERTY));
	}

	/** The providers that there are, as they are to be. */
	public static List<VerbsProvider> providers() {
		return providers(Boolean.getBoolean(TRUST_PROPERTY));
	}

	/** The providers that there are, with or without trust. */
	public static List<VerbsProvider> providers(boolean trust) {
		List<VerbsProvider> providers = ProviderSelection.discover();
		if (trust) {
			providers.replaceAll((provider) -> (provider instanceof SharedMemoryProvider)
					? new SharedMemoryProvider(SharedMemoryOptions.DEFAULTS.withTrust(SharedMemoryTrust.SAME_USER))
					: provider);
		}
		return providers;
	}

	/** Creates memory of a source of one of the providers, if one has any. */
	public static RegisteredMemory memory(MemoryOptions options, List<VerbsProvider> providers) {
		MemorySource source = null;
		for (VerbsProvider provider : providers) {
			source = (source != null) ? source : provider.openMemorySource();
		}
		return RegisteredMemory.create(options, source);
	}

	/** The address of the device, in numbers. */
	public static String host() {
		return System.getProperty(ADDRESS_PROPERTY, loopback());
	}

	/**
	 * An address of loopback that no other virtual machine uses, where there are several:
	 * nobody else listens on a port that a test has just freed.
	 */
	private static String loopback() {
		Integer fork = Integer.getInteger(FORK_PROPERTY);
		return "127.0.0." + ((fork != null && OS.current() == OS.LINUX) ? 1 + fork : 1);
	}

	/** The address of the device. */
	public static InetAddress address() {
		try {
			return InetAddress.getByName(host());
		}
		catch (UnknownHostException ex) {
			throw new IllegalStateException(ADDRESS_PROPERTY + " is not an address: " + host(), ex);
		}
	}

	/** Whether connections of the provider are connections of TCP. */
	public static boolean isTcp() {
		return Boolean.parseBoolean(System.getProperty(TCP_PROPERTY, "true"));
	}

	/** For tests that put something of TCP between, before or behind two peers. */
	public static void assumeTcp() {
		Assumptions.assumeTrue(isTcp(), "connections of this device are not connections of TCP");
	}

	/** For tests in which somebody answers who does not speak the protocol. */
	public static void assumeStrangersAreBorne() {
		assumeTcp();
		Assumptions.assumeTrue(Boolean.parseBoolean(System.getProperty(STRANGERS_PROPERTY, "true")),
				"an answer that is none of its protocol's crashes this device");
	}

	/** The time after which something counts as hung. */
	public static Duration scaled(Duration usual) {
		return usual.multipliedBy(TIME_SCALE);
	}

	/**
	 * The time after which something counts as hung that usually takes a small part of
	 * what it is given: only as much longer as a slow machine needs, since one hang must
	 * not use up the time of all tests.
	 */
	public static Duration patience(Duration usual) {
		Duration slow = scaled(usual).dividedBy(LAVISHNESS);
		return (slow.compareTo(usual) > 0) ? slow : usual;
	}

	/**
	 * How often to repeat what proves more the more often it is repeated.
	 * @param usual how often at full speed
	 * @param least how often at any speed
	 */
	public static int rounds(int usual, int least) {
		return Math.max(least, usual / TIME_SCALE);
	}

}
