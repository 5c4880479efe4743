/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader takes its CPUs' sample rings from the kernel's bytes to placed samples:
 * copy, decode and count (tally.h), then locate each distinct tuple once.
 *
 * What cannot be located yet, because its task's maps are still being read, stays
 * in the reader and is tried again at the next tick; after MAX_TRIES it is placed as
 * unresolved, so that nothing is lost.
 *
 * Threads: one worker at a time uses a reader; the collector reads what it placed
 * while the reader rests.
 */
#ifndef SYMTOP_CORE_READER_H
#define SYMTOP_CORE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/event_set.h"
#include "core/profile.h"
#include "core/recorder.h"
#include "core/synth.h"
#include "core/tally.h"
#include "core/thread_table.h"

struct reader;

/* Where a reader is while it reads a ring. */
enum reader_affinity {
	AFFINITY_SYS,  /* wherever the scheduler puts it */
	AFFINITY_NODE, /* on the ring's NUMA node, with a buffer there */
	AFFINITY_CPU,  /* on the ring's very CPU, with a buffer on its node */
};

struct reader_options {
	struct event_set *events; /* all of them borrowed; NULL: there are no rings */
	struct thread_table *table;
	struct synth *synth; /* asked for unknown tasks; NULL: they stay unknown */
	struct recorder *recorder; /* gets what the rings deliver, as it is; NULL: nobody */
	struct dso *kernel, *unknown, *guest;
	const struct cpumap *cpumap;
	enum reader_affinity affinity;
};

/* A located tuple: what goes to profile_add(). Its references are the reader's. */
struct placed {
	struct cell_key key; /* key.chain is not set: frames are to be added */
	uint64_t nr_samples;
	uint64_t period;
	size_t frame; /* first of its callers, see reader_frames() */
	size_t nr_frames;
};

/* Since the reader was made; only grow, but for the times, which are of the last tick. */
struct reader_figures {
	uint64_t nr_samples;
	uint64_t nr_malformed;
	uint64_t nr_unknown_id; /* samples of an event that is none of ours */
	uint64_t nr_throttled;
	uint64_t nr_lost;		     /* LOST and LOST_SAMPLES records in the sample rings */
	uint64_t nr_deferred;		     /* now: samples that wait for their task's maps */
	uint64_t nr_moves, nr_moves_refused; /* to another node or CPU */
	uint64_t copy_ns, decode_ns, locate_ns;
};

struct reader *reader_new(const struct reader_options *options);
void reader_free(struct reader *reader); /* NULL is fine */

/* Its share of the CPUs: ranks for event_set_cpu(). Replaces the former share. */
void reader_clear_cpus(struct reader *reader);
void reader_add_cpu(struct reader *reader, size_t index);

/*
 * Read the rings. Overwrite rings: samples with a time after @cut_ns stay for the
 * next call. @changed: bits of processes whose samples must stay separate, see
 * thread_table_take_changed().
 */
void reader_read(struct reader *reader, uint64_t cut_ns, const uint64_t *changed);

/* Count a sample that was read elsewhere (a file), as tally_add(). */
void reader_add(struct reader *reader, const struct tuple *sample, const uint64_t *ips,
		uint64_t period);

/*
 * Locate what was read and what is still deferred. Asks the synthesizer for what it
 * does not know. Returns the number of tuples that have to wait for an answer.
 */
size_t reader_locate(struct reader *reader);

/* The placed tuples; valid until reader_clear(). */
size_t reader_nr_placed(const struct reader *reader);
const struct placed *reader_placed(const struct reader *reader, size_t index);
const struct location *reader_frames(const struct reader *reader, const struct placed *placed);

/* Let go of what was placed; deferred tuples stay, one try older. */
void reader_clear(struct reader *reader);

/* Samples by CPU rank of its share in the last read: all, and those not of idle. */
void reader_cpu_samples(const struct reader *reader, size_t index, uint64_t *ret_nr,
			uint64_t *ret_nr_busy);

void reader_get_figures(const struct reader *reader, struct reader_figures *ret_figures);

#endif /* SYMTOP_CORE_READER_H */
