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

handle_t shared_queue_create(JNIEnv *env, handle_t domain_handle, int depth, int segments)
{
	static const char verb[] = "ibv_create_srq";
	struct ibv_pd *domain = handle_pin(domain_handle, KIND_DOMAIN);
	if (domain == NULL) {
		fail_stale(env, verb, domain_handle, KIND_DOMAIN);
		return 0;
	}
	struct ibv_srq_init_attr attributes = { .attr = { .max_wr = (uint32_t) depth, .max_sge = (uint32_t) segments } };
	struct shared_queue *queue = calloc(1, sizeof(*queue));
	int error = queue == NULL ? ENOMEM : depth < 1 || segments < 1 ? EINVAL : 0;
	if (error == 0) {
		errno = 0;
		queue->raw = ibv_create_srq(domain, &attributes);
		error = queue->raw == NULL ? error_of(-1) : 0;
	}
	handle_t handle = error != 0 ? 0 : handle_create(KIND_SHARED_QUEUE, queue);
	if (handle != 0) {
		queue->granted = attributes.attr;
	} else {
		if (error == 0)
			ibv_destroy_srq(queue->raw);
		free(queue);
		fail(env, verb, error != 0 ? error : ENOMEM, domain_handle, domain->context);
	}
	handle_unpin(domain_handle);
	return handle;
}

void shared_queue_destroy(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_destroy_srq";
	struct shared_queue *queue = handle_revoke(handle, KIND_SHARED_QUEUE);
	if (queue == NULL) {
		fail_stale(env, verb, handle, KIND_SHARED_QUEUE);
		return;
	}
	handle_drain(handle, -1);
	int error = error_of(ibv_destroy_srq(queue->raw));
	if (error != 0) {
		fail(env, verb, error, handle, queue->raw->context);
		handle_restore(handle);
		return;
	}
	free(queue);
	handle_release(handle);
}
