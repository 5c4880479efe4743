/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables are kept as they came, one for each batch, since symbols once handed out
 * live on; each name so exists once. On top is one array of ranges in address order
 * that never overlap, each pointing to its symbol. It is what a look-up searches, so
 * that thousands of small batches cost no more than one table. Adding merges the new
 * ranges into a new array in one pass: linear, which the rate of refreshes bounds.
 *
 * Lock order: add_lock (who adds; builds the next array) before lock (held for the
 * exchange and for each look-up only). Below and above everything ever covered a
 * look-up takes no lock: most of the kernel is there.
 */
#include "config.h"

#include "symbols/overlay.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/mutex.h"
#include "symbols/symbol.h"

struct range {
	uint64_t start, end;
	const struct symbol *symbol; /* NULL: hidden */
};

struct overlay {
	struct mutex add_lock;
	struct symbol_table **tables GUARDED_BY(add_lock);
	size_t nr_tables GUARDED_BY(add_lock);
	size_t nr_allocated GUARDED_BY(add_lock);

	struct mutex lock;
	struct range *ranges GUARDED_BY(lock); /* changed with both locks held */
	size_t nr_ranges GUARDED_BY(lock);

	/* Relaxed: who must see new ranges learns of them by the generation, after. */
	_Atomic uint64_t lowest, highest;
};

struct overlay *overlay_new(void)
{
	struct overlay *overlay = mem_zalloc(sizeof(*overlay));

	mutex_init(&overlay->add_lock);
	mutex_init(&overlay->lock);
	atomic_init(&overlay->lowest, UINT64_MAX);
	return overlay;
}

void overlay_free(struct overlay *overlay)
{
	if (!overlay)
		return;
	for (size_t i = 0; i < overlay->nr_tables; i++)
		symbol_table_free(overlay->tables[i]);
	free(overlay->tables);
	free(overlay->ranges);
	mutex_release(&overlay->lock);
	mutex_release(&overlay->add_lock);
	free(overlay);
}

/* The range that covers @offset, or NULL. */
static const struct range *find_range(const struct range *ranges, size_t nr, uint64_t offset)
{
	size_t low = 0;

	while (nr) {
		size_t half = nr / 2;

		if (ranges[low + half].end <= offset) {
			low += half + 1;
			nr -= half + 1;
		} else if (ranges[low + half].start <= offset) {
			return &ranges[low + half];
		} else {
			nr = half;
		}
	}
	return NULL;
}

static bool overlay_find_range(struct overlay *overlay, uint64_t offset, struct range *ret_range)
{
	const struct range *range;

	if (offset < atomic_load_explicit(&overlay->lowest, memory_order_relaxed) ||
	    offset >= atomic_load_explicit(&overlay->highest, memory_order_relaxed))
		return false;
	mutex_lock(&overlay->lock);
	range = find_range(overlay->ranges, overlay->nr_ranges, offset);
	if (range)
		*ret_range = *range;
	mutex_unlock(&overlay->lock);
	return range;
}

bool overlay_find(struct overlay *overlay, uint64_t offset, const struct symbol **ret_symbol)
{
	struct range range;

	if (!overlay_find_range(overlay, offset, &range))
		return false;
	*ret_symbol = range.symbol;
	return true;
}

size_t overlay_nr(struct overlay *overlay)
{
	size_t nr;

	mutex_lock(&overlay->lock);
	nr = overlay->nr_ranges;
	mutex_unlock(&overlay->lock);
	return nr;
}

/* Merge sorted @news over sorted @olds into @ret_ranges. Returns how many those are. */
static size_t merge_ranges(const struct range *olds, size_t nr_olds, const struct range *news,
			   size_t nr_news, struct range *ret_ranges)
{
	const struct range *end = olds + nr_olds;
	struct range old = { 0 };
	size_t nr = 0;

	if (nr_olds)
		old = *olds;
	for (size_t i = 0; i < nr_news; i++) {
		const struct range *new = &news[i];

		while (olds < end && old.start < new->end) {
			if (old.start < new->start) {
				ret_ranges[nr] = old;
				ret_ranges[nr++].end = MIN(old.end, new->start);
			}
			if (old.end > new->end) {
				old.start = new->end; /* what is left behind the new one */
				break;
			}
			if (++olds < end)
				old = *olds;
		}
		ret_ranges[nr++] = *new;
	}
	if (olds < end) {
		ret_ranges[nr++] = old;
		memcpy(ret_ranges + nr, olds + 1, (size_t)(end - olds - 1) * sizeof(*olds));
		nr += (size_t)(end - olds - 1);
	}
	return nr;
}

static void lay_ranges_locked(struct overlay *overlay, const struct range *news, size_t nr_news)
	REQUIRES(overlay->add_lock)
{
	/* Each new range splits one old range at most. */
	struct range *ranges = mem_calloc(overlay->nr_ranges + 2 * nr_news, sizeof(*ranges));
	struct range *olds = overlay->ranges;
	size_t nr = merge_ranges(olds, overlay->nr_ranges, news, nr_news, ranges);

	mutex_lock(&overlay->lock);
	overlay->ranges = ranges;
	overlay->nr_ranges = nr;
	atomic_store_explicit(&overlay->lowest, ranges[0].start, memory_order_relaxed);
	atomic_store_explicit(&overlay->highest, ranges[nr - 1].end, memory_order_relaxed);
	mutex_unlock(&overlay->lock);
	free(olds);
}

static bool is_known(struct overlay *overlay, struct symbol_table *base,
		     const struct symbol *symbol)
{
	const struct symbol *old;
	struct range range;

	if (overlay_find_range(overlay, symbol->start, &range)) {
		old = range.symbol;
	} else {
		old = base ? symbol_table_find(base, symbol->start) : NULL;
		if (old)
			range = (struct range){ .start = old->start, .end = old->end };
	}
	/* A base means kernel code, and kallsyms has no sizes: ends move with the neighbours. */
	return old && range.start == symbol->start && (base || range.end == symbol->end) &&
	       !strcmp(old->raw, symbol->raw);
}

/* @table, or in its place (it is freed) a table of what is new in it; NULL when nothing is. */
static struct symbol_table *keep_new(struct overlay *overlay, struct symbol_table *base,
				     struct symbol_table *table)
{
	size_t nr = symbol_table_nr(table);
	struct symbol_table *kept = symbol_table_new();
	size_t nr_kept = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct symbol *symbol = symbol_table_at(table, i);

		if (symbol->end == symbol->start || is_known(overlay, base, symbol))
			continue;
		nr_kept++;
		symbol_table_add(kept, symbol->start, symbol->end - symbol->start, 0, SYMBOL_GLOBAL,
				 symbol->raw, strlen(symbol->raw), symbol->object);
	}
	if (!nr_kept || nr_kept == nr) {
		symbol_table_free(kept);
		kept = nr_kept ? table : NULL;
	} else {
		symbol_table_finish(kept);
	}
	if (kept != table)
		symbol_table_free(table);
	return kept;
}

uint64_t overlay_add(struct overlay *overlay, struct symbol_table *base, struct symbol_table *table)
{
	struct range *news;
	size_t nr;

	table = keep_new(overlay, base, table);
	if (!table)
		return 0;
	nr = symbol_table_nr(table);
	news = mem_calloc(nr, sizeof(*news));
	for (size_t i = 0; i < nr; i++) {
		const struct symbol *symbol = symbol_table_at(table, i);

		news[i] = (struct range){ symbol->start, symbol->end, symbol };
	}
	mutex_lock(&overlay->add_lock);
	mem_grow(overlay->tables, overlay->nr_tables, overlay->nr_allocated);
	overlay->tables[overlay->nr_tables++] = table;
	lay_ranges_locked(overlay, news, nr);
	mutex_unlock(&overlay->add_lock);
	free(news);
	return symbol_table_bytes(table);
}

void overlay_hide(struct overlay *overlay, uint64_t start, uint64_t end)
{
	const struct range hidden = { .start = start, .end = end };

	mutex_lock(&overlay->add_lock);
	lay_ranges_locked(overlay, &hidden, 1);
	mutex_unlock(&overlay->add_lock);
}
