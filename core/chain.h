/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains as shared nodes: a chain is its outermost frame's node, a child of
 * that for the next, ... to the innermost; equal beginnings are stored once.
 *
 * Single-threaded: owned by the collector. Bounded: past the limit
 * chain_table_add() answers CHAIN_NONE for new chains and counts it, until a sweep
 * freed nodes.
 */
#ifndef SYMTOP_CORE_CHAIN_H
#define SYMTOP_CORE_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "core/address_space.h"
#include "core/base/compiler.h"
#include "symbols/dso.h"

#define CHAIN_NONE UINT32_MAX

struct chain_node {
	uint32_t parent; /* the caller's node; CHAIN_NONE: outermost */
	uint32_t depth;	 /* frames up to and including this one */
	struct dso *dso; /* a reference of the table's */
	uint64_t offset; /* look symbols of callers up at this - 1 (it is a return address) */
};

struct chain_table;

struct chain_table *chain_table_new(size_t max_nodes);
void chain_table_free(struct chain_table *table); /* NULL is fine */

/*
 * The node of a chain whose frames are given innermost first; without the sampled
 * ip itself (callers only). nr 0 gives CHAIN_NONE. Takes its own references. Frames
 * of a DSO_UNKNOWN lose their offset, and several in a row become one.
 */
uint32_t chain_table_add(struct chain_table *table, const struct location *frames, size_t nr);

/* Borrowed until the next add or sweep. */
const struct chain_node *chain_table_node(const struct chain_table *table, uint32_t node);

/* Mark and sweep: mark every node that is in use (and so its callers), then sweep the rest. */
void chain_table_mark_begin(struct chain_table *table);
void chain_table_mark(struct chain_table *table, uint32_t node);
void chain_table_sweep(struct chain_table *table);

size_t chain_table_nr(const struct chain_table *table);
uint64_t chain_table_nr_refused(const struct chain_table *table);

void chain_table_check_invariants(const struct chain_table *table);

#endif /* SYMTOP_CORE_CHAIN_H */
