/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile: cells (task, comm, cpu, event, dso, offset, chain) with weights per
 * time slot. Every view is a sum over some slots; no view needs new sampling.
 *
 * Bounded: slots by number and bytes (oldest dropped; their weight stays in the
 * cells' totals), cells by number. Past the limit cold cells coarsen: they lose
 * their CPU and chain, then their exact offset, then their task (all tasks of one
 * comm become one), at last even comm and dso, and merge. A sum is never wrong, only
 * less detailed.
 *
 * Single-threaded: owned by the collector.
 */
#ifndef SYMTOP_CORE_PROFILE_H
#define SYMTOP_CORE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/str.h"
#include "core/chain.h"
#include "core/thread_table.h"
#include "symbols/dso.h"

#define PROFILE_NO_CPU UINT16_MAX
#define PROFILE_NO_OFFSET UINT64_MAX

enum cell_flags {
	CELL_KERNEL = 1 << 0, /* kernel, hypervisor or guest kernel address */
	CELL_GUEST = 1 << 1,
	CELL_IDLE_TASK = 1 << 2,  /* pid 0 */
	CELL_UNRESOLVED = 1 << 3, /* no map known at the address, or the task unknown */
	CELL_EXITED = 1 << 4,	  /* stands for all exited tasks of its comm */
};

struct cell_key {
	struct task *task; /* NULL with CELL_EXITED */
	struct str *comm;  /* of the thread at the time; never NULL */
	struct dso *dso;   /* NULL: coarsened to the last, comm is "[other]" then */
	uint64_t offset;   /* PROFILE_NO_OFFSET: coarsened */
	uint32_t chain;	   /* callers; CHAIN_NONE: none */
	uint16_t cpu;	   /* PROFILE_NO_CPU: coarsened */
	uint16_t event;
	uint8_t flags; /* enum cell_flags */
};

struct weight {
	uint64_t nr_samples;
	uint64_t period;
};

struct profile_limits {
	size_t max_cells;	/* 0: 1 << 17 */
	size_t max_slots;	/* 0: 1024 */
	size_t max_slot_bytes;	/* of all slots together; 0: 12 MiB */
	size_t max_chain_nodes; /* 0: 1 << 20 */
};

struct profile_stats {
	uint64_t nr_cells;
	uint64_t nr_coarsened; /* cells that lost detail so far */
	uint64_t nr_slots;
	uint64_t nr_slots_dropped; /* since the start or the last clear */
	uint64_t slot_bytes;
	uint64_t nr_chain_nodes;
	uint64_t nr_chains_refused;
};

struct profile;

/* @symbolizer (borrowed) tells the start of a symbol when an offset is given up. NULL is fine. */
struct symbolizer;
struct profile *profile_new(const struct profile_limits *limits, struct symbolizer *symbolizer);
void profile_free(struct profile *profile); /* NULL is fine */

struct chain_table *profile_chains(struct profile *profile);

/* ---- writing: slot_begin, add and extend..., slot_end; an open slot is seen by queries ---- */

/* A new slot that covers event time [@start_ns, @end_ns). */
void profile_slot_begin(struct profile *profile, uint64_t start_ns, uint64_t end_ns);

/* The open slot lasts until @end_ns. */
void profile_slot_extend(struct profile *profile, uint64_t end_ns);

/* Add weight to the open slot. References in @key are taken by the profile if it keeps them. */
void profile_add(struct profile *profile, const struct cell_key *key, uint64_t nr_samples,
		 uint64_t period);

/* Close it; enforces the limits. */
void profile_slot_end(struct profile *profile);

/* Forget all samples (the z key). An open slot stays open and begins anew at its end. */
void profile_clear(struct profile *profile);

/* ---- reading ---- */

enum window_kind {
	WINDOW_TICK,  /* one slot: the newest that is closed, if any is */
	WINDOW_TIME,  /* slots of the last length_ns: those at least half in it */
	WINDOW_DECAY, /* all slots, their weight falling to 7/8 every refresh_ns */
	WINDOW_ALL,   /* since the start or the last clear */
};

struct window {
	enum window_kind kind;
	uint64_t length_ns;  /* WINDOW_TIME */
	uint64_t refresh_ns; /* WINDOW_DECAY: time in which a weight falls to 7/8 */
	/*
	 * 0: up to now. Else up to the newest closed slot that ends then or before, as if nothing
	 * had come later; slots that were dropped are none, but are in WINDOW_ALL.
	 */
	uint64_t end_ns;
};

/* A cell as a query sees it. Pointers borrowed until the profile changes. */
struct cell_view {
	struct cell_key key;
	double nr_samples; /* fractional under decay */
	double period;
	/* Cache the query owns: last symbol look-up of this cell. */
	struct cell_symbol *symbol;
};

/* Kept per cell for the query; zeroed with a new cell. */
struct cell_symbol {
	const struct symbol *symbol; /* NULL: none or pending */
	uint32_t generation;	     /* symbolizer_generation() when looked up */
	bool asked;
};

/*
 * Call @each for every cell that has weight in @window. Also returns the window's
 * true extent in event time; 0 and 0 when there is no slot. @each must not change
 * the profile.
 */
void profile_each(struct profile *profile, const struct window *window,
		  void (*each)(void *arg, const struct cell_view *cell), void *arg,
		  uint64_t *ret_start_ns, uint64_t *ret_end_ns);

uint64_t profile_oldest_ns(const struct profile *profile); /* start of the oldest slot, 0: none */

/* The slots that are closed and still there, oldest first: how many, and where one ends. */
size_t profile_nr_closed_slots(const struct profile *profile);
uint64_t profile_closed_slot_end_ns(const struct profile *profile, size_t rank);

void profile_get_stats(const struct profile *profile, struct profile_stats *ret_stats);
void profile_check_invariants(const struct profile *profile);

#endif /* SYMTOP_CORE_PROFILE_H */
