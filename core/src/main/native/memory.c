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

handle_t domain_create(JNIEnv *env, handle_t context_handle)
{
	static const char verb[] = "ibv_alloc_pd";
	struct ibv_context *context = context_of(env, context_handle, verb);
	if (context == NULL)
		return 0;
	errno = 0;
	struct ibv_pd *domain = ibv_alloc_pd(context);
	int error = domain == NULL ? error_of(-1) : 0;
	handle_t handle = domain == NULL ? 0 : handle_create(KIND_DOMAIN, domain);
	if (handle == 0) {
		if (domain != NULL)
			ibv_dealloc_pd(domain);
		fail(env, verb, error != 0 ? error : ENOMEM, context_handle, context);
	}
	return handle;
}

void domain_destroy(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_dealloc_pd";
	struct ibv_pd *domain = handle_revoke(handle, KIND_DOMAIN);
	if (domain == NULL) {
		fail_stale(env, verb, handle, KIND_DOMAIN);
		return;
	}
	handle_drain(handle, -1);
	int error = error_of(ibv_dealloc_pd(domain));
	if (error != 0) {
		fail(env, verb, error, handle, domain->context);
		handle_restore(handle);
		return;
	}
	handle_release(handle);
}

int domain_number(JNIEnv *env, handle_t handle)
{
	struct ibv_pd *domain = handle_pin(handle, KIND_DOMAIN);
	if (domain == NULL) {
		fail_stale(env, "protection domain number", handle, KIND_DOMAIN);
		return -1;
	}
	int number = (int) domain->handle;
	handle_unpin(handle);
	return number;
}

handle_t region_register(JNIEnv *env, handle_t domain_handle, uint64_t address, uint64_t length, int access)
{
	static const char verb[] = "ibv_reg_mr";
	struct ibv_pd *domain = handle_pin(domain_handle, KIND_DOMAIN);
	if (domain == NULL) {
		fail_stale(env, verb, domain_handle, KIND_DOMAIN);
		return 0;
	}
	errno = 0;
	struct ibv_mr *region = ibv_reg_mr(domain, (void *) (uintptr_t) address, length, access);
	int error = region == NULL ? error_of(-1) : 0;
	handle_t handle = region == NULL ? 0 : handle_create(KIND_REGION, region);
	if (handle == 0) {
		if (region != NULL)
			ibv_dereg_mr(region);
		fail(env, verb, error != 0 ? error : ENOMEM, domain_handle, domain->context);
	}
	handle_unpin(domain_handle);
	return handle;
}

void region_deregister(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_dereg_mr";
	struct ibv_mr *region = handle_revoke(handle, KIND_REGION);
	if (region == NULL) {
		fail_stale(env, verb, handle, KIND_REGION);
		return;
	}
	handle_drain(handle, -1);
	int error = error_of(ibv_dereg_mr(region));
	if (error != 0) {
		fail(env, verb, error, handle, region->context);
		handle_restore(handle);
		return;
	}
	handle_release(handle);
}

bool region_keys(JNIEnv *env, handle_t handle, uint32_t keys[3])
{
	struct ibv_mr *region = handle_pin(handle, KIND_REGION);
	if (region == NULL) {
		fail_stale(env, "keys of memory region", handle, KIND_REGION);
		return false;
	}
	keys[0] = region->lkey;
	keys[1] = region->rkey;
	keys[2] = region->handle;
	handle_unpin(handle);
	return true;
}

void region_prefetch(JNIEnv *env, handle_t handle, uint64_t address, uint32_t length)
{
	static const char verb[] = "ibv_advise_mr";
	struct ibv_mr *region = handle_pin(handle, KIND_REGION);
	if (region == NULL) {
		fail_stale(env, verb, handle, KIND_REGION);
		return;
	}
	struct ibv_sge range = { .addr = address, .length = length, .lkey = region->lkey };
	int error = error_of(ibv_advise_mr(region->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &range, 1));
	if (error != 0)
		fail(env, verb, error, handle, region->context);
	handle_unpin(handle);
}

handle_t window_allocate(JNIEnv *env, handle_t domain_handle, int type)
{
	static const char verb[] = "ibv_alloc_mw";
	struct ibv_pd *domain = handle_pin(domain_handle, KIND_DOMAIN);
	if (domain == NULL) {
		fail_stale(env, verb, domain_handle, KIND_DOMAIN);
		return 0;
	}
	errno = 0;
	struct ibv_mw *window = ibv_alloc_mw(domain, (enum ibv_mw_type) type);
	int error = window == NULL ? error_of(-1) : 0;
	handle_t handle = window == NULL ? 0 : handle_create(KIND_WINDOW, window);
	if (handle == 0) {
		if (window != NULL)
			ibv_dealloc_mw(window);
		fail(env, verb, error != 0 ? error : ENOMEM, domain_handle, domain->context);
	}
	handle_unpin(domain_handle);
	return handle;
}

void window_deallocate(JNIEnv *env, handle_t handle)
{
	static const char verb[] = "ibv_dealloc_mw";
	struct ibv_mw *window = handle_revoke(handle, KIND_WINDOW);
	if (window == NULL) {
		fail_stale(env, verb, handle, KIND_WINDOW);
		return;
	}
	handle_drain(handle, -1);
	int error = error_of(ibv_dealloc_mw(window));
	if (error != 0) {
		fail(env, verb, error, handle, window->context);
		handle_restore(handle);
		return;
	}
	handle_release(handle);
}

uint32_t window_key(JNIEnv *env, handle_t handle)
{
	struct ibv_mw *window = handle_pin(handle, KIND_WINDOW);
	if (window == NULL) {
		fail_stale(env, "key of memory window", handle, KIND_WINDOW);
		return 0;
	}
	uint32_t key = window->rkey;
	handle_unpin(handle);
	return key;
}

/* Type 2: the owner chooses the key's low byte, and the bind is a request like any other. */
static int bind_by_request(struct ibv_qp *queue_pair, struct ibv_mw *window, uint64_t request, unsigned int flags,
		const struct ibv_mw_bind_info *range)
{
	struct ibv_send_wr bind = { .wr_id = request, .opcode = IBV_WR_BIND_MW, .send_flags = flags };
	struct ibv_send_wr *refused;
	bind.bind_mw.mw = window;
	bind.bind_mw.rkey = ibv_inc_rkey(window->rkey);
	bind.bind_mw.bind_info = *range;
	int error = error_of(ibv_post_send(queue_pair, &bind, &refused));
	if (error == 0)
		window->rkey = bind.bind_mw.rkey;
	return error;
}

/* Type 1: the device chooses the key. */
static int bind_by_call(struct ibv_qp *queue_pair, struct ibv_mw *window, uint64_t request, unsigned int flags,
		const struct ibv_mw_bind_info *range)
{
	struct ibv_mw_bind bind = { .wr_id = request, .send_flags = flags, .bind_info = *range };
	return error_of(ibv_bind_mw(queue_pair, window, &bind));
}

uint32_t window_bind(JNIEnv *env, handle_t queue_pair_handle, handle_t window_handle, handle_t region_handle,
		uint64_t request, unsigned int flags, const struct ibv_mw_bind_info *range)
{
	static const char verb[] = "ibv_bind_mw";
	struct queue_pair *queue_pair = handle_pin(queue_pair_handle, KIND_QUEUE_PAIR);
	struct ibv_mw *window = handle_pin(window_handle, KIND_WINDOW);
	struct ibv_mr *region = handle_pin(region_handle, KIND_REGION);
	uint32_t key = 0;
	if (queue_pair == NULL) {
		fail_stale(env, verb, queue_pair_handle, KIND_QUEUE_PAIR);
	} else if (window == NULL) {
		fail_stale(env, verb, window_handle, KIND_WINDOW);
	} else if (region == NULL) {
		fail_stale(env, verb, region_handle, KIND_REGION);
	} else {
		struct ibv_mw_bind_info bound = *range;
		bound.mr = region;
		int error = window->type == IBV_MW_TYPE_2
			? bind_by_request(queue_pair->raw, window, request, flags, &bound)
			: bind_by_call(queue_pair->raw, window, request, flags, &bound);
		if (error == 0)
			key = window->rkey;
		else
			fail(env, verb, error, window_handle, window->context);
	}
	if (region != NULL)
		handle_unpin(region_handle);
	if (window != NULL)
		handle_unpin(window_handle);
	if (queue_pair != NULL)
		handle_unpin(queue_pair_handle);
	return key;
}
