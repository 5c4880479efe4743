/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a call failed, for the person in front of the screen.
 *
 * Functions return 0 or a negative errno. Those whose failure the user can act
 * on take a struct err as well and fill it on failure only: the object and the
 * real errno once, where it failed, and then perhaps a remedy. The text is a
 * plain value; whoever has the struct has the text.
 */
#ifndef SYMTOP_CORE_BASE_ERR_H
#define SYMTOP_CORE_BASE_ERR_H

#include "core/base/compiler.h"

struct err {
	int code;	 /* negative errno, 0 when nothing failed */
	char text[1024]; /* one sentence or more, no trailing newline */
};

/*
 * Note that @code (a negative errno) happened to what @fmt names. The errno's
 * description is appended after a colon. @err may be NULL. Returns @code.
 */
int err_set(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);

/* Like err_set() for faults that no errno describes well: the text is @fmt alone. */
int err_say(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);

/* Append a remedy, on a line of its own. @err may be NULL. */
void err_hint(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/*
 * End the program with a message after running the hook of die_set_hook().
 * Only for our own mistakes and for memory that ran out. Any thread.
 */
void die(const char *fmt, ...) PRINTF(1, 2) NORETURN;

/* @hook restores the terminal; it runs once, before die() prints. NULL: none. */
void die_set_hook(void (*hook)(void));

#endif /* SYMTOP_CORE_BASE_ERR_H */
