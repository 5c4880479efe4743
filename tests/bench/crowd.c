/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A crowd of idle processes for a profiler to scan at its start.
 *
 * usage: crowd PROCESSES THREADS MAPS BUSY SECONDS
 *
 * Each process has THREADS more threads and MAPS more executable maps of a file. The
 * last BUSY processes, which a sweep through /proc reaches last, turn in crowd_spin().
 * Prints "ready" when all stand, ends after SECONDS or on SIGTERM, and takes all
 * processes with it; should it be killed, the kernel does that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 64 * 1024 };

struct crowd {
	long nr_processes;
	long nr_threads;
	long nr_maps;
	long nr_busy;
	long seconds;
};

static volatile unsigned long sink;

__attribute__((noinline)) static void crowd_spin(void)
{
	for (unsigned int i = 0; i < 1000000; i++)
		sink += i;
}

static void *idle(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static int add_maps(long nr)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	/* The same page each time: neighbours with following offsets would be merged. */
	for (long i = 0; i < nr; i++) {
		if (mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
		    MAP_FAILED)
			return -errno;
	}
	close(fd);
	return 0;
}

static int add_threads(long nr)
{
	pthread_attr_t attr;
	pthread_t thread;
	int ret = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (long i = 0; i < nr && ret == 0; i++)
		ret = -pthread_create(&thread, &attr, idle, NULL);
	pthread_attr_destroy(&attr);
	return ret;
}

/* One process of the crowd: says in @ready_fd what became of it, never returns. */
static void member(const struct crowd *crowd, bool busy, int ready_fd)
{
	int ret = add_maps(crowd->nr_maps);

	if (ret == 0)
		ret = add_threads(crowd->nr_threads);
	if (write(ready_fd, &ret, sizeof(ret)) != (ssize_t)sizeof(ret) || ret < 0)
		_exit(1);
	close(ready_fd);
	while (busy)
		crowd_spin();
	idle(NULL);
	_exit(0);
}

/* Returns how many of @pids were started. */
static long start_all(const struct crowd *crowd, pid_t *pids, int ready_fd)
{
	pid_t parent = getpid();

	for (long i = 0; i < crowd->nr_processes; i++) {
		pids[i] = fork();
		if (pids[i] < 0) {
			fprintf(stderr, "crowd: process %ld: %s\n", i, strerror(errno));
			return i;
		}
		if (pids[i] > 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		member(crowd, i >= crowd->nr_processes - crowd->nr_busy, ready_fd);
	}
	return crowd->nr_processes;
}

static bool all_ready(long nr, int ready_fd)
{
	int ret;

	for (long i = 0; i < nr; i++) {
		if (read(ready_fd, &ret, sizeof(ret)) != (ssize_t)sizeof(ret)) {
			fprintf(stderr, "crowd: only %ld of %ld processes came up\n", i, nr);
			return false;
		}
		if (ret < 0) {
			fprintf(stderr, "crowd: a process: %s\n", strerror(-ret));
			return false;
		}
	}
	return true;
}

static void end_all(const pid_t *pids, long nr)
{
	for (long i = 0; i < nr; i++)
		kill(pids[i], SIGKILL);
	for (long i = 0; i < nr; i++)
		waitpid(pids[i], NULL, 0);
}

static bool parse(int argc, char **argv, struct crowd *crowd)
{
	long *numbers[] = { &crowd->nr_processes, &crowd->nr_threads, &crowd->nr_maps,
			    &crowd->nr_busy, &crowd->seconds };

	if (argc != 6)
		return false;
	for (int i = 0; i < 5; i++) {
		char *end;

		*numbers[i] = strtol(argv[i + 1], &end, 10);
		if (end == argv[i + 1] || *end || *numbers[i] < 0 || *numbers[i] > 1000000)
			return false;
	}
	return crowd->nr_processes > 0;
}

int main(int argc, char **argv)
{
	struct timespec time = { 0 };
	struct crowd crowd;
	sigset_t ends;
	pid_t *pids;
	bool ready;
	int fds[2];
	long nr;

	if (!parse(argc, argv, &crowd)) {
		fputs("usage: crowd PROCESSES THREADS MAPS BUSY SECONDS\n", stderr);
		return 2;
	}
	pids = calloc((size_t)crowd.nr_processes, sizeof(*pids));
	if (!pids || pipe2(fds, O_CLOEXEC)) {
		perror("crowd");
		return 1;
	}
	/* Blocked from here on, so that the processes are ended whenever a signal comes. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);

	nr = start_all(&crowd, pids, fds[1]);
	close(fds[1]);
	ready = all_ready(nr, fds[0]) && nr == crowd.nr_processes;
	if (ready) {
		puts("ready");
		fflush(stdout);
		time.tv_sec = crowd.seconds;
		sigtimedwait(&ends, NULL, &time);
	}
	end_all(pids, nr);
	free(pids);
	return ready ? 0 : 1;
}
