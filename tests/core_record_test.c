/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records are put together word by word as the kernel does. Where a sanitizer must
 * see an access beyond the end, the record is copied to an allocation of its size.
 */
#include "config.h"

#include "core/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "tests/record_build.h"

static void put_string(struct build *build, const char *text)
{
	size_t nr = strlen(text) / 8 + 1;
	uint64_t words[64] = { 0 };

	assert_true(nr < ARRAY_SIZE(words));
	memcpy(words, text, strlen(text));
	for (size_t i = 0; i < nr; i++)
		put(build, words[i]);
}

/* A format with every field of a trailer, and its trailer. */
static const struct record_format full_id = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		       PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CALLCHAIN,
	.sample_id_all = true,
};

static void put_trailer(struct build *build)
{
	put_pair(build, 11, 12);
	put(build, 1300);
	put(build, 14);
	put(build, 15);
	put_pair(build, 16, 0);
	put(build, 17);
}

static void assert_trailer(const struct record_id *id)
{
	assert_int_equal(id->pid, 11);
	assert_int_equal(id->tid, 12);
	assert_int_equal(id->time, 1300);
	assert_int_equal(id->cpu, 16);
	assert_int_equal(id->id, 17);
}

/*
 * Decode the record that ends with a full trailer, whole and cut at every length.
 * Cut, it is refused, unless what is taken away is padding after a string: then the
 * trailer is read from other bytes, and all that counts is that nothing else is read.
 */
static struct record check_record(struct build *build, bool has_string)
{
	const struct perf_event_header *header;
	struct perf_event_header *copy;
	struct record record, cut;
	struct record_id id;

	put_trailer(build);
	header = end(build);
	assert_int_equal(record_decode(&full_id, header, &record), RECORD_OK);
	assert_int_equal(record.type, header->type);
	assert_trailer(&record.id);
	assert_true(record_decode_id(&full_id, header, &id));
	assert_trailer(&id);
	for (size_t size = sizeof(*header); size < header->size; size++) {
		enum record_result ret;

		copy = copy_cut(header, size);
		ret = record_decode(&full_id, copy, &cut);
		if (!has_string || size % 8)
			assert_int_equal(ret, RECORD_MALFORMED);
		free(copy);
	}
	return record;
}

static void test_mmap_is_executable_unless_data(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	begin(&build, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	put_pair(&build, 100, 101);
	put(&build, 0x400000);
	put(&build, 0x2000);
	put(&build, 0x1000);
	put_string(&build, "/usr/bin/true");
	record = check_record(&build, true);
	assert_int_equal(record.mmap.pid, 100);
	assert_int_equal(record.mmap.tid, 101);
	assert_int_equal(record.mmap.addr, 0x400000);
	assert_int_equal(record.mmap.len, 0x2000);
	assert_int_equal(record.mmap.pgoff, 0x1000);
	assert_int_equal(record.mmap.prot, PROT_EXEC);
	assert_int_equal(record.mmap.build_id_size, 0);
	assert_string_equal(record.mmap.filename, "/usr/bin/true");

	build.header.misc |= PERF_RECORD_MISC_MMAP_DATA;
	assert_int_equal(record_decode(&full_id, end(&build), &record), RECORD_OK);
	assert_int_equal(record.mmap.prot, 0);
}

static void begin_mmap2(struct build *build, uint16_t misc)
{
	begin(build, PERF_RECORD_MMAP2, misc);
	put_pair(build, 100, 101);
	put(build, 0x7f0000000000);
	put(build, 0x3000);
	put(build, 0);
}

static void test_mmap2_gives_inode_and_protection(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	begin_mmap2(&build, PERF_RECORD_MISC_USER);
	put_pair(&build, 8, 1);
	put(&build, 4711);
	put(&build, 3);
	put_pair(&build, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	put_string(&build, "/lib/libc.so.6");
	record = check_record(&build, true);
	assert_int_equal(record.mmap.addr, 0x7f0000000000);
	assert_int_equal(record.mmap.maj, 8);
	assert_int_equal(record.mmap.min, 1);
	assert_int_equal(record.mmap.ino, 4711);
	assert_int_equal(record.mmap.ino_generation, 3);
	assert_int_equal(record.mmap.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(record.mmap.flags, MAP_PRIVATE);
	assert_int_equal(record.mmap.build_id_size, 0);
	assert_string_equal(record.mmap.filename, "/lib/libc.so.6");
}

static void put_build_id(struct build *build, uint8_t size)
{
	unsigned char bytes[24] = { size };
	uint64_t words[3];

	for (unsigned char i = 0; i < 20; i++)
		bytes[4 + i] = (unsigned char)(0xa0 + i);
	memcpy(words, bytes, sizeof(words));
	for (size_t i = 0; i < 3; i++)
		put(build, words[i]);
	put_pair(build, PROT_EXEC, 0);
	put_string(build, "/lib/libc.so.6");
}

static void test_mmap2_with_build_id_has_no_inode(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	begin_mmap2(&build, PERF_RECORD_MISC_MMAP_BUILD_ID);
	put_build_id(&build, 20);
	record = check_record(&build, true);
	assert_int_equal(record.mmap.build_id_size, 20);
	assert_int_equal(record.mmap.build_id[0], 0xa0);
	assert_int_equal(record.mmap.build_id[19], 0xb3);
	assert_int_equal(record.mmap.maj, 0);
	assert_int_equal(record.mmap.ino, 0);
	assert_int_equal(record.mmap.prot, PROT_EXEC);
	assert_string_equal(record.mmap.filename, "/lib/libc.so.6");
}

static void test_build_id_longer_than_its_place_is_malformed(void **state)
{
	struct record_format format = full_id;
	struct build build;
	struct record record;

	(void)state;
	format.build_ids = true;
	begin_mmap2(&build, PERF_RECORD_MISC_MMAP_BUILD_ID);
	put_build_id(&build, 21);
	put_trailer(&build);
	assert_int_equal(record_decode(&format, end(&build), &record), RECORD_MALFORMED);
}

/* Linux 6.18, while another profiler records with build ids: perf record --buildid-mmap. */
static void test_build_id_that_was_not_asked_for_is_device_and_inode(void **state)
{
	static const uint32_t majors[] = { 0, 8, 9, 254, 259 };
	struct build build;
	struct record record;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(majors); i++) {
		begin_mmap2(&build, PERF_RECORD_MISC_MMAP_BUILD_ID);
		put_pair(&build, majors[i], 1);
		put(&build, 4711);
		put(&build, 3);
		put_pair(&build, PROT_EXEC, MAP_PRIVATE);
		put_string(&build, "/lib/libc.so.6");
		record = check_record(&build, true);
		assert_int_equal(record.mmap.build_id_size, 0);
		assert_int_equal(record.mmap.maj, majors[i]);
		assert_int_equal(record.mmap.ino, 4711);
		assert_int_equal(record.mmap.ino_generation, 3);
		assert_string_equal(record.mmap.filename, "/lib/libc.so.6");
	}
}

static void test_comm_says_whether_it_was_an_exec(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	begin(&build, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_pair(&build, 5, 6);
	put_string(&build, "sh");
	record = check_record(&build, true);
	assert_int_equal(record.comm.pid, 5);
	assert_int_equal(record.comm.tid, 6);
	assert_true(record.comm.exec);
	assert_string_equal(record.comm.comm, "sh");

	begin(&build, PERF_RECORD_COMM, 0);
	put_pair(&build, 5, 6);
	put_string(&build, "exactly 15 byte");
	record = check_record(&build, true);
	assert_false(record.comm.exec);
	assert_string_equal(record.comm.comm, "exactly 15 byte");
}

static void test_string_without_end_is_malformed(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	/* The only NUL is in the trailer: it does not count. */
	begin(&build, PERF_RECORD_COMM, 0);
	put_pair(&build, 5, 6);
	put(&build, UINT64_C(0x6161616161616161));
	put_trailer(&build);
	assert_int_equal(record_decode(&full_id, end(&build), &record), RECORD_MALFORMED);
	/* No room for a string at all. */
	begin(&build, PERF_RECORD_COMM, 0);
	put_pair(&build, 5, 6);
	put_trailer(&build);
	assert_int_equal(record_decode(&full_id, end(&build), &record), RECORD_MALFORMED);
}

static void test_fork_and_exit_name_both_tasks(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct build build;
		struct record record;

		begin(&build, types[i], 0);
		put_pair(&build, 1, 2);
		put_pair(&build, 3, 4);
		put(&build, 99);
		record = check_record(&build, false);
		assert_int_equal(record.task.pid, 1);
		assert_int_equal(record.task.ppid, 2);
		assert_int_equal(record.task.tid, 3);
		assert_int_equal(record.task.ptid, 4);
		assert_int_equal(record.task.time, 99);
	}
}

static void test_fc013_lost_records_and_samples_are_told(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	begin(&build, PERF_RECORD_LOST, 0);
	put(&build, 77);
	put(&build, 22024);
	record = check_record(&build, false);
	assert_int_equal(record.lost.id_of, 77);
	assert_int_equal(record.lost.nr, 22024);

	begin(&build, PERF_RECORD_LOST_SAMPLES, 0);
	put(&build, 33);
	record = check_record(&build, false);
	assert_int_equal(record.lost.id_of, 0);
	assert_int_equal(record.lost.nr, 33);
}

static void test_throttle_names_its_event(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct build build;
		struct record record;

		begin(&build, types[i], 0);
		put(&build, 1);
		put(&build, 2);
		put(&build, 3);
		record = check_record(&build, false);
		assert_int_equal(record.throttle.time, 1);
		assert_int_equal(record.throttle.id_of, 2);
		assert_int_equal(record.throttle.stream_id, 3);
	}
}

static uint32_t two_halves(uint16_t first, uint16_t second)
{
	uint16_t halves[] = { first, second };
	uint32_t word;

	memcpy(&word, halves, sizeof(word));
	return word;
}

static void test_ksymbol_comes_and_goes(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	for (uint16_t flags = 0; flags < 2; flags++) {
		begin(&build, PERF_RECORD_KSYMBOL, 0);
		put(&build, UINT64_C(0xffffffffc0001000));
		put_pair(&build, 0x80, two_halves(PERF_RECORD_KSYMBOL_TYPE_BPF, flags));
		put_string(&build, "bpf_prog_1");
		record = check_record(&build, true);
		assert_int_equal(record.ksymbol.addr, UINT64_C(0xffffffffc0001000));
		assert_int_equal(record.ksymbol.len, 0x80);
		assert_int_equal(record.ksymbol.ksym_type, PERF_RECORD_KSYMBOL_TYPE_BPF);
		assert_int_equal(record.ksymbol.unregister, flags);
		assert_string_equal(record.ksymbol.name, "bpf_prog_1");
	}
}

static void test_bpf_event_has_its_tag(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	begin(&build, PERF_RECORD_BPF_EVENT, 0);
	put_pair(&build, two_halves(PERF_BPF_EVENT_PROG_UNLOAD, 5), 42);
	put(&build, 0);
	memcpy(&build.words[2], "tagtagta", 8);
	record = check_record(&build, false);
	assert_int_equal(record.bpf.event_type, PERF_BPF_EVENT_PROG_UNLOAD);
	assert_int_equal(record.bpf.flags, 5);
	assert_int_equal(record.bpf.id, 42);
	assert_memory_equal(record.bpf.tag, "tagtagta", 8);
}

static void test_cgroup_has_id_and_path(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	begin(&build, PERF_RECORD_CGROUP, 0);
	put(&build, 1234);
	put_string(&build, "/system.slice/x.service");
	record = check_record(&build, true);
	assert_int_equal(record.cgroup.id, 1234);
	assert_string_equal(record.cgroup.path, "/system.slice/x.service");
}

static void test_switch_says_out_and_preempted(void **state)
{
	struct build build;
	struct record record;

	(void)state;
	begin(&build, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
	record = check_record(&build, false);
	assert_true(record.context_switch.out);
	assert_false(record.context_switch.preempt);

	begin(&build, PERF_RECORD_SWITCH_CPU_WIDE,
	      PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	put_pair(&build, 8, 9);
	record = check_record(&build, false);
	assert_true(record.context_switch.out);
	assert_true(record.context_switch.preempt);
	assert_int_equal(record.context_switch.next_prev_pid, 8);
	assert_int_equal(record.context_switch.next_prev_tid, 9);
}

static void test_types_we_do_not_know_are_told_apart_from_malformed(void **state)
{
	static const uint32_t types[] = {
		0, PERF_RECORD_SAMPLE, PERF_RECORD_AUX, PERF_RECORD_MAX + 10, 64, UINT32_MAX,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct build build;
		struct record record;

		begin(&build, types[i], 0);
		assert_int_equal(record_decode(&full_id, end(&build), &record), RECORD_UNKNOWN);
		assert_int_equal(record.type, types[i]);
	}
}

static void test_without_sample_id_all_there_is_no_trailer(void **state)
{
	struct record_format format = full_id;
	struct build build;
	struct record record;
	struct record_id id;

	(void)state;
	format.sample_id_all = false;
	begin(&build, PERF_RECORD_LOST, 0);
	put(&build, 1);
	put(&build, 2);
	assert_int_equal(record_decode(&format, end(&build), &record), RECORD_OK);
	assert_int_equal(record.lost.nr, 2);
	assert_int_equal(record.id.time, 0);
	assert_true(record_decode_id(&format, end(&build), &id));
	assert_int_equal(id.pid, 0);
	assert_int_equal(id.time, 0);
}

static void test_records_of_perf_itself_have_no_trailer(void **state)
{
	struct build build;
	struct record_id id;

	(void)state;
	/* PERF_RECORD_FINISHED_ROUND of a perf.data file. */
	begin(&build, 68, 0);
	assert_true(record_decode_id(&full_id, end(&build), &id));
	assert_int_equal(id.time, 0);
}

static void test_trailer_holds_only_what_was_asked_for(void **state)
{
	struct record_format format = {
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IP | PERF_SAMPLE_CPU,
		.sample_id_all = true,
	};
	struct build build;
	struct record_id id;

	(void)state;
	begin(&build, PERF_RECORD_AUX, 0);
	for (uint64_t i = 0; i < 3; i++)
		put(&build, i);
	put(&build, 555);
	put_pair(&build, 7, 0);
	assert_true(record_decode_id(&format, end(&build), &id));
	assert_int_equal(id.time, 555);
	assert_int_equal(id.cpu, 7);
	assert_int_equal(id.id, 0);
	assert_int_equal(id.pid, 0);
}

/* Where bytes go that are read for the sanitizer's sake. */
static volatile uint64_t sink;

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static uint64_t sum_of(const void *bytes, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += ((const unsigned char *)bytes)[i];
	return sum;
}

/* Read all that a result points to. */
static uint64_t touch(const struct record_format *format, const struct perf_event_header *header)
{
	struct sample sample;
	struct record record;
	struct record_id id;
	uint64_t sum = 0;

	if (record_decode_sample(format, header, &sample)) {
		sum += sum_of(sample.chain, 8 * sample.nr_chain);
		sum += sum_of(sample.raw, sample.raw_size);
		sum += sum_of(sample.user_stack, sample.user_stack_size);
		if (sample.user_regs)
			sum += sum_of(sample.user_regs,
				      8 * (size_t)__builtin_popcountll(format->sample_regs_user));
	}
	if (record_decode_id(format, header, &id))
		sum += id.time;
	if (record_decode(format, header, &record) != RECORD_OK)
		return sum;
	if (record.type == PERF_RECORD_MMAP || record.type == PERF_RECORD_MMAP2)
		sum += strlen(record.mmap.filename);
	else if (record.type == PERF_RECORD_COMM)
		sum += strlen(record.comm.comm);
	else if (record.type == PERF_RECORD_KSYMBOL)
		sum += strlen(record.ksymbol.name);
	else if (record.type == PERF_RECORD_CGROUP)
		sum += strlen(record.cgroup.path);
	return sum;
}

static void test_random_bytes_do_no_harm(void **state)
{
	uint64_t seed = UINT64_C(88172645463325252);

	(void)state;
	for (int i = 0; i < 200000; i++) {
		size_t nr = 1 + next_random(&seed) % 32;
		uint64_t *words = malloc(8 * nr);
		struct perf_event_header *header = (void *)words;
		struct record_format format = {
			.sample_type = next_random(&seed) & next_random(&seed) & 0x3ffffff,
			.read_format = next_random(&seed) & 0x1f,
			.branch_sample_type = next_random(&seed),
			.sample_regs_user = next_random(&seed) & next_random(&seed) & 0xff,
			.sample_regs_intr = next_random(&seed) & next_random(&seed) & 0xff,
			.sample_id_all = next_random(&seed) & 1,
		};

		assert_non_null(words);
		/* Small numbers, so that counts are often nearly right. */
		for (size_t j = 0; j < nr; j++)
			words[j] = next_random(&seed) >> (next_random(&seed) % 64);
		header->type = (uint32_t)(next_random(&seed) % (PERF_RECORD_MAX + 2));
		if (next_random(&seed) % 4 == 0)
			header->type = PERF_RECORD_SAMPLE;
		header->size = (uint16_t)(8 * nr - (next_random(&seed) % 16 ? 0 : 3));
		sink += touch(&format, header);
		free(words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap_is_executable_unless_data),
		cmocka_unit_test(test_mmap2_gives_inode_and_protection),
		cmocka_unit_test(test_mmap2_with_build_id_has_no_inode),
		cmocka_unit_test(test_build_id_longer_than_its_place_is_malformed),
		cmocka_unit_test(test_build_id_that_was_not_asked_for_is_device_and_inode),
		cmocka_unit_test(test_comm_says_whether_it_was_an_exec),
		cmocka_unit_test(test_string_without_end_is_malformed),
		cmocka_unit_test(test_fork_and_exit_name_both_tasks),
		cmocka_unit_test(test_fc013_lost_records_and_samples_are_told),
		cmocka_unit_test(test_throttle_names_its_event),
		cmocka_unit_test(test_ksymbol_comes_and_goes),
		cmocka_unit_test(test_bpf_event_has_its_tag),
		cmocka_unit_test(test_cgroup_has_id_and_path),
		cmocka_unit_test(test_switch_says_out_and_preempted),
		cmocka_unit_test(test_types_we_do_not_know_are_told_apart_from_malformed),
		cmocka_unit_test(test_without_sample_id_all_there_is_no_trailer),
		cmocka_unit_test(test_records_of_perf_itself_have_no_trailer),
		cmocka_unit_test(test_trailer_holds_only_what_was_asked_for),
		cmocka_unit_test(test_random_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
