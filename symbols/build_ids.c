/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording knows files by their paths, so a path with two files (containers, an upgrade)
 * must tell neither's id: the names of one would be taken for the other's.
 *
 * A list that is searched from end to end, once for each file whose symbols are loaded,
 * which takes a thousand times as long. Paths are compared by their pointers.
 */
#include "config.h"

#include "symbols/build_ids.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

#define MAX_ENTRIES 16384

void build_ids_init(struct build_ids *ids)
{
	*ids = (struct build_ids){ .nr = 0 };
	mutex_init(&ids->lock);
}

static void free_entries(struct build_id_entry *entries, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		str_put(entries[i].path);
	free(entries);
}

void build_ids_release(struct build_ids *ids)
{
	free_entries(ids->entries, ids->nr);
	mutex_release(&ids->lock);
}

static struct build_id_entry *find_locked(struct build_ids *ids, const struct str *path)
	REQUIRES(ids->lock)
{
	for (size_t i = 0; i < ids->nr; i++) {
		if (ids->entries[i].path == path)
			return &ids->entries[i];
	}
	return NULL;
}

static void add_locked(struct build_ids *ids, struct str *path, const unsigned char id[static 20],
		       size_t size) REQUIRES(ids->lock)
{
	struct build_id_entry *entry;

	if (ids->nr >= MAX_ENTRIES)
		return;
	mem_grow(ids->entries, ids->nr, ids->nr_allocated);
	entry = &ids->entries[ids->nr++];
	*entry = (struct build_id_entry){ .path = str_get(path), .size = (uint8_t)size };
	memcpy(entry->id, id, size);
}

void build_ids_add(struct build_ids *ids, struct str *path, const unsigned char id[static 20],
		   size_t size)
{
	struct build_id_entry *entry;

	size = MIN(size, sizeof(entry->id));
	mutex_lock(&ids->lock);
	entry = find_locked(ids, path);
	if (!entry)
		add_locked(ids, path, id, size);
	else if (entry->size != size || memcmp(entry->id, id, size) != 0)
		entry->size = 0;
	mutex_unlock(&ids->lock);
}

/* A copy, with references. */
static struct build_id_entry *copy_locked(struct build_ids *ids) REQUIRES(ids->lock)
{
	struct build_id_entry *copy = mem_calloc(ids->nr + 1, sizeof(*copy));

	for (size_t i = 0; i < ids->nr; i++) {
		copy[i] = ids->entries[i];
		str_get(copy[i].path);
	}
	return copy;
}

void build_ids_walk(struct build_ids *ids,
		    void (*each)(void *arg, const char *path, const unsigned char *id, size_t size),
		    void *arg)
{
	struct build_id_entry *entries;
	size_t nr;

	mutex_lock(&ids->lock);
	entries = copy_locked(ids);
	nr = ids->nr;
	mutex_unlock(&ids->lock);
	for (size_t i = 0; i < nr; i++) {
		if (entries[i].size)
			each(arg, entries[i].path->text, entries[i].id, entries[i].size);
	}
	free_entries(entries, nr);
}
