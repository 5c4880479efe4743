/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our own threads. A worker has a name that shows in top -H and in symtop
 * itself, and every signal blocked: signals are the main thread's business.
 */
#ifndef SYMTOP_CORE_BASE_WORKER_H
#define SYMTOP_CORE_BASE_WORKER_H

#include "core/base/compiler.h"
#include "core/base/err.h"

struct worker;

/*
 * Run @run(@arg) in a new thread named @name (15 bytes count). On success
 * *@ret_worker is the caller's, who ends it with worker_join().
 *
 * Returns 0 or what pthread_create(3) reported.
 */
int worker_start(const char *name, void (*run)(void *arg), void *arg, struct worker **ret_worker,
		 struct err *err) MUST_CHECK;

/* Wait until it has returned, and free it. NULL is fine. */
void worker_join(struct worker *worker);

#endif /* SYMTOP_CORE_BASE_WORKER_H */
