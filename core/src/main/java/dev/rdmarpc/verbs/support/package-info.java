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
 *
 * <p>
 * Providers in user space share more, since nobody but them executes what is posted:
 * {@link dev.rdmarpc.verbs.support.EngineProtectionDomain protection domains} with their
 * {@link dev.rdmarpc.verbs.support.RegisteredMemory regions},
 * {@link dev.rdmarpc.verbs.support.WorkQueue work queues},
 * {@link dev.rdmarpc.verbs.support.EngineQueuePair queue pairs} with their
 * {@link dev.rdmarpc.verbs.support.QueuePairLifecycle life}, and
 * {@link dev.rdmarpc.verbs.support.EngineCompletionQueue completion queues} with their
 * {@link dev.rdmarpc.verbs.support.ProgressEngine engine}. Such a provider adds its
 * {@link dev.rdmarpc.verbs.support.EngineConnection connections}, which move the bytes.
 *
 * <p>
 * Threading. What is posted is written by any thread; all else of a completion queue, its
 * queue pairs and their connections is guarded by the lock of its engine.
 */
@NullMarked
package dev.rdmarpc.verbs.support;

import org.jspecify.annotations.NullMarked;
