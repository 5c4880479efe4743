/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts identical samples of one read: same task, CPU, event, ip and call chain.
 *
 * This is what a reader does per sample, so nothing is allocated or shared here
 * but now and then to double a table, which then stays that large.
 *
 * Threads: one reader's own.
 */
#ifndef SYMTOP_CORE_TALLY_H
#define SYMTOP_CORE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

struct tuple {
	uint64_t ip;
	uint64_t time;	   /* ns, of the sample that came first */
	uint64_t period;   /* sum */
	uint64_t hash;	   /* private to tally.c */
	size_t chain;	   /* first of its addresses, see tally_chain() */
	uint32_t nr_chain; /* PERF_CONTEXT_* marks included */
	uint32_t nr_samples;
	uint32_t pid, tid, cpu;
	uint16_t event;
	uint8_t cpumode;
	bool separate; /* never merged with another */
};

struct tally;

struct tally *tally_new(void);
void tally_free(struct tally *tally); /* NULL is fine */

/* Forget everything; keeps the memory. */
void tally_clear(struct tally *tally);

/*
 * Count @sample (its period, nr_samples and hash are ignored, its chain is @ips).
 * With @sample->separate it becomes a tuple of its own: for tasks that changed
 * identity meanwhile, whose samples must each be located at their own time.
 */
void tally_add(struct tally *tally, const struct tuple *sample, const uint64_t *ips,
	       uint64_t period);

/* As tally_add(), for a tuple counted before, with its weight. */
void tally_add_tuple(struct tally *tally, const struct tuple *tuple, const uint64_t *ips);

size_t tally_nr(const struct tally *tally);

/* Borrowed until the next add. */
const struct tuple *tally_at(const struct tally *tally, size_t index);
const uint64_t *tally_chain(const struct tally *tally, const struct tuple *tuple);

#endif /* SYMTOP_CORE_TALLY_H */
