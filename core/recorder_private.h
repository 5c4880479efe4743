/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of records, for core/recorder.c: what a stream fills, the worker writes and a
 * flight recorder keeps.
 *
 * A block belongs to whoever holds it: a stream, or the recorder under its lock, as
 * lists and the pool do.
 */
#ifndef SYMTOP_CORE_RECORDER_PRIVATE_H
#define SYMTOP_CORE_RECORDER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

enum {
	BLOCK_BYTES = 256 * 1024, /* holds at least three records of any size */
	BLOCK_MAX_MARKS = 16,
	MARK_BYTES = 8, /* a FINISHED_ROUND record */
	POOL_LISTS = 65,
};

/* Everything that comes after it in the file is younger than @cut_ns. */
struct block_mark {
	size_t offset; /* in the block */
	uint64_t cut_ns;
	uint64_t newest_ns; /* of the block's records before it */
};

struct block {
	struct block *next;
	unsigned char *bytes;
	size_t len, size;
	bool is_given;	      /* the bytes are somebody's, from malloc(): used once */
	unsigned int on_node; /* of its memory, counted from 1; 0: where it was touched */
	uint64_t newest_ns;   /* of its records; 0: empty */
	uint64_t oldest_ns;   /* all of its records are younger; 0: not known */
	unsigned int nr_marks;
	struct block_mark marks[BLOCK_MAX_MARKS];
};

/* A new one. NULL: the kernel gives no memory. */
struct block *block_new(unsigned int on_node);

/* One that is full of @bytes, of malloc(), taken over. */
struct block *block_new_given(void *bytes, size_t len, uint64_t newest_ns);
void block_free(struct block *block); /* NULL is fine */

size_t block_room(const struct block *block);

/*
 * Copy as many of @nr whole records as there is room for. Returns their bytes, and their
 * number in @ret_nr (NULL: of no interest). 0 also when no header can be right.
 */
size_t block_add(struct block *block, const unsigned char *records, size_t len, size_t nr,
		 uint64_t newest_ns, size_t *ret_nr);

/* Move as many records of @from, from its front, as @block has room for. */
void block_move(struct block *block, struct block *from);

/* Add a mark, @round, behind what there is; false: no room. */
bool block_add_mark(struct block *block, const unsigned char round[static MARK_BYTES],
		    uint64_t cut_ns);

/* What a reader of the file knows after what was written so far. */
struct mark_order {
	uint64_t newest_ns;   /* of all records */
	uint64_t marked_ns;   /* the same at the last mark: the next one gives out up to there */
	uint64_t released_ns; /* it gave out everything up to this */
};

/* The block is written next: take out the marks that would be wrong, or of no use, there. */
void block_settle_marks(struct block *block, struct mark_order *order);

/* ---- lists ---- */

struct block_list {
	struct block *first, *last;
	uint64_t bytes; /* in its blocks */
};

void block_list_add(struct block_list *list, struct block *block);
struct block *block_list_pop(struct block_list *list);			  /* NULL: empty */
void block_list_append(struct block_list *list, struct block_list *from); /* which is empty then */

/* ---- the pool ---- */

struct block_pool {
	struct block *idle[POOL_LISTS]; /* by node */
	size_t nr;			/* idle or not, given ones not counted */
};

/*
 * A block, of @on_node if there is one idle. NULL: none is idle; then *@ret_may_grow says
 * whether the caller may make one with block_new(), which is counted already: the number
 * stays up to @max.
 */
struct block *block_pool_get(struct block_pool *pool, unsigned int on_node, size_t max,
			     bool *ret_may_grow);

/* Idle again, and empty; a given block is freed. */
void block_pool_put(struct block_pool *pool, struct block *block);

/* All that are idle, chained, for block_chain_free(). */
struct block *block_pool_take_idle(struct block_pool *pool);
void block_chain_free(struct block *chain);

#endif /* SYMTOP_CORE_RECORDER_PRIVATE_H */
