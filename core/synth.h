/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The synthesizer: workers that read /proc into the thread table.
 *
 * Two queues: processes that were sampled come first (on demand), the sweep over
 * all of /proc second. Workers take one process at a time from one shared cursor;
 * processes of a thousand threads and more are read aside, by at most one worker,
 * so that they hold up nobody. When the sweep is done all workers but one go; that
 * one serves on-demand requests (and starts a second for a large process), and begins
 * another sweep when it is asked for.
 *
 * Threads: all functions may be called from any worker.
 */
#ifndef SYMTOP_CORE_SYNTH_H
#define SYMTOP_CORE_SYNTH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/thread_table.h"

struct synth;

struct synth_options {
	const char *proc;	    /* NULL: "/proc". Copied */
	unsigned int nr_workers;    /* 0: adaptive, by CPUs and processes; 64 at most */
	struct thread_table *table; /* borrowed, must outlive the synth */
	bool sweep;		    /* false: on demand only */
	bool starts_alone;	    /* one worker until synth_use_all_workers() */
};

struct synth_progress {
	uint64_t nr_sweeps;	    /* begun so far; the figures are of the last one */
	uint64_t nr_done, nr_total; /* processes of the sweep; nr_total 0: not listed yet */
	uint64_t nr_vanished;	    /* since its start: gone before they were read */
	uint64_t nr_denied;	    /* since its start: maps not readable */
	uint64_t nr_on_demand;	    /* since synth_start() */
	uint64_t nr_waiting;	    /* on-demand requests not done yet */
	bool sweep_done;
	uint64_t sweep_ns;	  /* from start to the end of the sweep, so far */
	unsigned int nr_workers;  /* now */
	unsigned int max_workers; /* at once in the sweep */
};

/* Starts the workers. On success *@ret_synth is the caller's. */
int synth_start(const struct synth_options *options, struct synth **ret_synth,
		struct err *err) MUST_CHECK;

/* Ends the workers, after the process each is at. NULL is fine. */
void synth_stop(struct synth *synth);

/*
 * Read @pid soon, ahead of the sweep. Never blocks on /proc; a request is dropped
 * when one for the same pid is waiting. Not under a lock of the thread table.
 */
void synth_request(struct synth *synth, uint32_t pid);

/* From now on as many workers as were asked for. */
void synth_use_all_workers(struct synth *synth);

/*
 * Sweep over all of /proc (again), with @nr_workers from now on (0: adaptive). A sweep
 * that is under way gives way to the new one. Does not wait for it.
 */
void synth_rescan(struct synth *synth, unsigned int nr_workers);

/* Wait until all requests so far are done or @deadline_ns passed; true when done. */
bool synth_wait_requests(struct synth *synth, uint64_t deadline_ns);

/* Wait until the sweep is done or @deadline_ns passed; true when done. */
bool synth_wait_sweep(struct synth *synth, uint64_t deadline_ns);

void synth_get_progress(struct synth *synth, struct synth_progress *ret_progress);

#endif /* SYMTOP_CORE_SYNTH_H */
