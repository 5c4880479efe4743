/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is written is read back by core/perf_data.c, from files that are finished and from
 * such that are not. The disk is full, slow or interrupted by way of our own pwrite().
 */
#include "config.h"

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

static int setup(void **state)
{
	(void)state;
	disk = (struct disk){ 0 };
	snprintf(folder, sizeof(folder), "/tmp/symtop-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/perf.data", folder);
	snprintf(old_path, sizeof(old_path), "%s/perf.data.old", folder);
	return 0;
}

static int teardown(void **state)
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

static struct perf_data_write_event write_event(size_t index)
{
	return (struct perf_data_write_event){
		.name = index ? "page-faults" : "cpu-clock:u",
		.attr = event_attr(index),
		.ids = event_ids[index],
		.nr_ids = 2,
	};
}

static struct perf_data_writer *create_at(const char *name,
					  const struct perf_data_write_event *events, size_t nr)
{
	struct perf_data_writer *writer = NULL;
	struct err err = { 0 };

	if (perf_data_writer_create(name, events, nr, &writer, &err) < 0)
		fail_msg("%s", err.text);
	return writer;
}

static struct perf_data_writer *create(void)
{
	const struct perf_data_write_event events[] = { write_event(0), write_event(1) };

	return create_at(path, events, 2);
}

static void append(struct perf_data_writer *writer, const struct bytes *bytes)
{
	struct err err = { 0 };

	if (perf_data_writer_append(writer, bytes->bytes, bytes->nr, &err) < 0)
		fail_msg("%s", err.text);
}

static void append_data(struct perf_data_writer *writer)
{
	struct bytes data = { 0 };

	add_data(&data);
	append(writer, &data);
	free(data.bytes);
}

static void finish(struct perf_data_writer *writer, const struct perf_data_write_event *events,
		   size_t nr, const struct perf_data_write_facts *facts)
{
	struct perf_data_tail *tail = facts ? perf_data_tail_new(events, nr, facts) : NULL;
	struct err err = { 0 };

	if (perf_data_writer_finish(writer, tail, &err) < 0)
		fail_msg("%s", err.text);
	perf_data_tail_free(tail);
}

static struct perf_data *open_written(void)
{
	struct perf_data *data = NULL;
	struct err err = { 0 };

	if (perf_data_open(path, &data, &err) < 0)
		fail_msg("%s", err.text);
	return data;
}

/* Samples, by event. All of the file must be well-formed. */
static void count_samples(struct perf_data *data, size_t ret_nr[static 2])
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

static void assert_samples(size_t first, size_t second)
{
	struct perf_data *data = open_written();
	size_t nr[2];

	count_samples(data, nr);
	assert_int_equal(nr[0], first);
	assert_int_equal(nr[1], second);
	perf_data_close(data);
}

static struct bytes read_file(const char *name)
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

static uint64_t u64_at(const struct bytes *bytes, uint64_t offset)
{
	uint64_t value;

	assert_true(offset + sizeof(value) <= bytes->nr);
	memcpy(&value, bytes->bytes + offset, sizeof(value));
	return value;
}

static uint64_t file_size(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return (uint64_t)st.st_size;
}

static void write_text(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_text(const char *name, const char *text)
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

static struct perf_data_write_facts some_facts(void)
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

static void write_whole(const struct perf_data_write_facts *facts)
{
	const struct perf_data_write_event events[] = { write_event(0), write_event(1) };
	struct perf_data_writer *writer = create();

	append_data(writer);
	finish(writer, events, 2, facts);
}

static void test_a_file_tells_where_it_is_from(void **state)
{
	struct perf_data_write_facts facts = some_facts();
	struct perf_data_info info;
	struct perf_data *data;

	(void)state;
	write_whole(&facts);
	data = open_written();
	perf_data_get_info(data, &info);
	assert_string_equal(info.host, "node07");
	assert_string_equal(info.release, "6.18.0-test");
	assert_string_equal(info.version, "symtop 0.1");
	assert_string_equal(info.arch, "x86_64");
	assert_string_equal(info.command, "symtop -w perf.data");
	assert_int_equal(info.nr_cpus, 4);
	assert_int_equal(info.nr_cpus_online, 3);
	assert_int_equal(info.first_ns, 1000);
	assert_int_equal(info.last_ns, 2800);
	assert_false(info.is_pipe);
	assert_int_equal(info.size, file_size(path));
	perf_data_close(data);
	assert_samples(4, 2);
}

static void test_events_come_back(void **state)
{
	struct perf_data_write_facts facts = some_facts();
	struct perf_data *data;

	(void)state;
	write_whole(&facts);
	data = open_written();
	assert_int_equal(perf_data_nr_events(data), 2);
	for (size_t i = 0; i < 2; i++) {
		struct perf_event_attr attr = event_attr(i);
		struct perf_data_event event;

		perf_data_get_event(data, i, &event);
		assert_string_equal(event.name, i ? "page-faults" : "cpu-clock:u");
		assert_memory_equal(&event.attr, &attr, sizeof(attr));
	}
	perf_data_close(data);
}

/* An attr that an old kernel was asked with has a size of its own. */
static void test_all_events_are_of_the_size_that_the_header_tells(void **state)
{
	struct perf_data_write_event events[] = { write_event(0), write_event(1) };
	struct perf_data_write_facts facts = some_facts();
	struct perf_data_event event;
	struct perf_data *data;

	(void)state;
	events[0].attr.size = PERF_ATTR_SIZE_VER0;
	events[1].attr.size = 0;
	finish(create_at(path, events, 2), events, 2, &facts);
	data = open_written();
	for (size_t i = 0; i < 2; i++) {
		perf_data_get_event(data, i, &event);
		assert_int_equal(event.attr.size, sizeof(event.attr));
		assert_int_equal(event.format.sample_id_all, true);
	}
	perf_data_close(data);
}

static void test_nodes_come_back(void **state)
{
	static uint16_t node_of_cpu[] = { 0, 3, 0, 3 };
	struct cpumap written = {
		.nr_possible = 4,
		.nr_nodes = 3,
		.has_nodes = true,
		.node_of_cpu = node_of_cpu,
		.nr_node_of_cpu = 4,
	};
	struct perf_data_write_facts facts = some_facts();
	struct perf_data *data;
	struct cpumap map;

	(void)state;
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		cpuset_add(&written.possible, cpu);
	cpuset_add(&written.nodes, 0);
	cpuset_add(&written.nodes, 2); /* memory only */
	cpuset_add(&written.nodes, 3);
	facts.cpumap = &written;
	write_whole(&facts);
	data = open_written();
	perf_data_get_cpumap(data, &map);
	assert_int_equal(map.nr_nodes, 3);
	assert_true(cpuset_has(&map.nodes, 2));
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		assert_int_equal(cpumap_node(&map, cpu), node_of_cpu[cpu]);
	cpumap_release(&map);
	perf_data_close(data);
}

static void test_every_second_cpu_of_the_largest_machine_fits(void **state)
{
	struct cpumap written = { .nr_nodes = 2, .has_nodes = true };
	struct perf_data_write_facts facts = some_facts();
	struct perf_data *data;
	struct cpumap map;

	(void)state;
	written.node_of_cpu = calloc(CPUMAP_MAX_CPUS, sizeof(uint16_t));
	assert_non_null(written.node_of_cpu);
	written.nr_node_of_cpu = CPUMAP_MAX_CPUS;
	for (unsigned int cpu = 0; cpu < CPUMAP_MAX_CPUS; cpu++) {
		cpuset_add(&written.possible, cpu);
		written.node_of_cpu[cpu] = (uint16_t)(cpu % 2);
	}
	cpuset_add(&written.nodes, 0);
	cpuset_add(&written.nodes, 1);
	facts.cpumap = &written;
	facts.nr_cpus = CPUMAP_MAX_CPUS;
	write_whole(&facts);
	data = open_written();
	perf_data_get_cpumap(data, &map);
	assert_int_equal(map.nr_nodes, 2);
	for (unsigned int cpu = 0; cpu < CPUMAP_MAX_CPUS; cpu++)
		assert_int_equal(cpumap_node(&map, cpu), cpu % 2);
	cpumap_release(&map);
	perf_data_close(data);
	free(written.node_of_cpu);
}

static void test_build_ids_come_back(void **state)
{
	struct perf_data_write_facts facts = some_facts();
	struct perf_data *data;
	unsigned char id[20];

	(void)state;
	write_whole(&facts);
	data = open_written();
	for (size_t i = 0; i < ARRAY_SIZE(build_ids); i++) {
		assert_int_equal(perf_data_build_id(data, build_ids[i].path, id),
				 build_ids[i].size);
		if (build_ids[i].size)
			assert_memory_equal(id, build_ids[i].id, build_ids[i].size);
	}
	perf_data_close(data);
}

/* perf report has room for PATH_MAX bytes. What is cut would be of another file. */
static void test_a_build_id_of_a_path_that_is_too_long_is_left_out(void **state)
{
	struct perf_data_write_facts facts = some_facts();
	struct perf_data_write_build_id entries[3];
	char longest[4096], longer[4097];
	struct perf_data *data;
	unsigned char id[20];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[4095] = '\0';
	memset(longer, 'x', sizeof(longer));
	longer[4096] = '\0';
	for (size_t i = 0; i < 3; i++)
		entries[i] = build_ids[3];
	entries[0].path = longer;
	entries[1].path = longest;
	facts.build_ids = entries;
	facts.nr_build_ids = 3;
	write_whole(&facts);
	data = open_written();
	assert_int_equal(perf_data_build_id(data, longer, id), 0);
	assert_int_equal(perf_data_build_id(data, longest, id), 20);
	assert_int_equal(perf_data_build_id(data, entries[2].path, id), 20);
	perf_data_close(data);
}

static void test_what_is_not_known_is_left_out(void **state)
{
	struct perf_data_write_facts facts = { .build_ids = &build_ids[2], .nr_build_ids = 1 };
	struct perf_data_info info;
	struct perf_data *data;
	struct bytes file;

	(void)state;
	write_whole(&facts);
	data = open_written();
	perf_data_get_info(data, &info);
	assert_string_equal(info.host, "");
	assert_string_equal(info.command, "");
	assert_int_equal(info.nr_cpus, 0);
	perf_data_close(data);
	file = read_file(path);
	assert_int_equal(u64_at(&file, 72), UINT64_C(1) << 12); /* the events' names */
	free(file.bytes);
	assert_samples(4, 2);
}

/* Byte by byte, for readers that are not ours. */
static void test_sections_follow_the_data_in_the_order_of_their_numbers(void **state)
{
	struct perf_data_write_facts facts = some_facts();
	uint64_t data_at, table_at, next, mask;
	struct bytes file;

	(void)state;
	write_whole(&facts);
	file = read_file(path);
	assert_memory_equal(file.bytes, "PERFILE2", 8);
	assert_int_equal(u64_at(&file, 8), 104);
	assert_int_equal(u64_at(&file, 16), sizeof(struct perf_event_attr) + 16);
	assert_int_equal(u64_at(&file, 32), 2 * u64_at(&file, 16));
	data_at = u64_at(&file, 40);
	/* Before the data: a file that is cut has them. */
	assert_true(u64_at(&file, 24) + u64_at(&file, 32) <= data_at);
	assert_int_equal(data_at % 8, 0);
	mask = u64_at(&file, 72);
	assert_int_equal(mask, 0xfc | 1 << 11 | 1 << 12 | 1 << 21 | 1 << 23);
	table_at = data_at + u64_at(&file, 48);
	next = table_at + 16 * (uint64_t)__builtin_popcountll(mask);
	for (int i = 0; i < __builtin_popcountll(mask); i++) {
		assert_int_equal(u64_at(&file, table_at), next);
		next += u64_at(&file, table_at + 8);
		table_at += 16;
	}
	/* The last one is of the clock. */
	assert_int_equal(u64_at(&file, table_at - 8), 8);
	assert_int_equal(u64_at(&file, next - 8), 4);
	free(file.bytes);
}

static void test_names_of_any_bytes_and_length_come_back(void **state)
{
	static const size_t lengths[] = { 0, 1, 63, 64, 65, 127, 4095, 4096, 100000 };
	static char text[100001];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		const char *const hostile[] = { text, text };
		struct perf_data_write_event event = write_event(0);
		struct perf_data_write_facts facts = { .host = text, .arch = text };
		struct perf_data_event read_event;
		struct perf_data_info info;
		struct perf_data *data;

		for (size_t at = 0; at < lengths[i]; at++)
			text[at] = (char)(1 + (at + 31 * i) % 255);
		text[lengths[i]] = '\0';
		facts.arguments = hostile;
		facts.nr_arguments = 2;
		event.name = text;
		finish(create_at(path, &event, 1), &event, 1, &facts);
		data = open_written();
		perf_data_get_info(data, &info);
		assert_string_equal(info.host, text);
		assert_string_equal(info.arch, text);
		assert_memory_equal(info.command, text, lengths[i]);
		perf_data_get_event(data, 0, &read_event);
		assert_string_equal(read_event.name, text);
		perf_data_close(data);
	}
}

/* ---- ids ---- */

static void test_one_event_needs_no_ids(void **state)
{
	struct perf_data_write_event event = write_event(0);
	struct perf_data_write_facts facts = some_facts();
	struct perf_data_writer *writer;

	(void)state;
	event.ids = NULL;
	event.nr_ids = 0;
	writer = create_at(path, &event, 1);
	append_data(writer);
	assert_samples(6, 0);
	finish(writer, &event, 1, &facts);
	assert_samples(6, 0);
}

/* A CPU is plugged in while we write. */
static void test_ids_that_came_later_are_known_at_the_end(void **state)
{
	struct perf_data_write_event events[] = { write_event(0), write_event(1) };
	struct perf_data_write_facts facts = some_facts();
	struct perf_data_writer *writer;

	(void)state;
	events[1].nr_ids = 1;
	writer = create_at(path, events, 2);
	append_data(writer);
	events[1].nr_ids = 2;
	finish(writer, events, 2, &facts);
	assert_samples(4, 2);
}

static void test_a_file_without_records_tells_where_it_is_from_too(void **state)
{
	const struct perf_data_write_event event = write_event(0);
	struct perf_data_write_facts facts = some_facts();
	struct perf_data_writer *writer = create_at(path, &event, 1);
	struct perf_data_info info;
	struct perf_data *data;

	(void)state;
	assert_samples(0, 0);
	finish(writer, &event, 1, &facts);
	data = open_written();
	perf_data_get_info(data, &info);
	assert_string_equal(info.host, "node07");
	perf_data_close(data);
	assert_samples(0, 0);
}

static void test_records_of_ours_are_read_back(void **state)
{
	const struct record_format format = { .sample_type = SAMPLE_TYPE, .sample_id_all = true };
	const struct map_fact map = { .start = 0x1000, .end = 0x2000, .path = "/bin/a" };
	struct perf_data_writer *writer = create();
	struct record_buffer buffer = { 0 };
	struct perf_data_figures figures;
	struct perf_data_record record;
	struct perf_data *data;
	struct bytes bytes;
	size_t nr = 0;

	(void)state;
	record_write_comm(&buffer, &format, 1, 1, "a", true, 10);
	record_write_mmap(&buffer, &format, 1, &map, 20);
	record_write_finished_round(&buffer);
	record_write_lost(&buffer, &format, 21, 3, 30);
	bytes = (struct bytes){ .bytes = buffer.bytes, .nr = buffer.len };
	append(writer, &bytes);
	finish(writer, NULL, 0, NULL);
	data = open_written();
	for (; perf_data_peek(data, &record); perf_data_pop(data))
		assert_int_equal(record.time, 10 * ++nr);
	assert_int_equal(nr, 3);
	perf_data_get_figures(data, &figures);
	assert_int_equal(figures.nr_malformed, 0);
	assert_int_equal(figures.nr_skipped, 0);
	perf_data_close(data);
	record_buffer_release(&buffer);
}

/* ---- files that were not finished ---- */

static void test_a_killed_writer_leaves_all_that_was_appended(void **state)
{
	struct perf_data_writer *writer = create();
	uint64_t start = perf_data_writer_bytes(writer);
	struct bytes file, data = { 0 };

	(void)state;
	add_data(&data);
	for (unsigned int i = 1; i < 4; i++) {
		append(writer, &data);
		assert_samples(4 * i, 2 * i);
		file = read_file(path);
		assert_int_equal(u64_at(&file, 40) + u64_at(&file, 48), file.nr);
		assert_int_equal(u64_at(&file, 72), 0);
		assert_int_equal(file.nr, start + i * data.nr);
		assert_int_equal(perf_data_writer_bytes(writer), file.nr);
		free(file.bytes);
	}
	free(data.bytes);
	finish(writer, NULL, 0, NULL);
	assert_samples(12, 6);
}

/* Sizes from nothing to the whole file: what is there afterwards is whole records. */
static void test_a_full_disk_leaves_a_file_that_can_be_read(void **state)
{
	const struct perf_data_write_event events[] = { write_event(0), write_event(1) };
	struct perf_data_write_facts facts = some_facts();
	struct perf_data_tail *tail = perf_data_tail_new(events, 2, &facts);
	uint64_t whole, nr_front = 0, nr_data = 0, nr_tail = 0;

	(void)state;
	write_whole(&facts);
	whole = file_size(path);
	for (uint64_t size = 1; size <= whole; size += size < 400 ? 1 : 8) {
		struct bytes data = { 0 };
		struct perf_data_writer *writer;
		struct err err = { 0 };
		int append_ret;

		unlink(path);
		disk.size = size;
		add_data(&data);
		if (perf_data_writer_create(path, events, 2, &writer, &err) < 0) {
			assert_int_equal(err.code, -ENOSPC);
			assert_int_equal(file_size(path), 0);
			nr_front++;
			free(data.bytes);
			continue;
		}
		append_ret = perf_data_writer_append(writer, data.bytes, data.nr, &err);
		free(data.bytes);
		if (append_ret < 0) {
			assert_int_equal(append_ret, -ENOSPC);
			assert_non_null(strstr(err.text, path));
			assert_int_equal(file_size(path), perf_data_writer_bytes(writer));
			assert_int_equal(perf_data_writer_finish(writer, NULL, NULL), 0);
			nr_data++;
			continue;
		}
		if (perf_data_writer_finish(writer, tail, &err) < 0) {
			assert_int_equal(err.code, -ENOSPC);
			nr_tail++;
		}
		assert_samples(4, 2);
	}
	assert_true(nr_front > 0 && nr_data > 0 && nr_tail > 0);
	perf_data_tail_free(tail);
}

/* Room again: what is appended then follows what was appended before. */
static void test_writing_can_go_on_when_there_is_room_again(void **state)
{
	struct perf_data_writer *writer = create();
	struct bytes data = { 0 };

	(void)state;
	add_data(&data);
	append(writer, &data);
	disk.size = perf_data_writer_bytes(writer) + 13;
	assert_int_equal(perf_data_writer_append(writer, data.bytes, data.nr, NULL), -ENOSPC);
	assert_samples(4, 2);
	disk.size = 0;
	append(writer, &data);
	assert_samples(8, 4);
	free(data.bytes);
	finish(writer, NULL, 0, NULL);
}

static void test_a_file_size_limit_is_reported(void **state)
{
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit, old;
	struct perf_data_writer *writer;
	struct bytes data = { 0 };
	struct err err = { 0 };
	int ret;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	add_data(&data);
	writer = create();
	append(writer, &data);
	limit = (struct rlimit){ .rlim_cur = perf_data_writer_bytes(writer) + 100,
				 .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ret = perf_data_writer_append(writer, data.bytes, data.nr, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(ret, -EFBIG);
	assert_non_null(strstr(err.text, path));
	finish(writer, NULL, 0, NULL);
	assert_samples(4, 2);
	free(data.bytes);
}

static void test_short_and_interrupted_writes_go_on(void **state)
{
	struct perf_data_write_facts facts = some_facts();
	struct bytes whole, pieces;

	(void)state;
	write_whole(&facts);
	whole = read_file(path);
	unlink(path);
	disk = (struct disk){ .max_bytes = 7, .eintr = 3 };
	write_whole(&facts);
	pieces = read_file(path);
	assert_int_equal(pieces.nr, whole.nr);
	assert_memory_equal(pieces.bytes, whole.bytes, whole.nr);
	free(whole.bytes);
	free(pieces.bytes);
}

/* ---- what is there already ---- */

static void test_another_recording_is_kept_as_old(void **state)
{
	(void)state;
	write_text(path, "one");
	write_text(old_path, "zero");
	finish(create(), NULL, 0, NULL);
	assert_text(old_path, "one");
	finish(create(), NULL, 0, NULL);
	assert_true(file_size(old_path) == file_size(path) && file_size(path) > 104);
}

static void test_an_empty_file_is_used_as_it_is(void **state)
{
	(void)state;
	write_text(path, "");
	write_text(old_path, "zero");
	finish(create(), NULL, 0, NULL);
	assert_text(old_path, "zero");
}

static void test_a_link_to_a_file_is_fine(void **state)
{
	char target[128];

	(void)state;
	snprintf(target, sizeof(target), "%s/target", folder);
	write_text(target, "");
	assert_int_equal(symlink("target", path), 0);
	finish(create(), NULL, 0, NULL);
	assert_true(file_size(target) > 104);
}

static void test_only_the_owner_may_read(void **state)
{
	mode_t mask = umask(0);
	struct stat st;

	(void)state;
	finish(create(), NULL, 0, NULL);
	umask(mask);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void assert_create_fails(const char *name, int code, const char *reason)
{
	const struct perf_data_write_event event = write_event(0);
	struct perf_data_writer *writer = NULL;
	struct err err = { 0 };

	assert_int_equal(perf_data_writer_create(name, &event, 1, &writer, &err), code);
	assert_null(writer);
	if (!strstr(err.text, name) || !strstr(err.text, reason))
		fail_msg("'%s' does not name the file and '%s'", err.text, reason);
}

static void test_what_is_no_regular_file_is_refused_at_once(void **state)
{
	(void)state;
	assert_create_fails(folder, -EISDIR, "is a folder");
	assert_create_fails("/dev/null", -EINVAL, "is no regular file");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_create_fails(path, -EINVAL, "is no regular file");
	assert_int_not_equal(access(old_path, F_OK), 0);
}

static void test_a_path_that_cannot_be_is_refused(void **state)
{
	char name[400];

	(void)state;
	assert_create_fails("", -ENOENT, "cannot be created");
	snprintf(name, sizeof(name), "%s/none/perf.data", folder);
	assert_create_fails(name, -ENOENT, "cannot be created");
	snprintf(name, sizeof(name), "%s/%0300d", folder, 0);
	assert_create_fails(name, -ENAMETOOLONG, "");
}

static void test_a_recording_that_cannot_be_kept_is_not_overwritten(void **state)
{
	(void)state;
	write_text(path, "one");
	assert_int_equal(mkdir(old_path, 0700), 0);
	assert_create_fails(path, -EISDIR, "perf.data.old");
	assert_text(path, "one");
}

static void test_a_folder_that_is_not_writable_is_told(void **state)
{
	bool is_root = geteuid() == 0;

	(void)state;
	assert_int_equal(chmod(folder, 0555), 0);
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	assert_create_fails(path, -EACCES, "cannot be created");
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(folder, 0755), 0);
}

#define in_folder(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(test_a_file_tells_where_it_is_from),
		in_folder(test_events_come_back),
		in_folder(test_all_events_are_of_the_size_that_the_header_tells),
		in_folder(test_nodes_come_back),
		in_folder(test_every_second_cpu_of_the_largest_machine_fits),
		in_folder(test_build_ids_come_back),
		in_folder(test_a_build_id_of_a_path_that_is_too_long_is_left_out),
		in_folder(test_what_is_not_known_is_left_out),
		in_folder(test_sections_follow_the_data_in_the_order_of_their_numbers),
		in_folder(test_names_of_any_bytes_and_length_come_back),
		in_folder(test_one_event_needs_no_ids),
		in_folder(test_ids_that_came_later_are_known_at_the_end),
		in_folder(test_a_file_without_records_tells_where_it_is_from_too),
		in_folder(test_records_of_ours_are_read_back),
		in_folder(test_a_killed_writer_leaves_all_that_was_appended),
		in_folder(test_a_full_disk_leaves_a_file_that_can_be_read),
		in_folder(test_writing_can_go_on_when_there_is_room_again),
		in_folder(test_a_file_size_limit_is_reported),
		in_folder(test_short_and_interrupted_writes_go_on),
		in_folder(test_another_recording_is_kept_as_old),
		in_folder(test_an_empty_file_is_used_as_it_is),
		in_folder(test_a_link_to_a_file_is_fine),
		in_folder(test_only_the_owner_may_read),
		in_folder(test_what_is_no_regular_file_is_refused_at_once),
		in_folder(test_a_path_that_cannot_be_is_refused),
		in_folder(test_a_recording_that_cannot_be_kept_is_not_overwritten),
		in_folder(test_a_folder_that_is_not_writable_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
