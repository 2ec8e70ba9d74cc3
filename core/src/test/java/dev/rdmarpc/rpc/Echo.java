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

package dev.rdmarpc.rpc;

import java.util.concurrent.CompletableFuture;

/** The service of the tests. */
public interface Echo {

	@RdmaMethod(inline = true)
	String echo(String text);

	String echoOnExecutor(String text);

	@RdmaMethod(inline = true)
	CompletableFuture<String> echoAsync(String text);

	byte[] bytes(byte[] bytes);

	int add(int a, int b);

	void touch();

	String fail(String kind);

	@RdmaMethod(priority = Priority.HIGH, deadlineMillis = 200)
	String slow(long millis);

	CompletableFuture<Void> never();

	Point move(Point from, int dx);

	/** A record. */
	record Point(int x, double y, String label) {

	}

}
