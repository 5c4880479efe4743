/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core/recorder.c on a disk of ours: in place of core/perf_data_write.c, it remembers what
 * was appended, stands still while its gate is shut, and is full when a test wants it.
 *
 * A record says which stream gave it and its number there, so what was written is compared
 * record by record. It is read as perf reads it: at a mark everything is given out up to the
 * youngest time at the mark before, and what comes later and is older is an error.
 */
#ifndef SYMTOP_TESTS_CORE_RECORDER_FIXTURE_H
#define SYMTOP_TESTS_CORE_RECORDER_FIXTURE_H

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

#include "core/base/compiler.h"
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
static UNUSED void check_whole(const unsigned char *records, size_t len)
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

static UNUSED struct perf_data_writer *new_writer(void)
{
	return mem_zalloc(sizeof(struct perf_data_writer));
}

static UNUSED struct perf_data_tail *new_tail(void)
{
	return mem_zalloc(sizeof(struct perf_data_tail));
}

static UNUSED void disk_set_shut(bool is_shut)
{
	mutex_lock(&disk.lock);
	disk.is_shut = is_shut;
	cond_broadcast(&disk.changed);
	mutex_unlock(&disk.lock);
}

static UNUSED void disk_wait_held(void)
{
	mutex_lock(&disk.lock);
	while (!disk.is_held)
		cond_wait(&disk.changed, &disk.lock);
	mutex_unlock(&disk.lock);
}

static UNUSED void disk_clear(void)
{
	free(disk.bytes);
	disk.bytes = NULL;
	disk.len = 0;
}

static UNUSED int setup(void **state)
{
	(void)state;
	disk = (struct disk){ 0 };
	mutex_init(&disk.lock);
	cond_init(&disk.changed);
	return 0;
}

static UNUSED int teardown(void **state)
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

static UNUSED void make_record(struct source *source, unsigned char *bytes, size_t size,
			       uint64_t time_ns)
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
static UNUSED unsigned char *make_records(struct source *source, size_t nr, size_t size,
					  uint64_t time_ns)
{
	unsigned char *bytes = malloc(nr * size);

	assert_non_null(bytes);
	for (size_t i = 0; i < nr; i++)
		make_record(source, bytes + i * size, size, time_ns);
	return bytes;
}

/* In one call. */
static UNUSED void give(struct source *source, size_t nr, size_t size, uint64_t time_ns)
{
	unsigned char *bytes = make_records(source, nr, size, time_ns);

	record_stream_add(source->stream, bytes, nr * size, nr, time_ns);
	free(bytes);
}

/* A drain. */
static UNUSED void drain(struct source *source, size_t nr, size_t size, uint64_t time_ns)
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

static UNUSED void see_time(struct seen *seen, uint64_t time_ns)
{
	seen->nr_unsorted += time_ns < seen->released_ns;
	seen->newest_ns = MAX(seen->newest_ns, time_ns);
}

static UNUSED void see_sample(struct seen *seen, const struct test_record *record)
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

static UNUSED struct seen look(void)
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

static UNUSED struct recorder *make(uint64_t keep_ns, uint64_t max_bytes)
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

static UNUSED void start(struct recorder *recorder)
{
	struct err err = { 0 };

	assert_int_equal(recorder_start(recorder, new_writer(), NULL, 0, &err), 0);
}

static UNUSED struct recorder_figures figures_of(struct recorder *recorder)
{
	struct recorder_figures figures;

	recorder_get_figures(recorder, &figures);
	return figures;
}

static UNUSED void wait_off(struct recorder *recorder)
{
	while (figures_of(recorder).state != RECORDER_OFF)
		sched_yield();
}

static UNUSED void wait_written(struct recorder *recorder)
{
	while (figures_of(recorder).bytes_waiting)
		sched_yield();
}

static UNUSED void stop_and_wait(struct recorder *recorder)
{
	recorder_stop(recorder, new_tail());
	wait_off(recorder);
}

static UNUSED struct source source_of(struct recorder *recorder, uint32_t index)
{
	return (struct source){ .stream = record_stream_new(recorder), .index = index };
}

#endif /* SYMTOP_TESTS_CORE_RECORDER_FIXTURE_H */
