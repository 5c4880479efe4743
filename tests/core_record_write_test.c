/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written is read back by core/record.c. */
#include "config.h"

#include "core/record_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "core/perf_data_private.h"

static const struct record_format plain_format = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	.sample_id_all = true,
};

static const struct perf_event_header *record_at(const struct record_buffer *buffer, size_t at)
{
	const struct perf_event_header *header = (const void *)(buffer->bytes + at);

	assert_true(buffer->len - at >= sizeof(*header));
	assert_true(header->size >= sizeof(*header) && header->size <= buffer->len - at);
	assert_int_equal(header->size % 8, 0);
	assert_true(header->size <= 65528);
	return header;
}

static struct record decode_only(const struct record_buffer *buffer,
				 const struct record_format *format)
{
	const struct perf_event_header *header = record_at(buffer, 0);
	struct record record;

	assert_int_equal(header->size, buffer->len);
	assert_int_equal(record_decode(format, header, &record), RECORD_OK);
	return record;
}

static void test_comm_comes_back(void **state)
{
	struct record_buffer buffer = { 0 };
	struct record record;

	(void)state;
	record_write_comm(&buffer, &plain_format, 100, 101, "worker", false, 7000);
	record = decode_only(&buffer, &plain_format);
	assert_int_equal(record.type, PERF_RECORD_COMM);
	assert_int_equal(record.comm.pid, 100);
	assert_int_equal(record.comm.tid, 101);
	assert_false(record.comm.exec);
	assert_string_equal(record.comm.comm, "worker");
	assert_int_equal(record.id.pid, 100);
	assert_int_equal(record.id.tid, 101);
	assert_int_equal(record.id.time, 7000);
	assert_int_equal(record.id.cpu, 0);
	record_buffer_release(&buffer);

	record_write_comm(&buffer, &plain_format, 100, 100, "worker", true, 0);
	assert_true(decode_only(&buffer, &plain_format).comm.exec);
	record_buffer_release(&buffer);
}

static struct map_fact some_map(void)
{
	return (struct map_fact){
		.start = 0x7f0000001000,
		.end = 0x7f0000005000,
		.pgoff = 0x3000,
		.dev_major = 8,
		.dev_minor = 1,
		.inode = UINT64_C(1) << 40,
		.inode_generation = 5,
		.path = "/usr/lib/x.so",
	};
}

static void test_map_comes_back_with_its_file(void **state)
{
	struct map_fact map = some_map();
	struct record_buffer buffer = { 0 };
	struct record record;

	(void)state;
	record_write_mmap(&buffer, &plain_format, 100, &map, 7000);
	record = decode_only(&buffer, &plain_format);
	assert_int_equal(record.type, PERF_RECORD_MMAP2);
	assert_int_equal(record.misc, PERF_RECORD_MISC_USER);
	assert_int_equal(record.mmap.pid, 100);
	assert_int_equal(record.mmap.tid, 100);
	assert_int_equal(record.mmap.addr, map.start);
	assert_int_equal(record.mmap.len, 0x4000);
	assert_int_equal(record.mmap.pgoff, 0x3000);
	assert_int_equal(record.mmap.maj, 8);
	assert_int_equal(record.mmap.min, 1);
	assert_int_equal(record.mmap.ino, map.inode);
	assert_int_equal(record.mmap.ino_generation, 5);
	assert_int_equal(record.mmap.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(record.mmap.flags, MAP_PRIVATE);
	assert_int_equal(record.mmap.build_id_size, 0);
	assert_string_equal(record.mmap.filename, "/usr/lib/x.so");
	assert_int_equal(record.id.time, 7000);
	record_buffer_release(&buffer);
}

static void test_map_comes_back_with_its_build_id(void **state)
{
	static const unsigned char id[20] = "abcdefghijklmnopqrs";
	static const uint8_t sizes[] = { 1, 8, 16, 20 };
	struct record_format format = plain_format;
	struct map_fact map = some_map();

	(void)state;
	map.build_id = id;
	format.build_ids = true;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct record_buffer buffer = { 0 };
		struct record record;

		map.build_id_size = sizes[i];
		record_write_mmap(&buffer, &format, 100, &map, 0);
		record = decode_only(&buffer, &format);
		assert_true(record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
		assert_int_equal(record.mmap.build_id_size, sizes[i]);
		assert_memory_equal(record.mmap.build_id, id, sizes[i]);
		assert_int_equal(record.mmap.prot, PROT_READ | PROT_EXEC);
		assert_int_equal(record.mmap.flags, MAP_PRIVATE);
		assert_string_equal(record.mmap.filename, "/usr/lib/x.so");
		record_buffer_release(&buffer);
	}
}

static void test_map_without_name_has_the_kernel_s_word_for_it(void **state)
{
	struct map_fact map = some_map();
	struct record_buffer buffer = { 0 };

	(void)state;
	map.path = "";
	record_write_mmap(&buffer, &plain_format, 100, &map, 0);
	assert_string_equal(decode_only(&buffer, &plain_format).mmap.filename, "//anon");
	record_buffer_release(&buffer);
}

static void test_kernel_map_comes_back(void **state)
{
	struct record_buffer buffer = { 0 };
	struct record record;

	(void)state;
	record_write_kernel_mmap(&buffer, &plain_format, 0xffffffff81000000, 0x1200000,
				 0xffffffff81000000, "[kernel.kallsyms]_text", 9);
	record = decode_only(&buffer, &plain_format);
	assert_int_equal(record.type, PERF_RECORD_MMAP);
	assert_int_equal(record.misc, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(record.mmap.pid, UINT32_MAX);
	assert_int_equal(record.mmap.tid, 0);
	assert_int_equal(record.mmap.addr, 0xffffffff81000000);
	assert_int_equal(record.mmap.len, 0x1200000);
	assert_int_equal(record.mmap.pgoff, 0xffffffff81000000);
	assert_string_equal(record.mmap.filename, "[kernel.kallsyms]_text");
	assert_int_equal(record.id.time, 9);
	record_buffer_release(&buffer);
}

static void test_lost_comes_back(void **state)
{
	struct record_buffer buffer = { 0 };
	struct record record;

	(void)state;
	record_write_lost(&buffer, &plain_format, 4711, UINT64_C(1) << 33, 7000);
	record = decode_only(&buffer, &plain_format);
	assert_int_equal(record.type, PERF_RECORD_LOST);
	assert_int_equal(record.lost.id_of, 4711);
	assert_int_equal(record.lost.nr, UINT64_C(1) << 33);
	assert_int_equal(record.id.time, 7000);
	record_buffer_release(&buffer);
}

static void test_finished_round_is_a_header(void **state)
{
	struct record_buffer buffer = { 0 };

	(void)state;
	record_write_finished_round(&buffer);
	assert_int_equal(buffer.len, sizeof(struct perf_event_header));
	assert_int_equal(record_at(&buffer, 0)->type, FILE_FINISHED_ROUND);
	assert_int_equal(record_at(&buffer, 0)->misc, 0);
	record_buffer_release(&buffer);
}

/* All of them, and not one that is not asked for. */
static void test_the_trailer_has_the_fields_of_the_format(void **state)
{
	static const uint64_t fields[] = {
		PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
	};

	(void)state;
	for (unsigned int mask = 0; mask < 1U << ARRAY_SIZE(fields); mask++) {
		struct record_format format = { .sample_type = PERF_SAMPLE_CALLCHAIN,
						.sample_id_all = true };
		struct record_buffer buffer = { 0 };
		struct record record;

		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			format.sample_type |= mask >> i & 1 ? fields[i] : 0;
		record_write_comm(&buffer, &format, 100, 101, "c", false, 7000);
		record = decode_only(&buffer, &format);
		assert_int_equal(buffer.len, 24 + 8 * __builtin_popcount(mask));
		assert_string_equal(record.comm.comm, "c");
		assert_int_equal(record.id.id, 0);
		assert_int_equal(record.id.tid, mask & 1 ? 101 : 0);
		assert_int_equal(record.id.time, mask & 2 ? 7000 : 0);
		record_buffer_release(&buffer);
	}
}

static void test_there_is_no_trailer_without_sample_id_all(void **state)
{
	struct record_format format = plain_format;
	struct record_buffer buffer = { 0 };
	struct record record;

	(void)state;
	format.sample_id_all = false;
	record_write_comm(&buffer, &format, 100, 101, "c", false, 7000);
	assert_int_equal(buffer.len, 24);
	record = decode_only(&buffer, &format);
	assert_int_equal(record.comm.tid, 101);
	assert_int_equal(record.id.time, 0);
	record_buffer_release(&buffer);
}

/* Any byte but NUL. */
static void fill(char *text, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		text[i] = (char)(1 + (i + seed) % 255);
	text[len] = '\0';
}

static void assert_cut(const char *text, const char *whole, size_t max_len)
{
	size_t len = MIN(strlen(whole), max_len);

	assert_int_equal(strlen(text), len);
	assert_memory_equal(text, whole, len);
}

static void test_text_of_any_bytes_and_length_is_kept_or_cut(void **state)
{
	static char text[70001];
	static const size_t lengths[] = { 0,	1,    7,    8,	  14,	 15,	16,    17,
					  4094, 4095, 4096, 4097, 65519, 65528, 65536, 70000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct record_buffer buffer = { 0 };
		struct map_fact map = some_map();
		struct record record;

		fill(text, lengths[i], (unsigned int)i * 40);
		record_write_comm(&buffer, &plain_format, 1, 1, text, true, 3);
		record = decode_only(&buffer, &plain_format);
		assert_cut(record.comm.comm, text, 15);
		assert_int_equal(record.id.time, 3);

		buffer.len = 0;
		record_write_kernel_mmap(&buffer, &plain_format, 1, 2, 3, text, 4);
		record = decode_only(&buffer, &plain_format);
		assert_cut(record.mmap.filename, text, 4095);
		assert_int_equal(record.id.time, 4);

		buffer.len = 0;
		map.path = text;
		record_write_mmap(&buffer, &plain_format, 1, &map, 5);
		record = decode_only(&buffer, &plain_format);
		assert_cut(record.mmap.filename, lengths[i] ? text : "//anon", 4095);
		assert_int_equal(record.id.time, 5);
		record_buffer_release(&buffer);
	}
}

static void test_a_build_id_that_is_too_long_stays_in_its_field(void **state)
{
	static const unsigned char id[255] = "abcdefghijklmnopqrstuvwxyz";
	struct map_fact map = some_map();
	struct record_buffer buffer = { 0 };
	struct record record;

	(void)state;
	map.build_id = id;
	map.build_id_size = 255;
	record_write_mmap(&buffer, &plain_format, 1, &map, 0);
	record = decode_only(&buffer, &plain_format);
	assert_int_equal(record.mmap.build_id_size, 20);
	assert_memory_equal(record.mmap.build_id, id, 20);
	assert_string_equal(record.mmap.filename, "/usr/lib/x.so");
	record_buffer_release(&buffer);
}

/* The buffer grows, and what it held before must not shine through. */
static void test_records_follow_each_other(void **state)
{
	struct record_buffer buffer = { 0 };
	struct map_fact map = some_map();
	size_t nr = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		record_write_mmap(&buffer, &plain_format, 1, &map, 1);
		record_write_comm(&buffer, &plain_format, 1, 1, "x", false, 1);
		record_write_finished_round(&buffer);
	}
	for (size_t at = 0; at < buffer.len; nr++) {
		const struct perf_event_header *header = record_at(&buffer, at);
		struct record record;

		if (nr % 3 < 2)
			assert_int_equal(record_decode(&plain_format, header, &record), RECORD_OK);
		assert_int_equal(header->type, nr % 3 == 0   ? (unsigned int)PERF_RECORD_MMAP2
					       : nr % 3 == 1 ? (unsigned int)PERF_RECORD_COMM
							     : (unsigned int)FILE_FINISHED_ROUND);
		at += header->size;
	}
	assert_int_equal(nr, 3000);
	memset(buffer.bytes, 0xff, buffer.len);
	buffer.len = 0;
	record_write_comm(&buffer, &plain_format, 1, 1, "x", false, 1);
	assert_memory_equal(buffer.bytes + 16, "x\0\0\0\0\0\0\0", 8);
	record_buffer_release(&buffer);
	assert_int_equal(buffer.len, 0);
	record_write_comm(&buffer, &plain_format, 1, 1, "x", false, 1);
	assert_string_equal(decode_only(&buffer, &plain_format).comm.comm, "x");
	record_buffer_release(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comm_comes_back),
		cmocka_unit_test(test_map_comes_back_with_its_file),
		cmocka_unit_test(test_map_comes_back_with_its_build_id),
		cmocka_unit_test(test_map_without_name_has_the_kernel_s_word_for_it),
		cmocka_unit_test(test_kernel_map_comes_back),
		cmocka_unit_test(test_lost_comes_back),
		cmocka_unit_test(test_finished_round_is_a_header),
		cmocka_unit_test(test_the_trailer_has_the_fields_of_the_format),
		cmocka_unit_test(test_there_is_no_trailer_without_sample_id_all),
		cmocka_unit_test(test_text_of_any_bytes_and_length_is_kept_or_cut),
		cmocka_unit_test(test_a_build_id_that_is_too_long_stays_in_its_field),
		cmocka_unit_test(test_records_follow_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
