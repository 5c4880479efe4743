/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A feature is a row of a table: its number, and the function that appends its contents.
 * One that appends nothing is left out of the file.
 *
 * Texts are padded to 64 bytes and a size that includes the padding stands before them,
 * as perf record does it.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/perf_data_private.h"
#include "core/perf_data_write_private.h"

#define TEXT_ALIGN 64

/* Every second CPU: the longest list there is. */
#define MAX_CPU_LIST_BYTES ((size_t)CPUMAP_MAX_CPUS / 2 * sizeof("8190,"))

struct source {
	const struct perf_data_write_event *events;
	size_t nr_events;
	const struct perf_data_write_facts *facts;
};

/* ---- bytes ---- */

void put_bytes(struct textbuf *buf, const void *bytes, size_t size)
{
	if (size)
		textbuf_add(buf, bytes, size);
}

static void put_u32(struct textbuf *buf, uint32_t value)
{
	put_bytes(buf, &value, sizeof(value));
}

static void put_u64(struct textbuf *buf, uint64_t value)
{
	put_bytes(buf, &value, sizeof(value));
}

static size_t padded_size(const char *text)
{
	return (strlen(text) / TEXT_ALIGN + 1) * TEXT_ALIGN;
}

static void put_padded(struct textbuf *buf, const char *text)
{
	static const char zeros[TEXT_ALIGN];
	size_t len = strlen(text);

	put_bytes(buf, text, len);
	put_bytes(buf, zeros, padded_size(text) - len);
}

static void put_text(struct textbuf *buf, const char *text)
{
	put_u32(buf, (uint32_t)padded_size(text));
	put_padded(buf, text);
}

struct perf_event_attr attr_for_file(const struct perf_data_write_event *event)
{
	struct perf_event_attr attr = event->attr;

	/* What an old kernel had to be asked with fewer fields for is zeros beyond them. */
	attr.size = sizeof(attr);
	return attr;
}

/* ---- features ---- */

static void put_build_id(struct textbuf *buf, const struct perf_data_write_build_id *entry)
{
	unsigned char id[24] = { 0 }; /* 20 bytes, their number, and padding */
	struct perf_event_header header = {
		.type = FILE_BUILD_ID,
		.misc = MISC_BUILD_ID_SIZE,
	};

	/* Cut, it would be the path of another file. Nothing of that length can be mapped. */
	if (!entry->size || strlen(entry->path) >= PATH_MAX)
		return;
	header.misc |= entry->is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	header.size = (uint16_t)(sizeof(header) + 4 + sizeof(id) + padded_size(entry->path));
	id[20] = (unsigned char)MIN(entry->size, sizeof(entry->id));
	memcpy(id, entry->id, id[20]);
	put_bytes(buf, &header, sizeof(header));
	put_u32(buf, UINT32_MAX); /* a guest's pid: of none */
	put_bytes(buf, id, sizeof(id));
	put_padded(buf, entry->path);
}

static void put_build_ids(struct textbuf *buf, const struct source *source)
{
	for (size_t i = 0; i < source->facts->nr_build_ids; i++)
		put_build_id(buf, &source->facts->build_ids[i]);
}

static void put_host(struct textbuf *buf, const struct source *source)
{
	if (source->facts->host)
		put_text(buf, source->facts->host);
}

static void put_release(struct textbuf *buf, const struct source *source)
{
	if (source->facts->release)
		put_text(buf, source->facts->release);
}

static void put_version(struct textbuf *buf, const struct source *source)
{
	if (source->facts->version)
		put_text(buf, source->facts->version);
}

static void put_arch(struct textbuf *buf, const struct source *source)
{
	if (source->facts->arch)
		put_text(buf, source->facts->arch);
}

static void put_nr_cpus(struct textbuf *buf, const struct source *source)
{
	if (!source->facts->nr_cpus)
		return;
	put_u32(buf, source->facts->nr_cpus);
	put_u32(buf, source->facts->nr_cpus_online);
}

static void put_command(struct textbuf *buf, const struct source *source)
{
	const struct perf_data_write_facts *facts = source->facts;

	if (!facts->nr_arguments)
		return;
	put_u32(buf, (uint32_t)facts->nr_arguments);
	for (size_t i = 0; i < facts->nr_arguments; i++)
		put_text(buf, facts->arguments[i]);
}

/* This is where the names are. */
static void put_events(struct textbuf *buf, const struct source *source)
{
	put_u32(buf, (uint32_t)source->nr_events);
	put_u32(buf, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < source->nr_events; i++) {
		const struct perf_data_write_event *event = &source->events[i];
		struct perf_event_attr attr = attr_for_file(event);

		put_bytes(buf, &attr, sizeof(attr));
		put_u32(buf, (uint32_t)event->nr_ids);
		put_text(buf, event->name);
		put_bytes(buf, event->ids, event->nr_ids * sizeof(event->ids[0]));
	}
}

static void put_nodes(struct textbuf *buf, const struct source *source)
{
	const struct cpumap *map = source->facts->cpumap;
	char *list;

	if (!map || !map->has_nodes)
		return;
	list = mem_zalloc(MAX_CPU_LIST_BYTES);
	put_u32(buf, map->nr_nodes);
	for (int node = cpuset_next(&map->nodes, 0); node >= 0;
	     node = cpuset_next(&map->nodes, (unsigned int)node + 1)) {
		struct cpuset cpus;

		cpumap_node_cpus(map, (unsigned int)node, &cpus);
		cpuset_format(&cpus, list, MAX_CPU_LIST_BYTES);
		put_u32(buf, (uint32_t)node);
		/* Its memory, all and free, is not known; the format has no way to say so. */
		put_u64(buf, 0);
		put_u64(buf, 0);
		put_text(buf, list);
	}
	free(list);
}

static void put_sample_time(struct textbuf *buf, const struct source *source)
{
	if (!source->facts->last_ns)
		return;
	put_u64(buf, source->facts->first_ns);
	put_u64(buf, source->facts->last_ns);
}

static void put_clock(struct textbuf *buf, const struct source *source)
{
	if (source->facts->clock_resolution_ns)
		put_u64(buf, source->facts->clock_resolution_ns);
}

/* In the order of numbers, which is that of the file. */
static const struct written_feature {
	unsigned int number;
	void (*put)(struct textbuf *buf, const struct source *source);
} features[] = {
	{ FEATURE_BUILD_ID, put_build_ids },  { FEATURE_HOSTNAME, put_host },
	{ FEATURE_OSRELEASE, put_release },   { FEATURE_VERSION, put_version },
	{ FEATURE_ARCH, put_arch },	      { FEATURE_NRCPUS, put_nr_cpus },
	{ FEATURE_CMDLINE, put_command },     { FEATURE_EVENT_DESC, put_events },
	{ FEATURE_NUMA_TOPOLOGY, put_nodes }, { FEATURE_SAMPLE_TIME, put_sample_time },
	{ FEATURE_CLOCKID, put_clock },
};

_Static_assert(ARRAY_SIZE(features) <= MAX_WRITTEN_FEATURES, "sections have room for all");

void feature_list_init(struct feature_list *list, const struct perf_data_write_event *events,
		       size_t nr_events, const struct perf_data_write_facts *facts)
{
	struct source source = { .events = events, .nr_events = nr_events, .facts = facts };

	*list = (struct feature_list){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		size_t start = list->bytes.len;

		features[i].put(&list->bytes, &source);
		if (list->bytes.len == start)
			continue;
		list->mask |= UINT64_C(1) << features[i].number;
		list->sections[list->nr++] = (struct file_section){
			.offset = start,
			.size = list->bytes.len - start,
		};
	}
}

void feature_list_release(struct feature_list *list)
{
	textbuf_release(&list->bytes);
}
