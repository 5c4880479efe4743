/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shared library with one function that burns so many milliseconds of CPU. */
#define _GNU_SOURCE
#include <time.h>

static volatile unsigned long sink;

void library_hot(double milliseconds);

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

void library_hot(double milliseconds)
{
	double end = now() + milliseconds;

	do {
		for (unsigned int i = 0; i < 10000; i++)
			sink += i;
	} while (now() < end);
}
