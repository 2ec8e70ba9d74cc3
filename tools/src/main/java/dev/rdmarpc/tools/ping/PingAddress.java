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

package dev.rdmarpc.tools.ping;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A host and a port as a user writes them: {@code HOST}, {@code HOST:PORT},
 * {@code [IPV6]:PORT}.
 *
 * @param host name or address
 * @param port the port, 0 to 65535
 */
public record PingAddress(String host, int port) {

	/** The port of {@code rping}. */
	static final int DEFAULT_PORT = 7174;

	private static final Pattern PORT = Pattern.compile("\\d{1,5}");

	private static final Pattern BARE_IPV6 = Pattern.compile("[0-9a-fA-F.]*(:[0-9a-fA-F.]*){2,}(%\\w+)?");

	private static final Pattern ADDRESS = Pattern
		.compile("(?:\\[(?<address>[^]]+)]|(?<name>[^:\\[\\]]+))(?::(?<port>" + PORT + "))?");

	/**
	 * Takes an address apart.
	 * @throws IllegalArgumentException if it is none
	 */
	static PingAddress parse(String text) {
		return parse(text, DEFAULT_PORT);
	}

	/**
	 * Takes an address apart.
	 * @param defaultPort the port of an address without one
	 * @throws IllegalArgumentException if it is none
	 */
	public static PingAddress parse(String text, int defaultPort) {
		if (BARE_IPV6.matcher(text).matches()) {
			return new PingAddress(text, defaultPort);
		}
		Matcher matcher = ADDRESS.matcher(text);
		if (!matcher.matches()) {
			throw malformed(text);
		}
		String address = matcher.group("address");
		String port = matcher.group("port");
		return new PingAddress((address != null) ? address : matcher.group("name"),
				(port != null) ? parsePort(port, text) : defaultPort);
	}

	/** As {@link #parse}, but a number alone is a port on all addresses of this host. */
	static PingAddress parseLocal(String text) {
		return PORT.matcher(text).matches() ? new PingAddress("0.0.0.0", parsePort(text, text)) : parse(text);
	}

	/** The address of a peer, without looking up its name. */
	static PingAddress of(InetSocketAddress address) {
		return new PingAddress(address.getAddress().getHostAddress(), address.getPort());
	}

	private static int parsePort(String digits, String text) {
		int port = Integer.parseInt(digits);
		if (port > 0xffff) {
			throw malformed(text);
		}
		return port;
	}

	private static IllegalArgumentException malformed(String text) {
		return new IllegalArgumentException(
				"'" + text + "' is no address (expected: HOST, HOST:PORT or [IPV6]:PORT, with a port up to 65535)");
	}

	/** The address with its name resolved. */
	public InetSocketAddress resolve() {
		try {
			return new InetSocketAddress(InetAddress.getByName(this.host), this.port);
		}
		catch (UnknownHostException ex) {
			throw new PingException("there is no host called '" + this.host + "'", ex);
		}
	}

	@Override
	public String toString() {
		return ((this.host.indexOf(':') >= 0) ? "[" + this.host + "]" : this.host) + ":" + this.port;
	}

}
