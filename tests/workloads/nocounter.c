/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library to preload: perf_event_open(2) of hardware events fails with the errno in
 * the environment variable NOCOUNTER, as it does on machines without counters.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	const char *code = getenv("NOCOUNTER");
	long arg[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open && code) {
		const struct perf_event_attr *attr = (const void *)arg[0];

		if (attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT) {
			errno = (int)strtol(code, NULL, 10);
			return -1;
		}
	}
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
