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

#include "errors.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The size that any error_text fits into. */
#define ERROR_TEXT_SIZE 128
#define MESSAGE_SIZE 384

/* Weak, because the class keeps its loader and that keeps this library. */
static jweak error_type;
static jmethodID error_constructor;

/* "Connection refused (ECONNREFUSED)" */
static const char *error_text(int error, char *buffer, size_t size)
{
	char text[ERROR_TEXT_SIZE];
	const char *name = strerrorname_np(error);
	if (name == NULL)
		snprintf(buffer, size, "error %d", error);
	else
		snprintf(buffer, size, "%s (%s)", strerror_r(error, text, sizeof(text)), name);
	return buffer;
}

int error_of(int result)
{
	if (result == -1)
		return errno != 0 ? errno : EIO;
	return result < 0 ? -result : result;
}

static jthrowable typed_error(JNIEnv *env, const char *message, int error)
{
	jclass type = error_type == NULL ? NULL : (*env)->NewLocalRef(env, error_type);
	if (type == NULL)
		return NULL;
	jstring message_string = (*env)->NewStringUTF(env, message);
	return message_string == NULL ? NULL : (*env)->NewObject(env, type, error_constructor, message_string, (jint) error);
}

static void throw_error(JNIEnv *env, const char *message, int error)
{
	if ((*env)->ExceptionCheck(env))
		return;
	jthrowable thrown = typed_error(env, message, error);
	if (thrown != NULL) {
		(*env)->Throw(env, thrown);
	} else if (!(*env)->ExceptionCheck(env)) {
		jclass plain = (*env)->FindClass(env, "java/io/IOException");
		if (plain != NULL)
			(*env)->ThrowNew(env, plain, message);
	}
}

void fail(JNIEnv *env, const char *verb, int error, handle_t object, const struct ibv_context *context)
{
	char text[ERROR_TEXT_SIZE];
	char message[MESSAGE_SIZE];
	int length = snprintf(message, sizeof(message), "%s: %s", verb, error_text(error, text, sizeof(text)));
	if (object != 0 && length < MESSAGE_SIZE)
		length += snprintf(message + length, sizeof(message) - (size_t) length, " on %s %" PRIu32,
				kind_name(handle_kind(object)), handle_slot(object));
	if (context != NULL && length < MESSAGE_SIZE)
		snprintf(message + length, sizeof(message) - (size_t) length, "%s%s",
				object != 0 ? " of " : " on device ", ibv_get_device_name(context->device));
	throw_error(env, message, error);
}

void fail_stale(JNIEnv *env, const char *verb, handle_t handle, enum kind expected)
{
	char text[ERROR_TEXT_SIZE];
	char message[MESSAGE_SIZE];
	snprintf(message, sizeof(message), "%s: %s, no open %s has the handle 0x%" PRIx64, verb,
			error_text(EBADF, text, sizeof(text)), kind_name(expected), handle);
	throw_error(env, message, EBADF);
}

void error_type_set(JNIEnv *env, jclass type)
{
	jmethodID constructor = (*env)->GetMethodID(env, type, "<init>", "(Ljava/lang/String;I)V");
	jweak reference = constructor == NULL ? NULL : (*env)->NewWeakGlobalRef(env, type);
	if (reference != NULL) {
		error_constructor = constructor;
		error_type = reference;
	}
}
