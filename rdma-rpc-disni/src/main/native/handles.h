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

/*
 * Handles: what Java holds in place of pointers.
 *
 * A handle names a slot of a table, the kind of object in it and how often the slot was used:
 *
 *    63  62                      28 27   24 23                  0
 *   +---+--------------------------+-------+---------------------+
 *   | 0 |        generation        | kind  |    slot             |
 *   +---+--------------------------+-------+---------------------+
 *
 * Whoever uses an object pins its handle first; a handle that is stale, of another kind, or made up
 * cannot be pinned. Whoever destroys an object revokes its handle, so that nobody pins it any more, and
 * waits until those who did are done. So nothing that Java passes makes us follow a dangling pointer.
 */
#ifndef RDMARPC_HANDLES_H
#define RDMARPC_HANDLES_H

#include <stdint.h>

typedef uint64_t handle_t;

enum kind {
	KIND_ANY,
	KIND_EVENT_CHANNEL,
	KIND_ID,
	KIND_QUEUE_PAIR,
	KIND_CONTEXT,
	KIND_DOMAIN,
	KIND_COMPLETION_CHANNEL,
	KIND_COMPLETION_QUEUE,
	KIND_REGION,
	KIND_SHARED_QUEUE,
	KIND_COUNT
};

/* Takes a slot whose handle cannot be pinned yet; 0 when there is no memory. */
handle_t handle_reserve(enum kind kind);

/* Lets the handle be pinned from now on. */
void handle_publish(handle_t handle, void *object);

/* Gives a reserved, or revoked and drained, handle's slot back. */
void handle_release(handle_t handle);

/* Reserves and publishes. */
handle_t handle_create(enum kind kind, void *object);

/* The object, which stays until handle_unpin; NULL for a handle that names no object of this kind. */
void *handle_pin(handle_t handle, enum kind kind);

void handle_unpin(handle_t handle);

/* Makes the handle stale and hands its object to the caller alone; NULL if it was stale already. */
void *handle_revoke(handle_t handle, enum kind kind);

/* Waits until a revoked handle is pinned by nobody. Meanwhile keeps waking whoever waits on wake (or -1). */
void handle_drain(handle_t handle, int wake);

/* Makes a revoked handle valid again: its object could not be destroyed. */
void handle_restore(handle_t handle);

enum kind handle_kind(handle_t handle);

uint32_t handle_slot(handle_t handle);

/* "queue pair" and so on. */
const char *kind_name(enum kind kind);

#endif
