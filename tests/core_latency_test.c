/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures, and that each remedy of an advice is one, whatever the situation. */
#include "config.h"

#include "core/latency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/worker.h"

#define SEC NSEC_PER_SEC

static void test_stages_keep_last_total_and_max(void **state)
{
	struct latency *latency = latency_new();
	struct latency_figures figures;

	(void)state;
	latency_get(latency, &figures);
	assert_int_equal(figures.tick[TICK_COPY].nr, 0);
	latency_tick(latency, TICK_COPY, 5);
	latency_tick(latency, TICK_COPY, 9);
	latency_tick(latency, TICK_COPY, 2);
	latency_start(latency, START_OPEN, 70);
	latency_late(latency);
	latency_get(latency, &figures);
	assert_int_equal(figures.tick[TICK_COPY].nr, 3);
	assert_int_equal(figures.tick[TICK_COPY].last_ns, 2);
	assert_int_equal(figures.tick[TICK_COPY].total_ns, 16);
	assert_int_equal(figures.tick[TICK_COPY].max_ns, 9);
	assert_int_equal(figures.tick[TICK_DECODE].nr, 0);
	assert_int_equal(figures.start[START_OPEN].last_ns, 70);
	assert_int_equal(figures.nr_ticks_late, 1);
	latency_free(latency);
	latency_free(NULL);
}

static void add_many(void *arg)
{
	for (int i = 0; i < 10000; i++) {
		latency_tick(arg, TICK_DECODE, 1);
		latency_start(arg, START_MMAP, 2);
		latency_late(arg);
	}
}

static void test_workers_add_at_the_same_time(void **state)
{
	struct latency *latency = latency_new();
	struct worker *workers[2] = { NULL };
	struct latency_figures figures;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(worker_start("adder", add_many, latency, &workers[i], NULL), 0);
	for (size_t i = 0; i < 2; i++)
		worker_join(workers[i]);
	latency_get(latency, &figures);
	assert_int_equal(figures.tick[TICK_DECODE].total_ns, 20000);
	assert_int_equal(figures.start[START_MMAP].total_ns, 40000);
	assert_int_equal(figures.nr_ticks_late, 20000);
	latency_free(latency);
}

static void test_every_stage_has_its_own_name(void **state)
{
	(void)state;
	for (int i = 0; i < NR_START_STAGES; i++) {
		assert_non_null(start_stage_name((enum start_stage)i));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(start_stage_name((enum start_stage)i),
						start_stage_name((enum start_stage)j));
	}
	for (int i = 0; i < NR_TICK_STAGES; i++) {
		assert_non_null(tick_stage_name((enum tick_stage)i));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(tick_stage_name((enum tick_stage)i),
						tick_stage_name((enum tick_stage)j));
	}
}

static void assert_advice(const struct latency_situation *situation, const char *expected)
{
	char text[256];

	assert_int_equal(latency_advice(situation, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

static void test_slow_reading_is_told_with_three_remedies(void **state)
{
	struct latency_situation situation = {
		.read_ns = 1300 * NSEC_PER_MSEC,
		.refresh_ns = 2 * SEC,
		.freq = 4000,
		.nr_readers = 1,
		.nr_cpus = 64,
	};

	(void)state;
	assert_advice(&situation,
		      "reading takes 1.3 s of 2.0 s: -d 4, -F 1000 or --readers 4");
	situation.refresh_ns = 100 * NSEC_PER_MSEC;
	situation.read_ns = 60 * NSEC_PER_MSEC;
	assert_advice(&situation,
		      "reading takes 0.06 s of 0.10 s: -d 0.2, -F 1000 or --readers 4");
}

static void test_half_of_the_refresh_is_well(void **state)
{
	struct latency_situation situation = {
		.read_ns = SEC,
		.refresh_ns = 2 * SEC,
		.freq = 4000,
		.nr_readers = 1,
		.nr_cpus = 64,
	};

	(void)state;
	assert_advice(&situation, "");
	situation.read_ns++;
	assert_advice(&situation,
		      "reading takes 1.0 s of 2.0 s: -d 3.5, -F 1000 or --readers 4");
	/* Nothing is known yet. */
	situation.refresh_ns = 0;
	assert_advice(&situation, "");
}

static void test_one_reader_that_takes_much_longer_is_named(void **state)
{
	struct latency_situation situation = {
		.read_ns = 1300 * NSEC_PER_MSEC,
		.refresh_ns = 2 * SEC,
		.freq = 4000,
		.nr_readers = 4,
		.nr_cpus = 64,
		.worst_reader = 2,
		.worst_ns = 1250 * NSEC_PER_MSEC,
		.others_ns = 310 * NSEC_PER_MSEC,
	};

	(void)state;
	assert_advice(&situation, "reading takes 1.3 s of 2.0 s (reader 2 takes 1.2 s, the others "
				  "0.31 s): -d 4, -F 1000 or --readers 16");
	/* Twice as long is how chance deals CPUs out. */
	situation.others_ns = 625 * NSEC_PER_MSEC;
	assert_advice(&situation,
		      "reading takes 1.3 s of 2.0 s: -d 4, -F 1000 or --readers 16");
	/* Others that had nothing to do. */
	situation.others_ns = 0;
	assert_advice(&situation, "reading takes 1.3 s of 2.0 s (reader 2 takes 1.2 s, the others "
				  "0.00 s): -d 4, -F 1000 or --readers 16");
	/* One that is alone has no others, and one that is quick enough is no trouble. */
	situation.nr_readers = 1;
	assert_advice(&situation, "reading takes 1.3 s of 2.0 s: -d 4, -F 1000 or --readers 4");
	situation.nr_readers = 4;
	situation.read_ns = SEC;
	assert_advice(&situation, "");
}

static void test_never_more_readers_than_cpus(void **state)
{
	struct latency_situation situation = {
		.read_ns = 1300 * NSEC_PER_MSEC,
		.refresh_ns = 2 * SEC,
		.freq = 4000,
		.nr_readers = 1,
		.nr_cpus = 3,
	};

	(void)state;
	/* It takes three, there are three; with two it would not help. */
	assert_advice(&situation,
		      "reading takes 1.3 s of 2.0 s: -d 4, -F 1000 or --readers 3");
	situation.nr_cpus = 2;
	assert_advice(&situation, "reading takes 1.3 s of 2.0 s: -d 4 or -F 1000");
}

static void test_by_period_there_is_no_rate_to_lower(void **state)
{
	const struct latency_situation situation = {
		.read_ns = 1300 * NSEC_PER_MSEC,
		.refresh_ns = 2 * SEC,
		.nr_readers = 2,
		.nr_cpus = 2,
	};

	(void)state;
	assert_advice(&situation, "reading takes 1.3 s of 2.0 s: -d 4 or a period (-c) 3 times "
				  "as long");
}

static void test_rate_that_cannot_be_lowered_is_not_advised(void **state)
{
	const struct latency_situation situation = {
		.read_ns = 90 * SEC,
		.refresh_ns = 2 * SEC,
		.freq = 10,
		.nr_readers = 2,
		.nr_cpus = 2,
	};

	(void)state;
	assert_advice(&situation, "reading takes 90.0 s of 2.0 s: -d 270");
}

static void test_overwritten_samples_are_told_with_pages_and_rate(void **state)
{
	struct latency_situation situation = {
		.read_ns = 1,
		.refresh_ns = 2 * SEC,
		.freq = 4000,
		.nr_readers = 1,
		.nr_cpus = 2,
		.nr_overwritten = 8000,
		.ring_bytes = 512 * 1024,
		.page_size = 4096,
	};

	(void)state;
	/* Not knowing how many were read: twice the room or half the rate. */
	assert_advice(&situation,
		      "8000 samples overwritten in the last refresh: -m 256 or -F 2000");
	/* Two of three were lost: three times as much is needed, and some room. */
	situation.nr_samples = 4000;
	assert_advice(&situation,
		      "8000 samples overwritten in the last refresh: -m 512 or -F 1000");
	/* Few were lost. */
	situation.nr_samples = 1000000;
	assert_advice(&situation,
		      "8000 samples overwritten in the last refresh: -m 256 or -F 2000");
	/* A ring without bounds is no remedy. */
	situation.ring_bytes = 128 << 20;
	assert_advice(&situation,
		      "8000 samples overwritten in the last refresh: -F 2000");
}

static void test_both_troubles_are_told(void **state)
{
	const struct latency_situation situation = {
		.read_ns = 1300 * NSEC_PER_MSEC,
		.refresh_ns = 2 * SEC,
		.freq = 4000,
		.nr_readers = 1,
		.nr_cpus = 2,
		.nr_overwritten = 7,
		.ring_bytes = 64 * 1024,
		.page_size = 4096,
	};

	(void)state;
	assert_advice(&situation,
		      "reading takes 1.3 s of 2.0 s: -d 4 or -F 1000; "
		      "7 samples overwritten in the last refresh: -m 32 or -F 2000");
}

static void test_advice_is_cut_to_the_buffer(void **state)
{
	const struct latency_situation situation = {
		.read_ns = 1300 * NSEC_PER_MSEC,
		.refresh_ns = 2 * SEC,
		.freq = 4000,
		.nr_readers = 1,
		.nr_cpus = 2,
		.nr_overwritten = UINT64_MAX,
	};
	char whole[256];
	size_t len = latency_advice(&situation, whole, sizeof(whole));

	(void)state;
	for (size_t size = 1; size <= len; size++) {
		char *text = malloc(size);

		assert_non_null(text);
		assert_int_equal(latency_advice(&situation, text, size), size - 1);
		assert_int_equal(strlen(text), size - 1);
		assert_memory_equal(text, whole, size - 1);
		free(text);
	}
	assert_int_equal(latency_advice(&situation, NULL, 0), 0);
}

/* The number after @option in @text, 0 when it is not there. */
static double number_after(const char *text, const char *option)
{
	const char *found = strstr(text, option);

	return found ? strtod(found + strlen(option), NULL) : 0;
}

/* Each remedy, put into the model that it was computed by, must be one. */
static void check_remedies(const struct latency_situation *situation, const char *text)
{
	double read = (double)situation->read_ns;
	double refresh = (double)situation->refresh_ns;
	double delay = number_after(text, "-d ");
	double freq = number_after(text, "-F ");
	double readers = number_after(text, "--readers ");
	const double slack = 1 + 1e-9;

	assert_true(delay > 0);
	assert_true(read <= delay * (double)SEC / 3 * slack);
	assert_true(delay * (double)SEC / 3 <= 2 * read + 0.1 * (double)SEC);
	if (strstr(text, "-F ")) {
		assert_true(freq >= 1);
		assert_true(freq < (double)situation->freq);
		assert_true(read * freq / (double)situation->freq <= refresh / 4 * slack);
	}
	if (strstr(text, "--readers ")) {
		assert_true(readers > situation->nr_readers && readers <= situation->nr_cpus);
		assert_true(read * situation->nr_readers / readers <= refresh / 4 * slack);
	}
}

static void test_each_remedy_is_enough_alone(void **state)
{
	static const uint64_t refreshes[] = { SEC / 10, SEC / 2, SEC, 2 * SEC, 10 * SEC };
	static const uint64_t shares[] = { 51, 60, 75, 99, 100, 130, 400, 1000, 7777 };
	static const uint64_t freqs[] = { 1, 10, 99, 997, 4000, 49000 };
	static const unsigned int readers[] = { 1, 2, 3, 8, 16 };
	static const unsigned int cpus[] = { 1, 2, 6, 64, 272 };
	struct latency_situation situation = { 0 };
	char text[256];

	(void)state;
	for (size_t i = 0; i < 5 * 9 * 6 * 5 * 5; i++) {
		situation.refresh_ns = refreshes[i % 5];
		situation.read_ns = situation.refresh_ns / 100 * shares[i / 5 % 9];
		situation.freq = freqs[i / 45 % 6];
		situation.nr_readers = readers[i / 270 % 5];
		situation.nr_cpus = cpus[i / 1350 % 5];
		assert_true(latency_advice(&situation, text, sizeof(text)) > 0);
		check_remedies(&situation, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages_keep_last_total_and_max),
		cmocka_unit_test(test_workers_add_at_the_same_time),
		cmocka_unit_test(test_every_stage_has_its_own_name),
		cmocka_unit_test(test_slow_reading_is_told_with_three_remedies),
		cmocka_unit_test(test_half_of_the_refresh_is_well),
		cmocka_unit_test(test_one_reader_that_takes_much_longer_is_named),
		cmocka_unit_test(test_never_more_readers_than_cpus),
		cmocka_unit_test(test_by_period_there_is_no_rate_to_lower),
		cmocka_unit_test(test_rate_that_cannot_be_lowered_is_not_advised),
		cmocka_unit_test(test_overwritten_samples_are_told_with_pages_and_rate),
		cmocka_unit_test(test_both_troubles_are_told),
		cmocka_unit_test(test_advice_is_cut_to_the_buffer),
		cmocka_unit_test(test_each_remedy_is_enough_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
