/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places in code by what they are called.
 *
 * A frame is what a person can tell apart: object, symbol, level. Symbols are found
 * per cell or chain node by address; the pointers that the look-up gives lead, by a
 * memo, to a frame that is interned by content. So the same library at two inodes
 * (a container, an upgrade, a copy at the same path) is one frame, and a name of a
 * thousand bytes is hashed once and not for each cell.
 *
 * Each frame knows the frame that stands for it in a row of the wanted sort keys:
 * without the symbol, without the dso, or without the offset where thousands of
 * addresses without a name must not become thousands of rows.
 *
 * Callers are looked up at their offset - 1: a return address may be the first
 * byte of the next function. Nothing of this outlives the run: dsos and chain nodes
 * may be gone at the next.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/query_private.h"

/* ---- index ---- */

static void index_place(struct index *index, uint32_t tag, uint32_t id)
{
	size_t at = tag & (index->nr_places - 1);

	while (index->places[at].id != NO_ID)
		at = (at + 1) & (index->nr_places - 1);
	index->places[at] = (struct index_place){ .tag = tag, .id = id };
}

static void index_grow(struct index *index)
{
	struct index old = *index;

	index->nr_places = old.nr_places ? 2 * old.nr_places : 256;
	index->places = mem_calloc(index->nr_places, sizeof(*index->places));
	for (size_t i = 0; i < index->nr_places; i++)
		index->places[i].id = NO_ID;
	for (size_t i = 0; i < old.nr_places; i++) {
		if (old.places[i].id != NO_ID)
			index_place(index, old.places[i].tag, old.places[i].id);
	}
	free(old.places);
}

void index_insert(struct index *index, uint64_t hash, uint32_t id)
{
	if (2 * index->nr >= index->nr_places)
		index_grow(index);
	index_place(index, (uint32_t)(hash >> 32), id);
	index->nr++;
}

void index_release(struct index *index)
{
	free(index->places);
	*index = (struct index){ 0 };
}

/* ---- frames ---- */

static uint64_t text_hash(uint64_t hash, const char *text)
{
	return hash_combine(hash, text ? hash_bytes(text, strlen(text)) : 0);
}

static uint64_t frame_hash(const struct frame *frame)
{
	uint64_t hash = frame->kind | (uint64_t)frame->level << 8;

	hash = hash_combine(hash, frame->dso_name ? frame->dso_name->hash : 0);
	hash = hash_combine(hash, frame->dso_path ? frame->dso_path->hash : 0);
	hash = text_hash(hash, frame->object);
	hash = text_hash(hash, frame->symbol);
	return hash_combine(hash, frame->offset);
}

static bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool frame_equal(const struct frame *a, const struct frame *b)
{
	return a->hash == b->hash && a->kind == b->kind && a->level == b->level &&
	       a->offset == b->offset && a->dso_name == b->dso_name && a->dso_path == b->dso_path &&
	       text_equal(a->object, b->object) && text_equal(a->symbol, b->symbol);
}

static bool is_listed(const struct query *query, const struct frame *frame)
{
	if (query->dsos.nr && !name_list_has(&query->dsos, frame_dso_text(frame)) &&
	    !(frame->dso_path && name_list_has(&query->dsos, frame->dso_path->text)))
		return false;
	if (!query->symbols.nr)
		return true;
	if (frame->kind == FRAME_NAMED)
		return name_list_has(&query->symbols, frame->symbol) ||
		       name_list_has(&query->symbols, frame->raw);
	if (frame->kind == FRAME_PENDING)
		return false;
	return name_list_has(&query->symbols, frame_symbol_text(frame, (char[32]){ 0 }));
}

/* What is left of it for a row of the sort keys. */
static struct frame row_frame(const struct query *query, const struct frame *frame)
{
	bool symbol = query->uses[SORT_SYMBOL];
	bool dso = query->uses[SORT_DSO];
	struct frame row = *frame;

	if (!symbol) {
		row.symbol = NULL;
		row.raw = NULL;
		row.offset = 0;
		if (row.kind != FRAME_UNKNOWN && row.kind != FRAME_OTHER)
			row.kind = FRAME_NOTHING;
	}
	if (row.kind == FRAME_UNNAMED)
		row.offset = 0;
	/* An offset without its object means nothing, so that keeps it. */
	if (!dso && row.kind != FRAME_PENDING) {
		row.dso_name = NULL;
		row.dso_path = NULL;
		row.object = NULL;
	}
	if (!symbol && !dso)
		row = (struct frame){ .kind = FRAME_NOTHING };
	row.hash = frame_hash(&row);
	return row;
}

static uint32_t frame_find(const struct query *query, const struct frame *frame)
{
	uint32_t cursor = (uint32_t)(frame->hash >> 32);
	uint32_t id;

	do {
		id = index_probe(&query->frame_index, frame->hash, &cursor);
	} while (id != NO_ID && !frame_equal(&query->frames[id], frame));
	return id;
}

static uint32_t frame_add(struct query *query, const struct frame *frame)
{
	uint32_t id = (uint32_t)query->nr_frames;

	mem_grow(query->frames, query->nr_frames, query->nr_frames_allocated);
	query->frames[query->nr_frames++] = *frame;
	query->frames[id].in_row = id;
	index_insert(&query->frame_index, frame->hash, id);
	return id;
}

static uint32_t frame_intern(struct query *query, struct frame *frame)
{
	struct frame row;
	uint32_t in_row;
	uint32_t id;

	frame->hash = frame_hash(frame);
	id = frame_find(query, frame);
	if (id != NO_ID)
		return id;
	frame->idle = frame->kind == FRAME_NAMED && frame->level == LEVEL_KERNEL &&
		      query_is_idle_symbol(frame->raw);
	frame->listed = is_listed(query, frame);
	id = frame_add(query, frame);
	row = row_frame(query, frame);
	if (frame_equal(&row, frame))
		return id;
	in_row = frame_find(query, &row);
	if (in_row == NO_ID)
		in_row = frame_add(query, &row);
	query->frames[id].in_row = in_row;
	return id;
}

/* ---- from a place to its frame ---- */

struct place {
	struct dso *dso; /* NULL: given up, then others */
	const struct str *others;
	const struct symbol *symbol; /* FRAME_NAMED */
	uint64_t offset;
	enum frame_kind kind;
	enum row_level level;
};

static struct frame place_frame(const struct place *place)
{
	struct frame frame = {
		.dso_name = place->dso ? dso_name(place->dso) : place->others,
		.dso_path = place->dso ? dso_path(place->dso) : place->others,
		.offset = place->offset,
		.kind = (uint8_t)place->kind,
		.level = (uint8_t)place->level,
	};

	if (place->symbol) {
		frame.object = place->symbol->object;
		frame.symbol = place->symbol->name;
		frame.raw = place->symbol->raw;
	}
	return frame;
}

static uint32_t find_frame(struct query *query, const struct place *place)
{
	struct frame_memo memo = {
		.source = place->symbol ? (const void *)place->symbol
			  : place->dso	? (const void *)place->dso
					: (const void *)place->others,
		.offset = place->offset,
		.kind_level = (uint32_t)place->kind << 8 | place->level,
	};
	uint64_t hash =
		hash_combine(hash_combine((uintptr_t)memo.source, memo.offset), memo.kind_level);
	uint32_t cursor = (uint32_t)(hash >> 32);
	struct frame frame;
	uint32_t id;

	while ((id = index_probe(&query->memo_index, hash, &cursor)) != NO_ID) {
		const struct frame_memo *known = &query->memos[id];

		if (known->source == memo.source && known->offset == memo.offset &&
		    known->kind_level == memo.kind_level)
			return known->frame;
	}
	frame = place_frame(place);
	memo.frame = frame_intern(query, &frame);
	mem_grow(query->memos, query->nr_memos, query->nr_memos_allocated);
	index_insert(&query->memo_index, hash, (uint32_t)query->nr_memos);
	query->memos[query->nr_memos++] = memo;
	return memo.frame;
}

/* Sets what the look-up says. The offset stays where it is all there is to show. */
static void place_looked_up(const struct query *query, struct place *place, enum lookup answer,
			    const struct symbol *symbol)
{
	switch (answer) {
	case LOOKUP_FOUND:
		place->kind = FRAME_NAMED;
		place->symbol = symbol;
		place->offset = 0;
		break;
	case LOOKUP_PENDING:
		place->kind = FRAME_PENDING;
		break;
	case LOOKUP_NONE:
		place->kind = FRAME_UNNAMED;
		if (!query->spec->chains)
			place->offset = 0;
		break;
	}
}

/* The look-up of a cell, remembered in it until it can have changed. */
static enum lookup cell_lookup(const struct query *query, const struct cell_view *cell,
			       const struct symbol **ret_symbol)
{
	struct cell_symbol *cache = cell->symbol;
	uint32_t generation = symbolizer_generation(cell->key.dso);
	enum lookup answer;

	if (!cache->asked || cache->generation != generation) {
		cache->symbol = NULL;
		answer = symbolizer_lookup(query->context->symbolizer, cell->key.dso,
					   cell->key.offset, &cache->symbol);
		/* The generation from before: what came in between is asked for again. */
		cache->generation = generation;
		/* Only a question makes a worker look again for code that had no name. */
		cache->asked = answer == LOOKUP_FOUND;
		if (answer != LOOKUP_FOUND)
			cache->symbol = NULL;
		if (answer == LOOKUP_PENDING)
			return LOOKUP_PENDING;
	}
	*ret_symbol = cache->symbol;
	return cache->symbol ? LOOKUP_FOUND : LOOKUP_NONE;
}

static enum row_level cell_level(const struct cell_key *key)
{
	if (key->flags & CELL_GUEST)
		return key->flags & CELL_KERNEL ? LEVEL_GUEST_KERNEL : LEVEL_GUEST_USER;
	return key->flags & CELL_KERNEL ? LEVEL_KERNEL : LEVEL_USER;
}

uint32_t query_cell_frame(struct query *query, const struct cell_view *cell)
{
	const struct cell_key *key = &cell->key;
	const struct symbol *symbol = NULL;
	struct place place = {
		.dso = key->dso,
		.others = key->comm,
		.level = cell_level(key),
	};
	enum lookup answer;

	if (!key->dso) {
		place.kind = key->flags & CELL_UNRESOLVED ? FRAME_UNKNOWN : FRAME_OTHER;
	} else if ((key->flags & CELL_UNRESOLVED) || dso_kind(key->dso) == DSO_UNKNOWN) {
		place.kind = FRAME_UNKNOWN;
	} else if (key->offset == PROFILE_NO_OFFSET) {
		place.kind = FRAME_OTHER;
	} else {
		place.offset = key->offset;
		answer = cell_lookup(query, cell, &symbol);
		place_looked_up(query, &place, answer, symbol);
	}
	return find_frame(query, &place);
}

static uint32_t node_frame(struct query *query, const struct chain_node *node)
{
	enum dso_kind kind = dso_kind(node->dso);
	struct place place = {
		.dso = node->dso,
		.level = kind == DSO_KERNEL ? LEVEL_KERNEL : LEVEL_USER,
	};
	const struct symbol *symbol = NULL;
	enum lookup answer;

	if (kind == DSO_UNKNOWN) {
		place.kind = FRAME_UNKNOWN;
		return find_frame(query, &place);
	}
	place.offset = node->offset ? node->offset - 1 : 0;
	answer = symbolizer_lookup(query->context->symbolizer, node->dso, place.offset, &symbol);
	/* Without a name the address is shown as it was sampled. */
	place.offset = node->offset;
	place_looked_up(query, &place, answer, symbol);
	return find_frame(query, &place);
}

static uint32_t caller_intern(struct query *query, uint32_t parent, uint32_t frame)
{
	uint64_t hash = hash_combine(parent, frame);
	uint32_t cursor = (uint32_t)(hash >> 32);
	uint32_t id;

	while ((id = index_probe(&query->caller_index, hash, &cursor)) != NO_ID) {
		if (query->callers[id].parent == parent && query->callers[id].frame == frame)
			return id;
	}
	id = (uint32_t)query->nr_callers;
	mem_grow(query->callers, query->nr_callers, query->nr_callers_allocated);
	query->callers[query->nr_callers++] = (struct caller){
		.parent = parent,
		.frame = frame,
		.is_pending = query->frames[frame].kind == FRAME_PENDING ||
			      (parent != NO_ID && query->callers[parent].is_pending),
	};
	index_insert(&query->caller_index, hash, id);
	return id;
}

/* The place of @node in caller_of_node, which grows to have it. */
static uint32_t *caller_slot(struct query *query, uint32_t node)
{
	size_t nr = query->nr_caller_of_node;

	if (node >= nr) {
		size_t nr_new = MAX((size_t)node + 1, MAX(2 * nr, (size_t)1024));

		query->caller_of_node =
			mem_resize(query->caller_of_node, nr_new, sizeof(*query->caller_of_node));
		memset(query->caller_of_node + nr, 0,
		       (nr_new - nr) * sizeof(*query->caller_of_node));
		query->nr_caller_of_node = nr_new;
	}
	return &query->caller_of_node[node];
}

uint32_t query_chain_caller(struct query *query, uint32_t node)
{
	const struct chain_table *chains = profile_chains(query->context->profile);
	uint32_t caller = NO_ID;
	size_t nr_path = 0;

	/* Up to what is known already, then down again naming the rest. */
	while (node != CHAIN_NONE && !*caller_slot(query, node)) {
		mem_grow(query->path, nr_path, query->nr_path_allocated);
		query->path[nr_path++] = node;
		node = chain_table_node(chains, node)->parent;
	}
	if (node != CHAIN_NONE)
		caller = *caller_slot(query, node) - 1;
	while (nr_path--) {
		node = query->path[nr_path];
		caller = caller_intern(query, caller,
				       node_frame(query, chain_table_node(chains, node)));
		*caller_slot(query, node) = caller + 1;
	}
	return caller;
}

/* ---- text ---- */

const char *frame_symbol_text(const struct frame *frame, char buf[static 32])
{
	switch ((enum frame_kind)frame->kind) {
	case FRAME_NAMED:
		return frame->symbol;
	case FRAME_PENDING:
		snprintf(buf, 32, "0x%" PRIx64, frame->offset);
		return buf;
	case FRAME_UNNAMED:
		return "[no symbol]";
	case FRAME_UNKNOWN:
		return "[unknown]";
	case FRAME_OTHER:
		return "[other]";
	case FRAME_NOTHING:
		break;
	}
	return "";
}

const char *frame_dso_text(const struct frame *frame)
{
	if (frame->object)
		return frame->object;
	return frame->dso_name ? frame->dso_name->text : "";
}

void query_frames_release(struct query *query)
{
	free(query->frames);
	free(query->memos);
	free(query->callers);
	free(query->caller_of_node);
	free(query->path);
	index_release(&query->frame_index);
	index_release(&query->memo_index);
	index_release(&query->caller_index);
}
