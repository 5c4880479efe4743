/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two threads that burn in thread_hot and rename themselves after SECONDS: from the
 * program's name to worker-one and worker-two. usage: rename SECONDS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static double seconds;

__attribute__((noinline)) static void thread_hot(void)
{
	for (unsigned int i = 0; i < 100000; i++)
		sink += i;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *run(void *arg)
{
	double due = now() + seconds;

	while (now() < due)
		thread_hot();
	prctl(PR_SET_NAME, arg);
	for (;;)
		thread_hot();
	return NULL;
}

int main(int argc, char **argv)
{
	static char one[] = "worker-one", two[] = "worker-two";
	pthread_t thread;

	seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
	if (pthread_create(&thread, NULL, run, one) || pthread_create(&thread, NULL, run, two))
		return 1;
	for (;;)
		pause();
}
