/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys that move in time. While the screen holds, the window ends with one slot after the
 * other of those that the newest snapshot says are kept; what such a step shows comes as
 * any other answer of the engine, and state.c takes it though the screen holds.
 */
#include "config.h"

#include "ui/actions.h"

/* Knows the newest slots: one that waits came after the one on the screen. */
static const struct snapshot *newest_snapshot(const struct state *state)
{
	return state->waiting ? state->waiting : state->shown;
}

static void go_to(struct state *state, uint64_t end_ns)
{
	state->spec.end_ns = end_ns;
	state_wish_spec(state);
}

/* Where the window ends that is shown or on its way; 0 with a message: nowhere. */
static uint64_t present_end_ns(struct state *state)
{
	uint64_t end_ns = state->spec.end_ns;

	if (!end_ns && state->shown)
		end_ns = snapshot_header(state->shown)->window_end_ns;
	if (!state->paused)
		state_say(state, "Space pauses first: then Left and Right step through time");
	else if (!end_ns)
		state_say(state, "there are no samples yet to step through");
	return state->paused ? end_ns : 0;
}

/* To the slot before, or to the first of all. */
static void step_back(struct state *state, bool to_end)
{
	const struct snapshot *snapshot = newest_snapshot(state);
	uint64_t now_ns = present_end_ns(state);
	size_t nr = now_ns ? snapshot_nr_slots(snapshot) : 0;
	size_t before = 0;

	if (!now_ns)
		return;
	while (before < nr && snapshot_slot_end_ns(snapshot, before) < now_ns)
		before++;
	if (before)
		go_to(state, snapshot_slot_end_ns(snapshot, to_end ? 0 : before - 1));
	else if (snapshot_header(snapshot)->nr_slots_dropped)
		state_say(state, "older slots are gone: only so many are kept");
	else
		state_say(state, "there is nothing older");
}

static void step_forward(struct state *state, bool to_end)
{
	const struct snapshot *snapshot = newest_snapshot(state);
	uint64_t now_ns = present_end_ns(state);
	size_t nr = now_ns ? snapshot_nr_slots(snapshot) : 0;
	size_t after = nr;

	if (!now_ns)
		return;
	while (after && snapshot_slot_end_ns(snapshot, after - 1) > now_ns)
		after--;
	if (after < nr)
		go_to(state, snapshot_slot_end_ns(snapshot, to_end ? nr - 1 : after));
	else
		state_say(state, "there is nothing newer: Space goes on");
}

void action_step_back(struct state *state)
{
	step_back(state, false);
}

void action_step_forward(struct state *state)
{
	step_forward(state, false);
}

void action_oldest(struct state *state)
{
	step_back(state, true);
}

void action_newest(struct state *state)
{
	step_forward(state, true);
}

void action_baseline(struct state *state)
{
	if (state->baseline) {
		state_drop_baseline(state);
		state_say(state, "the baseline was dropped");
		return;
	}
	if (!state->shown || !snapshot_nr_rows(state->shown)) {
		state_say(state, "there are no rows yet to compare with");
		return;
	}
	state_set_baseline(state);
	state_say(state, "baseline: a column tells each row's change from now on, in points");
}
