/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fixed amount of work for all CPUs, as a parallel loop: threads that do a share each and
 * wait for one another. What delays one thread delays all.
 *
 * usage: workload THREADS LOOPS
 *        workload THREADS for SECONDS
 *
 * Each loop is some 1 ms of work for each thread, and then a barrier. Prints the seconds
 * that passed and the CPU seconds that it used; with "for" how many loops take SECONDS.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { ROUNDS = 400000, MAX_THREADS = 4096 };

static pthread_barrier_t barrier;
static volatile unsigned long sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Each round depends on the one before it, in registers. */
__attribute__((noinline)) static unsigned long work(unsigned long value)
{
	for (unsigned int i = 0; i < ROUNDS; i++)
		value = value * 2654435761 + i;
	return value;
}

static void *run(void *arg)
{
	long nr_loops = *(long *)arg;
	unsigned long value = 1;

	for (long i = 0; i < nr_loops; i++) {
		value = work(value);
		pthread_barrier_wait(&barrier);
	}
	sink = value;
	return NULL;
}

/* Returns the seconds it took, negative without threads. */
static double run_all(unsigned int nr_threads, long nr_loops)
{
	pthread_t *threads = calloc(nr_threads, sizeof(*threads));
	double start = now();

	pthread_barrier_init(&barrier, NULL, nr_threads);
	for (unsigned int i = 0; i < nr_threads; i++) {
		if (!threads || pthread_create(&threads[i], NULL, run, &nr_loops)) {
			fputs("workload: no thread to be had\n", stderr);
			exit(1);
		}
	}
	for (unsigned int i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	free(threads);
	return now() - start;
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	long nr_threads = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	double seconds;
	long nr_loops;

	if (nr_threads < 1 || nr_threads > MAX_THREADS || argc < 3 || argc > 4) {
		fputs("usage: workload THREADS LOOPS | workload THREADS for SECONDS\n", stderr);
		return 2;
	}
	if (argc == 4 && !strcmp(argv[2], "for")) {
		run_all((unsigned int)nr_threads, 500);
		/* By CPU time: what else runs now may be gone later. */
		seconds = cpu_seconds() / (double)nr_threads;
		nr_loops = (long)(500 * strtod(argv[3], NULL) / seconds);
		printf("%ld\n", nr_loops > 1 ? nr_loops : 1);
		return 0;
	}
	nr_loops = strtol(argv[2], NULL, 10);
	seconds = run_all((unsigned int)nr_threads, nr_loops);
	printf("%.4f %.4f\n", seconds, cpu_seconds());
	return 0;
}
