/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Endless clock_gettime(CLOCK_MONOTONIC): most of the time in the vDSO. usage: vdso */
#define _GNU_SOURCE
#include <time.h>

int main(void)
{
	struct timespec time;

	for (;;)
		clock_gettime(CLOCK_MONOTONIC, &time);
}
