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
#include <stddef.h>

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
	errno = 0;
	struct ibv_srq *queue = depth < 1 || segments < 1 ? NULL : ibv_create_srq(domain, &attributes);
	int error = queue != NULL ? 0 : depth < 1 || segments < 1 ? EINVAL : error_of(-1);
	handle_t handle = queue == NULL ? 0 : handle_create(KIND_SHARED_QUEUE, queue);
	if (handle == 0) {
		if (queue != NULL)
			ibv_destroy_srq(queue);
		fail(env, verb, error != 0 ? error : ENOMEM, domain_handle, domain->context);
	}
	handle_unpin(domain_handle);
	return handle;
}

void shared_queue_destroy(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_destroy_srq";
	struct ibv_srq *queue = handle_revoke(handle, KIND_SHARED_QUEUE);
	if (queue == NULL) {
		fail_stale(env, verb, handle, KIND_SHARED_QUEUE);
		return;
	}
	handle_drain(handle, -1);
	int error = error_of(ibv_destroy_srq(queue));
	if (error != 0) {
		fail(env, verb, error, handle, queue->context);
		handle_restore(handle);
		return;
	}
	handle_release(handle);
}

jlongArray shared_queue_query(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_query_srq";
	struct ibv_srq *queue = handle_pin(handle, KIND_SHARED_QUEUE);
	if (queue == NULL) {
		fail_stale(env, verb, handle, KIND_SHARED_QUEUE);
		return NULL;
	}
	struct ibv_srq_attr attributes;
	jlongArray array = NULL;
	int error = error_of(ibv_query_srq(queue, &attributes));
	if (error != 0) {
		fail(env, verb, error, handle, queue->context);
	} else {
		/* NativeLayout.SHARED_* in their order */
		const jlong values[] = { attributes.max_wr, attributes.max_sge, attributes.srq_limit };
		array = long_array(env, values, sizeof(values) / sizeof(values[0]));
	}
	handle_unpin(handle);
	return array;
}
