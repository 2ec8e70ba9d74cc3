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

package dev.rdmarpc.logging;

import java.util.regex.Pattern;

/** Text that comes from a peer, made fit for messages and logs. */
public final class PeerText {

	private static final int MAX_LENGTH = 300;

	/** Also those beyond ASCII, and what ends a line. */
	private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}]");

	private static final Pattern UNUSUAL = Pattern.compile("[^ -~]");

	private PeerText() {
	}

	/**
	 * The text in one line, with a question mark for what a terminal would obey or a log
	 * would begin a line at.
	 */
	public static String oneLine(String text) {
		return CONTROL.matcher(text).replaceAll("?");
	}

	/** The text, shortened, with a question mark for each character that is not ASCII. */
	public static String shown(String text) {
		String printable = UNUSUAL.matcher(text).replaceAll("?");
		return (printable.length() <= MAX_LENGTH) ? printable : printable.substring(0, MAX_LENGTH) + "…";
	}

}
