/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals are blocked before the thread exists, so none can land in it between
 * its start and its first statement.
 */
#include "config.h"

#include "core/base/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"

/* Whatever `ulimit -s` says: demangling a hostile name needs a known depth. */
#define STACK_BYTES ((size_t)8 << 20)

struct worker {
	pthread_t thread;
	void (*run)(void *arg);
	void *arg;
	char name[16];
};

static void *worker_main(void *arg)
{
	struct worker *worker = arg;

	pthread_setname_np(pthread_self(), worker->name);
	worker->run(worker->arg);
	return NULL;
}

int worker_start(const char *name, void (*run)(void *arg), void *arg, struct worker **ret_worker,
		 struct err *err)
{
	struct worker *worker = mem_zalloc(sizeof(*worker));
	pthread_attr_t attr;
	sigset_t all, old;
	int ret;

	worker->run = run;
	worker->arg = arg;
	snprintf(worker->name, sizeof(worker->name), "%s", name);
	sigfillset(&all);
	/* Faults of our own must still end us, with the terminal restored. */
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&worker->thread, &attr, worker_main, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (ret) {
		free(worker);
		return err_set(err, ret, "worker %s: cannot start a thread", name);
	}
	*ret_worker = worker;
	return 0;
}

void worker_join(struct worker *worker)
{
	int ret;

	if (!worker)
		return;
	ret = pthread_join(worker->thread, NULL);
	if (ret)
		die("pthread_join: error %d", ret);
	free(worker);
}
