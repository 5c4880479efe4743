/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Burns MILLISECONDS of CPU in the function that -DHOT=name names. Linked without PIE,
 * two builds have their hot functions at the same address, which is printed. With TID
 * it burns in a thread of that id, if that can be had: otherwise the status is 2.
 * usage: reuse MILLISECONDS [TID]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static double milliseconds;

__attribute__((noinline)) void HOT(void)
{
	for (unsigned int i = 0; i < 10000; i++)
		sink += i;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void burn(void)
{
	double end = now() + milliseconds;

	while (now() < end)
		HOT();
}

static void *run(void *arg)
{
	if (syscall(SYS_gettid) != *(long *)arg)
		_exit(2);
	burn();
	return NULL;
}

/* The kernel gives ids out in turn from this one. */
static int set_last_id(long id)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
	char text[32];

	snprintf(text, sizeof(text), "%ld", id);
	return fd < 0 || write(fd, text, strlen(text)) < 0;
}

int main(int argc, char **argv)
{
	long tid = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	pthread_t thread;

	printf("%p\n", (void *)HOT);
	milliseconds = argc > 1 ? strtod(argv[1], NULL) : 1e9;
	if (!tid) {
		burn();
		return 0;
	}
	if (set_last_id(tid - 1) || pthread_create(&thread, NULL, run, &tid))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
