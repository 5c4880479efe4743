/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing, at most half full. A look-up may run while an id is added: the
 * index of a slot is written before its id (release), so who sees the id sees the
 * index. A table that is full is copied into one of twice the size, which is then
 * published; the old one is kept until event_ids_clear(), because someone may be
 * walking it. All old ones together are smaller than the current one.
 */
#include "config.h"

#include "core/event_ids.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/base/mem.h"

#define MIN_SLOTS 64

struct slot {
	_Atomic uint64_t id; /* 0: free. Release after index */
	int index;
};

struct event_id_table {
	struct event_id_table *older;
	size_t nr_slots; /* a power of two */
	size_t nr_used;
	struct slot slots[];
};

static struct event_id_table *table_new(size_t nr_slots, struct event_id_table *older)
{
	struct event_id_table *table;

	table = mem_zalloc(sizeof(*table) + nr_slots * sizeof(table->slots[0]));
	table->nr_slots = nr_slots;
	table->older = older;
	return table;
}

/* The slot that has @id, or the free one where it belongs. */
static struct slot *table_slot(struct event_id_table *table, uint64_t id)
{
	size_t i = hash_u64(id) & (table->nr_slots - 1);

	for (;;) {
		uint64_t found = atomic_load_explicit(&table->slots[i].id, memory_order_acquire);

		if (found == id || found == 0)
			return &table->slots[i];
		i = (i + 1) & (table->nr_slots - 1);
	}
}

static void table_add(struct event_id_table *table, uint64_t id, int index)
{
	struct slot *slot = table_slot(table, id);

	if (atomic_load_explicit(&slot->id, memory_order_relaxed) == id)
		return;
	slot->index = index;
	atomic_store_explicit(&slot->id, id, memory_order_release);
	table->nr_used++;
}

static struct event_id_table *table_double(struct event_id_table *old)
{
	struct event_id_table *table = table_new(2 * old->nr_slots, old);

	for (size_t i = 0; i < old->nr_slots; i++) {
		uint64_t id = atomic_load_explicit(&old->slots[i].id, memory_order_relaxed);

		if (id)
			table_add(table, id, old->slots[i].index);
	}
	return table;
}

void event_ids_add(struct event_ids *ids, uint64_t id, int index)
{
	struct event_id_table *table = atomic_load_explicit(&ids->table, memory_order_relaxed);

	if (id == 0)
		return;
	if (!table)
		table = table_new(MIN_SLOTS, NULL);
	else if (2 * (table->nr_used + 1) > table->nr_slots)
		table = table_double(table);
	table_add(table, id, index);
	/* Release: a table is seen with what is in it. */
	atomic_store_explicit(&ids->table, table, memory_order_release);
}

int event_ids_find(const struct event_ids *ids, uint64_t id)
{
	struct event_id_table *table = atomic_load_explicit(&ids->table, memory_order_acquire);
	struct slot *slot;

	if (!table || id == 0)
		return -1;
	slot = table_slot(table, id);
	/* A free slot may be taken since: then its id is another one. */
	return atomic_load_explicit(&slot->id, memory_order_acquire) == id ? slot->index : -1;
}

void event_ids_clear(struct event_ids *ids)
{
	struct event_id_table *table = atomic_exchange(&ids->table, NULL);

	while (table) {
		struct event_id_table *older = table->older;

		free(table);
		table = older;
	}
}
