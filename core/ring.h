/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One mmap'ed perf ring (perf_event_open(2), "MMAP layout").
 *
 * Two kinds, one reader:
 *  - RING_OVERWRITE: mapped read-only on a write_backward event. The kernel writes
 *    downwards and overwrites the oldest; we never slow it down and never pause it:
 *    a read copies what is new into a private buffer and then looks at the head
 *    again to see whether the kernel caught up with what was copied; what it may
 *    have touched is dropped and counted as overwritten.
 *  - RING_FORWARD: mapped writable, lossless while we keep up; the kernel counts
 *    what it could not write and says so in LOST records.
 *
 * A ring is used by one thread at a time. Records are handed out from the private
 * copy: valid until the next ring_read() of the same scratch buffer.
 */
#ifndef SYMTOP_CORE_RING_H
#define SYMTOP_CORE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

struct perf_event_header;
struct ring;

enum ring_kind { RING_OVERWRITE, RING_FORWARD };

/*
 * Statistics since the ring was opened; only grow. A read counts once its walk is
 * over (ring_next() returned NULL, or the next ring_read()).
 */
struct ring_stats {
	uint64_t bytes_read;
	uint64_t bytes_overwritten; /* written by the kernel and gone before we read them */
	uint64_t nr_overwritten;    /* the same as records, estimated from the mean record size */
	uint64_t nr_corrupt;	    /* no header could be right: the rest of a read skipped */
};

/* A private buffer that rings are copied to; one per reader, shared by its rings. */
struct ring_buffer {
	unsigned char *bytes;
	size_t nr_allocated;
	unsigned int on_node; /* memory of this NUMA node, counted from 1; 0: where it is touched */
};

void ring_buffer_release(struct ring_buffer *buffer);

/* From now on the buffer lies on NUMA node @node, if the kernel has any there. */
void ring_buffer_set_node(struct ring_buffer *buffer, unsigned int node);

/*
 * Map @nr_pages data pages (a power of two) of event @fd, which stays the
 * caller's. On success *@ret_ring is the caller's, who ends it with ring_free().
 *
 * Returns 0, -EINVAL for a bad page count, or what mmap(2) reported (EPERM: mlock
 * limits; ENOMEM).
 */
int ring_open(int fd, enum ring_kind kind, size_t nr_pages, struct ring **ret_ring,
	      struct err *err) MUST_CHECK;

/* Unmap and free. NULL is fine. */
void ring_free(struct ring *ring);

/* Data bytes of the ring, and how many of them a read would find now. */
size_t ring_size(const struct ring *ring);
size_t ring_available(const struct ring *ring);

/*
 * Copy what was written since the last read into @buffer. Then ring_next() hands
 * the records out: newest first from an overwrite ring, oldest first from a
 * forward ring. A forward ring's space goes back to the kernel at once, since
 * records live in the copy.
 *
 * Returns the number of bytes to walk.
 */
size_t ring_read(struct ring *ring, struct ring_buffer *buffer);

/* The next complete record of this read, or NULL. 8-byte aligned. */
const struct perf_event_header *ring_next(struct ring *ring);

/*
 * Overwrite rings only: pretend that the record which ring_next() returned last,
 * and all newer ones, have not been read: the next ring_read() finds them again.
 * For cutting a tick at a moment: call it for the oldest record that is too new, or
 * for each of them as they come, before the first one that is kept (times in a ring
 * are not quite sorted: a record that comes after a kept one must be kept, too).
 */
void ring_unread(struct ring *ring);

void ring_get_stats(const struct ring *ring, struct ring_stats *ret_stats);

/*
 * How many of @len bytes, copied upwards from position @head_before of an overwrite
 * ring of @size bytes, the kernel cannot have touched when its head stood at
 * @head_after once the copy was done. Here for its test.
 */
size_t ring_intact_bytes(size_t size, uint64_t head_before, uint64_t head_after, size_t len);

#endif /* SYMTOP_CORE_RING_H */
