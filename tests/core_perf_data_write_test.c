/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/perf_data_write.c: what a finished file says. */
#include "config.h"

#include "tests/core_perf_data_write_fixture.h"

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
