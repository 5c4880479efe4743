/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of a query share: query.c (cells, filters, figures),
 * query_frame.c (what a place in code is called) and query_rows.c (groups, chains,
 * rows). Nobody else includes this.
 */
#ifndef SYMTOP_CORE_QUERY_PRIVATE_H
#define SYMTOP_CORE_QUERY_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/filter.h"
#include "core/query.h"

#define NO_ID UINT32_MAX

/* ---- index: hash -> rank in somebody's array; nothing is ever removed ---- */

struct index_place {
	uint32_t tag; /* bits of the hash: most wrong candidates are skipped by it */
	uint32_t id;  /* NO_ID: free */
};

struct index {
	struct index_place *places;
	size_t nr_places; /* a power of two */
	size_t nr;
};

void index_insert(struct index *index, uint64_t hash, uint32_t id);
void index_release(struct index *index);

/*
 * The next rank that was inserted with something like @hash, or NO_ID. *@cursor is
 * (uint32_t)(@hash >> 32) at first.
 */
static inline uint32_t index_probe(const struct index *index, uint64_t hash, uint32_t *cursor)
{
	uint32_t tag = (uint32_t)(hash >> 32);

	if (!index->nr_places)
		return NO_ID;
	for (;;) {
		const struct index_place *place =
			&index->places[(*cursor)++ & (index->nr_places - 1)];

		if (place->id == NO_ID || place->tag == tag)
			return place->id;
	}
}

/* ---- frames: what a place in code is called ---- */

enum frame_kind {
	FRAME_NOTHING, /* neither dso nor symbol is asked for */
	FRAME_NAMED,
	FRAME_PENDING, /* the name may still come */
	FRAME_UNNAMED, /* the object is known and has no name there */
	FRAME_UNKNOWN, /* no map is known at the address */
	FRAME_OTHER,   /* the detail was given up */
};

/* Texts are borrowed from dsos and symbols, which live while their cells do. */
struct frame {
	const struct str *dso_name; /* NULL: not asked for */
	const struct str *dso_path;
	const char *object; /* shown instead of the dso's name; NULL: that */
	const char *symbol; /* FRAME_NAMED */
	const char *raw;    /* the same as the object has it; no part of the identity */
	uint64_t offset;
	uint64_t hash;			 /* of the content: the same in every run */
	const struct frame_place *place; /* in the snapshot, for chains; NULL: not yet */
	uint32_t in_row; /* the frame that stands for it in a row of the sort keys */
	uint8_t kind;	 /* enum frame_kind */
	uint8_t level;	 /* enum row_level */
	bool idle;	 /* a function the CPU idles in */
	bool listed;	 /* --dsos and --symbols let it pass */
};

/* A look-up result that is known by address already. */
struct frame_memo {
	const void *source; /* symbol, dso or str */
	uint64_t offset;
	uint32_t kind_level;
	uint32_t frame;
};

/* A caller by name: chains that differ only in offsets inside functions become one. */
struct caller {
	uint32_t parent; /* its own caller; NO_ID: outermost */
	uint32_t frame;
	bool is_pending; /* its name, or that of a caller of it, may still come */
};

/* ---- rows ---- */

struct group_key {
	const struct str *comm; /* NULL: not a key */
	int64_t pid, tid;
	int32_t cpu, node;
	uint32_t frame;
	uint32_t event;
};

struct group {
	struct group_key key;
	double nr_samples, period, weight;
	double children_period, children_weight;
	uint32_t last_cell; /* counted with children once per cell */
	uint32_t chains;    /* first of its chain sums; NO_ID: none */
	uint8_t level;	    /* where frame says nothing about it */
};

struct chain_sum {
	uint32_t group, caller, frame;
	uint32_t next;
	double nr_samples, period;
};

/* What is asked of a task once per run. */
struct task_facts {
	struct task *task;
	struct str *process_comm; /* a reference; NULL: not wanted or not known */
	int64_t pid, tid;
	bool is_outside;
};

#define NAME_LIST_MAX 128

struct name_list {
	char text[256];
	const char *names[NAME_LIST_MAX];
	size_t nr; /* 0: all names pass */
};

struct query {
	const struct query_context *context;
	const struct view_spec *spec;
	struct snapshot *snapshot;
	struct filter *filter;
	struct name_list comms, dsos, symbols;
	bool uses[NR_SORT_KEYS];
	bool by_samples; /* shares are of samples: several events, several units */
	struct str *swapper;

	struct frame *frames;
	size_t nr_frames, nr_frames_allocated;
	struct index frame_index;
	struct frame_memo *memos;
	size_t nr_memos, nr_memos_allocated;
	struct index memo_index;

	struct caller *callers;
	size_t nr_callers, nr_callers_allocated;
	struct index caller_index;
	uint32_t *caller_of_node; /* by chain node; 0: not asked yet, else caller + 1 */
	size_t nr_caller_of_node;
	uint32_t *path; /* scratch: nodes on the way up */
	size_t nr_path_allocated;

	struct task_facts *tasks;
	size_t nr_tasks, nr_tasks_allocated;
	struct index task_index;

	struct group *groups;
	size_t nr_groups, nr_groups_allocated;
	struct index group_index;
	struct chain_sum *chain_sums;
	size_t nr_chain_sums, nr_chain_sums_allocated;
	struct index chain_index;

	uint32_t nr_cells_seen;
	bool has_chains;
	double *event_samples; /* by event */
	struct {
		double total, base, idle, outside; /* weight */
		double shown, kernel, unresolved, unnamed, pending;
		double nr_samples, shown_samples;
	} sums;
};

/* Whether @name is in @list, which must not be empty. */
bool name_list_has(const struct name_list *list, const char *name);

/* The frame a cell was sampled in. */
uint32_t query_cell_frame(struct query *query, const struct cell_view *cell);

/* The innermost caller of a chain, NO_ID for CHAIN_NONE. */
uint32_t query_chain_caller(struct query *query, uint32_t node);

/* What stands in the symbol column; @buf is scratch for made-up names. */
const char *frame_symbol_text(const struct frame *frame, char buf[static 32]);
const char *frame_dso_text(const struct frame *frame);

void query_frames_release(struct query *query);

struct group *query_group(struct query *query, const struct group_key *key);
void query_add_chain(struct query *query, struct group *group, uint32_t caller, uint32_t frame,
		     const struct cell_view *cell);

/* Groups -> rows of the snapshot. */
void query_make_rows(struct query *query);
void query_rows_release(struct query *query);

/* @part of @whole, from 0 to 1 and always a number. */
double query_share(double part, double whole);

#endif /* SYMTOP_CORE_QUERY_PRIVATE_H */
