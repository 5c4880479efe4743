/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A grid of cells that views draw into; no terminal is needed to have one.
 *
 * terminal.c brings it to the terminal, tests dump it. Text is UTF-8; every character
 * takes the cells wcwidth(3) says, a wide one is never split, combining marks join the
 * cell before them, and what has no width or may join its neighbours on some terminals
 * (ZWJ, variation selectors) is left out. On a screen without UTF-8 each non-ASCII
 * character is one '?'. Anything outside the grid is clipped.
 *
 * Threads: one at a time.
 */
#ifndef SYMTOP_UI_SCREEN_H
#define SYMTOP_UI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "core/base/compiler.h"
#include "core/base/text.h"

/* What a cell means; terminal.c knows the looks. */
enum style {
	STYLE_NORMAL,
	STYLE_TITLE,  /* column titles */
	STYLE_SORTED, /* the title that rows are sorted by */
	STYLE_HOT,    /* a share of 5 % and more */
	STYLE_WARM,   /* 0.5 % and more */
	STYLE_DIM,    /* what is settled or not sure yet */
	STYLE_BOLD,
	STYLE_WARN,  /* what somebody should act on */
	STYLE_STATE, /* paused, filtered */
	STYLE_KEY,   /* the name of a key */
	STYLE_LABEL, /* what the key does */
	NR_STYLES,
	STYLE_SELECTED = 0x80, /* a flag: the row under the cursor */
};

enum { SCREEN_MAX_ROWS = 1000, SCREEN_MAX_COLUMNS = 2000, CELL_CHARS = 3 };

struct cell {
	wchar_t text[CELL_CHARS + 1]; /* a character and its combining marks */
	uint8_t width;		      /* 1 or 2; 0: the second half of the cell before */
	uint8_t style;
};

struct screen;

/* A blank grid, sizes limited to 1..SCREEN_MAX_*. The caller's, ends with screen_free(). */
struct screen *screen_new(int nr_rows, int nr_columns, bool utf8) MUST_CHECK;
void screen_free(struct screen *screen); /* NULL is fine */

/* Change the size; the content is gone. */
void screen_resize(struct screen *screen, int nr_rows, int nr_columns);

/* All blank, no cursor. */
void screen_clear(struct screen *screen);

int screen_nr_rows(const struct screen *screen);
int screen_nr_columns(const struct screen *screen);
bool screen_utf8(const struct screen *screen);

/* Either text, by what the screen can show. */
const char *screen_mark(const struct screen *screen, const char *utf8, const char *ascii);

/* A row's cells, screen_nr_columns() of them, borrowed until the next change. */
const struct cell *screen_row(const struct screen *screen, int y);

/*
 * Write @text into the @width cells from @y, @x. What does not fit is cut and its last
 * cell holds a mark ('…' or '~'). Returns the cells used.
 */
int screen_put(struct screen *screen, int y, int x, int width, const char *text,
	       unsigned int style);

/* The same from the cell @skip of @text on; what is hidden at the left is marked too. */
int screen_put_from(struct screen *screen, int y, int x, int width, int skip, const char *text,
		    unsigned int style);

/* Blank cells. */
void screen_fill(struct screen *screen, int y, int x, int width, unsigned int style);

/* Add STYLE_SELECTED to cells. */
void screen_select(struct screen *screen, int y, int x, int width);

/* How many cells @text takes here; counting stops when it is more than @limit. */
int screen_width(const struct screen *screen, const char *text, int limit);

/* How many bytes of @text fit in @width cells; at least one character unless it is empty. */
size_t screen_fit(const struct screen *screen, const char *text, int width);

/* The UTF-8 of a code point (not checked), its length returned. */
size_t screen_encode(uint32_t code, char ret_bytes[static 4]);

/* Where the terminal's cursor stands and is visible. */
void screen_set_cursor(struct screen *screen, int y, int x);
bool screen_cursor(const struct screen *screen, int *ret_y, int *ret_x);

/* The text of the grid, a line a row, without trailing blanks. */
void screen_dump(const struct screen *screen, struct textbuf *buf);

/* A letter a cell for the style, blank: normal, upper case: selected. */
void screen_dump_styles(const struct screen *screen, struct textbuf *buf);

#endif /* SYMTOP_UI_SCREEN_H */
