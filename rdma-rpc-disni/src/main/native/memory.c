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
