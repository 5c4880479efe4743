/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core/recorder.c on a disk of ours: in place of core/perf_data_write.c, it remembers what
 * was appended, stands still while its gate is shut, and is full when a test wants it.
 *
 * A record says which stream gave it and its number there, so what was written is compared
 * record by record. It is read as perf reads it: at a mark everything is given out up to the
 * youngest time at the mark before, and what comes later and is older is an error.
 */
#include "config.h"

#include "core/recorder.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/mem.h"
#include "core/base/mutex.h"
#include "core/base/worker.h"
#include "core/record_write.h"

enum { MAX_STREAMS = 8, FINISHED_ROUND = 68, KIB = 1024, MIB = 1024 * 1024 };

static const struct record_format format = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.sample_id_all = true,
};

/* ---- the disk ---- */

struct perf_data_tail {
	int unused;
};

struct perf_data_writer {
	uint64_t nr_bytes;
};

static struct disk {
	struct mutex lock;
	struct cond changed;
	bool is_shut;
	bool is_held; /* an append waits at the gate */
	bool is_slow;
	size_t nr_appends, full_after; /* this append fails, counted from 1; 0: none */
	int finish_error;
	unsigned char *bytes;
	size_t len;
	unsigned int nr_finished, nr_tails_written, nr_tails_freed;
} disk;

/* Appends are of whole records. */
static void check_whole(const unsigned char *records, size_t len)
{
	size_t at = 0;

	while (at < len) {
		const struct perf_event_header *header = (const void *)(records + at);

		assert_true(len - at >= sizeof(*header) && header->size >= sizeof(*header));
		at += header->size;
	}
	assert_int_equal(at, len);
}

int perf_data_writer_append(struct perf_data_writer *writer, const void *records, size_t len,
			    struct err *err)
{
	int ret = 0;

	for (int i = 0; disk.is_slow && i < 100; i++)
		sched_yield();
	mutex_lock(&disk.lock);
	while (disk.is_shut) {
		disk.is_held = true;
		cond_broadcast(&disk.changed);
		cond_wait(&disk.changed, &disk.lock);
	}
	disk.is_held = false;
	if (++disk.nr_appends == disk.full_after) {
		ret = err_set(err, -ENOSPC, "perf.data: cannot be written");
	} else {
		check_whole(records, len);
		disk.bytes = mem_resize(disk.bytes, disk.len + len, 1);
		memcpy(disk.bytes + disk.len, records, len);
		disk.len += len;
		writer->nr_bytes += len;
	}
	mutex_unlock(&disk.lock);
	return ret;
}

uint64_t perf_data_writer_bytes(const struct perf_data_writer *writer)
{
	return writer->nr_bytes;
}

int perf_data_writer_finish(struct perf_data_writer *writer, const struct perf_data_tail *tail,
			    struct err *err)
{
	int ret = 0;

	mutex_lock(&disk.lock);
	disk.nr_finished++;
	disk.nr_tails_written += !!tail;
	if (disk.finish_error)
		ret = err_set(err, disk.finish_error, "perf.data: its end");
	mutex_unlock(&disk.lock);
	free(writer);
	return ret;
}

void perf_data_tail_free(struct perf_data_tail *tail)
{
	mutex_lock(&disk.lock);
	disk.nr_tails_freed += !!tail;
	mutex_unlock(&disk.lock);
	free(tail);
}

static struct perf_data_writer *new_writer(void)
{
	return mem_zalloc(sizeof(struct perf_data_writer));
}

static struct perf_data_tail *new_tail(void)
{
	return mem_zalloc(sizeof(struct perf_data_tail));
}

static void disk_set_shut(bool is_shut)
{
	mutex_lock(&disk.lock);
	disk.is_shut = is_shut;
	cond_broadcast(&disk.changed);
	mutex_unlock(&disk.lock);
}

static void disk_wait_held(void)
{
	mutex_lock(&disk.lock);
	while (!disk.is_held)
		cond_wait(&disk.changed, &disk.lock);
	mutex_unlock(&disk.lock);
}

static void disk_clear(void)
{
	free(disk.bytes);
	disk.bytes = NULL;
	disk.len = 0;
}

static int setup(void **state)
{
	(void)state;
	disk = (struct disk){ 0 };
	mutex_init(&disk.lock);
	cond_init(&disk.changed);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	disk_clear();
	cond_release(&disk.changed);
	mutex_release(&disk.lock);
	return 0;
}

/* ---- records ---- */

struct test_record {
	struct perf_event_header header;
	uint32_t stream, unused; /* as pid and tid */
	uint64_t time_ns;
	uint64_t number;
};

/* As core/record_write.c makes them with our format. */
struct lost_record {
	struct perf_event_header header;
	uint64_t id, nr;
	uint32_t pid, tid;
	uint64_t time_ns;
};

/* A stream, or what recorder_add() gives (@stream NULL). */
struct source {
	struct record_stream *stream;
	uint32_t index;
	uint64_t nr;
};

static void make_record(struct source *source, unsigned char *bytes, size_t size, uint64_t time_ns)
{
	struct test_record record = {
		.header.type = PERF_RECORD_SAMPLE,
		.header.size = (uint16_t)size,
		.stream = source->index,
		.time_ns = time_ns,
		.number = source->nr++,
	};

	assert_true(size >= sizeof(record) && size % 8 == 0);
	memset(bytes, 0, size);
	memcpy(bytes, &record, sizeof(record));
}

/* @nr records of @size bytes, all of the time @time_ns. */
static unsigned char *make_records(struct source *source, size_t nr, size_t size, uint64_t time_ns)
{
	unsigned char *bytes = malloc(nr * size);

	assert_non_null(bytes);
	for (size_t i = 0; i < nr; i++)
		make_record(source, bytes + i * size, size, time_ns);
	return bytes;
}

/* In one call. */
static void give(struct source *source, size_t nr, size_t size, uint64_t time_ns)
{
	unsigned char *bytes = make_records(source, nr, size, time_ns);

	record_stream_add(source->stream, bytes, nr * size, nr, time_ns);
	free(bytes);
}

/* A drain. */
static void drain(struct source *source, size_t nr, size_t size, uint64_t time_ns)
{
	give(source, nr, size, time_ns);
	record_stream_flush(source->stream);
}

/* What is on the disk. */
struct seen {
	uint64_t nr, nr_lost, nr_marks, nr_unsorted, nr_disordered;
	uint64_t nr_of[MAX_STREAMS], first_of[MAX_STREAMS], next_of[MAX_STREAMS];
	uint64_t oldest_ns, newest_ns;
	uint32_t first_stream;
	uint64_t round_ns, released_ns; /* for the order of time */
};

static void see_time(struct seen *seen, uint64_t time_ns)
{
	seen->nr_unsorted += time_ns < seen->released_ns;
	seen->newest_ns = MAX(seen->newest_ns, time_ns);
}

static void see_sample(struct seen *seen, const struct test_record *record)
{
	uint32_t stream = record->stream;

	assert_true(stream < MAX_STREAMS);
	if (!seen->nr++)
		seen->first_stream = stream;
	if (!seen->nr_of[stream]++)
		seen->first_of[stream] = record->number;
	else
		seen->nr_disordered += record->number < seen->next_of[stream];
	seen->next_of[stream] = record->number + 1;
	if (!seen->oldest_ns || record->time_ns < seen->oldest_ns)
		seen->oldest_ns = record->time_ns;
	see_time(seen, record->time_ns);
}

static struct seen look(void)
{
	struct seen seen = { 0 };
	size_t at = 0;

	while (at < disk.len) {
		const struct perf_event_header *header = (const void *)(disk.bytes + at);

		if (header->type == PERF_RECORD_SAMPLE) {
			see_sample(&seen, (const void *)header);
		} else if (header->type == PERF_RECORD_LOST) {
			const struct lost_record *lost = (const void *)header;

			assert_int_equal(header->size, sizeof(*lost));
			seen.nr_lost += lost->nr;
			see_time(&seen, lost->time_ns);
		} else {
			assert_int_equal(header->type, FINISHED_ROUND);
			seen.nr_marks++;
			seen.released_ns = seen.round_ns;
			seen.round_ns = seen.newest_ns;
		}
		at += header->size;
	}
	assert_int_equal(seen.nr_disordered, 0);
	assert_int_equal(seen.nr_unsorted, 0);
	return seen;
}

/* ---- the recorder ---- */

static struct recorder *make(uint64_t keep_ns, uint64_t max_bytes)
{
	struct recorder_options options = {
		.format = format,
		.keep_ns = keep_ns,
		.max_bytes = max_bytes,
	};
	struct recorder *recorder;
	struct err err = { 0 };

	assert_int_equal(recorder_new(&options, &recorder, &err), 0);
	return recorder;
}

static void start(struct recorder *recorder)
{
	struct err err = { 0 };

	assert_int_equal(recorder_start(recorder, new_writer(), NULL, 0, &err), 0);
}

static struct recorder_figures figures_of(struct recorder *recorder)
{
	struct recorder_figures figures;

	recorder_get_figures(recorder, &figures);
	return figures;
}

static void wait_off(struct recorder *recorder)
{
	while (figures_of(recorder).state != RECORDER_OFF)
		sched_yield();
}

static void wait_written(struct recorder *recorder)
{
	while (figures_of(recorder).bytes_waiting)
		sched_yield();
}

static void stop_and_wait(struct recorder *recorder)
{
	recorder_stop(recorder, new_tail());
	wait_off(recorder);
}

static struct source source_of(struct recorder *recorder, uint32_t index)
{
	return (struct source){ .stream = record_stream_new(recorder), .index = index };
}

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
