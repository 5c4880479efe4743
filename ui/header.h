/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines above the table: where we are and what is measured, the figures that say
 * how far to trust it, what narrows the view, and advice.
 *
 * All take the snapshot on the screen; its parts go by importance on narrow screens.
 */
#ifndef SYMTOP_UI_HEADER_H
#define SYMTOP_UI_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/snapshot.h"
#include "ui/screen.h"

/* What the snapshot does not know. */
struct header_state {
	bool paused;
	bool zero_each;
	bool has_baseline;
	uint64_t baseline_end_ns; /* event time */
	size_t nr_gone;		  /* rows of it, see baseline_compare() */
};

/* Host, event, CPUs, target, refresh and window. @snapshot may be NULL. */
void header_draw_identity(const struct snapshot *snapshot, const struct header_state *state,
			  struct screen *screen, int y);

/* Rates, losses, cost, scan. */
void header_draw_figures(const struct snapshot *snapshot, struct screen *screen, int y);

/* Whether something narrows or holds the view, so that the line is needed. */
bool header_has_state(const struct snapshot *snapshot, const struct header_state *state);
void header_draw_state(const struct snapshot *snapshot, const struct header_state *state,
		       struct screen *screen, int y);

/* The notes on @height lines from @y on, warnings first; what is left over is counted. */
void header_draw_notes(const struct snapshot *snapshot, struct screen *screen, int y, int height);

/* Why there are no rows. */
void header_draw_empty(const struct snapshot *snapshot, struct screen *screen, int y);

#endif /* SYMTOP_UI_HEADER_H */
