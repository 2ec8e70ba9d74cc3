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
#include <unistd.h>

#include "errors.h"
#include "objects.h"
#include "wait.h"

static void event_channel_free(struct event_channel *channel)
{
	if (channel->raw != NULL)
		rdma_destroy_event_channel(channel->raw);
	if (channel->wake >= 0)
		close(channel->wake);
	pthread_mutex_destroy(&channel->lock);
	free(channel);
}

handle_t event_channel_create(JNIEnv *env)
{
	static const char verb[] = "rdma_create_event_channel";
	struct event_channel *channel = calloc(1, sizeof(*channel));
	if (channel == NULL) {
		fail(env, verb, ENOMEM, 0, NULL);
		return 0;
	}
	pthread_mutex_init(&channel->lock, NULL);
	channel->wake = wake_create();
	channel->raw = channel->wake < 0 ? NULL : rdma_create_event_channel();
	int error = channel->raw == NULL ? error_of(-1) : make_nonblocking(channel->raw->fd);
	handle_t handle = error != 0 ? 0 : handle_create(KIND_EVENT_CHANNEL, channel);
	if (handle == 0) {
		event_channel_free(channel);
		fail(env, verb, error != 0 ? error : ENOMEM, 0, NULL);
	}
	return handle;
}

void event_channel_destroy(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "rdma_destroy_event_channel";
	struct event_channel *channel = handle_revoke(handle, KIND_EVENT_CHANNEL);
	if (channel == NULL) {
		fail_stale(env, verb, handle, KIND_EVENT_CHANNEL);
		return;
	}
	handle_drain(handle, channel->wake);
	pthread_mutex_lock(&channel->lock);
	bool busy = channel->ids != 0;
	pthread_mutex_unlock(&channel->lock);
	if (busy) {
		handle_restore(handle);
		fail(env, verb, EBUSY, handle, NULL);
		return;
	}
	event_channel_free(channel);
	handle_release(handle);
}

handle_t id_adopt(struct event_channel *channel, struct rdma_cm_id *raw)
{
	struct connection_id *id = calloc(1, sizeof(*id));
	handle_t handle = id == NULL ? 0 : handle_reserve(KIND_ID);
	if (handle == 0) {
		free(id);
		return 0;
	}
	id->raw = raw;
	id->channel = channel;
	channel->ids++;
	raw->context = (void *) (uintptr_t) handle;
	handle_publish(handle, id);
	return handle;
}

handle_t id_create(JNIEnv *env, handle_t channel_handle, enum rdma_port_space space)
{
	static const char verb[] = "rdma_create_id";
	struct event_channel *channel = handle_pin(channel_handle, KIND_EVENT_CHANNEL);
	if (channel == NULL) {
		fail_stale(env, verb, channel_handle, KIND_EVENT_CHANNEL);
		return 0;
	}
	handle_t handle = 0;
	struct rdma_cm_id *raw;
	pthread_mutex_lock(&channel->lock);
	int error = error_of(rdma_create_id(channel->raw, &raw, NULL, space));
	if (error == 0) {
		handle = id_adopt(channel, raw);
		if (handle == 0) {
			rdma_destroy_id(raw);
			error = ENOMEM;
		}
	}
	pthread_mutex_unlock(&channel->lock);
	if (error != 0)
		fail(env, verb, error, channel_handle, NULL);
	handle_unpin(channel_handle);
	return handle;
}

void id_destroy(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "rdma_destroy_id";
	struct connection_id *id = handle_revoke(handle, KIND_ID);
	if (id == NULL) {
		fail_stale(env, verb, handle, KIND_ID);
		return;
	}
	handle_drain(handle, -1);
	struct event_channel *channel = id->channel;
	pthread_mutex_lock(&channel->lock);
	queue_pair_discard(id);
	int error = error_of(rdma_destroy_id(id->raw));
	if (error == 0)
		channel->ids--;
	pthread_mutex_unlock(&channel->lock);
	if (error != 0) {
		fail(env, verb, error, handle, id->raw->verbs);
		handle_restore(handle);
		return;
	}
	free(id);
	handle_release(handle);
}

struct connection_id *id_enter(JNIEnv *env, handle_t handle, const char *verb)
{
	struct connection_id *id = handle_pin(handle, KIND_ID);
	if (id == NULL)
		fail_stale(env, verb, handle, KIND_ID);
	else
		pthread_mutex_lock(&id->channel->lock);
	return id;
}

void id_leave(handle_t handle, struct connection_id *id)
{
	pthread_mutex_unlock(&id->channel->lock);
	handle_unpin(handle);
}

/* Leaves the id; throws if the result of the verb says so. */
static void id_finish(JNIEnv *env, handle_t handle, struct connection_id *id, const char *verb, int result)
{
	int error = error_of(result);
	if (error != 0)
		fail(env, verb, error, handle, id->raw->verbs);
	id_leave(handle, id);
}

void id_bind(JNIEnv *env, handle_t handle, struct sockaddr *address)
{
	static const char verb[] = "rdma_bind_addr";
	struct connection_id *id = id_enter(env, handle, verb);
	if (id != NULL)
		id_finish(env, handle, id, verb, rdma_bind_addr(id->raw, address));
}

void id_listen(JNIEnv *env, handle_t handle, int backlog)
{
	static const char verb[] = "rdma_listen";
	struct connection_id *id = id_enter(env, handle, verb);
	if (id != NULL)
		id_finish(env, handle, id, verb, rdma_listen(id->raw, backlog));
}

void id_resolve_address(JNIEnv *env, handle_t handle, struct sockaddr *source, struct sockaddr *destination, int millis)
{
	static const char verb[] = "rdma_resolve_addr";
	struct connection_id *id = id_enter(env, handle, verb);
	if (id != NULL)
		id_finish(env, handle, id, verb, rdma_resolve_addr(id->raw, source, destination, millis));
}

void id_resolve_route(JNIEnv *env, handle_t handle, int millis)
{
	static const char verb[] = "rdma_resolve_route";
	struct connection_id *id = id_enter(env, handle, verb);
	if (id != NULL)
		id_finish(env, handle, id, verb, rdma_resolve_route(id->raw, millis));
}

void id_connect(JNIEnv *env, handle_t handle, struct rdma_conn_param *parameters)
{
	static const char verb[] = "rdma_connect";
	struct connection_id *id = id_enter(env, handle, verb);
	if (id != NULL)
		id_finish(env, handle, id, verb, rdma_connect(id->raw, parameters));
}

void id_accept(JNIEnv *env, handle_t handle, struct rdma_conn_param *parameters)
{
	static const char verb[] = "rdma_accept";
	struct connection_id *id = id_enter(env, handle, verb);
	if (id != NULL)
		id_finish(env, handle, id, verb, rdma_accept(id->raw, parameters));
}

void id_reject(JNIEnv *env, handle_t handle, const void *data, uint8_t length)
{
	static const char verb[] = "rdma_reject";
	struct connection_id *id = id_enter(env, handle, verb);
	if (id != NULL)
		id_finish(env, handle, id, verb, rdma_reject(id->raw, data, length));
}

void id_disconnect(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "rdma_disconnect";
	struct connection_id *id = id_enter(env, handle, verb);
	if (id != NULL)
		id_finish(env, handle, id, verb, rdma_disconnect(id->raw));
}

bool id_address(JNIEnv *env, handle_t handle, bool local, struct sockaddr_storage *address)
{
	struct connection_id *id = id_enter(env, handle, local ? "rdma_get_local_addr" : "rdma_get_peer_addr");
	if (id == NULL)
		return false;
	*address = local ? id->raw->route.addr.src_storage : id->raw->route.addr.dst_storage;
	id_leave(handle, id);
	return true;
}

handle_t id_context(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "device of connection id";
	struct connection_id *id = id_enter(env, handle, verb);
	handle_t context = 0;
	if (id == NULL)
		return 0;
	if (id->raw->verbs != NULL) {
		context = context_handle(id->raw->verbs);
		if (context == 0)
			fail(env, verb, ENOMEM, handle, id->raw->verbs);
	}
	id_leave(handle, id);
	return context;
}
