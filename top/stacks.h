/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a snapshot as distinct stacks with a count each, for the formats that
 * are about stacks. The snapshot must have been asked for all chains.
 */
#ifndef SYMTOP_TOP_STACKS_H
#define SYMTOP_TOP_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/text.h"
#include "core/snapshot.h"

/* Of one thread (or program), event and CPU, as far as the snapshot tells them apart. */
struct stack {
	const struct row *row;			 /* comm, pid, tid, cpu, node, event */
	const struct frame_place *const *places; /* innermost first */
	size_t nr_places;
	uint64_t nr_samples; /* never 0 */
	double period;
};

struct stacks {
	struct stack *list;
	size_t nr;
	bool has_events; /* several: they are not one unit, so each has stacks of its own */
};

/* In the order of the rows. The stacks borrow from @snapshot. */
void stacks_init(struct stacks *stacks, const struct snapshot *snapshot);
void stacks_release(struct stacks *stacks);

/* By event, comm, pid, tid, then by frames from the outermost: what begins alike is neighbours. */
void stacks_sort(struct stacks *stacks);

/* In sorted stacks: the index past the last one of the thread and event of @first. */
size_t stacks_thread_end(const struct stacks *stacks, size_t first);
uint64_t stacks_nr_samples(const struct stacks *stacks, size_t first, size_t end);

/* Of the busiest thread and event, in sorted stacks. */
uint64_t stacks_max_samples(const struct stacks *stacks);

/*
 * How far apart samples of a thread are: 1 / rate, or, without a rate, so that the
 * busiest thread of sorted stacks fills the window.
 */
double stacks_interval_ns(const struct stacks *stacks, const struct snapshot_header *header);

/* Never "": a reader of the file must see that there is something. */
const char *stack_comm(const struct stack *stack);
const char *place_name(const struct frame_place *place);

/* "comm PID/TID" with what is known, and the event if there are several. */
void stack_add_thread_name(struct textbuf *buf, const struct stacks *stacks,
			   const struct stack *stack);

#endif /* SYMTOP_TOP_STACKS_H */
