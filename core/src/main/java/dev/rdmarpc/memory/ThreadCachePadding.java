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

package dev.rdmarpc.memory;

/** Keeps a cache off the cache lines of the one before it. */
@SuppressWarnings("unused") // the space is used
abstract class ThreadCachePadding {

	private long p00;

	private long p01;

	private long p02;

	private long p03;

	private long p04;

	private long p05;

	private long p06;

	private long p07;

	private long p08;

	private long p09;

	private long p10;

	private long p11;

	private long p12;

	private long p13;

	private long p14;

	private long p15;

}
