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

/* One handle for each context that librdmacm has opened. Contexts are never closed, and neither is this list. */
struct known_context {
	struct ibv_context *context;
	handle_t handle;
	struct known_context *next;
};

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct known_context *known;

handle_t context_handle(struct ibv_context *context)
{
	pthread_mutex_lock(&known_lock);
	struct known_context *entry = known;
	while (entry != NULL && entry->context != context)
		entry = entry->next;
	if (entry == NULL && (entry = calloc(1, sizeof(*entry))) != NULL) {
		entry->context = context;
		entry->handle = handle_create(KIND_CONTEXT, context);
		if (entry->handle == 0) {
			free(entry);
			entry = NULL;
		} else {
			entry->next = known;
			known = entry;
		}
	}
	pthread_mutex_unlock(&known_lock);
	return entry == NULL ? 0 : entry->handle;
}

struct ibv_context *context_of(JNIEnv *env, handle_t handle, const char *verb)
{
	struct ibv_context *context = handle_pin(handle, KIND_CONTEXT);
	if (context == NULL)
		fail_stale(env, verb, handle, KIND_CONTEXT);
	else
		handle_unpin(handle);
	return context;
}

static jlongArray long_array(JNIEnv *env, const jlong *values, int count)
{
	jlongArray array = (*env)->NewLongArray(env, count);
	if (array != NULL)
		(*env)->SetLongArrayRegion(env, array, 0, count, values);
	return array;
}

jlongArray device_contexts(JNIEnv *env)
{
	static const char verb[] = "rdma_get_devices";
	int count = 0;
	struct ibv_context **contexts = rdma_get_devices(&count);
	if (contexts == NULL) {
		fail(env, verb, error_of(-1), 0, NULL);
		return NULL;
	}
	jlong *handles = calloc((size_t) count + 1, sizeof(*handles));
	bool complete = handles != NULL;
	for (int i = 0; complete && i < count; i++) {
		handles[i] = (jlong) context_handle(contexts[i]);
		complete = handles[i] != 0;
	}
	rdma_free_devices(contexts);
	jlongArray array = NULL;
	if (complete)
		array = long_array(env, handles, count);
	else
		fail(env, verb, ENOMEM, 0, NULL);
	free(handles);
	return array;
}

jlongArray device_query(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_query_device";
	struct ibv_context *context = context_of(env, handle, verb);
	struct ibv_device_attr attributes;
	if (context == NULL)
		return NULL;
	int error = error_of(ibv_query_device(context, &attributes));
	if (error != 0) {
		fail(env, verb, error, handle, context);
		return NULL;
	}
	/* NativeLayout.DEVICE_* in their order */
	const jlong values[] = {
		context->device->transport_type,
		attributes.max_qp,
		attributes.max_qp_wr,
		attributes.max_sge,
		attributes.max_sge_rd,
		attributes.max_cqe,
		attributes.max_qp_rd_atom,
		attributes.max_qp_init_rd_atom,
		attributes.max_srq,
		attributes.max_srq_wr,
		attributes.max_srq_sge,
		attributes.vendor_id,
	};
	return long_array(env, values, sizeof(values) / sizeof(values[0]));
}

jlongArray port_query(JNIEnv *env, handle_t handle, uint8_t port)
{
	static const char verb[] = "ibv_query_port";
	struct ibv_context *context = context_of(env, handle, verb);
	struct ibv_port_attr attributes;
	if (context == NULL)
		return NULL;
	int error = error_of(ibv_query_port(context, port, &attributes));
	if (error != 0) {
		fail(env, verb, error, handle, context);
		return NULL;
	}
	/* NativeLayout.PORT_* in their order */
	const jlong values[] = {
		attributes.state,
		attributes.max_msg_sz,
	};
	return long_array(env, values, sizeof(values) / sizeof(values[0]));
}

int device_paging_support(handle_t handle)
{
	struct ibv_context *context = handle_pin(handle, KIND_CONTEXT);
	struct ibv_device_attr_ex attributes;
	if (context == NULL)
		return 0;
	int error = ibv_query_device_ex(context, NULL, &attributes);
	handle_unpin(handle);
	if (error != 0 || (attributes.odp_caps.general_caps & IBV_ODP_SUPPORT) == 0)
		return 0;
	return (int) attributes.odp_caps.per_transport_caps.rc_odp_caps;
}
