/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/recorder.c: files that are written while records come, and their marks. */
#include "config.h"

#include "tests/core_recorder_fixture.h"

/* ---- writing ---- */

static void test_everything_is_written_in_the_order_it_was_handed_over(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source first = { .index = 7 };
	struct source sources[3];
	struct err err = { 0 };
	struct seen seen;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		sources[i] = source_of(recorder, i);
	assert_int_equal(recorder_start(recorder, new_writer(), make_records(&first, 10, 64, 5),
					10 * 64, &err),
			 0);
	for (uint64_t round = 1; round < 40; round++) {
		drain(&sources[0], 10, 48, 100 * round);
		drain(&sources[1], 1 + round * 11 % 900, 1000, 100 * round + 1);
		for (int i = 0; i < 50; i++)
			give(&sources[2], 1, 65528, 100 * round + 2);
		record_stream_flush(sources[2].stream);
		recorder_end_round(recorder, 100 * round + 2);
		wait_written(recorder);
	}
	stop_and_wait(recorder);
	seen = look();
	assert_int_equal(seen.first_stream, 7);
	assert_int_equal(seen.nr_of[7], 10);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(seen.nr_of[i], sources[i].nr);
		record_stream_free(sources[i].stream);
	}
	/* The first at the first round's end: the data are of at most two rounds then. */
	assert_int_equal(seen.nr_marks, 39);
	assert_int_equal(seen.nr_lost, 0);
	assert_int_equal(figures_of(recorder).nr_dropped, 0);
	assert_int_equal(figures_of(recorder).bytes_written, disk.len);
	assert_int_equal(figures_of(recorder).bytes_waiting, 0);
	assert_string_equal(figures_of(recorder).trouble, "");
	recorder_free(recorder);
	assert_int_equal(disk.nr_finished, 1);
	assert_int_equal(disk.nr_tails_written, 1);
	assert_int_equal(disk.nr_tails_freed, 1);
}

static void test_nothing_is_taken_when_nobody_wants_it(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	assert_false(record_stream_is_on(source.stream));
	drain(&source, 5, 64, 100);
	recorder_add_lost(recorder, 3, 100);
	recorder_add(recorder, make_records(&source, 1, 64, 100), 64);
	recorder_end_round(recorder, 100);
	recorder_stop(recorder, new_tail());
	assert_int_equal(recorder_oldest_ns(recorder), UINT64_MAX);
	start(recorder);
	assert_true(record_stream_is_on(source.stream));
	drain(&source, 1, 64, 200);
	stop_and_wait(recorder);
	assert_false(record_stream_is_on(source.stream));
	drain(&source, 1, 64, 300);
	assert_int_equal(look().nr, 1);
	assert_int_equal(look().first_of[0], 6);
	assert_int_equal(look().nr_lost, 0);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_a_round_is_written_before_the_next_one(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	start(recorder);
	drain(&source, 1, 64, 100);
	assert_int_equal(figures_of(recorder).bytes_waiting, 64);
	recorder_end_round(recorder, 100);
	wait_written(recorder);
	assert_int_equal(figures_of(recorder).bytes_written, 64 + 8);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_a_second_recording_waits_for_the_first(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);
	struct perf_data_writer *writer = new_writer();
	struct err err = { 0 };

	(void)state;
	start(recorder);
	assert_int_equal(recorder_start(recorder, writer, NULL, 0, &err), -EBUSY);
	disk_set_shut(true);
	drain(&source, 100, 64, 100);
	/* Does not wait for the disk, which stands still. */
	recorder_stop(recorder, new_tail());
	assert_int_equal(figures_of(recorder).state, RECORDER_FINISHING);
	assert_int_equal(figures_of(recorder).bytes_waiting, 6400);
	assert_false(record_stream_is_on(source.stream));
	assert_int_equal(recorder_start(recorder, writer, NULL, 0, &err), -EBUSY);
	disk_set_shut(false);
	wait_off(recorder);
	assert_int_equal(look().nr, 100);
	disk_clear();
	assert_int_equal(recorder_start(recorder, writer, NULL, 0, &err), 0);
	drain(&source, 7, 64, 100);
	stop_and_wait(recorder);
	assert_int_equal(look().nr, 7);
	assert_int_equal(figures_of(recorder).nr_finished, 2);
	assert_int_equal(disk.nr_tails_written, 2);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_freeing_writes_what_was_handed_over(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	start(recorder);
	drain(&source, 3000, 1000, 100);
	give(&source, 5, 64, 200);
	record_stream_free(source.stream);
	recorder_free(recorder);
	assert_int_equal(look().nr, 3005);
	assert_int_equal(disk.nr_finished, 1);
	assert_int_equal(disk.nr_tails_written, 0);
}

/* ---- blocks run out ---- */

static void test_what_finds_no_block_is_counted_and_told(void **state)
{
	struct recorder *recorder = make(0, 4 * MIB);
	struct source source = source_of(recorder, 0);
	struct source added = { .index = 1 };
	struct seen seen;

	(void)state;
	disk_set_shut(true);
	start(recorder);
	drain(&source, 8 * 1024, 1024, 100);
	disk_wait_held();
	/* Sixteen blocks, each with room for a mark: one record less. */
	assert_int_equal(figures_of(recorder).nr_dropped, 8 * 1024 - 16 * 255);
	/* What is given by ourselves is never dropped. */
	recorder_add(recorder, make_records(&added, 3, 2048, 150), (size_t)3 * 2048);
	recorder_end_round(recorder, 150);
	disk_set_shut(false);
	wait_written(recorder);
	drain(&source, 10, 1024, 200);
	stop_and_wait(recorder);
	seen = look();
	assert_int_equal(seen.nr_of[0], 16 * 255 + 10);
	assert_int_equal(seen.nr_of[1], 3);
	assert_int_equal(seen.nr_lost, figures_of(recorder).nr_dropped);
	assert_int_equal(seen.nr_lost, 8 * 1024 - 16 * 255);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_lost_samples_are_told_younger_than_the_cut(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	start(recorder);
	for (uint64_t round = 1; round <= 10; round++) {
		drain(&source, 1, 64, 100 * round);
		recorder_end_round(recorder, 100 * round);
		/* They were lost long ago. */
		recorder_add_lost(recorder, 4, 50);
	}
	stop_and_wait(recorder);
	assert_int_equal(look().nr_lost, 40);
	assert_int_equal(look().nr, 10);
	assert_int_equal(figures_of(recorder).nr_dropped, 0);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

/* Rings of four readers, drained in turns while the disk stands still, then while it is slow. */
struct crowd {
	struct source source;
	_Atomic uint64_t cut_ns; /* nothing up to here is still to come */
	_Atomic bool is_done;
};

static _Atomic uint64_t time_now;

static void drain_often(void *arg)
{
	struct crowd *crowd = arg;

	for (int i = 0; i < 300; i++) {
		crowd->cut_ns = time_now;
		record_stream_set_node(crowd->source.stream, (unsigned int)i % 2);
		for (int j = 0; j < 1 + i % 40; j++)
			give(&crowd->source, 1 + (size_t)i % 5, 512, ++time_now);
		record_stream_flush(crowd->source.stream);
		sched_yield();
	}
	crowd->cut_ns = UINT64_MAX;
	crowd->is_done = true;
}

static uint64_t cut_of(struct crowd *crowds, size_t nr)
{
	uint64_t cut_ns = time_now;

	for (size_t i = 0; i < nr; i++)
		cut_ns = MIN(cut_ns, crowds[i].cut_ns);
	return cut_ns;
}

static void run_crowd(struct recorder *recorder, struct crowd *crowds, size_t nr)
{
	struct worker *workers[MAX_STREAMS];
	struct err err = { 0 };
	size_t nr_done = 0;

	for (size_t i = 0; i < nr; i++) {
		crowds[i].is_done = false;
		crowds[i].cut_ns = time_now;
		assert_int_equal(worker_start("reader", drain_often, &crowds[i], &workers[i], &err),
				 0);
	}
	while (nr_done < nr) {
		nr_done = 0;
		for (size_t i = 0; i < nr; i++)
			nr_done += crowds[i].is_done;
		recorder_end_round(recorder, cut_of(crowds, nr));
		assert_true(figures_of(recorder).bytes_waiting <= 4 * MIB + 64 * KIB);
		sched_yield();
	}
	for (size_t i = 0; i < nr; i++)
		worker_join(workers[i]);
}

static void test_counts_are_exact_when_many_write_to_a_slow_disk(void **state)
{
	enum { NR = 4 };
	struct recorder *recorder = make(0, 4 * MIB);
	struct crowd crowds[NR] = { 0 };
	uint64_t nr_given = 0;
	struct seen seen;

	(void)state;
	time_now = 1000;
	for (uint32_t i = 0; i < NR; i++)
		crowds[i].source = source_of(recorder, i);
	disk.is_slow = true;
	disk_set_shut(true);
	start(recorder);
	run_crowd(recorder, crowds, NR);
	assert_true(figures_of(recorder).nr_dropped > 0);
	disk_set_shut(false);
	run_crowd(recorder, crowds, NR);
	stop_and_wait(recorder);
	seen = look();
	for (uint32_t i = 0; i < NR; i++) {
		nr_given += crowds[i].source.nr;
		record_stream_free(crowds[i].source.stream);
	}
	assert_int_equal(seen.nr_lost, figures_of(recorder).nr_dropped);
	assert_int_equal(seen.nr + seen.nr_lost, nr_given);
	assert_true(seen.nr_marks > 0);
	recorder_free(recorder);
}

static void test_what_is_no_record_ends_a_call_and_no_more(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);
	unsigned char *bytes = calloc(1, MIB);

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < 300; i++)
		make_record(&source, bytes + i * 1000, 1000, 100);
	start(recorder);
	/* Zeros follow. */
	record_stream_add(source.stream, bytes, MIB, 900, 100);
	record_stream_flush(source.stream);
	drain(&source, 1, 64, 200);
	stop_and_wait(recorder);
	assert_int_equal(look().nr, 301);
	assert_int_equal(figures_of(recorder).nr_dropped, 600);
	assert_int_equal(look().nr_lost, 600);
	free(bytes);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

/* ---- marks ---- */

static void test_a_mark_is_written_when_its_rule_holds(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	start(recorder);
	drain(&source, 1, 64, 100);
	recorder_end_round(recorder, 50); /* nothing was before it: fine */
	drain(&source, 1, 64, 200);
	recorder_end_round(recorder, 99); /* 100 was there at the last mark: not yet */
	drain(&source, 1, 64, 150);
	recorder_end_round(recorder, 120); /* fine */
	drain(&source, 1, 64, 130);
	recorder_end_round(recorder, 199); /* 200 was there */
	drain(&source, 1, 64, 201);
	stop_and_wait(recorder);
	assert_int_equal(look().nr, 5);
	assert_int_equal(look().nr_marks, 2);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_idle_rounds_write_nothing(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	start(recorder);
	drain(&source, 1, 64, 100);
	for (uint64_t round = 0; round < 100; round++) {
		recorder_end_round(recorder, 100 + round);
		wait_written(recorder);
	}
	stop_and_wait(recorder);
	/* The second of them gives out what the first one saw. */
	assert_int_equal(look().nr_marks, 2);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

static void test_rounds_that_a_still_disk_does_not_take_cost_nothing(void **state)
{
	struct recorder *recorder = make(0, 0);
	struct source source = source_of(recorder, 0);

	(void)state;
	disk_set_shut(true);
	start(recorder);
	drain(&source, 1, 64, 100);
	recorder_end_round(recorder, 100);
	disk_wait_held();
	for (uint64_t round = 0; round < 100; round++)
		recorder_end_round(recorder, 100 + round);
	assert_int_equal(figures_of(recorder).bytes_waiting, 64 + 8 + 8);
	disk_set_shut(false);
	stop_and_wait(recorder);
	record_stream_free(source.stream);
	recorder_free(recorder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_everything_is_written_in_the_order_it_was_handed_over),
		CASE(test_nothing_is_taken_when_nobody_wants_it),
		CASE(test_a_round_is_written_before_the_next_one),
		CASE(test_a_second_recording_waits_for_the_first),
		CASE(test_freeing_writes_what_was_handed_over),
		CASE(test_what_finds_no_block_is_counted_and_told),
		CASE(test_lost_samples_are_told_younger_than_the_cut),
		CASE(test_counts_are_exact_when_many_write_to_a_slow_disk),
		CASE(test_what_is_no_record_ends_a_call_and_no_more),
		CASE(test_a_mark_is_written_when_its_rule_holds),
		CASE(test_idle_rounds_write_nothing),
		CASE(test_rounds_that_a_still_disk_does_not_take_cost_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
