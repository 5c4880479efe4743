/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes in one array, found by an open-addressing index over (parent, dso, offset);
 * a node is named by its place in the array. Nothing is deleted one by one: a sweep
 * puts all unmarked nodes on a free list and builds the index again, which is why
 * the index needs no tombstones.
 *
 * Addresses that no map covers carry no information beyond "unknown": they are kept
 * as offset 0 and runs of them as one node. A stack walked without frame pointers
 * is full of such addresses, each another one every time; stored as they came they
 * would fill the table with chains that were seen once.
 */
#include "config.h"

#include "core/chain.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"

#define MIN_INDEX 1024

struct chain_table {
	size_t max_nodes;
	struct chain_node *nodes; /* depth 0: free, then parent is the next free one */
	size_t nr_nodes;	  /* places in use or free */
	size_t nr_nodes_allocated;
	size_t nr_used;
	uint32_t first_free; /* CHAIN_NONE: none */
	uint32_t *index;     /* CHAIN_NONE: free place */
	size_t nr_places;    /* a power of two */
	uint64_t *marks;     /* one bit a node, from mark_begin to sweep */
	uint64_t nr_refused;
};

static uint64_t node_hash(uint32_t parent, const struct dso *dso, uint64_t offset)
{
	return hash_combine(hash_combine(parent, (uintptr_t)dso), offset);
}

static void index_reset(struct chain_table *table, size_t nr_places)
{
	free(table->index);
	table->nr_places = nr_places;
	table->index = mem_calloc(nr_places, sizeof(*table->index));
	memset(table->index, 0xff, nr_places * sizeof(*table->index));
}

/* The place of the node with these values, or the free place where it belongs. */
static uint32_t *index_find(const struct chain_table *table, uint32_t parent, const struct dso *dso,
			    uint64_t offset)
{
	size_t place = node_hash(parent, dso, offset) & (table->nr_places - 1);

	while (table->index[place] != CHAIN_NONE) {
		const struct chain_node *node = &table->nodes[table->index[place]];

		if (node->parent == parent && node->dso == dso && node->offset == offset)
			break;
		place = (place + 1) & (table->nr_places - 1);
	}
	return &table->index[place];
}

static void index_rebuild(struct chain_table *table, size_t nr_places)
{
	index_reset(table, nr_places);
	for (size_t i = 0; i < table->nr_nodes; i++) {
		const struct chain_node *node = &table->nodes[i];

		if (node->depth)
			*index_find(table, node->parent, node->dso, node->offset) = (uint32_t)i;
	}
}

struct chain_table *chain_table_new(size_t max_nodes)
{
	struct chain_table *table = mem_zalloc(sizeof(*table));

	table->max_nodes = MIN(max_nodes, (size_t)CHAIN_NONE - 1);
	table->first_free = CHAIN_NONE;
	index_reset(table, MIN_INDEX);
	return table;
}

void chain_table_free(struct chain_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->nr_nodes; i++) {
		if (table->nodes[i].depth)
			dso_put(table->nodes[i].dso);
	}
	free(table->nodes);
	free(table->index);
	free(table->marks);
	free(table);
}

static uint32_t node_alloc(struct chain_table *table)
{
	uint32_t id = table->first_free;

	if (id != CHAIN_NONE) {
		table->first_free = table->nodes[id].parent;
		return id;
	}
	mem_grow(table->nodes, table->nr_nodes, table->nr_nodes_allocated);
	return (uint32_t)table->nr_nodes++;
}

static uint32_t find_or_add(struct chain_table *table, uint32_t parent, struct dso *dso,
			    uint64_t offset)
{
	uint32_t *place = index_find(table, parent, dso, offset);
	uint32_t id = *place;

	if (id != CHAIN_NONE)
		return id;
	if (table->nr_used >= table->max_nodes) {
		table->nr_refused++;
		return CHAIN_NONE;
	}
	id = node_alloc(table);
	table->nodes[id] = (struct chain_node){
		.parent = parent,
		.depth = parent == CHAIN_NONE ? 1 : table->nodes[parent].depth + 1,
		.dso = dso_get(dso),
		.offset = offset,
	};
	*place = id;
	table->nr_used++;
	if (4 * table->nr_used >= 3 * table->nr_places)
		index_rebuild(table, 2 * table->nr_places);
	return id;
}

uint32_t chain_table_add(struct chain_table *table, const struct location *frames, size_t nr)
{
	bool was_unknown = false;
	uint32_t id = CHAIN_NONE;

	while (nr--) {
		const struct location *frame = &frames[nr];
		bool is_unknown = dso_kind(frame->dso) == DSO_UNKNOWN;

		if (is_unknown && was_unknown)
			continue;
		was_unknown = is_unknown;
		id = find_or_add(table, id, frame->dso, is_unknown ? 0 : frame->offset);
		/* Half a chain would be a wrong chain. */
		if (id == CHAIN_NONE)
			return CHAIN_NONE;
	}
	return id;
}

const struct chain_node *chain_table_node(const struct chain_table *table, uint32_t node)
{
	assert(node < table->nr_nodes && table->nodes[node].depth);
	return &table->nodes[node];
}

void chain_table_mark_begin(struct chain_table *table)
{
	free(table->marks);
	table->marks = mem_calloc(table->nr_nodes / 64 + 1, sizeof(*table->marks));
}

void chain_table_mark(struct chain_table *table, uint32_t node)
{
	/* A marked node's callers are marked already. */
	while (node != CHAIN_NONE && !(table->marks[node / 64] >> (node % 64) & 1)) {
		table->marks[node / 64] |= UINT64_C(1) << (node % 64);
		node = table->nodes[node].parent;
	}
}

void chain_table_sweep(struct chain_table *table)
{
	for (size_t i = 0; i < table->nr_nodes; i++) {
		struct chain_node *node = &table->nodes[i];

		if (!node->depth || (table->marks[i / 64] >> (i % 64) & 1))
			continue;
		dso_put(node->dso);
		*node = (struct chain_node){ .parent = table->first_free };
		table->first_free = (uint32_t)i;
		table->nr_used--;
	}
	free(table->marks);
	table->marks = NULL;
	index_rebuild(table, table->nr_places);
}

size_t chain_table_nr(const struct chain_table *table)
{
	return table->nr_used;
}

uint64_t chain_table_nr_refused(const struct chain_table *table)
{
	return table->nr_refused;
}

void chain_table_check_invariants(const struct chain_table *table)
{
	size_t nr_used = 0;
	size_t nr_free = 0;

	for (size_t i = 0; i < table->nr_nodes; i++) {
		const struct chain_node *node = &table->nodes[i];

		if (!node->depth)
			continue;
		nr_used++;
		assert(node->dso);
		assert(*index_find(table, node->parent, node->dso, node->offset) == i);
		if (node->parent == CHAIN_NONE)
			assert(node->depth == 1);
		else
			assert(node->depth == chain_table_node(table, node->parent)->depth + 1);
	}
	for (uint32_t id = table->first_free; id != CHAIN_NONE; id = table->nodes[id].parent) {
		assert(!table->nodes[id].depth);
		nr_free++;
	}
	assert(nr_used == table->nr_used && nr_used <= table->max_nodes);
	assert(nr_used + nr_free == table->nr_nodes);
	(void)nr_used;
	(void)nr_free;
}
