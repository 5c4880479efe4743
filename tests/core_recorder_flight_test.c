/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/recorder.c: what is kept for later, and disks that are full. */
#include "config.h"

#include "tests/core_recorder_fixture.h"

/* ---- flight recorder ---- */

static void test_a_flight_recorder_writes_what_it_kept_then_what_comes(void **state)
{
	struct recorder *recorder = make(1000, 0);
	struct source source = source_of(recorder, 0);
	struct source facts = { .index = 7 };
	struct err err = { 0 };
	struct seen seen;

	(void)state;
	assert_true(record_stream_is_on(source.stream));
	assert_int_equal(recorder_oldest_ns(recorder), 0);
	for (uint64_t round = 1; round <= 100; round++) {
		drain(&source, 2, 64, 100 * round);
		recorder_add(recorder, make_records(&source, 1, 64, 100 * round), 64);
		recorder_end_round(recorder, 100 * round);
	}
	/* Of blocks of an eighth of the time, the oldest is partly too old. */
	assert_in_range(figures_of(recorder).kept_ns, 1000, 1300);
	assert_in_range(recorder_oldest_ns(recorder), 8700, 9000);
	assert_false(figures_of(recorder).kept_is_cut);
	/* The facts are as young as the moment: marks of what was kept would give them out. */
	assert_int_equal(recorder_start(recorder, new_writer(), make_records(&facts, 4, 64, 10000),
					256, &err),
			 0);
	assert_int_equal(figures_of(recorder).kept_bytes, 0);
	assert_int_equal(recorder_oldest_ns(recorder), 10000);
	for (uint64_t round = 101; round <= 110; round++) {
		drain(&source, 1, 64, 100 * round);
		recorder_end_round(recorder, 100 * round);
	}
	stop_and_wait(recorder);
	seen = look();
	assert_int_equal(seen.first_stream, 7);
	assert_int_equal(seen.next_of[0], 310);
	assert_int_equal(seen.nr_of[0], 310 - seen.first_of[0]);
	assert_in_range(seen.oldest_ns, 8700, 9000);
	assert_in_range(seen.nr_marks, 10, 12);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_marks_of_what_was_kept_stay_when_they_are_true(void **state)
{
	struct recorder *recorder = make(100000, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	for (uint64_t round = 1; round <= 10; round++) {
		drain(&source, 2, 64, 100 * round);
		recorder_end_round(recorder, 100 * round);
	}
	start(recorder);
	stop_and_wait(recorder);
	assert_int_equal(look().nr, 20);
	assert_int_equal(look().nr_marks, 10);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_a_flight_recorder_starts_anew_when_stopped(void **state)
{
	struct recorder *recorder = make(1000, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	drain(&source, 10, 64, 100);
	start(recorder);
	drain(&source, 10, 64, 200);
	disk_set_shut(true);
	recorder_stop(recorder, new_tail());
	assert_true(record_stream_is_on(source.stream));
	/* It keeps while the rest of the file is written. */
	drain(&source, 10, 64, 300);
	assert_int_equal(figures_of(recorder).state, RECORDER_FINISHING);
	assert_int_equal(figures_of(recorder).kept_bytes, 640);
	disk_set_shut(false);
	wait_off(recorder);
	assert_int_equal(look().nr, 20);
	disk_clear();
	start(recorder);
	stop_and_wait(recorder);
	assert_int_equal(look().nr, 10);
	assert_int_equal(look().first_of[0], 20);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_memory_cuts_what_is_kept_and_is_used_well(void **state)
{
	struct recorder *recorder = make(UINT64_MAX, 8 * MIB);
	struct source sources[MAX_STREAMS];
	struct recorder_figures figures;
	uint64_t nr_given = 0;
	struct seen seen;

	(void)state;
	for (uint32_t i = 0; i < MAX_STREAMS; i++)
		sources[i] = source_of(recorder, i);
	/* Mostly little, sometimes more than a block: 20 MiB or so. */
	for (uint64_t round = 1; round <= 1000; round++) {
		for (uint32_t i = 0; i < MAX_STREAMS; i++)
			drain(&sources[i], (round + i) % 100 ? 9 : 1500, 200, 100 * round);
		recorder_end_round(recorder, 100 * round);
	}
	figures = figures_of(recorder);
	assert_true(figures.kept_is_cut);
	/* An eighth is left for a recording's first moments. */
	assert_in_range(figures.kept_bytes, 7 * MIB * 8 / 10, 7 * MIB);
	assert_int_equal(figures.nr_dropped, 0);
	start(recorder);
	stop_and_wait(recorder);
	seen = look();
	/* The youngest, without a gap. */
	for (uint32_t i = 0; i < MAX_STREAMS; i++) {
		assert_int_equal(seen.next_of[i], sources[i].nr);
		assert_int_equal(seen.nr_of[i], sources[i].nr - seen.first_of[i]);
		nr_given += sources[i].nr;
		record_stream_free(sources[i].stream);
	}
	assert_true(seen.nr < nr_given);
	assert_int_equal(seen.nr_lost, 0);
	assert_false(figures_of(recorder).kept_is_cut);
	recorder_free(recorder);
}

static void test_time_that_fits_again_is_not_cut_any_more(void **state)
{
	struct recorder *recorder = make(1000, 4 * MIB);
	struct source source = source_of(recorder, 0);

	(void)state;
	drain(&source, 8000, 1000, 100);
	assert_true(figures_of(recorder).kept_is_cut);
	for (uint64_t round = 1; round <= 30; round++) {
		drain(&source, 1, 64, 100 + 100 * round);
		recorder_end_round(recorder, 100 + 100 * round);
	}
	assert_false(figures_of(recorder).kept_is_cut);
	assert_in_range(figures_of(recorder).kept_ns, 1000, 1300);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

/* ---- a full disk ---- */

static void test_a_full_disk_ends_the_recording(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	disk.full_after = 2;
	start(recorder);
	drain(&source, 10, 64, 100);
	recorder_end_round(recorder, 100);
	wait_written(recorder);
	disk_set_shut(true);
	drain(&source, 2000, 1000, 200);
	recorder_add_lost(recorder, 5, 200);
	disk_set_shut(false);
	wait_off(recorder);
	assert_false(record_stream_is_on(source.stream));
	assert_non_null(strstr(figures_of(recorder).trouble, strerror(ENOSPC)));
	assert_int_equal(figures_of(recorder).nr_finished, 1);
	assert_int_equal(figures_of(recorder).bytes_waiting, 0);
	assert_int_equal(disk.nr_finished, 1);
	assert_int_equal(look().nr, 10);
	drain(&source, 10, 64, 300);
	recorder_stop(recorder, new_tail());
	assert_int_equal(disk.nr_tails_written, 0);
	assert_int_equal(disk.nr_tails_freed, 1);
	/* Another time there is room. */
	disk_clear();
	start(recorder);
	assert_string_equal(figures_of(recorder).trouble, "");
	drain(&source, 5, 64, 400);
	stop_and_wait(recorder);
	assert_int_equal(look().nr, 5);
	assert_int_equal(look().nr_lost, 0);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_a_disk_that_is_full_after_the_stop_says_so_too(void **state)
{
	struct recorder *recorder = make(1000, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	disk.full_after = 2;
	disk_set_shut(true);
	start(recorder);
	drain(&source, 2000, 1000, 100);
	recorder_stop(recorder, new_tail());
	drain(&source, 10, 64, 200);
	disk_set_shut(false);
	wait_off(recorder);
	assert_non_null(strstr(figures_of(recorder).trouble, strerror(ENOSPC)));
	assert_int_equal(disk.nr_tails_written, 0);
	/* What was kept meanwhile is. */
	disk_clear();
	disk.finish_error = -EIO;
	start(recorder);
	stop_and_wait(recorder);
	assert_int_equal(look().nr, 10);
	assert_non_null(strstr(figures_of(recorder).trouble, strerror(EIO)));
	assert_int_equal(figures_of(recorder).nr_finished, 2);
	record_stream_free(source.stream);
	recorder_free(recorder);
	assert_int_equal(disk.nr_tails_freed, 2);
}

static void test_a_full_disk_lets_a_flight_recorder_keep_anew(void **state)
{
	struct recorder *recorder = make(1000, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	disk.full_after = 1;
	drain(&source, 10, 64, 100);
	start(recorder);
	wait_off(recorder);
	assert_true(record_stream_is_on(source.stream));
	assert_int_equal(figures_of(recorder).kept_bytes, 0);
	drain(&source, 10, 64, 200);
	assert_int_equal(figures_of(recorder).kept_bytes, 640);
	record_stream_free(source.stream);
	recorder_free(recorder);
	assert_int_equal(disk.nr_finished, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_a_flight_recorder_writes_what_it_kept_then_what_comes),
		CASE(test_marks_of_what_was_kept_stay_when_they_are_true),
		CASE(test_a_flight_recorder_starts_anew_when_stopped),
		CASE(test_memory_cuts_what_is_kept_and_is_used_well),
		CASE(test_time_that_fits_again_is_not_cut_any_more),
		CASE(test_a_full_disk_ends_the_recording),
		CASE(test_a_disk_that_is_full_after_the_stop_says_so_too),
		CASE(test_a_full_disk_lets_a_flight_recorder_keep_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
