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

/* Waiting for a file descriptor in such a way that others can end it: each waiter has an eventfd besides. */
#ifndef RDMARPC_WAIT_H
#define RDMARPC_WAIT_H

#include <stdint.h>

enum wait {
	WAIT_FAILED = -2, /* errno says why */
	WAIT_WOKEN = -1,
	WAIT_TIMED_OUT = 0,
	WAIT_READY = 1
};

/* A point in time that lies so many nanoseconds ahead; negative: never. */
int64_t deadline_after(int64_t timeout_nanos);

int64_t deadline_after_millis(int timeout_millis);

/* Waits until fd can be read, wake_up(wake) is called, or the deadline has passed. */
enum wait wait_readable(int fd, int wake, int64_t deadline);

/* A new eventfd, or -1 with errno. */
int wake_create(void);

/* Ends the current or else the next wait. Stays in force until a wait has returned for it. */
void wake_up(int wake);

/* Reading from the descriptor shall not block. Returns 0 or an errno. */
int make_nonblocking(int fd);

#endif
