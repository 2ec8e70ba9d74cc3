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

#include "handles.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "wait.h"

#define SLOT_BITS 24
#define KIND_BITS 4
#define GENERATION_SHIFT (SLOT_BITS + KIND_BITS)
#define GENERATION_MAX ((UINT64_C(1) << (63 - GENERATION_SHIFT)) - 1)
#define CHUNK_SLOTS 512u
#define CHUNKS 8192u
#define YIELDS 64

/* A cache line of its own, because the pins of busy objects change all the time. */
struct slot {
	_Alignas(64) _Atomic(handle_t) valid; /* the handle that may be pinned, or 0 */
	_Atomic(uint32_t) pins;
	void *object;
	uint64_t generation;
	struct slot *next_free;
	uint32_t number;
};

static _Atomic(struct slot *) chunks[CHUNKS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot *free_slots;
static uint32_t chunk_count;

static struct slot *slot_of(handle_t handle)
{
	uint32_t number = handle_slot(handle);
	struct slot *chunk = NULL;
	if (number / CHUNK_SLOTS < CHUNKS)
		chunk = atomic_load_explicit(&chunks[number / CHUNK_SLOTS], memory_order_acquire);
	return chunk == NULL ? NULL : &chunk[number % CHUNK_SLOTS];
}

/* With the table locked. */
static bool add_chunk(void)
{
	if (chunk_count == CHUNKS)
		return false;
	struct slot *chunk = aligned_alloc(_Alignof(struct slot), CHUNK_SLOTS * sizeof(struct slot));
	if (chunk == NULL)
		return false;
	for (uint32_t i = CHUNK_SLOTS; i-- > 0;) {
		atomic_init(&chunk[i].valid, 0);
		atomic_init(&chunk[i].pins, 0);
		chunk[i].object = NULL;
		chunk[i].generation = 0;
		chunk[i].number = chunk_count * CHUNK_SLOTS + i;
		chunk[i].next_free = free_slots;
		free_slots = &chunk[i];
	}
	atomic_store_explicit(&chunks[chunk_count++], chunk, memory_order_release);
	return true;
}

handle_t handle_reserve(enum kind kind)
{
	handle_t handle = 0;
	pthread_mutex_lock(&table_lock);
	if (free_slots != NULL || add_chunk()) {
		struct slot *slot = free_slots;
		free_slots = slot->next_free;
		slot->generation = slot->generation == GENERATION_MAX ? 1 : slot->generation + 1;
		handle = slot->generation << GENERATION_SHIFT | (handle_t) kind << SLOT_BITS | slot->number;
	}
	pthread_mutex_unlock(&table_lock);
	return handle;
}

void handle_publish(handle_t handle, void *object)
{
	struct slot *slot = slot_of(handle);
	slot->object = object;
	atomic_store(&slot->valid, handle);
}

void handle_release(handle_t handle)
{
	struct slot *slot = slot_of(handle);
	pthread_mutex_lock(&table_lock);
	slot->object = NULL;
	slot->next_free = free_slots;
	free_slots = slot;
	pthread_mutex_unlock(&table_lock);
}

handle_t handle_create(enum kind kind, void *object)
{
	handle_t handle = handle_reserve(kind);
	if (handle != 0)
		handle_publish(handle, object);
	return handle;
}

/*
 * The pin and the revocation meet as in Dekker's algorithm: one counts itself and then looks whether the handle
 * is valid, the other makes it invalid and then looks at the count. Sequential consistency lets at least one see the other.
 */
void *handle_pin(handle_t handle, enum kind kind)
{
	struct slot *slot;
	if (handle_kind(handle) != kind || (slot = slot_of(handle)) == NULL)
		return NULL;
	atomic_fetch_add(&slot->pins, 1);
	if (atomic_load(&slot->valid) == handle)
		return slot->object;
	atomic_fetch_sub(&slot->pins, 1);
	return NULL;
}

void handle_unpin(handle_t handle)
{
	atomic_fetch_sub(&slot_of(handle)->pins, 1);
}

void *handle_revoke(handle_t handle, enum kind kind)
{
	struct slot *slot;
	handle_t expected = handle;
	if (handle == 0 || handle_kind(handle) != kind || (slot = slot_of(handle)) == NULL)
		return NULL;
	/* Nobody else changes the object of a valid handle, so it may be read once the handle is ours. */
	return atomic_compare_exchange_strong(&slot->valid, &expected, 0) ? slot->object : NULL;
}

void handle_drain(handle_t handle, int wake)
{
	struct slot *slot = slot_of(handle);
	const struct timespec pause = { .tv_nsec = 50000 };
	for (int i = 0; atomic_load(&slot->pins) != 0; i++) {
		if (wake >= 0)
			wake_up(wake);
		if (i < YIELDS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
}

void handle_restore(handle_t handle)
{
	atomic_store(&slot_of(handle)->valid, handle);
}

enum kind handle_kind(handle_t handle)
{
	return (enum kind) (handle >> SLOT_BITS & ((1u << KIND_BITS) - 1));
}

uint32_t handle_slot(handle_t handle)
{
	return (uint32_t) (handle & ((1u << SLOT_BITS) - 1));
}

const char *kind_name(enum kind kind)
{
	static const char *const names[KIND_COUNT] = {
		[KIND_ANY] = "object",
		[KIND_EVENT_CHANNEL] = "event channel",
		[KIND_ID] = "connection id",
		[KIND_QUEUE_PAIR] = "queue pair",
		[KIND_CONTEXT] = "device context",
		[KIND_DOMAIN] = "protection domain",
		[KIND_COMPLETION_CHANNEL] = "completion channel",
		[KIND_COMPLETION_QUEUE] = "completion queue",
		[KIND_REGION] = "memory region",
		[KIND_SHARED_QUEUE] = "shared receive queue",
	};
	return kind < KIND_COUNT ? names[kind] : names[KIND_ANY];
}
