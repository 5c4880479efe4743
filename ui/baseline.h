/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rows are compared with: the shares that were on the screen once.
 *
 * Rows are found again by their ids. A row that is not in the baseline is new only if the
 * baseline had shown it; where a filter or a limit may have hidden it, or a name may have
 * come since, that is not known.
 */
#ifndef SYMTOP_UI_BASELINE_H
#define SYMTOP_UI_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/snapshot.h"

#define BASELINE_GONE_UNKNOWN SIZE_MAX

struct baseline;

/* Remember the rows of @snapshot. The caller's, ends with baseline_free(). */
struct baseline *baseline_new(const struct snapshot *snapshot) MUST_CHECK;
void baseline_free(struct baseline *baseline); /* NULL is fine */

/* Event time at which its window ended. */
uint64_t baseline_end_ns(const struct baseline *baseline);

/* Whether rows and shares of @spec are of the same kind as those that are remembered. */
bool baseline_fits(const struct baseline *baseline, const struct view_spec *spec);

/*
 * A copy of @snapshot, whose spec fits, with the changes in its rows. *@ret_nr_gone: how many
 * rows have no samples any more, or BASELINE_GONE_UNKNOWN. The caller's to put.
 */
struct snapshot *baseline_compare(const struct baseline *baseline, struct snapshot *snapshot,
				  size_t *ret_nr_gone) MUST_CHECK;

/* A copy of @snapshot without changes. The caller's to put. */
struct snapshot *baseline_remove(struct snapshot *snapshot) MUST_CHECK;

/* What @spec is ordered by when there is nothing to compare with. */
enum order_by baseline_order_without(const struct view_spec *spec);

#endif /* SYMTOP_UI_BASELINE_H */
