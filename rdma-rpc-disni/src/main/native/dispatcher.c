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
/* The entry points that DiSNI's com.ibm.disni.verbs.impl.NativeDispatcher declares, translated to ours. */
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "errors.h"
#include "objects.h"
#include "wait.h"

#define DISPATCHER(type, name) JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name
#define UNUSED __attribute__((unused))

/* What RdmaProvider expects of a library. */
#define DISNI_VERSION 32

/* Scatter/gather elements of DiSNI's queue pairs, who cannot ask for a number. */
#define DISNI_SEGMENTS 4

static void *pointer(jlong address)
{
	return (void *) (uintptr_t) address;
}

static bool present(JNIEnv *env, const char *verb, handle_t object, jlong address)
{
	if (address == 0)
		fail(env, verb, EFAULT, object, NULL);
	return address != 0;
}

/* Connection manager */

DISPATCHER(jlong, createEventChannel)(JNIEnv *env, jobject self UNUSED)
{
	return (jlong) event_channel_create(env);
}

DISPATCHER(jint, destroyEventChannel)(JNIEnv *env, jobject self UNUSED, jlong channel)
{
	event_channel_destroy(env, (handle_t) channel);
	return 0;
}

DISPATCHER(jlong, createId)(JNIEnv *env, jobject self UNUSED, jlong channel, jshort space)
{
	return (jlong) id_create(env, (handle_t) channel, (enum rdma_port_space) (uint16_t) space);
}

DISPATCHER(jint, destroyCmId)(JNIEnv *env, jobject self UNUSED, jlong id)
{
	id_destroy(env, (handle_t) id);
	return 0;
}

DISPATCHER(jint, destroyEp)(JNIEnv *env, jobject self UNUSED, jlong id)
{
	id_destroy(env, (handle_t) id);
	return 0;
}

DISPATCHER(void, bindAddr)(JNIEnv *env, jobject self UNUSED, jlong id, jlong address)
{
	if (present(env, "rdma_bind_addr", (handle_t) id, address))
		id_bind(env, (handle_t) id, pointer(address));
}

DISPATCHER(void, listen)(JNIEnv *env, jobject self UNUSED, jlong id, jint backlog)
{
	id_listen(env, (handle_t) id, backlog);
}

DISPATCHER(void, resolveAddr)(JNIEnv *env, jobject self UNUSED, jlong id, jlong source, jlong destination, jint millis)
{
	if (present(env, "rdma_resolve_addr", (handle_t) id, destination))
		id_resolve_address(env, (handle_t) id, pointer(source), pointer(destination), millis);
}

DISPATCHER(void, resolveRoute)(JNIEnv *env, jobject self UNUSED, jlong id, jint millis)
{
	id_resolve_route(env, (handle_t) id, millis);
}

DISPATCHER(jint, getCmEvent)(JNIEnv *env, jobject self UNUSED, jlong channel, jlong listener, jlong id, jint millis)
{
	struct event_record event;
	if (!present(env, "rdma_get_cm_event", (handle_t) channel, listener)
			|| !present(env, "rdma_get_cm_event", (handle_t) channel, id)
			|| event_await(env, (handle_t) channel, deadline_after_millis(millis), &event) != WAIT_READY)
		return -1;
	memcpy(pointer(listener), &event.listener, sizeof(event.listener));
	memcpy(pointer(id), &event.id, sizeof(event.id));
	return event.type;
}

/* Events are acknowledged when they are taken: the type, all that DiSNI passes here, would not tell which one. */
DISPATCHER(jint, ackCmEvent)(JNIEnv *env UNUSED, jobject self UNUSED, jint type UNUSED)
{
	return 0;
}

DISPATCHER(void, connect)(JNIEnv *env, jobject self UNUSED, jlong id, jint retries, jint rnr_retries, jlong data, jbyte length)
{
	struct rdma_conn_param parameters = {
		.private_data = pointer(data),
		.private_data_len = data == 0 ? 0 : (uint8_t) length,
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = (uint8_t) retries,
		.rnr_retry_count = (uint8_t) rnr_retries,
	};
	id_connect(env, (handle_t) id, &parameters);
}

DISPATCHER(void, accept)(JNIEnv *env, jobject self UNUSED, jlong id, jint retries, jint rnr_retries)
{
	struct rdma_conn_param parameters = {
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = (uint8_t) retries,
		.rnr_retry_count = (uint8_t) rnr_retries,
	};
	id_accept(env, (handle_t) id, &parameters);
}

DISPATCHER(jint, disconnect)(JNIEnv *env, jobject self UNUSED, jlong id)
{
	id_disconnect(env, (handle_t) id);
	return 0;
}

/* DiSNI reads a sockaddr_in. */
static jint copy_address(JNIEnv *env, jlong id, bool local, jlong target)
{
	struct sockaddr_storage address;
	if (!present(env, "address", (handle_t) id, target) || !id_address(env, (handle_t) id, local, &address)
			|| address.ss_family != AF_INET)
		return -1;
	memcpy(pointer(target), &address, sizeof(struct sockaddr_in));
	return 0;
}

DISPATCHER(jint, getSrcAddr)(JNIEnv *env, jobject self UNUSED, jlong id, jlong address)
{
	return copy_address(env, id, true, address);
}

DISPATCHER(jint, getDstAddr)(JNIEnv *env, jobject self UNUSED, jlong id, jlong address)
{
	return copy_address(env, id, false, address);
}

/* Verbs */

DISPATCHER(jlong, getContext)(JNIEnv *env, jobject self UNUSED, jlong id)
{
	handle_t context = id_context(env, (handle_t) id);
	return context == 0 ? -1 : (jlong) context;
}

DISPATCHER(jint, getContextFd)(JNIEnv *env, jobject self UNUSED, jlong handle)
{
	struct ibv_context *context = context_of(env, (handle_t) handle, "file descriptor");
	return context == NULL ? -1 : context->cmd_fd;
}

DISPATCHER(jint, getContextNumCompVectors)(JNIEnv *env, jobject self UNUSED, jlong handle)
{
	struct ibv_context *context = context_of(env, (handle_t) handle, "completion vectors");
	return context == NULL ? -1 : context->num_comp_vectors;
}

DISPATCHER(jlong, allocPd)(JNIEnv *env, jobject self UNUSED, jlong context)
{
	return (jlong) domain_create(env, (handle_t) context);
}

DISPATCHER(jint, deallocPd)(JNIEnv *env, jobject self UNUSED, jlong domain)
{
	domain_destroy(env, (handle_t) domain);
	return 0;
}

DISPATCHER(jint, getPdHandle)(JNIEnv *env, jobject self UNUSED, jlong domain)
{
	return domain_number(env, (handle_t) domain);
}

DISPATCHER(jlong, createCompChannel)(JNIEnv *env, jobject self UNUSED, jlong context)
{
	return (jlong) completion_channel_create(env, (handle_t) context);
}

DISPATCHER(jint, destroyCompChannel)(JNIEnv *env, jobject self UNUSED, jlong channel)
{
	completion_channel_destroy(env, (handle_t) channel);
	return 0;
}

DISPATCHER(jlong, createCQ)(JNIEnv *env, jobject self UNUSED, jlong context, jlong channel, jint entries, jint vector)
{
	return (jlong) completion_queue_create(env, (handle_t) context, (handle_t) channel, entries, vector);
}

DISPATCHER(jint, destroyCQ)(JNIEnv *env, jobject self UNUSED, jlong queue)
{
	completion_queue_destroy(env, (handle_t) queue);
	return 0;
}

DISPATCHER(jint, getCqEvent)(JNIEnv *env, jobject self UNUSED, jlong channel, jint millis)
{
	return completion_await(env, (handle_t) channel, deadline_after_millis(millis)) >= WAIT_READY ? 0 : -1;
}

/* As with events of connections: acknowledged when taken. */
DISPATCHER(jint, ackCqEvent)(JNIEnv *env UNUSED, jobject self UNUSED, jlong queue UNUSED, jint count UNUSED)
{
	return 0;
}

DISPATCHER(jint, pollCQ)(JNIEnv *env, jobject self UNUSED, jlong queue, jint most, jlong completions)
{
	int count = completion_queue_poll((handle_t) queue, most, pointer(completions));
	if (count < 0)
		fail(env, "ibv_poll_cq", -count, (handle_t) queue, NULL);
	return count;
}

DISPATCHER(jint, reqNotifyCQ)(JNIEnv *env, jobject self UNUSED, jlong queue, jint solicited_only)
{
	int error = completion_queue_arm((handle_t) queue, solicited_only != 0);
	if (error != 0)
		fail(env, "ibv_req_notify_cq", error, (handle_t) queue, NULL);
	return error;
}

DISPATCHER(jlong, createQP)(JNIEnv *env, jobject self UNUSED, jlong id, jlong domain, jlong send_queue, jlong receive_queue,
		jint type, jint max_send, jint max_receive, jint max_inline)
{
	struct ibv_qp_init_attr attributes = {
		.qp_type = (enum ibv_qp_type) type,
		.cap = {
			.max_send_wr = (uint32_t) max_send,
			.max_recv_wr = (uint32_t) max_receive,
			.max_send_sge = DISNI_SEGMENTS,
			.max_recv_sge = DISNI_SEGMENTS,
			.max_inline_data = (uint32_t) max_inline,
		},
	};
	return (jlong) queue_pair_create(env, (handle_t) id, (handle_t) domain, (handle_t) send_queue,
			(handle_t) receive_queue, 0, &attributes);
}

DISPATCHER(jint, destroyQP)(JNIEnv *env, jobject self UNUSED, jlong id)
{
	queue_pair_destroy(env, (handle_t) id);
	return 0;
}

/* DiSNI passes no attributes, so there is nothing that could be modified. */
DISPATCHER(jint, modifyQP)(JNIEnv *env, jobject self UNUSED, jlong queue_pair, jlong attributes UNUSED)
{
	fail(env, "ibv_modify_qp", ENOTSUP, (handle_t) queue_pair, NULL);
	return -1;
}

DISPATCHER(jint, getQpNum)(JNIEnv *env, jobject self UNUSED, jlong queue_pair)
{
	return queue_pair_number(env, (handle_t) queue_pair);
}

DISPATCHER(void, postSend)(JNIEnv *env, jobject self UNUSED, jlong queue_pair, jlong requests)
{
	int error = post_send((handle_t) queue_pair, pointer(requests));
	if (error != 0)
		fail(env, "ibv_post_send", error, (handle_t) queue_pair, NULL);
}

DISPATCHER(void, postRecv)(JNIEnv *env, jobject self UNUSED, jlong queue, jlong requests)
{
	int error = post_receive((handle_t) queue, pointer(requests));
	if (error != 0)
		fail(env, "ibv_post_recv", error, (handle_t) queue, NULL);
}

DISPATCHER(jlong, regMr)(JNIEnv *env, jobject self UNUSED, jlong domain, jlong address, jint length, jint access,
		jlong local_key, jlong remote_key, jlong number)
{
	const jlong targets[3] = { local_key, remote_key, number };
	uint32_t keys[3];
	for (int i = 0; i < 3; i++)
		if (!present(env, "ibv_reg_mr", (handle_t) domain, targets[i]))
			return 0;
	handle_t region = region_register(env, (handle_t) domain, (uint64_t) address, (uint32_t) length, access);
	if (region == 0 || !region_keys(env, region, keys))
		return 0;
	for (int i = 0; i < 3; i++)
		memcpy(pointer(targets[i]), &keys[i], sizeof(keys[i]));
	return (jlong) region;
}

DISPATCHER(void, deregMr)(JNIEnv *env, jobject self UNUSED, jlong region)
{
	region_deregister(env, (handle_t) region);
}

DISPATCHER(jint, queryOdpSupport)(JNIEnv *env UNUSED, jobject self UNUSED, jlong context)
{
	return device_paging_support((handle_t) context);
}

DISPATCHER(jint, expPrefetchMr)(JNIEnv *env, jobject self UNUSED, jlong region, jlong address, jint length)
{
	region_prefetch(env, (handle_t) region, (uint64_t) address, (uint32_t) length);
	return 0;
}

/* Layouts, which DiSNI compares with its own and then adopts */

DISPATCHER(jint, getSockAddrInSize)(JNIEnv *env UNUSED, jobject self UNUSED)
{
	return sizeof(struct sockaddr_in6);
}

DISPATCHER(jint, getIbvRecvWRSize)(JNIEnv *env UNUSED, jobject self UNUSED)
{
	return sizeof(struct ibv_recv_wr);
}

DISPATCHER(jint, getIbvSendWRSize)(JNIEnv *env UNUSED, jobject self UNUSED)
{
	return sizeof(struct ibv_send_wr);
}

DISPATCHER(jint, getIbvSgeSize)(JNIEnv *env UNUSED, jobject self UNUSED)
{
	return sizeof(struct ibv_sge);
}

DISPATCHER(jint, getIbvWCSize)(JNIEnv *env UNUSED, jobject self UNUSED)
{
	return sizeof(struct ibv_wc);
}

DISPATCHER(jint, getRemoteAddressOffset)(JNIEnv *env UNUSED, jobject self UNUSED)
{
	return offsetof(struct ibv_send_wr, wr.rdma.remote_addr);
}

DISPATCHER(jint, getRKeyOffset)(JNIEnv *env UNUSED, jobject self UNUSED)
{
	return offsetof(struct ibv_send_wr, wr.rdma.rkey);
}

DISPATCHER(jint, getVersion)(JNIEnv *env UNUSED, jobject self UNUSED)
{
	return DISNI_VERSION;
}
