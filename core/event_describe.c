/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a perf.data file has to say of the events whose records are in it.
 *
 * With one event there are no ids: metadata records then have the same fields at their
 * end as the event's own, and the file says that it has this one event. With several
 * each has ids, one for each CPU or task, and so has the metadata event.
 */
#include "config.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/event_set_private.h"
#include "core/perf_data_write.h"

/* Ids of the descriptors in use for @use, into an array that is the caller's. */
static uint64_t *list_ids(const struct event_set *set, int use, size_t *ret_nr)
{
	uint64_t *ids = NULL;
	size_t nr = 0, nr_allocated = 0;

	for (size_t i = 0; i < set->nr_cpus; i++) {
		const struct event_cpu *cpu = set->cpus[i];

		for (size_t j = 0; j < cpu->nr_fds; j++) {
			if (cpu->fds[j].use != use || !cpu->fds[j].id)
				continue;
			mem_grow(ids, nr, nr_allocated);
			ids[nr++] = cpu->fds[j].id;
		}
	}
	*ret_nr = nr;
	return ids;
}

size_t event_set_describe(const struct event_set *set, struct perf_data_write_event **ret_events)
{
	size_t nr = set->events->nr;
	struct perf_data_write_event *events = mem_calloc(nr + 1, sizeof(*events));

	for (size_t i = 0; i < nr; i++) {
		events[i].name = set->events->events[i].name;
		event_sample_attr(set, i, &events[i].attr);
	}
	*ret_events = events;
	if (nr == 1)
		return 1;
	events[nr].name = "dummy:HG";
	event_metadata_attr(set, &events[nr].attr);
	for (size_t i = 0; i < nr; i++)
		events[i].ids = list_ids(set, (int)i, &events[i].nr_ids);
	events[nr].ids = list_ids(set, EVENT_FD_METADATA, &events[nr].nr_ids);
	return nr + 1;
}

void event_set_describe_free(struct perf_data_write_event *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free((void *)(uintptr_t)events[i].ids);
	free(events);
}
