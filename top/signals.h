/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals: those that ask for something come through a descriptor; those that mean a
 * fault of ours restore the terminal and then end us as they would have.
 */
#ifndef SYMTOP_TOP_SIGNALS_H
#define SYMTOP_TOP_SIGNALS_H

#include <stdbool.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

/*
 * Block what we read, handle what is fatal. Call before any worker starts. With
 * @interactive SIGTSTP and SIGWINCH are read too, with @record SIGUSR2. *@ret_fd: the
 * signalfd.
 */
int signals_init(bool interactive, bool record, int *ret_fd, struct err *err) MUST_CHECK;

/* The next pending signal, or 0. */
int signals_next(int fd);

/*
 * While we wait for something that may never come: what has asked us to end so far is
 * forgotten, what asks again from here on ends us at once. Until signals_hold().
 */
void signals_let_through(int fd);
void signals_hold(void);

/* End the process by @number's default action: the exit status tells of it. */
void signals_die_of(int number) NORETURN;

/* Stop like SIGTSTP does; returns when continued. */
void signals_stop(void);

#endif /* SYMTOP_TOP_SIGNALS_H */
