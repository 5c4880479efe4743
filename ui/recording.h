/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recording from the screen: what the key asks, and what became of it.
 */
#ifndef SYMTOP_UI_RECORDING_H
#define SYMTOP_UI_RECORDING_H

#include "core/snapshot.h"
#include "ui/state.h"

/* Tell of a recording that has begun or ended since the last snapshot. */
void recording_tell_state(struct state *state, const struct snapshot *snapshot);

#endif /* SYMTOP_UI_RECORDING_H */
