/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf.data file as the source of records, in the place of rings: metadata go into
 * the tables, samples into a reader, in the order of time.
 *
 * Each sample is located with exactly what was known at its time: before a record
 * changes a process that has samples in the reader, these are placed. So nothing
 * depends on how fast the file is read.
 *
 * Threads: one at a time, but for the origin, which symbol workers ask.
 */
#ifndef SYMTOP_CORE_REPLAY_H
#define SYMTOP_CORE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/cpumap.h"
#include "core/event.h"
#include "core/event_set.h"
#include "core/perf_data.h"
#include "core/reader.h"
#include "core/record_apply.h"
#include "symbols/symbolizer.h"

struct replay;

/* Where everything goes; all of it borrowed. */
struct replay_sink {
	struct record_sink records;
	struct reader *reader;
	/* Locate and count now what the reader has. */
	void (*place)(void *arg);
	void *arg;
};

enum replay_result {
	REPLAY_REACHED, /* the next record is not before the time that was given */
	REPLAY_PAUSED,	/* the deadline passed */
	REPLAY_ENDED,	/* the file did */
};

/* Returns 0 or a negative errno with a message; then *@ret_replay is the caller's. */
int replay_open(const char *path, struct replay **ret_replay, struct err *err) MUST_CHECK;
void replay_close(struct replay *replay); /* NULL is fine */

const char *replay_name(const struct replay *replay); /* the file's, without its folder */
void replay_get_info(const struct replay *replay, struct perf_data_info *ret_info);

/* As perf_data_get_cpumap(). */
void replay_get_cpumap(const struct replay *replay, struct cpumap *ret_map);

/* Append the file's events, which rank as in the samples. Returns 0 or -E2BIG. */
int replay_get_events(const struct replay *replay, struct event_list *list,
		      struct err *err) MUST_CHECK;

/* What an event set would say of itself. */
void replay_get_set_info(const struct replay *replay, struct event_set_info *ret_info);

/* For the symbolizer. Lives as long as @replay. */
const struct symbol_origin *replay_origin(const struct replay *replay);

/* Once, before replay_run(). */
void replay_set_sink(struct replay *replay, const struct replay_sink *sink);

/* Time of the next record that has one; 0: none. */
uint64_t replay_next_ns(struct replay *replay);

/* Take all records from before @until_ns, or until the clock says @deadline_ns. */
enum replay_result replay_run(struct replay *replay, uint64_t until_ns, uint64_t deadline_ns);

/* Samples of CPU @cpu since the last call: all, and those not of the idle task. */
void replay_take_cpu_samples(struct replay *replay, size_t cpu, uint64_t *ret_nr,
			     uint64_t *ret_nr_busy);

struct replay_figures {
	struct perf_data_figures file;
	uint64_t first_ns, last_ns; /* times of the samples so far */
	uint64_t nr_samples;
	uint64_t nr_malformed; /* records that could not be used, in all */
	uint64_t nr_lost;      /* the kernel could not write them, as it says */
	uint64_t nr_throttled;
};
void replay_get_figures(const struct replay *replay, struct replay_figures *ret_figures);

/*
 * What the person should know of the file, a sentence each: NULL past the last. Its
 * text lives until the next call.
 */
const char *replay_note(struct replay *replay, size_t index);

#endif /* SYMTOP_CORE_REPLAY_H */
