/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples: each field alone and with others, cut anywhere, with counts that lie. */
#include "config.h"

#include "core/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/record_build.h"

/* Bits of sample_type to try: all that exist, and two that do not. */
#define NR_FIELDS 27

/* What put_sample() writes, beside the fixed fields. */
static const struct record_format all_fields = {
	.sample_type = (UINT64_C(1) << NR_FIELDS) - 1,
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID |
		       (UINT64_C(1) << 4),
	.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
	.sample_regs_user = 0x7,
	.sample_regs_intr = 0xff00000000000001,
};

static void put_group_read(struct build *build)
{
	put(build, 2);
	put(build, 1000000); /* time enabled */
	for (int i = 0; i < 2; i++) {
		put(build, 1); /* value */
		put(build, 2); /* id */
		put(build, 3); /* lost */
	}
}

static void put_raw(struct build *build)
{
	/* 12 bytes after the 4 of the size. */
	put_pair(build, 12, 0x11111111);
	put_pair(build, 0x22222222, 0x33333333);
}

static void put_branches(struct build *build)
{
	put(build, 2);
	put(build, UINT64_MAX); /* hw_idx */
	for (uint64_t i = 0; i < 6; i++)
		put(build, i);
}

static void put_stack(struct build *build)
{
	put(build, 24);
	for (uint64_t i = 0; i < 3; i++)
		put(build, 0x5555 + i);
	put(build, 16);
}

static void put_fixed(struct build *build, uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		put(build, 900);
	if (type & PERF_SAMPLE_IP)
		put(build, 901);
	if (type & PERF_SAMPLE_TID)
		put_pair(build, 902, 903);
	if (type & PERF_SAMPLE_TIME)
		put(build, 904);
	if (type & PERF_SAMPLE_ADDR)
		put(build, 905);
	if (type & PERF_SAMPLE_ID)
		put(build, 900);
	if (type & PERF_SAMPLE_STREAM_ID)
		put(build, 906);
	if (type & PERF_SAMPLE_CPU)
		put_pair(build, 907, UINT32_MAX);
	if (type & PERF_SAMPLE_PERIOD)
		put(build, 908);
}

static void put_variable(struct build *build, uint64_t type)
{
	if (type & PERF_SAMPLE_READ)
		put_group_read(build);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put(build, 3);
		put(build, PERF_CONTEXT_USER);
		put(build, 910);
		put(build, 911);
	}
	if (type & PERF_SAMPLE_RAW)
		put_raw(build);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(build);
	if (type & PERF_SAMPLE_REGS_USER) {
		put(build, PERF_SAMPLE_REGS_ABI_64);
		for (uint64_t i = 0; i < 3; i++)
			put(build, 920 + i);
	}
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(build);
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		put(build, (UINT64_C(5) << 32) | 930);
	if (type & PERF_SAMPLE_DATA_SRC)
		put(build, 931);
	if (type & PERF_SAMPLE_TRANSACTION)
		put(build, 932);
}

static void put_late(struct build *build, uint64_t type)
{
	if (type & PERF_SAMPLE_REGS_INTR) {
		put(build, PERF_SAMPLE_REGS_ABI_64);
		for (int i = 0; i < 9; i++)
			put(build, 933);
	}
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put(build, 934);
	if (type & PERF_SAMPLE_CGROUP)
		put(build, 935);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put(build, 936);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put(build, 937);
	if (type & PERF_SAMPLE_AUX) {
		put(build, 8);
		put(build, 938);
	}
}

static const struct perf_event_header *put_sample(struct build *build, uint64_t type)
{
	begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
	put_fixed(build, type);
	put_variable(build, type);
	put_late(build, type);
	return end(build);
}

/* Every field that was asked for has its value, every other one its default. */
static void assert_fixed(const struct sample *sample, uint64_t type)
{
	bool has_id = type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID);

	assert_int_equal(sample->id, has_id ? 900 : 0);
	assert_int_equal(sample->ip, type & PERF_SAMPLE_IP ? 901 : 0);
	assert_int_equal(sample->pid, type & PERF_SAMPLE_TID ? 902 : 0);
	assert_int_equal(sample->tid, type & PERF_SAMPLE_TID ? 903 : 0);
	assert_int_equal(sample->time, type & PERF_SAMPLE_TIME ? 904 : 0);
	assert_int_equal(sample->addr, type & PERF_SAMPLE_ADDR ? 905 : 0);
	assert_int_equal(sample->cpu, type & PERF_SAMPLE_CPU ? 907 : UINT32_MAX);
	assert_int_equal(sample->period, type & PERF_SAMPLE_PERIOD ? 908 : 1);
	assert_int_equal(sample->cpumode, PERF_RECORD_MISC_USER);
	assert_true(sample->exact_ip);
}

static void assert_variable(const struct sample *sample, uint64_t type)
{
	uint64_t weight = type & PERF_SAMPLE_WEIGHT_STRUCT ? 930 : (UINT64_C(5) << 32) | 930;
	uint32_t raw[3] = { 0x11111111, 0x22222222, 0x33333333 };
	uint64_t stack[2] = { 0x5555, 0x5556 };

	assert_int_equal(!!sample->chain, !!(type & PERF_SAMPLE_CALLCHAIN));
	assert_int_equal(sample->nr_chain, type & PERF_SAMPLE_CALLCHAIN ? 3 : 0);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		assert_int_equal(sample->chain[0], PERF_CONTEXT_USER);
		assert_int_equal(sample->chain[2], 911);
	}
	assert_int_equal(!!sample->raw, !!(type & PERF_SAMPLE_RAW));
	assert_int_equal(sample->raw_size, type & PERF_SAMPLE_RAW ? 12 : 0);
	if (type & PERF_SAMPLE_RAW)
		assert_memory_equal(sample->raw, raw, sizeof(raw));
	assert_int_equal(!!sample->user_regs, !!(type & PERF_SAMPLE_REGS_USER));
	if (type & PERF_SAMPLE_REGS_USER) {
		assert_int_equal(sample->user_abi, PERF_SAMPLE_REGS_ABI_64);
		assert_int_equal(sample->user_regs[2], 922);
	} else {
		assert_int_equal(sample->user_abi, 0);
	}
	assert_int_equal(!!sample->user_stack, !!(type & PERF_SAMPLE_STACK_USER));
	assert_int_equal(sample->user_stack_size, type & PERF_SAMPLE_STACK_USER ? 16 : 0);
	if (type & PERF_SAMPLE_STACK_USER)
		assert_memory_equal(sample->user_stack, stack, sizeof(stack));
	assert_int_equal(sample->weight, type & PERF_SAMPLE_WEIGHT_TYPE ? weight : 0);
	assert_int_equal(sample->cgroup, type & PERF_SAMPLE_CGROUP ? 935 : 0);
}

static void check_sample(uint64_t type)
{
	struct record_format format = all_fields;
	const struct perf_event_header *header;
	struct build build;
	struct sample sample;

	format.sample_type = type;
	header = put_sample(&build, type);
	memset(&sample, 0xa5, sizeof(sample));
	assert_true(record_decode_sample(&format, header, &sample));
	assert_fixed(&sample, type);
	assert_variable(&sample, type);
}

static void test_each_pair_of_sample_fields_is_found(void **state)
{
	(void)state;
	check_sample(0);
	check_sample(all_fields.sample_type);
	for (int i = 0; i < NR_FIELDS; i++) {
		for (int j = 0; j < NR_FIELDS; j++)
			check_sample((UINT64_C(1) << i) | (UINT64_C(1) << j));
	}
	for (int i = 0; i < NR_FIELDS; i++)
		check_sample(all_fields.sample_type & ~(UINT64_C(1) << i));
}

static void test_sample_cut_anywhere_is_malformed(void **state)
{
	const struct perf_event_header *header;
	struct build build;

	(void)state;
	header = put_sample(&build, all_fields.sample_type);
	for (size_t size = sizeof(*header); size < header->size; size++) {
		struct perf_event_header *copy = copy_cut(header, size);
		struct sample sample;

		assert_false(record_decode_sample(&all_fields, copy, &sample));
		free(copy);
	}
}

static void test_other_records_are_no_samples(void **state)
{
	struct build build;
	struct sample sample;

	(void)state;
	put_sample(&build, all_fields.sample_type);
	build.header.type = PERF_RECORD_COMM;
	assert_false(record_decode_sample(&all_fields, end(&build), &sample));
}

static void test_header_too_small_for_itself_is_malformed(void **state)
{
	(void)state;
	for (uint16_t size = 0; size < sizeof(struct perf_event_header); size++) {
		struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = size };
		struct record_format nothing = { 0 };
		struct sample sample;
		struct record record;
		struct record_id id;

		assert_false(record_decode_sample(&nothing, &header, &sample));
		assert_false(record_decode_id(&nothing, &header, &id));
		header.type = PERF_RECORD_SWITCH;
		assert_int_equal(record_decode(&nothing, &header, &record), RECORD_MALFORMED);
	}
}

/* A sample with one field, whose first word is @count, and three words after it. */
static bool decode_counted(uint64_t field, uint64_t count)
{
	struct record_format format = all_fields;
	struct perf_event_header *copy;
	struct build build;
	struct sample sample;
	bool is_good;

	format.sample_type = field;
	begin(&build, PERF_RECORD_SAMPLE, 0);
	put(&build, count);
	put(&build, 1);
	put(&build, 1);
	put(&build, 1);
	end(&build);
	copy = copy_cut(end(&build), 8 * build.nr);
	is_good = record_decode_sample(&format, copy, &sample);
	free(copy);
	return is_good;
}

static void test_counts_that_overflow_are_malformed(void **state)
{
	static const uint64_t fields[] = {
		PERF_SAMPLE_READ,	  PERF_SAMPLE_CALLCHAIN,  PERF_SAMPLE_RAW,
		PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_AUX,
	};
	/* In bytes or elements of 8, 24 and 32 these wrap to something small. */
	static const uint64_t counts[] = {
		UINT64_MAX,	     UINT64_MAX - 7,	  UINT64_C(1) << 63,
		UINT64_C(1) << 62,   UINT64_C(1) << 61,	  (UINT64_C(1) << 61) + 1,
		UINT64_C(1) << 60,   UINT64_MAX / 3 + 1,  UINT64_MAX / 24 + 1,
		UINT64_C(1) << 59,   UINT64_C(0xfffffff4), 36,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(counts); j++) {
			/* The upper half of a raw size's word is data. */
			if (fields[i] == PERF_SAMPLE_RAW && (uint32_t)counts[j] % 8 == 4 &&
			    (uint32_t)counts[j] <= 28)
				continue;
			if (decode_counted(fields[i], counts[j]))
				fail_msg("field %#llx, count %#llx",
					 (unsigned long long)fields[i],
					 (unsigned long long)counts[j]);
		}
	}
	assert_true(decode_counted(PERF_SAMPLE_CALLCHAIN, 3));
	assert_true(decode_counted(PERF_SAMPLE_RAW, 28));
	assert_false(decode_counted(PERF_SAMPLE_RAW, 24));
	assert_true(decode_counted(PERF_SAMPLE_AUX, 24));
	assert_true(decode_counted(PERF_SAMPLE_STACK_USER, 16));
	assert_false(decode_counted(PERF_SAMPLE_STACK_USER, 12));
}

static void test_stack_cannot_hold_more_than_its_size(void **state)
{
	const struct record_format format = { .sample_type = PERF_SAMPLE_STACK_USER };
	struct build build;
	struct sample sample;

	(void)state;
	begin(&build, PERF_RECORD_SAMPLE, 0);
	put(&build, 8);
	put(&build, 1);
	put(&build, 9);
	assert_false(record_decode_sample(&format, end(&build), &sample));
	/* Nothing was copied: there is no stack. */
	build.words[3] = 0;
	assert_true(record_decode_sample(&format, end(&build), &sample));
	assert_null(sample.user_stack);
	/* Size 0 has no third word. */
	begin(&build, PERF_RECORD_SAMPLE, 0);
	put(&build, 0);
	assert_true(record_decode_sample(&format, end(&build), &sample));
	assert_null(sample.user_stack);
}

static void test_kernel_thread_has_no_user_registers(void **state)
{
	const struct record_format format = {
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_CGROUP,
		.sample_regs_user = 0xff,
		.sample_regs_intr = 0x1,
	};
	struct build build;
	struct sample sample;

	(void)state;
	begin(&build, PERF_RECORD_SAMPLE, 0);
	put(&build, PERF_SAMPLE_REGS_ABI_NONE);
	put(&build, PERF_SAMPLE_REGS_ABI_64);
	put(&build, 1);
	put(&build, 55);
	assert_true(record_decode_sample(&format, end(&build), &sample));
	assert_null(sample.user_regs);
	assert_int_equal(sample.cgroup, 55);
}

static void test_read_of_one_event_is_skipped(void **state)
{
	struct record_format format = {
		.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CGROUP,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			       PERF_FORMAT_ID,
	};
	struct build build;
	struct sample sample;

	(void)state;
	begin(&build, PERF_RECORD_SAMPLE, 0);
	for (uint64_t i = 0; i < 4; i++)
		put(&build, i);
	put(&build, 77);
	assert_true(record_decode_sample(&format, end(&build), &sample));
	assert_int_equal(sample.cgroup, 77);
}

static void test_branch_counters_are_skipped(void **state)
{
	const struct record_format format = {
		.sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_CGROUP,
		.branch_sample_type = UINT64_C(1) << 19,
	};
	struct build build;
	struct sample sample;

	(void)state;
	begin(&build, PERF_RECORD_SAMPLE, 0);
	put(&build, 2);
	for (uint64_t i = 0; i < 8; i++)
		put(&build, i);
	put(&build, 78);
	assert_true(record_decode_sample(&format, end(&build), &sample));
	assert_int_equal(sample.cgroup, 78);
}

static void test_id_of_a_sample_is_that_of_its_fields(void **state)
{
	struct build build;
	struct record_id id;

	(void)state;
	put_sample(&build, all_fields.sample_type);
	assert_true(record_decode_id(&all_fields, end(&build), &id));
	assert_int_equal(id.id, 900);
	assert_int_equal(id.time, 904);
	assert_int_equal(id.pid, 902);
	assert_int_equal(id.tid, 903);
	assert_int_equal(id.cpu, 907);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_pair_of_sample_fields_is_found),
		cmocka_unit_test(test_sample_cut_anywhere_is_malformed),
		cmocka_unit_test(test_other_records_are_no_samples),
		cmocka_unit_test(test_header_too_small_for_itself_is_malformed),
		cmocka_unit_test(test_counts_that_overflow_are_malformed),
		cmocka_unit_test(test_stack_cannot_hold_more_than_its_size),
		cmocka_unit_test(test_kernel_thread_has_no_user_registers),
		cmocka_unit_test(test_read_of_one_event_is_skipped),
		cmocka_unit_test(test_branch_counters_are_skipped),
		cmocka_unit_test(test_id_of_a_sample_is_that_of_its_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
