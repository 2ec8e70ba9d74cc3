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

package dev.rdmarpc.sample.web;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.sample.store.FeatureStore;

/**
 * The large values as REST resources: between socket and store they are in registered
 * memory only.
 */
@RestController
@Profile("!server")
@RequestMapping("/features/{key}/blob")
class BlobController {

	private static final int MAX_BYTES = 16 << 20;

	private final FeatureStore store;

	private final RegisteredMemory memory;

	BlobController(@Qualifier("features") FeatureStore store, RegisteredMemory memory) {
		this.store = store;
		this.memory = memory;
	}

	@PutMapping(consumes = MediaType.APPLICATION_OCTET_STREAM_VALUE)
	ResponseEntity<Void> put(@PathVariable String key, HttpServletRequest request) throws IOException {
		long length = request.getContentLengthLong();
		if (length < 0) {
			return ResponseEntity.status(HttpStatus.LENGTH_REQUIRED).build();
		}
		if (length > MAX_BYTES) {
			return ResponseEntity.status(HttpStatus.CONTENT_TOO_LARGE).build();
		}
		RegisteredBuffer bytes = this.memory.allocate((int) length);
		try {
			if (!fill(bytes.buffer(), request.getInputStream())) {
				return ResponseEntity.badRequest().build();
			}
			this.store.putBlob(key, bytes);
			return ResponseEntity.noContent().build();
		}
		finally {
			bytes.release();
		}
	}

	/** A read leaves the position and sets the limit behind what it has read. */
	private static boolean fill(ByteBuffer target, ServletInputStream source) throws IOException {
		int end = target.limit();
		while (target.hasRemaining()) {
			if (source.read(target) < 0) {
				return false;
			}
			target.position(target.limit()).limit(end);
		}
		return true;
	}

	@GetMapping(produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
	void get(@PathVariable String key, HttpServletResponse response) throws IOException {
		Optional<RegisteredBuffer> found = this.store.getBlob(key);
		if (found.isEmpty()) {
			response.setStatus(HttpStatus.NOT_FOUND.value());
			return;
		}
		RegisteredBuffer bytes = found.get();
		try {
			response.setContentType(MediaType.APPLICATION_OCTET_STREAM_VALUE);
			response.setContentLengthLong(bytes.length());
			response.getOutputStream().write(bytes.buffer());
		}
		finally {
			bytes.release();
		}
	}

}
