/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one refresh shows, and what may be asked for: the only words that ui/ and
 * core/ share.
 *
 * A snapshot is immutable and reference counted; any thread may read it. Every
 * string in it is printable UTF-8 (core/base/text.h) and lives as long as it.
 */
#ifndef SYMTOP_CORE_SNAPSHOT_H
#define SYMTOP_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

/* What rows are told apart by, and sorted by among equals, in column order. */
enum sort_key {
	SORT_COMM,
	SORT_PID,
	SORT_TID,
	SORT_DSO,
	SORT_SYMBOL,
	SORT_CPU,
	SORT_NODE,
	SORT_EVENT,
	NR_SORT_KEYS,
};

/* "comm", "pid", ...: names of -s. */
const char *sort_key_name(enum sort_key key);

/* Parse "comm,dso,symbol" (also sym). Returns 0 or -EINVAL. */
struct sort_keys {
	enum sort_key keys[NR_SORT_KEYS];
	size_t nr;
};
int sort_keys_parse(const char *text, struct sort_keys *ret_keys, struct err *err) MUST_CHECK;

enum order_by {
	ORDER_SELF,
	ORDER_CHILDREN,
	ORDER_SAMPLES,
	ORDER_PERIOD,
	ORDER_KEY,
	ORDER_DELTA, /* by the size of the change, in whatever direction */
};

enum view_window { VIEW_WINDOW_TICK, VIEW_WINDOW_TIME, VIEW_WINDOW_DECAY, VIEW_WINDOW_ALL };

/*
 * What a view asks for. A plain value; the filter text is inside, so it can be
 * copied between threads.
 */
struct view_spec {
	struct sort_keys keys;
	enum order_by order;
	enum sort_key order_key; /* with ORDER_KEY */
	bool inverted;		 /* smallest weight first; with ORDER_KEY: last key first */
	enum view_window window;
	uint64_t window_ns; /* with VIEW_WINDOW_TIME */
	bool hide_kernel, hide_user;
	bool show_idle;
	bool relative;	      /* shares of what the filters leave; else of all */
	double percent_limit; /* rows below are counted, not shown */
	int event;	      /* rank of the event shown; -1: all of them */
	bool children;	      /* rows for callers too, with a children column */
	bool chains;	      /* fill chains of rows */
	size_t max_chains;    /* per row, heaviest first; 0: 32, SIZE_MAX: all */
	size_t max_rows;      /* heaviest with children first; 0: 20000, SIZE_MAX: all */
	char filter[256];     /* core/filter.h; "": none */
	char comms[256], dsos[256],
		symbols[256]; /* --comms --dsos --symbols: comma lists; "": all */
	uint64_t end_ns;      /* the window ends with the slot that ends then; 0: now */
	bool delta;	      /* rows tell their change: only where a front end sets it */
};

/* Defaults: comm,dso,symbol; self; last 10 s; all levels; no idle; absolute shares. */
void view_spec_init(struct view_spec *spec);

enum row_level { LEVEL_USER, LEVEL_KERNEL, LEVEL_GUEST_USER, LEVEL_GUEST_KERNEL, LEVEL_HYPERVISOR };

/* How a row compares with what a front end remembers, which sets it; nobody else does. */
enum row_change {
	CHANGE_NONE,	/* there is nothing to compare with */
	CHANGE_SHARE,	/* delta tells how much */
	CHANGE_NEW,	/* it was not there */
	CHANGE_UNKNOWN, /* nobody knows whether it was there */
};

struct row {
	uint64_t id; /* the same row in the next snapshot has the same id (a hash of its keys) */
	double self_share;     /* 0..1 of the base, see header.base_period */
	double children_share; /* >= self; == self without chains */
	double period, children_period;
	double nr_samples;
	const char *comm; /* "" where a key is not in use */
	const char *dso;  /* short name */
	const char *dso_path;
	const char *symbol; /* name, or "0xoffset" when it has none */
	const char *event;
	int64_t pid, tid; /* -1: many or not in use */
	int cpu, node;	  /* -1 likewise */
	enum row_level level;
	bool symbol_pending;	       /* the name may still come */
	bool unresolved;	       /* no map is known at the address */
	size_t first_chain, nr_chains; /* into snapshot_chain() */
	enum row_change change;
	double delta; /* the share less that of before; 0.01 is one point */
};

/* Where a frame of a chain is. The same place has the same address in a snapshot. */
struct frame_place {
	const char *name; /* of the symbol; "[object]" when it has none, or none yet */
	const char *dso;  /* short name */
	const char *dso_path;
	uint64_t offset; /* in the object, where there is no symbol; else 0 */
	bool has_symbol;
	bool kernel;
};

/*
 * A call chain of a row: frames innermost (the row's own symbol) first. When all chains are
 * asked for, they hold all samples of the row.
 */
struct row_chain {
	const char *const *frames;		 /* "symbol" or "[dso]+0xoffset" */
	const bool *frames_kernel;		 /* whether each is a kernel frame */
	const struct frame_place *const *places; /* of each; NULL: they were not set */
	size_t nr_frames;
	double nr_samples;
	double period;
};

/* A note for the person: what was stepped down, what is too slow, what to do. */
enum note_level { NOTE_INFO, NOTE_WARN };
struct note {
	enum note_level level;
	const char *text;
};

struct event_figures {
	const char *name;
	uint64_t nr_samples; /* in the window, all tasks */
};

enum recording_state {
	RECORDING_NONE,	     /* nothing was asked for, or the last one is over */
	RECORDING_KEPT,	     /* a flight recorder keeps the last seconds */
	RECORDING_ON,	     /* a file is being written */
	RECORDING_FINISHING, /* it has been stopped; the rest is on its way to the disk */
};

/* What is written to a perf.data file: now, or last. */
struct recording_figures {
	enum recording_state state;
	const char *path;    /* "": none so far */
	uint64_t nr_ended;   /* files so far, those that failed included */
	const char *trouble; /* why the last one failed or ended too soon; "": it did not */
	uint64_t bytes;	     /* written */
	uint64_t bytes_waiting;
	uint64_t nr_dropped;	      /* records that the disk was too slow for */
	uint64_t keep_ns;	      /* flight recorder: asked for; 0: there is none */
	uint64_t kept_ns, kept_bytes; /* ... and what it has */
	bool kept_is_cut;	      /* ... memory does not suffice for keep_ns */
};

/* The figures of DESIGN 9. Times in ns, shares 0..1. */
struct snapshot_header {
	const char *host, *kernel;
	const char *event;  /* names of the events shown */
	const char *target; /* "all processes", "pid 1234 and children", ... */
	const char *filter;
	uint64_t time_ns;	      /* clock when it was made */
	uint64_t wall_time_ns;	      /* CLOCK_REALTIME of the same moment */
	uint64_t elapsed_ns;	      /* since the events were enabled */
	uint64_t sequence;	      /* ticks so far */
	uint64_t freq, sample_period; /* one of them is 0 */
	unsigned int nr_cpus, nr_cpus_online, nr_cpus_open, nr_nodes;
	bool has_nodes;
	uint64_t refresh_ns;	       /* asked for */
	uint64_t effective_refresh_ns; /* in use: early frames, adapted */
	enum view_window window;
	uint64_t window_ns;	/* what the window covers really */
	double samples_per_sec; /* received in the last tick */
	uint64_t nr_samples;	/* in the window, before filters, idle included */
	double shown_samples;	/* in the window after filters */
	double base_period;	/* what shares are of */
	bool relative;
	double idle_share;   /* of all samples in the window */
	double kernel_share; /* of shown samples */
	uint64_t nr_lost;    /* since the start: the kernel could not write them */
	uint64_t nr_lost_metadata;
	uint64_t nr_overwritten; /* since the start */
	uint64_t nr_throttled;
	uint64_t nr_corrupt;
	double unresolved_share; /* of shown samples: no map known at the address */
	double unnamed_share;	 /* map known, no symbol (a stripped file), pending not counted */
	double pending_share;	 /* name still being looked up, with chains also of a caller */
	double outside_share;	 /* of other targets (filter in user space), 0 otherwise */
	uint64_t read_ns;	 /* last tick: reading the rings */
	uint64_t tick_ns;	 /* last tick: all of it */
	double read_share;	 /* read_ns of the refresh */
	double self_cpu; /* own CPU time per wall time over the last ticks; 1.0 is one CPU */
	uint64_t self_rss_bytes;
	uint64_t nr_scans; /* of /proc, begun so far; the figures are of the last one */
	uint64_t scan_done, scan_total, scan_ns;
	bool scan_finished;
	unsigned int scan_workers; /* at most at once */
	unsigned int nr_synth_workers, nr_readers;
	uint64_t nr_tasks, nr_live_tasks;
	uint64_t nr_cells, nr_coarsened;
	bool kernel_excluded, kernel_hidden, own_processes_only, overwrite;
	bool target_gone;
	bool has_chains;
	size_t nr_rows_hidden; /* by percent_limit or the row limit */
	struct recording_figures recording;
	bool is_replay;		/* of a recording, whose event time is that of the file */
	uint64_t start_ns;	/* event time of the beginning */
	uint64_t window_end_ns; /* event time; 0: there is no such slot */
	uint64_t nr_slots_dropped;
};

/* How to read a figure of the engine. */
enum engine_unit {
	ENGINE_COUNT,
	ENGINE_SECONDS,
	ENGINE_BYTES,
	ENGINE_RATE,  /* a second */
	ENGINE_SHARE, /* 0..1 */
	NR_ENGINE_UNITS,
};

/* "", "s", "bytes", "1/s", "share" */
const char *engine_unit_name(enum engine_unit unit);

/*
 * A figure of the engine itself, see core/engine.h. Those of a section stand together,
 * and so do those of an item; every item of a section has the same names in one order.
 */
struct engine_figure {
	const char *section; /* "tick" */
	const char *item;    /* "copy"; "": the section has none */
	const char *name;    /* "mean" */
	double value;	     /* NaN: there is none */
	enum engine_unit unit;
};

struct snapshot;

struct snapshot *snapshot_get(struct snapshot *snapshot);
void snapshot_put(struct snapshot *snapshot); /* NULL is fine */

const struct snapshot_header *snapshot_header(const struct snapshot *snapshot);
const struct view_spec *snapshot_spec(const struct snapshot *snapshot);

size_t snapshot_nr_rows(const struct snapshot *snapshot);
const struct row *snapshot_row(const struct snapshot *snapshot, size_t index);
size_t snapshot_nr_chains(const struct snapshot *snapshot);
const struct row_chain *snapshot_chain(const struct snapshot *snapshot, size_t index);
size_t snapshot_nr_notes(const struct snapshot *snapshot);
const struct note *snapshot_note(const struct snapshot *snapshot, size_t index);
size_t snapshot_nr_events(const struct snapshot *snapshot);
const struct event_figures *snapshot_event(const struct snapshot *snapshot, size_t index);
size_t snapshot_nr_engine(const struct snapshot *snapshot);
const struct engine_figure *snapshot_engine(const struct snapshot *snapshot, size_t index);
/* Samples of the last tick by open CPU: id and number (idle excluded). */
size_t snapshot_nr_cpus(const struct snapshot *snapshot);
void snapshot_cpu(const struct snapshot *snapshot, size_t index, unsigned int *ret_cpu,
		  double *ret_busy);
/* Event times that spec.end_ns can be: the ends of the slots that are kept, oldest first. */
size_t snapshot_nr_slots(const struct snapshot *snapshot);
uint64_t snapshot_slot_end_ns(const struct snapshot *snapshot, size_t index);

/* ---- building: by core/query.c, and by tests of ui/ ---- */

struct snapshot *snapshot_new(const struct view_spec *spec);
/* Strings are made printable, interned in the snapshot and set in the copies. */
const char *snapshot_add_string(struct snapshot *snapshot, const char *text);
struct snapshot_header *snapshot_edit_header(struct snapshot *snapshot);
/* A zeroed row at the end; borrowed until the next add. String members start as "". */
struct row *snapshot_add_row(struct snapshot *snapshot);
void snapshot_add_chain(struct snapshot *snapshot, struct row *row, const char *const *frames,
			const bool *frames_kernel, size_t nr_frames, double nr_samples,
			double period);
/* A copy of @place that lives as long as the snapshot, and its strings made printable. */
const struct frame_place *snapshot_add_place(struct snapshot *snapshot,
					     const struct frame_place *place);
/* Of each frame of the chain that was added last. */
void snapshot_set_places(struct snapshot *snapshot, const struct frame_place *const *places);
void snapshot_add_note(struct snapshot *snapshot, enum note_level level, const char *text);
void snapshot_add_event(struct snapshot *snapshot, const char *name, uint64_t nr_samples);
void snapshot_add_cpu(struct snapshot *snapshot, unsigned int cpu, double busy);
void snapshot_add_engine(struct snapshot *snapshot, const struct engine_figure *figure);
void snapshot_add_slot(struct snapshot *snapshot, uint64_t end_ns);
/* Order the rows by the spec; call once, after the last row. */
void snapshot_sort(struct snapshot *snapshot);

/* ---- changing what is shown: by ui/, which adds what only it knows ---- */

/*
 * A copy for @spec, whose rows and header may be edited and sorted until it is shown. The rest
 * is that of @snapshot, which it keeps. The caller's to put.
 */
struct snapshot *snapshot_derive(struct snapshot *snapshot,
				 const struct view_spec *spec) MUST_CHECK;
struct row *snapshot_edit_row(struct snapshot *snapshot, size_t index);

#endif /* SYMTOP_CORE_SNAPSHOT_H */
