/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ROUNDS times: fork a child on the other CPU, which opens LIBRARY, burns 3 ms in its
 * library_hot, and becomes PROGRAM, which burns 3 ms. The child is called exec_chain as
 * long as it runs this image. usage: exec_chain ROUNDS LIBRARY PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(int cpu, char **argv)
{
	void (*burn)(double milliseconds);
	cpu_set_t set;
	void *library;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* A machine with one CPU goes on with it. */
	sched_setaffinity(0, sizeof(set), &set);
	library = dlopen(argv[0], RTLD_NOW);
	if (!library)
		_exit(1);
	*(void **)&burn = dlsym(library, "library_hot");
	if (!burn)
		_exit(1);
	burn(3);
	execv(argv[1], argv + 1);
	_exit(1);
}

int main(int argc, char **argv)
{
	long nr_rounds = argc > 3 ? strtol(argv[1], NULL, 10) : 0;
	int failed = argc < 4;

	for (long i = 0; i < nr_rounds; i++) {
		int cpu = sched_getcpu() ? 0 : 1;
		int status = 1;
		pid_t pid = fork();

		if (!pid)
			child(cpu, argv + 2);
		failed |= pid < 0 || waitpid(pid, &status, 0) < 0 || status;
	}
	return failed;
}
