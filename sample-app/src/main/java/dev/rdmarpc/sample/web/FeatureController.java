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

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Profile;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import dev.rdmarpc.sample.store.FeaturePage;
import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.sample.store.FeatureVector;

/** The store as REST resources. */
@RestController
@Profile("!server")
@RequestMapping("/features")
class FeatureController {

	private final FeatureStore store;

	FeatureController(@Qualifier("features") FeatureStore store) {
		this.store = store;
	}

	@PutMapping("/{key}")
	Map<String, Long> put(@PathVariable String key, @RequestBody float[] values) {
		return Map.of("version", this.store.put(key, values));
	}

	@GetMapping("/{key}")
	ResponseEntity<FeatureVector> get(@PathVariable String key) {
		return ResponseEntity.of(this.store.get(key));
	}

	@GetMapping("/{key}/async")
	CompletableFuture<ResponseEntity<FeatureVector>> getAsync(@PathVariable String key) {
		return this.store.getAsync(key).thenApply(ResponseEntity::of);
	}

	@PostMapping("/multi-get")
	List<FeatureVector> multiGet(@RequestBody List<String> keys) {
		return this.store.multiGet(keys);
	}

	@GetMapping
	FeaturePage scan(@RequestParam(defaultValue = "") String prefix, @RequestParam @Nullable String after,
			@RequestParam(defaultValue = "100") int limit) {
		return this.store.scan(prefix, Optional.ofNullable(after), limit);
	}

}
