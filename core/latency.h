/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time goes: each stage of the start once, each stage of a tick always.
 *
 * Written by the collector and its readers through one mutex (a few additions a
 * tick); read by anyone through a copy.
 */
#ifndef SYMTOP_CORE_LATENCY_H
#define SYMTOP_CORE_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

enum start_stage {
	START_OPTIONS, /* exec to options read and machine known */
	START_PROBE,   /* features probed */
	START_OPEN,    /* events opened */
	START_MMAP,    /* rings mapped */
	START_ENABLE,
	START_SCREEN,	  /* terminal ready */
	START_FIRST_TICK, /* first samples read */
	START_FIRST_ROW,  /* first row drawn or printed: since exec, not a part */
	START_SWEEP,	  /* /proc scanned: since exec, not a part */
	NR_START_STAGES,
};

enum tick_stage {
	TICK_METADATA, /* metadata rings drained and applied */
	TICK_COPY,     /* sample rings copied */
	TICK_DECODE,   /* decoded and counted */
	TICK_LOCATE,   /* unique tuples located */
	TICK_MERGE,    /* cells updated, limits kept */
	TICK_QUERY,    /* snapshot made */
	TICK_ALL,
	TICK_DRAW, /* by the front end */
	NR_TICK_STAGES,
};

struct stage_figures {
	uint64_t nr;
	uint64_t last_ns, total_ns, max_ns;
};

struct latency_figures {
	struct stage_figures start[NR_START_STAGES];
	struct stage_figures tick[NR_TICK_STAGES];
	uint64_t nr_ticks_late; /* reading took over half the refresh */
};

struct latency;

struct latency *latency_new(void);
void latency_free(struct latency *latency); /* NULL is fine */

/* Any thread. */
void latency_start(struct latency *latency, enum start_stage stage, uint64_t ns);
void latency_tick(struct latency *latency, enum tick_stage stage, uint64_t ns);
void latency_late(struct latency *latency);
void latency_get(struct latency *latency, struct latency_figures *ret_figures);

const char *start_stage_name(enum start_stage stage);
const char *tick_stage_name(enum tick_stage stage);

/*
 * The check: is @read_ns too much of @refresh_ns (more than half), were samples
 * overwritten? Then a sentence that says so and what to change, with numbers, each of
 * which is a remedy alone, goes to @ret_text; returns its length, 0 when all is well.
 */
struct latency_situation {
	uint64_t read_ns, refresh_ns;
	uint64_t freq; /* 0: by period */
	unsigned int nr_readers, nr_cpus;
	unsigned int worst_reader; /* its number; named when it takes much longer than the others */
	uint64_t worst_ns;	   /* what it was busy */
	uint64_t others_ns;	   /* the mean of the others */
	uint64_t nr_overwritten;   /* in the last tick */
	uint64_t nr_samples;	   /* read in the last tick; 0: not known */
	size_t ring_bytes;
	size_t page_size;
};
size_t latency_advice(const struct latency_situation *situation, char *ret_text, size_t size);

#endif /* SYMTOP_CORE_LATENCY_H */
