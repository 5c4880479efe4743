/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of cells that share a row, their heaviest chains, and the rows made of
 * them. Groups compare by interned pointers and ids; only what is shown becomes
 * text, so a query over many cells costs text for at most max_rows rows.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/base/text.h"
#include "core/query_private.h"

#define DEFAULT_MAX_ROWS ((size_t)20000)
#define DEFAULT_MAX_CHAINS ((size_t)32)

double query_share(double part, double whole)
{
	/* Sums of parts and of the whole round differently. */
	if (!(part > 0) || !(whole > 0))
		return 0;
	return part < whole ? part / whole : 1;
}

/* ---- groups ---- */

static uint64_t group_hash(const struct group_key *key)
{
	uint64_t hash = hash_combine((uintptr_t)key->comm, (uint64_t)key->pid);

	hash = hash_combine(hash ^ (uint64_t)key->tid << 32,
			    (uint64_t)(uint32_t)key->cpu << 32 | (uint32_t)key->node);
	return hash_combine(hash, (uint64_t)key->frame << 32 | key->event);
}

static bool group_key_equal(const struct group_key *a, const struct group_key *b)
{
	return a->comm == b->comm && a->frame == b->frame && a->pid == b->pid && a->tid == b->tid &&
	       a->cpu == b->cpu && a->node == b->node && a->event == b->event;
}

struct group *query_group(struct query *query, const struct group_key *key)
{
	uint64_t hash = group_hash(key);
	uint32_t cursor = (uint32_t)(hash >> 32);
	uint32_t id;

	while ((id = index_probe(&query->group_index, hash, &cursor)) != NO_ID) {
		if (group_key_equal(&query->groups[id].key, key))
			return &query->groups[id];
	}
	mem_grow(query->groups, query->nr_groups, query->nr_groups_allocated);
	index_insert(&query->group_index, hash, (uint32_t)query->nr_groups);
	query->groups[query->nr_groups] = (struct group){ .key = *key, .chains = NO_ID };
	return &query->groups[query->nr_groups++];
}

void query_add_chain(struct query *query, struct group *group, uint32_t caller, uint32_t frame,
		     const struct cell_view *cell)
{
	uint32_t rank = (uint32_t)(group - query->groups);
	uint64_t hash = hash_combine(hash_combine(rank, caller), frame);
	uint32_t cursor = (uint32_t)(hash >> 32);
	struct chain_sum *sum;
	uint32_t id;

	while ((id = index_probe(&query->chain_index, hash, &cursor)) != NO_ID) {
		sum = &query->chain_sums[id];
		if (sum->group == rank && sum->caller == caller && sum->frame == frame)
			break;
	}
	if (id == NO_ID) {
		id = (uint32_t)query->nr_chain_sums;
		mem_grow(query->chain_sums, query->nr_chain_sums, query->nr_chain_sums_allocated);
		index_insert(&query->chain_index, hash, id);
		query->chain_sums[query->nr_chain_sums++] = (struct chain_sum){
			.group = rank,
			.caller = caller,
			.frame = frame,
			.next = group->chains,
		};
		group->chains = id;
	}
	sum = &query->chain_sums[id];
	sum->nr_samples += cell->nr_samples;
	sum->period += cell->period;
}

/* ---- chains of a row ---- */

struct frame_list {
	const char **texts;
	size_t nr_texts_allocated;
	bool *kernel;
	size_t nr_kernel_allocated;
	const struct frame_place **places;
	size_t nr_places_allocated;
	size_t nr;
};

static const struct frame_place *add_place(struct query *query, const struct frame *frame)
{
	const char *dso = frame_dso_text(frame);
	bool is_code = frame->kind == FRAME_PENDING || frame->kind == FRAME_UNNAMED;
	struct frame_place place = {
		.name = frame->symbol,
		.dso = dso,
		.dso_path = frame->dso_path ? frame->dso_path->text : "",
		.offset = is_code ? frame->offset : 0,
		.has_symbol = frame->symbol != NULL,
		.kernel = frame->level == LEVEL_KERNEL || frame->level == LEVEL_GUEST_KERNEL,
	};
	struct textbuf buf = { 0 };
	const struct frame_place *added;

	if (is_code) {
		textbuf_printf(&buf, dso[0] == '[' ? "%s" : "[%s]", dso);
		place.name = buf.text;
	} else if (!place.name) {
		place.name = frame->kind == FRAME_UNKNOWN ? "[unknown]" : "[other]";
	}
	added = snapshot_add_place(query->snapshot, &place);
	textbuf_release(&buf);
	return added;
}

static void add_frame(struct query *query, struct frame_list *list, uint32_t id)
{
	struct frame *frame = &query->frames[id];
	const char *dso = frame_dso_text(frame);
	const char *text = frame->symbol;
	struct textbuf buf = { 0 };

	if (frame->kind == FRAME_PENDING || frame->kind == FRAME_UNNAMED) {
		textbuf_printf(&buf, dso[0] == '[' ? "%s+0x%" PRIx64 : "[%s]+0x%" PRIx64, dso,
			       frame->offset);
		text = buf.text;
	} else if (!text) {
		text = frame->kind == FRAME_UNKNOWN ? "[unknown]" : "[other]";
	}
	mem_grow(list->texts, list->nr, list->nr_texts_allocated);
	mem_grow(list->kernel, list->nr, list->nr_kernel_allocated);
	mem_grow(list->places, list->nr, list->nr_places_allocated);
	list->texts[list->nr] = snapshot_add_string(query->snapshot, text);
	list->kernel[list->nr] = frame->level == LEVEL_KERNEL || frame->level == LEVEL_GUEST_KERNEL;
	if (!frame->place)
		frame->place = add_place(query, frame);
	list->places[list->nr] = frame->place;
	list->nr++;
	textbuf_release(&buf);
}

/* Heaviest first; of equals the one that came first. */
static int compare_chains(const void *left, const void *right)
{
	const struct chain_sum *a = *(const struct chain_sum *const *)left;
	const struct chain_sum *b = *(const struct chain_sum *const *)right;

	if (a->period > b->period || a->period < b->period)
		return a->period > b->period ? -1 : 1;
	if (a->nr_samples > b->nr_samples || a->nr_samples < b->nr_samples)
		return a->nr_samples > b->nr_samples ? -1 : 1;
	return (a > b) - (a < b);
}

static void add_row_chains(struct query *query, struct row *row, const struct group *group)
{
	size_t max = query->spec->max_chains ? query->spec->max_chains : DEFAULT_MAX_CHAINS;
	const struct chain_sum **sums = NULL;
	struct frame_list list = { 0 };
	size_t nr_allocated = 0;
	size_t nr = 0;

	for (uint32_t id = group->chains; id != NO_ID; id = query->chain_sums[id].next) {
		mem_grow(sums, nr, nr_allocated);
		sums[nr++] = &query->chain_sums[id];
	}
	if (nr)
		qsort(sums, nr, sizeof(*sums), compare_chains);
	for (size_t i = 0; i < MIN(nr, max); i++) {
		uint32_t caller = sums[i]->caller;

		list.nr = 0;
		add_frame(query, &list, sums[i]->frame);
		for (; caller != NO_ID; caller = query->callers[caller].parent)
			add_frame(query, &list, query->callers[caller].frame);
		snapshot_add_chain(query->snapshot, row, list.texts, list.kernel, list.nr,
				   sums[i]->nr_samples, sums[i]->period);
		snapshot_set_places(query->snapshot, list.places);
	}
	free(sums);
	free(list.texts);
	free(list.kernel);
	free(list.places);
}

/* ---- rows ---- */

/* Made of the content, so that the same row has the same id in every snapshot. */
static uint64_t row_id(const struct query *query, const struct group_key *key)
{
	uint64_t hash = query->frames[key->frame].hash;

	hash = hash_combine(hash, key->comm ? key->comm->hash : 0);
	hash = hash_combine(hash, (uint64_t)key->pid);
	hash = hash_combine(hash, (uint64_t)key->tid);
	hash = hash_combine(hash, (uint64_t)(uint32_t)key->cpu << 32 | (uint32_t)key->node);
	return hash_combine(hash, key->event);
}

static void fill_code(struct query *query, struct row *row, const struct group *group)
{
	const struct frame *frame = &query->frames[group->key.frame];
	char buf[32];

	row->level = (enum row_level)(
		frame->kind == FRAME_NOTHING && !frame->dso_name ? group->level : frame->level);
	row->symbol_pending = frame->kind == FRAME_PENDING;
	row->unresolved = frame->kind == FRAME_UNKNOWN;
	if (query->uses[SORT_DSO]) {
		row->dso = snapshot_add_string(query->snapshot, frame_dso_text(frame));
		row->dso_path = snapshot_add_string(query->snapshot,
						    frame->dso_path ? frame->dso_path->text : "");
	}
	if (query->uses[SORT_SYMBOL])
		row->symbol = snapshot_add_string(query->snapshot, frame_symbol_text(frame, buf));
}

static const char *event_name(const struct query *query, uint32_t event)
{
	return event < query->context->nr_events ? query->context->event_names[event] : "";
}

static void make_row(struct query *query, const struct group *group)
{
	double base = snapshot_header(query->snapshot)->base_period;
	struct row *row = snapshot_add_row(query->snapshot);

	row->id = row_id(query, &group->key);
	row->self_share = query_share(group->weight, base);
	row->children_share = query_share(group->children_weight, base);
	row->period = group->period;
	row->children_period = group->children_period;
	row->nr_samples = group->nr_samples;
	row->pid = group->key.pid;
	row->tid = group->key.tid;
	row->cpu = group->key.cpu;
	row->node = group->key.node;
	if (group->key.comm)
		row->comm = snapshot_add_string(query->snapshot, group->key.comm->text);
	if (query->uses[SORT_EVENT])
		row->event =
			snapshot_add_string(query->snapshot, event_name(query, group->key.event));
	fill_code(query, row, group);
	if (query->spec->chains)
		add_row_chains(query, row, group);
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = *(const struct group *const *)left;
	const struct group *b = *(const struct group *const *)right;

	if (a->children_weight > b->children_weight || a->children_weight < b->children_weight)
		return a->children_weight > b->children_weight ? -1 : 1;
	return (a > b) - (a < b);
}

void query_make_rows(struct query *query)
{
	size_t max_rows = query->spec->max_rows ? query->spec->max_rows : DEFAULT_MAX_ROWS;
	struct snapshot_header *header = snapshot_edit_header(query->snapshot);
	const struct group **shown = mem_calloc(query->nr_groups, sizeof(const struct group *));
	size_t nr = 0;

	for (size_t i = 0; i < query->nr_groups; i++) {
		const struct group *group = &query->groups[i];
		double share = query_share(group->children_weight, header->base_period);

		if (100 * share >= query->spec->percent_limit)
			shown[nr++] = group;
	}
	if (nr > max_rows) {
		qsort(shown, nr, sizeof(*shown), compare_groups);
		nr = max_rows;
	}
	header->nr_rows_hidden = query->nr_groups - nr;
	for (size_t i = 0; i < nr; i++)
		make_row(query, shown[i]);
	free(shown);
	snapshot_sort(query->snapshot);
}

void query_rows_release(struct query *query)
{
	free(query->groups);
	free(query->chain_sums);
	index_release(&query->group_index);
	index_release(&query->chain_index);
}
