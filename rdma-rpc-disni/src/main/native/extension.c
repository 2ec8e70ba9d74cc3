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
/* The entry points that dev.rdmarpc.verbs.disni.NativeVerbs declares. */
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "errors.h"
#include "library.h"
#include "objects.h"
#include "wait.h"

#define EXTENSION(type, name) JNIEXPORT type JNICALL Java_dev_rdmarpc_verbs_disni_NativeVerbs_##name
#define UNUSED __attribute__((unused))

#define EXTENSION_VERSION 3

/* Library and host */

EXTENSION(jint, extensionVersion)(JNIEnv *env UNUSED, jclass self UNUSED)
{
	return EXTENSION_VERSION;
}

EXTENSION(void, errorType)(JNIEnv *env, jclass self UNUSED, jclass type)
{
	error_type_set(env, type);
}

EXTENSION(void, exposeAsStaticLibrary)(JNIEnv *env, jclass self UNUSED)
{
	char text[256];
	if (!library_expose(text, sizeof(text))) {
		jclass type = (*env)->FindClass(env, "java/io/IOException");
		if (type != NULL)
			(*env)->ThrowNew(env, type, text);
	}
}

EXTENSION(void, close)(JNIEnv *env, jclass self UNUSED, jlong object)
{
	handle_t handle = (handle_t) object;
	switch (handle_kind(handle)) {
	case KIND_EVENT_CHANNEL:
		event_channel_destroy(env, handle);
		break;
	case KIND_ID:
		id_destroy(env, handle);
		break;
	case KIND_QUEUE_PAIR:
		queue_pair_close(env, handle);
		break;
	case KIND_DOMAIN:
		domain_destroy(env, handle);
		break;
	case KIND_COMPLETION_CHANNEL:
		completion_channel_destroy(env, handle);
		break;
	case KIND_COMPLETION_QUEUE:
		completion_queue_destroy(env, handle);
		break;
	case KIND_REGION:
		region_deregister(env, handle);
		break;
	case KIND_SHARED_QUEUE:
		shared_queue_destroy(env, handle);
		break;
	default:
		fail_stale(env, "close", handle, KIND_ANY);
	}
}

/* Devices */

EXTENSION(jlongArray, devices)(JNIEnv *env, jclass self UNUSED)
{
	return device_contexts(env);
}

EXTENSION(jstring, deviceName)(JNIEnv *env, jclass self UNUSED, jlong handle)
{
	struct ibv_context *context = context_of(env, (handle_t) handle, "ibv_get_device_name");
	return context == NULL ? NULL : (*env)->NewStringUTF(env, ibv_get_device_name(context->device));
}

EXTENSION(jlongArray, queryDevice)(JNIEnv *env, jclass self UNUSED, jlong context)
{
	return device_query(env, (handle_t) context);
}

EXTENSION(jlongArray, queryPort)(JNIEnv *env, jclass self UNUSED, jlong context, jint port)
{
	return port_query(env, (handle_t) context, (uint8_t) port);
}

EXTENSION(void, holdDevice)(JNIEnv *env, jclass self UNUSED, jlong context)
{
	device_hold(env, (handle_t) context);
}

EXTENSION(void, releaseDevice)(JNIEnv *env, jclass self UNUSED, jlong context, jboolean gone)
{
	device_release(env, (handle_t) context, gone);
}

/* Events of connections */

EXTENSION(void, wakeEventChannel)(JNIEnv *env, jclass self UNUSED, jlong channel)
{
	event_channel_wake(env, (handle_t) channel);
}

EXTENSION(jint, awaitEvent)(JNIEnv *env, jclass self UNUSED, jlong channel, jobject buffer, jlong timeout_nanos)
{
	void *target = buffer == NULL ? NULL : (*env)->GetDirectBufferAddress(env, buffer);
	struct event_record event;
	if (target == NULL || (*env)->GetDirectBufferCapacity(env, buffer) < (jlong) sizeof(event)) {
		fail(env, "event buffer", EINVAL, (handle_t) channel, NULL);
		return WAIT_FAILED;
	}
	int result = event_await(env, (handle_t) channel, deadline_after(timeout_nanos), &event);
	if (result == WAIT_READY)
		memcpy(target, &event, sizeof(event));
	return result;
}

/* Connections */

/* The socket address of 4 or 16 bytes; false and an exception for any other length. */
static bool socket_address(JNIEnv *env, const char *verb, handle_t id, jbyteArray bytes, jint scope, jint port,
		struct sockaddr_storage *address)
{
	memset(address, 0, sizeof(*address));
	jsize length = bytes == NULL ? 0 : (*env)->GetArrayLength(env, bytes);
	if (length == sizeof(struct in_addr)) {
		struct sockaddr_in *ip = (struct sockaddr_in *) address;
		ip->sin_family = AF_INET;
		ip->sin_port = htons((uint16_t) port);
		(*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *) &ip->sin_addr);
		return true;
	}
	if (length == sizeof(struct in6_addr)) {
		struct sockaddr_in6 *ip = (struct sockaddr_in6 *) address;
		ip->sin6_family = AF_INET6;
		ip->sin6_port = htons((uint16_t) port);
		ip->sin6_scope_id = (uint32_t) scope;
		(*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *) &ip->sin6_addr);
		return true;
	}
	fail(env, verb, EAFNOSUPPORT, id, NULL);
	return false;
}

EXTENSION(void, bindAddress)(JNIEnv *env, jclass self UNUSED, jlong id, jbyteArray bytes, jint scope, jint port)
{
	struct sockaddr_storage address;
	if (socket_address(env, "rdma_bind_addr", (handle_t) id, bytes, scope, port, &address))
		id_bind(env, (handle_t) id, (struct sockaddr *) &address);
}

EXTENSION(void, resolveAddress)(JNIEnv *env, jclass self UNUSED, jlong id, jbyteArray bytes, jint scope, jint port,
		jint millis)
{
	struct sockaddr_storage address;
	if (socket_address(env, "rdma_resolve_addr", (handle_t) id, bytes, scope, port, &address))
		id_resolve_address(env, (handle_t) id, NULL, (struct sockaddr *) &address, millis);
}

EXTENSION(jlong, contextOf)(JNIEnv *env, jclass self UNUSED, jlong id)
{
	return (jlong) id_context(env, (handle_t) id);
}

/* Address, port and, with IPv6, scope, in network byte order; empty without an address. */
static jbyteArray address_bytes(JNIEnv *env, jlong id, bool local)
{
	struct sockaddr_storage address;
	uint8_t bytes[sizeof(struct in6_addr) + sizeof(in_port_t) + sizeof(uint32_t)];
	jsize length = 0;
	if (!id_address(env, (handle_t) id, local, &address))
		return NULL;
	if (address.ss_family == AF_INET) {
		const struct sockaddr_in *ip = (const struct sockaddr_in *) &address;
		memcpy(bytes, &ip->sin_addr, 4);
		memcpy(bytes + 4, &ip->sin_port, 2);
		length = 6;
	} else if (address.ss_family == AF_INET6) {
		const struct sockaddr_in6 *ip = (const struct sockaddr_in6 *) &address;
		uint32_t scope = htonl(ip->sin6_scope_id);
		memcpy(bytes, &ip->sin6_addr, 16);
		memcpy(bytes + 16, &ip->sin6_port, 2);
		memcpy(bytes + 18, &scope, 4);
		length = 22;
	}
	jbyteArray array = (*env)->NewByteArray(env, length);
	if (array != NULL)
		(*env)->SetByteArrayRegion(env, array, 0, length, (const jbyte *) bytes);
	return array;
}

EXTENSION(jbyteArray, localAddress)(JNIEnv *env, jclass self UNUSED, jlong id)
{
	return address_bytes(env, id, true);
}

EXTENSION(jbyteArray, remoteAddress)(JNIEnv *env, jclass self UNUSED, jlong id)
{
	return address_bytes(env, id, false);
}

/* Copies private data out of the array; false and an exception if there is too much of it. */
static bool private_data(JNIEnv *env, const char *verb, handle_t id, jbyteArray array, uint8_t *data, uint8_t *length)
{
	jsize size = array == NULL ? 0 : (*env)->GetArrayLength(env, array);
	if (size > EVENT_PRIVATE_DATA_MAX) {
		fail(env, verb, EMSGSIZE, id, NULL);
		return false;
	}
	if (size > 0)
		(*env)->GetByteArrayRegion(env, array, 0, size, (jbyte *) data);
	*length = (uint8_t) size;
	return true;
}

EXTENSION(void, connect)(JNIEnv *env, jclass self UNUSED, jlong id, jbyteArray array, jint responder_resources,
		jint initiator_depth, jint retries, jint rnr_retries)
{
	uint8_t data[EVENT_PRIVATE_DATA_MAX];
	struct rdma_conn_param parameters = {
		.private_data = data,
		.responder_resources = (uint8_t) responder_resources,
		.initiator_depth = (uint8_t) initiator_depth,
		.retry_count = (uint8_t) retries,
		.rnr_retry_count = (uint8_t) rnr_retries,
	};
	if (private_data(env, "rdma_connect", (handle_t) id, array, data, &parameters.private_data_len))
		id_connect(env, (handle_t) id, &parameters);
}

EXTENSION(void, accept)(JNIEnv *env, jclass self UNUSED, jlong id, jbyteArray array, jint responder_resources,
		jint initiator_depth, jint rnr_retries)
{
	uint8_t data[EVENT_PRIVATE_DATA_MAX];
	struct rdma_conn_param parameters = {
		.private_data = data,
		.responder_resources = (uint8_t) responder_resources,
		.initiator_depth = (uint8_t) initiator_depth,
		.rnr_retry_count = (uint8_t) rnr_retries,
	};
	if (private_data(env, "rdma_accept", (handle_t) id, array, data, &parameters.private_data_len))
		id_accept(env, (handle_t) id, &parameters);
}

EXTENSION(void, reject)(JNIEnv *env, jclass self UNUSED, jlong id, jbyteArray array)
{
	uint8_t data[EVENT_PRIVATE_DATA_MAX];
	uint8_t length;
	if (private_data(env, "rdma_reject", (handle_t) id, array, data, &length))
		id_reject(env, (handle_t) id, data, length);
}

/* Queue pairs */

EXTENSION(jlong, createQueuePair)(JNIEnv *env, jclass self UNUSED, jlong id, jlong domain, jlong completions,
		jlong shared_queue, jint max_send, jint max_receive, jint send_segments, jint receive_segments,
		jint max_inline)
{
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = (uint32_t) max_send,
			.max_recv_wr = (uint32_t) max_receive,
			.max_send_sge = (uint32_t) send_segments,
			.max_recv_sge = (uint32_t) receive_segments,
			.max_inline_data = (uint32_t) max_inline,
		},
	};
	return (jlong) queue_pair_create(env, (handle_t) id, (handle_t) domain, (handle_t) completions,
			(handle_t) completions, (handle_t) shared_queue, &attributes);
}

EXTENSION(jint, queuePairNumber)(JNIEnv *env, jclass self UNUSED, jlong queue_pair)
{
	return queue_pair_number(env, (handle_t) queue_pair);
}

EXTENSION(void, failQueuePair)(JNIEnv *env, jclass self UNUSED, jlong queue_pair)
{
	queue_pair_fail(env, (handle_t) queue_pair);
}

EXTENSION(jlong, createSharedReceiveQueue)(JNIEnv *env, jclass self UNUSED, jlong domain, jint depth, jint segments)
{
	return (jlong) shared_queue_create(env, (handle_t) domain, depth, segments);
}

/* Completions */

EXTENSION(void, wakeCompletionChannel)(JNIEnv *env, jclass self UNUSED, jlong channel)
{
	completion_channel_wake(env, (handle_t) channel);
}

EXTENSION(jlong, awaitCompletion)(JNIEnv *env, jclass self UNUSED, jlong channel, jlong timeout_nanos)
{
	return completion_await(env, (handle_t) channel, deadline_after(timeout_nanos));
}
