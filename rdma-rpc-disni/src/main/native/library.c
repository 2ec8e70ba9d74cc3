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
 * Loading. DiSNI says System.loadLibrary("disni"), which looks on the library path, and that cannot be changed in a running
 * virtual machine. But first it looks for a library that was linked into the process: one is there if the process has a symbol
 * JNI_OnLoad_disni (JNI specification, "Static linking"). So once this library was loaded from wherever its file is,
 * library_expose() makes its symbols visible in the process, and DiSNI finds it by that name.
 */
#include "library.h"

#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>

#define UNUSED __attribute__((unused))

JNIEXPORT jint JNICALL JNI_OnLoad_disni(JavaVM *machine UNUSED, void *reserved UNUSED);

JNIEXPORT jint JNICALL JNI_OnLoad_disni(JavaVM *machine UNUSED, void *reserved UNUSED)
{
	return JNI_VERSION_1_8;
}

bool library_expose(char *text, size_t size)
{
	Dl_info self;
	if (dladdr((void *) JNI_OnLoad_disni, &self) == 0) {
		snprintf(text, size, "the library disni does not find its own file");
		return false;
	}
	/* Is never closed, so the library stays for as long as the process. */
	if (dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) == NULL) {
		snprintf(text, size, "the library disni cannot make itself known: %s", dlerror());
		return false;
	}
	return true;
}
