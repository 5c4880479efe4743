/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine knows no baseline: it answers with shares, and the changes are added here,
 * to a copy of the snapshot's rows, when it comes on the screen. So a baseline holds for
 * whatever is shown later, another moment of a recording as well as the next refresh.
 *
 * Ids and shares are kept sorted by id: one search a row and refresh. A row whose name was
 * still to come has another id later; of which rows of its object it was, nobody knows.
 */
#include "config.h"

#include "ui/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"

struct known {
	uint64_t id;
	double self_share, children_share;
	bool pending; /* it may have got another id since, with its name */
};

struct baseline {
	struct view_spec spec;
	uint64_t end_ns;
	bool is_whole; /* no row was hidden by a limit */
	struct known *known;
	size_t nr;
	uint64_t *unnamed; /* hashes of the objects of rows without a name yet, sorted */
	size_t nr_unnamed, nr_unnamed_allocated;
};

static int compare_hash(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* By path: a module's name is that of the kernel until its symbol is known. */
static uint64_t object_hash(const struct row *row)
{
	return hash_bytes(row->dso_path, strlen(row->dso_path));
}

static void note_unnamed(struct baseline *baseline, const struct row *row)
{
	if (!row->symbol_pending)
		return;
	mem_grow(baseline->unnamed, baseline->nr_unnamed, baseline->nr_unnamed_allocated);
	baseline->unnamed[baseline->nr_unnamed++] = object_hash(row);
}

static int compare_known(const void *left, const void *right)
{
	const struct known *a = left;
	const struct known *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

struct baseline *baseline_new(const struct snapshot *snapshot)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	struct baseline *baseline = mem_zalloc(sizeof(*baseline));

	baseline->spec = *snapshot_spec(snapshot);
	baseline->end_ns = header->window_end_ns;
	baseline->is_whole = !header->nr_rows_hidden;
	baseline->nr = snapshot_nr_rows(snapshot);
	baseline->known = mem_calloc(baseline->nr, sizeof(*baseline->known));
	for (size_t i = 0; i < baseline->nr; i++) {
		const struct row *row = snapshot_row(snapshot, i);

		baseline->known[i] = (struct known){
			.id = row->id,
			.self_share = row->self_share,
			.children_share = row->children_share,
			.pending = row->symbol_pending,
		};
		note_unnamed(baseline, row);
	}
	if (baseline->nr)
		qsort(baseline->known, baseline->nr, sizeof(*baseline->known), compare_known);
	if (baseline->nr_unnamed)
		qsort(baseline->unnamed, baseline->nr_unnamed, sizeof(*baseline->unnamed),
		      compare_hash);
	return baseline;
}

void baseline_free(struct baseline *baseline)
{
	if (!baseline)
		return;
	free(baseline->known);
	free(baseline->unnamed);
	free(baseline);
}

uint64_t baseline_end_ns(const struct baseline *baseline)
{
	return baseline->end_ns;
}

/* ---- what can be compared ---- */

static bool is_narrowed(const struct view_spec *spec)
{
	return spec->hide_kernel || spec->hide_user || *spec->filter || *spec->comms ||
	       *spec->dsos || *spec->symbols;
}

static bool narrows_alike(const struct view_spec *a, const struct view_spec *b)
{
	return a->hide_kernel == b->hide_kernel && a->hide_user == b->hide_user &&
	       !strcmp(a->filter, b->filter) && !strcmp(a->comms, b->comms) &&
	       !strcmp(a->dsos, b->dsos) && !strcmp(a->symbols, b->symbols);
}

bool baseline_fits(const struct baseline *baseline, const struct view_spec *spec)
{
	const struct view_spec *mine = &baseline->spec;

	if (spec->keys.nr != mine->keys.nr)
		return false;
	for (size_t i = 0; i < spec->keys.nr; i++)
		if (spec->keys.keys[i] != mine->keys.keys[i])
			return false;
	if (spec->event != mine->event || spec->children != mine->children ||
	    spec->show_idle != mine->show_idle || spec->relative != mine->relative)
		return false;
	return !spec->relative || narrows_alike(spec, mine);
}

/* ---- comparing ---- */

static const struct known *find(const struct baseline *baseline, uint64_t id)
{
	struct known wanted = { .id = id };

	if (!baseline->nr)
		return NULL;
	return bsearch(&wanted, baseline->known, baseline->nr, sizeof(wanted), compare_known);
}

/* Whether it may have been there under another id. */
static bool may_be_renamed(const struct baseline *baseline, const struct row *row)
{
	uint64_t hash = object_hash(row);

	if (row->symbol_pending)
		return true;
	return baseline->nr_unnamed &&
	       bsearch(&hash, baseline->unnamed, baseline->nr_unnamed, sizeof(hash), compare_hash);
}

static void compare_row(const struct baseline *baseline, struct row *row, bool all_were_shown,
			bool *seen)
{
	const struct known *known = find(baseline, row->id);
	bool children = baseline->spec.children;
	double share = children ? row->children_share : row->self_share;

	if (known) {
		seen[known - baseline->known] = true;
		row->change = CHANGE_SHARE;
		row->delta = share - (children ? known->children_share : known->self_share);
	} else if (all_were_shown && !may_be_renamed(baseline, row)) {
		row->change = CHANGE_NEW;
		row->delta = share;
	} else {
		row->change = CHANGE_UNKNOWN;
		row->delta = 0;
	}
}

static size_t count_gone(const struct baseline *baseline, const bool *seen)
{
	size_t nr = 0;

	for (size_t i = 0; i < baseline->nr; i++)
		nr += !seen[i] && !baseline->known[i].pending;
	return nr;
}

struct snapshot *baseline_compare(const struct baseline *baseline, struct snapshot *snapshot,
				  size_t *ret_nr_gone)
{
	struct view_spec spec = *snapshot_spec(snapshot);
	bool alike = narrows_alike(&spec, &baseline->spec);
	bool all_were_shown = baseline->is_whole && (alike || !is_narrowed(&baseline->spec));
	bool all_are_shown =
		!snapshot_header(snapshot)->nr_rows_hidden && (alike || !is_narrowed(&spec));
	bool *seen = mem_calloc(baseline->nr, sizeof(*seen));
	struct snapshot *copy;

	spec.delta = true;
	copy = snapshot_derive(snapshot, &spec);
	for (size_t i = 0; i < snapshot_nr_rows(copy); i++)
		compare_row(baseline, snapshot_edit_row(copy, i), all_were_shown, seen);
	if (spec.order == ORDER_DELTA)
		snapshot_sort(copy);
	*ret_nr_gone = all_are_shown ? count_gone(baseline, seen) : BASELINE_GONE_UNKNOWN;
	free(seen);
	return copy;
}

struct snapshot *baseline_remove(struct snapshot *snapshot)
{
	struct view_spec spec = *snapshot_spec(snapshot);
	struct snapshot *copy;

	spec.order = baseline_order_without(&spec);
	spec.delta = false;
	copy = snapshot_derive(snapshot, &spec);
	for (size_t i = 0; i < snapshot_nr_rows(copy); i++) {
		struct row *row = snapshot_edit_row(copy, i);

		row->change = CHANGE_NONE;
		row->delta = 0;
	}
	snapshot_sort(copy);
	return copy;
}

enum order_by baseline_order_without(const struct view_spec *spec)
{
	if (spec->order != ORDER_DELTA)
		return spec->order;
	return spec->children ? ORDER_CHILDREN : ORDER_SELF;
}
