/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys keep the meanings that htop, less and perf share. Prompts, menus and pages have
 * the few keys of their own in their modules.
 */
#include "config.h"

#include "ui/keys.h"

#include <stdbool.h>
#include <string.h>

#include "core/base/compiler.h"
#include "ui/actions.h"
#include "ui/input.h"
#include "ui/segment.h"

enum { IN_SYMBOLS = 1 << VIEW_SYMBOLS, IN_ENGINE = 1 << VIEW_ENGINE };

static const struct key_binding bindings[] = {
	{ .codes = { INPUT_F1, 'h', '?' },
	  .run = action_help,
	  .help = "this page; all notes in full",
	  .section = "General",
	  .bar = { "Help", 1, 8 } },
	{ .codes = { 'q', INPUT_F1 + 9, INPUT_CTRL('C') },
	  .run = action_quit,
	  .help = "quit",
	  .bar = { "Quit", 12, 9 } },
	{ .codes = { ' ', 'Z' },
	  .run = action_pause,
	  .help = "pause: the screen holds, collection goes on; Left: look back",
	  .bar = { "Pause", 11, 4 } },
	{ .codes = { '\t' },
	  .run = action_next_view,
	  .help = "next view",
	  .bar = { "View", 10, 4 } },
	{ .codes = { INPUT_BACK_TAB }, .run = action_previous_view, .help = "view before" },
	{ .codes = { '1' }, .run = action_symbols, .help = "symbols: what uses the CPUs" },
	{ .codes = { '9' }, .run = action_engine, .help = "engine: what symtop itself does" },
	{ .codes = { 's' }, .run = action_refresh, .help = "seconds between refreshes" },
	{ .codes = { 'P' },
	  .run = action_write,
	  .views = IN_SYMBOLS,
	  .help = "write the view to a file" },
	{ .codes = { 'W' },
	  .run = action_record,
	  .help = "record to a file for perf (or the kept seconds); again: end" },
	{ .codes = { INPUT_CTRL('L') }, .run = action_redraw, .help = "paint the screen anew" },
	{ .codes = { INPUT_CTRL('Z') },
	  .run = action_suspend,
	  .help = "stop; fg in the shell goes on" },

	{ .codes = { INPUT_UP, 'k' }, .run = action_up, .help = "up", .section = "Rows" },
	{ .codes = { INPUT_DOWN, 'j' }, .run = action_down, .help = "down" },
	{ .codes = { INPUT_PAGE_UP, INPUT_CTRL('B') }, .run = action_page_up, .help = "page up" },
	{ .codes = { INPUT_PAGE_DOWN, INPUT_CTRL('F') },
	  .run = action_page_down,
	  .help = "page down" },
	{ .codes = { INPUT_HOME, 'g' }, .run = action_home, .help = "to the top, and stay there" },
	{ .codes = { INPUT_END, 'G' }, .run = action_end, .help = "to the last row" },
	{ .codes = { INPUT_LEFT },
	  .run = action_left,
	  .views = IN_SYMBOLS,
	  .help = "shift long names back; while paused: back in time" },
	{ .codes = { INPUT_RIGHT },
	  .run = action_right,
	  .views = IN_SYMBOLS,
	  .help = "shift long names; while paused: on in time" },
	{ .codes = { INPUT_ENTER },
	  .run = action_detail,
	  .views = IN_SYMBOLS,
	  .help = "all about the row, with its call chains",
	  .bar = { "Detail", 6, 3 } },

	{ .codes = { INPUT_F1 + 2, '/' },
	  .run = action_search,
	  .views = IN_SYMBOLS,
	  .help = "search comm, object and symbol",
	  .section = "Find and narrow",
	  .bar = { "Search", 2, 6 } },
	{ .codes = { 'n' }, .run = action_search_next, .views = IN_SYMBOLS, .help = "next match" },
	{ .codes = { 'N' },
	  .run = action_search_previous,
	  .views = IN_SYMBOLS,
	  .help = "previous match" },
	{ .codes = { INPUT_F1 + 3, '\\' },
	  .run = action_filter,
	  .views = IN_SYMBOLS,
	  .help = "filter: words, comm= dso= symbol~ ! |",
	  .bar = { "Filter", 3, 7 } },
	{ .codes = { 't' },
	  .run = action_zoom_thread,
	  .views = IN_SYMBOLS,
	  .help = "filter on the thread of the row" },
	{ .codes = { 'd' },
	  .run = action_zoom_object,
	  .views = IN_SYMBOLS,
	  .help = "filter on the object of the row" },
	{ .codes = { INPUT_ESCAPE },
	  .run = action_escape,
	  .views = IN_SYMBOLS,
	  .help = "clear the filter" },
	{ .codes = { 'K' },
	  .run = action_hide_kernel,
	  .views = IN_SYMBOLS,
	  .help = "hide or show the kernel" },
	{ .codes = { 'U' },
	  .run = action_hide_user,
	  .views = IN_SYMBOLS,
	  .help = "hide or show user code" },
	{ .codes = { 'i' },
	  .run = action_idle,
	  .views = IN_SYMBOLS,
	  .help = "show or hide idle samples" },
	{ .codes = { 'L' },
	  .run = action_limit,
	  .views = IN_SYMBOLS,
	  .help = "hide rows below a percentage" },

	{ .codes = { INPUT_F1 + 5 },
	  .run = action_sort_menu,
	  .views = IN_SYMBOLS,
	  .help = "choose what to sort by",
	  .section = "View",
	  .bar = { "Sort", 4, 5 } },
	{ .codes = { '<' },
	  .run = action_sort_left,
	  .views = IN_SYMBOLS,
	  .help = "sort by the column to the left" },
	{ .codes = { '>' },
	  .run = action_sort_right,
	  .views = IN_SYMBOLS,
	  .help = "sort by the column to the right" },
	{ .codes = { 'I' }, .run = action_invert, .views = IN_SYMBOLS, .help = "invert the order" },
	{ .codes = { '%' },
	  .run = action_relative,
	  .views = IN_SYMBOLS,
	  .help = "shares of all samples, or of what is shown" },
	{ .codes = { 'c' },
	  .run = action_children,
	  .views = IN_SYMBOLS,
	  .help = "callers' totals (with call chains)" },
	{ .codes = { '.' }, .run = action_next_event, .views = IN_SYMBOLS, .help = "next event" },
	{ .codes = { ',' },
	  .run = action_previous_event,
	  .views = IN_SYMBOLS,
	  .help = "previous event" },
	{ .codes = { 'w' },
	  .run = action_window,
	  .views = IN_SYMBOLS,
	  .help = "what time is summed",
	  .bar = { "Window", 5, 2 } },
	{ .codes = { '{' },
	  .run = action_oldest,
	  .views = IN_SYMBOLS,
	  .help = "while paused: to the oldest time that is kept" },
	{ .codes = { '}' },
	  .run = action_newest,
	  .views = IN_SYMBOLS,
	  .help = "while paused: to the newest time" },
	{ .codes = { 'b' },
	  .run = action_baseline,
	  .views = IN_SYMBOLS,
	  .help = "baseline: tell the change from now on; again: no more" },
	{ .codes = { 'z' },
	  .run = action_zero,
	  .views = IN_SYMBOLS,
	  .help = "forget all samples so far" },

	{ .codes = { '+' },
	  .run = action_more_readers,
	  .views = IN_ENGINE,
	  .help = "one more reader of the rings",
	  .section = "Engine view",
	  .bar = { "More readers", 7, 5 } },
	{ .codes = { '-' },
	  .run = action_fewer_readers,
	  .views = IN_ENGINE,
	  .help = "one reader less",
	  .bar = { "Fewer", 8, 5 } },
	{ .codes = { ']' },
	  .run = action_more_scan_workers,
	  .views = IN_ENGINE,
	  .help = "one more worker for the next scan of /proc" },
	{ .codes = { '[' },
	  .run = action_fewer_scan_workers,
	  .views = IN_ENGINE,
	  .help = "one less; below 1: as many as it takes" },
	{ .codes = { 'S' },
	  .run = action_scan,
	  .views = IN_ENGINE,
	  .help = "scan /proc again now, and tell how long it took",
	  .bar = { "Scan", 9, 6 } },
};

size_t keys_nr(void)
{
	return ARRAY_SIZE(bindings);
}

const struct key_binding *keys_binding(size_t index)
{
	return &bindings[index];
}

static bool is_in(const struct key_binding *binding, enum view view)
{
	return !binding->views || binding->views >> view & 1;
}

const struct key_binding *keys_find(enum view view, uint32_t key)
{
	if (!key)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++)
		for (size_t c = 0; c < KEY_CODES; c++)
			if (bindings[i].codes[c] == key && is_in(&bindings[i], view))
				return &bindings[i];
	return NULL;
}

void keys_names(const struct key_binding *binding, char *ret_names, size_t size)
{
	char name[16];

	ret_names[0] = '\0';
	for (size_t c = 0; c < KEY_CODES && binding->codes[c]; c++) {
		input_key_name(binding->codes[c], name);
		if (c)
			strncat(ret_names, " ", size - strlen(ret_names) - 1);
		strncat(ret_names, name, size - strlen(ret_names) - 1);
	}
}

/* Each position is of one binding at most. */
static const struct key_binding *at_position(int position)
{
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++)
		if (bindings[i].bar.position == position)
			return &bindings[i];
	return NULL;
}

void keys_draw_bar(enum view view, struct screen *screen, int y)
{
	const struct key_binding *binding;
	struct segments segments = { 0 };
	int width = screen_nr_columns(screen);
	int x = 0;

	for (int position = 1; (binding = at_position(position)); position++) {
		char name[16];

		if (!is_in(binding, view))
			continue;
		input_key_name(binding->codes[0], name);
		segments_add(&segments, binding->bar.importance, STYLE_LABEL, "%s %s", name,
			     binding->bar.label);
	}
	segments_fit(&segments, screen, width, 2);
	screen_fill(screen, y, 0, width, STYLE_NORMAL);
	for (size_t i = 0; i < segments.nr; i++) {
		char *label = strchr(segments.parts[i].text, ' ');

		*label++ = '\0';
		x += screen_put(screen, y, x, width - x, segments.parts[i].text, STYLE_KEY) + 1;
		x += screen_put(screen, y, x, width - x, label, STYLE_LABEL) + 2;
	}
}
