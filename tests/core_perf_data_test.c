/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a perf.data file says of itself, its records in order, and files that are not whole. */
#include "config.h"

#include "core/perf_data.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/perf_data_fixture.h"

/* Takes all that is left; the number of samples, and times in order but for 0. */
static size_t drain(struct perf_data *data)
{
	struct perf_data_record record;
	uint64_t last = 0;
	size_t nr = 0;

	while (perf_data_peek(data, &record)) {
		assert_int_equal((uintptr_t)record.header % 8, 0);
		assert_true(!record.time || record.time >= last);
		last = MAX(last, record.time);
		nr += record.header->type == PERF_RECORD_SAMPLE;
		perf_data_pop(data);
	}
	return nr;
}

/* ---- what a file says of itself ---- */

static void test_a_file_tells_where_it_is_from(void **state)
{
	struct perf_data *data = open_good(whole_image());
	struct perf_data_info info;
	struct cpumap map;

	(void)state;
	perf_data_get_info(data, &info);
	assert_string_equal(info.host, "node07");
	assert_string_equal(info.release, "6.18.0-test");
	assert_string_equal(info.version, "6.1.187");
	assert_string_equal(info.arch, "x86_64");
	assert_string_equal(info.command, "perf record -a");
	assert_int_equal(info.nr_cpus, 4);
	assert_int_equal(info.nr_cpus_online, 3);
	assert_int_equal(info.first_ns, 1000);
	assert_int_equal(info.last_ns, 2800);
	assert_false(info.is_pipe);
	assert_false(info.has_callchains);
	perf_data_get_cpumap(data, &map);
	assert_int_equal(map.nr_nodes, 2);
	assert_int_equal(cpumap_node(&map, 1), 0);
	assert_int_equal(cpumap_node(&map, 2), 1);
	cpumap_release(&map);
	perf_data_close(data);
}

static void test_events_have_their_names(void **state)
{
	struct perf_data *data = open_good(whole_image());
	struct perf_data_event event;

	(void)state;
	assert_int_equal(perf_data_nr_events(data), 2);
	perf_data_get_event(data, 0, &event);
	assert_string_equal(event.name, "cpu-clock:u");
	assert_int_equal(event.attr.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(event.format.sample_type, SAMPLE_TYPE);
	perf_data_get_event(data, 1, &event);
	assert_string_equal(event.name, "page-faults");
	perf_data_close(data);
}

static void test_names_are_made_from_the_attr_when_there_are_none(void **state)
{
	struct image image;
	struct perf_data *data;
	struct perf_data_event event;

	(void)state;
	image_init(&image);
	free(image.features[12].bytes);
	image.features[12] = (struct bytes){ 0 };
	data = open_good(image_bytes(&image));
	perf_data_get_event(data, 0, &event);
	assert_string_equal(event.name, "cpu-clock");
	perf_data_close(data);
	image_release(&image);
}

static void test_build_ids_are_found_by_path(void **state)
{
	struct perf_data *data = open_good(whole_image());
	unsigned char id[20];

	(void)state;
	assert_int_equal(perf_data_build_id(data, "/usr/bin/first", id), 20);
	assert_int_equal(id[0], 0xaa);
	assert_int_equal(perf_data_build_id(data, "/lib/short.so", id), 16);
	assert_int_equal(id[0], 0xbb);
	assert_int_equal(perf_data_build_id(data, "[kernel.kallsyms]", id), 20);
	assert_int_equal(perf_data_build_id(data, "/usr/bin/other", id), 0);
	/* A guest has another file under that path. */
	assert_int_equal(perf_data_build_id(data, "/guest", id), 0);
	perf_data_close(data);
}

static void test_a_file_out_of_a_pipe_tells_the_same(void **state)
{
	struct perf_data *data = open_good(pipe_image());
	struct perf_data_event event;
	struct perf_data_info info;
	unsigned char id[20];

	(void)state;
	perf_data_get_info(data, &info);
	assert_true(info.is_pipe);
	assert_string_equal(info.host, "node08");
	assert_int_equal(perf_data_nr_events(data), 2);
	perf_data_get_event(data, 0, &event);
	assert_string_equal(event.name, "cpu-clock");
	perf_data_get_event(data, 1, &event);
	assert_string_equal(event.name, "faults!");
	assert_int_equal(perf_data_build_id(data, "/usr/bin/piped", id), 20);
	assert_int_equal(drain(data), 6);
	assert_null(perf_data_trouble(data));
	perf_data_close(data);
}

/* ---- records ---- */

static void test_records_come_in_the_order_of_time(void **state)
{
	static const uint64_t times[] = { 0,	0,    0,    1000, 2000, 2450,
					  2500, 2600, 2700, 2750, 2800, 2900 };
	static const size_t events[] = { 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0 };
	struct perf_data *data = open_good(whole_image());
	struct perf_data_figures figures;
	struct perf_data_record record;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		assert_true(perf_data_peek(data, &record));
		assert_int_equal(record.time, times[i]);
		assert_int_equal(record.event, events[i]);
		perf_data_pop(data);
	}
	assert_false(perf_data_peek(data, &record));
	perf_data_get_figures(data, &figures);
	assert_int_equal(figures.nr_records, ARRAY_SIZE(times));
	assert_int_equal(figures.nr_skipped, 1);
	assert_int_equal(figures.nr_malformed, 0);
	assert_int_equal(figures.nr_unsorted, 0);
	assert_int_equal(figures.bytes_read, figures.bytes_total);
	perf_data_close(data);
}

static void test_many_rounds_of_many_rings_are_in_order(void **state)
{
	struct image image = { 0 };
	struct perf_data *data;
	uint64_t base = 1000;

	(void)state;
	/* Each ring is in order; one emptied early has records of the next round's time. */
	for (int round = 0; round < 50; round++, base += 1000) {
		for (uint64_t ring = 0; ring < 7; ring++) {
			for (uint64_t i = 0; i < 200; i++)
				add_sample(&image.data, 0x400000, 100, base + ring * 130 + 4 * i,
					   11);
		}
		add_round(&image.data);
	}
	data = open_good(image_bytes(&image));
	assert_int_equal(drain(data), 50 * 7 * 200);
	perf_data_close(data);
	image_release(&image);
}

static void test_samples_of_an_unknown_event_are_counted(void **state)
{
	struct image image = { 0 };
	struct perf_data_figures figures;
	struct perf_data *data;

	(void)state;
	add_sample(&image.data, 0x400000, 100, 1000, 99);
	add_sample(&image.data, 0x400000, 100, 1000, 22);
	data = open_good(image_bytes(&image));
	assert_int_equal(drain(data), 1);
	perf_data_get_figures(data, &figures);
	assert_int_equal(figures.nr_malformed, 1);
	perf_data_close(data);
	image_release(&image);
}

static void test_bytes_that_follow_a_record_are_skipped(void **state)
{
	static const unsigned char junk[3000] = { 0 };
	struct image image = { 0 };
	struct bytes body = { 0 };
	struct perf_data *data;

	(void)state;
	add_u32(&body, 2995); /* padded to 3000 */
	add_u32(&body, 0);
	add_record(&image.data, FILE_TRACING_DATA, 0, &body);
	add(&image.data, junk, sizeof(junk));
	add_sample(&image.data, 0x400000, 100, 1000, 11);
	free(body.bytes);
	body = (struct bytes){ 0 };
	add_u64(&body, 2 << 20);
	for (int i = 0; i < 4; i++)
		add_u64(&body, 0);
	add_record(&image.data, FILE_AUXTRACE, 0, &body);
	for (size_t i = 0; i < 2 << 20; i += 1024)
		add(&image.data, junk, 1024);
	add_sample(&image.data, 0x400000, 100, 2000, 11);
	free(body.bytes);
	data = open_good(image_bytes(&image));
	assert_int_equal(drain(data), 2);
	assert_null(perf_data_trouble(data));
	perf_data_close(data);
	image_release(&image);
}

/* ---- compressed ---- */

static void test_compressed_records_are_read(void **state)
{
	static const uint32_t types[] = { FILE_COMPRESSED, FILE_COMPRESSED2 };

	(void)state;
	if (!has_zstd()) {
		print_message("there is no libzstd.so.1\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct perf_data *data = open_good(compressed_image(types[i]));

		assert_int_equal(drain(data), 6);
		assert_null(perf_data_trouble(data));
		perf_data_close(data);
	}
}

static void test_large_compressed_data_go_through_small_memory(void **state)
{
	struct perf_data_record record;
	struct image image = { 0 };
	struct perf_data *data;
	size_t nr = 0;

	(void)state;
	if (!has_zstd()) {
		print_message("there is no libzstd.so.1\n");
		skip();
	}
	for (uint64_t i = 0; i < 200000; i++)
		add_sample(&image.data, 0x400000, 100, 1000 + i, 11);
	compress(&image, FILE_COMPRESSED);
	data = open_good(image_bytes(&image));
	for (; perf_data_peek(data, &record); nr++) {
		assert_int_equal(record.time, 1000 + nr);
		perf_data_pop(data);
	}
	assert_int_equal(nr, 200000);
	perf_data_close(data);
	image_release(&image);
}

static void test_damaged_compressed_data_end_the_file(void **state)
{
	struct perf_data *data;
	struct bytes file;

	(void)state;
	if (!has_zstd()) {
		print_message("there is no libzstd.so.1\n");
		skip();
	}
	file = compressed_image(FILE_COMPRESSED);
	/* In the midst of the first compressed record. */
	for (size_t i = 0; i < 16; i++)
		file.bytes[104 + 32 + 2 * (sizeof(struct perf_event_attr) + 16) + 24 + i] ^= 0x5a;
	data = open_good(file);
	drain(data);
	assert_non_null(strstr(perf_data_trouble(data), "decompressed"));
	perf_data_close(data);
}

/* ---- what is not whole ---- */

static void test_what_is_no_recording_is_refused(void **state)
{
	struct bytes file = { 0 };
	struct err err = { 0 };
	struct perf_data *data;
	char folder[] = "/tmp/symtop-perf-data-XXXXXX";
	char path[64];

	(void)state;
	add(&file, "PERF", 4);
	assert_refused(file, "no perf.data file");
	file = (struct bytes){ 0 };
	for (int i = 0; i < 100; i++)
		add(&file, "no recording", 12);
	assert_refused(file, "no perf.data file");
	file = whole_image();
	memcpy(file.bytes, "2ELIFREP", 8);
	assert_refused(file, "byte order");
	file = whole_image();
	memcpy(file.bytes, "PERFFILE", 8);
	assert_refused(file, "old format");
	assert_int_equal(perf_data_open("/", &data, &err), -EISDIR);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	/* Does not wait for somebody who writes. */
	assert_int_equal(perf_data_open(path, &data, &err), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void test_a_header_that_leads_nowhere_is_refused(void **state)
{
	struct bytes file;

	(void)state;
	file = whole_image();
	file.nr = 50;
	assert_refused(file, "cut within its header");
	file = whole_image();
	file.nr = 104 + 32 + 100;
	assert_refused(file, "description of its events");
	file = whole_image();
	put_u64(&file, 16, 3); /* attr_size */
	assert_refused(file, "corrupt");
	file = whole_image();
	put_u64(&file, 24, UINT64_MAX - 3); /* attrs */
	assert_refused(file, "description of its events");
	file = whole_image();
	put_u64(&file, 40, UINT64_MAX); /* data */
	assert_refused(file, "ends before its data");
	file = whole_image();
	put_u64(&file, 32, 0);
	assert_refused(file, "events");
}

static void test_a_cut_file_is_used_up_to_the_cut(void **state)
{
	struct perf_data *data;
	struct bytes file = whole_image();
	size_t size = 104 + 32 + 2 * (sizeof(struct perf_event_attr) + 16);

	(void)state;
	/* Within the second sample; and after the record before it. */
	file.nr = size + 72 + 8 + 72 + 16 + 124 + 56 + 20;
	data = open_good(file);
	assert_int_equal(drain(data), 1);
	assert_non_null(strstr(perf_data_trouble(data), "cut"));
	assert_non_null(strstr(perf_data_trouble(data), "within a record"));
	perf_data_close(data);
}

static void test_a_killed_recorder_leaves_a_file_to_its_end(void **state)
{
	struct perf_data_info info;
	struct perf_data *data;
	struct image image;

	(void)state;
	image_init(&image);
	image.without_size = true;
	data = open_good(image_bytes(&image));
	assert_int_equal(drain(data), 6);
	assert_non_null(strstr(perf_data_trouble(data), "did not end properly"));
	/* Whatever stands where they would be is none. */
	perf_data_get_info(data, &info);
	assert_string_equal(info.host, "");
	perf_data_close(data);
	image_release(&image);
}

static void test_an_impossible_record_ends_the_file(void **state)
{
	struct image image = { 0 };
	struct perf_data *data;

	(void)state;
	add_sample(&image.data, 0x400000, 100, 1000, 11);
	add_round(&image.data);
	image.data.bytes[image.data.nr - 2] = 7; /* its size */
	add_sample(&image.data, 0x400000, 100, 2000, 11);
	data = open_good(image_bytes(&image));
	assert_int_equal(drain(data), 1);
	assert_non_null(strstr(perf_data_trouble(data), "corrupt at byte"));
	perf_data_close(data);
	image_release(&image);
}

static void test_a_file_that_shrinks_meanwhile_ends(void **state)
{
	struct image image = { 0 };
	struct perf_data *data;
	struct err err = { 0 };
	struct bytes file;
	char path[64];
	int fd;

	(void)state;
	for (uint64_t i = 0; i < 50000; i++)
		add_sample(&image.data, 0x400000, 100, 1000 + i, 11);
	file = image_bytes(&image);
	fd = file_of(&file, path);
	assert_int_equal(perf_data_open(path, &data, &err), 0);
	assert_int_equal(ftruncate(fd, 1000), 0);
	assert_true(drain(data) < 50000);
	assert_non_null(strstr(perf_data_trouble(data), "truncated"));
	perf_data_close(data);
	close(fd);
	free(file.bytes);
	image_release(&image);
}

/* ---- order ---- */

static struct item timed(uint64_t time)
{
	return (struct item){ .time = time };
}

static void test_too_many_waiting_records_go_before_their_time(void **state)
{
	struct order order = { 0 };
	struct item item;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		item = timed(100 + (i * 37) % 100);
		order_add(&order, &item);
	}
	assert_null(order_peek(&order));
	order_release_half(&order);
	for (uint64_t i = 0; i < 50; i++) {
		assert_int_equal(order_peek(&order)->time, 100 + i);
		order_pop(&order);
	}
	assert_null(order_peek(&order));
	/* Its place is taken: it is counted and comes as early as it can. */
	item = timed(120);
	order_add(&order, &item);
	assert_int_equal(order.nr_unsorted, 1);
	order_finish(&order);
	assert_int_equal(order_peek(&order)->time, 120);
	order_release(&order);
}

static void test_a_round_gives_out_what_the_one_before_had(void **state)
{
	struct order order = { 0 };
	struct item item;

	(void)state;
	item = timed(100);
	order_add(&order, &item);
	order_finish_round(&order);
	assert_null(order_peek(&order));
	item = timed(90);
	order_add(&order, &item);
	item = timed(200);
	order_add(&order, &item);
	order_finish_round(&order);
	assert_int_equal(order_peek(&order)->time, 90);
	order_pop(&order);
	assert_int_equal(order_peek(&order)->time, 100);
	order_pop(&order);
	assert_null(order_peek(&order));
	assert_int_equal(order.nr_unsorted, 0);
	order_release(&order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_tells_where_it_is_from),
		cmocka_unit_test(test_events_have_their_names),
		cmocka_unit_test(test_names_are_made_from_the_attr_when_there_are_none),
		cmocka_unit_test(test_build_ids_are_found_by_path),
		cmocka_unit_test(test_a_file_out_of_a_pipe_tells_the_same),
		cmocka_unit_test(test_records_come_in_the_order_of_time),
		cmocka_unit_test(test_many_rounds_of_many_rings_are_in_order),
		cmocka_unit_test(test_samples_of_an_unknown_event_are_counted),
		cmocka_unit_test(test_bytes_that_follow_a_record_are_skipped),
		cmocka_unit_test(test_compressed_records_are_read),
		cmocka_unit_test(test_large_compressed_data_go_through_small_memory),
		cmocka_unit_test(test_damaged_compressed_data_end_the_file),
		cmocka_unit_test(test_what_is_no_recording_is_refused),
		cmocka_unit_test(test_a_header_that_leads_nowhere_is_refused),
		cmocka_unit_test(test_a_cut_file_is_used_up_to_the_cut),
		cmocka_unit_test(test_a_killed_recorder_leaves_a_file_to_its_end),
		cmocka_unit_test(test_an_impossible_record_ends_the_file),
		cmocka_unit_test(test_a_file_that_shrinks_meanwhile_ends),
		cmocka_unit_test(test_too_many_waiting_records_go_before_their_time),
		cmocka_unit_test(test_a_round_gives_out_what_the_one_before_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
