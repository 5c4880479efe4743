/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two functions of known shares: hot_alpha turns 100,000 rounds, hot_beta 30,000, in
 * turn: 77:23. Each round depends on the one before it, in registers, so that all take the
 * same time from the first one on. usage: spin [SECONDS [CPU]]
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void hot_alpha(void)
{
	unsigned long value = sink;

	for (unsigned int i = 0; i < 100000; i++)
		value = value * 2654435761 + i;
	sink = value;
}

__attribute__((noinline)) static void hot_beta(void)
{
	unsigned long value = sink;

	for (unsigned int i = 0; i < 30000; i++)
		value = value * 2654435761 + i;
	sink = value;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1e9;
	time_t end = time(NULL) + (time_t)seconds + 1;
	struct timespec start, now;

	if (argc > 2) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((int)strtol(argv[2], NULL, 10), &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (time(NULL) <= end) {
		for (int i = 0; i < 10; i++) {
			hot_alpha();
			hot_beta();
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((double)(now.tv_sec - start.tv_sec) +
			    (double)(now.tv_nsec - start.tv_nsec) / 1e9 >= seconds)
			break;
	}
	return 0;
}
