/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The views: what stands between the header and the bar of keys. A new one is a row in
 * view.c, its module, its keys, its golden screens, the man page.
 */
#ifndef SYMTOP_UI_VIEW_H
#define SYMTOP_UI_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/screen.h"

enum view { VIEW_SYMBOLS, VIEW_ENGINE, NR_VIEWS };

struct state;

struct view_kind {
	const char *name;
	char key;	 /* that goes straight to it */
	bool has_titles; /* of columns, on a line of their own */
	/* On @height lines from @y on, with a snapshot there. */
	void (*draw)(struct state *state, struct screen *screen, int y, int height);
	/* By @by lines; LONG_MIN and LONG_MAX: to the ends. */
	void (*move)(struct state *state, long by);
	/* Lines on the screen at the last draw. */
	int (*nr_visible)(const struct state *state);
};

const struct view_kind *view_kind(enum view view);

/* The view that @key goes to; NR_VIEWS: there is none. */
enum view view_of_key(uint32_t key);

#endif /* SYMTOP_UI_VIEW_H */
