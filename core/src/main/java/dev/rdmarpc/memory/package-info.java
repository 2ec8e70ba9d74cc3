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
 * Registered memory: a pool that devices may read and write, and the buffers allocated
 * from it.
 *
 * <p>
 * Who owns a buffer. Every buffer has one owner at a time, who releases it; everybody
 * else borrows it for the length of a call or retains it.
 *
 * <table>
 * <caption>Ownership</caption>
 * <tr>
 * <th>step</th>
 * <th>owner before</th>
 * <th>owner after</th>
 * <th>released by</th>
 * </tr>
 * <tr>
 * <td>allocate, slice, register</td>
 * <td>memory</td>
 * <td>caller</td>
 * <td>caller</td>
 * </tr>
 * <tr>
 * <td>codec claims a frame</td>
 * <td>memory</td>
 * <td>codec</td>
 * <td>codec on abort</td>
 * </tr>
 * <tr>
 * <td>commit</td>
 * <td>codec</td>
 * <td>channel</td>
 * <td>completion of the Send</td>
 * </tr>
 * <tr>
 * <td>referenced segment (caller's buffer)</td>
 * <td>caller and message (retained)</td>
 * <td>message</td>
 * <td>completion of the Send, or the peer's read-done</td>
 * </tr>
 * <tr>
 * <td>a builder begins a message</td>
 * <td>builder</td>
 * <td>builder</td>
 * <td>abort, close or the next begin, unless it is finished</td>
 * </tr>
 * <tr>
 * <td>a builder finishes a message</td>
 * <td>builder</td>
 * <td>caller, one reference</td>
 * <td>caller; what the message refers to goes with its last reference</td>
 * </tr>
 * <tr>
 * <td>message that is part of others, or of a call</td>
 * <td>caller and each of them (retained)</td>
 * <td>each of them</td>
 * <td>whoever holds the other: its last release, or the end of encoding</td>
 * </tr>
 * <tr>
 * <td>message named in a work request</td>
 * <td>caller</td>
 * <td>caller</td>
 * <td>caller, after completion</td>
 * </tr>
 * <tr>
 * <td>receive completion</td>
 * <td>device</td>
 * <td>channel</td>
 * <td>dispatcher after the handler, which reposts it</td>
 * </tr>
 * <tr>
 * <td>zero-copy argument handed to a handler</td>
 * <td>channel (retained)</td>
 * <td>handler</td>
 * <td>end of the call unless the handler retains it</td>
 * </tr>
 * <tr>
 * <td>reference a handler gives up for its result</td>
 * <td>handler</td>
 * <td>call</td>
 * <td>end of the call</td>
 * </tr>
 * <tr>
 * <td>large payload read from a peer</td>
 * <td>reader</td>
 * <td>handler</td>
 * <td>end of the call unless the handler retains it</td>
 * </tr>
 * </table>
 *
 * <p>
 * Every path that ends early gives everything back.
 *
 * <p>
 * A buffer of the user's own memory
 * ({@link dev.rdmarpc.memory.RegisteredMemory#register}) is owned like any other; the
 * memory behind it stays the user's, and stays registered until it is forgotten or
 * dropped from the cache of registrations.
 */
@NullMarked
package dev.rdmarpc.memory;

import org.jspecify.annotations.NullMarked;
