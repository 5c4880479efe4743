/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profile + view_spec -> snapshot rows.
 *
 * Sums the cells of the window, looks their symbols up (never waiting), groups by
 * the sort keys, applies the filters, orders. Runs in the collector, which owns the
 * profile. The header's figures that do not come from the profile are filled in by
 * the caller.
 *
 * Addresses in rows: "0xoffset" while the name may still come; one row "[no symbol]"
 * per dso for those without a name, "[unknown]" for those without a map, "[other]"
 * for what the profile gave up. With several events shown at once shares, and so
 * header.base_period, are of samples and not of periods.
 */
#ifndef SYMTOP_CORE_QUERY_H
#define SYMTOP_CORE_QUERY_H

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/cpumap.h"
#include "core/profile.h"
#include "core/snapshot.h"
#include "core/thread_table.h"
#include "symbols/symbolizer.h"

struct query_context {
	struct profile *profile;
	struct thread_table *table;
	struct symbolizer *symbolizer;
	const struct cpumap *cpumap;
	const char *const *event_names;
	size_t nr_events;
	uint64_t refresh_ns; /* for the decay window */
	bool filter_target;  /* only tasks that task_is_target(); the rest is outside_share */
	bool filter_user;    /* only tasks of this uid likewise */
	uint32_t uid;
};

/*
 * Make a snapshot; never NULL in *@ret_snapshot on success, the caller's to put. The
 * header has the window, shares, counts of samples and unresolved; the rest is 0.
 *
 * Returns 0, or -EINVAL when a filter of @spec cannot be parsed.
 */
int query_run(const struct query_context *context, const struct view_spec *spec,
	      struct snapshot **ret_snapshot, struct err *err) MUST_CHECK;

/* Whether a kernel function is one the CPU idles in ("pv_native_safe_halt", ...). */
bool query_is_idle_symbol(const char *name);

#endif /* SYMTOP_CORE_QUERY_H */
