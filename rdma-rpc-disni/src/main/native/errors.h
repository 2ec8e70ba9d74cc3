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

/* Errors: what went wrong becomes an IOException that names the verb, the errno and the object. */
#ifndef RDMARPC_ERRORS_H
#define RDMARPC_ERRORS_H

#include <jni.h>

#include "handles.h"

struct ibv_context;

/* The errno in what a verb returned: they return it, or its negation, or -1 with errno set. */
int error_of(int result);

/* Throws for a verb that failed on an object; context, if known, is the device's. */
void fail(JNIEnv *env, const char *verb, int error, handle_t object, const struct ibv_context *context);

/* Throws for a handle that names no object of that kind. */
void fail_stale(JNIEnv *env, const char *verb, handle_t handle, enum kind expected);

/* Sets the exception class to throw, which has a constructor (String message, int errno). */
void error_type_set(JNIEnv *env, jclass type);

#endif
