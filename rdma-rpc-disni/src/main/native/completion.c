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

handle_t completion_channel_create(JNIEnv *env, handle_t context_handle)
{
	static const char verb[] = "ibv_create_comp_channel";
	struct ibv_context *context = context_of(env, context_handle, verb);
	if (context == NULL)
		return 0;
	struct completion_channel *channel = calloc(1, sizeof(*channel));
	if (channel == NULL) {
		fail(env, verb, ENOMEM, context_handle, context);
		return 0;
	}
	errno = 0;
	channel->wake = wake_create();
	channel->raw = channel->wake < 0 ? NULL : ibv_create_comp_channel(context);
	int error = channel->raw == NULL ? error_of(-1) : make_nonblocking(channel->raw->fd);
	handle_t handle = error != 0 ? 0 : handle_create(KIND_COMPLETION_CHANNEL, channel);
	if (handle == 0) {
		if (channel->raw != NULL)
			ibv_destroy_comp_channel(channel->raw);
		if (channel->wake >= 0)
			close(channel->wake);
		free(channel);
		fail(env, verb, error != 0 ? error : ENOMEM, context_handle, context);
	}
	return handle;
}

void completion_channel_destroy(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_destroy_comp_channel";
	struct completion_channel *channel = handle_revoke(handle, KIND_COMPLETION_CHANNEL);
	if (channel == NULL) {
		fail_stale(env, verb, handle, KIND_COMPLETION_CHANNEL);
		return;
	}
	handle_drain(handle, channel->wake);
	int error = error_of(ibv_destroy_comp_channel(channel->raw));
	if (error != 0) {
		fail(env, verb, error, handle, channel->raw->context);
		handle_restore(handle);
		return;
	}
	close(channel->wake);
	free(channel);
	handle_release(handle);
}

void completion_channel_wake(JNIEnv *env, handle_t handle)
{
	struct completion_channel *channel = handle_pin(handle, KIND_COMPLETION_CHANNEL);
	if (channel == NULL) {
		fail_stale(env, "wake up", handle, KIND_COMPLETION_CHANNEL);
		return;
	}
	wake_up(channel->wake);
	handle_unpin(handle);
}

/*
 * Takes one notification and acknowledges it at once, for whoever destroys the queue waits for that. The handle that
 * comes back may be stale already.
 */
static int take(struct completion_channel *channel, handle_t *notified)
{
	struct ibv_cq *queue;
	void *context;
	errno = 0;
	int error = error_of(ibv_get_cq_event(channel->raw, &queue, &context));
	if (error == 0) {
		*notified = (handle_t) (uintptr_t) context;
		ibv_ack_cq_events(queue, 1);
	}
	return error;
}

int64_t completion_await(JNIEnv *env, handle_t handle, int64_t deadline)
{
	static const char verb[] = "ibv_get_cq_event";
	struct completion_channel *channel = handle_pin(handle, KIND_COMPLETION_CHANNEL);
	if (channel == NULL) {
		fail_stale(env, verb, handle, KIND_COMPLETION_CHANNEL);
		return WAIT_FAILED;
	}
	handle_t notified = 0;
	enum wait result;
	int error = 0;
	do {
		result = wait_readable(channel->raw->fd, channel->wake, deadline);
		if (result == WAIT_READY)
			error = take(channel, &notified);
		else if (result == WAIT_FAILED)
			error = error_of(-1);
	} while (result == WAIT_READY && error == EAGAIN);
	if (error != 0) {
		fail(env, verb, error, handle, channel->raw->context);
		result = WAIT_FAILED;
	}
	handle_unpin(handle);
	return result == WAIT_READY ? (int64_t) notified : result;
}

handle_t completion_queue_create(JNIEnv *env, handle_t context_handle, handle_t channel_handle, int entries, int vector)
{
	static const char verb[] = "ibv_create_cq";
	struct ibv_context *context = context_of(env, context_handle, verb);
	if (context == NULL)
		return 0;
	struct completion_channel *channel = NULL;
	if (channel_handle != 0 && (channel = handle_pin(channel_handle, KIND_COMPLETION_CHANNEL)) == NULL) {
		fail_stale(env, verb, channel_handle, KIND_COMPLETION_CHANNEL);
		return 0;
	}
	handle_t handle = handle_reserve(KIND_COMPLETION_QUEUE);
	struct ibv_cq *queue = NULL;
	errno = handle == 0 ? ENOMEM : 0;
	if (handle != 0)
		queue = ibv_create_cq(context, entries, (void *) (uintptr_t) handle, channel == NULL ? NULL : channel->raw,
				vector);
	if (queue != NULL) {
		handle_publish(handle, queue);
	} else {
		fail(env, verb, error_of(-1), context_handle, context);
		if (handle != 0)
			handle_release(handle);
		handle = 0;
	}
	if (channel != NULL)
		handle_unpin(channel_handle);
	return handle;
}

void completion_queue_destroy(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_destroy_cq";
	struct ibv_cq *queue = handle_revoke(handle, KIND_COMPLETION_QUEUE);
	if (queue == NULL) {
		fail_stale(env, verb, handle, KIND_COMPLETION_QUEUE);
		return;
	}
	handle_drain(handle, -1);
	int error = error_of(ibv_destroy_cq(queue));
	if (error != 0) {
		fail(env, verb, error, handle, queue->context);
		handle_restore(handle);
		return;
	}
	handle_release(handle);
}

int completion_queue_poll(handle_t handle, int most, struct ibv_wc *completions)
{
	if (completions == NULL || most < 0 || (uintptr_t) completions % _Alignof(struct ibv_wc) != 0)
		return -EINVAL;
	struct ibv_cq *queue = handle_pin(handle, KIND_COMPLETION_QUEUE);
	if (queue == NULL)
		return -EBADF;
	int count = ibv_poll_cq(queue, most, completions);
	handle_unpin(handle);
	/* Overrun or a broken device: libraries return -1 or values of their own. */
	return count < 0 ? -EIO : count;
}

int completion_queue_arm(handle_t handle, bool solicited_only)
{
	struct ibv_cq *queue = handle_pin(handle, KIND_COMPLETION_QUEUE);
	if (queue == NULL)
		return EBADF;
	int error = error_of(ibv_req_notify_cq(queue, solicited_only));
	handle_unpin(handle);
	return error;
}
