/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One array of cells, row after row. A wide character is a cell of width 2 followed by
 * one of width 0; whoever overwrites one half blanks the other, so that at any moment a
 * row adds up to its columns and terminal.c can pass it on without checks.
 *
 * wcwidth(3) answers for the locale's character set, so a screen with UTF-8 needs a
 * UTF-8 locale (terminal.c sees to that, tests set C.UTF-8).
 */
#include "config.h"

#include "ui/screen.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

struct screen {
	int nr_rows, nr_columns;
	bool utf8;
	int cursor_y, cursor_x; /* -1: none */
	struct cell *cells;
};

static int clamp(int value, int low, int high)
{
	return value < low ? low : value > high ? high : value;
}

static void cell_blank(struct cell *cell)
{
	cell->text[0] = L' ';
	cell->text[1] = L'\0';
	cell->width = 1;
}

struct screen *screen_new(int nr_rows, int nr_columns, bool utf8)
{
	struct screen *screen = mem_zalloc(sizeof(*screen));

	screen->utf8 = utf8;
	screen_resize(screen, nr_rows, nr_columns);
	return screen;
}

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	free(screen->cells);
	free(screen);
}

void screen_resize(struct screen *screen, int nr_rows, int nr_columns)
{
	screen->nr_rows = clamp(nr_rows, 1, SCREEN_MAX_ROWS);
	screen->nr_columns = clamp(nr_columns, 1, SCREEN_MAX_COLUMNS);
	free(screen->cells);
	screen->cells = mem_calloc((size_t)screen->nr_rows * (size_t)screen->nr_columns,
				   sizeof(*screen->cells));
	for (int i = 0; i < screen->nr_rows * screen->nr_columns; i++)
		cell_blank(&screen->cells[i]);
	screen_clear(screen);
}

void screen_clear(struct screen *screen)
{
	screen->cursor_y = -1;
	screen->cursor_x = -1;
	for (int y = 0; y < screen->nr_rows; y++)
		screen_fill(screen, y, 0, screen->nr_columns, STYLE_NORMAL);
}

int screen_nr_rows(const struct screen *screen)
{
	return screen->nr_rows;
}

int screen_nr_columns(const struct screen *screen)
{
	return screen->nr_columns;
}

bool screen_utf8(const struct screen *screen)
{
	return screen->utf8;
}

const char *screen_mark(const struct screen *screen, const char *utf8, const char *ascii)
{
	return screen->utf8 ? utf8 : ascii;
}

static struct cell *cell_at(const struct screen *screen, int y, int x)
{
	return &screen->cells[(size_t)y * (size_t)screen->nr_columns + (size_t)x];
}

const struct cell *screen_row(const struct screen *screen, int y)
{
	return cell_at(screen, y, 0);
}

/* Put one character of @width cells; all of them are inside the row. */
static void cell_set(struct screen *screen, int y, int x, wchar_t wc, int width, unsigned int style)
{
	struct cell *cell = cell_at(screen, y, x);
	int end = x + width;

	if (cell->width == 0)
		cell_blank(cell - 1);
	if (end < screen->nr_columns && cell_at(screen, y, end)->width == 0)
		cell_blank(cell_at(screen, y, end));
	cell->text[0] = wc;
	cell->text[1] = L'\0';
	cell->width = (uint8_t)width;
	cell->style = (uint8_t)style;
	if (width == 2) {
		cell[1].text[0] = L'\0';
		cell[1].width = 0;
		cell[1].style = (uint8_t)style;
	}
}

static void cell_combine(struct cell *cell, wchar_t wc)
{
	size_t len;

	if (cell->width == 0)
		cell--;
	len = wcslen(cell->text);
	if (len >= CELL_CHARS)
		return; /* a heap of accents says no more than the first two */
	cell->text[len] = wc;
	cell->text[len + 1] = L'\0';
}

/* Characters that make some terminals merge, restyle or reorder their neighbours. */
static bool is_joiner(uint32_t code)
{
	return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
	       (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0000 && code <= 0xe0fff);
}

/*
 * Take the next character off *@text: the character to show and its width (0: joins
 * the one before, or is not shown when *@ret_wc is 0). False at the end.
 */
static bool next_char(const struct screen *screen, const char **text, wchar_t *ret_wc,
		      int *ret_width)
{
	uint32_t code = 0;
	size_t len;
	unsigned char first = (unsigned char)**text;

	if (!first)
		return false;
	*ret_width = 1;
	if (first >= 0x20 && first < 0x7f) {
		*ret_wc = first;
		(*text)++;
		return true;
	}
	*ret_wc = L'?';
	len = text_utf8_len(*text, strnlen(*text, 4), &code);
	*text += len ? len : 1;
	if (!len || first < 0x80)
		return true;
	if (!screen->utf8)
		return true;
	if (is_joiner(code)) {
		*ret_wc = L'\0';
		*ret_width = 0;
		return true;
	}
	*ret_width = wcwidth((wchar_t)code);
	if (*ret_width >= 0 && *ret_width <= 2)
		*ret_wc = (wchar_t)code;
	else
		*ret_width = 1;
	return true;
}

static void put_mark(struct screen *screen, int y, int x, unsigned int style)
{
	cell_set(screen, y, x, screen->utf8 ? L'\u2026' : L'~', 1, style);
}

/* Pass over @skip cells of *@text; returns the cells of a wide character that stick out. */
static int skip_cells(const struct screen *screen, const char **text, int skip)
{
	const char *next = *text;
	wchar_t wc;
	int width;

	while (skip > 0 && next_char(screen, &next, &wc, &width)) {
		skip -= width;
		*text = next;
	}
	/* Marks of what was passed over go with it. */
	while (next_char(screen, &next, &wc, &width) && !width)
		*text = next;
	return skip < 0 ? -skip : 0;
}

int screen_put_from(struct screen *screen, int y, int x, int width, int skip, const char *text,
		    unsigned int style)
{
	const char *start = text;
	int used = 0;
	wchar_t wc;
	int cells;

	if (y < 0 || y >= screen->nr_rows || x < 0 || x >= screen->nr_columns)
		return 0;
	width = MIN(width, screen->nr_columns - x);
	if (width <= 0)
		return 0;
	if (skip > 0) {
		for (int pad = skip_cells(screen, &text, skip); pad > 0 && used < width; pad--)
			cell_set(screen, y, x + used++, L' ', 1, style);
	}
	while (next_char(screen, &text, &wc, &cells)) {
		if (!cells) {
			if (wc && used)
				cell_combine(cell_at(screen, y, x + used - 1), wc);
			continue;
		}
		if (used + cells > width) {
			screen_fill(screen, y, x + used, width - used, style);
			put_mark(screen, y, x + width - 1, style);
			used = width;
			break;
		}
		cell_set(screen, y, x + used, wc, cells, style);
		used += cells;
	}
	if (skip > 0 && *start && width > 2) {
		put_mark(screen, y, x, style);
		used = MAX(used, 1);
	}
	return used;
}

int screen_put(struct screen *screen, int y, int x, int width, const char *text, unsigned int style)
{
	return screen_put_from(screen, y, x, width, 0, text, style);
}

void screen_fill(struct screen *screen, int y, int x, int width, unsigned int style)
{
	if (y < 0 || y >= screen->nr_rows || x < 0)
		return;
	for (int end = MIN(x + width, screen->nr_columns); x < end; x++)
		cell_set(screen, y, x, L' ', 1, style);
}

void screen_select(struct screen *screen, int y, int x, int width)
{
	if (y < 0 || y >= screen->nr_rows || x < 0)
		return;
	for (int end = MIN(x + width, screen->nr_columns); x < end; x++)
		cell_at(screen, y, x)->style |= STYLE_SELECTED;
}

int screen_width(const struct screen *screen, const char *text, int limit)
{
	int used = 0;
	wchar_t wc;
	int cells;

	while (used <= limit && next_char(screen, &text, &wc, &cells))
		used += cells;
	return used;
}

size_t screen_fit(const struct screen *screen, const char *text, int width)
{
	const char *next = text;
	const char *end = text;
	int used = 0;
	wchar_t wc;
	int cells;

	while (next_char(screen, &next, &wc, &cells)) {
		if (used && cells && used + cells > width)
			break;
		used += cells;
		end = next;
	}
	return (size_t)(end - text);
}

void screen_set_cursor(struct screen *screen, int y, int x)
{
	screen->cursor_y = clamp(y, 0, screen->nr_rows - 1);
	screen->cursor_x = clamp(x, 0, screen->nr_columns - 1);
}

bool screen_cursor(const struct screen *screen, int *ret_y, int *ret_x)
{
	*ret_y = screen->cursor_y;
	*ret_x = screen->cursor_x;
	return screen->cursor_y >= 0;
}

size_t screen_encode(uint32_t code, char ret_bytes[static 4])
{
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = len; i-- > 1; code >>= 6)
		ret_bytes[i] = (char)(0x80 | (code & 0x3f));
	ret_bytes[0] = (char)(lead[len] | code);
	return len;
}

static void dump_cell(const struct cell *cell, struct textbuf *buf)
{
	char bytes[4];

	for (const wchar_t *wc = cell->text; *wc; wc++)
		textbuf_add(buf, bytes, screen_encode((uint32_t)*wc, bytes));
}

void screen_dump(const struct screen *screen, struct textbuf *buf)
{
	for (int y = 0; y < screen->nr_rows; y++) {
		size_t start = buf->len;

		for (int x = 0; x < screen->nr_columns; x++)
			dump_cell(cell_at(screen, y, x), buf);
		while (buf->len > start && buf->text[buf->len - 1] == ' ')
			buf->len--;
		textbuf_puts(buf, "\n");
	}
}

void screen_dump_styles(const struct screen *screen, struct textbuf *buf)
{
	static const char plain[] = " tsrgdbw=kl";
	static const char selected[] = "#TSRGDBW+KL";

	for (int y = 0; y < screen->nr_rows; y++) {
		size_t start = buf->len;

		for (int x = 0; x < screen->nr_columns; x++) {
			unsigned int style = cell_at(screen, y, x)->style;
			const char *letters = style & STYLE_SELECTED ? selected : plain;

			textbuf_add(buf, &letters[style & ~STYLE_SELECTED], 1);
		}
		while (buf->len > start && buf->text[buf->len - 1] == ' ')
			buf->len--;
		textbuf_puts(buf, "\n");
	}
}
