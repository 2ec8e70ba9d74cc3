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
#ifndef RDMARPC_LIBRARY_H
#define RDMARPC_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes this library known to the whole process, so that System.loadLibrary("disni") finds it in every class loader although it
 * is on no library path. False with the reason in text.
 */
bool library_expose(char *text, size_t size);

#endif
