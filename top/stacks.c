/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot's chains as they are, with their row beside them: nothing is copied but
 * pointers. Counts are samples, rounded (a decaying window has fractions of them).
 */
#include "config.h"

#include "top/stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"

static void add_row(struct stacks *stacks, const struct snapshot *snapshot, const struct row *row)
{
	for (size_t i = 0; i < row->nr_chains; i++) {
		const struct row_chain *chain = snapshot_chain(snapshot, row->first_chain + i);

		if (!(chain->nr_samples >= 0.5) || !chain->places)
			continue;
		stacks->list[stacks->nr++] = (struct stack){
			.row = row,
			.places = chain->places,
			.nr_places = chain->nr_frames,
			.nr_samples = (uint64_t)llround(chain->nr_samples),
			.period = isfinite(chain->period) ? chain->period : 0,
		};
	}
}

void stacks_init(struct stacks *stacks, const struct snapshot *snapshot)
{
	*stacks = (struct stacks){
		.list = mem_calloc(snapshot_nr_chains(snapshot), sizeof(*stacks->list)),
		.has_events = snapshot_nr_events(snapshot) > 1,
	};
	for (size_t i = 0; i < snapshot_nr_rows(snapshot); i++)
		add_row(stacks, snapshot, snapshot_row(snapshot, i));
}

void stacks_release(struct stacks *stacks)
{
	free(stacks->list);
	*stacks = (struct stacks){ 0 };
}

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_threads(const struct stack *a, const struct stack *b)
{
	int order = strcmp(a->row->event, b->row->event);

	if (!order)
		order = strcmp(a->row->comm, b->row->comm);
	if (!order)
		order = compare_numbers(a->row->pid, b->row->pid);
	if (!order)
		order = compare_numbers(a->row->tid, b->row->tid);
	return order;
}

static int compare_stacks(const void *left, const void *right)
{
	const struct stack *a = left;
	const struct stack *b = right;
	int order = compare_threads(a, b);

	for (size_t i = 1; !order && i <= MIN(a->nr_places, b->nr_places); i++) {
		const struct frame_place *x = a->places[a->nr_places - i];
		const struct frame_place *y = b->places[b->nr_places - i];

		if (x != y)
			order = strcmp(x->name, y->name);
		if (!order)
			order = x->kernel - y->kernel;
	}
	if (!order)
		order = compare_numbers((int64_t)a->nr_places, (int64_t)b->nr_places);
	if (!order)
		order = compare_numbers(a->row->cpu, b->row->cpu);
	return order;
}

void stacks_sort(struct stacks *stacks)
{
	if (stacks->nr)
		qsort(stacks->list, stacks->nr, sizeof(*stacks->list), compare_stacks);
}

size_t stacks_thread_end(const struct stacks *stacks, size_t first)
{
	size_t end = first + 1;

	while (end < stacks->nr && !compare_threads(&stacks->list[first], &stacks->list[end]))
		end++;
	return end;
}

uint64_t stacks_nr_samples(const struct stacks *stacks, size_t first, size_t end)
{
	uint64_t nr = 0;

	for (size_t i = first; i < end; i++)
		nr += stacks->list[i].nr_samples;
	return nr;
}

uint64_t stacks_max_samples(const struct stacks *stacks)
{
	uint64_t max = 0;
	size_t end;

	for (size_t first = 0; first < stacks->nr; first = end) {
		end = stacks_thread_end(stacks, first);
		max = MAX(max, stacks_nr_samples(stacks, first, end));
	}
	return max;
}

double stacks_interval_ns(const struct stacks *stacks, const struct snapshot_header *header)
{
	uint64_t max = stacks_max_samples(stacks);

	if (header->freq)
		return (double)NSEC_PER_SEC / (double)header->freq;
	return max ? (double)header->window_ns / (double)max : 0;
}

const char *stack_comm(const struct stack *stack)
{
	return stack->row->comm[0] ? stack->row->comm : "[no name]";
}

const char *place_name(const struct frame_place *place)
{
	return place->name[0] ? place->name : "[no name]";
}

void stack_add_thread_name(struct textbuf *buf, const struct stacks *stacks,
			   const struct stack *stack)
{
	const struct row *row = stack->row;

	textbuf_puts(buf, stack_comm(stack));
	if (row->pid >= 0 && row->tid >= 0)
		textbuf_printf(buf, " %lld/%lld", (long long)row->pid, (long long)row->tid);
	if (stacks->has_events)
		textbuf_printf(buf, " (%s)", row->event);
}
