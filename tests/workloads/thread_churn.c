/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that come and go for SECONDS, all burning 1 ms a step in thread_hot: each begins
 * with the name of who made it, takes "named-N", makes another one, which has that name
 * until it takes "child-N", and ends. Each tenth is in a child process and becomes
 * PROGRAM, though it is not the first thread there.
 * usage: thread_churn SECONDS PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static char **program;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void thread_hot(void)
{
	double end = now() + 0.001;

	while (now() < end)
		sink++;
}

static void burn_as(const char *prefix, long number)
{
	char name[16];

	thread_hot();
	snprintf(name, sizeof(name), "%s-%ld", prefix, number % 4);
	prctl(PR_SET_NAME, name);
	thread_hot();
}

static void *run_child(void *arg)
{
	burn_as("child", (long)arg);
	return NULL;
}

static void *run(void *arg)
{
	pthread_t thread;

	burn_as("named", (long)arg);
	if (!pthread_create(&thread, NULL, run_child, arg))
		pthread_join(thread, NULL);
	return NULL;
}

static void *become(void *arg)
{
	burn_as("execs", (long)arg);
	execv(program[0], program);
	_exit(1);
}

static void run_thread(void *(*function)(void *), long number)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, (void *)number))
		exit(1);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 2 ? strtod(argv[1], NULL) : 0);

	program = argv + 2;
	for (long i = 0; now() < end; i++) {
		pid_t pid;

		run_thread(run, i);
		if (i % 10)
			continue;
		pid = fork();
		if (!pid)
			run_thread(become, i);
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			return 1;
	}
	return argc <= 2;
}
