/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Widths are fixed per screen width, never taken from the content: columns that
 * breathe with each refresh cannot be read.
 */
#include "config.h"

#include "ui/column.h"

#include <inttypes.h>

#include "core/base/compiler.h"
#include "ui/format.h"
#include "ui/screen.h"

enum { WIDE_SCREEN = 110, MIN_LAST = 12 };

static bool show_overhead(const struct view_spec *spec, const struct column *column UNUSED)
{
	return !spec->children;
}

static bool show_children(const struct view_spec *spec, const struct column *column UNUSED)
{
	return spec->children;
}

/* Samples and periods tell little beside the share: shown when rows are sorted by them. */
static bool show_sorted(const struct view_spec *spec, const struct column *column)
{
	return spec->order == column->order;
}

static bool show_delta(const struct view_spec *spec, const struct column *column UNUSED)
{
	return spec->delta;
}

static bool has_key(const struct view_spec *spec, enum sort_key key)
{
	for (size_t i = 0; i < spec->keys.nr && i < NR_SORT_KEYS; i++)
		if (spec->keys.keys[i] == key)
			return true;
	return false;
}

static bool show_key(const struct view_spec *spec, const struct column *column)
{
	return has_key(spec, column->key);
}

static void print_self(const struct row *row, struct textbuf *buf)
{
	char text[FORMAT_SIZE];

	format_share(row->self_share, 2, text);
	textbuf_puts(buf, text);
}

static void print_children(const struct row *row, struct textbuf *buf)
{
	char text[FORMAT_SIZE];

	format_share(row->children_share, 2, text);
	textbuf_puts(buf, text);
}

static void print_samples(const struct row *row, struct textbuf *buf)
{
	char text[FORMAT_SIZE];

	format_count(row->nr_samples, text);
	textbuf_puts(buf, text);
}

static void print_period(const struct row *row, struct textbuf *buf)
{
	char text[FORMAT_SIZE];

	format_count(row->period, text);
	textbuf_puts(buf, text);
}

static void print_delta(const struct row *row, struct textbuf *buf)
{
	char text[FORMAT_SIZE] = "-";

	if (row->change == CHANGE_SHARE)
		format_points(row->delta, text);
	textbuf_puts(buf, row->change == CHANGE_NEW ? "new" : text);
}

static void print_text(struct textbuf *buf, const char *text)
{
	textbuf_puts(buf, text && *text ? text : "-");
}

static void print_number(struct textbuf *buf, int64_t number)
{
	if (number < 0)
		textbuf_puts(buf, "-");
	else
		textbuf_printf(buf, "%" PRId64, number);
}

static void print_comm(const struct row *row, struct textbuf *buf)
{
	print_text(buf, row->comm);
}

static void print_pid(const struct row *row, struct textbuf *buf)
{
	print_number(buf, row->pid);
}

static void print_tid(const struct row *row, struct textbuf *buf)
{
	print_number(buf, row->tid);
}

static void print_cpu(const struct row *row, struct textbuf *buf)
{
	print_number(buf, row->cpu);
}

static void print_node(const struct row *row, struct textbuf *buf)
{
	print_number(buf, row->node);
}

static void print_event(const struct row *row, struct textbuf *buf)
{
	print_text(buf, row->event);
}

static void print_dso(const struct row *row, struct textbuf *buf)
{
	print_text(buf, row->dso);
}

static void print_symbol(const struct row *row, struct textbuf *buf)
{
	print_text(buf, row->symbol);
}

static void print_level(const struct row *row, struct textbuf *buf)
{
	static const char *const marks[] = {
		[LEVEL_USER] = "[.]",	    [LEVEL_KERNEL] = "[k]",
		[LEVEL_GUEST_USER] = "[u]", [LEVEL_GUEST_KERNEL] = "[g]",
		[LEVEL_HYPERVISOR] = "[H]",
	};

	textbuf_puts(buf, (size_t)row->level < ARRAY_SIZE(marks) ? marks[row->level] : "[ ]");
}

static unsigned int style_share(double share)
{
	return share >= 0.05 ? STYLE_HOT : share >= 0.005 ? STYLE_WARM : STYLE_NORMAL;
}

static unsigned int style_self(const struct row *row)
{
	return style_share(row->self_share);
}

static unsigned int style_children(const struct row *row)
{
	return style_share(row->children_share);
}

/* As shares of that size, more in the colour of much. */
static unsigned int style_delta(const struct row *row)
{
	if (row->change == CHANGE_UNKNOWN)
		return STYLE_DIM;
	return row->delta >= 0.005 ? STYLE_HOT : row->delta <= -0.005 ? STYLE_WARM : STYLE_NORMAL;
}

static unsigned int style_symbol(const struct row *row)
{
	return row->symbol_pending || row->unresolved ? STYLE_DIM : STYLE_NORMAL;
}

/* In the order of the screen. */
static const struct column all_columns[] = {
	{ .title = "CHILDREN",
	  .width = 9,
	  .narrow = 9,
	  .wide = 9,
	  .rank = 10,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_CHILDREN,
	  .shown = show_children,
	  .print = print_children,
	  .style = style_children },
	{ .title = "SELF",
	  .width = 9,
	  .narrow = 8,
	  .wide = 9,
	  .rank = 9,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_SELF,
	  .shown = show_children,
	  .print = print_self,
	  .style = style_self },
	{ .title = "OVERHEAD",
	  .width = 9,
	  .narrow = 9,
	  .wide = 9,
	  .rank = 10,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_SELF,
	  .shown = show_overhead,
	  .print = print_self,
	  .style = style_self },
	{ .title = "DELTA",
	  .sign = "\u0394",
	  .width = 7,
	  .narrow = 7,
	  .wide = 8,
	  .rank = 9,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_DELTA,
	  .shown = show_delta,
	  .print = print_delta,
	  .style = style_delta },
	{ .title = "SAMPLES",
	  .width = 9,
	  .narrow = 8,
	  .wide = 9,
	  .rank = 8,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_SAMPLES,
	  .shown = show_sorted,
	  .print = print_samples },
	{ .title = "PERIOD",
	  .width = 8,
	  .narrow = 7,
	  .wide = 8,
	  .rank = 8,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_PERIOD,
	  .shown = show_sorted,
	  .print = print_period },
	{ .title = "COMM",
	  .width = 15,
	  .narrow = 10,
	  .wide = 16,
	  .rank = 4,
	  .sorts = true,
	  .order = ORDER_KEY,
	  .key = SORT_COMM,
	  .shown = show_key,
	  .print = print_comm },
	{ .title = "PID",
	  .width = 8,
	  .narrow = 7,
	  .wide = 8,
	  .rank = 3,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_KEY,
	  .key = SORT_PID,
	  .shown = show_key,
	  .print = print_pid },
	{ .title = "TID",
	  .width = 8,
	  .narrow = 7,
	  .wide = 8,
	  .rank = 5,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_KEY,
	  .key = SORT_TID,
	  .shown = show_key,
	  .print = print_tid },
	{ .title = "CPU",
	  .width = 4,
	  .narrow = 4,
	  .wide = 4,
	  .rank = 6,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_KEY,
	  .key = SORT_CPU,
	  .shown = show_key,
	  .print = print_cpu },
	{ .title = "NODE",
	  .width = 5,
	  .narrow = 5,
	  .wide = 5,
	  .rank = 6,
	  .right = true,
	  .sorts = true,
	  .order = ORDER_KEY,
	  .key = SORT_NODE,
	  .shown = show_key,
	  .print = print_node },
	{ .title = "EVENT",
	  .width = 12,
	  .narrow = 8,
	  .wide = 16,
	  .rank = 2,
	  .sorts = true,
	  .order = ORDER_KEY,
	  .key = SORT_EVENT,
	  .shown = show_key,
	  .print = print_event },
	{ .title = "OBJECT",
	  .width = 18,
	  .narrow = 10,
	  .wide = 28,
	  .rank = 9,
	  .sorts = true,
	  .order = ORDER_KEY,
	  .key = SORT_DSO,
	  .shown = show_key,
	  .print = print_dso },
	{ .title = "",
	  .width = 3,
	  .narrow = 3,
	  .wide = 3,
	  .rank = 7,
	  .key = SORT_SYMBOL,
	  .shown = show_key,
	  .print = print_level },
	{ .title = "SYMBOL",
	  .width = 30,
	  .narrow = MIN_LAST,
	  .wide = 60,
	  .rank = 8,
	  .sorts = true,
	  .order = ORDER_KEY,
	  .key = SORT_SYMBOL,
	  .shown = show_key,
	  .print = print_symbol,
	  .style = style_symbol },
};

_Static_assert(ARRAY_SIZE(all_columns) <= MAX_COLUMNS, "MAX_COLUMNS holds all columns");

static int total_width(const struct column_place *places, size_t nr, bool last_is_narrow)
{
	int total = 0;

	for (size_t i = 0; i < nr; i++)
		total += places[i].width + (i ? 1 : 0);
	/* The last takes what is left, so it need not fit whole. */
	if (last_is_narrow && nr)
		total -= places[nr - 1].width - MIN(places[nr - 1].width, MIN_LAST);
	return total;
}

static size_t drop_lowest(struct column_place *places, size_t nr)
{
	size_t lowest = 0;

	for (size_t i = 1; i < nr; i++)
		if (places[i].column->rank <= places[lowest].column->rank)
			lowest = i;
	for (size_t i = lowest; i + 1 < nr; i++)
		places[i] = places[i + 1];
	return nr - 1;
}

size_t columns_choose(const struct view_spec *spec, int width,
		      struct column_place ret_places[static MAX_COLUMNS])
{
	size_t nr = 0;
	int x = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all_columns); i++) {
		const struct column *column = &all_columns[i];

		if (!column->shown(spec, column))
			continue;
		ret_places[nr].column = column;
		ret_places[nr].width = width >= WIDE_SCREEN ? column->wide : column->width;
		nr++;
	}
	if (total_width(ret_places, nr, true) > width)
		for (size_t i = 0; i < nr; i++)
			ret_places[i].width = ret_places[i].column->narrow;
	while (nr > 1 && total_width(ret_places, nr, true) > width)
		nr = drop_lowest(ret_places, nr);
	for (size_t i = 0; i < nr; i++) {
		ret_places[i].x = x;
		x += ret_places[i].width + 1;
	}
	if (nr && !ret_places[nr - 1].column->right)
		ret_places[nr - 1].width = MAX(width - ret_places[nr - 1].x, 1);
	return nr;
}

bool column_is_sorted(const struct column *column, const struct view_spec *spec)
{
	return column->sorts && column->order == spec->order &&
	       (spec->order != ORDER_KEY || column->key == spec->order_key);
}

size_t columns_sortable(const struct view_spec *spec,
			const struct column *ret_columns[static MAX_COLUMNS])
{
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all_columns); i++) {
		const struct column *column = &all_columns[i];

		if (column->sorts && (column->shown == show_sorted || column->shown(spec, column)))
			ret_columns[nr++] = column;
	}
	return nr;
}
