/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One struct holds the whole screen, because nearly every key touches more than one
 * part of it; what the parts do is in their modules.
 *
 * Drawing makes the grid anew each time. It happens for a key, a snapshot or a message
 * that times out, not by a clock, and curses sends only what differs.
 */
#include "config.h"

#include "ui/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/mem.h"
#include "core/base/text.h"
#include "ui/actions.h"
#include "ui/baseline.h"
#include "ui/detail.h"
#include "ui/format.h"
#include "ui/header.h"
#include "ui/help.h"
#include "ui/input.h"
#include "ui/keys.h"
#include "ui/recording.h"

#define INFO_NS (5 * NSEC_PER_SEC)
#define WARN_NS (10 * NSEC_PER_SEC)

enum { TALL_SCREEN = 20, MAX_NOTE_LINES = 3 };

void state_init(struct state *state, const struct ui_options *options)
{
	*state = (struct state){
		.spec = options->spec,
		.refresh_ns = options->refresh_ns,
		.zero_each = options->zero_each,
		.want_chains = options->spec.chains,
		.nr_scan_workers = options->nr_scan_workers,
		.record_path = options->record_path,
	};
}

void state_release(struct state *state)
{
	snapshot_put(state->shown);
	snapshot_put(state->waiting);
	snapshot_put(state->detail);
	baseline_free(state->baseline);
	pager_release(&state->pager);
}

static void replace(struct snapshot **place, struct snapshot *snapshot)
{
	struct snapshot *old = *place;

	*place = snapshot ? snapshot_get(snapshot) : NULL;
	snapshot_put(old);
}

/* Find the row of the detail again; while it is away the last known one stays. */
static void update_detail(struct state *state)
{
	uint64_t id;

	if (state->mode != MODE_DETAIL)
		return;
	id = snapshot_row(state->detail, state->detail_index)->id;
	state->detail_gone = true;
	for (size_t i = 0; i < snapshot_nr_rows(state->shown); i++) {
		if (snapshot_row(state->shown, i)->id != id)
			continue;
		replace(&state->detail, state->shown);
		state->detail_index = i;
		state->detail_gone = false;
		return;
	}
}

/* A sort by the change ends too; the engine, which knows of no change, need not be told. */
static void forget_baseline(struct state *state)
{
	baseline_free(state->baseline);
	state->baseline = NULL;
	state->spec.order = baseline_order_without(&state->spec);
	state->spec.delta = false;
}

/* Tell what the scan took that was asked for, also while the screen holds. */
static void tell_scan(struct state *state, const struct snapshot *snapshot)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	char took[FORMAT_SIZE];
	char text[160];

	if (!state->scan_awaited || header->nr_scans < state->scan_awaited ||
	    !header->scan_finished)
		return;
	state->scan_awaited = 0;
	format_duration(header->scan_ns, took);
	snprintf(text, sizeof(text), "scanned %" PRIu64 " processes in %s with %u worker%s",
		 header->scan_done, took, header->scan_workers,
		 header->scan_workers == 1 ? "" : "s");
	state_message(state, NOTE_INFO, text, header->time_ns);
}

/* Bring @snapshot on the screen. */
static void display(struct state *state, struct snapshot *snapshot)
{
	struct snapshot *compared = NULL;

	if (state->baseline && !baseline_fits(state->baseline, snapshot_spec(snapshot))) {
		forget_baseline(state);
		state_message(state, NOTE_INFO,
			      "the baseline was dropped: rows and shares mean something else now",
			      snapshot_header(snapshot)->time_ns);
	}
	if (state->baseline)
		compared = baseline_compare(state->baseline, snapshot, &state->nr_gone);
	else if (snapshot_spec(snapshot)->order == ORDER_DELTA)
		compared = baseline_remove(snapshot);
	replace(&state->shown, compared ? compared : snapshot);
	snapshot_put(compared);
	table_update(&state->table, state->shown);
	update_detail(state);
}

/* Whether @snapshot shows the time that was asked for; before that is there, another may come. */
static bool is_of_moment(const struct state *state, const struct snapshot *snapshot)
{
	uint64_t end_ns = snapshot_spec(snapshot)->end_ns;

	if (end_ns != state->spec.end_ns)
		return false;
	/* The screen that holds changes only for a step, and for names and filters there. */
	return !state->paused || (end_ns && snapshot_header(snapshot)->window_end_ns == end_ns);
}

void state_show(struct state *state, struct snapshot *snapshot)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	uint64_t end_ns = state->spec.end_ns;

	tell_scan(state, snapshot);
	recording_tell_state(state, snapshot);
	/* The first one is shown also while paused: there is nothing to hold yet. */
	if (!state->shown || is_of_moment(state, snapshot)) {
		state->moment_awaited = false;
		replace(&state->waiting, NULL);
		display(state, snapshot);
		return;
	}
	if (!state->paused)
		return;
	replace(&state->waiting, snapshot);
	if (end_ns && end_ns == snapshot_spec(snapshot)->end_ns && state->moment_awaited) {
		state->moment_awaited = false;
		state_message(state, NOTE_INFO, "that time is gone: older slots are not kept",
			      header->time_ns);
	}
}

void state_set_baseline(struct state *state)
{
	state->baseline = baseline_new(state->shown);
	state->spec.delta = true;
	display(state, state->shown);
}

void state_drop_baseline(struct state *state)
{
	struct snapshot *plain = baseline_remove(state->shown);

	forget_baseline(state);
	display(state, plain);
	snapshot_put(plain);
}

/* ---- messages ---- */

void state_message(struct state *state, enum note_level level, const char *text, uint64_t now_ns)
{
	char *line = mem_strdup(text);
	char *printable;

	/* Errors come with a remedy on a second line; there is one line here. */
	for (char *c = line; *c; c++)
		if (*c == '\n')
			*c = ' ';
	printable = text_printable(line);
	snprintf(state->message, sizeof(state->message), "%s", printable);
	free(printable);
	free(line);
	state->message_level = level;
	state->message_until_ns = now_ns + (level == NOTE_WARN ? WARN_NS : INFO_NS);
}

void state_say(struct state *state, const char *fmt, ...)
{
	char text[sizeof(state->message)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	state_message(state, NOTE_INFO, text, state->now_ns);
}

bool state_expire(struct state *state, uint64_t now_ns)
{
	if (!state->message_until_ns || now_ns < state->message_until_ns)
		return false;
	state->message_until_ns = 0;
	return true;
}

void state_wish_spec(struct state *state)
{
	state->wish.action = UI_SPEC;
	state->wish.spec = state->spec;
	state->wish.spec.delta = false;
	/* At a moment that was stepped to it shows at once. */
	state->moment_awaited = state->spec.end_ns != 0;
	if (state->paused && !state->spec.end_ns)
		state_say(state, "paused: the change shows when the screen goes on (Space)");
}

void state_ask(struct state *state, const struct prompt_use *use, const char *text)
{
	prompt_init(&state->prompt, use->label, text);
	state->prompt_use = use;
	state->mode = MODE_PROMPT;
}

/* ---- keys ---- */

static void key_table(struct state *state, uint32_t key)
{
	const struct key_binding *binding = keys_find(state->view, key);
	enum view other = VIEW_SYMBOLS;
	char name[16];

	if (binding) {
		binding->run(state);
		return;
	}
	while (other < NR_VIEWS && !keys_find(other, key))
		other++;
	input_key_name(key, name);
	if (key == INPUT_UNKNOWN)
		state_say(state, "that key does nothing here; ? for help");
	else if (other < NR_VIEWS)
		state_say(state, "key %s is for the %s view: %c goes there", name,
			  view_kind(other)->name, view_kind(other)->key);
	else if (key >= '1' && key <= '9')
		state_say(state, "no such view yet: there are 1 symbols and 9 engine");
	else
		state_say(state, "key %s does nothing here; ? for help", name);
}

static void key_prompt(struct state *state, uint32_t key)
{
	enum prompt_result result = prompt_key(&state->prompt, key);

	if (result == PROMPT_CHANGED && state->prompt_use->changed)
		state->prompt_use->changed(state, state->prompt.text);
	if (result != PROMPT_ACCEPTED && result != PROMPT_LEFT)
		return;
	state->mode = MODE_TABLE;
	state->prompt_use->done(state, result == PROMPT_ACCEPTED ? state->prompt.text : NULL);
}

static void key_menu(struct state *state, uint32_t key)
{
	enum menu_result result = menu_key(&state->menu, key);

	if (result != MENU_CHOSEN && result != MENU_LEFT)
		return;
	state->mode = MODE_TABLE;
	if (result == MENU_CHOSEN)
		state->menu_done(state, state->menu.values[state->menu.index]);
}

static void leave_page(struct state *state)
{
	bool was_detail = state->mode == MODE_DETAIL;

	state->mode = MODE_TABLE;
	pager_clear(&state->pager);
	replace(&state->detail, NULL);
	if (was_detail && state->spec.chains != state->want_chains) {
		state->spec.chains = state->want_chains;
		state_wish_spec(state);
	}
}

static void key_page(struct state *state, uint32_t key)
{
	enum pager_result result = pager_key(&state->pager, key);
	const struct key_binding *binding = keys_find(state->view, key);

	/* The key that opened the help closes it too. */
	if (state->mode == MODE_HELP && result == PAGER_IGNORED && binding &&
	    binding->run == action_help)
		result = PAGER_LEFT;
	if (result == PAGER_LEFT)
		leave_page(state);
}

/* What works whatever is on the screen; ^C in a prompt only leaves the prompt. */
static bool key_anywhere(struct state *state, uint32_t key)
{
	if (key == INPUT_CTRL('Z'))
		action_suspend(state);
	else if (key == INPUT_CTRL('L'))
		action_redraw(state);
	else if (key == INPUT_F1 + 9 || (key == INPUT_CTRL('C') && state->mode != MODE_PROMPT))
		action_quit(state);
	else
		return false;
	return true;
}

/* Pasted text is for prompts; elsewhere a pasted "q" must not end the program. */
static bool is_pasted(struct state *state, uint32_t key)
{
	if (state->mode == MODE_PROMPT)
		return false;
	if (key == INPUT_PASTE_BEGIN || key == INPUT_PASTE_END) {
		state->pasting = key == INPUT_PASTE_BEGIN;
		return true;
	}
	if (key == INPUT_CTRL('C'))
		state->pasting = false;
	return state->pasting;
}

void state_key(struct state *state, uint32_t key, uint64_t now_ns, struct ui_wish *ret_wish)
{
	static void (*const handlers[])(struct state * state, uint32_t key) = {
		[MODE_TABLE] = key_table, [MODE_PROMPT] = key_prompt, [MODE_MENU] = key_menu,
		[MODE_DETAIL] = key_page, [MODE_HELP] = key_page,
	};

	state->now_ns = now_ns;
	state->wish = (struct ui_wish){ .action = UI_NONE };
	if (!is_pasted(state, key)) {
		state->message_until_ns = 0;
		if ((state->mode == MODE_PROMPT && state->prompt.pasting) ||
		    !key_anywhere(state, key))
			handlers[state->mode](state, key);
	}
	*ret_wish = state->wish;
}

/* ---- drawing ---- */

/* Lines of the parts of the screen; -1: not there. */
struct layout {
	int identity, figures, state, notes, title, table, bottom;
	int nr_notes, nr_table;
};

static bool take_line(int *free_lines)
{
	if (*free_lines <= 0)
		return false;
	(*free_lines)--;
	return true;
}

static int next_line(int *y, bool there)
{
	return there ? (*y)++ : -1;
}

/* Lines go to the parts by importance, then the parts stand in the order of the screen. */
static struct layout make_layout(const struct state *state, const struct header_state *header,
				 int height)
{
	bool asked = state->mode == MODE_PROMPT || state->message_until_ns;
	size_t nr_notes = state->shown ? snapshot_nr_notes(state->shown) : 0;
	int max_notes = (int)MIN(nr_notes, height >= TALL_SCREEN ? MAX_NOTE_LINES : 1);
	struct layout layout = { 0 };
	int left = height;
	bool identity, figures, narrowed, title, bottom;
	int y = 0;

	bottom = asked && take_line(&left);
	layout.nr_table = take_line(&left);
	narrowed = header_has_state(state->shown, header) && take_line(&left);
	layout.nr_notes = max_notes && take_line(&left);
	figures = state->shown && take_line(&left);
	title = state->mode < MODE_DETAIL && view_kind(state->view)->has_titles && take_line(&left);
	identity = take_line(&left);
	bottom = bottom || take_line(&left);
	while (layout.nr_notes && layout.nr_notes < max_notes && take_line(&left))
		layout.nr_notes++;
	layout.nr_table += left;

	layout.identity = next_line(&y, identity);
	layout.figures = next_line(&y, figures);
	layout.state = next_line(&y, narrowed);
	layout.notes = layout.nr_notes ? y : -1;
	y += layout.nr_notes;
	layout.title = next_line(&y, title);
	layout.table = y;
	y += layout.nr_table;
	layout.bottom = next_line(&y, bottom);
	return layout;
}

static void draw_bottom(const struct state *state, struct screen *screen, int y)
{
	int width = screen_nr_columns(screen);

	if (state->mode == MODE_PROMPT)
		prompt_draw(&state->prompt, screen, y);
	else if (state->message_until_ns)
		screen_put(screen, y, 0, width, state->message,
			   state->message_level == NOTE_WARN ? STYLE_WARN : STYLE_BOLD);
	else if (state->mode == MODE_MENU)
		screen_put(screen, y, 0, width, "Enter chooses, Esc leaves", STYLE_LABEL);
	else if (state->mode == MODE_DETAIL || state->mode == MODE_HELP)
		screen_put(screen, y, 0, width, "Esc goes back, Up Down PgUp PgDn scroll",
			   STYLE_LABEL);
	else
		keys_draw_bar(state->view, screen, y);
}

static void draw_main(struct state *state, struct screen *screen, int y, int height)
{
	if (state->mode == MODE_HELP) {
		help_fill(&state->pager, screen, state->shown);
		pager_draw(&state->pager, screen, y, height);
		return;
	}
	if (state->mode == MODE_DETAIL) {
		detail_fill(&state->pager, screen, state->detail,
			    snapshot_row(state->detail, state->detail_index), state->detail_gone);
		pager_draw(&state->pager, screen, y, height);
		return;
	}
	if (state->shown)
		view_kind(state->view)->draw(state, screen, y, height);
	else if (height > 0)
		header_draw_empty(NULL, screen, y);
	if (state->mode == MODE_MENU)
		menu_draw(&state->menu, screen, y, height);
}

void state_draw(struct state *state, struct screen *screen)
{
	struct header_state header = {
		.paused = state->paused,
		.zero_each = state->zero_each,
		.has_baseline = state->baseline != NULL,
		.baseline_end_ns = state->baseline ? baseline_end_ns(state->baseline) : 0,
		.nr_gone = state->nr_gone,
	};
	struct layout layout = make_layout(state, &header, screen_nr_rows(screen));
	const struct view_spec *spec = state->shown ? snapshot_spec(state->shown) : &state->spec;

	screen_clear(screen);
	if (layout.identity >= 0)
		header_draw_identity(state->shown, &header, screen, layout.identity);
	if (layout.figures >= 0)
		header_draw_figures(state->shown, screen, layout.figures);
	if (layout.state >= 0)
		header_draw_state(state->shown, &header, screen, layout.state);
	if (layout.nr_notes)
		header_draw_notes(state->shown, screen, layout.notes, layout.nr_notes);
	if (layout.title >= 0)
		table_draw_title(spec, screen, layout.title);
	draw_main(state, screen, layout.table, layout.nr_table);
	if (layout.bottom >= 0)
		draw_bottom(state, screen, layout.bottom);
}
