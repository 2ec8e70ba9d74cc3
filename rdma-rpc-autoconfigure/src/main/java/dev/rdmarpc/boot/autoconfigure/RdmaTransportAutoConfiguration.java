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

package dev.rdmarpc.boot.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RailSelections;
import dev.rdmarpc.transport.RdmaAuthenticator;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.MemorySource;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryProvider;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of what servers and clients share:
 * the verbs providers, their devices, registered memory and the codec.
 */
@AutoConfiguration
@EnableConfigurationProperties(RdmaRpcProperties.class)
public final class RdmaTransportAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RdmaTransportAutoConfiguration.class);

	@Bean
	@ConditionalOnMissingBean
	IwarpProvider rdmaIwarpProvider(RdmaRpcProperties properties) {
		return new IwarpProvider(PropertyMapping.iwarp(properties.iwarp(), properties.memory()));
	}

	@Bean
	@ConditionalOnMissingBean
	SharedMemoryProvider rdmaSharedMemoryProvider(RdmaRpcProperties properties) {
		return new SharedMemoryProvider(PropertyMapping.shm(properties.shm()));
	}

	/**
	 * Beans come before providers of the same name that the service loader finds. Checks
	 * the properties of what is opened later.
	 */
	@Bean
	@ConditionalOnMissingBean
	ProviderSelection rdmaProviderSelection(RdmaRpcProperties properties, ObjectProvider<VerbsProvider> beans) {
		PropertyMapping.memory(properties.memory());
		List<ProviderSelection> selected = select(properties, beans);
		warnOfSharedMemory(properties, selected);
		return RailSelections.of(selected).main();
	}

	/** Somebody wants it to be used who says something of it. */
	private static void warnOfSharedMemory(RdmaRpcProperties properties, List<ProviderSelection> selected) {
		String wanted = PropertyMapping.anyOf(properties.shm());
		if (wanted == null || !PropertyMapping.transport(properties).providers().contains(TransportOptions.AUTO)
				|| selected.stream().anyMatch((selection) -> isSharedMemory(selection.provider().name()))) {
			return;
		}
		for (ProviderSelection.Candidate candidate : selected.get(0).candidates()) {
			if (isSharedMemory(candidate.name())) {
				logger.warn("'{}' is set, but shared memory cannot be used: {}", wanted,
						candidate.availability().reason());
			}
		}
	}

	private static boolean isSharedMemory(String provider) {
		return provider.equals(SharedMemoryProvider.NAME);
	}

	/**
	 * What the transport opens. Another selection in place of the one above is opened
	 * alone, unless it is of a provider that is asked for.
	 */
	@Bean
	@ConditionalOnMissingBean
	RailSelections rdmaRailSelections(RdmaRpcProperties properties, ObjectProvider<VerbsProvider> beans,
			ProviderSelection main) {
		List<ProviderSelection> all = select(properties, beans);
		String name = main.provider().name();
		if (all.stream().noneMatch((selection) -> selection.provider().name().equals(name))) {
			return RailSelections.of(List.of(main));
		}
		return RailSelections
			.of(all.stream().map((selection) -> selection.provider().name().equals(name) ? main : selection).toList());
	}

	private static List<ProviderSelection> select(RdmaRpcProperties properties, ObjectProvider<VerbsProvider> beans) {
		List<VerbsProvider> providers = new ArrayList<>(beans.orderedStream().toList());
		for (VerbsProvider discovered : ProviderSelection.discover()) {
			if (providers.stream().noneMatch((provider) -> provider.name().equals(discovered.name()))) {
				providers.add(discovered);
			}
		}
		return ProviderSelection.selectAll(PropertyMapping.transport(properties).providers(), providers);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	RegisteredMemory rdmaRegisteredMemory(RdmaRpcProperties properties, RailSelections rails, Environment environment) {
		RegisteredMemory memory = RegisteredMemory.create(PropertyMapping.memory(properties.memory()),
				openMemorySource(rails));
		long most = memory.options().maxBytes();
		if (most < properties.memory().max().toBytes()) {
			boolean chosen = environment.containsProperty("rdma.rpc.memory.max");
			logger.atLevel(chosen ? Level.WARN : Level.INFO)
				.log("'rdma.rpc.memory.max' is {}{}, but Java lets the process have {}B of it: lower it, or raise "
						+ "-XX:MaxDirectMemorySize, which is the maximum heap by default", properties.memory().max(),
						chosen ? "" : " by default", most);
		}
		return memory;
	}

	/** Of the first provider whose devices can do more with memory of its own. */
	private static @Nullable MemorySource openMemorySource(RailSelections rails) {
		for (ProviderSelection rail : rails.all()) {
			MemorySource source = rail.provider().openMemorySource();
			if (source != null) {
				return source;
			}
		}
		return null;
	}

	/** Opened by the first client or server. */
	@Bean
	@Lazy
	@ConditionalOnMissingBean
	RdmaTransport rdmaTransport(RdmaRpcProperties properties, RailSelections rails, RegisteredMemory memory) {
		TransportOptions options = PropertyMapping.transport(properties);
		return RdmaTransport.open(options, rails.all(), memory);
	}

	@Bean
	ConnectionSecurity rdmaConnectionSecurity(RdmaRpcProperties properties, ObjectProvider<SslBundles> bundles,
			ObjectProvider<RdmaAuthenticator> authenticators) {
		return new ConnectionSecurity(properties, bundles, authenticators);
	}

	@Bean
	@ConditionalOnMissingBean
	MessageCodec rdmaMessageCodec(RdmaRpcProperties properties) {
		return new FlatBuffersCodec(PropertyMapping.codec(properties.codec()));
	}

}
