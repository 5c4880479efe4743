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
#include "core/recorder.h"
#include "core/reader.h"
#include "core/record_write.h"
#include "core/ring.h"
#include "core/replay.h"
#include "core/synth.h"
#include "core/thread_table.h"
#include "symbols/symbolizer.h"

/* What a reader did in a tick, which may have several drains. */
struct reader_work {
	uint64_t nr_samples;
	uint64_t copy_ns, decode_ns, locate_ns;
};

struct reader_worker {
	struct collector *collector;
	struct reader *reader;
	struct worker *worker; /* NULL: the collector's own worker does it */
	uint64_t round;	       /* the last it took part in; under the collector's lock */
	bool stop;	       /* under the collector's lock */
	size_t nr_cpus;
	int64_t node;		       /* of its CPUs; -1: of several, or none */
	uint64_t samples_seen;	       /* of the reader, at the last look */
	struct reader_work tick, last; /* of the open tick, of the one before */
};

/* What is written to a file, besides recorder.c's part of it. */
struct recording {
	char wanted[4096];	      /* by the front end */
	char path[4096];	      /* of the last that was begun, or could not be */
	char trouble[1024];	      /* why it could not begin; "": it did */
	uint64_t nr_refused;	      /* that could not begin */
	struct worker *kernel_worker; /* reads where the kernel is; NULL: not, or no more */
	struct record_buffer kernel;  /* what it found, once it is known */
	_Atomic bool kernel_known;    /* released after that */
	uint64_t start_ns;	      /* event time from which on there are records */
	uint64_t told_ns;	      /* up to where everything was handed over */
	bool state_wanted;	      /* tasks that there are have still to be told */
	uint64_t nr_on_demand;	      /* processes that were read because of a sample, when told */
	uint64_t nr_overwritten;      /* samples that were, all in all, at the last look */
	char last_trouble[1024];      /* of collector_finish_record() */
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
	struct cpuset home;	 /* where readers may run, unless AFFINITY_SYS */
	struct reader **retired; /* hold samples to be placed, but have no CPUs any more */
	size_t nr_retired, nr_retired_allocated;
	struct reader_figures gone_figures; /* sums of readers that are gone */
	const char **event_names;
	uint64_t enabled_ns;
	uint64_t cut_ns;	/* event time up to which samples were read */
	uint64_t tick_cut_ns;	/* the same at the end of the last tick */
	uint64_t tick_start_ns; /* event time at which the next slot begins */
	bool slot_open;
	uint64_t next_drain_ns, next_tick_ns;
	uint64_t drain_interval_ns;
	uint64_t drained_ns;   /* when the last drain began */
	uint64_t early_ns;     /* length of the next early tick; 0: past them */
	uint64_t stretched_ns; /* effective refresh by --adapt; 0: as asked for */
	uint64_t next_housekeeping_ns;
	uint64_t changed[1024];
	uint64_t self_cpu_ns, self_wall_ns; /* at the last tick */
	uint64_t last_overwritten;
	bool was_late;		       /* the last tick took most of its interval */
	uint64_t drain_bytes;	       /* of the last drain, from the ring that brought most */
	uint64_t drain_covers_ns;      /* what it covered; 0: there was none */
	struct ring_stats *rings_seen; /* by CPU rank, at the last look */
	uint64_t nr_overwritten, nr_ring_corrupt; /* all rings, also those closed meanwhile */
	/* Figures of the last tick that the next snapshots repeat. */
	struct snapshot_header figures;
	/* By CPU rank, of the open tick. */
	uint64_t *cpu_samples, *cpu_busy, *cpu_overwritten;
	double *cpu_shares; /* by CPU rank, of the last tick */
	size_t nr_cpu_figures;
	uint64_t tick_samples;
	uint64_t tick_read_ns, tick_all_ns;
	uint64_t tick_elapsed_ns;     /* wall time of the last tick */
	uint64_t next_scan_look_ns;   /* has the scan that was asked for ended? UINT64_MAX: none */
	uint64_t next_record_look_ns; /* has the file been finished? UINT64_MAX: none is */
	uint64_t next_show_ns;	      /* of a recording: earliest time of the next snapshot */
	uint64_t slot_length_ns;      /* ... length of the next slot, in the file's time */
	uint64_t trimmed_ns;	      /* ... the file's time when the thread table was */
	char advice[256];
	char trouble[1024]; /* of the last housekeeping; "": none */
	struct view_spec running_spec;
	struct recorder *recorder; /* NULL: a replay, which is a recording already */
	struct recording recording;

	/* ---- shared ---- */
	struct mutex lock;
	struct cond wake; /* the collector's worker waits for it */
	struct cond readers_wake, readers_done;
	struct view_spec spec GUARDED_BY(lock);
	bool spec_changed GUARDED_BY(lock);
	bool zero_wanted GUARDED_BY(lock);
	bool zero_each GUARDED_BY(lock);
	bool finish_wanted GUARDED_BY(lock);
	bool finished GUARDED_BY(lock);
	bool names_arrived GUARDED_BY(lock);
	bool refresh_changed GUARDED_BY(lock);
	unsigned int readers_wanted GUARDED_BY(lock); /* 0: as they are */
	bool scan_begun GUARDED_BY(lock);	      /* by collector_rescan() */
	bool record_wanted GUARDED_BY(lock), record_end_wanted GUARDED_BY(lock);
	bool record_ended GUARDED_BY(lock); /* answers collector_finish_record() */
	char record_path[4096] GUARDED_BY(lock);
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

/* Add the figures of the engine itself. */
void tick_add_engine(struct collector *collector, struct snapshot *snapshot);

/* Deal the CPUs out to the readers. */
void tick_share_cpus(struct collector *collector);

/* Run one reader on its CPUs, in whatever worker. */
void tick_run_reader(struct reader_worker *reader, uint64_t cut_ns, const uint64_t *changed);

/* Count what a reader has placed. */
void tick_merge_reader(struct collector *collector, struct reader *reader);

void tick_note_self(struct collector *collector, struct snapshot_header *header, uint64_t now_ns);
void tick_note_cpu_shares(struct collector *collector, uint64_t elapsed_ns);

/* tick_replay.c: for the collector's worker, with a recording. */

/* Open the next slot, of @length_ns of the file's time. */
void tick_replay_begin(struct collector *collector, uint64_t length_ns);

/* Read some of the open slot. */
enum replay_result tick_replay(struct collector *collector);

/* As tick_end(). */
void tick_replay_end(struct collector *collector, uint64_t refresh_ns);

/* Locate and count what the reader has; for the replay's sink. */
void tick_replay_place(void *arg);

/* collector_readers.c */

int collector_start_readers(struct collector *collector, struct err *err) MUST_CHECK;

/* Wait for the ends of their workers, after collector.stop; then free all. */
void collector_stop_readers(struct collector *collector);
void collector_free_readers(struct collector *collector);

/* Between ticks: have @nr_readers, at least one and no more than CPUs. */
void collector_change_readers(struct collector *collector, unsigned int nr_readers);

/* Have all readers read up to @cut_ns and wait for them. */
void collector_run_readers(struct collector *collector, uint64_t cut_ns);

/* With a slot open: place what retired readers hold, and let go of those that are done. */
void collector_settle_retired(struct collector *collector);

/* Sum up all readers that there were, but for times. */
void collector_sum_readers(const struct collector *collector, struct reader_figures *ret_sum);

/* Note what a drain was for each reader; the tick ends. */
void collector_note_work(struct collector *collector);
void collector_end_work(struct collector *collector);

/* collector_record.c: for the collector's worker, and for the start. */

/* Make the recorder; begin at once if a path was given. After the events are open. */
int collector_start_recorder(struct collector *collector, struct err *err) MUST_CHECK;

/* After all workers have ended. */
void collector_free_recorder(struct collector *collector);

/* To recording.wanted. What goes wrong is recording.trouble. */
void collector_begin_recording(struct collector *collector);
void collector_end_recording(struct collector *collector);

/* After a drain: what is to be told besides the rings' records. */
void collector_note_recording(struct collector *collector);

/* @trouble is where the text of that name stands. */
void collector_get_recording(const struct collector *collector,
			     struct recording_figures *ret_figures, char trouble[static 1024]);

#endif /* SYMTOP_CORE_COLLECTOR_INTERNAL_H */
