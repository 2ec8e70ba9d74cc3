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
#include <errno.h>
#include <stdlib.h>

#include "errors.h"
#include "objects.h"

static const char create[] = "rdma_create_qp";

/* Creates with everything pinned and the channel locked; 0 or an errno. */
static int create_on(struct connection_id *id, handle_t id_handle, struct ibv_pd *domain, struct ibv_qp_init_attr *attributes)
{
	struct queue_pair *queue_pair = calloc(1, sizeof(*queue_pair));
	handle_t handle = queue_pair == NULL ? 0 : handle_reserve(KIND_QUEUE_PAIR);
	int error = handle == 0 ? ENOMEM : id->raw->verbs == NULL || id->queue_pair != 0 ? EINVAL : 0;
	if (error == 0) {
		attributes->qp_context = (void *) (uintptr_t) handle;
		errno = 0; /* not every driver gives a reason */
		error = error_of(rdma_create_qp(id->raw, domain, attributes));
	}
	if (error != 0) {
		free(queue_pair);
		if (handle != 0)
			handle_release(handle);
		return error;
	}
	queue_pair->raw = id->raw->qp;
	queue_pair->id = id_handle;
	queue_pair->capacity = attributes->cap;
	id->queue_pair = handle;
	handle_publish(handle, queue_pair);
	return 0;
}

/* Pins what the queue pair is made of, except the id; remembers in attributes. False and an exception if one is stale. */
static bool pin_parts(JNIEnv *env, const handle_t handles[4], void *parts[4])
{
	static const enum kind kinds[4] = {
		KIND_DOMAIN, KIND_COMPLETION_QUEUE, KIND_COMPLETION_QUEUE, KIND_SHARED_QUEUE
	};
	for (int i = 0; i < 4; i++) {
		parts[i] = NULL;
		if (handles[i] == 0 && kinds[i] == KIND_SHARED_QUEUE)
			continue;
		parts[i] = handle_pin(handles[i], kinds[i]);
		if (parts[i] == NULL) {
			fail_stale(env, create, handles[i], kinds[i]);
			while (i-- > 0)
				handle_unpin(handles[i]);
			return false;
		}
	}
	return true;
}

handle_t queue_pair_create(JNIEnv *env, handle_t id_handle, handle_t domain, handle_t send_queue, handle_t receive_queue,
		handle_t shared_queue, struct ibv_qp_init_attr *attributes)
{
	const handle_t handles[4] = { domain, send_queue, receive_queue, shared_queue };
	void *parts[4];
	if (!pin_parts(env, handles, parts))
		return 0;
	attributes->send_cq = parts[1];
	attributes->recv_cq = parts[2];
	attributes->srq = parts[3] == NULL ? NULL : ((struct shared_queue *) parts[3])->raw;
	handle_t handle = 0;
	struct connection_id *id = id_enter(env, id_handle, create);
	if (id != NULL) {
		int error = create_on(id, id_handle, parts[0], attributes);
		if (error == 0)
			handle = id->queue_pair;
		else
			fail(env, create, error, id_handle, id->raw->verbs);
		id_leave(id_handle, id);
	}
	for (int i = 0; i < 4; i++)
		if (parts[i] != NULL)
			handle_unpin(handles[i]);
	return handle;
}

void queue_pair_discard(struct connection_id *id)
{
	struct queue_pair *queue_pair =
		id->queue_pair == 0 ? NULL : handle_revoke(id->queue_pair, KIND_QUEUE_PAIR);
	if (queue_pair == NULL)
		return;
	handle_drain(id->queue_pair, -1);
	rdma_destroy_qp(id->raw);
	free(queue_pair);
	handle_release(id->queue_pair);
	id->queue_pair = 0;
}

void queue_pair_destroy(JNIEnv *env, handle_t id_handle)
{
	static const char verb[] = "rdma_destroy_qp";
	struct connection_id *id = id_enter(env, id_handle, verb);
	if (id == NULL)
		return;
	if (id->queue_pair == 0)
		fail(env, verb, EINVAL, id_handle, id->raw->verbs);
	else
		queue_pair_discard(id);
	id_leave(id_handle, id);
}

void queue_pair_close(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "rdma_destroy_qp";
	struct queue_pair *queue_pair = handle_pin(handle, KIND_QUEUE_PAIR);
	if (queue_pair == NULL) {
		fail_stale(env, verb, handle, KIND_QUEUE_PAIR);
		return;
	}
	handle_t id_handle = queue_pair->id;
	handle_unpin(handle);
	struct connection_id *id = id_enter(env, id_handle, verb);
	if (id == NULL)
		return;
	if (id->queue_pair == handle)
		queue_pair_discard(id);
	else
		fail_stale(env, verb, handle, KIND_QUEUE_PAIR);
	id_leave(id_handle, id);
}

void queue_pair_fail(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_modify_qp";
	struct queue_pair *queue_pair = handle_pin(handle, KIND_QUEUE_PAIR);
	if (queue_pair == NULL) {
		fail_stale(env, verb, handle, KIND_QUEUE_PAIR);
		return;
	}
	struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_ERR };
	int error = error_of(ibv_modify_qp(queue_pair->raw, &attributes, IBV_QP_STATE));
	if (error != 0)
		fail(env, verb, error, handle, queue_pair->raw->context);
	handle_unpin(handle);
}

int queue_pair_number(JNIEnv *env, handle_t handle)
{
	struct queue_pair *queue_pair = handle_pin(handle, KIND_QUEUE_PAIR);
	if (queue_pair == NULL) {
		fail_stale(env, "queue pair number", handle, KIND_QUEUE_PAIR);
		return -1;
	}
	int number = (int) queue_pair->raw->qp_num;
	handle_unpin(handle);
	return number;
}
