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
 * @interactive SIGTSTP and SIGWINCH are read too. *@ret_fd: the signalfd.
 */
int signals_init(bool interactive, int *ret_fd, struct err *err) MUST_CHECK;

/* The next pending signal, or 0. */
int signals_next(int fd);

/* End the process by @number's default action: the exit status tells of it. */
void signals_die_of(int number) NORETURN;

/* Stop like SIGTSTP does; returns when continued. */
void signals_stop(void);

#endif /* SYMTOP_TOP_SIGNALS_H */
