/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a dso is made of: shared by dso.c, dso_file.c, symbol_loader.c and
 * symbolizer.c, nobody else.
 *
 * dso.c owns identity, references, users and the held file; it only carries the
 * state of symbols, which is the symbolizer's, and calls its release hook.
 */
#ifndef SYMTOP_SYMBOLS_DSO_INTERNAL_H
#define SYMTOP_SYMBOLS_DSO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/build_ids.h"
#include "symbols/dso.h"

struct overlay;
struct perf_map;
struct symbol_table;

/* What one symbolizer has loaded. Its dsos may outlive it, so it is counted. Figures: relaxed. */
struct symbol_accounts {
	_Atomic uint32_t nr_refs; /* the symbolizer and its dsos; orders the free() */
	struct build_ids build_ids;
	_Atomic uint64_t nr_loaded;
	_Atomic uint64_t nr_failed;
	_Atomic uint64_t symbol_bytes;
	_Atomic bool kernel_hidden;
	_Atomic uint64_t nr_differing; /* of a recording, as in symbolizer_stats */
	_Atomic uint64_t nr_unverified;
	_Atomic bool kernel_differs;
};

enum symbols_state {
	SYMBOLS_NEW,	/* never tried: look-ups are pending */
	SYMBOLS_LOADED, /* read at least once */
	SYMBOLS_FAILED, /* tried; tried again from retry_ns on */
};

enum request {
	REQUEST_HOLD, /* open the file before it is gone */
	REQUEST_LOAD, /* read the symbols, or look for newer ones */
	NR_REQUESTS,
};

/* Zeroed it is a dso nobody has asked for. */
struct dso_symbols {
	/* What look-ups read, without a lock. Each is released by who publishes it. */
	_Atomic(struct symbol_table *) base; /* set once, freed with the dso */
	_Atomic(struct overlay *) overlay;   /* what came later; newer than base */
	_Atomic uint32_t state;		     /* enum symbols_state, stored after base */
	_Atomic uint32_t generation;	     /* symbolizer_generation(), stored last */
	_Atomic uint64_t retry_ns; /* asking again is worth a request from here on; relaxed */
	_Atomic uint64_t bytes;	   /* of all tables; relaxed, a statistic and a limit */

	_Atomic uint32_t wanted; /* bits: 1 << enum request; cleared by the worker when done */
	struct dso *next[NR_REQUESTS]; /* in the queue of each; guarded by the symbolizer's lock */

	/* The loading worker's, handed on through wanted; then the release hook's. */
	struct perf_map *map;
	uint64_t backoff_ns;
	bool counted_loaded;
	bool counted_failed;

	struct symbol_accounts *accounts; /* a reference, once anything was asked for */
	void (*release)(struct dso *dso); /* NULL as long as there is nothing to release */
};

enum {
	NR_DSO_USERS = 4, /* the first process and the latest three */
};

struct dso {
	_Atomic uint32_t nr_refs;
	struct dso_table *table;
	struct dso *next; /* in its bucket; guarded by the shard's lock */
	uint64_t hash;
	struct dso_key key;
	struct str *path;
	struct str *name;

	/* Hints, so relaxed: a lost update costs nothing. 0: none. */
	_Atomic uint32_t users[NR_DSO_USERS];
	_Atomic uint32_t next_user;
	_Atomic bool seen; /* mapped again since its file was last considered for closing */

	/* Guarded by table->files_lock. */
	int fd; /* held open, or -1 */
	struct dso *newer_file;
	struct dso *older_file;

	struct dso_symbols symbols;
};

/* The pids noted, the first one first. Returns how many. */
size_t dso_users(const struct dso *dso, uint32_t ret_users[static NR_DSO_USERS]);

/*
 * Hold @fd for @dso, which must have none; when @max files are held already, the
 * coldest is closed. The dso owns @fd from here on.
 */
void dso_keep_file(struct dso *dso, int fd, unsigned int max);

/* Take the held file out; -1 when there is none (any more). */
int dso_steal_file(struct dso *dso);

#endif /* SYMTOP_SYMBOLS_DSO_INTERNAL_H */
