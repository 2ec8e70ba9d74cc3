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

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.boot.grpc.client.autoconfigure.GrpcClientProperties;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientProperties.Channel;
import org.springframework.core.env.PropertyResolver;
import org.springframework.grpc.client.VirtualTargets;

/** Where the channels of Boot's properties lead to. */
class RdmaGrpcTargets implements VirtualTargets {

	private static final Pattern TARGET = Pattern.compile("rdma:///(?:[^/:\\[\\]]+|\\[[^/]+]):(\\d{1,5})");

	private final GrpcClientProperties properties;

	private final PropertyResolver resolver;

	RdmaGrpcTargets(GrpcClientProperties properties, PropertyResolver resolver) {
		this.properties = properties;
		this.resolver = resolver;
	}

	static boolean isOurs(String target) {
		return target.startsWith("rdma:");
	}

	@Override
	public String getTarget(String name) {
		Channel channel = this.properties.getChannel().get(name);
		return this.resolver.resolvePlaceholders((channel != null) ? channel.getTarget() : name);
	}

	/** The configured channels that lead over RDMA. */
	List<String> ours() {
		return this.properties.getChannel().keySet().stream().filter((name) -> isOurs(getTarget(name))).toList();
	}

	/**
	 * Placeholders of ports that are not known yet are left to the creation of the
	 * channel.
	 */
	void checkAll() {
		this.properties.getChannel().keySet().forEach((name) -> {
			if (!getTarget(name).contains("${")) {
				check(name);
			}
		});
	}

	/** Refuses what cannot be a channel over RDMA, naming the property. */
	void check(String name) {
		String target = getTarget(name);
		Channel channel = this.properties.getChannel().get(name);
		if (channel == null || !isOurs(target)) {
			return;
		}
		String prefix = "spring.grpc.client.channel." + name + ".";
		Matcher matcher = TARGET.matcher(target);
		boolean valid = matcher.matches();
		if (valid) {
			int port = Integer.parseInt(matcher.group(1));
			valid = port >= 1 && port <= 65535;
		}
		PropertyCheck.that(valid, prefix + "target", target, "rdma:///host:port with a port from 1 to 65535");
		Channel.Ssl ssl = channel.getSsl();
		PropertyCheck.that(!Boolean.TRUE.equals(ssl.getEnabled()), prefix + "ssl.enabled", true,
				"false for an rdma: target, which 'rdma.rpc.client." + name + ".ssl.bundle' protects");
		String bundle = ssl.getBundle();
		PropertyCheck.that(bundle == null || Boolean.FALSE.equals(ssl.getEnabled()), prefix + "ssl.bundle",
				String.valueOf(bundle),
				"none for an rdma: target, which 'rdma.rpc.client." + name + ".ssl.bundle' protects");
	}

}
