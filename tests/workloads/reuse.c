/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Burns CPU in the function that -DHOT=name names. Linked without PIE, two builds have
 * their hot functions at the same address. usage: reuse MILLISECONDS
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) void HOT(void)
{
	for (unsigned int i = 0; i < 10000; i++)
		sink += i;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? strtod(argv[1], NULL) : 1e9);

	while (now() < end)
		HOT();
	return 0;
}
