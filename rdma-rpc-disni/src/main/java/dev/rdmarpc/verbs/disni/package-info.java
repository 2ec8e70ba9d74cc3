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
 * RDMA adapters through DiSNI, libibverbs and librdmacm.
 *
 * <p>
 * DiSNI's Java classes call a native library {@code disni}. The one of this project (in
 * {@code src/main/native}) is bundled for Linux; it does all that DiSNI asks for, and
 * more that only {@link dev.rdmarpc.verbs.disni.NativeVerbs} asks for. With a library
 * that somebody else has built, everything works that DiSNI knows of.
 */
@NullMarked
package dev.rdmarpc.verbs.disni;

import org.jspecify.annotations.NullMarked;
