/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Build ids by path, of the files that were opened: what a recording says of its objects.
 * Any thread.
 */
#ifndef SYMTOP_SYMBOLS_BUILD_IDS_H
#define SYMTOP_SYMBOLS_BUILD_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/mutex.h"
#include "core/base/str.h"

struct build_id_entry {
	struct str *path; /* a reference */
	unsigned char id[20];
	uint8_t size; /* 0: the path stands for a file without one, or for several files */
};

struct build_ids {
	struct mutex lock; /* a leaf */
	struct build_id_entry *entries GUARDED_BY(lock);
	size_t nr GUARDED_BY(lock), nr_allocated GUARDED_BY(lock);
};

void build_ids_init(struct build_ids *ids);
void build_ids_release(struct build_ids *ids);

/* A file at @path has this id; @size 0: none. Past a limit new paths are ignored. */
void build_ids_add(struct build_ids *ids, struct str *path, const unsigned char id[static 20],
		   size_t size);

/* Each path that stands for one id. Called without the lock; borrowed during the call. */
void build_ids_walk(struct build_ids *ids,
		    void (*each)(void *arg, const char *path, const unsigned char *id, size_t size),
		    void *arg);

#endif /* SYMTOP_SYMBOLS_BUILD_IDS_H */
