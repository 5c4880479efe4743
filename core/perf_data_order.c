/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recorder empties the rings in turn, so a round is a few runs, each in order by
 * itself: a merge sort that starts from the runs it finds costs little more than one
 * look at each record. It keeps the order of the file among equal times.
 *
 * When ring A was emptied before ring B, A's records of the next round may be older
 * than B's of this one, but not older than this round's start, which is the end of the
 * one before: so with each round only what is not younger than that is given out.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/perf_data_private.h"

static void list_add(struct item_list *list, const struct item *item)
{
	mem_grow(list->items, list->nr, list->nr_allocated);
	list->items[list->nr++] = *item;
}

static void list_release(struct item_list *list, size_t first)
{
	for (size_t i = first; i < list->nr; i++)
		chunk_put(list->items[i].chunk);
	free(list->items);
}

void order_release(struct order *order)
{
	list_release(&order->waiting, 0);
	list_release(&order->ready, order->ready_next);
	free(order->scratch);
	*order = (struct order){ 0 };
}

void order_add(struct order *order, const struct item *item)
{
	if (!item->time || item->time == UINT64_MAX) {
		list_add(&order->ready, item);
		return;
	}
	order->newest_ns = MAX(order->newest_ns, item->time);
	order->nr_unsorted += item->time < order->released_ns;
	list_add(&order->waiting, item);
}

/* Where the run that starts at @first ends. */
static size_t run_end(const struct item *items, size_t first, size_t nr)
{
	size_t end = first + 1;

	while (end < nr && items[end - 1].time <= items[end].time)
		end++;
	return end;
}

/* Two neighbouring runs become one: the first is put aside and merged back. */
static void merge(struct item *items, size_t first, size_t middle, size_t end, struct item *scratch)
{
	size_t nr_left = middle - first;
	size_t left = 0, right = middle, to = first;

	memcpy(scratch, items + first, nr_left * sizeof(*items));
	while (left < nr_left) {
		if (right < end && items[right].time < scratch[left].time)
			items[to++] = items[right++];
		else
			items[to++] = scratch[left++];
	}
}

static void sort(struct order *order)
{
	struct item *items = order->waiting.items;
	size_t nr = order->waiting.nr;

	if (!nr || run_end(items, 0, nr) == nr)
		return;
	if (order->nr_scratch < nr) {
		order->nr_scratch = order->waiting.nr_allocated;
		order->scratch = mem_resize(order->scratch, order->nr_scratch, sizeof(*items));
	}
	/* Each pass halves the number of runs. */
	for (;;) {
		size_t nr_runs = 0;

		for (size_t first = 0; first < nr; nr_runs++) {
			size_t middle = run_end(items, first, nr);
			size_t end = middle < nr ? run_end(items, middle, nr) : nr;

			if (middle < end)
				merge(items, first, middle, end, order->scratch);
			first = end;
		}
		if (nr_runs <= 1)
			return;
	}
}

/* The first @nr of those that wait, which are sorted. */
static void make_ready(struct order *order, size_t nr)
{
	struct item_list *waiting = &order->waiting;

	if (!nr)
		return;
	order->released_ns = MAX(order->released_ns, waiting->items[nr - 1].time);
	for (size_t i = 0; i < nr; i++)
		list_add(&order->ready, &waiting->items[i]);
	waiting->nr -= nr;
	memmove(waiting->items, waiting->items + nr, waiting->nr * sizeof(*waiting->items));
}

void order_finish_round(struct order *order)
{
	size_t nr = 0;

	sort(order);
	while (nr < order->waiting.nr && order->waiting.items[nr].time <= order->round_ns)
		nr++;
	make_ready(order, nr);
	order->round_ns = order->newest_ns;
}

void order_release_half(struct order *order)
{
	sort(order);
	make_ready(order, (order->waiting.nr + 1) / 2);
}

void order_finish(struct order *order)
{
	sort(order);
	make_ready(order, order->waiting.nr);
}

const struct item *order_peek(const struct order *order)
{
	if (order->ready_next == order->ready.nr)
		return NULL;
	return &order->ready.items[order->ready_next];
}

void order_pop(struct order *order)
{
	chunk_put(order->ready.items[order->ready_next++].chunk);
	if (order->ready_next < order->ready.nr)
		return;
	order->ready_next = 0;
	order->ready.nr = 0;
}
