/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts COUNT processes of COMMAND, RATE in a second (0: one after the other has
 * ended), reaps them, and prints how many ran and how long it took.
 * usage: spawn COUNT RATE COMMAND [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	long count, rate, nr_reaped = 0;
	double start = now();

	if (argc < 4)
		return 2;
	count = strtol(argv[1], NULL, 10);
	rate = strtol(argv[2], NULL, 10);
	for (long i = 0; i < count; i++) {
		double due = rate ? start + (double)i / (double)rate : 0;
		pid_t pid;

		if (posix_spawn(&pid, argv[3], NULL, NULL, argv + 3, environ))
			return 1;
		if (!rate && waitpid(pid, NULL, 0) == pid)
			nr_reaped++;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			nr_reaped++;
		if (rate && due > now())
			usleep((useconds_t)((due - now()) * 1e6));
	}
	while (wait(NULL) > 0 || errno == EINTR)
		nr_reaped++;
	printf("%ld %.3f\n", nr_reaped, now() - start);
	return 0;
}
