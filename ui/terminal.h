/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal on stdin and stdout: taken over, drawn on, read from, given back.
 *
 * There is one at a time, because a signal handler must be able to give it back.
 * Signal dispositions are left as they were.
 *
 * Threads: the main thread only, except terminal_restore().
 */
#ifndef SYMTOP_UI_TERMINAL_H
#define SYMTOP_UI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "ui/input.h"
#include "ui/screen.h"

struct terminal;

/*
 * Take the terminal over. Not before it is known to do what a screen needs: on failure
 * it is untouched and *@err says what to do. Waits in the background until fg.
 */
int terminal_open(bool colors, bool force_colors, struct terminal **ret_terminal,
		  struct err *err) MUST_CHECK;

/* Give it back. NULL is fine. */
void terminal_close(struct terminal *terminal);

/* Give it back from a signal handler: async-signal-safe. Nothing when it is not ours. */
void terminal_restore(void);

/* Give it back for a while, and take it over again. */
void terminal_suspend(struct terminal *terminal);
void terminal_resume(struct terminal *terminal);

/* Take the size that the terminal has now. */
void terminal_resize(struct terminal *terminal);

/* The size as last taken, at least 1 x 1. */
void terminal_size(const struct terminal *terminal, int *ret_nr_rows, int *ret_nr_columns);

/* Whether the locale's characters are UTF-8. */
bool terminal_utf8(void);

/* Teach @input the keys of this terminal. */
void terminal_add_sequences(const struct terminal *terminal, struct input *input);

/*
 * What was typed, without waiting. Returns the number of bytes, 0: nothing now, or
 * -EIO: there will be no more.
 */
int terminal_read(struct terminal *terminal, char *bytes, size_t size);

/* Bring @screen, whose size is the terminal's, there. @full: paint every cell. */
void terminal_draw(struct terminal *terminal, const struct screen *screen, bool full);

#endif /* SYMTOP_UI_TERMINAL_H */
