/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SLEEPERS threads that sleep and RUNNERS threads of which one at a time burns in
 * turn_hot, each for 2 ms. Prints "ready" when all are there. usage: threads SLEEPERS RUNNERS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static volatile unsigned long sink;
static long turn, nr_runners;

__attribute__((noinline)) static void turn_hot(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (unsigned int i = 0; i < 100000; i++)
			sink += i;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 2000000);
}

static void *sleep_on(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void *run(void *arg)
{
	long me = (long)arg;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (turn != me)
			pthread_cond_wait(&wake, &lock);
		pthread_mutex_unlock(&lock);
		turn_hot();
		pthread_mutex_lock(&lock);
		turn = (turn + 1) % nr_runners;
		pthread_cond_broadcast(&wake);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long nr_sleepers = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;
	pthread_attr_t attr;
	pthread_t thread;

	nr_runners = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 0; i < nr_sleepers; i++) {
		if (pthread_create(&thread, &attr, sleep_on, NULL))
			return 1;
	}
	for (long i = 0; i < nr_runners; i++) {
		if (pthread_create(&thread, &attr, run, (void *)i))
			return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
