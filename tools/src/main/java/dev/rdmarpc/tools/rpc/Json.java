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

package dev.rdmarpc.tools.rpc;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Trees as JSON: byte arrays are Base64, numbers keep all their digits. */
final class Json {

	private static final JsonMapper LINES = JsonMapper.builder()
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
		.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
		.enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
		.build();

	private static final JsonMapper INDENTED = LINES.rebuild().enable(SerializationFeature.INDENT_OUTPUT).build();

	private Json() {
	}

	/**
	 * Reads what a user gave: JSON, {@code @FILE}, or {@code -} for the standard input.
	 * @throws IllegalArgumentException if it is no JSON
	 */
	static @Nullable Object read(String given, InputStream input) {
		String text = given;
		try {
			if (given.equals("-")) {
				text = new String(input.readAllBytes(), StandardCharsets.UTF_8);
			}
			else if (given.startsWith("@")) {
				text = Files.readString(Path.of(given.substring(1)));
			}
			return LINES.readValue(text, Object.class);
		}
		catch (NoSuchFileException ex) {
			throw new IllegalArgumentException("there is no file " + given.substring(1), ex);
		}
		catch (IOException ex) {
			throw new IllegalArgumentException(given + " cannot be read: " + ex.getMessage(), ex);
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException("the arguments are no JSON: " + ex.getOriginalMessage(), ex);
		}
	}

	/** Reads what a server said. */
	static @Nullable Object read(String text) {
		return LINES.readValue(text, Object.class);
	}

	/** For a reader. */
	static String indented(@Nullable Object tree) {
		return INDENTED.writeValueAsString(tree);
	}

	/** In one line. */
	static String line(@Nullable Object tree) {
		return LINES.writeValueAsString(tree);
	}

}
