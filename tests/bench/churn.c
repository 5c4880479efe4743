/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Short processes, one after the other, as a compilation has them.
 *
 * usage: churn RATE SECONDS [BUSY_MS]
 *
 * Starts RATE processes a second, each an exec of this file that lives 5 to 50 ms and
 * turns in churn_work() for BUSY_MS (default 3) of them, half at its begin and half at
 * its end. The order of the lives is the same in each run. Ends after SECONDS or on
 * SIGTERM and says how many it could start.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { LIFE_MIN_US = 5000, LIFE_MAX_US = 50000 };

static const int64_t sec_ns = 1000000000;
static volatile unsigned long sink;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * sec_ns + now.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / sec_ns, .tv_nsec = ns % sec_ns };
}

__attribute__((noinline)) static void churn_work(int64_t ns)
{
	int64_t end_ns = now_ns() + ns;

	while (now_ns() < end_ns) {
		for (unsigned int i = 0; i < 20000; i++)
			sink += i;
	}
}

static int job(long life_us, long busy_us)
{
	int64_t half_ns = (int64_t)busy_us * 1000 / 2;
	struct timespec rest = timespec_of((int64_t)(life_us - busy_us) * 1000);

	churn_work(half_ns);
	nanosleep(&rest, NULL);
	churn_work(half_ns);
	return 0;
}

/* Start processes until the time is over or one of @ends comes; returns their number. */
static long churn(char *path, long rate, long seconds, long busy_ms, const sigset_t *ends)
{
	char *environment[] = { NULL };
	char job_option[] = "--job";
	int64_t step_ns = sec_ns / rate;
	int64_t due_ns = now_ns();
	int64_t end_ns = due_ns + seconds * sec_ns;
	uint32_t random = 1;
	long nr = 0;

	for (; due_ns < end_ns; due_ns += step_ns) {
		struct timespec wait = timespec_of(due_ns > now_ns() ? due_ns - now_ns() : 0);
		char life[16], busy[16];
		char *arguments[] = { path, job_option, life, busy, NULL };
		pid_t pid;
		int ret;

		if (sigtimedwait(ends, NULL, &wait) > 0)
			break;
		/* A machine that cannot keep up is not flooded afterwards. */
		if (now_ns() > due_ns + sec_ns)
			due_ns = now_ns();
		random = random * 1664525 + 1013904223;
		snprintf(life, sizeof(life), "%u",
			 LIFE_MIN_US + (random >> 8) % (LIFE_MAX_US - LIFE_MIN_US));
		snprintf(busy, sizeof(busy), "%ld", busy_ms * 1000);
		ret = posix_spawn(&pid, path, NULL, NULL, arguments, environment);
		if (ret) {
			fprintf(stderr, "churn: %s: %s\n", path, strerror(ret));
			break;
		}
		nr++;
	}
	return nr;
}

static bool parse(const char *text, long min, long max, long *ret)
{
	char *end;

	*ret = strtol(text, &end, 10);
	return end != text && !*end && *ret >= min && *ret <= max;
}

int main(int argc, char **argv)
{
	long rate, seconds, nr, busy_ms = 3;
	int64_t start_ns = now_ns();
	int64_t end_ns;
	sigset_t ends;

	if (argc == 4 && !strcmp(argv[1], "--job"))
		return job(strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10));
	if (argc < 3 || argc > 4 || !parse(argv[1], 1, 100000, &rate) ||
	    !parse(argv[2], 1, 1000000, &seconds) ||
	    (argc == 4 && !parse(argv[3], 0, LIFE_MIN_US / 1000, &busy_ms))) {
		fputs("usage: churn RATE SECONDS [BUSY_MS]\n", stderr);
		return 2;
	}
	/* They need not be waited for one by one ... */
	signal(SIGCHLD, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	nr = churn(argv[0], rate, seconds, busy_ms, &ends);
	end_ns = now_ns();
	/* ... and wait() returns when the last is gone. */
	wait(NULL);
	printf("%ld processes, %.1f a second\n", nr,
	       (double)nr * (double)sec_ns / (double)(end_ns - start_ns));
	return 0;
}
