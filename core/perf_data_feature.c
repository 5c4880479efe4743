/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A feature is a section at the end of a file, or a record in a stream from a pipe; its
 * contents are the same. All of them are optional, so what cannot be read is left out.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/perf_data_private.h"

#define MAX_EVENTS 65536
#define MAX_NODES 4096
#define MAX_ARGUMENTS 4096
#define MAX_COMMAND_BYTES 4096

/* ---- blobs ---- */

static const unsigned char *take(struct blob *blob, size_t size)
{
	const unsigned char *bytes = blob->next;

	if (size > (size_t)(blob->end - blob->next)) {
		blob->is_bad = true;
		blob->next = blob->end;
		return NULL;
	}
	blob->next += size;
	return bytes;
}

static uint32_t take_u32(struct blob *blob)
{
	const unsigned char *bytes = take(blob, 4);
	uint32_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

static uint64_t take_u64(struct blob *blob)
{
	const unsigned char *bytes = take(blob, 8);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

/* A length, padding included, and that many bytes. NULL: none; else the caller's. */
static char *take_string(struct blob *blob)
{
	uint32_t size = take_u32(blob);
	const unsigned char *bytes = take(blob, size);

	return bytes ? mem_strndup((const char *)bytes, size) : NULL;
}

static void set_string(struct blob *blob, char **text)
{
	free(*text);
	*text = take_string(blob);
}

/* ---- features ---- */

static void add_command(struct features *features, struct blob *blob)
{
	uint32_t nr = take_u32(blob);
	char *command = NULL;

	for (uint32_t i = 0; i < MIN(nr, MAX_ARGUMENTS) && !blob->is_bad; i++) {
		char *argument = take_string(blob);
		char *longer;

		if (!argument)
			break;
		longer = command ? mem_printf("%s %s", command, argument) : mem_strdup(argument);
		free(argument);
		free(command);
		command = longer;
		if (strlen(command) > MAX_COMMAND_BYTES)
			break;
	}
	free(features->command);
	features->command = command;
}

/* "available" stands first, but two descriptions of the format disagree. */
static void add_nr_cpus(struct features *features, struct blob *blob)
{
	uint32_t first = take_u32(blob);
	uint32_t second = take_u32(blob);

	if (blob->is_bad || MAX(first, second) > CPUMAP_MAX_CPUS)
		return;
	features->nr_cpus = MAX(first, second);
	features->nr_cpus_online = MIN(first, second);
}

static void forget_event_names(struct features *features)
{
	for (size_t i = 0; i < features->nr_event_names; i++)
		free(features->event_names[i]);
	free(features->event_names);
	features->event_names = NULL;
	features->nr_event_names = 0;
}

/* Only the names: attrs and ids stand elsewhere too. */
static void add_event_names(struct features *features, struct blob *blob)
{
	uint32_t nr = take_u32(blob);
	uint32_t attr_size = take_u32(blob);

	/* Each takes attr_size and 8 bytes at least. */
	if (blob->is_bad || nr > MAX_EVENTS || nr > (size_t)(blob->end - blob->next) / 8)
		return;
	forget_event_names(features);
	features->event_names = mem_calloc(nr, sizeof(char *));
	features->nr_event_names = nr;
	for (uint32_t i = 0; i < nr && !blob->is_bad; i++) {
		uint32_t nr_ids;

		take(blob, attr_size);
		nr_ids = take_u32(blob);
		features->event_names[i] = take_string(blob);
		take(blob, 8 * (size_t)nr_ids);
	}
}

static void add_nodes(struct features *features, struct blob *blob)
{
	uint32_t nr = take_u32(blob);

	if (blob->is_bad || nr > MAX_NODES || features->nodes)
		return;
	features->nodes = mem_calloc(nr, sizeof(*features->nodes));
	for (uint32_t i = 0; i < nr; i++) {
		struct node_entry *node = &features->nodes[features->nr_nodes];
		char *cpus;

		node->id = take_u32(blob);
		take(blob, 16); /* memory, all and free */
		cpus = take_string(blob);
		if (cpus && node->id < CPUMAP_MAX_CPUS &&
		    cpuset_parse(cpus, &node->cpus, NULL) == 0)
			features->nr_nodes++;
		free(cpus);
		if (blob->is_bad)
			return;
	}
}

static void add_sample_time(struct features *features, struct blob *blob)
{
	uint64_t first_ns = take_u64(blob);
	uint64_t last_ns = take_u64(blob);

	if (blob->is_bad || first_ns > last_ns)
		return;
	features->first_ns = first_ns;
	features->last_ns = last_ns;
}

/* Records, one after the other. */
static void add_build_ids(struct features *features, struct blob *blob)
{
	for (;;) {
		struct perf_event_header header;
		const unsigned char *bytes = blob->next;
		void *copy;

		if ((size_t)(blob->end - blob->next) < sizeof(header))
			return;
		memcpy(&header, bytes, sizeof(header));
		if (header.size < sizeof(header) || !take(blob, header.size))
			return;
		copy = mem_zalloc(header.size);
		memcpy(copy, bytes, header.size);
		features_add_build_id(features, copy);
		free(copy);
	}
}

void features_add(struct features *features, unsigned int number, const void *bytes, size_t size)
{
	struct blob blob = { .next = bytes, .end = (const unsigned char *)bytes + size };

	switch (number) {
	case FEATURE_BUILD_ID:
		add_build_ids(features, &blob);
		break;
	case FEATURE_HOSTNAME:
		set_string(&blob, &features->host);
		break;
	case FEATURE_OSRELEASE:
		set_string(&blob, &features->release);
		break;
	case FEATURE_VERSION:
		set_string(&blob, &features->version);
		break;
	case FEATURE_ARCH:
		set_string(&blob, &features->arch);
		break;
	case FEATURE_NRCPUS:
		add_nr_cpus(features, &blob);
		break;
	case FEATURE_CMDLINE:
		add_command(features, &blob);
		break;
	case FEATURE_EVENT_DESC:
		add_event_names(features, &blob);
		break;
	case FEATURE_NUMA_TOPOLOGY:
		add_nodes(features, &blob);
		break;
	case FEATURE_SAMPLE_TIME:
		add_sample_time(features, &blob);
		break;
	default:
		break; /* of no use here, or newer than we are */
	}
}

/* ---- build ids ---- */

void features_add_build_id(struct features *features, const struct perf_event_header *header)
{
	struct blob blob = { .next = (const unsigned char *)(header + 1),
			     .end = (const unsigned char *)header + header->size };
	const unsigned char *id;
	struct build_id_entry entry = { .size = sizeof(entry.id) };
	size_t size;

	take_u32(&blob); /* a guest's pid */
	id = take(&blob, 24);
	size = (size_t)(blob.end - blob.next);
	/* Guests have other files under the same paths. */
	if (!id || !memchr(blob.next, '\0', size) ||
	    (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) > PERF_RECORD_MISC_USER)
		return;
	if (header->misc & MISC_BUILD_ID_SIZE)
		entry.size = (uint8_t)MIN(id[20], sizeof(entry.id));
	memcpy(entry.id, id, entry.size);
	entry.path = mem_strndup((const char *)blob.next, size);
	entry.path_hash = hash_bytes(entry.path, strlen(entry.path));
	mutex_lock(&features->lock);
	mem_grow(features->build_ids, features->nr_build_ids, features->nr_build_ids_allocated);
	features->build_ids[features->nr_build_ids++] = entry;
	features->build_ids_sorted = false;
	mutex_unlock(&features->lock);
}

static int compare_build_ids(const void *left, const void *right)
{
	const struct build_id_entry *a = left;
	const struct build_id_entry *b = right;

	if (a->path_hash != b->path_hash)
		return a->path_hash < b->path_hash ? -1 : 1;
	return strcmp(a->path, b->path);
}

static const struct build_id_entry *find_build_id_locked(struct features *features,
							 const char *path) REQUIRES(features->lock)
{
	const struct build_id_entry *entries;
	uint64_t hash = hash_bytes(path, strlen(path));
	size_t first = 0, end = features->nr_build_ids;

	if (!features->build_ids_sorted && end)
		qsort(features->build_ids, end, sizeof(*entries), compare_build_ids);
	features->build_ids_sorted = true;
	entries = features->build_ids;
	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (entries[middle].path_hash < hash)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < features->nr_build_ids && entries[first].path_hash == hash; first++) {
		if (!strcmp(entries[first].path, path))
			return &entries[first];
	}
	return NULL;
}

size_t features_build_id(struct features *features, const char *path,
			 unsigned char ret_id[static 20])
{
	const struct build_id_entry *entry;
	size_t size = 0;

	mutex_lock(&features->lock);
	entry = find_build_id_locked(features, path);
	if (entry) {
		memcpy(ret_id, entry->id, sizeof(entry->id));
		size = entry->size;
	}
	mutex_unlock(&features->lock);
	return size;
}

void features_init(struct features *features)
{
	*features = (struct features){ 0 };
	mutex_init(&features->lock);
}

void features_release(struct features *features)
{
	forget_event_names(features);
	for (size_t i = 0; i < features->nr_build_ids; i++)
		free(features->build_ids[i].path);
	free(features->build_ids);
	free(features->nodes);
	free(features->host);
	free(features->release);
	free(features->version);
	free(features->arch);
	free(features->command);
	mutex_release(&features->lock);
}
