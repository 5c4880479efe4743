/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to core/event_*.c: sample id (PERF_EVENT_IOC_ID) -> rank of the event.
 *
 * Threads: one thread adds; any number look up meanwhile, without a lock.
 */
#ifndef SYMTOP_CORE_EVENT_IDS_H
#define SYMTOP_CORE_EVENT_IDS_H

#include <stddef.h>
#include <stdint.h>

struct event_id_table;

/* Zero-initialised it is empty and usable. */
struct event_ids {
	_Atomic(struct event_id_table *) table;
};

/* An @id is never 0: the kernel counts from 1. */
void event_ids_add(struct event_ids *ids, uint64_t id, int index);

/* The rank, or -1 when @id was not added. */
int event_ids_find(const struct event_ids *ids, uint64_t id);

/* Empty and usable again. Nobody may look up meanwhile. */
void event_ids_clear(struct event_ids *ids);

#endif /* SYMTOP_CORE_EVENT_IDS_H */
