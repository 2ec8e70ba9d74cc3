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
 * What providers share: for those who implement the verbs, of no use to those who call
 * them.
 *
 * <p>
 * Nothing of it appears in the SPI, and a provider can do without. It is what every
 * provider would otherwise do in the same way.
 */
@NullMarked
package dev.rdmarpc.verbs.support;

import org.jspecify.annotations.NullMarked;
