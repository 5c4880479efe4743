/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main thread ends at once, another one goes on in survivor_hot: /proc/PID/maps is
 * empty from then on. usage: main_exits SECONDS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;
static time_t end;

__attribute__((noinline)) static void survivor_hot(void)
{
	for (unsigned int i = 0; i < 100000; i++)
		sink += i;
}

static void *run(void *arg)
{
	(void)arg;
	while (time(NULL) < end)
		survivor_hot();
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	end = time(NULL) + (argc > 1 ? strtol(argv[1], NULL, 10) : 60);
	if (pthread_create(&thread, NULL, run, NULL))
		return 1;
	pthread_exit(NULL);
}
