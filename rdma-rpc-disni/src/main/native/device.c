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
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "errors.h"
#include "objects.h"

/* One handle for each context that librdmacm has opened. It is closed when its device has gone and nobody holds it. */
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

/* Takes the handle of a context away; the context itself is librdmacm's. */
static void context_forget(struct ibv_context *context)
{
	pthread_mutex_lock(&known_lock);
	struct known_context **link = &known;
	while (*link != NULL && (*link)->context != context)
		link = &(*link)->next;
	struct known_context *entry = *link;
	if (entry != NULL)
		*link = entry->next;
	pthread_mutex_unlock(&known_lock);
	if (entry == NULL)
		return;
	if (handle_revoke(entry->handle, KIND_CONTEXT) != NULL) {
		handle_drain(entry->handle, -1);
		handle_release(entry->handle);
	}
	free(entry);
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

/*
 * librdmacm counts who has got a context with rdma_get_devices() and not given it back with rdma_free_devices(), and closes the
 * context of a device that has gone when nobody has. So a device of ours keeps what it has got, and gives the others back.
 */
void device_hold(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "rdma_get_devices";
	struct ibv_context *context = context_of(env, handle, verb);
	if (context == NULL)
		return;
	struct ibv_context **contexts = rdma_get_devices(NULL);
	if (contexts == NULL) {
		fail(env, verb, error_of(-1), handle, context);
		return;
	}
	int count = 0;
	int held = -1;
	for (; contexts[count] != NULL; count++) {
		if (contexts[count] == context)
			held = count;
	}
	if (held >= 0) {
		contexts[held] = contexts[count - 1];
		contexts[count - 1] = NULL;
	}
	rdma_free_devices(contexts);
	if (held < 0)
		fail(env, verb, ENODEV, handle, context);
}

/*
 * The kernel removes a device of a driver that cannot be taken from its users when the last file of the device is closed. But
 * librdmacm closes its context only when it sees a list of devices in which this one is missing, and takes an empty list for a
 * failure. So the files are closed by putting others in their place, on which nothing can be done; librdmacm closes those when
 * it comes to it.
 */
static int close_files(struct ibv_context *context)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (nothing < 0)
		return errno;
	int error = 0;
	if (dup3(nothing, context->cmd_fd, O_CLOEXEC) < 0 || dup3(nothing, context->async_fd, O_CLOEXEC) < 0)
		error = errno;
	close(nothing);
	return error;
}

void device_release(JNIEnv *env, handle_t handle, bool gone)
{
	static const char verb[] = "close of a device";
	struct ibv_context *context = context_of(env, handle, verb);
	if (context == NULL)
		return;
	int error = 0;
	if (gone) {
		context_forget(context);
		error = close_files(context);
	}
	struct ibv_context **given_back = calloc(2, sizeof(struct ibv_context *));
	if (given_back != NULL) {
		given_back[0] = context;
		rdma_free_devices(given_back);
	} else if (error == 0) {
		error = ENOMEM;
	}
	if (error != 0)
		fail(env, verb, error, handle, NULL);
}
