/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys that change the view or concern the program. What is measured is never changed
 * here: a wish goes to top/, and the next snapshot shows the effect.
 */
#include "config.h"

#include "ui/actions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "ui/column.h"
#include "ui/format.h"

#define MAX_SECONDS 86400.0

void action_quit(struct state *state)
{
	state->wish.action = UI_QUIT;
}

void action_help(struct state *state)
{
	state->pager.top = 0;
	state->mode = MODE_HELP;
}

void action_redraw(struct state *state)
{
	state->redraw = true;
}

void action_suspend(struct state *state)
{
	state->wish.action = UI_SUSPEND;
}

void action_pause(struct state *state)
{
	struct snapshot *waiting = state->waiting;
	bool was_elsewhere = state->spec.end_ns != 0;

	state->paused = !state->paused;
	state->waiting = NULL;
	state->spec.end_ns = 0;
	if (!state->paused && waiting)
		state_show(state, waiting);
	snapshot_put(waiting);
	if (was_elsewhere)
		state_wish_spec(state);
}

void action_zero(struct state *state)
{
	state->wish.action = UI_ZERO;
}

/* @text as a number from @low to @high; false with a message when it is none. */
static bool parse_number(struct state *state, const char *text, const char *what, double low,
			 double high, double *ret_value)
{
	char *end;
	double value = strtod(text, &end);

	while (*end == ' ')
		end++;
	if (end == text || *end || !isfinite(value) || value < low || value > high) {
		state_say(state, "%s: a number from %g to %g is wanted", what, low, high);
		return false;
	}
	*ret_value = value;
	return true;
}

static uint64_t seconds_to_ns(double seconds)
{
	return (uint64_t)(seconds * (double)NSEC_PER_SEC + 0.5);
}

static void refresh_done(struct state *state, const char *text)
{
	double seconds;

	if (!text || !*text || !parse_number(state, text, "refresh", 0.1, MAX_SECONDS, &seconds))
		return;
	state->refresh_ns = seconds_to_ns(seconds);
	state->wish.action = UI_REFRESH;
	state->wish.refresh_ns = state->refresh_ns;
}

void action_refresh(struct state *state)
{
	static const struct prompt_use use = {
		.label = "Seconds between refreshes: ",
		.done = refresh_done,
	};
	char text[32];

	snprintf(text, sizeof(text), "%g", (double)state->refresh_ns / (double)NSEC_PER_SEC);
	state_ask(state, &use, text);
}

/* ---- window ---- */

enum { WINDOW_TICK, WINDOW_TIME, WINDOW_OTHER, WINDOW_DECAY, WINDOW_ALL, WINDOW_ZERO_EACH };

static void window_seconds_done(struct state *state, const char *text)
{
	double seconds;

	if (!text || !*text || !parse_number(state, text, "window", 0.1, MAX_SECONDS, &seconds))
		return;
	state->spec.window = VIEW_WINDOW_TIME;
	state->spec.window_ns = seconds_to_ns(seconds);
	state_wish_spec(state);
}

static void window_chosen(struct state *state, int value)
{
	static const struct prompt_use use = {
		.label = "Seconds to sum: ",
		.done = window_seconds_done,
	};
	static const enum view_window windows[] = {
		[WINDOW_TICK] = VIEW_WINDOW_TICK,
		[WINDOW_TIME] = VIEW_WINDOW_TIME,
		[WINDOW_DECAY] = VIEW_WINDOW_DECAY,
		[WINDOW_ALL] = VIEW_WINDOW_ALL,
	};

	if (value == WINDOW_OTHER) {
		state_ask(state, &use, "");
	} else if (value == WINDOW_ZERO_EACH) {
		state->zero_each = !state->zero_each;
		state->wish.action = UI_ZERO_EACH;
		state->wish.zero_each = state->zero_each;
	} else {
		state->spec.window = windows[value];
		state_wish_spec(state);
	}
}

void action_window(struct state *state)
{
	static const size_t items[] = {
		[VIEW_WINDOW_TICK] = 0,
		[VIEW_WINDOW_TIME] = 1,
		[VIEW_WINDOW_DECAY] = 3,
		[VIEW_WINDOW_ALL] = 4,
	};
	struct menu *menu = &state->menu;
	char text[FORMAT_SIZE];

	if (!state->spec.window_ns)
		state->spec.window_ns = 10 * NSEC_PER_SEC;
	format_duration(state->spec.window_ns, text);
	menu_init(menu, "Window: samples of");
	menu_add(menu, WINDOW_TICK, "the last refresh");
	menu_add(menu, WINDOW_TIME, "the last %s", text);
	menu_add(menu, WINDOW_OTHER, "another time...");
	menu_add(menu, WINDOW_DECAY, "all, older ones decaying");
	menu_add(menu, WINDOW_ALL, "all since the start or z");
	menu_add(menu, WINDOW_ZERO_EACH, "zero at each refresh: %s",
		 state->zero_each ? "on" : "off");
	menu->index = items[state->spec.window];
	state->menu_done = window_chosen;
	state->mode = MODE_MENU;
}

static void write_done(struct state *state, const char *text)
{
	if (!text || !*text)
		return;
	state->wish.action = UI_WRITE;
	snprintf(state->wish.path, sizeof(state->wish.path), "%s", text);
}

void action_write(struct state *state)
{
	static const struct prompt_use use = { .label = "Write view to: ", .done = write_done };

	state_ask(state, &use, "symtop.txt");
}

/* ---- order ---- */

static void sort_by(struct state *state, const struct column *column)
{
	if (column_is_sorted(column, &state->spec))
		return;
	state->spec.order = column->order;
	state->spec.order_key = column->key;
	state_wish_spec(state);
}

static size_t sorted_index(const struct state *state, const struct column *const *columns,
			   size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (column_is_sorted(columns[i], &state->spec))
			return i;
	return 0;
}

static void sort_chosen(struct state *state, int value)
{
	const struct column *columns[MAX_COLUMNS];
	size_t nr = columns_sortable(&state->spec, columns);

	if ((size_t)value < nr)
		sort_by(state, columns[value]);
}

void action_sort_menu(struct state *state)
{
	const struct column *columns[MAX_COLUMNS];
	size_t nr = columns_sortable(&state->spec, columns);

	menu_init(&state->menu, "Sort by");
	for (size_t i = 0; i < nr; i++)
		menu_add(&state->menu, (int)i, "%s", columns[i]->title);
	state->menu.index = sorted_index(state, columns, nr);
	state->menu_done = sort_chosen;
	state->mode = MODE_MENU;
}

static void sort_beside(struct state *state, bool right)
{
	const struct column *columns[MAX_COLUMNS];
	size_t nr = columns_sortable(&state->spec, columns);
	size_t index = sorted_index(state, columns, nr);

	if (right && index + 1 < nr)
		sort_by(state, columns[index + 1]);
	else if (!right && index > 0)
		sort_by(state, columns[index - 1]);
}

void action_sort_left(struct state *state)
{
	sort_beside(state, false);
}

void action_sort_right(struct state *state)
{
	sort_beside(state, true);
}

void action_invert(struct state *state)
{
	state->spec.inverted = !state->spec.inverted;
	state_wish_spec(state);
}

/* ---- what is shown ---- */

void action_hide_kernel(struct state *state)
{
	state->spec.hide_kernel = !state->spec.hide_kernel;
	if (state->spec.hide_kernel)
		state->spec.hide_user = false;
	state_wish_spec(state);
}

void action_hide_user(struct state *state)
{
	state->spec.hide_user = !state->spec.hide_user;
	if (state->spec.hide_user)
		state->spec.hide_kernel = false;
	state_wish_spec(state);
}

void action_idle(struct state *state)
{
	state->spec.show_idle = !state->spec.show_idle;
	state_wish_spec(state);
}

void action_relative(struct state *state)
{
	state->spec.relative = !state->spec.relative;
	state_wish_spec(state);
}

static void limit_done(struct state *state, const char *text)
{
	double percent = 0;

	if (!text || (*text && !parse_number(state, text, "limit", 0, 100, &percent)))
		return;
	state->spec.percent_limit = percent;
	state_wish_spec(state);
}

void action_limit(struct state *state)
{
	static const struct prompt_use use = {
		.label = "Hide rows below percent: ",
		.done = limit_done,
	};
	char text[32] = "";

	if (state->spec.percent_limit > 0)
		snprintf(text, sizeof(text), "%g", state->spec.percent_limit);
	state_ask(state, &use, text);
}

void action_children(struct state *state)
{
	struct view_spec *spec = &state->spec;

	if (!spec->children && !(state->shown && snapshot_header(state->shown)->has_chains)) {
		state_say(state, "there are no call chains: start with -g to record them");
		return;
	}
	spec->children = !spec->children;
	if (spec->children && spec->order == ORDER_SELF)
		spec->order = ORDER_CHILDREN;
	else if (!spec->children && spec->order == ORDER_CHILDREN)
		spec->order = ORDER_SELF;
	state_wish_spec(state);
}

static void step_event(struct state *state, int step)
{
	int nr = state->shown ? (int)snapshot_nr_events(state->shown) : 0;

	if (nr < 2) {
		state_say(state, "there is only one event");
		return;
	}
	/* All of them together is one more stop, rank -1. */
	state->spec.event = (state->spec.event + 1 + step + nr + 1) % (nr + 1) - 1;
	state_wish_spec(state);
}

void action_next_event(struct state *state)
{
	step_event(state, 1);
}

void action_previous_event(struct state *state)
{
	step_event(state, -1);
}
