/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: rings in, snapshots out.
 *
 * The collector owns a worker that ticks: it drains the metadata rings, reads the
 * sample rings, locates and counts what is new, and answers the current view_spec
 * with a snapshot. Early ticks come after 50 ms and grow to the refresh.
 *
 * Threads: one front end (main thread) calls everything here; nothing blocks for
 * longer than a mutex.
 */
#ifndef SYMTOP_CORE_COLLECTOR_H
#define SYMTOP_CORE_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/cpumap.h"
#include "core/event_set.h"
#include "core/latency.h"
#include "core/reader.h"
#include "core/replay.h"
#include "core/snapshot.h"

struct collector;

struct collector_options {
	struct event_set *events; /* borrowed: open, not yet enabled; NULL with a replay */
	struct replay *replay;	  /* borrowed: a recording in their place; NULL: live */
	double replay_speed;	  /* how fast its time goes; 0: as fast as it can be read */
	/*
	 * Of a recording, for reports: each snapshot has all its names and is taken before the
	 * next is made; or there is only one, at the end.
	 */
	bool replay_waits, replay_shows_end;
	const struct event_list *event_list; /* borrowed: names */
	const struct target *target;	     /* borrowed */
	struct cpumap *cpumap;		     /* borrowed; refreshed on hotplug */
	struct latency *latency;	     /* borrowed */
	uint64_t refresh_ns;
	bool early_frames;	 /* false in batch mode with a fixed delay */
	bool adapt;		 /* stretch the effective refresh when reading is slow */
	bool zero_each;		 /* -z */
	unsigned int nr_readers; /* 0: by CPUs and nodes */
	enum reader_affinity affinity;
	unsigned int nr_synth_workers;		 /* 0: adaptive */
	const char *host, *kernel, *target_text; /* borrowed, for headers */
	uint64_t exec_ns;			 /* clock at exec, for latency */
	/* Recording, see core/recorder.h. The path is borrowed for the start only. */
	const char *record_path; /* record from the start on; NULL: not */
	uint64_t keep_ns;	 /* flight recorder; 0: none */
	const char *version;	 /* these are for the file; borrowed */
	const char *const *arguments;
	size_t nr_arguments;
};

/* Enables the events and starts working. On success *@ret_collector is the caller's. */
int collector_start(const struct collector_options *options, const struct view_spec *spec,
		    struct collector **ret_collector, struct err *err) MUST_CHECK;

/* Stop and free; events stay open, disabled. NULL is fine. */
void collector_stop(struct collector *collector);

/* Readable (eventfd) when a snapshot is there that was not taken yet. */
int collector_fd(const struct collector *collector);

/* The newest snapshot, a reference, or NULL when it was taken already. */
struct snapshot *collector_take(struct collector *collector);

/*
 * From now on answer @spec; a new snapshot comes at once, without waiting for the
 * tick. -EINVAL when its filter is wrong: then the old spec stays.
 */
int collector_set_spec(struct collector *collector, const struct view_spec *spec,
		       struct err *err) MUST_CHECK;

void collector_set_refresh(struct collector *collector, uint64_t refresh_ns);
void collector_set_zero_each(struct collector *collector, bool zero_each);

/*
 * From the next drain on have @nr_readers, at least one and at most one for each CPU; a
 * new snapshot comes at once. -ENOTSUP: a recording has none.
 */
int collector_set_readers(struct collector *collector, unsigned int nr_readers,
			  struct err *err) MUST_CHECK;

/*
 * Scan /proc again, with @nr_workers (0: adaptive); a new snapshot comes when that is
 * done. -ENOTSUP with a recording.
 */
int collector_rescan(struct collector *collector, unsigned int nr_workers,
		     struct err *err) MUST_CHECK;

/*
 * Write what comes from now on to @path, as perf.data; a flight recorder writes what it has
 * kept, and no more. Does not wait: how it goes stands in the snapshots' header, and one
 * comes at once. -EBUSY: another one is under way; -ENOTSUP with a recording.
 */
int collector_record(struct collector *collector, const char *path, struct err *err) MUST_CHECK;

/* The file is complete. Does not wait. Nothing if there is none. */
void collector_end_record(struct collector *collector);

/*
 * The same, and waits until it is on the disk. True: there was a recording at all, whose
 * end is in *@ret_figures; its strings are borrowed until collector_stop(). Call at most once,
 * last.
 */
bool collector_finish_record(struct collector *collector, struct recording_figures *ret_figures);

/* Forget all samples now. */
void collector_zero(struct collector *collector);

/*
 * Read what is left, make one last snapshot (for the end of a batch run). One before it
 * that was not taken can still be taken. Call at most once.
 */
struct snapshot *collector_finish(struct collector *collector);

#endif /* SYMTOP_CORE_COLLECTOR_H */
