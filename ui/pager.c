/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names are shown whole here, so long lines are broken, at a blank where one is near
 * the end, else anywhere.
 */
#include "config.h"

#include "ui/pager.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "ui/input.h"

void pager_release(struct pager *pager)
{
	pager_clear(pager);
	free(pager->lines);
	*pager = (struct pager){ 0 };
}

void pager_clear(struct pager *pager)
{
	for (size_t i = 0; i < pager->nr; i++)
		free(pager->lines[i].text);
	pager->nr = 0;
}

static void add_line(struct pager *pager, const char *text, size_t len, int indent,
		     unsigned int style)
{
	mem_grow(pager->lines, pager->nr, pager->nr_allocated);
	pager->lines[pager->nr++] = (struct pager_line){
		.text = mem_strndup(text, len),
		.style = style,
		.indent = indent,
	};
}

/* How much of @text goes on a line of @width cells. */
static size_t break_at(const struct screen *screen, const char *text, int width)
{
	size_t len = screen_fit(screen, text, width);
	size_t blank = len;

	if (!text[len])
		return len;
	while (blank > len / 2 && text[blank] != ' ')
		blank--;
	return blank > len / 2 ? blank : len;
}

void pager_add(struct pager *pager, const struct screen *screen, int indent, unsigned int style,
	       const char *fmt, ...)
{
	int columns = screen_nr_columns(screen);
	const char *rest;
	int offset = 0;
	char *text;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	indent = MIN(indent, columns / 3);
	rest = text;
	do {
		size_t len = break_at(screen, rest, MAX(columns - offset, 1));

		add_line(pager, rest, len, offset, style);
		rest += len;
		while (*rest == ' ')
			rest++;
		offset = indent;
	} while (*rest);
	free(text);
}

enum pager_result pager_key(struct pager *pager, uint32_t key)
{
	size_t page = (size_t)MAX(pager->nr_visible, 1);
	static const struct {
		uint32_t key;
		enum { LINE, PAGE, ALL } unit;
		bool back;
	} moves[] = {
		{ INPUT_UP, LINE, true },
		{ 'k', LINE, true },
		{ INPUT_DOWN, LINE, false },
		{ 'j', LINE, false },
		{ INPUT_PAGE_UP, PAGE, true },
		{ INPUT_CTRL('B'), PAGE, true },
		{ 'b', PAGE, true },
		{ INPUT_PAGE_DOWN, PAGE, false },
		{ INPUT_CTRL('F'), PAGE, false },
		{ ' ', PAGE, false },
		{ INPUT_HOME, ALL, true },
		{ 'g', ALL, true },
		{ INPUT_END, ALL, false },
		{ 'G', ALL, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
		size_t by = moves[i].unit == LINE ? 1 : moves[i].unit == PAGE ? page : pager->nr;

		if (moves[i].key != key)
			continue;
		if (moves[i].back)
			pager->top -= MIN(by, pager->top);
		else
			pager->top += by; /* the draw knows where the end is */
		return PAGER_MOVED;
	}
	if (key == INPUT_ESCAPE || key == 'q' || key == INPUT_ENTER || key == INPUT_LEFT)
		return PAGER_LEFT;
	return PAGER_IGNORED;
}

void pager_draw(struct pager *pager, struct screen *screen, int y, int height)
{
	int columns = screen_nr_columns(screen);
	size_t lines = (size_t)MAX(height, 0);
	char more[32];

	pager->nr_visible = height;
	pager->top = MIN(pager->top, pager->nr > lines ? pager->nr - lines : 0);
	for (size_t i = 0; i < lines; i++) {
		const struct pager_line *line;

		screen_fill(screen, y + (int)i, 0, columns, STYLE_NORMAL);
		if (pager->top + i >= pager->nr)
			continue;
		line = &pager->lines[pager->top + i];
		screen_put(screen, y + (int)i, line->indent, columns - line->indent, line->text,
			   line->style);
	}
	if (height < 3 || pager->nr <= pager->top + lines)
		return;
	snprintf(more, sizeof(more), " %zu more lines ", pager->nr - pager->top - lines);
	screen_put(screen, y + height - 1, MAX(columns - (int)strlen(more), 0), columns, more,
		   STYLE_STATE);
}
