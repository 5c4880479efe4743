/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is written is read back by core/perf_data.c, from files that are finished and from
 * such that are not. The disk is full, slow or interrupted by way of our own pwrite().
 */
#ifndef SYMTOP_TESTS_CORE_PERF_DATA_WRITE_FIXTURE_H
#define SYMTOP_TESTS_CORE_PERF_DATA_WRITE_FIXTURE_H

#include "core/perf_data_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/record_write.h"
#include "tests/perf_data_fixture.h"

/* ---- the disk ---- */

static struct disk {
	size_t max_bytes;   /* a call writes; 0: all */
	uint64_t size;	    /* ENOSPC behind it; 0: endless */
	unsigned int eintr; /* calls, each time, before one does something */
	unsigned int nr_interrupted;
} disk;

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	void *base;
	struct iovec part;

	if (disk.nr_interrupted < disk.eintr) {
		disk.nr_interrupted++;
		errno = EINTR;
		return -1;
	}
	disk.nr_interrupted = 0;
	if (disk.max_bytes)
		size = MIN(size, disk.max_bytes);
	if (disk.size && (uint64_t)offset >= disk.size) {
		errno = ENOSPC;
		return -1;
	}
	if (disk.size)
		size = (size_t)MIN((uint64_t)size, disk.size - (uint64_t)offset);
	memcpy(&base, &bytes, sizeof(base));
	part = (struct iovec){ .iov_base = base, .iov_len = size };
	return pwritev(fd, &part, 1, offset);
}

static char folder[64];
static char path[128];
static char old_path[128];

static UNUSED int setup(void **state)
{
	(void)state;
	disk = (struct disk){ 0 };
	snprintf(folder, sizeof(folder), "/tmp/symtop-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/perf.data", folder);
	snprintf(old_path, sizeof(old_path), "%s/perf.data.old", folder);
	return 0;
}

static UNUSED int teardown(void **state)
{
	char name[128];

	(void)state;
	snprintf(name, sizeof(name), "%s/target", folder);
	unlink(name);
	unlink(path);
	rmdir(path);
	unlink(old_path);
	rmdir(old_path);
	return rmdir(folder);
}

/* ---- files ---- */

static UNUSED struct perf_data_write_event write_event(size_t index)
{
	return (struct perf_data_write_event){
		.name = index ? "page-faults" : "cpu-clock:u",
		.attr = event_attr(index),
		.ids = event_ids[index],
		.nr_ids = 2,
	};
}

static UNUSED struct perf_data_writer *
create_at(const char *name, const struct perf_data_write_event *events, size_t nr)
{
	struct perf_data_writer *writer = NULL;
	struct err err = { 0 };

	if (perf_data_writer_create(name, events, nr, &writer, &err) < 0)
		fail_msg("%s", err.text);
	return writer;
}

static UNUSED struct perf_data_writer *create(void)
{
	const struct perf_data_write_event events[] = { write_event(0), write_event(1) };

	return create_at(path, events, 2);
}

static UNUSED void append(struct perf_data_writer *writer, const struct bytes *bytes)
{
	struct err err = { 0 };

	if (perf_data_writer_append(writer, bytes->bytes, bytes->nr, &err) < 0)
		fail_msg("%s", err.text);
}

static UNUSED void append_data(struct perf_data_writer *writer)
{
	struct bytes data = { 0 };

	add_data(&data);
	append(writer, &data);
	free(data.bytes);
}

static UNUSED void finish(struct perf_data_writer *writer,
			  const struct perf_data_write_event *events, size_t nr,
			  const struct perf_data_write_facts *facts)
{
	struct perf_data_tail *tail = facts ? perf_data_tail_new(events, nr, facts) : NULL;
	struct err err = { 0 };

	if (perf_data_writer_finish(writer, tail, &err) < 0)
		fail_msg("%s", err.text);
	perf_data_tail_free(tail);
}

static UNUSED struct perf_data *open_written(void)
{
	struct perf_data *data = NULL;
	struct err err = { 0 };

	if (perf_data_open(path, &data, &err) < 0)
		fail_msg("%s", err.text);
	return data;
}

/* Samples, by event. All of the file must be well-formed. */
static UNUSED void count_samples(struct perf_data *data, size_t ret_nr[static 2])
{
	struct perf_data_record record;
	struct perf_data_figures figures;

	ret_nr[0] = ret_nr[1] = 0;
	while (perf_data_peek(data, &record)) {
		if (record.header->type == PERF_RECORD_SAMPLE)
			ret_nr[record.event]++;
		perf_data_pop(data);
	}
	perf_data_get_figures(data, &figures);
	assert_int_equal(figures.nr_malformed, 0);
	assert_int_equal(figures.bytes_read, figures.bytes_total);
	if (perf_data_trouble(data))
		fail_msg("%s", perf_data_trouble(data));
}

static UNUSED void assert_samples(size_t first, size_t second)
{
	struct perf_data *data = open_written();
	size_t nr[2];

	count_samples(data, nr);
	assert_int_equal(nr[0], first);
	assert_int_equal(nr[1], second);
	perf_data_close(data);
}

static UNUSED struct bytes read_file(const char *name)
{
	struct bytes bytes = { 0 };
	unsigned char piece[4096];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t nr;

	assert_true(fd >= 0);
	while ((nr = read(fd, piece, sizeof(piece))) > 0)
		add(&bytes, piece, (size_t)nr);
	assert_int_equal(nr, 0);
	close(fd);
	return bytes;
}

static UNUSED uint64_t u64_at(const struct bytes *bytes, uint64_t offset)
{
	uint64_t value;

	assert_true(offset + sizeof(value) <= bytes->nr);
	memcpy(&value, bytes->bytes + offset, sizeof(value));
	return value;
}

static UNUSED uint64_t file_size(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return (uint64_t)st.st_size;
}

static UNUSED void write_text(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static UNUSED void assert_text(const char *name, const char *text)
{
	struct bytes bytes = read_file(name);

	assert_int_equal(bytes.nr, strlen(text));
	assert_memory_equal(bytes.bytes, text, bytes.nr);
	free(bytes.bytes);
}

/* ---- whole files ---- */

static const char *const arguments[] = { "symtop", "-w", "perf.data" };

static const struct perf_data_write_build_id build_ids[] = {
	{ .path = "[kernel.kallsyms]", .id = { 0xaa, 1 }, .size = 20, .is_kernel = true },
	{ .path = "/lib/short.so", .id = { 0xbb, 2 }, .size = 16 },
	{ .path = "/lib/none.so", .size = 0 },
	{ .path = "/usr/bin/first", .id = { 0xcc, 3 }, .size = 20 },
};

static UNUSED struct perf_data_write_facts some_facts(void)
{
	return (struct perf_data_write_facts){
		.host = "node07",
		.release = "6.18.0-test",
		.version = "symtop 0.1",
		.arch = "x86_64",
		.arguments = arguments,
		.nr_arguments = 3,
		.nr_cpus = 4,
		.nr_cpus_online = 3,
		.first_ns = 1000,
		.last_ns = 2800,
		.clock_resolution_ns = 4,
		.build_ids = build_ids,
		.nr_build_ids = ARRAY_SIZE(build_ids),
	};
}

static UNUSED void write_whole(const struct perf_data_write_facts *facts)
{
	const struct perf_data_write_event events[] = { write_event(0), write_event(1) };
	struct perf_data_writer *writer = create();

	append_data(writer);
	finish(writer, events, 2, facts);
}

#endif /* SYMTOP_TESTS_CORE_PERF_DATA_WRITE_FIXTURE_H */
