/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both kinds of ring are copied before they are walked. For a forward ring that
 * gives the space back at once and linearises records that wrap; for an overwrite
 * ring it makes the time in which the kernel can overtake us that of a memcpy().
 * Pausing an overwrite ring while it is walked was dropped: what the kernel would
 * have written meanwhile is lost and counted by nobody.
 *
 * Positions are the kernel's: 64-bit byte counts that wrap, the place in the ring is
 * position & (size - 1). An overwrite ring is written downwards from 0, so its newest
 * record starts at data_head and older ones follow upwards:
 *
 *	data_head      read_end (data_head of the last read)
 *	    | new: walked upwards | read before or overwritten by now |
 *
 * The race: the kernel goes on writing below data_head while we copy, which is the
 * upper end of the copy as soon as the ring has gone round. data_head is therefore
 * read again after the copy, and ring_intact_bytes() says how much of it nobody can
 * have touched. Tolerated: more than OVERWRITE_MARGIN bytes of unpublished records.
 */
#include "config.h"

#include "core/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/affinity.h"
#include "core/base/err.h"
#include "core/base/mem.h"

/*
 * Records that are being written lie below the published data_head: one in each of
 * the four contexts that can interrupt one another (task, softirq, hardirq, NMI). A
 * sample with 127 frames takes 1.2 KiB, so 16 KiB leave room for chains three times
 * as deep and for stores that a weakly ordered CPU makes visible early. Small rings
 * give a quarter.
 */
#define OVERWRITE_MARGIN (UINT64_C(16) << 10)

/* TSan sees our side of the race only, and gcc will not compile a fence for it. */
#ifdef __SANITIZE_THREAD__
#define read_barrier() __asm__ volatile("" : : : "memory")
#else
#define read_barrier() atomic_thread_fence(memory_order_acquire)
#endif

struct ring {
	enum ring_kind kind;
	unsigned char *map;
	size_t map_size;
	const unsigned char *data; /* inside the map */
	size_t size;		   /* of data, a power of two */

	/*
	 * Where the last read ended: in a forward ring data_tail; in an overwrite ring
	 * the position below which nothing has been read.
	 */
	uint64_t read_end;

	/* The walk over the copy. */
	const unsigned char *bytes;
	uint64_t base; /* position of bytes[0] */
	size_t len;
	size_t next;	  /* offset of the next record */
	bool is_cut;	  /* the copy ends where the kernel overtook us, perhaps within a record */
	size_t last_size; /* of the record handed out last, 0: none */
	uint64_t walked_bytes, walked_records; /* handed out and not taken back */

	struct ring_stats stats;
	uint64_t nr_records;	    /* with stats.bytes_read the mean record size */
	uint64_t bytes_unestimated; /* overwritten and not yet in stats.nr_overwritten */
};

static void ring_buffer_unmap(struct ring_buffer *buffer)
{
	if (buffer->bytes)
		munmap(buffer->bytes, buffer->nr_allocated);
	buffer->bytes = NULL;
	buffer->nr_allocated = 0;
}

void ring_buffer_release(struct ring_buffer *buffer)
{
	ring_buffer_unmap(buffer);
	buffer->on_node = 0;
}

void ring_buffer_set_node(struct ring_buffer *buffer, unsigned int node)
{
	if (buffer->on_node == node + 1)
		return;
	ring_buffer_unmap(buffer);
	buffer->on_node = node + 1;
}

/*
 * Pages of its own rather than malloc's: a policy for a node is bound to whole pages
 * that nobody has touched yet.
 */
static void ring_buffer_reserve(struct ring_buffer *buffer, size_t size)
{
	if (size <= buffer->nr_allocated)
		return;
	/* The old bytes are of no use: nothing to move. */
	ring_buffer_unmap(buffer);
	buffer->bytes =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer->bytes == MAP_FAILED)
		die("out of memory (%zu bytes for a ring's copy)", size);
	buffer->nr_allocated = size;
	if (buffer->on_node)
		affinity_bind_memory(buffer->bytes, size, buffer->on_node - 1);
}

static struct perf_event_mmap_page *ring_page(const struct ring *ring)
{
	return (void *)ring->map;
}

/* Acquire: the records below (forward) or above (overwrite) the head are read after it. */
static uint64_t ring_head(const struct ring *ring)
{
	return __atomic_load_n(&ring_page(ring)->data_head, __ATOMIC_ACQUIRE);
}

/* Kernels before 4.1 do not say where the data are: then they follow the first page. */
static int ring_find_data(struct ring *ring, size_t page_size, struct err *err)
{
	uint64_t offset = ring_page(ring)->data_offset;
	uint64_t size = ring_page(ring)->data_size;

	if (!size) {
		offset = page_size;
		size = ring->map_size - page_size;
	}
	if (offset < page_size || offset % page_size || offset > ring->map_size ||
	    size > ring->map_size - offset || size < page_size || (size & (size - 1)))
		return err_say(err, -EINVAL,
			       "ring: the kernel says %llu data bytes at %llu, in a map of %zu",
			       (unsigned long long)size, (unsigned long long)offset,
			       ring->map_size);
	ring->data = ring->map + offset;
	ring->size = size;
	return 0;
}

static int map_error(struct err *err, int code, size_t size)
{
	err_set(err, code, "ring: cannot map %zu KiB", size / 1024);
	if (code == -EPERM)
		err_hint(err, "Locked memory is limited by kernel.perf_event_mlock_kb and "
			      "RLIMIT_MEMLOCK (ulimit -l): raise one, or use smaller rings (-m)");
	return code;
}

int ring_open(int fd, enum ring_kind kind, size_t nr_pages, struct ring **ret_ring, struct err *err)
{
	int prot = kind == RING_OVERWRITE ? PROT_READ : PROT_READ | PROT_WRITE;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct ring *ring;
	void *map;
	int ret;

	if (!nr_pages || (nr_pages & (nr_pages - 1)) || nr_pages > SIZE_MAX / 4 / page_size)
		return err_say(err, -EINVAL, "ring: %zu pages are no power of two", nr_pages);
	ring = mem_zalloc(sizeof(*ring));
	ring->kind = kind;
	ring->map_size = (1 + nr_pages) * page_size;
	map = mmap(NULL, ring->map_size, prot, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		ret = map_error(err, -errno, ring->map_size);
		goto err_free;
	}
	ring->map = map;
	ret = ring_find_data(ring, page_size, err);
	if (ret < 0)
		goto err_free;
	*ret_ring = ring;
	return 0;

err_free:
	ring_free(ring);
	return ret;
}

void ring_free(struct ring *ring)
{
	if (!ring)
		return;
	if (ring->map)
		munmap(ring->map, ring->map_size);
	free(ring);
}

size_t ring_size(const struct ring *ring)
{
	return ring->size;
}

/* How far the kernel is ahead of us. */
static uint64_t ring_distance(const struct ring *ring, uint64_t head)
{
	return ring->kind == RING_OVERWRITE ? ring->read_end - head : head - ring->read_end;
}

size_t ring_available(const struct ring *ring)
{
	return MIN(ring_distance(ring, ring_head(ring)), ring->size);
}

/* Copy @len bytes from position @pos on: at most two pieces. */
static void ring_copy(const struct ring *ring, uint64_t pos, unsigned char *to, size_t len)
{
	size_t offset = pos & (ring->size - 1);
	size_t first = MIN(len, ring->size - offset);

	memcpy(to, ring->data + offset, first);
	memcpy(to + first, ring->data, len - first);
}

size_t ring_intact_bytes(size_t size, uint64_t head_before, uint64_t head_after, size_t len)
{
	uint64_t margin = MIN(OVERWRITE_MARGIN, size / 4);
	uint64_t written = head_before - head_after;

	/* A wild head gives a huge difference, and then nothing is intact. */
	if (written > size - margin)
		return 0;
	return MIN(len, size - margin - written) & ~(size_t)7;
}

static void ring_count_overwritten(struct ring *ring, uint64_t bytes)
{
	ring->stats.bytes_overwritten += bytes;
	ring->bytes_unestimated += bytes;
}

static size_t ring_read_overwrite(struct ring *ring, uint64_t head, struct ring_buffer *buffer)
{
	uint64_t nr_new = ring->read_end - head;
	size_t len = MIN(nr_new, ring->size);
	size_t intact;

	ring_copy(ring, head, buffer->bytes, len);
	/* The copy must be done before the head is looked at again. */
	read_barrier();
	intact = ring_intact_bytes(ring->size, head, ring_head(ring), len);
	ring->is_cut = intact < nr_new;
	ring_count_overwritten(ring, nr_new - intact);
	ring->base = head;
	ring->read_end = head;
	return intact;
}

static size_t ring_read_forward(struct ring *ring, uint64_t head, struct ring_buffer *buffer)
{
	size_t len = head - ring->read_end;

	ring_copy(ring, ring->read_end, buffer->bytes, len);
	ring->base = ring->read_end;
	ring->read_end = head;
	/* Release: the kernel may write here only after the copy is done. */
	__atomic_store_n(&ring_page(ring)->data_tail, head, __ATOMIC_RELEASE);
	return len;
}

/*
 * The walk is over: what was handed out is read for good. Overwritten bytes become
 * records by the mean size of those we saw, as soon as we saw any.
 */
static void ring_end_walk(struct ring *ring)
{
	uint64_t mean, nr;

	ring->stats.bytes_read += ring->walked_bytes;
	ring->nr_records += ring->walked_records;
	ring->walked_bytes = 0;
	ring->walked_records = 0;
	if (!ring->nr_records)
		return;
	mean = ring->stats.bytes_read / ring->nr_records;
	nr = ring->bytes_unestimated / mean;
	ring->stats.nr_overwritten += nr;
	ring->bytes_unestimated -= nr * mean;
}

/* No kernel moves its head like this: start anew from there. */
static size_t ring_resync(struct ring *ring, uint64_t head)
{
	ring->stats.nr_corrupt++;
	ring->read_end = head & ~UINT64_C(7);
	if (ring->kind == RING_FORWARD)
		__atomic_store_n(&ring_page(ring)->data_tail, ring->read_end, __ATOMIC_RELEASE);
	return 0;
}

size_t ring_read(struct ring *ring, struct ring_buffer *buffer)
{
	uint64_t head = ring_head(ring);
	uint64_t limit = ring->kind == RING_OVERWRITE ? UINT64_MAX / 2 : ring->size;

	ring_end_walk(ring);
	ring->next = 0;
	ring->last_size = 0;
	ring->is_cut = false;
	ring_buffer_reserve(buffer, ring->size);
	ring->bytes = buffer->bytes;
	if (head % 8 || ring_distance(ring, head) > limit)
		ring->len = ring_resync(ring, head);
	else if (ring->kind == RING_OVERWRITE)
		ring->len = ring_read_overwrite(ring, head, buffer);
	else
		ring->len = ring_read_forward(ring, head, buffer);
	return ring->len;
}

/* The copy ends within a record, or no header can be right here: skip what is left. */
static const struct perf_event_header *ring_stop(struct ring *ring, bool is_corrupt)
{
	if (is_corrupt)
		ring->stats.nr_corrupt++;
	else
		ring_count_overwritten(ring, ring->len - ring->next);
	ring->len = ring->next;
	ring_end_walk(ring);
	return NULL;
}

const struct perf_event_header *ring_next(struct ring *ring)
{
	const struct perf_event_header *header;
	size_t left = ring->len - ring->next;

	/* Lengths and sizes are multiples of 8, so a header is there as a whole or not at all. */
	if (!left) {
		ring_end_walk(ring);
		return NULL;
	}
	header = (const void *)(ring->bytes + ring->next);
	if (header->size < sizeof(*header) || header->size % 8)
		return ring_stop(ring, true);
	if (header->size > left)
		return ring_stop(ring, !ring->is_cut);
	ring->next += header->size;
	ring->last_size = header->size;
	ring->walked_bytes += header->size;
	ring->walked_records++;
	return header;
}

void ring_unread(struct ring *ring)
{
	if (ring->kind != RING_OVERWRITE || !ring->last_size)
		return;
	/* The end of the record: the next range reaches up to it. */
	ring->read_end = ring->base + ring->next;
	ring->walked_bytes = 0;
	ring->walked_records = 0;
}

void ring_get_stats(const struct ring *ring, struct ring_stats *ret_stats)
{
	*ret_stats = ring->stats;
}
