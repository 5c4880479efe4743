/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/event_rings.c: sizes, limits, mapping and redirecting. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <unistd.h>

#include "core/event_set_private.h"
#include "tests/event_set_fixture.h"

static void test_rings_are_of_the_right_kind_and_events(void **state)
{
	(void)state;
	add_named("cycles", 0);
	add_named("instructions", 1);
	must_open();
	assert_int_equal(event_set_nr_cpus(set), 2);
	for (size_t i = 0; i < 2; i++) {
		struct cpu_rings *rings = event_set_cpu(set, i);

		assert_int_equal(rings->cpu, i);
		assert_int_equal(fake_ring(rings->samples)->kind, RING_OVERWRITE);
		assert_int_equal(fake_ring(rings->metadata)->kind, RING_FORWARD);
		assert_int_equal(fake_ring(rings->metadata)->fd, rings->metadata_fd);
		assert_int_equal(find_open((int)i, -1, true)->fd, rings->metadata_fd);
		/* The second event, opened last, writes into the first one's ring. */
		assert_int_equal(find_open((int)i, -1, false)->output,
				 fake_ring(rings->samples)->fd);
	}
	assert_int_equal(info.nr_fds, 6);
	assert_int_equal(info.nr_cpus_open, 2);
	assert_int_equal(info.sample_ring_bytes,
			 fake_ring(event_set_cpu(set, 0)->samples)->nr_pages * FAKE_PAGE);
}

static void test_ring_size_follows_the_rate(void **state)
{
	(void)state;
	add_named("cycles", 0);
	must_open();
	/* 48 bytes x 4000 Hz x 2 s x 1.5 = 576,000 */
	assert_int_equal(info.sample_ring_bytes, 1 << 20);
	assert_int_equal(info.metadata_ring_bytes, 512 << 10);
	event_set_close(set);
	set = NULL;
	options.callchain = true;
	must_open();
	assert_int_equal(info.sample_ring_bytes, 8 << 20);
	event_set_close(set);
	set = NULL;
	options.freq = 1;
	must_open();
	assert_int_equal(info.sample_ring_bytes, 16 * FAKE_PAGE);
}

static void test_metadata_rings_of_many_cpus_share_a_budget(void **state)
{
	static const struct {
		size_t nr_cpus, bytes;
	} cases[] = { { 1, 512 << 10 },	 { 64, 512 << 10 },  { 65, 256 << 10 },
		      { 272, 64 << 10 }, { 4096, 64 << 10 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(event_rings_metadata_pages(cases[i].nr_cpus) *
					 (size_t)sysconf(_SC_PAGESIZE),
				 cases[i].bytes);
}

static void test_fc017_page_counts_that_are_no_power_of_two(void **state)
{
	static const size_t pages[] = { 3, 5, 1000, SIZE_MAX };

	(void)state;
	add_named("cycles", 0);
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		options.sample_pages = pages[i];
		assert_int_equal(open_set(), -EINVAL);
		assert_non_null(strstr(err.text, "power of two"));
	}
	options.sample_pages = 64;
	options.metadata_pages = 32;
	must_open();
	assert_int_equal(info.sample_ring_bytes, 64 * FAKE_PAGE);
	assert_int_equal(info.metadata_ring_bytes, 32 * FAKE_PAGE);
}

static void test_fc119_rings_fit_in_the_mlock_budget(void **state)
{
	struct rlimit old;
	struct rlimit limit;

	(void)state;
	fake.has_capabilities = false;
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &old), 0);
	limit = old;
	limit.rlim_cur = 64 << 10;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	/* What Linux lets a user have: perf_event_mlock_kb a CPU and RLIMIT_MEMLOCK besides. */
	fake.max_locked_pages = 2 * 516 * 1024 / FAKE_PAGE + (64 << 10) / FAKE_PAGE;
	add_named("cycles", 0);
	must_open();
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &old), 0);
	assert_int_equal(nr_notes(), 0); /* at the first attempt */
	assert_true(info.sample_ring_bytes >= 128 << 10);
	assert_true(info.metadata_ring_bytes >= 128 << 10);
}

static void test_fc016_refused_rings_are_halved_and_said(void **state)
{
	(void)state;
	fake.max_locked_pages = 2 * (32 + 1 + 128 + 1);
	options.sample_pages = 1024;
	add_named("cycles", 0);
	must_open();
	assert_int_equal(fake.max_pages_asked, 1024);
	assert_true(fake.nr_locked_pages <= fake.max_locked_pages);
	assert_int_equal(fake.nr_rings, 4);
	/* No CPU got more than another. */
	assert_int_equal(fake_ring(event_set_cpu(set, 0)->samples)->nr_pages,
			 fake_ring(event_set_cpu(set, 1)->samples)->nr_pages);
	assert_int_equal(info.sample_ring_bytes,
			 fake_ring(event_set_cpu(set, 1)->samples)->nr_pages * FAKE_PAGE);
	assert_true(has_note("kernel.perf_event_mlock_kb is 516"));
	assert_true(has_note("RLIMIT_MEMLOCK"));
	assert_int_equal(err.code, 0);
}

static void test_fc016_down_to_one_page_each(void **state)
{
	(void)state;
	fake.max_locked_pages = 8;
	fake.ring_code = -ENOMEM;
	add_named("cycles", 0);
	must_open();
	assert_int_equal(info.sample_ring_bytes, FAKE_PAGE);
	assert_int_equal(info.metadata_ring_bytes, FAKE_PAGE);
}

static void test_fc016_nothing_is_left_when_it_fails(void **state)
{
	size_t before;

	(void)state;
	before = fake_count_fds();
	fake.max_locked_pages = 7;
	add_named("cycles", 0);
	assert_int_equal(open_set(), -EPERM);
	assert_non_null(strstr(err.text, "kernel.perf_event_mlock_kb"));
	assert_non_null(strstr(err.text, "RLIMIT_MEMLOCK"));
	assert_int_equal(fake.nr_rings, 0);
	assert_int_equal(fake_count_fds(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rings_are_of_the_right_kind_and_events),
		TEST(test_ring_size_follows_the_rate),
		TEST(test_metadata_rings_of_many_cpus_share_a_budget),
		TEST(test_fc017_page_counts_that_are_no_power_of_two),
		TEST(test_fc119_rings_fit_in_the_mlock_budget),
		TEST(test_fc016_refused_rings_are_halved_and_said),
		TEST(test_fc016_down_to_one_page_each),
		TEST(test_fc016_nothing_is_left_when_it_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
