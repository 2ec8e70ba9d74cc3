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

/**
 * Message codecs: how arguments and results of service methods become bytes and come
 * back.
 *
 * <p>
 * A {@link dev.rdmarpc.codec.MessageCodec} compiles a
 * {@link dev.rdmarpc.codec.MessageFormat} for each direction of each method once, at
 * start-up; that is where unsupported types are reported. A format encodes into
 * {@link dev.rdmarpc.codec.MessageSegments}, a reusable list of pieces of memory that the
 * transport copies or gathers, and decodes from one contiguous direct buffer.
 *
 * <p>
 * Threading: codecs and formats may be shared by all threads; a {@code MessageSegments}
 * belongs to one thread at a time.
 */
@NullMarked
package dev.rdmarpc.codec;

import org.jspecify.annotations.NullMarked;
