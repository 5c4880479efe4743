/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells live in one array and are found by a chained hash over their key; a slot is
 * an array of (cell, weight), 16 bytes each. Adding is one look-up and one store: a
 * cell remembers its entry in the newest slot, so several readers that saw the same
 * cell in one tick add to one entry. A window sums the entries of its slots into a
 * dense array by cell and walks that once: no hashing, memory in order.
 *
 * Totals are kept per cell and not made of the slots, because slots are dropped
 * when they are too many and the view "since the start" must not lose them.
 *
 * WINDOW_DECAY weighs a slot by (7/8)^((newest end - its end) / refresh). By time and
 * not by number of slots: early slots are short, and an adapted refresh makes long
 * ones. Slots that weigh less than 1/1024 are left out.
 *
 * WINDOW_TIME takes the slots of which at least half lies in the window: ticks
 * jitter, and a slot more or less at each frame would make all shares jump.
 *
 * A window that ends in the past ends with a slot. "Since the start" is then the totals
 * less the slots after it, so that it still has what lay in slots that were dropped.
 *
 * Giving up detail is in profile_coarsen.c.
 */
#include "config.h"

#include "core/profile.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/profile_private.h"

#define DEFAULT_MAX_CELLS ((size_t)1 << 17)
#define DEFAULT_MAX_SLOTS ((size_t)1024)
#define DEFAULT_MAX_SLOT_BYTES ((size_t)12 << 20)
#define DEFAULT_MAX_CHAIN_NODES ((size_t)1 << 20)
#define MIN_BUCKETS 1024
#define MIN_DECAY (1.0 / 1024)

struct weight_sum {
	double nr_samples;
	double period;
};

/* ---- cells ---- */

static size_t key_bucket(const struct profile *profile, const struct cell_key *key)
{
	uint64_t rest = (uint64_t)key->chain << 32 | (uint64_t)key->cpu << 16 | key->event;
	uint64_t hash = hash_combine((uintptr_t)key->task ^ key->flags, key->offset);

	hash = hash_combine(hash ^ (uintptr_t)key->comm, (uintptr_t)key->dso);
	return hash_combine(hash, rest) & (profile->nr_buckets - 1);
}

static bool key_equal(const struct cell_key *a, const struct cell_key *b)
{
	return a->offset == b->offset && a->task == b->task && a->dso == b->dso &&
	       a->chain == b->chain && a->cpu == b->cpu && a->event == b->event &&
	       a->flags == b->flags && a->comm == b->comm;
}

uint32_t profile_index_find(const struct profile *profile, const struct cell_key *key)
{
	uint32_t id = profile->buckets[key_bucket(profile, key)];

	while (id != NO_CELL && !key_equal(&profile->cells[id].key, key))
		id = profile->cells[id].next;
	return id;
}

void profile_index_insert(struct profile *profile, uint32_t id)
{
	uint32_t *bucket = &profile->buckets[key_bucket(profile, &profile->cells[id].key)];

	profile->cells[id].next = *bucket;
	*bucket = id;
}

void profile_index_remove(struct profile *profile, uint32_t id)
{
	uint32_t *link = &profile->buckets[key_bucket(profile, &profile->cells[id].key)];

	while (*link != id)
		link = &profile->cells[*link].next;
	*link = profile->cells[id].next;
}

static void index_resize(struct profile *profile, size_t nr_buckets)
{
	free(profile->buckets);
	profile->buckets = mem_calloc(nr_buckets, sizeof(*profile->buckets));
	memset(profile->buckets, 0xff, nr_buckets * sizeof(*profile->buckets));
	profile->nr_buckets = nr_buckets;
	for (size_t i = 0; i < profile->nr_cell_places; i++) {
		if (profile->cells[i].key.comm)
			profile_index_insert(profile, (uint32_t)i);
	}
}

static uint32_t cell_alloc(struct profile *profile)
{
	uint32_t id = profile->first_free;

	if (id != NO_CELL) {
		profile->first_free = profile->cells[id].next;
		return id;
	}
	mem_grow(profile->cells, profile->nr_cell_places, profile->nr_cells_allocated);
	return (uint32_t)profile->nr_cell_places++;
}

static uint32_t cell_add(struct profile *profile, const struct cell_key *key)
{
	uint32_t id = cell_alloc(profile);
	struct cell *cell = &profile->cells[id];

	*cell = (struct cell){ .key = *key };
	if (key->task)
		task_get(key->task);
	if (key->dso)
		dso_get(key->dso);
	str_get(key->comm);
	profile_index_insert(profile, id);
	profile->nr_cells++;
	profile->nr_dormant++; /* until its first entry */
	if (profile->nr_cells > profile->nr_buckets)
		index_resize(profile, 2 * profile->nr_buckets);
	return id;
}

void profile_cell_free(struct profile *profile, uint32_t id)
{
	struct cell *cell = &profile->cells[id];

	task_put(cell->key.task);
	dso_put(cell->key.dso);
	str_put(cell->key.comm);
	*cell = (struct cell){ .next = profile->first_free };
	profile->first_free = id;
	profile->nr_cells--;
}

/* ---- life ---- */

struct profile *profile_new(const struct profile_limits *limits, struct symbolizer *symbolizer)
{
	struct profile *profile = mem_zalloc(sizeof(*profile));
	struct profile_limits *mine = &profile->limits;

	if (limits)
		*mine = *limits;
	if (!mine->max_cells)
		mine->max_cells = DEFAULT_MAX_CELLS;
	if (!mine->max_slots)
		mine->max_slots = DEFAULT_MAX_SLOTS;
	if (!mine->max_slot_bytes)
		mine->max_slot_bytes = DEFAULT_MAX_SLOT_BYTES;
	if (!mine->max_chain_nodes)
		mine->max_chain_nodes = DEFAULT_MAX_CHAIN_NODES;
	profile->symbolizer = symbolizer;
	profile->chains = chain_table_new(mine->max_chain_nodes);
	profile->others = str_from("[other]");
	profile->first_free = NO_CELL;
	profile->oldest_slot = 1;
	index_resize(profile, MIN_BUCKETS);
	return profile;
}

static void free_slots(struct profile *profile, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		profile->slot_bytes -= profile->slots[i].nr_entries * sizeof(struct entry);
		free(profile->slots[i].entries);
	}
	profile->nr_slots -= nr;
	profile->oldest_slot += nr;
	memmove(profile->slots, profile->slots + nr, profile->nr_slots * sizeof(*profile->slots));
}

static void free_cells(struct profile *profile)
{
	for (size_t i = 0; i < profile->nr_cell_places; i++) {
		if (profile->cells[i].key.comm)
			profile_cell_free(profile, (uint32_t)i);
	}
	free(profile->cells);
	profile->cells = NULL;
	profile->nr_cell_places = 0;
	profile->nr_cells_allocated = 0;
	profile->nr_dormant = 0;
	profile->first_free = NO_CELL;
}

void profile_clear(struct profile *profile)
{
	uint64_t now_ns = profile->nr_slots ? profile->slots[profile->nr_slots - 1].end_ns : 0;
	bool was_open = profile->slot_open;

	if (profile->nr_slots)
		free_slots(profile, profile->nr_slots);
	profile->slot_open = false;
	free_cells(profile);
	index_resize(profile, MIN_BUCKETS);
	chain_table_mark_begin(profile->chains);
	chain_table_sweep(profile->chains);
	free(profile->sums);
	profile->sums = NULL;
	profile->nr_sums = 0;
	profile->added = (struct weight){ 0 };
	profile->first_start_ns = 0;
	profile->nr_slots_dropped = 0;
	profile->nr_coarsened = 0;
	if (was_open)
		profile_slot_begin(profile, now_ns, now_ns);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	profile->slot_open = false;
	profile_clear(profile);
	chain_table_free(profile->chains);
	str_put(profile->others);
	free(profile->buckets);
	free(profile->slots);
	free(profile);
}

struct chain_table *profile_chains(struct profile *profile)
{
	return profile->chains;
}

/* ---- writing ---- */

void profile_slot_begin(struct profile *profile, uint64_t start_ns, uint64_t end_ns)
{
	assert(!profile->slot_open);
	mem_grow(profile->slots, profile->nr_slots, profile->nr_slots_allocated);
	profile->slots[profile->nr_slots++] =
		(struct slot){ .start_ns = start_ns, .end_ns = MAX(start_ns, end_ns) };
	profile->slot_open = true;
	if (!profile->first_start_ns)
		profile->first_start_ns = start_ns;
}

void profile_slot_extend(struct profile *profile, uint64_t end_ns)
{
	struct slot *slot = &profile->slots[profile->nr_slots - 1];

	assert(profile->slot_open);
	slot->end_ns = MAX(slot->end_ns, end_ns);
}

void profile_slot_add(struct profile *profile, size_t slot_rank, uint32_t id, uint32_t nr_samples,
		      uint64_t period)
{
	struct slot *slot = &profile->slots[slot_rank];
	uint64_t sequence = profile->oldest_slot + slot_rank;
	struct cell *cell = &profile->cells[id];

	if (cell->last_slot == sequence) {
		struct entry *entry = &slot->entries[cell->last_entry];

		if (nr_samples <= UINT32_MAX - entry->nr_samples) {
			entry->nr_samples += nr_samples;
			entry->period += period;
			return;
		}
		/* Four thousand million in one tick: a second entry sums up as well. */
	}
	mem_grow(slot->entries, slot->nr_entries, slot->nr_entries_allocated);
	slot->entries[slot->nr_entries] =
		(struct entry){ .cell = id, .nr_samples = nr_samples, .period = period };
	cell->last_slot = sequence;
	cell->last_entry = (uint32_t)slot->nr_entries++;
	profile->slot_bytes += sizeof(struct entry);
}

void profile_add(struct profile *profile, const struct cell_key *key, uint64_t nr_samples,
		 uint64_t period)
{
	uint32_t nr = (uint32_t)MIN(nr_samples, (uint64_t)UINT32_MAX);
	struct cell *cell;
	uint32_t id;

	assert(profile->slot_open && key->comm);
	id = profile_index_find(profile, key);
	if (id == NO_CELL) {
		/* One tick of a flood must not outgrow memory before slot_end comes. */
		if (profile->nr_cells >= 2 * profile->limits.max_cells)
			profile_limit_cells(profile);
		id = cell_add(profile, key);
	}
	cell = &profile->cells[id];
	if (cell_is_dormant(profile, cell))
		profile->nr_dormant--;
	cell->total.nr_samples += nr;
	cell->total.period += period;
	profile->added.nr_samples += nr;
	profile->added.period += period;
	profile_slot_add(profile, profile->nr_slots - 1, id, nr, period);
}

/* How many of the oldest slots must go; the newest stays always. */
static size_t nr_surplus_slots(const struct profile *profile)
{
	size_t bytes = profile->slot_bytes;
	size_t nr = 0;

	while (nr + 1 < profile->nr_slots && (profile->nr_slots - nr > profile->limits.max_slots ||
					      bytes > profile->limits.max_slot_bytes)) {
		bytes -= profile->slots[nr].nr_entries * sizeof(struct entry);
		nr++;
	}
	return nr;
}

static void drop_slots(struct profile *profile, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct slot *slot = &profile->slots[i];

		for (size_t k = 0; k < slot->nr_entries; k++) {
			const struct cell *cell = &profile->cells[slot->entries[k].cell];

			if (cell->last_slot == profile->oldest_slot + i && cell->last_entry == k)
				profile->nr_dormant++;
		}
	}
	free_slots(profile, nr);
	profile->nr_slots_dropped += nr;
}

void profile_slot_end(struct profile *profile)
{
	struct slot *slot = &profile->slots[profile->nr_slots - 1];
	size_t nr_surplus;

	assert(profile->slot_open);
	profile->slot_open = false;
	slot->entries = mem_resize(slot->entries, slot->nr_entries, sizeof(*slot->entries));
	slot->nr_entries_allocated = slot->nr_entries;
	nr_surplus = nr_surplus_slots(profile);
	if (nr_surplus)
		drop_slots(profile, nr_surplus);
	profile_enforce_limits(profile);
}

/* ---- reading ---- */

/* Of a slot in a window that ends with the slot @newest. */
static double slot_weight(const struct window *window, const struct slot *newest,
			  const struct slot *slot)
{
	uint64_t middle_ns = slot->start_ns + (slot->end_ns - slot->start_ns) / 2;
	uint64_t age_ns = newest->end_ns > slot->end_ns ? newest->end_ns - slot->end_ns : 0;
	double weight;

	switch (window->kind) {
	case WINDOW_TIME:
		return middle_ns >= newest->end_ns ||
		       newest->end_ns - middle_ns <= window->length_ns;
	case WINDOW_DECAY:
		weight = pow(7.0 / 8, (double)age_ns / (double)MAX(window->refresh_ns, 1U));
		return weight < MIN_DECAY ? 0 : weight;
	case WINDOW_TICK:
	case WINDOW_ALL:
		break;
	}
	return 0;
}

static void sums_reset(struct profile *profile)
{
	if (profile->nr_sums < profile->nr_cell_places) {
		free(profile->sums);
		profile->nr_sums = profile->nr_cells_allocated;
		profile->sums = mem_calloc(profile->nr_sums, sizeof(*profile->sums));
		return;
	}
	if (profile->nr_cell_places)
		memset(profile->sums, 0, profile->nr_cell_places * sizeof(*profile->sums));
}

static void sum_slot(struct profile *profile, const struct slot *slot, double weight)
{
	for (size_t i = 0; i < slot->nr_entries; i++) {
		const struct entry *entry = &slot->entries[i];
		struct weight_sum *sum = &profile->sums[entry->cell];

		sum->nr_samples += weight * entry->nr_samples;
		sum->period += weight * (double)entry->period;
	}
}

/* All that was ever added, but for the slots after @newest. */
static void sum_totals(struct profile *profile, size_t newest)
{
	for (size_t i = 0; i < profile->nr_cell_places; i++) {
		const struct weight *total = &profile->cells[i].total;

		profile->sums[i] = (struct weight_sum){
			.nr_samples = (double)total->nr_samples,
			.period = (double)total->period,
		};
	}
	for (size_t i = newest + 1; i < profile->nr_slots; i++)
		sum_slot(profile, &profile->slots[i], -1);
	for (size_t i = 0; i < profile->nr_cell_places; i++) {
		/* Numbers of samples are exact; large periods may miss zero by a hair. */
		if (!(profile->sums[i].nr_samples > 0))
			profile->sums[i].period = 0;
	}
}

/* The rank of the last slot of @window; nr_slots: there is none. */
static size_t last_slot(const struct profile *profile, const struct window *window)
{
	size_t nr = profile->nr_slots;

	if (!window->end_ns) {
		/* A tick that has just begun would show next to nothing. */
		if (window->kind == WINDOW_TICK && profile->slot_open && nr > 1)
			nr--;
		return nr ? nr - 1 : 0;
	}
	nr = profile_nr_closed_slots(profile);
	while (nr && profile->slots[nr - 1].end_ns > window->end_ns)
		nr--;
	return nr ? nr - 1 : profile->nr_slots;
}

/* Fills the sums up to the slot @newest and says which time they cover. */
static void sum_window(struct profile *profile, const struct window *window, size_t newest,
		       uint64_t *ret_start_ns, uint64_t *ret_end_ns)
{
	const struct slot *last = &profile->slots[newest];

	sums_reset(profile);
	*ret_end_ns = last->end_ns;
	if (window->kind == WINDOW_ALL) {
		sum_totals(profile, newest);
		*ret_start_ns = profile->first_start_ns;
		return;
	}
	sum_slot(profile, last, 1);
	*ret_start_ns = last->start_ns;
	for (size_t i = newest; i--;) {
		double weight = slot_weight(window, last, &profile->slots[i]);

		if (!(weight > 0))
			break;
		sum_slot(profile, &profile->slots[i], weight);
		*ret_start_ns = profile->slots[i].start_ns;
	}
}

void profile_each(struct profile *profile, const struct window *window,
		  void (*each)(void *arg, const struct cell_view *cell), void *arg,
		  uint64_t *ret_start_ns, uint64_t *ret_end_ns)
{
	size_t newest = last_slot(profile, window);

	*ret_start_ns = 0;
	*ret_end_ns = 0;
	if (newest >= profile->nr_slots)
		return;
	sum_window(profile, window, newest, ret_start_ns, ret_end_ns);
	for (size_t i = 0; i < profile->nr_cell_places; i++) {
		const struct weight_sum *sum = &profile->sums[i];
		struct cell *cell = &profile->cells[i];
		struct cell_view view;

		if (!(sum->nr_samples > 0) && !(sum->period > 0))
			continue;
		view.key = cell->key;
		view.nr_samples = sum->nr_samples;
		view.period = sum->period;
		view.symbol = &cell->symbol;
		each(arg, &view);
	}
}

uint64_t profile_oldest_ns(const struct profile *profile)
{
	return profile->nr_slots ? profile->slots[0].start_ns : 0;
}

size_t profile_nr_closed_slots(const struct profile *profile)
{
	return profile->nr_slots - (profile->slot_open ? 1 : 0);
}

uint64_t profile_closed_slot_end_ns(const struct profile *profile, size_t rank)
{
	assert(rank < profile->nr_slots);
	return profile->slots[rank].end_ns;
}

void profile_get_stats(const struct profile *profile, struct profile_stats *ret_stats)
{
	*ret_stats = (struct profile_stats){
		.nr_cells = profile->nr_cells,
		.nr_coarsened = profile->nr_coarsened,
		.nr_slots = profile->nr_slots,
		.nr_slots_dropped = profile->nr_slots_dropped,
		.slot_bytes = profile->slot_bytes,
		.nr_chain_nodes = chain_table_nr(profile->chains),
		.nr_chains_refused = chain_table_nr_refused(profile->chains),
	};
}

/* ---- invariants ---- */

static void check_slots(const struct profile *profile, struct weight *seen)
{
	size_t bytes = 0;

	for (size_t i = 0; i < profile->nr_slots; i++) {
		const struct slot *slot = &profile->slots[i];

		bytes += slot->nr_entries * sizeof(struct entry);
		for (size_t k = 0; k < slot->nr_entries; k++) {
			const struct entry *entry = &slot->entries[k];

			assert(entry->cell < profile->nr_cell_places);
			assert(profile->cells[entry->cell].last_slot >= profile->oldest_slot + i);
			seen[entry->cell].nr_samples += entry->nr_samples;
			seen[entry->cell].period += entry->period;
		}
	}
	assert(bytes == profile->slot_bytes);
	(void)bytes;
}

void profile_check_invariants(const struct profile *profile)
{
	struct weight *seen = mem_calloc(profile->nr_cell_places, sizeof(*seen));
	struct weight total = { 0 };
	size_t nr_dormant = 0;
	size_t nr_cells = 0;

	check_slots(profile, seen);
	for (size_t i = 0; i < profile->nr_cell_places; i++) {
		const struct cell *cell = &profile->cells[i];

		if (!cell->key.comm) {
			assert(!seen[i].nr_samples && !seen[i].period);
			continue;
		}
		nr_cells++;
		nr_dormant += cell_is_dormant(profile, cell);
		total.nr_samples += cell->total.nr_samples;
		total.period += cell->total.period;
		assert(profile_index_find(profile, &cell->key) == i);
		assert(seen[i].nr_samples <= cell->total.nr_samples);
		assert(seen[i].period <= cell->total.period);
		if (cell->key.chain != CHAIN_NONE)
			(void)chain_table_node(profile->chains, cell->key.chain);
	}
	assert(nr_cells == profile->nr_cells && nr_dormant == profile->nr_dormant);
	assert(total.nr_samples == profile->added.nr_samples);
	assert(total.period == profile->added.period);
	free(seen);
	chain_table_check_invariants(profile->chains);
	(void)nr_cells;
	(void)nr_dormant;
}
