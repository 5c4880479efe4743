/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring is a memfd which the test writes as the kernel would: record bytes first,
 * then data_head. Every record holds its number, so the tests know which came and
 * whether it is whole.
 */
#include "config.h"

#include "core/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/worker.h"

#if defined(__SANITIZE_THREAD__)
#define IS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_TSAN 1
#endif
#endif
#ifndef IS_TSAN
#define IS_TSAN 0
#endif

/* The kernel's side of a ring. */
struct fake {
	int fd;
	struct perf_event_mmap_page *page;
	unsigned char *data;
	size_t size;
	size_t map_size;
	uint64_t head;
	uint64_t nr_records;
	struct ring *ring;
	struct ring_buffer buffer;
};

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void fake_map(struct fake *fake, size_t nr_pages)
{
	*fake = (struct fake){ 0 };
	fake->size = nr_pages * page_size();
	fake->map_size = fake->size + page_size();
	fake->fd = memfd_create("ring", MFD_CLOEXEC);
	assert_true(fake->fd >= 0);
	assert_int_equal(ftruncate(fake->fd, (off_t)fake->map_size), 0);
	fake->page = mmap(NULL, fake->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, fake->fd, 0);
	assert_ptr_not_equal(fake->page, MAP_FAILED);
	fake->data = (unsigned char *)fake->page + page_size();
}

static void fake_init(struct fake *fake, enum ring_kind kind, size_t nr_pages)
{
	struct err err = { 0 };

	fake_map(fake, nr_pages);
	fake->page->data_offset = page_size();
	fake->page->data_size = fake->size;
	assert_int_equal(ring_open(fake->fd, kind, nr_pages, &fake->ring, &err), 0);
	assert_int_equal(ring_size(fake->ring), fake->size);
}

static void fake_release(struct fake *fake)
{
	ring_free(fake->ring);
	ring_buffer_release(&fake->buffer);
	munmap(fake->page, fake->map_size);
	close(fake->fd);
}

static void fake_copy(struct fake *fake, uint64_t pos, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fake->data[(pos + i) & (fake->size - 1)] = ((const unsigned char *)bytes)[i];
}

static void fake_publish(struct fake *fake)
{
	__atomic_store_n(&fake->page->data_head, fake->head, __ATOMIC_RELEASE);
}

/* A record of @size bytes that says @header_size: every word of it is its number. */
static void fake_put_as(struct fake *fake, enum ring_kind kind, size_t size, uint16_t header_size)
{
	uint64_t words[8192];
	struct perf_event_header header = {
		.type = PERF_RECORD_SAMPLE,
		.size = header_size,
	};

	assert_true(size <= sizeof(words) && size >= sizeof(header));
	for (size_t i = 0; i < size / 8; i++)
		words[i] = fake->nr_records;
	memcpy(words, &header, sizeof(header));
	if (kind == RING_OVERWRITE)
		fake->head -= size;
	fake_copy(fake, fake->head, words, size);
	if (kind == RING_FORWARD)
		fake->head += size;
	fake->nr_records++;
	fake_publish(fake);
}

static void fake_put(struct fake *fake, enum ring_kind kind, size_t size)
{
	fake_put_as(fake, kind, size, (uint16_t)size);
}

/* The number of a record, whose words must all be the same. */
static uint64_t number_of(const struct perf_event_header *header)
{
	const uint64_t *words = (const void *)header;

	assert_true((uintptr_t)header % 8 == 0);
	assert_true(header->size >= 16);
	for (size_t i = 2; i < header->size / 8; i++)
		assert_int_equal(words[i], words[1]);
	return words[1];
}

static void assert_next(struct fake *fake, uint64_t number)
{
	const struct perf_event_header *header = ring_next(fake->ring);

	assert_non_null(header);
	assert_int_equal(number_of(header), number);
}

static void assert_end(struct fake *fake)
{
	assert_null(ring_next(fake->ring));
	assert_null(ring_next(fake->ring));
}

static struct ring_stats stats_of(const struct fake *fake)
{
	struct ring_stats stats;

	ring_get_stats(fake->ring, &stats);
	return stats;
}

static void test_bad_page_counts_are_refused(void **state)
{
	static const size_t counts[] = { 0, 3, 6, SIZE_MAX, SIZE_MAX / 2 + 1 };
	struct ring *ring = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct err err = { 0 };

		assert_int_equal(ring_open(-1, RING_FORWARD, counts[i], &ring, &err), -EINVAL);
		assert_int_equal(err.code, -EINVAL);
		assert_null(ring);
	}
	ring_free(NULL);
}

static void test_map_failure_gives_its_errno(void **state)
{
	struct ring *ring = NULL;
	struct err err = { 0 };
	char size[32];

	(void)state;
	assert_int_equal(ring_open(-1, RING_OVERWRITE, 2, &ring, &err), -EBADF);
	snprintf(size, sizeof(size), "%zu KiB", 3 * page_size() / 1024);
	assert_non_null(strstr(err.text, size));
	assert_null(ring);
}

static void test_data_place_outside_of_the_map_is_refused(void **state)
{
	const uint64_t page = page_size();
	const uint64_t places[][2] = {
		{ 0, page },		 { page + 8, page },	  { page, 4 * page },
		{ 4 * page, page },	 { UINT64_MAX, page },	  { page, UINT64_MAX },
		{ page, page / 2 },	 { 2 * page, 2 * page }, { page, page + 8 },
		{ -page, 2 * page },
	};
	struct ring *ring = NULL;
	struct fake fake;

	(void)state;
	fake_map(&fake, 2);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		fake.page->data_offset = places[i][0];
		fake.page->data_size = places[i][1];
		assert_int_equal(ring_open(fake.fd, RING_FORWARD, 2, &ring, NULL), -EINVAL);
	}
	fake_release(&fake);
}

static void test_old_kernel_without_data_place_works(void **state)
{
	struct fake fake;

	(void)state;
	fake_map(&fake, 2);
	assert_int_equal(ring_open(fake.fd, RING_FORWARD, 2, &fake.ring, NULL), 0);
	assert_int_equal(ring_size(fake.ring), 2 * page_size());
	fake_put(&fake, RING_FORWARD, 32);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 32);
	assert_next(&fake, 0);
	assert_end(&fake);
	fake_release(&fake);
}

static void test_forward_ring_gives_oldest_first_and_space_back(void **state)
{
	struct fake fake;

	(void)state;
	fake_init(&fake, RING_FORWARD, 2);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 0);
	assert_end(&fake);
	fake_put(&fake, RING_FORWARD, 32);
	fake_put(&fake, RING_FORWARD, 24);
	assert_int_equal(ring_available(fake.ring), 56);
	assert_int_equal(fake.page->data_tail, 0);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 56);
	assert_int_equal(fake.page->data_tail, 56);
	assert_int_equal(ring_available(fake.ring), 0);
	assert_next(&fake, 0);
	assert_next(&fake, 1);
	assert_end(&fake);
	assert_int_equal(stats_of(&fake).bytes_read, 56);
	assert_int_equal(stats_of(&fake).bytes_overwritten, 0);
	fake_release(&fake);
}

static void test_forward_records_wrap_around_the_end(void **state)
{
	struct fake fake;
	uint64_t number = 0;

	(void)state;
	fake_init(&fake, RING_FORWARD, 1);
	/* 1000 does not divide the page: sooner or later every part of a record wraps. */
	for (int i = 0; i < 600; i++) {
		fake_put(&fake, RING_FORWARD, 1000);
		fake_put(&fake, RING_FORWARD, 16);
		assert_int_equal(ring_read(fake.ring, &fake.buffer), 1016);
		assert_next(&fake, number++);
		assert_next(&fake, number++);
		assert_end(&fake);
	}
	assert_int_equal(stats_of(&fake).nr_corrupt, 0);
	fake_release(&fake);
}

static void test_full_forward_ring_is_read_whole(void **state)
{
	struct fake fake;
	uint64_t nr;

	(void)state;
	fake_init(&fake, RING_FORWARD, 1);
	nr = fake.size / 64;
	for (uint64_t i = 0; i < nr; i++)
		fake_put(&fake, RING_FORWARD, 64);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), fake.size);
	for (uint64_t i = 0; i < nr; i++)
		assert_next(&fake, i);
	assert_end(&fake);
	fake_release(&fake);
}

static void test_overwrite_ring_gives_newest_first_and_only_new(void **state)
{
	struct fake fake;

	(void)state;
	fake_init(&fake, RING_OVERWRITE, 4);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 0);
	assert_end(&fake);
	fake_put(&fake, RING_OVERWRITE, 32);
	fake_put(&fake, RING_OVERWRITE, 48);
	/* From 0 downwards: through 2^64 at the first record. */
	assert_int_equal(fake.page->data_head, UINT64_MAX - 79);
	assert_int_equal(ring_available(fake.ring), 80);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 80);
	assert_next(&fake, 1);
	assert_next(&fake, 0);
	assert_end(&fake);
	fake_put(&fake, RING_OVERWRITE, 40);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 40);
	assert_next(&fake, 2);
	assert_end(&fake);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 0);
	assert_end(&fake);
	assert_int_equal(stats_of(&fake).bytes_read, 120);
	assert_int_equal(stats_of(&fake).bytes_overwritten, 0);
	assert_int_equal(stats_of(&fake).nr_corrupt, 0);
	fake_release(&fake);
}

static void test_overwrite_records_wrap_around_the_end(void **state)
{
	struct fake fake;

	(void)state;
	fake_init(&fake, RING_OVERWRITE, 1);
	for (uint64_t i = 0; i < 1200; i += 2) {
		fake_put(&fake, RING_OVERWRITE, 1000);
		fake_put(&fake, RING_OVERWRITE, 16);
		assert_int_equal(ring_read(fake.ring, &fake.buffer), 1016);
		assert_next(&fake, i + 1);
		assert_next(&fake, i);
		assert_end(&fake);
	}
	assert_int_equal(stats_of(&fake).bytes_overwritten, 0);
	fake_release(&fake);
}

static void test_head_wraps_through_zero_within_a_read(void **state)
{
	struct fake fake;

	(void)state;
	/* Backward: from just above 0 down to below it. The first read only sets the scene. */
	fake_init(&fake, RING_OVERWRITE, 1);
	fake.head = 40;
	fake_publish(&fake);
	ring_read(fake.ring, &fake.buffer);
	fake_put(&fake, RING_OVERWRITE, 32);
	fake_put(&fake, RING_OVERWRITE, 32);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 64);
	assert_next(&fake, 1);
	assert_next(&fake, 0);
	assert_end(&fake);
	fake_release(&fake);

	/* Forward: from just below 2^64 up over it. */
	fake_init(&fake, RING_FORWARD, 1);
	fake.head = UINT64_MAX - 39;
	fake_publish(&fake);
	ring_read(fake.ring, &fake.buffer);
	fake_put(&fake, RING_FORWARD, 32);
	fake_put(&fake, RING_FORWARD, 32);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 64);
	assert_next(&fake, 0);
	assert_next(&fake, 1);
	assert_end(&fake);
	assert_int_equal(fake.page->data_tail, 24);
	fake_release(&fake);
}

static void test_overwritten_records_are_counted_not_shown(void **state)
{
	struct fake fake;
	struct ring_stats stats;
	uint64_t nr = 0;
	uint64_t nr_put;

	(void)state;
	fake_init(&fake, RING_OVERWRITE, 4);
	nr_put = 6 * fake.size / 48;
	/* 48 does not divide the ring: its oldest record is overwritten in part. */
	for (uint64_t i = 0; i < nr_put; i++)
		fake_put(&fake, RING_OVERWRITE, 48);
	assert_int_equal(ring_available(fake.ring), fake.size);
	ring_read(fake.ring, &fake.buffer);
	for (const struct perf_event_header *header; (header = ring_next(fake.ring)); nr++)
		assert_int_equal(number_of(header), nr_put - 1 - nr);
	stats = stats_of(&fake);
	/* All but the margin, which is a quarter in a ring as small as this. */
	assert_in_range(nr, (fake.size - fake.size / 4) / 48 - 1, fake.size / 48);
	assert_int_equal(stats.bytes_read, nr * 48);
	assert_int_equal(stats.bytes_overwritten, (nr_put - nr) * 48);
	assert_int_equal(stats.nr_overwritten, nr_put - nr);
	assert_int_equal(stats.nr_corrupt, 0);

	/* And the next read is not troubled by it. */
	fake_put(&fake, RING_OVERWRITE, 48);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 48);
	assert_next(&fake, nr_put);
	assert_end(&fake);
	assert_int_equal(stats_of(&fake).nr_overwritten, nr_put - nr);
	fake_release(&fake);
}

static void test_intact_bytes_shrink_as_the_kernel_catches_up(void **state)
{
	const size_t big = 1 << 20;
	const size_t margin = 16 << 10;

	(void)state;
	/* Little in a big ring: the kernel is far away. */
	assert_int_equal(ring_intact_bytes(big, -4096, -4096, 4096), 4096);
	assert_int_equal(ring_intact_bytes(big, -4096, -8192, 4096), 4096);
	/* A full ring: the margin first, then what was written during the copy. */
	assert_int_equal(ring_intact_bytes(big, 0, 0, big), big - margin);
	assert_int_equal(ring_intact_bytes(big, 0, -800, big), big - margin - 800);
	assert_int_equal(ring_intact_bytes(big, 400, -400, big), big - margin - 800);
	assert_int_equal(ring_intact_bytes(big, 0, -(uint64_t)(big - margin), big), 0);
	assert_int_equal(ring_intact_bytes(big, 0, -(uint64_t)(big - margin + 8), 8), 0);
	assert_int_equal(ring_intact_bytes(big, 0, -(uint64_t)(big - margin - 8), 16), 8);
	/* Overtaken more than once, and heads that go the wrong way. */
	assert_int_equal(ring_intact_bytes(big, 0, -(uint64_t)(3 * big), big), 0);
	assert_int_equal(ring_intact_bytes(big, 0, 8, big), 0);
	/* A small ring gives a quarter; the result can hold no part of a word. */
	assert_int_equal(ring_intact_bytes(4096, 0, 0, 4096), 3072);
	assert_int_equal(ring_intact_bytes(4096, 0, -3, 4096), 3064);
}

static void test_unread_records_come_again(void **state)
{
	struct fake fake;

	(void)state;
	fake_init(&fake, RING_OVERWRITE, 4);
	for (int i = 0; i < 5; i++)
		fake_put(&fake, RING_OVERWRITE, 32 + 8 * (size_t)i);
	/* Before anything was handed out there is nothing to give back. */
	ring_read(fake.ring, &fake.buffer);
	ring_unread(fake.ring);
	/* 4 and 3 are too new. */
	assert_next(&fake, 4);
	ring_unread(fake.ring);
	assert_next(&fake, 3);
	ring_unread(fake.ring);
	assert_next(&fake, 2);
	assert_next(&fake, 1);
	assert_next(&fake, 0);
	assert_end(&fake);
	assert_int_equal(stats_of(&fake).bytes_read, 32 + 40 + 48);
	assert_int_equal(ring_available(fake.ring), 56 + 64);

	/* They come with what is newer; all are too new again. */
	fake_put(&fake, RING_OVERWRITE, 24);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 24 + 64 + 56);
	assert_next(&fake, 5);
	assert_next(&fake, 4);
	assert_next(&fake, 3);
	ring_unread(fake.ring);
	assert_end(&fake);
	assert_int_equal(stats_of(&fake).bytes_read, 32 + 40 + 48);

	/* The third time they are wanted, once. */
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 24 + 64 + 56);
	assert_next(&fake, 5);
	assert_next(&fake, 4);
	assert_next(&fake, 3);
	assert_end(&fake);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 0);
	assert_int_equal(stats_of(&fake).bytes_read, 32 + 40 + 48 + 56 + 64 + 24);
	assert_int_equal(stats_of(&fake).bytes_overwritten, 0);
	fake_release(&fake);
}

static void test_unread_records_that_are_overwritten_then_are_counted_once(void **state)
{
	struct fake fake;
	struct ring_stats stats;
	uint64_t nr = 0;
	uint64_t nr_put;

	(void)state;
	fake_init(&fake, RING_OVERWRITE, 1);
	nr_put = 4 * fake.size / 64;
	fake_put(&fake, RING_OVERWRITE, 64);
	fake_put(&fake, RING_OVERWRITE, 64);
	ring_read(fake.ring, &fake.buffer);
	assert_next(&fake, 1);
	ring_unread(fake.ring);
	assert_next(&fake, 0);
	assert_end(&fake);
	for (uint64_t i = 0; i < nr_put; i++)
		fake_put(&fake, RING_OVERWRITE, 64);
	ring_read(fake.ring, &fake.buffer);
	while (ring_next(fake.ring))
		nr++;
	stats = stats_of(&fake);
	assert_int_equal(stats.bytes_read, (1 + nr) * 64);
	assert_int_equal(stats.nr_overwritten, 1 + nr_put - nr);
	assert_int_equal(stats.bytes_overwritten + stats.bytes_read, (2 + nr_put) * 64);
	fake_release(&fake);
}

static void test_unread_leaves_a_forward_ring_alone(void **state)
{
	struct fake fake;

	(void)state;
	fake_init(&fake, RING_FORWARD, 1);
	fake_put(&fake, RING_FORWARD, 32);
	ring_read(fake.ring, &fake.buffer);
	assert_next(&fake, 0);
	ring_unread(fake.ring);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 0);
	assert_int_equal(stats_of(&fake).bytes_read, 32);
	fake_release(&fake);
}

static void check_bad_size(enum ring_kind kind, uint16_t bad_size)
{
	struct fake fake;

	fake_init(&fake, kind, 1);
	/* The record that the walk meets first is good, the one behind it is not. */
	if (kind == RING_FORWARD)
		fake_put(&fake, kind, 32);
	fake_put_as(&fake, kind, 32, bad_size);
	if (kind == RING_OVERWRITE)
		fake_put(&fake, kind, 32);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 64);
	assert_next(&fake, kind == RING_FORWARD ? 0 : 1);
	assert_end(&fake);
	assert_int_equal(stats_of(&fake).nr_corrupt, 1);
	assert_int_equal(stats_of(&fake).bytes_read, 32);

	/* The next read starts where the kernel is. */
	fake_put(&fake, kind, 24);
	assert_int_equal(ring_read(fake.ring, &fake.buffer), 24);
	assert_next(&fake, 2);
	assert_end(&fake);
	assert_int_equal(stats_of(&fake).nr_corrupt, 1);
	fake_release(&fake);
}

static void test_zero_length_record_does_not_loop(void **state)
{
	(void)state;
	check_bad_size(RING_FORWARD, 0);
	check_bad_size(RING_OVERWRITE, 0);
}

static void test_record_smaller_than_its_header_is_corrupt(void **state)
{
	(void)state;
	check_bad_size(RING_FORWARD, 4);
	check_bad_size(RING_OVERWRITE, 4);
}

static void test_record_of_odd_size_is_corrupt(void **state)
{
	(void)state;
	check_bad_size(RING_FORWARD, 28);
	check_bad_size(RING_OVERWRITE, 28);
}

static void test_record_beyond_the_end_is_corrupt(void **state)
{
	(void)state;
	check_bad_size(RING_FORWARD, 40);
	check_bad_size(RING_OVERWRITE, 40);
	check_bad_size(RING_FORWARD, 65528);
	check_bad_size(RING_OVERWRITE, 65528);
}

static void test_wild_heads_are_skipped(void **state)
{
	static const uint64_t heads[] = { 4, UINT64_MAX, 1000000 * 8, UINT64_MAX / 2 + 1 };
	static const enum ring_kind kinds[] = { RING_OVERWRITE, RING_FORWARD };

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(heads); i++) {
		struct fake fake;

		fake_init(&fake, kinds[i % 2], 1);
		fake.page->data_head = heads[i / 2];
		assert_int_equal(ring_read(fake.ring, &fake.buffer), 0);
		assert_end(&fake);
		assert_int_equal(stats_of(&fake).nr_corrupt, 1);
		assert_int_equal(stats_of(&fake).bytes_overwritten, 0);
		/* And then all is as ever. */
		fake.head = heads[i / 2] & ~UINT64_C(7);
		fake_put(&fake, kinds[i % 2], 32);
		assert_int_equal(ring_read(fake.ring, &fake.buffer), 32);
		assert_next(&fake, 0);
		fake_release(&fake);
	}
}

static void test_buffer_serves_rings_of_different_size(void **state)
{
	struct fake small, big;
	struct ring_buffer buffer = { 0 };

	(void)state;
	fake_init(&small, RING_OVERWRITE, 1);
	fake_init(&big, RING_OVERWRITE, 16);
	for (int i = 0; i < 100; i++) {
		fake_put(&small, RING_OVERWRITE, 32);
		fake_put(&big, RING_OVERWRITE, 8000);
		assert_int_equal(ring_read(small.ring, &buffer), 32);
		assert_next(&small, (uint64_t)i);
		assert_int_equal(ring_read(big.ring, &buffer), 8000);
		assert_next(&big, (uint64_t)i);
	}
	assert_int_equal(buffer.nr_allocated, big.size);
	ring_buffer_release(&buffer);
	assert_null(buffer.bytes);
	fake_release(&small);
	fake_release(&big);
}

/* Where bytes go that are read for the sanitizer's sake. */
static volatile uint64_t sink;

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Sum all bytes of all records, so that a sanitizer sees each one. */
static uint64_t walk_all(struct ring *ring, size_t limit, uint64_t *seed)
{
	uint64_t sum = 0;
	size_t walked = 0;

	for (const struct perf_event_header *header; (header = ring_next(ring));) {
		const unsigned char *bytes = (const void *)header;

		for (size_t i = 0; i < header->size; i++)
			sum += bytes[i];
		walked += header->size;
		assert_true(walked <= limit);
		if (next_random(seed) % 64 == 0)
			ring_unread(ring);
	}
	return sum;
}

static void check_random_bytes(enum ring_kind kind, int nr_iterations)
{
	uint64_t seed = UINT64_C(88172645463325252);
	struct fake fake;

	fake_init(&fake, kind, 1);
	for (int i = 0; i < nr_iterations; i++) {
		for (int j = 0; j < 32; j++) {
			uint64_t value = next_random(&seed);
			size_t word = next_random(&seed) % (fake.size / 8);

			/* Half of them could be headers. */
			if (value & 1)
				value = (value & 0xffffffff) | (value >> 60) << 51;
			memcpy(fake.data + 8 * word, &value, 8);
		}
		if (i % 100 == 0)
			fake.page->data_head = next_random(&seed);
		else if (kind == RING_OVERWRITE)
			fake.page->data_head -= 8 * (next_random(&seed) % 700);
		else
			fake.page->data_head += 8 * (next_random(&seed) % 513);
		assert_true(ring_read(fake.ring, &fake.buffer) <= fake.size);
		sink += walk_all(fake.ring, fake.size, &seed);
	}
	assert_true(stats_of(&fake).nr_corrupt > 0);
	assert_true(stats_of(&fake).bytes_read > 0);
	fake_release(&fake);
}

static void test_random_bytes_do_no_harm(void **state)
{
	(void)state;
	check_random_bytes(RING_OVERWRITE, 100000);
	check_random_bytes(RING_FORWARD, 100000);
}

struct flood {
	struct fake *fake;
	_Atomic bool stop;
};

static void flood_main(void *arg)
{
	struct flood *flood = arg;
	uint64_t seed = 12345;

	while (!atomic_load(&flood->stop))
		fake_put(flood->fake, RING_OVERWRITE, 16 + 8 * (next_random(&seed) % 60));
}

static void test_records_stay_whole_while_the_kernel_writes(void **state)
{
	struct fake fake;
	struct flood flood = { .fake = &fake };
	struct worker *worker = NULL;
	struct ring_stats stats;
	uint64_t nr_read = 0;

	(void)state;
	if (IS_TSAN) {
		print_message("skipped under TSan: the race is what is tested\n");
		skip();
	}
	fake_init(&fake, RING_OVERWRITE, 8);
	assert_int_equal(worker_start("flood", flood_main, &flood, &worker, NULL), 0);
	for (unsigned int i = 0; nr_read < 100000; i++) {
		const struct perf_event_header *header;
		uint64_t number = 0;

		/* Every other read finds the ring full: the kernel is at our heels. */
		while (ring_available(fake.ring) < (i % 2 ? fake.size : 1))
			sched_yield();
		ring_read(fake.ring, &fake.buffer);
		header = ring_next(fake.ring);
		for (; header; header = ring_next(fake.ring), nr_read++) {
			/* Newest first without a gap. */
			assert_true(!number || number_of(header) == number - 1);
			number = number_of(header);
		}
	}
	atomic_store(&flood.stop, true);
	worker_join(worker);
	ring_read(fake.ring, &fake.buffer);
	while (ring_next(fake.ring))
		nr_read++;
	stats = stats_of(&fake);
	assert_true(stats.bytes_overwritten > 0);
	assert_int_equal(stats.nr_corrupt, 0);
	/* Not a byte is unaccounted for. */
	assert_int_equal(stats.bytes_read + stats.bytes_overwritten, -fake.head);
	fake_release(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_page_counts_are_refused),
		cmocka_unit_test(test_map_failure_gives_its_errno),
		cmocka_unit_test(test_data_place_outside_of_the_map_is_refused),
		cmocka_unit_test(test_old_kernel_without_data_place_works),
		cmocka_unit_test(test_forward_ring_gives_oldest_first_and_space_back),
		cmocka_unit_test(test_forward_records_wrap_around_the_end),
		cmocka_unit_test(test_full_forward_ring_is_read_whole),
		cmocka_unit_test(test_overwrite_ring_gives_newest_first_and_only_new),
		cmocka_unit_test(test_overwrite_records_wrap_around_the_end),
		cmocka_unit_test(test_head_wraps_through_zero_within_a_read),
		cmocka_unit_test(test_overwritten_records_are_counted_not_shown),
		cmocka_unit_test(test_intact_bytes_shrink_as_the_kernel_catches_up),
		cmocka_unit_test(test_unread_records_come_again),
		cmocka_unit_test(test_unread_records_that_are_overwritten_then_are_counted_once),
		cmocka_unit_test(test_unread_leaves_a_forward_ring_alone),
		cmocka_unit_test(test_zero_length_record_does_not_loop),
		cmocka_unit_test(test_record_smaller_than_its_header_is_corrupt),
		cmocka_unit_test(test_record_of_odd_size_is_corrupt),
		cmocka_unit_test(test_record_beyond_the_end_is_corrupt),
		cmocka_unit_test(test_wild_heads_are_skipped),
		cmocka_unit_test(test_buffer_serves_rings_of_different_size),
		cmocka_unit_test(test_random_bytes_do_no_harm),
		cmocka_unit_test(test_records_stay_whole_while_the_kernel_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
