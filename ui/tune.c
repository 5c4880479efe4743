/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of the engine view: how many readers and synthesizer workers there are.
 *
 * The number last asked for is kept here, since keys come faster than the snapshots that
 * show what became of them.
 */
#include "config.h"

#include "core/base/compiler.h"
#include "ui/actions.h"

/* More would only wait for each other in the kernel. */
enum { MAX_SCAN_WORKERS = 64 };

static void wish_readers(struct state *state, unsigned int nr_readers)
{
	state->nr_readers = nr_readers;
	state->wish.action = UI_READERS;
	state->wish.nr_readers = nr_readers;
	state_say(state, "%u reader%s", nr_readers, nr_readers == 1 ? "" : "s");
}

/* What there is, or is on its way; 0: not known yet. */
static unsigned int nr_readers(const struct state *state)
{
	if (!state->shown || state->nr_readers)
		return state->nr_readers;
	return snapshot_header(state->shown)->nr_readers;
}

void action_more_readers(struct state *state)
{
	unsigned int nr = nr_readers(state);

	if (!nr)
		return;
	if (nr >= snapshot_header(state->shown)->nr_cpus_open)
		state_say(state, "there is a reader for each CPU already");
	else
		wish_readers(state, nr + 1);
}

void action_fewer_readers(struct state *state)
{
	unsigned int nr = nr_readers(state);

	if (nr > 1)
		wish_readers(state, nr - 1);
	else
		state_say(state, "one reader is the least");
}

static void set_scan_workers(struct state *state, unsigned int nr_workers)
{
	state->nr_scan_workers = nr_workers;
	if (nr_workers)
		state_say(state, "the next scan (S) has %u worker%s", nr_workers,
			  nr_workers == 1 ? "" : "s");
	else
		state_say(state, "the next scan (S) chooses the number of its workers");
}

void action_more_scan_workers(struct state *state)
{
	unsigned int nr = state->nr_scan_workers;

	/* From adaptive on it goes up from what that came to. */
	if (!nr && state->shown)
		nr = snapshot_header(state->shown)->scan_workers;
	set_scan_workers(state, MIN(nr + 1, (unsigned int)MAX_SCAN_WORKERS));
}

void action_fewer_scan_workers(struct state *state)
{
	set_scan_workers(state, state->nr_scan_workers ? state->nr_scan_workers - 1 : 0);
}

void action_scan(struct state *state)
{
	uint64_t nr_scans = state->shown ? snapshot_header(state->shown)->nr_scans : 0;

	state->scan_awaited = MAX(state->scan_awaited, nr_scans) + 1;
	state->wish.action = UI_RESCAN;
	state->wish.nr_scan_workers = state->nr_scan_workers;
	state_say(state, "scanning /proc...");
}
