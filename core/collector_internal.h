/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What collector.c (the loop and its callers) and tick.c (one tick) share.
 *
 * Only the collector's worker touches what has no lock; `lock` guards what the front
 * end and other workers see.
 */
#ifndef SYMTOP_CORE_COLLECTOR_INTERNAL_H
#define SYMTOP_CORE_COLLECTOR_INTERNAL_H

#include "core/base/mutex.h"
#include "core/base/worker.h"
#include "core/collector.h"
#include "core/metadata.h"
#include "core/profile.h"
#include "core/query.h"
#include "core/reader.h"
#include "core/synth.h"
#include "core/thread_table.h"
#include "symbols/symbolizer.h"

struct reader_worker {
	struct collector *collector;
	struct reader *reader;
	struct worker *worker; /* NULL: the collector's own worker does it */
};

struct collector {
	struct collector_options options;

	/* ---- the collector's worker only, after the start ---- */
	struct dso_table *dsos;
	struct dso *kernel, *unknown, *guest;
	struct symbolizer *symbolizer;
	struct thread_table *table;
	struct synth *synth;
	struct metadata *metadata;
	struct profile *profile;
	struct reader_worker *readers;
	unsigned int nr_readers;
	const char **event_names;
	uint64_t enabled_ns;
	uint64_t cut_ns;	   /* event time up to which samples were read */
	uint64_t tick_start_ns;	   /* event time at which the next slot begins */
	bool slot_open;
	uint64_t next_drain_ns, next_tick_ns;
	uint64_t drain_interval_ns;
	uint64_t early_ns;	   /* length of the next early tick; 0: past them */
	uint64_t stretched_ns;	   /* effective refresh by --adapt; 0: as asked for */
	uint64_t next_housekeeping_ns;
	uint64_t changed[1024];
	uint64_t self_cpu_ns, self_wall_ns; /* at the last tick */
	uint64_t last_overwritten;
	uint64_t tick_bytes;	   /* read in this tick from the ring that brought most */
	uint64_t tick_elapsed_ns;  /* wall time of the last tick */
	uint64_t *ring_bytes_read; /* by CPU rank, at the last look */
	size_t nr_ring_bytes_read;
	/* Figures of the last tick that the next snapshots repeat. */
	struct snapshot_header figures;
	uint64_t *cpu_samples, *cpu_busy; /* by CPU rank, of the open tick */
	double *cpu_shares;		  /* by CPU rank, of the last tick */
	size_t nr_cpu_figures;
	uint64_t tick_samples;
	uint64_t tick_read_ns, tick_all_ns;
	char advice[256];
	char trouble[1024];	   /* of the last housekeeping; "": none */
	struct view_spec running_spec;

	/* ---- shared ---- */
	struct mutex lock;
	struct cond wake;	/* the collector's worker waits for it */
	struct cond readers_wake, readers_done;
	struct view_spec spec GUARDED_BY(lock);
	bool spec_changed GUARDED_BY(lock);
	bool zero_wanted GUARDED_BY(lock);
	bool zero_each GUARDED_BY(lock);
	bool finish_wanted GUARDED_BY(lock);
	bool finished GUARDED_BY(lock);
	bool names_arrived GUARDED_BY(lock);
	bool refresh_changed GUARDED_BY(lock);
	bool stop GUARDED_BY(lock);
	uint64_t refresh_ns GUARDED_BY(lock);
	struct snapshot *newest GUARDED_BY(lock);
	struct snapshot *last GUARDED_BY(lock); /* of collector_finish() */
	uint64_t reader_round GUARDED_BY(lock); /* counts up to start the reader workers */
	uint64_t reader_cut_ns GUARDED_BY(lock);
	unsigned int nr_reading GUARDED_BY(lock);
	struct worker *worker;
	int fd; /* eventfd */
};

/* tick.c: for the collector's worker. */

/* Read the rings into the open slot (opens one if there is none). */
void tick_drain(struct collector *collector);

/* Close the slot and note the figures of the tick that ends now. */
void tick_end(struct collector *collector, uint64_t refresh_ns);

/* Once a second or so: hotplug, new tasks of the target, trimming. */
void tick_housekeeping(struct collector *collector);

/* Make a snapshot for @spec with the figures of the last tick. -EINVAL: bad filter. */
int tick_snapshot(struct collector *collector, const struct view_spec *spec, uint64_t refresh_ns,
		  struct snapshot **ret_snapshot, struct err *err) MUST_CHECK;

/* How long the rings hold at the rate seen last, at most @refresh_ns. */
uint64_t tick_drain_interval(struct collector *collector, uint64_t refresh_ns);

/* Deal the CPUs out to the readers. */
void tick_share_cpus(struct collector *collector);

/* Run one reader on its CPUs, in whatever worker. */
void tick_run_reader(struct reader_worker *reader, uint64_t cut_ns, const uint64_t *changed);

/* collector.c: have all readers read up to @cut_ns and wait for them. */
void collector_run_readers(struct collector *collector, uint64_t cut_ns);

#endif /* SYMTOP_CORE_COLLECTOR_INTERNAL_H */
