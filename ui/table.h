/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows, the cursor on one of them, and which part of them is on the screen.
 *
 * Once the cursor was moved it sticks to its row by id: it goes where the row goes, and
 * stands nearby while the row is not there. Until then (and after Home) it stays at the top.
 */
#ifndef SYMTOP_UI_TABLE_H
#define SYMTOP_UI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/snapshot.h"
#include "ui/screen.h"

/* A plain value, zero-initialised. */
struct table {
	bool pinned; /* the cursor follows @id */
	uint64_t id;
	size_t index;	/* of the row under the cursor */
	size_t top;	/* of the first row on the screen */
	int scroll;	/* cells of the last column hidden at the left */
	int nr_visible; /* lines at the last draw */
};

/* Take in that @snapshot (NULL: none) is now the one shown. */
void table_update(struct table *table, const struct snapshot *snapshot);

/* The row under the cursor; NULL: there are no rows. */
const struct row *table_selected(const struct table *table, const struct snapshot *snapshot);

/* Move by @by rows, stopping at the ends. */
void table_move(struct table *table, const struct snapshot *snapshot, long by);

/* To the top, where the cursor stays whatever row is there. */
void table_home(struct table *table);

void table_go(struct table *table, const struct snapshot *snapshot, size_t index);

/* Shift the last column by @by cells. */
void table_scroll(struct table *table, int by);

/*
 * Put the cursor on the next row (@step 1) or the previous (-1) from @from on, around
 * the end, whose comm, object or symbol has @text in it, case ignored. False: none has.
 */
bool table_search(struct table *table, const struct snapshot *snapshot, const char *text,
		  size_t from, int step);

void table_draw_title(const struct view_spec *spec, struct screen *screen, int y);

/* Draw on @height lines from @y on. */
void table_draw(struct table *table, const struct snapshot *snapshot, struct screen *screen, int y,
		int height);

#endif /* SYMTOP_UI_TABLE_H */
