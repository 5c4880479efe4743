/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/recorder.c to a real file, read back by core/perf_data.c. */
#include "config.h"

#include "core/recorder.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/perf_data.h"
#include "core/record_write.h"

enum { NR_STREAMS = 3 };

static const struct perf_data_write_event event = {
	.name = "cpu-clock",
	.attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
	},
};

static const struct record_format format = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.sample_id_all = true,
};

static char folder[64], path[96];

static int setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/symtop-recorder-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/perf.data", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static struct recorder *make(uint64_t keep_ns)
{
	struct recorder_options options = { .format = format, .keep_ns = keep_ns };
	struct recorder *recorder;
	struct err err;

	assert_int_equal(recorder_new(&options, &recorder, &err), 0);
	return recorder;
}

/* Before the first sample there is the name of its task, as young as @now_ns. */
static void start(struct recorder *recorder, uint64_t now_ns)
{
	struct record_buffer facts = { 0 };
	struct perf_data_writer *writer;
	struct err err;

	record_write_comm(&facts, &format, 1, 1, "spin", false, 1);
	record_write_comm(&facts, &format, 1, 1, "spun", false, now_ns);
	assert_int_equal(perf_data_writer_create(path, &event, 1, &writer, &err), 0);
	assert_int_equal(recorder_start(recorder, writer, facts.bytes, facts.len, &err), 0);
}

static void stop(struct recorder *recorder)
{
	const struct perf_data_write_facts facts = { .host = "node07" };
	struct recorder_figures figures;

	recorder_stop(recorder, perf_data_tail_new(&event, 1, &facts));
	do {
		sched_yield();
		recorder_get_figures(recorder, &figures);
	} while (figures.state != RECORDER_OFF);
}

/* A round: @nr samples of each stream, times of which are mixed but for the cut. */
static void run_round(struct recorder *recorder, struct record_stream **streams, uint64_t round,
		      size_t nr)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t time_ns;
	} sample = {
		.header.type = PERF_RECORD_SAMPLE,
		.header.size = sizeof(sample),
		.pid = 1,
		.tid = 1,
	};

	for (size_t i = 0; i < NR_STREAMS; i++) {
		for (size_t j = 0; j < nr; j++) {
			sample.time_ns = 1000 * round + (7 * j + i) % 1000 + 1;
			record_stream_add(streams[i], &sample, sizeof(sample), 1, sample.time_ns);
		}
		record_stream_flush(streams[i]);
	}
	recorder_end_round(recorder, 1000 * (round + 1));
}

/* The number of samples; all records in order of time. */
static size_t read_back(const char **ret_trouble)
{
	struct perf_data_figures figures;
	struct perf_data_record record;
	struct perf_data *data;
	uint64_t last_ns = 0;
	size_t nr = 0;
	struct err err;

	assert_int_equal(perf_data_open(path, &data, &err), 0);
	while (perf_data_peek(data, &record)) {
		assert_true(record.time >= last_ns);
		last_ns = record.time;
		nr += record.header->type == PERF_RECORD_SAMPLE;
		perf_data_pop(data);
	}
	perf_data_get_figures(data, &figures);
	assert_int_equal(figures.nr_unsorted, 0);
	assert_int_equal(figures.nr_malformed, 0);
	*ret_trouble = perf_data_trouble(data);
	perf_data_close(data);
	return nr;
}

static void test_a_recording_is_read_back_in_order(void **state)
{
	struct recorder *recorder = make(0);
	struct record_stream *streams[NR_STREAMS];
	const char *trouble;
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; i < NR_STREAMS; i++)
		streams[i] = record_stream_new(recorder);
	start(recorder, 500);
	for (uint64_t round = 0; round < 50; round++) {
		size_t nr_each = 1 + round * 97 % 3000;

		run_round(recorder, streams, round, nr_each);
		nr += NR_STREAMS * nr_each;
	}
	stop(recorder);
	for (size_t i = 0; i < NR_STREAMS; i++)
		record_stream_free(streams[i]);
	recorder_free(recorder);
	assert_int_equal(read_back(&trouble), nr);
	assert_null(trouble);
}

static void test_the_last_seconds_are_read_back_in_order(void **state)
{
	struct recorder *recorder = make(20000);
	struct record_stream *streams[NR_STREAMS];
	const char *trouble;
	size_t nr;

	(void)state;
	for (size_t i = 0; i < NR_STREAMS; i++)
		streams[i] = record_stream_new(recorder);
	for (uint64_t round = 0; round < 100; round++)
		run_round(recorder, streams, round, 100);
	start(recorder, 100000);
	for (uint64_t round = 100; round < 110; round++)
		run_round(recorder, streams, round, 100);
	stop(recorder);
	for (size_t i = 0; i < NR_STREAMS; i++)
		record_stream_free(streams[i]);
	recorder_free(recorder);
	nr = read_back(&trouble);
	assert_in_range(nr, 30 * 300, 34 * 300);
	assert_null(trouble);
}

static void test_a_file_that_may_not_grow_is_read_up_to_there(void **state)
{
	struct recorder *recorder = make(0);
	struct record_stream *streams[NR_STREAMS];
	struct recorder_figures figures;
	struct rlimit before, limit;
	const char *trouble;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ .rlim_cur = 1 << 20, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (size_t i = 0; i < NR_STREAMS; i++)
		streams[i] = record_stream_new(recorder);
	start(recorder, 500);
	for (uint64_t round = 0; round < 20; round++)
		run_round(recorder, streams, round, 3000);
	stop(recorder);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	recorder_get_figures(recorder, &figures);
	assert_non_null(strstr(figures.trouble, "File too large"));
	for (size_t i = 0; i < NR_STREAMS; i++)
		record_stream_free(streams[i]);
	recorder_free(recorder);
	assert_in_range(read_back(&trouble), 9000, (1 << 20) / 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_a_recording_is_read_back_in_order),
		CASE(test_the_last_seconds_are_read_back_in_order),
		CASE(test_a_file_that_may_not_grow_is_read_up_to_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
