/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thin: the point is the annotations and a monotonic clock for timed waits. */
#include "config.h"

#include "core/base/mutex.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "core/base/err.h"

static void check(int ret, const char *call)
{
	if (ret)
		die("%s: %s", call, strerrorname_np(ret));
}

void mutex_init(struct mutex *mutex)
{
	check(pthread_mutex_init(&mutex->lock, NULL), "pthread_mutex_init");
}

void mutex_release(struct mutex *mutex)
{
	check(pthread_mutex_destroy(&mutex->lock), "pthread_mutex_destroy");
}

void mutex_lock(struct mutex *mutex) NO_THREAD_SAFETY
{
	check(pthread_mutex_lock(&mutex->lock), "pthread_mutex_lock");
}

void mutex_unlock(struct mutex *mutex) NO_THREAD_SAFETY
{
	check(pthread_mutex_unlock(&mutex->lock), "pthread_mutex_unlock");
}

void cond_init(struct cond *cond)
{
	pthread_condattr_t attr;

	check(pthread_condattr_init(&attr), "pthread_condattr_init");
	check(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC), "pthread_condattr_setclock");
	check(pthread_cond_init(&cond->cond, &attr), "pthread_cond_init");
	check(pthread_condattr_destroy(&attr), "pthread_condattr_destroy");
}

void cond_release(struct cond *cond)
{
	check(pthread_cond_destroy(&cond->cond), "pthread_cond_destroy");
}

void cond_wait(struct cond *cond, struct mutex *mutex)
{
	check(pthread_cond_wait(&cond->cond, &mutex->lock), "pthread_cond_wait");
}

bool cond_wait_until(struct cond *cond, struct mutex *mutex, uint64_t deadline_ns)
{
	struct timespec deadline = {
		.tv_sec = (time_t)(deadline_ns / 1000000000),
		.tv_nsec = (long)(deadline_ns % 1000000000),
	};
	int ret = pthread_cond_timedwait(&cond->cond, &mutex->lock, &deadline);

	if (ret == ETIMEDOUT)
		return false;
	check(ret, "pthread_cond_timedwait");
	return true;
}

void cond_signal(struct cond *cond)
{
	check(pthread_cond_signal(&cond->cond), "pthread_cond_signal");
}

void cond_broadcast(struct cond *cond)
{
	check(pthread_cond_broadcast(&cond->cond), "pthread_cond_broadcast");
}
