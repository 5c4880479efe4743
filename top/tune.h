/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --tune: measure this machine for some seconds and say which options suit it.
 *
 * Each figure of the recommendation stands in the table above it. Main thread only.
 */
#ifndef SYMTOP_TOP_TUNE_H
#define SYMTOP_TOP_TUNE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "top/options.h"

/* Run it for the target, events and rate of @options; returns the exit status. */
int tune_run(const struct options *options);

/* ---- the decisions, for tests ---- */

struct tune_trial {
	unsigned int nr_workers;
	uint64_t wall_ns;
};

/*
 * The number of workers to take: the fewest whose time is within a tenth (or 2 ms) of
 * the best, since more cost more. @nr is at least 1.
 */
unsigned int tune_choose_workers(const struct tune_trial *trials, size_t nr);

/* The shortest refresh, in tenths of a second up, at which a tick takes at most 2 %. */
uint64_t tune_choose_refresh(uint64_t tick_ns);

/* Bytes of a ring that holds one and a half refreshes, a power of two pages. */
size_t tune_choose_ring(double bytes_per_sec, uint64_t refresh_ns, size_t page_size);

#endif /* SYMTOP_TOP_TUNE_H */
