/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metadata worker: what the kernel says of tasks, maps and kernel symbols goes
 * from the metadata rings into the thread table, in the order of time over all CPUs.
 *
 * Records younger than HOLDBACK are kept for the next time, since another CPU may
 * still be writing an older one.
 *
 * Threads: metadata_drain() and the questions may be called from any worker; the
 * worker itself drains on wake-ups and often enough to see files before they go.
 */
#ifndef SYMTOP_CORE_METADATA_H
#define SYMTOP_CORE_METADATA_H

#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/event_set.h"
#include "core/recorder.h"
#include "core/synth.h"
#include "core/thread_table.h"
#include "symbols/symbolizer.h"

#define METADATA_HOLDBACK_NS UINT64_C(1000000)

struct metadata;

struct metadata_options {
	struct event_set *events; /* all of them borrowed */
	struct thread_table *table;
	struct symbolizer *symbolizer;
	struct dso *kernel;
	/* Asked to look at each process that exec'ed, since that can change its user; NULL: not. */
	struct synth *synth;
	struct recorder *recorder; /* gets the records as they are; NULL: nobody */
};

struct metadata_figures {
	uint64_t nr_records;
	uint64_t nr_lost;      /* the kernel had no room for them */
	uint64_t nr_malformed; /* or corrupt places in a ring */
	uint64_t nr_unknown;   /* types we do not know */
};

/* Starts the worker. On success *@ret_metadata is the caller's. */
int metadata_start(const struct metadata_options *options, struct metadata **ret_metadata,
		   struct err *err) MUST_CHECK;
void metadata_stop(struct metadata *metadata); /* NULL is fine */

/* Apply all records up to @cut_ns (not younger than now - METADATA_HOLDBACK_NS). */
void metadata_drain(struct metadata *metadata, uint64_t cut_ns);

/*
 * Hold the worker off the rings while event_set_refresh_cpus() changes them; after
 * metadata_resume() it polls the new ones.
 */
void metadata_pause(struct metadata *metadata);
void metadata_resume(struct metadata *metadata);

void metadata_get_figures(struct metadata *metadata, struct metadata_figures *ret_figures);

#endif /* SYMTOP_CORE_METADATA_H */
