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
#include <string.h>

#include "errors.h"
#include "objects.h"
#include "wait.h"

static const char get_event[] = "rdma_get_cm_event";

/* Whether librdmacm fills the connection's parameters for this type. */
static bool has_parameters(enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_DISCONNECTED:
		return true;
	default:
		return false;
	}
}

static void record(const struct rdma_cm_event *raw, handle_t id, handle_t listener, struct event_record *event)
{
	memset(event, 0, sizeof(*event));
	event->type = raw->event;
	event->status = raw->status;
	event->id = id;
	event->listener = listener;
	if (has_parameters(raw->event)) {
		const struct rdma_conn_param *parameters = &raw->param.conn;
		event->responder_resources = parameters->responder_resources;
		event->initiator_depth = parameters->initiator_depth;
		if (parameters->private_data != NULL) {
			event->private_length = parameters->private_data_len;
			memcpy(event->private_data, parameters->private_data, parameters->private_data_len);
		}
	}
}

static handle_t handle_of(const struct rdma_cm_id *id)
{
	return (handle_t) (uintptr_t) id->context;
}

/*
 * Takes one event, with the channel locked: 0, or an errno (EAGAIN: none there). It is acknowledged at once, for whoever
 * destroys the id waits for that.
 */
static int take(struct event_channel *channel, struct event_record *event)
{
	struct rdma_cm_event *raw;
	int error = error_of(rdma_get_cm_event(channel->raw, &raw));
	if (error != 0)
		return error;
	struct rdma_cm_id *request = NULL;
	handle_t id;
	if (raw->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		request = raw->id;
		id = id_adopt(channel, request);
		record(raw, id, handle_of(raw->listen_id), event);
	} else {
		id = handle_of(raw->id);
		record(raw, id, 0, event);
	}
	rdma_ack_cm_event(raw);
	if (id == 0 && request != NULL) {
		rdma_destroy_id(request);
		return ENOMEM;
	}
	return 0;
}

int event_await(JNIEnv *env, handle_t handle, int64_t deadline, struct event_record *event)
{
	struct event_channel *channel = handle_pin(handle, KIND_EVENT_CHANNEL);
	if (channel == NULL) {
		fail_stale(env, get_event, handle, KIND_EVENT_CHANNEL);
		return WAIT_FAILED;
	}
	enum wait result;
	int error = 0;
	do {
		result = wait_readable(channel->raw->fd, channel->wake, deadline);
		if (result == WAIT_READY) {
			pthread_mutex_lock(&channel->lock);
			error = take(channel, event);
			pthread_mutex_unlock(&channel->lock);
		} else if (result == WAIT_FAILED) {
			error = error_of(-1);
		}
	} while (result == WAIT_READY && error == EAGAIN);
	if (error != 0) {
		fail(env, get_event, error, handle, NULL);
		result = WAIT_FAILED;
	}
	handle_unpin(handle);
	return result;
}

void event_channel_wake(JNIEnv *env, handle_t handle)
{
	struct event_channel *channel = handle_pin(handle, KIND_EVENT_CHANNEL);
	if (channel == NULL) {
		fail_stale(env, "wake up", handle, KIND_EVENT_CHANNEL);
		return;
	}
	wake_up(channel->wake);
	handle_unpin(handle);
}
