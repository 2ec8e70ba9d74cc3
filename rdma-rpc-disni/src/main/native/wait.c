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

#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NEVER INT64_MAX
#define NANOS 1000000000

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t) time.tv_sec * NANOS + time.tv_nsec;
}

int64_t deadline_after(int64_t timeout_nanos)
{
	int64_t deadline;
	if (timeout_nanos < 0 || __builtin_add_overflow(now(), timeout_nanos, &deadline))
		return NEVER;
	return deadline;
}

int64_t deadline_after_millis(int timeout_millis)
{
	return deadline_after(timeout_millis < 0 ? -1 : (int64_t) timeout_millis * 1000000);
}

enum wait wait_readable(int fd, int wake, int64_t deadline)
{
	struct pollfd polled[2] = { { .fd = fd, .events = POLLIN }, { .fd = wake, .events = POLLIN } };
	for (;;) {
		struct timespec left = { 0 };
		int64_t nanos = deadline == NEVER ? 0 : deadline - now();
		if (nanos > 0) {
			left.tv_sec = nanos / NANOS;
			left.tv_nsec = nanos % NANOS;
		}
		int ready = ppoll(polled, 2, deadline == NEVER ? NULL : &left, NULL);
		if (ready < 0 && errno != EINTR)
			return WAIT_FAILED;
		if (ready > 0)
			break;
		if (ready == 0 && nanos <= 0)
			return WAIT_TIMED_OUT;
	}
	if (polled[0].revents != 0)
		return WAIT_READY;
	uint64_t count;
	ssize_t taken = read(wake, &count, sizeof(count));
	return taken < 0 && errno != EAGAIN ? WAIT_FAILED : WAIT_WOKEN;
}

int wake_create(void)
{
	return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void wake_up(int wake)
{
	uint64_t one = 1;
	ssize_t written;
	do
		written = write(wake, &one, sizeof(one));
	while (written < 0 && errno == EINTR);
	/* EAGAIN: the counter is full, so it is readable. */
}

int make_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? errno : 0;
}
