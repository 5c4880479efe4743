/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Only rows on the screen are looked at when drawing, and of their names only what may
 * be seen, so a draw costs the same for ten rows or a million.
 *
 * The id is kept while its row is away: a row that a filter or a quiet second took
 * comes back under the cursor, unless the person moved on.
 */
#include "config.h"

#include "ui/table.h"

#include <string.h>

#include "core/base/compiler.h"
#include "ui/column.h"

static size_t nr_rows(const struct snapshot *snapshot)
{
	return snapshot ? snapshot_nr_rows(snapshot) : 0;
}

void table_update(struct table *table, const struct snapshot *snapshot)
{
	size_t nr = nr_rows(snapshot);

	if (!table->pinned)
		table->index = 0;
	for (size_t i = 0; table->pinned && i < nr; i++) {
		if (snapshot_row(snapshot, i)->id == table->id) {
			table->index = i;
			return;
		}
	}
	if (table->index >= nr)
		table->index = nr ? nr - 1 : 0;
}

const struct row *table_selected(const struct table *table, const struct snapshot *snapshot)
{
	return table->index < nr_rows(snapshot) ? snapshot_row(snapshot, table->index) : NULL;
}

void table_go(struct table *table, const struct snapshot *snapshot, size_t index)
{
	size_t nr = nr_rows(snapshot);

	if (!nr)
		return;
	table->index = MIN(index, nr - 1);
	table->id = snapshot_row(snapshot, table->index)->id;
	table->pinned = true;
}

void table_move(struct table *table, const struct snapshot *snapshot, long by)
{
	size_t back = by < 0 ? (size_t)-by : 0;

	if (by < 0)
		table_go(table, snapshot, table->index > back ? table->index - back : 0);
	else
		table_go(table, snapshot, table->index + (size_t)by);
}

void table_home(struct table *table)
{
	table->pinned = false;
	table->index = 0;
	table->top = 0;
}

void table_scroll(struct table *table, int by)
{
	table->scroll = MAX(table->scroll + by, 0);
}

static bool row_has(const struct row *row, const char *text)
{
	return strcasestr(row->symbol, text) || strcasestr(row->dso, text) ||
	       strcasestr(row->comm, text);
}

bool table_search(struct table *table, const struct snapshot *snapshot, const char *text,
		  size_t from, int step)
{
	size_t nr = nr_rows(snapshot);
	size_t index = from;

	for (size_t i = 0; i < nr; i++) {
		index %= nr;
		if (row_has(snapshot_row(snapshot, index), text)) {
			table_go(table, snapshot, index);
			return true;
		}
		index += step > 0 ? 1 : nr - 1;
	}
	return false;
}

/* Weights run from large to small unless inverted, keys the other way round. */
static bool is_descending(const struct view_spec *spec)
{
	return (spec->order != ORDER_KEY) != spec->inverted;
}

static void draw_title(const struct view_spec *spec, const struct column_place *place,
		       struct screen *screen, int y)
{
	const struct column *column = place->column;
	const char *name = column->title;
	unsigned int style = STYLE_TITLE;
	const char *mark = "";
	char title[32];
	int x = place->x;
	int width;

	if (column->sign)
		name = screen_mark(screen, column->sign, column->title);
	if (column_is_sorted(column, spec)) {
		style = STYLE_SORTED;
		mark = is_descending(spec) ? screen_mark(screen, "\u25bc", "v")
					   : screen_mark(screen, "\u25b2", "^");
	}
	title[0] = '\0';
	strncat(title, name, sizeof(title) - 8);
	strncat(title, mark, 4);
	width = screen_width(screen, title, 64);
	/* A number's title ends where the numbers end, its mark stands beyond if it can. */
	if (column->right && width < place->width)
		x += place->width - width;
	screen_put(screen, y, x, place->width, title, style);
}

void table_draw_title(const struct view_spec *spec, struct screen *screen, int y)
{
	struct column_place places[MAX_COLUMNS];
	size_t nr = columns_choose(spec, screen_nr_columns(screen), places);

	screen_fill(screen, y, 0, screen_nr_columns(screen), STYLE_TITLE);
	for (size_t i = 0; i < nr; i++)
		draw_title(spec, &places[i], screen, y);
}

static void draw_row(const struct row *row, const struct column_place *places, size_t nr,
		     int scroll, struct screen *screen, int y)
{
	struct textbuf buf = { 0 };

	for (size_t i = 0; i < nr; i++) {
		const struct column *column = places[i].column;
		unsigned int style = column->style ? column->style(row) : STYLE_NORMAL;
		int pad;

		textbuf_clear(&buf);
		column->print(row, &buf);
		if (column->right) {
			pad = places[i].width - screen_width(screen, buf.text, places[i].width);
			pad = MAX(pad, 0);
			screen_put(screen, y, places[i].x + pad, places[i].width - pad, buf.text,
				   style);
		} else {
			screen_put_from(screen, y, places[i].x, places[i].width,
					i + 1 == nr ? scroll : 0, buf.text, style);
		}
	}
	textbuf_release(&buf);
}

/* Keep the shift within the longest name on the screen, so that a name can be found back. */
static int limit_scroll(const struct table *table, const struct snapshot *snapshot,
			const struct column_place *last, const struct screen *screen)
{
	int limit = 0;
	size_t end = MIN(table->top + (size_t)table->nr_visible, nr_rows(snapshot));
	struct textbuf buf = { 0 };

	for (size_t i = table->top; i < end && limit < table->scroll; i++) {
		textbuf_clear(&buf);
		last->column->print(snapshot_row(snapshot, i), &buf);
		limit = MAX(limit, screen_width(screen, buf.text, table->scroll + last->width) -
					   last->width);
	}
	textbuf_release(&buf);
	return MIN(limit, table->scroll);
}

static void keep_cursor_visible(struct table *table, size_t nr, int height)
{
	size_t lines = (size_t)height;

	table->nr_visible = height;
	if (table->index < table->top)
		table->top = table->index;
	if (table->index >= table->top + lines)
		table->top = table->index - lines + 1;
	/* No blank lines at the end while there are rows above. */
	if (table->top + lines > nr)
		table->top = nr > lines ? nr - lines : 0;
}

void table_draw(struct table *table, const struct snapshot *snapshot, struct screen *screen, int y,
		int height)
{
	struct column_place places[MAX_COLUMNS];
	int width = screen_nr_columns(screen);
	size_t nr = nr_rows(snapshot);
	size_t nr_columns;

	if (height <= 0 || !nr)
		return;
	nr_columns = columns_choose(snapshot_spec(snapshot), width, places);
	keep_cursor_visible(table, nr, height);
	if (table->scroll && nr_columns)
		table->scroll = limit_scroll(table, snapshot, &places[nr_columns - 1], screen);
	for (int line = 0; line < height && table->top + (size_t)line < nr; line++) {
		size_t index = table->top + (size_t)line;

		draw_row(snapshot_row(snapshot, index), places, nr_columns, table->scroll, screen,
			 y + line);
		if (index != table->index)
			continue;
		/* A mark too: not every terminal shows reverse, and nobody sees it in a log. */
		if (screen_row(screen, y + line)[0].text[0] == L' ')
			screen_put(screen, y + line, 0, 1, ">", STYLE_BOLD);
		screen_select(screen, y + line, 0, width);
	}
}
