/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen: shows snapshots, turns keys into wishes.
 *
 * ui/ never sees a ring, a lock or the engine: ui_show() gives it a snapshot to draw,
 * ui_next() says what the person wants; top/ carries it out. Nothing here blocks.
 *
 * Threads: the main thread only, except ui_restore_terminal().
 */
#ifndef SYMTOP_UI_UI_H
#define SYMTOP_UI_UI_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/snapshot.h"

struct ui;

enum ui_color { UI_COLOR_AUTO, UI_COLOR_ALWAYS, UI_COLOR_NEVER };

struct ui_options {
	bool ascii;	     /* no UTF-8 even if the locale has it */
	enum ui_color color; /* AUTO honours NO_COLOR */
	uint64_t refresh_ns;
	bool zero_each;
	struct view_spec spec;	      /* what is shown at first */
	unsigned int nr_scan_workers; /* of the next scan of /proc; 0: adaptive */
	const char *record_path;      /* to be proposed; NULL: one by the time; borrowed */
};

/*
 * Take over the terminal on stdin and stdout. On success *@ret_ui is the caller's,
 * who ends it with ui_close(). Fails with a message that points at -b when TERM is
 * unset, unknown or cannot do a screen; the terminal is then untouched.
 */
int ui_open(const struct ui_options *options, struct ui **ret_ui, struct err *err) MUST_CHECK;

/* Give the terminal back. NULL is fine. */
void ui_close(struct ui *ui);

/*
 * Give the terminal back from a signal handler: only async-signal-safe calls. Does
 * nothing when the terminal is not ours.
 */
void ui_restore_terminal(void);

/* Show @snapshot (takes a reference of its own) unless paused; then it waits. Draws. */
void ui_show(struct ui *ui, struct snapshot *snapshot);

/*
 * What the view really is now: when a wish could not be carried out, for one a filter
 * that cannot be parsed. The next wish starts from it.
 */
void ui_set_spec(struct ui *ui, const struct view_spec *spec);

/* A line for the person, in the message row until a key or a few seconds. */
void ui_message(struct ui *ui, enum note_level level, const char *text);

enum ui_action {
	UI_NONE, /* no more input now */
	UI_QUIT,
	UI_SPEC,      /* spec is what is wanted now */
	UI_REFRESH,   /* refresh_ns is wanted */
	UI_ZERO,      /* forget all samples */
	UI_ZERO_EACH, /* zero_each: forget at each refresh or not */
	UI_SUSPEND,   /* ^Z: ui has given the terminal back; stop, then call ui_resume() */
	UI_WRITE,     /* write the view to file `path` */
	UI_READERS,   /* have nr_readers */
	UI_RESCAN,    /* scan /proc again, with nr_scan_workers (0: adaptive) */
	UI_RECORD,    /* record to file `path` */
	UI_RECORD_END,
};

struct ui_wish {
	enum ui_action action;
	struct view_spec spec;
	uint64_t refresh_ns;
	bool zero_each;
	char path[256];
	unsigned int nr_readers, nr_scan_workers;
};

/*
 * Handle pending input and let messages time out. Returns with the first thing top/ has
 * to do; call again until UI_NONE, which is when the screen is drawn. End of input
 * (terminal gone) is UI_QUIT.
 */
void ui_next(struct ui *ui, struct ui_wish *ret_wish);

/* After SIGWINCH: take the new size and draw. */
void ui_resize(struct ui *ui);

/* Leave and re-enter the screen around a stop (SIGTSTP from outside, ^Z). */
void ui_suspend(struct ui *ui);
void ui_resume(struct ui *ui);

/* The snapshot on the screen (paused or newest), borrowed until the next ui call; NULL: none. */
struct snapshot *ui_snapshot(struct ui *ui);

/*
 * When ui_next() is to be called though no key came: a message times out, a lone Esc
 * turns out to be one. Clock ns; 0: never.
 */
uint64_t ui_deadline_ns(const struct ui *ui);

#endif /* SYMTOP_UI_UI_H */
