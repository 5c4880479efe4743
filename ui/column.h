/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of the table. A new one is a row in column.c, a test, the man page.
 */
#ifndef SYMTOP_UI_COLUMN_H
#define SYMTOP_UI_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/text.h"
#include "core/snapshot.h"

enum { MAX_COLUMNS = 16 };

struct column {
	const char *title;
	const char *sign; /* its title where there is UTF-8; NULL: the same */
	int width;	  /* cells, on a screen of 80 columns and more; the last takes the rest */
	int narrow;	  /* where that is too much */
	int wide;	  /* from 110 columns on */
	int rank;	  /* what goes first where even that is too much: the lowest */
	bool right;	  /* numbers */
	bool sorts;	  /* order and key say what a sort by it is */
	enum order_by order;
	enum sort_key key; /* with ORDER_KEY */
	bool (*shown)(const struct view_spec *spec, const struct column *column);
	void (*print)(const struct row *row, struct textbuf *buf);
	unsigned int (*style)(const struct row *row); /* NULL: STYLE_NORMAL */
};

struct column_place {
	const struct column *column;
	int x, width;
};

/*
 * Choose the columns for @spec on a screen of @width columns, left to right. Numbers
 * and the object stay when the rest goes. Returns how many.
 */
size_t columns_choose(const struct view_spec *spec, int width,
		      struct column_place ret_places[static MAX_COLUMNS]);

/* Whether rows of @spec are sorted by @column. */
bool column_is_sorted(const struct column *column, const struct view_spec *spec);

/*
 * What a view can be sorted by, in column order: those of its keys, and the weights.
 * Returns how many.
 */
size_t columns_sortable(const struct view_spec *spec,
			const struct column *ret_columns[static MAX_COLUMNS]);

#endif /* SYMTOP_UI_COLUMN_H */
