/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that grows: on each line of standard input it adds a thread that burns in
 * grown_thread, or, when the line begins with "c", a child that burns in grown_child.
 * The first thread burns in grown_first from the start. It ends with its input, and
 * prints the id of each newcomer. usage: grow
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned long sink;

#define BURN(name)                                        \
	__attribute__((noinline)) static void name(void)  \
	{                                                 \
		for (unsigned int i = 0; i < 100000; i++) \
			sink += i;                        \
	}

BURN(grown_first)
BURN(grown_thread)
BURN(grown_child)

static void say(long id)
{
	printf("%ld\n", id);
	fflush(stdout);
}

static void *run(void *arg)
{
	void (*burn)(void) = *(void (**)(void))arg;

	say(syscall(SYS_gettid));
	for (;;)
		burn();
	return NULL;
}

static void add_child(void)
{
	pid_t pid = fork();

	if (pid) {
		say(pid);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		grown_child();
}

int main(void)
{
	static void (*first)(void) = grown_first;
	static void (*thread)(void) = grown_thread;
	pthread_t id;
	char line[16];

	if (pthread_create(&id, NULL, run, &first))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		if (line[0] == 'c')
			add_child();
		else if (pthread_create(&id, NULL, run, &thread))
			return 1;
	}
	return 0;
}
