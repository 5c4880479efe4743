/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks hold whole records only, so that each can be written, dropped or begun with by
 * itself. Where records end is found out, header by header, only when not all fit.
 *
 * A mark stands in the bytes where it shall be in the file; whether it may be there is
 * known when what is before it in the file is, so it is taken out again, seldom, when the
 * block is written. A block keeps room for one: a mark needs no block of its own then.
 *
 * Idle blocks of a node are used first, then new ones are made there while that is
 * allowed, then another node's are: far memory is slower, losing records is worse.
 */
#include "config.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/affinity.h"
#include "core/base/mem.h"
#include "core/recorder_private.h"

/* ---- one block ---- */

/* Pages of its own: a policy for a node is bound to whole ones that nobody has touched. */
struct block *block_new(unsigned int on_node)
{
	struct block *block;
	void *bytes =
		mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	if (on_node)
		affinity_bind_memory(bytes, BLOCK_BYTES, on_node - 1);
	block = mem_zalloc(sizeof(*block));
	block->bytes = bytes;
	block->size = BLOCK_BYTES;
	block->on_node = on_node;
	return block;
}

struct block *block_new_given(void *bytes, size_t len, uint64_t newest_ns)
{
	struct block *block = mem_zalloc(sizeof(*block));

	block->bytes = bytes;
	block->len = len;
	block->size = len;
	block->is_given = true;
	block->newest_ns = newest_ns;
	return block;
}

void block_free(struct block *block)
{
	if (!block)
		return;
	if (block->is_given)
		free(block->bytes);
	else
		munmap(block->bytes, block->size);
	free(block);
}

size_t block_room(const struct block *block)
{
	size_t used = block->len + MARK_BYTES;

	return used < block->size ? block->size - used : 0;
}

/* Of @nr records those that @room is enough for: their bytes, and how many in *@ret_nr. */
static size_t whole_records(const unsigned char *records, size_t len, size_t nr, size_t room,
			    size_t *ret_nr)
{
	size_t at = 0;

	*ret_nr = nr;
	if (len <= room)
		return len;
	*ret_nr = 0;
	while (len - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;

		memcpy(&header, records + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > len - at ||
		    header.size > room - at)
			break;
		at += header.size;
		++*ret_nr;
	}
	return at;
}

size_t block_add(struct block *block, const unsigned char *records, size_t len, size_t nr,
		 uint64_t newest_ns, size_t *ret_nr)
{
	size_t nr_fit;
	size_t fit = whole_records(records, len, nr, block_room(block), &nr_fit);

	if (ret_nr)
		*ret_nr = nr_fit;
	if (!fit)
		return 0;
	memcpy(block->bytes + block->len, records, fit);
	block->len += fit;
	block->newest_ns = MAX(block->newest_ns, newest_ns);
	return fit;
}

void block_move(struct block *block, struct block *from)
{
	size_t moved = block_add(block, from->bytes, from->len, 0, from->newest_ns, NULL);

	from->len -= moved;
	memmove(from->bytes, from->bytes + moved, from->len);
}

/* ---- marks ---- */

bool block_add_mark(struct block *block, const unsigned char round[static MARK_BYTES],
		    uint64_t cut_ns)
{
	struct block_mark *last = &block->marks[block->nr_marks ? block->nr_marks - 1 : 0];

	/* Nothing has come since the last one: it is as true with the later cut. */
	if (block->nr_marks && last->offset + MARK_BYTES == block->len) {
		last->cut_ns = cut_ns;
		return true;
	}
	if (block->nr_marks == BLOCK_MAX_MARKS || block->size - block->len < MARK_BYTES)
		return false;
	block->marks[block->nr_marks++] = (struct block_mark){
		.offset = block->len,
		.cut_ns = cut_ns,
		.newest_ns = block->newest_ns,
	};
	memcpy(block->bytes + block->len, round, MARK_BYTES);
	block->len += MARK_BYTES;
	return true;
}

void block_settle_marks(struct block *block, struct mark_order *order)
{
	size_t removed = 0;

	for (unsigned int i = 0; i < block->nr_marks; i++) {
		const struct block_mark *mark = &block->marks[i];
		size_t at = mark->offset - removed;

		order->newest_ns = MAX(order->newest_ns, mark->newest_ns);
		if (mark->cut_ns >= order->marked_ns && order->released_ns < order->newest_ns) {
			order->released_ns = order->marked_ns;
			order->marked_ns = order->newest_ns;
			continue;
		}
		block->len -= MARK_BYTES;
		memmove(block->bytes + at, block->bytes + at + MARK_BYTES, block->len - at);
		removed += MARK_BYTES;
	}
	block->nr_marks = 0;
	order->newest_ns = MAX(order->newest_ns, block->newest_ns);
}

/* ---- lists ---- */

void block_list_add(struct block_list *list, struct block *block)
{
	block->next = NULL;
	if (list->last)
		list->last->next = block;
	else
		list->first = block;
	list->last = block;
	list->bytes += block->len;
}

struct block *block_list_pop(struct block_list *list)
{
	struct block *block = list->first;

	if (!block)
		return NULL;
	list->first = block->next;
	if (!list->first)
		list->last = NULL;
	list->bytes -= block->len;
	block->next = NULL;
	return block;
}

void block_list_append(struct block_list *list, struct block_list *from)
{
	if (!from->first)
		return;
	if (list->last)
		list->last->next = from->first;
	else
		list->first = from->first;
	list->last = from->last;
	list->bytes += from->bytes;
	*from = (struct block_list){ 0 };
}

/* ---- the pool ---- */

struct block *block_pool_get(struct block_pool *pool, unsigned int on_node, size_t max,
			     bool *ret_may_grow)
{
	size_t own = on_node % POOL_LISTS;

	*ret_may_grow = false;
	if (!pool->idle[own] && pool->nr < max) {
		pool->nr++;
		*ret_may_grow = true;
		return NULL;
	}
	for (size_t i = 0; i < POOL_LISTS; i++) {
		struct block **idle = &pool->idle[(own + i) % POOL_LISTS];
		struct block *block = *idle;

		if (block) {
			*idle = block->next;
			block->next = NULL;
			return block;
		}
	}
	return NULL;
}

void block_pool_put(struct block_pool *pool, struct block *block)
{
	struct block **idle = &pool->idle[block->on_node % POOL_LISTS];

	if (block->is_given) {
		block_free(block);
		return;
	}
	block->len = 0;
	block->newest_ns = 0;
	block->oldest_ns = 0;
	block->nr_marks = 0;
	block->next = *idle;
	*idle = block;
}

struct block *block_pool_take_idle(struct block_pool *pool)
{
	struct block *chain = NULL;

	for (size_t i = 0; i < POOL_LISTS; i++) {
		while (pool->idle[i]) {
			struct block *block = pool->idle[i];

			pool->idle[i] = block->next;
			block->next = chain;
			chain = block;
			pool->nr--;
		}
	}
	return chain;
}

void block_chain_free(struct block *chain)
{
	while (chain) {
		struct block *next = chain->next;

		block_free(chain);
		chain = next;
	}
}
