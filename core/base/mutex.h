/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mutex and condition that clang's -Wthread-safety understands.
 *
 * A failing pthread call here is our own mistake: it ends the program.
 */
#ifndef SYMTOP_CORE_BASE_MUTEX_H
#define SYMTOP_CORE_BASE_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"

struct CAPABILITY("mutex") mutex {
	pthread_mutex_t lock;
};

struct cond {
	pthread_cond_t cond;
};

void mutex_init(struct mutex *mutex);
void mutex_release(struct mutex *mutex);
void mutex_lock(struct mutex *mutex) ACQUIRES(*mutex);
void mutex_unlock(struct mutex *mutex) RELEASES(*mutex);

void cond_init(struct cond *cond);
void cond_release(struct cond *cond);
void cond_wait(struct cond *cond, struct mutex *mutex) REQUIRES(*mutex);

/* Wait until @deadline_ns of clock_now_ns(); false when that time came first. */
bool cond_wait_until(struct cond *cond, struct mutex *mutex, uint64_t deadline_ns) REQUIRES(*mutex);
void cond_signal(struct cond *cond);
void cond_broadcast(struct cond *cond);

#endif /* SYMTOP_CORE_BASE_MUTEX_H */
