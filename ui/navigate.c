/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys that move about and narrow down. Search moves the cursor, a filter hides rows;
 * a zoom is a filter made from the row under the cursor.
 */
#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "ui/actions.h"

enum { SCROLL_CELLS = 8 };

static void move(struct state *state, long by)
{
	view_kind(state->view)->move(state, by);
}

/* All but a line, so that one can see where it goes on. */
static long page(const struct state *state)
{
	return MAX(view_kind(state->view)->nr_visible(state) - 1, 1);
}

void action_up(struct state *state)
{
	move(state, -1);
}

void action_down(struct state *state)
{
	move(state, 1);
}

void action_page_up(struct state *state)
{
	move(state, -page(state));
}

void action_page_down(struct state *state)
{
	move(state, page(state));
}

void action_home(struct state *state)
{
	move(state, LONG_MIN);
}

void action_end(struct state *state)
{
	move(state, LONG_MAX);
}

void action_left(struct state *state)
{
	if (state->paused)
		action_step_back(state);
	else
		table_scroll(&state->table, -SCROLL_CELLS);
}

void action_right(struct state *state)
{
	if (state->paused)
		action_step_forward(state);
	else
		table_scroll(&state->table, SCROLL_CELLS);
}

/* ---- search ---- */

static void search_changed(struct state *state, const char *text)
{
	state->table = state->search_start;
	table_update(&state->table, state->shown);
	if (*text)
		table_search(&state->table, state->shown, text, state->table.index, 1);
}

static void search_done(struct state *state, const char *text)
{
	/* An empty text looks on for the last one. */
	if (text && !*text && *state->search) {
		action_search_next(state);
		return;
	}
	state->table = state->search_start;
	table_update(&state->table, state->shown);
	if (!text || !*text)
		return;
	snprintf(state->search, sizeof(state->search), "%s", text);
	if (!table_search(&state->table, state->shown, text, state->table.index, 1))
		state_say(state, "no row has \"%s\"", text);
}

void action_search(struct state *state)
{
	static const struct prompt_use use = {
		.label = "Search: ",
		.changed = search_changed,
		.done = search_done,
	};

	state->search_start = state->table;
	state_ask(state, &use, "");
}

static void search_again(struct state *state, int step)
{
	size_t nr = state->shown ? snapshot_nr_rows(state->shown) : 0;
	size_t from = state->table.index;

	if (!*state->search) {
		state_say(state, "nothing to search for yet: / searches");
		return;
	}
	if (nr)
		from = step > 0 ? from + 1 : from + nr - 1;
	if (!table_search(&state->table, state->shown, state->search, from, step))
		state_say(state, "no row has \"%s\"", state->search);
}

void action_search_next(struct state *state)
{
	search_again(state, 1);
}

void action_search_previous(struct state *state)
{
	search_again(state, -1);
}

/* ---- filter ---- */

static void filter_done(struct state *state, const char *text)
{
	if (!text || !strcmp(text, state->spec.filter))
		return;
	snprintf(state->spec.filter, sizeof(state->spec.filter), "%s", text);
	state_wish_spec(state);
}

void action_filter(struct state *state)
{
	static const struct prompt_use use = { .label = "Filter: ", .done = filter_done };

	state_ask(state, &use, state->spec.filter);
}

void action_escape(struct state *state)
{
	if (!*state->spec.filter)
		return;
	state->spec.filter[0] = '\0';
	state_wish_spec(state);
}

/* A name as a value of the filter language: quoted where it would end early. */
static void add_value(struct textbuf *buf, const char *name)
{
	if (*name && !strpbrk(name, " ()|\"")) {
		textbuf_puts(buf, name);
		return;
	}
	textbuf_puts(buf, "\"");
	for (; *name; name++)
		textbuf_printf(buf, "%s%c", *name == '"' ? "\\" : "", *name);
	textbuf_puts(buf, "\"");
}

/* Both the filter there is and the new term, which is freed. */
static void narrow(struct state *state, struct textbuf *term)
{
	const char *old = state->spec.filter;
	struct textbuf both = { 0 };

	if (strchr(old, '|'))
		textbuf_printf(&both, "(%s) ", old);
	else if (*old)
		textbuf_printf(&both, "%s ", old);
	textbuf_puts(&both, term->text);
	textbuf_release(term);
	if (both.len < sizeof(state->spec.filter)) {
		memcpy(state->spec.filter, both.text, both.len + 1);
		state_wish_spec(state);
	} else {
		state_say(state, "the filter would be too long");
	}
	textbuf_release(&both);
}

void action_zoom_thread(struct state *state)
{
	const struct row *row = table_selected(&state->table, state->shown);
	struct textbuf term = { 0 };

	if (row && row->tid >= 0) {
		textbuf_printf(&term, "tid=%" PRId64, row->tid);
	} else if (row && row->pid >= 0) {
		textbuf_printf(&term, "pid=%" PRId64, row->pid);
	} else if (row && *row->comm) {
		textbuf_puts(&term, "comm=");
		add_value(&term, row->comm);
	} else {
		state_say(state, row ? "rows are not told apart by thread here" : "no row");
		return;
	}
	narrow(state, &term);
}

void action_zoom_object(struct state *state)
{
	const struct row *row = table_selected(&state->table, state->shown);
	struct textbuf term = { 0 };

	if (!row || !*row->dso) {
		state_say(state, row ? "rows are not told apart by object here" : "no row");
		return;
	}
	textbuf_puts(&term, "dso=");
	add_value(&term, row->dso);
	narrow(state, &term);
}

/* ---- detail ---- */

void action_detail(struct state *state)
{
	if (!table_selected(&state->table, state->shown)) {
		state_say(state, "no row");
		return;
	}
	table_go(&state->table, state->shown, state->table.index);
	state->detail = snapshot_get(state->shown);
	state->detail_index = state->table.index;
	state->detail_gone = false;
	state->pager.top = 0;
	state->mode = MODE_DETAIL;
	/* Chains cost something, so a snapshot has them only while somebody looks. */
	if (snapshot_header(state->shown)->has_chains && !state->spec.chains) {
		state->spec.chains = true;
		state_wish_spec(state);
	}
}
