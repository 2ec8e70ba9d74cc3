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
/* The data path: nothing is allocated, nothing is thrown, and no lock is taken except the device library's own. */
#include <errno.h>

#include "errors.h"
#include "objects.h"

static bool misplaced(const void *request)
{
	return request == NULL || (uintptr_t) request % _Alignof(struct ibv_send_wr) != 0;
}

/*
 * What a chain of requests must be so that no device library follows something that Java cannot have meant: these
 * opcodes use no pointers besides the list of segments.
 */
static int check_sends(const struct ibv_send_wr *request, int max_segments)
{
	for (; request != NULL; request = request->next) {
		if (request->num_sge < 0 || request->num_sge > max_segments)
			return EINVAL;
		switch (request->opcode) {
		case IBV_WR_RDMA_WRITE:
		case IBV_WR_RDMA_WRITE_WITH_IMM:
		case IBV_WR_SEND:
		case IBV_WR_SEND_WITH_IMM:
		case IBV_WR_RDMA_READ:
		case IBV_WR_ATOMIC_CMP_AND_SWP:
		case IBV_WR_ATOMIC_FETCH_AND_ADD:
		case IBV_WR_LOCAL_INV:
		case IBV_WR_SEND_WITH_INV:
			break;
		default:
			return EINVAL;
		}
	}
	return 0;
}

int post_send(handle_t handle, struct ibv_send_wr *request)
{
	if (misplaced(request))
		return EINVAL;
	struct queue_pair *queue_pair = handle_pin(handle, KIND_QUEUE_PAIR);
	if (queue_pair == NULL)
		return EBADF;
	struct ibv_send_wr *refused;
	int error = check_sends(request, (int) queue_pair->capacity.max_send_sge);
	if (error == 0)
		error = error_of(ibv_post_send(queue_pair->raw, request, &refused));
	handle_unpin(handle);
	return error;
}

static int check_receives(const struct ibv_recv_wr *request, uint32_t max_segments)
{
	for (; request != NULL; request = request->next) {
		if (request->num_sge < 0 || (uint32_t) request->num_sge > max_segments)
			return EINVAL;
	}
	return 0;
}

static int post_shared(handle_t handle, struct ibv_recv_wr *request)
{
	struct shared_queue *queue = handle_pin(handle, KIND_SHARED_QUEUE);
	if (queue == NULL)
		return EBADF;
	struct ibv_recv_wr *refused;
	int error = check_receives(request, queue->granted.max_sge);
	if (error == 0)
		error = error_of(ibv_post_srq_recv(queue->raw, request, &refused));
	handle_unpin(handle);
	return error;
}

int post_receive(handle_t handle, struct ibv_recv_wr *request)
{
	if (misplaced(request))
		return EINVAL;
	if (handle_kind(handle) == KIND_SHARED_QUEUE)
		return post_shared(handle, request);
	struct queue_pair *queue_pair = handle_pin(handle, KIND_QUEUE_PAIR);
	if (queue_pair == NULL)
		return EBADF;
	struct ibv_recv_wr *refused;
	/* Some libraries would write to a receive queue that is not there. */
	int error = queue_pair->raw->srq != NULL ? EINVAL : check_receives(request, queue_pair->capacity.max_recv_sge);
	if (error == 0)
		error = error_of(ibv_post_recv(queue_pair->raw, request, &refused));
	handle_unpin(handle);
	return error;
}
