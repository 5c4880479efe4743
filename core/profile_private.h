/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What profile.c (cells, slots, windows) and profile_coarsen.c (giving up detail)
 * share. Nobody else includes this.
 */
#ifndef SYMTOP_CORE_PROFILE_PRIVATE_H
#define SYMTOP_CORE_PROFILE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"

#define NO_CELL UINT32_MAX

struct cell {
	struct cell_key key;	   /* comm NULL: free */
	struct cell_symbol symbol; /* the query's */
	struct weight total;	   /* since the start or the last clear, dropped slots included */
	uint64_t last_slot;	   /* sequence of the newest slot that has weight of it */
	uint32_t last_entry;	   /* its entry there */
	uint32_t next;		   /* in its bucket, or the next free one */
};

struct entry {
	uint32_t cell;
	uint32_t nr_samples;
	uint64_t period;
};

struct slot {
	uint64_t start_ns, end_ns;
	struct entry *entries;
	size_t nr_entries, nr_entries_allocated;
};

struct profile {
	struct profile_limits limits;
	struct symbolizer *symbolizer; /* may be NULL */
	struct chain_table *chains;
	struct str *others; /* stands for the comms that were given up */

	struct cell *cells;
	size_t nr_cell_places; /* used and free ones */
	size_t nr_cells_allocated;
	size_t nr_cells;   /* used ones */
	size_t nr_dormant; /* used ones without weight in any slot */
	uint32_t first_free;
	uint32_t *buckets; /* cells by the hash of their key */
	size_t nr_buckets; /* a power of two */

	struct slot *slots; /* oldest first */
	size_t nr_slots, nr_slots_allocated;
	uint64_t oldest_slot; /* sequence of slots[0]; starts at 1 */
	size_t slot_bytes;
	uint64_t nr_slots_dropped;
	bool slot_open;

	struct weight added; /* everything since the last clear */
	uint64_t first_start_ns;
	uint64_t nr_coarsened;

	struct weight_sum *sums; /* scratch of profile_each() */
	size_t nr_sums;
};

static inline uint64_t profile_newest_slot(const struct profile *profile)
{
	return profile->oldest_slot + profile->nr_slots - 1;
}

static inline bool cell_is_dormant(const struct profile *profile, const struct cell *cell)
{
	return cell->last_slot < profile->oldest_slot;
}

/* The cell of @key or NO_CELL. */
uint32_t profile_index_find(const struct profile *profile, const struct cell_key *key);
void profile_index_insert(struct profile *profile, uint32_t id);
void profile_index_remove(struct profile *profile, uint32_t id);

/* Put what the cell refers to; its place becomes free. It is not in the index any more. */
void profile_cell_free(struct profile *profile, uint32_t id);

/* Add weight to the cell's entry in the slot of rank @slot; a slot is filled only while
 * it is the newest the cell was seen in. */
void profile_slot_add(struct profile *profile, size_t slot, uint32_t id, uint32_t nr_samples,
		      uint64_t period);

/* Bring cells, dormant cells and chain nodes back below their limits. */
void profile_enforce_limits(struct profile *profile);

/* The same for cells alone, in the middle of a slot. */
void profile_limit_cells(struct profile *profile);

#endif /* SYMTOP_CORE_PROFILE_PRIVATE_H */
