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

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.balancing.LoadBalancer;
import dev.rdmarpc.balancing.LoadBalancing;
import dev.rdmarpc.balancing.OutlierOptions;
import dev.rdmarpc.balancing.ZonePreference;
import dev.rdmarpc.boot.autoconfigure.ClientSettings.Setting;
import dev.rdmarpc.boot.autoconfigure.ClientSettings.Source;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Client;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.OutlierDetection;

/**
 * The addresses of a target and how calls are balanced over them, combined like
 * {@link ClientSettings}. The entry of the target may have addresses or host and port;
 * either replaces both of the default entry.
 *
 * @param property from which they are
 * @param fixed those that are listed, none if there are others
 * @param location where to look them up, or {@code null}
 * @param loadBalancing which of them a call goes to
 * @param resolutionInterval how often they are looked up again
 * @param outliers when one of them gets no calls
 * @param zone whose addresses are preferred, or an empty string
 */
record ClientAddresses(String property, List<InetSocketAddress> fixed, @Nullable Location location,
		LoadBalancing loadBalancing, Duration resolutionInterval, OutlierOptions outliers, String zone) {

	private static final Pattern ADDRESS = Pattern.compile("([^/:\\[\\]\\s]+|\\[[0-9A-Fa-f:.%]+])(?::(\\d{1,5}))?");

	private static final Pattern LOCATION = Pattern.compile("([a-zA-Z][a-zA-Z0-9+.-]*):///(\\S+)");

	private static final String PREFIX = "rdma.rpc.client.";

	static ClientAddresses of(String target, RdmaRpcProperties properties) {
		Source source = new Source(target, properties);
		LoadBalancing balancing = source.get("load-balancing", Client::loadBalancing, LoadBalancing.ROUND_ROBIN)
			.value();
		Setting<Duration> interval = source.get("resolution-interval", Client::resolutionInterval,
				Duration.ofSeconds(30));
		PropertyCheck.notNegative(interval.name(), interval.value());
		ClientAddresses none = new ClientAddresses(PREFIX + target + ".host", List.of(), null, balancing,
				interval.value(), outliers(source), source.get("zone", Client::zone, "").value());
		for (String entry : new String[] { target, RdmaRpcProperties.DEFAULT_CLIENT }) {
			Client client = properties.client(entry);
			List<String> given = (client != null) ? client.addresses() : null;
			if (client != null && given != null && !given.isEmpty()) {
				return none.with(PREFIX + entry + ".addresses", client, given);
			}
			if (client != null && (client.host() != null || client.port() != null)) {
				break;
			}
		}
		return none;
	}

	private ClientAddresses with(String property, Client client, List<String> given) {
		PropertyCheck.that(client.host() == null && client.port() == null, property, String.join(",", given),
				"either addresses or host and port, but " + ((client.host() != null) ? "host" : "port")
						+ " is set as well");
		Matcher location = LOCATION.matcher(given.get(0));
		if (location.matches()) {
			PropertyCheck.that(given.size() == 1, property, String.join(",", given),
					"a list of host:port, or one location such as dns:///name:port");
			return at(property, List.of(), new Location(location.group(1), location.group(2)));
		}
		List<InetSocketAddress> fixed = given.stream().map((text) -> {
			InetSocketAddress address = parse(text);
			PropertyCheck.that(address != null, property, text,
					"host:port with a port from 1 to 65535, or a location such as dns:///name:port");
			return Objects.requireNonNull(address);
		}).toList();
		return at(property, fixed, null);
	}

	private ClientAddresses at(String from, List<InetSocketAddress> all, @Nullable Location where) {
		return new ClientAddresses(from, all, where, this.loadBalancing, this.resolutionInterval, this.outliers,
				this.zone);
	}

	/** Makes a load balancer for one client. */
	LoadBalancer balancer() {
		LoadBalancer among = this.loadBalancing.create();
		return this.zone.isBlank() ? among : new ZonePreference(this.zone, among);
	}

	/**
	 * Reads {@code host:port} or {@code [address]:port}; the port may be left out if it
	 * is that of servers.
	 * @return unresolved, or {@code null} if it is something else
	 */
	static @Nullable InetSocketAddress parse(String text) {
		Matcher matcher = ADDRESS.matcher(text.trim());
		if (!matcher.matches()) {
			return null;
		}
		int port = (matcher.group(2) != null) ? Integer.parseInt(matcher.group(2)) : RdmaRpcProperties.DEFAULT_PORT;
		String host = matcher.group(1).replaceAll("[\\[\\]]", "");
		return (port >= 1 && port <= 65535) ? InetSocketAddress.createUnresolved(host, port) : null;
	}

	/** The same of a host and the text of a port. */
	static @Nullable InetSocketAddress of(String host, String port) {
		return parse((host.contains(":") ? "[" + host + "]" : host) + ":" + port);
	}

	private static OutlierOptions outliers(Source source) {
		OutlierOptions defaults = OutlierOptions.DEFAULTS;
		String prefix = "outlier-detection.";
		Setting<Integer> failures = source.get(prefix + "consecutive-failures",
				(client) -> of(client).consecutiveFailures(), defaults.consecutiveFailures());
		PropertyCheck.range(failures.name(), failures.value(), 0, Integer.MAX_VALUE);
		Setting<Duration> base = source.get(prefix + "base-ejection-time", (client) -> of(client).baseEjectionTime(),
				defaults.baseEjectionTime());
		PropertyCheck.positive(base.name(), base.value());
		Setting<Duration> max = source.get(prefix + "max-ejection-time", (client) -> of(client).maxEjectionTime(),
				longer(defaults.maxEjectionTime(), base.value()));
		PropertyCheck.positive(max.name(), max.value());
		PropertyCheck.that(max.value().compareTo(base.value()) >= 0, max.name(), max.value(),
				"not less than base-ejection-time, which is " + base.value());
		Setting<Integer> percent = source.get(prefix + "max-ejection-percent",
				(client) -> of(client).maxEjectionPercent(), defaults.maxEjectionPercent());
		PropertyCheck.range(percent.name(), percent.value(), 0, 100);
		return new OutlierOptions(failures.value(), base.value(), max.value(), percent.value());
	}

	private static Duration longer(Duration one, Duration other) {
		return (one.compareTo(other) >= 0) ? one : other;
	}

	private static OutlierDetection of(Client client) {
		OutlierDetection set = client.outlierDetection();
		return (set != null) ? set : OutlierDetection.EMPTY;
	}

	/** Whether there are others than host and port. */
	boolean isGiven() {
		return this.location != null || !this.fixed.isEmpty();
	}

	@Override
	public String toString() {
		return (this.location != null) ? this.location.toString() : String.join(", ",
				this.fixed.stream().map((address) -> address.getHostString() + ":" + address.getPort()).toList());
	}

	/**
	 * Where to look up addresses.
	 *
	 * @param scheme how
	 * @param name what
	 */
	record Location(String scheme, String name) {

		@Override
		public String toString() {
			return this.scheme + ":///" + this.name;
		}

	}

}
