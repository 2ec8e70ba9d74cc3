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
/* The entry points that DiSNI's com.ibm.disni.util.NativeAffinity declares: a bit for each of the first 64 processors. */
#include <errno.h>
#include <jni.h>
#include <sched.h>

#include "errors.h"

#define AFFINITY(type, name) JNIEXPORT type JNICALL Java_com_ibm_disni_util_NativeAffinity__1##name
#define UNUSED __attribute__((unused))
#define PROCESSORS 64

AFFINITY(void, setAffinity)(JNIEnv *env, jclass self UNUSED, jlong mask)
{
	cpu_set_t processors;
	CPU_ZERO(&processors);
	for (int i = 0; i < PROCESSORS; i++)
		if (((uint64_t) mask >> i & 1) != 0)
			CPU_SET(i, &processors);
	if (sched_setaffinity(0, sizeof(processors), &processors) != 0)
		fail(env, "sched_setaffinity", errno, 0, NULL);
}

AFFINITY(jlong, getAffinity)(JNIEnv *env, jclass self UNUSED)
{
	cpu_set_t processors;
	if (sched_getaffinity(0, sizeof(processors), &processors) != 0) {
		fail(env, "sched_getaffinity", errno, 0, NULL);
		return 0;
	}
	uint64_t mask = 0;
	for (int i = 0; i < PROCESSORS; i++)
		if (CPU_ISSET(i, &processors))
			mask |= UINT64_C(1) << i;
	return (jlong) mask;
}
