/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers are those of the design, so that a view that comes later takes its own and
 * moves nobody's.
 */
#include "config.h"

#include "ui/view.h"

#include <limits.h>

#include "core/base/compiler.h"
#include "ui/actions.h"
#include "ui/header.h"
#include "ui/state.h"

static void draw_symbols(struct state *state, struct screen *screen, int y, int height)
{
	if (snapshot_nr_rows(state->shown))
		table_draw(&state->table, state->shown, screen, y, height);
	else if (height > 0)
		header_draw_empty(state->shown, screen, y);
}

static void move_symbols(struct state *state, long by)
{
	if (by == LONG_MIN)
		table_home(&state->table);
	else
		table_move(&state->table, state->shown, by);
}

static int symbols_nr_visible(const struct state *state)
{
	return state->table.nr_visible;
}

static void draw_engine(struct state *state, struct screen *screen, int y, int height)
{
	engine_view_draw(&state->engine, state->shown, state->nr_scan_workers, screen, y, height);
}

static void move_engine(struct state *state, long by)
{
	engine_view_move(&state->engine, by);
}

static int engine_nr_visible(const struct state *state)
{
	return state->engine.nr_visible;
}

static const struct view_kind kinds[NR_VIEWS] = {
	[VIEW_SYMBOLS] = { "symbols", '1', true, draw_symbols, move_symbols, symbols_nr_visible },
	[VIEW_ENGINE] = { "engine", '9', false, draw_engine, move_engine, engine_nr_visible },
};

const struct view_kind *view_kind(enum view view)
{
	return &kinds[view];
}

enum view view_of_key(uint32_t key)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((uint32_t)kinds[i].key == key)
			return (enum view)i;
	return NR_VIEWS;
}

/* ---- keys ---- */

void action_symbols(struct state *state)
{
	state->view = VIEW_SYMBOLS;
}

void action_engine(struct state *state)
{
	state->view = VIEW_ENGINE;
}

void action_next_view(struct state *state)
{
	state->view = (enum view)((state->view + 1) % NR_VIEWS);
}

void action_previous_view(struct state *state)
{
	state->view = (enum view)((state->view + NR_VIEWS - 1) % NR_VIEWS);
}
