/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording begins with: records, as text, of what the table was told. */
#include "config.h"

#include "core/record_state.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/record_state_fixture.h"
#include "tests/symbols_fixture.h"

/* ---- records as text ---- */

static void print_mmap(FILE *file, const struct record *record)
{
	if (record->mmap.pid == UINT32_MAX) {
		fprintf(file, "kernel %" PRIx64 "+%" PRIx64 " @%" PRIx64, record->mmap.addr,
			record->mmap.len, record->mmap.pgoff);
	} else {
		assert_true(record->mmap.prot & PROT_EXEC);
		fprintf(file, "%u map %" PRIx64 "+%" PRIx64 " @%" PRIx64, record->mmap.pid,
			record->mmap.addr, record->mmap.len, record->mmap.pgoff);
		if (record->mmap.build_id_size)
			fprintf(file, " id %02x.%u", record->mmap.build_id[0],
				record->mmap.build_id_size);
		else
			fprintf(file, " %u:%u:%" PRIu64, record->mmap.maj, record->mmap.min,
				record->mmap.ino);
	}
	fprintf(file, " %s", record->mmap.filename);
}

/* A line each: "TIME PID comm TID NAME", "TIME PID map ...". The caller's. */
static char *text_of(const struct record_buffer *buffer)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t pos = 0; pos < buffer->len; pos += record_at(buffer, pos)->size) {
		struct record record;

		decode(record_at(buffer, pos), &record);
		fprintf(file, "%" PRIu64 " ", record.id.time);
		if (record.type == PERF_RECORD_COMM)
			fprintf(file, "%u %s %u %s", record.comm.pid,
				record.comm.exec ? "exec" : "comm", record.comm.tid,
				record.comm.comm);
		else
			print_mmap(file, &record);
		fprintf(file, "\n");
	}
	fclose(file);
	return text;
}

static void assert_state(struct thread_table *table, uint64_t start_ns, const char *expected)
{
	struct record_buffer buffer = { 0 };
	char *text;

	record_state_tasks(&buffer, &format, table, start_ns);
	text = text_of(&buffer);
	assert_string_equal(text, expected);
	free(text);
	record_buffer_release(&buffer);
}

/* ---- names ---- */

static void test_threads_come_after_their_main_thread(void **state)
{
	struct thread_table *table = table_of(state);
	const struct synth_thread threads[] = { { .tid = 12, .comm = "worker" },
						{ .tid = 10, .comm = "server" },
						{ .tid = 11, .comm = "log" } };
	const struct synth_process process = { .pid = 10,
					       .has_maps = true,
					       .scan_start_ns = 100,
					       .scan_end_ns = 110,
					       .threads = threads,
					       .nr_threads = ARRAY_SIZE(threads) };

	thread_table_synthesize(table, &process);
	assert_state(table, 500,
		     "500 10 comm 10 server\n500 10 comm 11 log\n500 10 comm 12 worker\n");
}

static void test_names_have_their_times_and_older_ones_that_of_the_start(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "first", false, 100);
	thread_table_comm(table, 10, 10, "second", false, 200);
	thread_table_comm(table, 10, 10, "third", false, 600);
	assert_state(table, 500, "500 10 comm 10 second\n600 10 comm 10 third\n");
	/* A name answers for the time before it, if there is no other. */
	assert_state(table, 50,
		     "50 10 comm 10 first\n200 10 comm 10 second\n600 10 comm 10 third\n");
	assert_state(table, 600, "600 10 comm 10 third\n");
}

static void test_who_died_before_the_start_is_left_out(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "gone", false, 100);
	thread_table_exit(table, 10, 10, 499);
	thread_table_comm(table, 11, 11, "dying", false, 100);
	add_map(table, 11, 0x1000, 7, 100);
	thread_table_exit(table, 11, 11, 500);
	assert_state(table, 500, "500 11 comm 11 dying\n500 11 map 1000+1000 @0 8:0:7 /bin/x\n");
}

static void test_threads_of_a_main_thread_that_is_gone_still_have_their_group(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 10, 10, 1, 1, 50);
	thread_table_comm(table, 10, 10, "server", true, 100);
	thread_table_fork(table, 10, 11, 10, 10, 110);
	thread_table_comm(table, 10, 11, "worker", false, 120);
	thread_table_exit(table, 10, 10, 200);
	assert_state(table, 500, "500 10 comm 10 server\n500 10 comm 11 worker\n");
	thread_table_trim(table, 300);
	assert_state(table, 500, "500 10 comm 10 server\n500 10 comm 11 worker\n");
}

static void test_kernel_threads_and_idle_have_names_only(void **state)
{
	struct thread_table *table = table_of(state);
	struct synth_process process = scan_of(2, "kthreadd", 0, 100);

	process.kernel_thread = true;
	thread_table_synthesize(table, &process);
	add_map(table, 2, 0x1000, 7, 110);
	assert_state(table, 500, "500 2 comm 2 kthreadd\n");
	thread_table_exit(table, 2, 2, 120);
	task_put(thread_table_get(table, 0, 0, 100, NULL));
	assert_state(table, 500, "500 0 comm 0 swapper\n");
}

static void test_tasks_without_a_name_are_left_out(void **state)
{
	struct thread_table *table = table_of(state);

	task_put(thread_table_get(table, 10, 11, 100, NULL));
	task_put(thread_table_get(table, UINT32_MAX, UINT32_MAX, 100, NULL));
	add_map(table, 10, 0x1000, 7, 100);
	assert_state(table, 500, "500 10 map 1000+1000 @0 8:0:7 /bin/x\n");
}

static void test_hostile_names_pass_as_they_are(void **state)
{
	struct thread_table *table = table_of(state);
	char *path = mem_zalloc(9001);
	char *expected;

	thread_table_comm(table, 10, 10, "\x1b[2J\n\xff%s", false, 100);
	add_path(table, 10, 0x1000, "/bin/\n\x1b]0;\xff", 100);
	assert_state(table, 500,
		     "500 10 comm 10 \x1b[2J\n\xff%s\n"
		     "500 10 map 1000+1000 @3000 0:0:0 /bin/\n\x1b]0;\xff\n");
	/* Text too long for a record is cut. */
	thread_table_exit(table, 10, 10, 200);
	memset(path, 'x', 9000);
	path[0] = '/';
	add_path(table, 11, 0x1000, path, 300);
	path[4095] = '\0';
	expected = mem_printf("500 11 map 1000+1000 @3000 0:0:0 %s\n", path);
	assert_state(table, 500, expected);
	free(expected);
	free(path);
}

/* ---- images ---- */

static void test_exec_after_the_start_comes_before_its_maps(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "sh", false, 100);
	add_map(table, 10, 0x1000, 7, 100);
	thread_table_comm(table, 10, 10, "ls", true, 600);
	add_map(table, 10, 0x1000, 8, 610);
	add_map(table, 10, 0x3000, 9, 620);
	assert_state(table, 500,
		     "500 10 comm 10 sh\n"
		     "500 10 map 1000+1000 @0 8:0:7 /bin/x\n"
		     "600 10 exec 10 ls\n"
		     "610 10 map 1000+1000 @0 8:0:8 /bin/x\n"
		     "620 10 map 3000+1000 @0 8:0:9 /bin/x\n");
	/* Of an older one there is only what it left. */
	assert_state(table, 600,
		     "600 10 comm 10 ls\n"
		     "610 10 map 1000+1000 @0 8:0:8 /bin/x\n"
		     "620 10 map 3000+1000 @0 8:0:9 /bin/x\n");
	assert_state(table, 700,
		     "700 10 comm 10 ls\n"
		     "700 10 map 1000+1000 @0 8:0:8 /bin/x\n"
		     "700 10 map 3000+1000 @0 8:0:9 /bin/x\n");
}

static void test_map_that_no_look_up_finds_is_not_told(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "sh", false, 100);
	add_map(table, 10, 0x1000, 7, 610);
	thread_table_comm(table, 10, 10, "ls", true, 600); /* comes late */
	assert_int_equal(inode_at(table, 10, 10, 0x1000, 620), 0);
	assert_state(table, 500, "500 10 comm 10 sh\n600 10 exec 10 ls\n");
}

static void test_exec_of_the_same_name_is_told(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "sh", false, 100);
	thread_table_comm(table, 10, 10, "sh", true, 600);
	thread_table_comm(table, 10, 10, "renamed", false, 650);
	thread_table_comm(table, 10, 10, "sh", true, 700);
	assert_state(table, 500,
		     "500 10 comm 10 sh\n600 10 exec 10 sh\n650 10 comm 10 renamed\n"
		     "700 10 exec 10 sh\n");
}

static void test_first_name_by_an_exec_answers_for_the_time_before(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "ls", true, 600);
	assert_state(table, 500, "500 10 comm 10 ls\n600 10 exec 10 ls\n");
}

static void test_exec_by_another_thread_takes_the_main_id(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 10, 10, 1, 1, 50);
	thread_table_comm(table, 10, 10, "main", true, 100);
	thread_table_fork(table, 10, 11, 10, 10, 110);
	thread_table_comm(table, 10, 11, "other", false, 120);
	thread_table_exit(table, 10, 10, 600);
	thread_table_comm(table, 10, 10, "ls", true, 610);
	assert_state(table, 500, "500 10 comm 10 main\n500 10 comm 11 other\n610 10 exec 10 ls\n");
}

static void test_reused_pid_is_told_twice(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "old", false, 100);
	add_map(table, 10, 0x1000, 7, 100);
	thread_table_exit(table, 10, 10, 600);
	thread_table_fork(table, 10, 10, 1, 1, 700);
	thread_table_comm(table, 10, 10, "new", false, 710);
	add_map(table, 10, 0x1000, 8, 720);
	assert_state(table, 500,
		     "500 10 comm 10 old\n"
		     "500 10 map 1000+1000 @0 8:0:7 /bin/x\n"
		     "701 10 comm 10 new\n"
		     "720 10 map 1000+1000 @0 8:0:8 /bin/x\n");
}

/* ---- maps ---- */

static void test_scanned_maps_count_from_the_birth(void **state)
{
	struct thread_table *table = table_of(state);

	scan(table, 10, "old", 7, 600);
	thread_table_fork(table, 11, 11, 1, 1, 550);
	thread_table_comm(table, 11, 11, "young", false, 551);
	scan(table, 11, "young", 8, 600);
	assert_state(table, 500,
		     "500 10 comm 10 old\n"
		     "500 10 map 1000+1000 @0 8:0:7 /bin/scanned\n"
		     "551 11 comm 11 young\n"
		     "551 11 map 1000+1000 @0 8:0:8 /bin/scanned\n");
}

static void test_ended_maps_are_told_while_they_answered(void **state)
{
	struct thread_table *table = table_of(state);

	add_map(table, 10, 0x1000, 7, 100);
	add_map(table, 10, 0x1000, 8, 300);
	add_map(table, 10, 0x1000, 9, 600);
	assert_state(table, 400,
		     "400 10 map 1000+1000 @0 8:0:8 /bin/x\n"
		     "600 10 map 1000+1000 @0 8:0:9 /bin/x\n");
	assert_state(table, 600, "600 10 map 1000+1000 @0 8:0:9 /bin/x\n");
}

static void test_inherited_maps_are_those_of_the_fork(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 1, 1, "init", false, 90);
	add_map(table, 1, 0x1000, 7, 100);
	add_map(table, 1, 0x3000, 8, 110);
	thread_table_fork(table, 10, 10, 1, 1, 200);
	add_map(table, 1, 0x1000, 9, 300);  /* not the child's */
	add_map(table, 10, 0x3000, 6, 310); /* over what was inherited */
	thread_table_fork(table, 11, 11, 10, 10, 600);
	thread_table_exit(table, 1, 1, 400);
	assert_state(table, 500,
		     "500 10 comm 10 init\n"
		     "500 10 map 1000+1000 @0 8:0:7 /bin/x\n"
		     "500 10 map 3000+1000 @0 8:0:8 /bin/x\n"
		     "500 10 map 3000+1000 @0 8:0:6 /bin/x\n"
		     "601 11 comm 11 init\n"
		     "601 11 map 1000+1000 @0 8:0:7 /bin/x\n"
		     "601 11 map 3000+1000 @0 8:0:8 /bin/x\n"
		     "601 11 map 3000+1000 @0 8:0:6 /bin/x\n");
}

static void test_every_kind_of_map_has_the_path_that_tells_it(void **state)
{
	static const unsigned char id[20] = { 0xab, 1 };
	struct thread_table *table = table_of(state);
	struct map_fact by_id = { .start = 0x7000,
				  .end = 0x8000,
				  .pgoff = 0x500,
				  .build_id = id,
				  .build_id_size = 16,
				  .path = "/bin/id" };

	add_path(table, 10, 0x1000, "[vdso]", 100);
	add_path(table, 10, 0x2000, "[vsyscall]", 100);
	add_path(table, 10, 0x3000, "[heap]", 100);
	add_path(table, 10, 0x4000, "/memfd:jit (deleted)", 100);
	add_path(table, 10, 0x5000, "", 100);
	add_path(table, 10, 0x6000, "/bin/unidentified", 100);
	thread_table_mmap(table, 10, &by_id, 100);
	add_path(table, 10, 0x9000, "/tmp/jit-10.dump", 100);
	assert_state(table, 500,
		     "500 10 map 1000+1000 @0 0:0:0 [vdso]\n"
		     "500 10 map 2000+1000 @0 0:0:0 [vsyscall]\n"
		     "500 10 map 3000+1000 @0 0:0:0 //anon\n"
		     "500 10 map 4000+1000 @0 0:0:0 //anon\n"
		     "500 10 map 5000+1000 @0 0:0:0 //anon\n"
		     "500 10 map 6000+1000 @3000 0:0:0 /bin/unidentified\n"
		     "500 10 map 7000+1000 @500 id ab.16 /bin/id\n");
}

static void test_generated_code_of_a_parent_stays_the_parents(void **state)
{
	struct thread_table *table = table_of(state);

	add_path(table, 1, 0x1000, "//anon", 100);
	thread_table_fork(table, 10, 10, 1, 1, 200);
	thread_table_fork(table, 11, 11, 1, 1, 600);
	/* The record of the first fork is not in the file. */
	assert_state(table, 500,
		     "500 10 map 1000+1000 @0 0:0:0 //anon\n500 1 map 1000+1000 @0 0:0:0 //anon\n");
}

/* ---- their order ---- */

static void test_records_are_in_the_order_of_time(void **state)
{
	struct thread_table *table = table_of(state);
	struct record_buffer buffer = { 0 };
	uint64_t last_ns = 0;
	size_t nr = 0;

	for (uint32_t i = 0; i < 300; i++) {
		thread_table_comm(table, 10 + i % 40, 10 + i % 40, i % 3 ? "a" : "b", i % 7 == 0,
				  100 + (i * 37) % 1000);
		add_map(table, 10 + i % 40, 0x1000 * (1 + i % 5), 1 + i % 9, 100 + (i * 37) % 1000);
	}
	record_state_tasks(&buffer, &format, table, 400);
	for (size_t pos = 0; pos < buffer.len; pos += record_at(&buffer, pos)->size) {
		struct record record;

		decode(record_at(&buffer, pos), &record);
		assert_true(record.id.time >= MAX(last_ns, UINT64_C(400)));
		last_ns = record.id.time;
		nr++;
	}
	assert_true(nr > 200 && last_ns > 1000);
	record_buffer_release(&buffer);
}

static void test_what_the_buffer_had_stays(void **state)
{
	struct thread_table *table = table_of(state);
	struct record_buffer buffer = { 0 };
	char *text;

	thread_table_comm(table, 10, 10, "x", false, 100);
	thread_table_comm(table, 10, 10, "y", false, 600);
	record_write_kernel_mmap(&buffer, &format, 0x1000, 0x1000, 0, "[k]", 1);
	record_state_tasks(&buffer, &format, table, 500);
	text = text_of(&buffer);
	assert_string_equal(text,
			    "1 kernel 1000+1000 @0 [k]\n500 10 comm 10 x\n600 10 comm 10 y\n");
	free(text);
	record_buffer_release(&buffer);
}

/* ---- the kernel ---- */

static void test_kernel_is_a_record_of_no_process(void **state)
{
	struct record_buffer buffer = { 0 };
	char *text;

	(void)state;
	fixture_write(fixture_path("kallsyms"), "ffffffff81000000 T _stext\n"
						"ffffffff81000000 T _text\n"
						"ffffffff822090c8 T _etext\n");
	record_state_kernel(&buffer, &format, fixture_folder, 500);
	text = text_of(&buffer);
	/* As perf record has it on such a machine. */
	assert_string_equal(text, "500 kernel ffffffff81000000+12090c8 @ffffffff81000000 "
				  "[kernel.kallsyms]_text\n");
	free(text);
	record_buffer_release(&buffer);
}

#define KERNEL_CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_threads_come_after_their_main_thread),
		CASE(test_names_have_their_times_and_older_ones_that_of_the_start),
		CASE(test_who_died_before_the_start_is_left_out),
		CASE(test_threads_of_a_main_thread_that_is_gone_still_have_their_group),
		CASE(test_kernel_threads_and_idle_have_names_only),
		CASE(test_tasks_without_a_name_are_left_out),
		CASE(test_hostile_names_pass_as_they_are),
		CASE(test_exec_after_the_start_comes_before_its_maps),
		CASE(test_map_that_no_look_up_finds_is_not_told),
		CASE(test_exec_of_the_same_name_is_told),
		CASE(test_first_name_by_an_exec_answers_for_the_time_before),
		CASE(test_exec_by_another_thread_takes_the_main_id),
		CASE(test_reused_pid_is_told_twice),
		CASE(test_scanned_maps_count_from_the_birth),
		CASE(test_ended_maps_are_told_while_they_answered),
		CASE(test_inherited_maps_are_those_of_the_fork),
		CASE(test_every_kind_of_map_has_the_path_that_tells_it),
		CASE(test_generated_code_of_a_parent_stays_the_parents),
		CASE(test_records_are_in_the_order_of_time),
		CASE(test_what_the_buffer_had_stays),
		KERNEL_CASE(test_kernel_is_a_record_of_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
