/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which event a record belongs to, and so how it is to be read.
 *
 * Events may ask for different fields; then perf record sees to it that the id and the
 * time stand at the same place in all of them, so the first event's format tells the id.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/perf_data_private.h"

#define MAX_EVENTS 65536
/* 272 CPUs with 700 events have 190,400. */
#define MAX_IDS ((size_t)4 << 20)

static bool same_format(const struct record_format *a, const struct record_format *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_sample_type == b->branch_sample_type &&
	       a->sample_regs_user == b->sample_regs_user &&
	       a->sample_regs_intr == b->sample_regs_intr && a->sample_id_all == b->sample_id_all;
}

int attr_table_add_ids(struct attr_table *table, size_t index, const void *ids, size_t nr_ids)
{
	const unsigned char *bytes = ids;

	if (nr_ids > MAX_IDS - table->nr_ids)
		return -E2BIG;
	table->nr_ids += nr_ids;
	for (size_t i = 0; i < nr_ids; i++) {
		uint64_t id;

		memcpy(&id, bytes + 8 * i, sizeof(id));
		event_ids_add(&table->ids, id, (int)index);
	}
	return 0;
}

int attr_table_add(struct attr_table *table, const void *attr, size_t size, const void *ids,
		   size_t nr_ids)
{
	struct attr_entry *entry;

	if (table->nr >= MAX_EVENTS)
		return -E2BIG;
	mem_grow(table->entries, table->nr, table->nr_allocated);
	entry = &table->entries[table->nr];
	*entry = (struct attr_entry){ .name = NULL };
	memcpy(&entry->attr, attr, MIN(size, sizeof(entry->attr)));
	entry->format = (struct record_format){
		.sample_type = entry->attr.sample_type,
		.read_format = entry->attr.read_format,
		.branch_sample_type = entry->attr.branch_sample_type,
		.sample_regs_user = entry->attr.sample_regs_user,
		.sample_regs_intr = entry->attr.sample_regs_intr,
		.sample_id_all = entry->attr.sample_id_all,
		.build_ids = entry->attr.build_id,
	};
	table->same_format = !table->nr || (table->same_format &&
					    same_format(&entry->format, &table->entries[0].format));
	return attr_table_add_ids(table, table->nr++, ids, nr_ids);
}

int attr_table_add_record(struct attr_table *table, const struct perf_event_header *header)
{
	const unsigned char *bytes = (const unsigned char *)(header + 1);
	size_t size = header->size - sizeof(*header);
	uint32_t attr_size;

	if (size < PERF_ATTR_SIZE_VER0)
		return 0;
	memcpy(&attr_size, bytes + 4, sizeof(attr_size));
	if (!attr_size)
		attr_size = PERF_ATTR_SIZE_VER0;
	if (attr_size < PERF_ATTR_SIZE_VER0 || attr_size > size)
		return 0;
	return attr_table_add(table, bytes, attr_size, bytes + attr_size, (size - attr_size) / 8);
}

/* Only names: "type" 2. What it is called in perf.data(5) is PERF_EVENT_UPDATE__NAME. */
void attr_table_update(struct attr_table *table, const struct perf_event_header *header)
{
	const uint64_t *words = (const void *)(header + 1);
	size_t size = header->size - sizeof(*header);
	const char *name = (const char *)(words + 2);
	int index;

	if (size <= 16 || words[0] != 2)
		return;
	index = event_ids_find(&table->ids, words[1]);
	if (index < 0)
		return;
	free(table->entries[index].name);
	table->entries[index].name = mem_strndup(name, size - 16);
}

static int find_index(struct attr_table *table, uint64_t id)
{
	int index;

	if (id && id == table->last_id)
		return table->last_index;
	index = event_ids_find(&table->ids, id);
	if (index >= 0) {
		table->last_id = id;
		table->last_index = index;
	}
	return index;
}

bool attr_table_identify(struct attr_table *table, const struct perf_event_header *header,
			 uint64_t *ret_time, size_t *ret_event)
{
	const struct attr_entry *entries = table->entries;
	struct record_id id;
	int index = 0;

	if (!table->nr || !record_decode_id(&entries[0].format, header, &id))
		return false;
	if (table->nr > 1) {
		index = find_index(table, id.id);
		if (index < 0 && id.id && header->type == PERF_RECORD_SAMPLE)
			return false;
		/* Synthesized records have no id: they are like the first event's. */
		index = MAX(index, 0);
		if (!table->same_format && index &&
		    !record_decode_id(&entries[index].format, header, &id))
			return false;
	}
	*ret_time = id.time;
	*ret_event = (size_t)index;
	return true;
}

void attr_table_release(struct attr_table *table)
{
	for (size_t i = 0; i < table->nr; i++)
		free(table->entries[i].name);
	free(table->entries);
	event_ids_clear(&table->ids);
	*table = (struct attr_table){ 0 };
}
