/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nothing here knows what is measured: sections come from the snapshot, in its order, and
 * a figure that is added there shows up here. Only the keys that tune something, and what
 * somebody should worry about, are known by name.
 *
 * Each section is a block of cells with a place on a sheet as wide as the screen and as
 * long as it takes; drawing shows a part of the sheet. It is laid out anew at each draw:
 * a hundred figures cost less than the curses update that follows.
 */
#include "config.h"

#include "ui/engine_view.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/mem.h"
#include "core/base/text.h"
#include "ui/format.h"

enum { GAP = 2, MAX_COLUMNS_OF_TABLE = 16, SLACK_LINES = 1 };

struct block {
	size_t first; /* figure */
	size_t nr_figures;
	size_t nr_columns; /* of a table; 0: no table */
	const char *extra; /* the name of a line at the end that is ours; NULL: none */
	char extra_value[FORMAT_SIZE];
	int widths[MAX_COLUMNS_OF_TABLE]; /* of columns; plain: of names and values */
	int item_width;
	int x, y, width, height; /* on the sheet; the height has the title in it */
};

struct sheet {
	const struct snapshot *snapshot;
	struct screen *screen;
	struct block *blocks;
	size_t nr, nr_allocated;
	int plain_width; /* of the widest block that is no table */
	int nr_lines;
};

static const struct {
	const char *section, *title;
} titles[] = {
	{ "reader", "reader (+ -)" },
	{ "synthesizer", "synthesizer (] [ S)" },
};

static const char *title_of(const char *section)
{
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		if (!strcmp(titles[i].section, section))
			return titles[i].title;
	return section;
}

/* Is this a count of something that should not happen? */
static bool is_trouble(const struct engine_figure *figure)
{
	static const char *const names[] = {
		"overwritten", "lost",	  "throttled", "corrupt",	 "malformed",
		"ticks late",  "evicted", "coarsened", "chains refused",
	};

	if (!(figure->value > 0))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], figure->name))
			return true;
	return false;
}

static void format_value(const struct engine_figure *figure, char ret_text[static FORMAT_SIZE])
{
	char text[16];

	if (!isfinite(figure->value) || figure->value < 0) {
		snprintf(ret_text, FORMAT_SIZE, "-");
		return;
	}
	switch (figure->unit) {
	case ENGINE_SECONDS:
		format_duration((uint64_t)(MIN(figure->value, 1e9) * (double)NSEC_PER_SEC + 0.5),
				ret_text);
		return;
	case ENGINE_BYTES:
		format_bytes((uint64_t)MIN(figure->value, 1e18), ret_text);
		return;
	case ENGINE_RATE:
		text_si(figure->value, text);
		snprintf(ret_text, FORMAT_SIZE, "%s/s", text);
		return;
	case ENGINE_SHARE:
		format_share(figure->value, 1, ret_text);
		return;
	case ENGINE_COUNT:
	case NR_ENGINE_UNITS:
		break;
	}
	format_count(figure->value, ret_text);
}

/* ---- blocks ---- */

static const struct engine_figure *figure_at(const struct sheet *sheet, const struct block *block,
					     size_t index)
{
	return snapshot_engine(sheet->snapshot, block->first + index);
}

static int width_of(const struct sheet *sheet, const char *text)
{
	return screen_width(sheet->screen, text, SCREEN_MAX_COLUMNS);
}

static size_t nr_items(const struct block *block)
{
	return block->nr_figures / block->nr_columns;
}

/* Figures of the first item; all items have as many. */
static size_t count_columns(const struct sheet *sheet, const struct block *block)
{
	const char *item = figure_at(sheet, block, 0)->item;
	size_t nr = 0;

	if (!*item)
		return 0;
	while (nr < block->nr_figures && nr < MAX_COLUMNS_OF_TABLE &&
	       !strcmp(figure_at(sheet, block, nr)->item, item))
		nr++;
	return nr;
}

static void measure_table(struct sheet *sheet, struct block *block)
{
	block->item_width = width_of(sheet, title_of(figure_at(sheet, block, 0)->section));
	for (size_t i = 0; i < block->nr_figures; i++) {
		const struct engine_figure *figure = figure_at(sheet, block, i);
		int *width = &block->widths[i % block->nr_columns];
		char text[FORMAT_SIZE];

		format_value(figure, text);
		*width = MAX(*width, width_of(sheet, figure->name));
		*width = MAX(*width, width_of(sheet, text));
		block->item_width = MAX(block->item_width, width_of(sheet, figure->item));
	}
	block->width = block->item_width;
	for (size_t i = 0; i < block->nr_columns; i++)
		block->width += GAP + block->widths[i];
	block->height = 1 + (int)nr_items(block);
}

static void measure_plain(struct sheet *sheet, struct block *block)
{
	for (size_t i = 0; i < block->nr_figures; i++) {
		const struct engine_figure *figure = figure_at(sheet, block, i);
		char text[FORMAT_SIZE];

		format_value(figure, text);
		block->widths[0] = MAX(block->widths[0], width_of(sheet, figure->name));
		block->widths[1] = MAX(block->widths[1], width_of(sheet, text));
	}
	block->width = block->widths[0] + 1 + block->widths[1];
	if (block->extra)
		block->width = MAX(block->width, width_of(sheet, block->extra) + 1 +
							 width_of(sheet, block->extra_value));
	block->width =
		MAX(block->width, width_of(sheet, title_of(figure_at(sheet, block, 0)->section)));
	block->height = 1 + (int)block->nr_figures + (block->extra != NULL);
	sheet->plain_width = MAX(sheet->plain_width, block->width);
}

static void add_block(struct sheet *sheet, size_t first, size_t nr, unsigned int nr_scan_workers)
{
	struct block *block;

	mem_grow(sheet->blocks, sheet->nr, sheet->nr_allocated);
	block = &sheet->blocks[sheet->nr++];
	*block = (struct block){ .first = first, .nr_figures = nr };
	if (!strcmp(figure_at(sheet, block, 0)->section, "synthesizer")) {
		block->extra = "next scan";
		if (nr_scan_workers)
			snprintf(block->extra_value, sizeof(block->extra_value), "%u",
				 nr_scan_workers);
		else
			snprintf(block->extra_value, sizeof(block->extra_value), "adaptive");
	}
	block->nr_columns = count_columns(sheet, block);
	if (block->nr_columns)
		measure_table(sheet, block);
	else
		measure_plain(sheet, block);
}

static void make_blocks(struct sheet *sheet, unsigned int nr_scan_workers)
{
	size_t nr = snapshot_nr_engine(sheet->snapshot);
	size_t first = 0;

	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && !strcmp(snapshot_engine(sheet->snapshot, i)->section,
				      snapshot_engine(sheet->snapshot, first)->section))
			continue;
		add_block(sheet, first, i - first, nr_scan_workers);
		first = i;
	}
}

/* ---- layout ---- */

/* A table, and beside it the blocks after it that are not taller. Returns the next one. */
static size_t place_table(struct sheet *sheet, size_t index, int columns)
{
	struct block *table = &sheet->blocks[index];
	int bottom = sheet->nr_lines + table->height;
	int x = table->width + GAP;

	table->y = sheet->nr_lines;
	for (index++; index < sheet->nr; index++) {
		struct block *beside = &sheet->blocks[index];
		int width = beside->nr_columns ? beside->width : sheet->plain_width;

		if (x + width > columns || beside->height > table->height + SLACK_LINES)
			break;
		beside->width = width;
		beside->x = x;
		beside->y = table->y;
		bottom = MAX(bottom, beside->y + beside->height);
		x += width + GAP;
	}
	sheet->nr_lines = bottom + 1;
	return index;
}

/* Blocks up to the next table, each in the column that is the shortest so far. */
static size_t place_plain(struct sheet *sheet, size_t index, int columns)
{
	int nr = MAX((columns + GAP) / (sheet->plain_width + GAP), 1);
	int *bottoms = mem_calloc((size_t)nr, sizeof(*bottoms));
	int end = 0;

	for (; index < sheet->nr && !sheet->blocks[index].nr_columns; index++) {
		struct block *block = &sheet->blocks[index];
		int best = 0;

		for (int i = 1; i < nr; i++)
			best = bottoms[i] < bottoms[best] ? i : best;
		block->width = sheet->plain_width;
		block->x = best * (sheet->plain_width + GAP);
		block->y = sheet->nr_lines + bottoms[best];
		bottoms[best] += block->height + 1;
		end = MAX(end, bottoms[best]);
	}
	free(bottoms);
	sheet->nr_lines += end;
	return index;
}

static void lay_out(struct sheet *sheet, int columns)
{
	size_t index = 0;

	while (index < sheet->nr) {
		if (sheet->blocks[index].nr_columns)
			index = place_table(sheet, index, columns);
		else
			index = place_plain(sheet, index, columns);
	}
	/* No blank line after the last one. */
	sheet->nr_lines = MAX(sheet->nr_lines - 1, 0);
}

/* ---- drawing ---- */

static void put_right(const struct sheet *sheet, int y, int x, int width, const char *text,
		      unsigned int style)
{
	int pad = MAX(width - width_of(sheet, text), 0);

	screen_put(sheet->screen, y, x + pad, width - pad, text, style);
}

static unsigned int style_of(const struct engine_figure *figure)
{
	return is_trouble(figure) ? STYLE_WARN : STYLE_NORMAL;
}

/* Line @line of a table at @y of the screen; 0 is its title. */
static void draw_table_line(const struct sheet *sheet, const struct block *block, int line, int y)
{
	size_t first = line ? (size_t)(line - 1) * block->nr_columns : 0;
	const struct engine_figure *figure = figure_at(sheet, block, first);
	int x = block->x + block->item_width;
	char text[FORMAT_SIZE];

	if (line) {
		screen_put(sheet->screen, y, block->x, block->item_width, figure->item,
			   STYLE_NORMAL);
	} else {
		screen_fill(sheet->screen, y, block->x, block->width, STYLE_TITLE);
		screen_put(sheet->screen, y, block->x, block->item_width, title_of(figure->section),
			   STYLE_TITLE);
	}
	for (size_t i = 0; i < block->nr_columns; i++) {
		figure = figure_at(sheet, block, first + i);
		format_value(figure, text);
		x += GAP;
		if (line)
			put_right(sheet, y, x, block->widths[i], text, style_of(figure));
		else
			put_right(sheet, y, x, block->widths[i], figure->name, STYLE_TITLE);
		x += block->widths[i];
	}
}

static void draw_plain_line(const struct sheet *sheet, const struct block *block, int line, int y)
{
	const char *name = block->extra;
	unsigned int style = STYLE_BOLD;
	char text[FORMAT_SIZE];

	if (!line) {
		screen_fill(sheet->screen, y, block->x, block->width, STYLE_TITLE);
		screen_put(sheet->screen, y, block->x, block->width,
			   title_of(figure_at(sheet, block, 0)->section), STYLE_TITLE);
		return;
	}
	if ((size_t)line <= block->nr_figures) {
		const struct engine_figure *figure = figure_at(sheet, block, (size_t)line - 1);

		name = figure->name;
		format_value(figure, text);
		style = style_of(figure);
	} else {
		snprintf(text, sizeof(text), "%s", block->extra_value);
	}
	screen_put(sheet->screen, y, block->x, block->width, name, STYLE_NORMAL);
	put_right(sheet, y, block->x, block->width, text, style);
}

static void draw_block(const struct sheet *sheet, const struct block *block, size_t top, int y,
		       int height)
{
	for (int line = 0; line < block->height; line++) {
		long at = (long)block->y + line - (long)top;

		if (at < 0 || at >= height)
			continue;
		if (block->nr_columns)
			draw_table_line(sheet, block, line, y + (int)at);
		else
			draw_plain_line(sheet, block, line, y + (int)at);
	}
}

/* Over the last line, at the right, as pages have it. */
static void draw_more(struct screen *screen, int y, size_t nr)
{
	char text[48];
	int width;

	snprintf(text, sizeof(text), " %zu more lines ", nr);
	width = (int)strlen(text);
	screen_put(screen, y, MAX(screen_nr_columns(screen) - width, 0), width, text, STYLE_STATE);
}

void engine_view_move(struct engine_view *view, long by)
{
	size_t back = by < 0 ? (size_t) - (by + 1) + 1 : 0;

	if (by < 0)
		view->top -= MIN(back, view->top);
	else
		view->top += (size_t)by; /* the draw knows where the end is */
}

void engine_view_draw(struct engine_view *view, const struct snapshot *snapshot,
		      unsigned int nr_scan_workers, struct screen *screen, int y, int height)
{
	struct sheet sheet = { .snapshot = snapshot, .screen = screen };
	size_t lines = (size_t)MAX(height, 0);
	size_t nr;

	make_blocks(&sheet, nr_scan_workers);
	lay_out(&sheet, screen_nr_columns(screen));
	nr = (size_t)sheet.nr_lines;
	view->nr_visible = height;
	view->top = MIN(view->top, nr > lines ? nr - lines : 0);
	for (size_t i = 0; i < sheet.nr; i++)
		draw_block(&sheet, &sheet.blocks[i], view->top, y, height);
	if (height > 2 && nr > view->top + lines)
		draw_more(screen, y + height - 1, nr - view->top - lines);
	free(sheet.blocks);
}
