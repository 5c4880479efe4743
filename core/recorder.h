/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps what the rings deliver, as it is: into a perf.data file while it comes
 * (recorder_start()), or for the last seconds in memory until it is asked for
 * (keep_ns, "flight recorder").
 *
 * Readers never wait for the disk: a stream copies records into a block of its own, on
 * its NUMA node, and hands full ones over to the recorder's worker, which writes. When
 * blocks run out, records are dropped, counted, and a LOST record says so in the file. An
 * error of the file (disk full) ends its recording: what it has stays, and figures say why.
 *
 * Threads: a stream is used by one worker at a time. Everything else is called by one
 * worker (the collector's), but for recorder_get_figures(), which any may call.
 */
#ifndef SYMTOP_CORE_RECORDER_H
#define SYMTOP_CORE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/perf_data_write.h"
#include "core/record.h"

struct recorder;
struct record_stream;

struct recorder_options {
	struct record_format format; /* of records that the recorder makes (LOST) */
	uint64_t keep_ns;	     /* flight recorder: how long; 0: none */
	/*
	 * Of blocks, at least 4 MiB; 0: 64 MiB, or with keep_ns an eighth of the machine's
	 * memory. Taken as it is needed.
	 */
	uint64_t max_bytes;
};

enum recorder_state {
	RECORDER_OFF,	    /* nothing is written; a flight recorder keeps */
	RECORDER_ON,	    /* a file is being written */
	RECORDER_FINISHING, /* stopped; the rest is being written */
};

/* Of the recording that is under way or was the last; none yet: zero. */
struct recorder_figures {
	enum recorder_state state;
	uint64_t nr_finished;	      /* files so far, complete or not */
	uint64_t bytes_written;	      /* of the file, without the tail */
	uint64_t nr_dropped;	      /* records that found no free block */
	uint64_t bytes_waiting;	      /* for the disk */
	uint64_t kept_ns, kept_bytes; /* flight recorder: now */
	bool kept_is_cut;	      /* memory did not suffice for keep_ns */
	char trouble[512];	      /* why it ended before it was stopped; "": it did not */
};

/* The worker is started with the first recording, or at once to keep. */
int recorder_new(const struct recorder_options *options, struct recorder **ret_recorder,
		 struct err *err) MUST_CHECK;

/*
 * Writes what was handed over and closes the file, without a tail if none was given. Waits
 * for the disk. Its streams are freed first. NULL is fine.
 */
void recorder_free(struct recorder *recorder);

/* ---- streams ---- */

struct record_stream *record_stream_new(struct recorder *recorder);
void record_stream_free(struct record_stream *stream); /* hands over what it has; NULL is fine */

/* Its next blocks lie on NUMA node @node. */
void record_stream_set_node(struct record_stream *stream, unsigned int node);

/* Does anybody want records? One relaxed load. */
bool record_stream_is_on(const struct record_stream *stream);

/*
 * Take @nr whole records of @len bytes in all, the youngest of @newest_ns; copied, in any
 * order of time. Nothing when nobody wants them.
 */
void record_stream_add(struct record_stream *stream, const void *records, size_t len, size_t nr,
		       uint64_t newest_ns);

/* The end of a drain: hand over what there is. */
void record_stream_flush(struct record_stream *stream);

/* ---- recordings ---- */

/*
 * From now on everything goes to @writer, which is taken over: first @records (made by the
 * caller, of malloc(), taken over; NULL: none), then what a flight recorder has kept, then
 * what comes. Not while another one is under way (RECORDER_ON, RECORDER_FINISHING): -EBUSY,
 * and both stay the caller's.
 */
int recorder_start(struct recorder *recorder, struct perf_data_writer *writer, void *records,
		   size_t len, struct err *err) MUST_CHECK;

/* Records made by the caller, of malloc(), taken over; never dropped while a file is written. */
void recorder_add(struct recorder *recorder, void *records, size_t len);

/* @nr samples were lost before they came here, about @time_ns. */
void recorder_add_lost(struct recorder *recorder, uint64_t nr, uint64_t time_ns);

/*
 * A round is over: no record up to @cut_ns is still to come. Written as a mark for whoever
 * reads the file, if its rule holds (what was in the round before was not younger).
 */
void recorder_end_round(struct recorder *recorder, uint64_t cut_ns);

/* The recording is complete, but for @tail, which is taken over. Does not wait. */
void recorder_stop(struct recorder *recorder, struct perf_data_tail *tail);

/* Wait until no file is being finished. Any thread. */
void recorder_wait(struct recorder *recorder);

/*
 * Oldest time that a flight recorder's records may have, those to come included: facts of
 * tasks are needed from there on. 0: not known yet; UINT64_MAX: nothing is kept.
 */
uint64_t recorder_oldest_ns(struct recorder *recorder);

void recorder_get_figures(struct recorder *recorder, struct recorder_figures *ret_figures);

#endif /* SYMTOP_CORE_RECORDER_H */
