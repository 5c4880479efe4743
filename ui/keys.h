/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of the views. A new one is a row in keys.c, a test, the man page; the
 * help page and the bar at the bottom come from the same rows.
 */
#ifndef SYMTOP_UI_KEYS_H
#define SYMTOP_UI_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "ui/screen.h"
#include "ui/state.h"

enum { KEY_CODES = 4 };

struct key_binding {
	uint32_t codes[KEY_CODES]; /* 0: no further */
	void (*run)(struct state *state);
	const char *help;    /* one line of the help page */
	const char *section; /* set in the first row of a section */
	unsigned int views;  /* a bit (1 << enum view) for each that has it; 0: all */
	struct {
		const char *label; /* NULL: not in the bar */
		int position;	   /* from the left, 1.. */
		int importance;	   /* on a narrow screen the lowest goes first */
	} bar;
};

size_t keys_nr(void);
const struct key_binding *keys_binding(size_t index);

/* The binding of @key in @view, or NULL. */
const struct key_binding *keys_find(enum view view, uint32_t key);

/* "h ? F1": the names of a binding's keys. */
void keys_names(const struct key_binding *binding, char *ret_names, size_t size);

/* The bar of @view's keys on line @y. */
void keys_draw_bar(enum view view, struct screen *screen, int y);

#endif /* SYMTOP_UI_KEYS_H */
