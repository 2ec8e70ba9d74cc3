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
 * What the handles name, and what can be done with it. Each operation takes handles, throws an IOException if it
 * fails, and then returns 0, NULL or -1. The entry points that Java sees (dispatcher.c, extension.c) only translate.
 */
#ifndef RDMARPC_OBJECTS_H
#define RDMARPC_OBJECTS_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "handles.h"

/*
 * What librdmacm reads and changes about an id while it hands out its channel's events (its queue pair above all) is not
 * locked there. So everything that is done with an id is done under the lock of its channel, and so is taking an event.
 * Nobody waits while holding it.
 */
struct event_channel {
	struct rdma_event_channel *raw;
	int wake;
	pthread_mutex_t lock;
	uint32_t ids; /* guarded by lock */
};

#define EVENT_PRIVATE_DATA_MAX 255

/* An event as Java reads it; NativeLayout has the offsets. */
struct event_record {
	int32_t type;
	int32_t status;
	uint64_t id;
	uint64_t listener;
	int32_t responder_resources;
	int32_t initiator_depth;
	int32_t private_length;
	int32_t reserved;
	uint8_t private_data[256];
};

_Static_assert(sizeof(struct event_record) == 296, "NativeLayout.EVENT_BYTES");

struct connection_id {
	struct rdma_cm_id *raw;
	struct event_channel *channel; /* which is not destroyed before its ids are */
	handle_t queue_pair;
};

struct queue_pair {
	struct ibv_qp *raw;
	handle_t id;
	struct ibv_qp_cap capacity;
};

struct shared_queue {
	struct ibv_srq *raw;
	struct ibv_srq_attr granted;
};

struct completion_channel {
	struct ibv_comp_channel *raw;
	int wake;
};

/* connection.c */
handle_t event_channel_create(JNIEnv *env);
void event_channel_destroy(JNIEnv *env, handle_t channel);
handle_t id_create(JNIEnv *env, handle_t channel, enum rdma_port_space space);
void id_destroy(JNIEnv *env, handle_t id);
/* An id that librdmacm made for a connection request; with the channel locked. 0 when there is no memory. */
handle_t id_adopt(struct event_channel *channel, struct rdma_cm_id *raw);
void id_bind(JNIEnv *env, handle_t id, struct sockaddr *address);
void id_listen(JNIEnv *env, handle_t id, int backlog);
void id_resolve_address(JNIEnv *env, handle_t id, struct sockaddr *source, struct sockaddr *destination, int millis);
void id_resolve_route(JNIEnv *env, handle_t id, int millis);
void id_connect(JNIEnv *env, handle_t id, struct rdma_conn_param *parameters);
void id_accept(JNIEnv *env, handle_t id, struct rdma_conn_param *parameters);
void id_reject(JNIEnv *env, handle_t id, const void *data, uint8_t length);
void id_disconnect(JNIEnv *env, handle_t id);
/* Copies the local or remote address; false and an exception, or a family of 0 if there is none yet. */
bool id_address(JNIEnv *env, handle_t id, bool local, struct sockaddr_storage *address);
/* 0 without an exception when the id is not bound to a device yet. */
handle_t id_context(JNIEnv *env, handle_t id);

/* An id that is pinned and whose channel is locked. NULL and an exception if it is stale. */
struct connection_id *id_enter(JNIEnv *env, handle_t id, const char *verb);
void id_leave(handle_t handle, struct connection_id *id);

/* event.c; results are those of enum wait, WAIT_FAILED with an exception */
int event_await(JNIEnv *env, handle_t channel, int64_t deadline, struct event_record *event);
void event_channel_wake(JNIEnv *env, handle_t channel);

/* device.c */
handle_t context_handle(struct ibv_context *context);
struct ibv_context *context_of(JNIEnv *env, handle_t context, const char *verb);
jlongArray device_contexts(JNIEnv *env);
jlongArray device_query(JNIEnv *env, handle_t context);
jlongArray port_query(JNIEnv *env, handle_t context, uint8_t port);
int device_paging_support(handle_t context);
/* Keeps a context open. */
void device_hold(JNIEnv *env, handle_t context);
/* Takes that back; of a device that has gone, the files are closed, and the handle is stale. */
void device_release(JNIEnv *env, handle_t context, bool gone);

/* queue_pair.c */
handle_t queue_pair_create(JNIEnv *env, handle_t id, handle_t domain, handle_t send_queue, handle_t receive_queue,
		handle_t shared_queue, struct ibv_qp_init_attr *attributes);
/* With the channel locked. */
void queue_pair_discard(struct connection_id *id);
void queue_pair_destroy(JNIEnv *env, handle_t id);
void queue_pair_close(JNIEnv *env, handle_t queue_pair);
void queue_pair_fail(JNIEnv *env, handle_t queue_pair);
int queue_pair_number(JNIEnv *env, handle_t queue_pair);

/* post.c; results are 0 or an errno, without an exception */
int post_send(handle_t queue_pair, struct ibv_send_wr *request);
int post_receive(handle_t queue_pair_or_shared, struct ibv_recv_wr *request);

/* completion.c */
handle_t completion_channel_create(JNIEnv *env, handle_t context);
void completion_channel_destroy(JNIEnv *env, handle_t channel);
void completion_channel_wake(JNIEnv *env, handle_t channel);
/* The queue that notified, or a result of enum wait below it (WAIT_FAILED with an exception). */
int64_t completion_await(JNIEnv *env, handle_t channel, int64_t deadline);
handle_t completion_queue_create(JNIEnv *env, handle_t context, handle_t channel, int entries, int vector);
void completion_queue_destroy(JNIEnv *env, handle_t queue);
/* A count or the negation of an errno, without an exception. */
int completion_queue_poll(handle_t queue, int most, struct ibv_wc *completions);
int completion_queue_arm(handle_t queue, bool solicited_only);

/* memory.c */
handle_t domain_create(JNIEnv *env, handle_t context);
void domain_destroy(JNIEnv *env, handle_t domain);
int domain_number(JNIEnv *env, handle_t domain);
handle_t region_register(JNIEnv *env, handle_t domain, uint64_t address, uint64_t length, int access);
void region_deregister(JNIEnv *env, handle_t region);
/* Local key, remote key and number. */
bool region_keys(JNIEnv *env, handle_t region, uint32_t keys[3]);
void region_prefetch(JNIEnv *env, handle_t region, uint64_t address, uint32_t length);

/* shared_queue.c */
handle_t shared_queue_create(JNIEnv *env, handle_t domain, int depth, int segments);
void shared_queue_destroy(JNIEnv *env, handle_t queue);

#endif
