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

package dev.rdmarpc.verbs.iwarp;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * What Wireshark has recognised in a capture: the fields of all packets, flattened, in
 * their order.
 *
 * @param fields protocols and fields
 */
record Dissection(List<Field> fields) {

	/** Expert information from here on says that something is wrong. */
	private static final int SEVERITY_WARNING = 0x600000;

	/** Wireshark knows no revision but the first, and says so. */
	private static final List<String> REVISION_2_IS_UNKNOWN = List.of("iwarp_mpa.rev.not_set1",
			"iwarp_mpa.res.not_set0");

	/** Parses tshark's {@code -T pdml}. */
	static Dissection parse(InputStream pdml) throws XMLStreamException {
		List<Field> fields = new ArrayList<>();
		XMLStreamReader reader = XMLInputFactory.newDefaultFactory().createXMLStreamReader(pdml);
		int packet = 0;
		while (reader.hasNext()) {
			if (reader.next() != XMLStreamConstants.START_ELEMENT) {
				continue;
			}
			if ("packet".equals(reader.getLocalName())) {
				packet++;
			}
			else if (reader.getAttributeValue(null, "name") != null) {
				fields.add(new Field(packet, reader.getAttributeValue(null, "name"), attribute(reader, "showname"),
						attribute(reader, "show")));
			}
		}
		return new Dissection(List.copyOf(fields));
	}

	private static String attribute(XMLStreamReader reader, String name) {
		String value = reader.getAttributeValue(null, name);
		return (value != null) ? value : "";
	}

	/** All fields of a name, in their order. */
	List<Field> all(String name) {
		return this.fields.stream().filter((field) -> field.name.equals(name)).toList();
	}

	/** The numbers in all fields of a name, in their order. */
	List<Long> numbers(String name) {
		return all(name).stream().map(Field::number).toList();
	}

	/**
	 * The FPDUs recognised in one direction of a connection; the opcode is the last of
	 * their fields that matter.
	 */
	List<CapturedFrame> frames(int connection, boolean fromClient) {
		List<CapturedFrame> frames = new ArrayList<>();
		Map<String, Field> packet = new HashMap<>();
		int client = CaptureFile.FIRST_CLIENT_PORT + connection;
		for (Field field : this.fields) {
			if (field.name.equals("frame")) {
				packet.clear();
			}
			packet.put(field.name, field);
			boolean complete = field.name.equals("iwarp_rdma.opcode");
			if (complete && numberOf(packet, fromClient ? "tcp.srcport" : "tcp.dstport") == client) {
				frames.add(frame(packet));
			}
		}
		return frames;
	}

	private static CapturedFrame frame(Map<String, Field> packet) {
		boolean tagged = numberOf(packet, "iwarp_ddp.tagged_flag") != 0;
		return new CapturedFrame((int) numberOf(packet, "iwarp_mpa.ulpdulength"),
				(int) numberOf(packet, "iwarp_rdma.opcode"), numberOf(packet, "iwarp_ddp.last_flag") != 0,
				numberOf(packet, tagged ? "iwarp_ddp.stag" : "iwarp_ddp.qn"),
				numberOf(packet, tagged ? "iwarp_ddp.tagged_offset" : "iwarp_ddp.msn"),
				tagged ? 0 : numberOf(packet, "iwarp_ddp.mo"));
	}

	private static long numberOf(Map<String, Field> packet, String name) {
		Field field = packet.get(name);
		return (field != null) ? field.number() : -1;
	}

	/**
	 * All that Wireshark objects to: what is malformed, warnings and errors, checksums
	 * and CRCs that are wrong.
	 */
	List<String> complaints() {
		List<String> complaints = new ArrayList<>();
		Field cause = null;
		Field expert = null;
		for (Field field : this.fields) {
			boolean complaint = field.name.startsWith("_ws.malformed") || field.name.startsWith("_ws.short")
					|| (field.name.startsWith("iwarp_mpa.crc") && field.text.contains("Bad CRC"))
					|| (field.name.endsWith("checksum.status") && !field.text.endsWith(": Good"))
					|| field.name.startsWith("iwarp_rdma.send.fragment.error");
			if (field.name.equals("_ws.expert")) {
				expert = field;
				cause = null;
			}
			else if (expert != null && cause == null) {
				cause = field;
			}
			if (field.name.equals("_ws.expert.severity") && field.number() >= SEVERITY_WARNING) {
				complaint = cause == null || !REVISION_2_IS_UNKNOWN.contains(cause.name);
			}
			if (complaint) {
				Field shown = (field.name.startsWith("_ws.expert") && expert != null) ? expert : field;
				complaints.add("packet " + shown.packet + ": " + shown.name + " " + shown.text);
			}
		}
		return complaints;
	}

	/**
	 * One field, or the protocol that fields belong to.
	 *
	 * @param packet number of the packet, from 1, as Wireshark counts
	 * @param name its filter name, such as {@code iwarp_mpa.crc}
	 * @param text how it is shown
	 * @param value its value as text
	 */
	record Field(int packet, String name, String text, String value) {

		long number() {
			return switch (this.value) {
				case "True" -> 1;
				case "False" -> 0;
				default -> this.value.startsWith("0x") ? Long.parseUnsignedLong(this.value.substring(2), 16)
						: Long.parseLong(this.value);
			};
		}

	}

}
