/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start a program again and again, print each pid, wait for all.
 * usage: launch TIMES INTERVAL_MS PROGRAM [ARGUMENT]...
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long nr_times, interval_ms;

	if (argc < 4)
		return 2;
	nr_times = strtol(argv[1], NULL, 10);
	interval_ms = strtol(argv[2], NULL, 10);
	for (long i = 0; i < nr_times; i++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execv(argv[3], argv + 3);
			_exit(127);
		}
		printf("%d\n", (int)pid);
		fflush(stdout);
		usleep((useconds_t)interval_ms * 1000);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
