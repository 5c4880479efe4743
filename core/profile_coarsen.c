/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Giving up detail so that the profile stays bounded, without losing weight.
 *
 * A cell's key is made coarser step by step; cells whose keys have become equal
 * merge, and slots are rewritten with the map from old to new cells:
 *
 *   level 1  chain and cpu
 *   level 2  offset: the start of its symbol, or none
 *   level 3  task: all tasks of one comm become one
 *   level 4  comm and dso: one cell per event and kind of code
 *
 * Level 4 makes the bound hard: whatever arrives, there is a coarser form of it.
 *
 * Coldest cells first: least recently active by powers of two, then lightest. The
 * coldest half goes through a level as a whole, and the profile shrinks by a good
 * part at once, because choosing and rewriting cost the same for one cell as for
 * all of them: under churn this runs once in several ticks.
 *
 * Dormant cells have no weight in any slot; only the view "since the start" needs
 * them. They hold tasks and objects of long ago, so they have a limit of their own.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/profile_private.h"
#include "symbols/symbolizer.h"

enum coarse_level { COARSE_CHAIN_CPU = 1, COARSE_OFFSET, COARSE_TASK, COARSE_ALL };

enum pool { POOL_ALL, POOL_DORMANT, POOL_CHAINED };

struct candidate {
	uint64_t warmth;
	uint32_t cell;
};

struct coarsening {
	struct profile *profile;
	uint32_t *map;		      /* old cell -> the cell that has its weight now */
	struct candidate *candidates; /* coldest first */
	size_t nr_candidates;
};

static uint64_t coarse_offset(const struct profile *profile, const struct cell_key *key)
{
	const struct symbol *symbol;

	if (key->offset == PROFILE_NO_OFFSET || !key->dso || (key->flags & CELL_UNRESOLVED))
		return PROFILE_NO_OFFSET;
	if (profile->symbolizer &&
	    symbolizer_lookup(profile->symbolizer, key->dso, key->offset, &symbol) == LOOKUP_FOUND)
		return symbol->start;
	return PROFILE_NO_OFFSET;
}

/* False when the key has no such detail to lose. */
static bool coarser_key(const struct profile *profile, const struct cell_key *key,
			enum coarse_level level, struct cell_key *ret_key)
{
	*ret_key = *key;
	switch (level) {
	case COARSE_CHAIN_CPU:
		ret_key->chain = CHAIN_NONE;
		ret_key->cpu = PROFILE_NO_CPU;
		return key->chain != CHAIN_NONE || key->cpu != PROFILE_NO_CPU;
	case COARSE_OFFSET:
		ret_key->offset = coarse_offset(profile, key);
		return ret_key->offset != key->offset;
	case COARSE_TASK:
		ret_key->task = NULL;
		ret_key->flags |= CELL_EXITED;
		return key->task || !(key->flags & CELL_EXITED);
	case COARSE_ALL:
		ret_key->comm = profile->others;
		ret_key->dso = NULL;
		ret_key->offset = PROFILE_NO_OFFSET;
		ret_key->task = NULL;
		ret_key->chain = CHAIN_NONE;
		ret_key->cpu = PROFILE_NO_CPU;
		ret_key->flags |= CELL_EXITED;
		return key->dso || key->comm != profile->others;
	}
	return false;
}

static void merge_cell(struct coarsening *work, uint32_t from, uint32_t into)
{
	struct profile *profile = work->profile;
	struct cell *source = &profile->cells[from];
	struct cell *target = &profile->cells[into];

	target->total.nr_samples += source->total.nr_samples;
	target->total.period += source->total.period;
	target->last_slot = MAX(target->last_slot, source->last_slot);
	work->map[from] = into;
	profile_cell_free(profile, from);
}

static void rekey_cell(struct profile *profile, uint32_t id, const struct cell_key *key)
{
	struct cell *cell = &profile->cells[id];
	struct cell_key old = cell->key;

	if (key->comm != old.comm)
		str_get(key->comm);
	if (key->offset != old.offset || key->dso != old.dso)
		cell->symbol = (struct cell_symbol){ 0 };
	cell->key = *key;
	profile_index_insert(profile, id);
	if (key->task != old.task)
		task_put(old.task);
	if (key->dso != old.dso)
		dso_put(old.dso);
	if (key->comm != old.comm)
		str_put(old.comm);
}

static void coarsen_cell(struct coarsening *work, uint32_t id, enum coarse_level level)
{
	struct profile *profile = work->profile;
	struct cell *cell = &profile->cells[id];
	struct cell_key key;
	uint32_t into;

	/* A candidate that merged before is free by now. */
	if (!cell->key.comm || !coarser_key(profile, &cell->key, level, &key))
		return;
	profile->nr_coarsened++;
	profile_index_remove(profile, id);
	into = profile_index_find(profile, &key);
	if (into != NO_CELL)
		merge_cell(work, id, into);
	else
		rekey_cell(profile, id, &key);
}

/* ---- which ones ---- */

static uint64_t cell_warmth(const struct profile *profile, const struct cell *cell)
{
	uint64_t age = profile_newest_slot(profile) - cell->last_slot;
	uint64_t log_age = 63 - (uint64_t)__builtin_clzll(age + 1);

	return (63 - log_age) << 56 | MIN(cell->total.period, (UINT64_C(1) << 56) - 1);
}

static bool in_pool(const struct profile *profile, const struct cell *cell, enum pool pool)
{
	if (!cell->key.comm)
		return false;
	if (pool == POOL_DORMANT)
		return cell_is_dormant(profile, cell);
	return pool == POOL_ALL || cell->key.chain != CHAIN_NONE;
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left;
	const struct candidate *b = right;

	if (a->warmth != b->warmth)
		return a->warmth < b->warmth ? -1 : 1;
	return (a->cell > b->cell) - (a->cell < b->cell);
}

static void coarsening_init(struct coarsening *work, struct profile *profile, enum pool pool)
{
	size_t nr = profile->nr_cell_places;

	*work = (struct coarsening){ .profile = profile };
	work->map = mem_calloc(nr, sizeof(*work->map));
	work->candidates = mem_calloc(profile->nr_cells, sizeof(*work->candidates));
	for (size_t i = 0; i < nr; i++) {
		const struct cell *cell = &profile->cells[i];

		work->map[i] = (uint32_t)i;
		if (!in_pool(profile, cell, pool))
			continue;
		work->candidates[work->nr_candidates++] = (struct candidate){
			.warmth = cell_warmth(profile, cell),
			.cell = (uint32_t)i,
		};
	}
	qsort(work->candidates, work->nr_candidates, sizeof(*work->candidates), compare_candidates);
}

/* ---- slots ---- */

static uint32_t map_cell(uint32_t *map, uint32_t id)
{
	uint32_t last = id;

	while (map[last] != last)
		last = map[last];
	map[id] = last;
	return last;
}

/*
 * Rewrite all slots, oldest first: then a cell's last slot and entry are right again
 * when the newest one is done, and serve on the way to find entries that merge.
 */
static void rewrite_slots(struct coarsening *work)
{
	struct profile *profile = work->profile;

	for (size_t i = 0; i < profile->nr_cell_places; i++) {
		struct cell *cell = &profile->cells[i];

		if (!cell_is_dormant(profile, cell))
			cell->last_slot = 0;
	}
	for (size_t i = 0; i < profile->nr_slots; i++) {
		struct slot *slot = &profile->slots[i];
		size_t nr_entries = slot->nr_entries;

		/* In place: what is written never overtakes what is read. */
		slot->nr_entries = 0;
		profile->slot_bytes -= nr_entries * sizeof(struct entry);
		for (size_t k = 0; k < nr_entries; k++) {
			struct entry entry = slot->entries[k];

			profile_slot_add(profile, i, map_cell(work->map, entry.cell),
					 entry.nr_samples, entry.period);
		}
		if (profile->slot_open && i + 1 == profile->nr_slots)
			continue;
		slot->entries = mem_resize(slot->entries, slot->nr_entries, sizeof(*slot->entries));
		slot->nr_entries_allocated = slot->nr_entries;
	}
}

static void coarsening_release(struct coarsening *work)
{
	struct profile *profile = work->profile;

	profile->nr_dormant = 0;
	for (size_t i = 0; i < profile->nr_cell_places; i++) {
		const struct cell *cell = &profile->cells[i];

		if (cell->key.comm && cell_is_dormant(profile, cell))
			profile->nr_dormant++;
	}
	free(work->map);
	free(work->candidates);
}

/* ---- policies ---- */

/* Levels 1 to 3 for the candidates [@from, @to), while more than @max_left cells are left. */
static void coarsen_range(struct coarsening *work, size_t from, size_t to, size_t max_left)
{
	for (enum coarse_level level = COARSE_CHAIN_CPU; level <= COARSE_TASK; level++) {
		if (work->profile->nr_cells <= max_left)
			return;
		for (size_t i = from; i < to; i++)
			coarsen_cell(work, work->candidates[i].cell, level);
	}
}

/*
 * Down to @max_left cells. When that takes level 4, which goes cell by cell, on to
 * @hard_left, for the same reason that half of the cells go at once before it.
 */
static void coarsen_pool(struct profile *profile, enum pool pool, size_t max_left, size_t hard_left)
{
	struct coarsening work;
	size_t nr_cold;

	coarsening_init(&work, profile, pool);
	nr_cold = pool == POOL_ALL ? work.nr_candidates / 2 : work.nr_candidates;
	coarsen_range(&work, 0, nr_cold, max_left);
	coarsen_range(&work, nr_cold, work.nr_candidates, max_left);
	if (profile->nr_cells > max_left) {
		for (size_t i = 0; i < work.nr_candidates && profile->nr_cells > hard_left; i++)
			coarsen_cell(&work, work.candidates[i].cell, COARSE_ALL);
	}
	/* Dormant cells are in no slot. */
	if (pool != POOL_DORMANT)
		rewrite_slots(&work);
	coarsening_release(&work);
}

static void sweep_chains(struct profile *profile)
{
	chain_table_mark_begin(profile->chains);
	for (size_t i = 0; i < profile->nr_cell_places; i++) {
		if (profile->cells[i].key.comm)
			chain_table_mark(profile->chains, profile->cells[i].key.chain);
	}
	chain_table_sweep(profile->chains);
}

static void limit_chains(struct profile *profile)
{
	size_t max_nodes = profile->limits.max_chain_nodes;
	struct coarsening work;

	if (8 * chain_table_nr(profile->chains) <= 7 * max_nodes)
		return;
	sweep_chains(profile);
	if (4 * chain_table_nr(profile->chains) <= 3 * max_nodes)
		return;
	coarsening_init(&work, profile, POOL_CHAINED);
	for (size_t i = 0; i < (work.nr_candidates + 1) / 2; i++)
		coarsen_cell(&work, work.candidates[i].cell, COARSE_CHAIN_CPU);
	rewrite_slots(&work);
	coarsening_release(&work);
	sweep_chains(profile);
}

static void limit_dormant(struct profile *profile)
{
	size_t max_dormant = profile->limits.max_cells / 8;
	size_t nr_active = profile->nr_cells - profile->nr_dormant;

	if (profile->nr_dormant > max_dormant)
		coarsen_pool(profile, POOL_DORMANT, nr_active + max_dormant / 2,
			     nr_active + max_dormant / 4);
}

void profile_limit_cells(struct profile *profile)
{
	size_t max_cells = profile->limits.max_cells;

	if (profile->nr_cells > max_cells)
		coarsen_pool(profile, POOL_ALL, 3 * max_cells / 4, max_cells / 2);
}

void profile_enforce_limits(struct profile *profile)
{
	limit_dormant(profile);
	profile_limit_cells(profile);
	limit_chains(profile);
}
