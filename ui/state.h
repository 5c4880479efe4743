/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All of the screen but the terminal: what is shown, what is asked, what a key does.
 *
 * ui.c feeds it keys and snapshots and brings its drawing to the terminal; tests do
 * the same without one. Time is given, never read.
 *
 * Threads: the main thread only.
 */
#ifndef SYMTOP_UI_STATE_H
#define SYMTOP_UI_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/snapshot.h"
#include "ui/engine_view.h"
#include "ui/menu.h"
#include "ui/pager.h"
#include "ui/prompt.h"
#include "ui/screen.h"
#include "ui/table.h"
#include "ui/ui.h"
#include "ui/view.h"

enum mode { MODE_TABLE, MODE_PROMPT, MODE_MENU, MODE_DETAIL, MODE_HELP };

struct baseline;
struct state;

/* What prompts do while text changes (may be NULL), and how they end; text NULL: given up. */
struct prompt_use {
	const char *label;
	void (*changed)(struct state *state, const char *text);
	void (*done)(struct state *state, const char *text);
};

struct state {
	struct view_spec spec;	   /* as asked for; the snapshot has its own */
	bool moment_awaited;	   /* what was asked for of spec.end_ns was not shown yet */
	struct baseline *baseline; /* NULL: none */
	size_t nr_gone;		   /* rows of it, see baseline_compare() */
	uint64_t refresh_ns;
	bool zero_each;
	bool paused;
	bool redraw;		  /* ^L: paint every cell */
	bool want_chains;	  /* chains were asked for at the start: the detail keeps them */
	bool pasting;		  /* a paste outside a prompt: its text is no keys */
	uint64_t now_ns;	  /* of the call that is being handled */
	struct snapshot *shown;	  /* references of our own */
	struct snapshot *waiting; /* newer, while paused */
	enum view view;
	struct table table;
	struct engine_view engine;
	unsigned int nr_readers;      /* as asked for by a key; 0: none was */
	unsigned int nr_scan_workers; /* of the next scan; 0: adaptive */
	uint64_t scan_awaited;	      /* the number of the scan whose end is to be told; 0: none */
	const char *record_path;      /* of the options; NULL: none */
	enum recording_state recording; /* in the newest snapshot, also while paused */
	uint64_t nr_recorded;		/* recordings whose end was told */
	enum mode mode;
	struct prompt prompt;
	const struct prompt_use *prompt_use;
	struct menu menu;
	void (*menu_done)(struct state *state, int value);
	struct pager pager;
	struct snapshot *detail; /* where the row of the detail was last seen */
	size_t detail_index;
	bool detail_gone; /* the row is not in the newest snapshot */
	char search[PROMPT_BYTES];
	struct table search_start; /* where the cursor was before the search */
	char message[512];
	enum note_level message_level;
	uint64_t message_until_ns; /* 0: no message */
	struct ui_wish wish;	   /* of the last key */
};

/* Fill and empty. */
void state_init(struct state *state, const struct ui_options *options);
void state_release(struct state *state);

/* Show @snapshot, or keep it for later while paused. Takes a reference. */
void state_show(struct state *state, struct snapshot *snapshot);

/* Handle a key; what top/ has to do is in *@ret_wish. */
void state_key(struct state *state, uint32_t key, uint64_t now_ns, struct ui_wish *ret_wish);

/* Show a line until a key, or until its time is over. */
void state_message(struct state *state, enum note_level level, const char *text, uint64_t now_ns);

/* Let the message go when its time is over; true: it went. */
bool state_expire(struct state *state, uint64_t now_ns);

/* Draw all of it on a cleared @screen. */
void state_draw(struct state *state, struct screen *screen);

/* ---- for keys.c and actions.c ---- */

/* A message of our own, from within a key. */
void state_say(struct state *state, const char *fmt, ...) PRINTF(2, 3);

/* The spec was changed: wish for it. */
void state_wish_spec(struct state *state);

/* Compare what is shown from now on with what is shown now, and no more. */
void state_set_baseline(struct state *state);
void state_drop_baseline(struct state *state);

void state_ask(struct state *state, const struct prompt_use *use, const char *text);

#endif /* SYMTOP_UI_STATE_H */
