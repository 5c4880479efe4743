/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread table: who, where, what changed, what is forgotten. */
#include "config.h"

#include "core/thread_table.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/compiler.h"
#include "core/base/mem.h"
#include "tests/core_thread_table_fixture.h"

/* ---- who ---- */

static void test_same_task_is_found_again(void **state)
{
	struct thread_table *table = table_of(state);
	struct task *one = thread_table_get(table, 10, 11, 100, NULL);
	struct task *same = thread_table_get(table, 10, 11, 50, NULL);
	struct task *other = thread_table_get(table, 10, 12, 100, NULL);

	assert_ptr_equal(one, same);
	assert_ptr_not_equal(one, other);
	assert_int_equal(task_pid(one), 10);
	assert_int_equal(task_tid(one), 11);
	assert_int_equal(task_uid(table, one), UINT32_MAX);
	assert_comm(table, 10, 11, 100, "");
	assert_int_equal(stats_of(table).nr_tasks, 2);
	assert_int_equal(stats_of(table).nr_processes, 1);
	task_put(one);
	task_put(same);
	task_put(other);
}

static void test_idle_and_exited_tasks_need_no_facts(void **state)
{
	struct thread_table *table = table_of(state);
	struct task *idle = thread_table_get(table, 0, 0, 5, NULL);
	struct task *exited = thread_table_get(table, UINT32_MAX, UINT32_MAX, 5, NULL);
	struct location location;

	assert_false(asks(table, 0, 0, 5));
	assert_false(asks(table, UINT32_MAX, UINT32_MAX, 5));
	assert_comm(table, 0, 0, 5, "swapper");
	assert_true(task_is_kernel_thread(table, idle));
	assert_comm(table, UINT32_MAX, UINT32_MAX, 5, "[exited]");
	assert_int_equal(task_pid(exited), UINT32_MAX);
	assert_int_equal(thread_table_locate(table, exited, 0x1000, 5, &location), LOCATE_NO_MAP);
	assert_int_equal(thread_table_locate(table, idle, 0, 0, &location), LOCATE_NO_MAP);
	/* Nor do records tell anything about them. */
	thread_table_exit(table, 0, 0, 10);
	thread_table_comm(table, UINT32_MAX, UINT32_MAX, "x", true, 10);
	add_map(table, UINT32_MAX, 0x1000, 1, 10);
	thread_table_fork(table, UINT32_MAX, 1, 1, 1, 10);
	thread_table_add_target(table, UINT32_MAX);
	assert_comm(table, 0, 0, 20, "swapper");
	assert_int_equal(stats_of(table).nr_tasks, 1);
	task_put(idle);
	task_put(exited);
}

static void test_names_have_their_time(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "one", false, 100);
	thread_table_comm(table, 10, 10, "two", false, 200);
	thread_table_comm(table, 10, 10, "middle", false, 150);
	assert_comm(table, 10, 10, 50, "one"); /* nothing older is known */
	assert_comm(table, 10, 10, 149, "one");
	assert_comm(table, 10, 10, 150, "middle");
	assert_comm(table, 10, 10, 200, "two");
	assert_process_comm(table, 10, 10, 0, "two");
	/* The same name again takes no place. */
	for (uint64_t i = 0; i < 10; i++)
		thread_table_comm(table, 10, 10, "two", false, 210 + i);
	assert_comm(table, 10, 10, 149, "one");
	for (uint64_t i = 0; i < 100; i++)
		thread_table_comm(table, 10, 10, i % 2 ? "odd" : "even", false, 300 + i);
	assert_comm(table, 10, 10, 400, "odd");
	assert_comm(table, 10, 10, 398, "even");
	assert_comm(table, 10, 10, 1, "even"); /* the oldest that is kept */
}

static void test_long_and_wild_names_are_kept_as_bytes(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "0123456789abcdefghij", false, 1);
	assert_comm(table, 10, 10, 2, "0123456789abcde");
	thread_table_comm(table, 10, 10, "\x1b[2J\xff", false, 3);
	assert_comm(table, 10, 10, 4, "\x1b[2J\xff");
}

static void test_fc111_thread_name_and_process_name_differ(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_comm(table, 10, 10, "server", true, 10);
	thread_table_fork(table, 10, 11, 10, 10, 20);
	assert_comm(table, 10, 11, 20, "server");
	thread_table_comm(table, 10, 11, "worker", false, 30);
	assert_comm(table, 10, 11, 25, "server");
	assert_comm(table, 10, 11, 35, "worker");
	assert_process_comm(table, 10, 11, 35, "server");
	thread_table_comm(table, 10, 10, "renamed", false, 40);
	assert_process_comm(table, 10, 11, 45, "renamed");
	assert_comm(table, 10, 11, 45, "worker");
}

/* ---- maps ---- */

static struct dso *dso_at(struct thread_table *table, uint32_t pid, uint64_t ip, uint64_t time_ns,
			  uint64_t *ret_offset)
{
	struct task *task = thread_table_get(table, pid, pid, time_ns, NULL);
	struct location location = { 0 };

	assert_int_equal(thread_table_locate(table, task, ip, time_ns, &location), LOCATE_FOUND);
	task_put(task);
	*ret_offset = location.offset;
	return location.dso;
}

static void assert_kind(struct thread_table *table, uint64_t ip, enum dso_kind kind,
			uint64_t offset)
{
	uint64_t found;
	struct dso *dso = dso_at(table, 20, ip, 1000, &found);

	assert_int_equal(dso_kind(dso), kind);
	assert_int_equal(found, offset);
	dso_put(dso);
}

static void test_kind_of_a_map_is_told_by_its_name(void **state)
{
	static const char *const anonymous[] = {
		"//anon",
		"",
		"[heap]",
		"[stack]",
		"[stack:12]",
		"[anon:v8]",
		"[anon_shmem:x]",
		"/memfd:jit (deleted)",
		"/dev/zero (deleted)",
		"/SYSV00000000 (deleted)",
		"anon_inode:[perf_event]",
		"/anon_hugepage (deleted)",
	};
	struct thread_table *table = table_of(state);
	struct dso *dso;
	uint64_t offset;

	for (uint64_t i = 0; i < ARRAY_SIZE(anonymous); i++) {
		add_path(table, 20, 0x10000 * (i + 1), anonymous[i], 10);
		assert_kind(table, 0x10000 * (i + 1) + 5, DSO_GENERATED, 0x10000 * (i + 1) + 5);
	}
	/* All of one process and image are one. */
	assert_int_equal(((struct fixture *)*state)->nr_new_dsos, 1);
	dso = dso_at(table, 20, 0x10000, 1000, &offset);
	assert_int_equal(dso_key(dso)->owner, 20);
	dso_put(dso);
	add_path(table, 20, 0x7fff00000000, "[vdso]", 10);
	assert_kind(table, 0x7fff00000010, DSO_VDSO, 0x10);
	add_path(table, 20, 0xffffffffff600000, "[vsyscall]", 10);
	assert_kind(table, 0xffffffffff600010, DSO_UNKNOWN, 0xffffffffff600010);
	dso = dso_at(table, 20, 0xffffffffff600010, 1000, &offset);
	assert_string_equal(dso_path(dso)->text, "[vsyscall]");
	dso_put(dso);
	add_path(table, 20, 0x400000, "/tmp/memfd:no", 10);
	assert_kind(table, 0x400010, DSO_FILE, 0x3010);
}

static void test_files_are_told_apart_by_identity(void **state)
{
	struct thread_table *table = table_of(state);
	struct map_fact map = { .start = 0x1000,
				.end = 0x2000,
				.dev_major = 8,
				.dev_minor = 1,
				.inode = 5,
				.inode_generation = 77,
				.path = "/lib/a" };
	struct dso *first, *second;
	uint64_t offset;

	thread_table_mmap(table, 20, &map, 10);
	/* The same file as /proc shows it, without the generation, and by another path. */
	map.inode_generation = 0;
	map.path = "/mnt/lib/a (deleted)";
	thread_table_mmap(table, 30, &map, 10);
	first = dso_at(table, 20, 0x1000, 20, &offset);
	second = dso_at(table, 30, 0x1000, 20, &offset);
	assert_ptr_equal(first, second);
	assert_int_equal(dso_key(first)->generation, 0);
	dso_put(first);
	dso_put(second);
	/* Two files without an identity. */
	add_path(table, 40, 0x1000, "/lib/a", 10);
	add_path(table, 40, 0x5000, "/lib/b", 10);
	first = dso_at(table, 40, 0x1000, 20, &offset);
	second = dso_at(table, 40, 0x5000, 20, &offset);
	assert_ptr_not_equal(first, second);
	dso_put(first);
	dso_put(second);
	assert_int_equal(((struct fixture *)*state)->nr_new_dsos, 3);
}

static void test_fc051_jitdump_marker_is_no_code(void **state)
{
	struct thread_table *table = table_of(state);

	add_path(table, 20, 0x1000, "/home/u/.debug/jit/jit-20.dump", 10);
	add_path(table, 20, 0x3000, "/tmp/jit-7.dump (deleted)", 10);
	add_path(table, 20, 0x5000, "/tmp/jit-.dump", 10);
	add_path(table, 20, 0x7000, "/tmp/jit-20.dumper", 10);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 20), 0);
	assert_int_equal(inode_at(table, 20, 20, 0x3000, 20), 0);
	assert_int_not_equal(inode_at(table, 20, 20, 0x5000, 20), 0);
	assert_int_not_equal(inode_at(table, 20, 20, 0x7000, 20), 0);
}

static void test_fc050_anonymous_copy_of_program_text_is_the_program(void **state)
{
	struct thread_table *table = table_of(state);
	struct map_fact map = { .start = 0x400000,
				.end = 0x500000,
				.pgoff = 0x1000,
				.dev_major = 8,
				.inode = 5,
				.path = "/bin/app" };
	struct map_fact lib = { .start = 0x7f0000000000,
				.end = 0x7f0000100000,
				.dev_major = 8,
				.inode = 6,
				.path = "/lib/l" };
	struct map_fact hole = { .start = 0x410000, .end = 0x420000, .path = "//anon" };

	thread_table_comm(table, 20, 20, "app", true, 10);
	thread_table_mmap(table, 20, &map, 11);
	thread_table_mmap(table, 20, &lib, 12);
	thread_table_mmap(table, 20, &hole, 20);
	assert_kind(table, 0x415000, DSO_FILE, 0x16000);
	assert_false(inode_at(table, 20, 20, 0x415000, 1000) != 5);
	/* A library may have been unloaded there: what is anonymous stays so. */
	hole.start = 0x7f0000010000;
	hole.end = 0x7f0000020000;
	thread_table_mmap(table, 20, &hole, 30);
	assert_kind(table, 0x7f0000015000, DSO_GENERATED, 0x7f0000015000);
}

static void test_fc050_hole_in_a_scanned_file_is_the_file(void **state)
{
	struct thread_table *table = table_of(state);
	struct synth_process process = scan_of(20, "app", 0, 100);
	struct map_fact maps[] = {
		{ .start = 0x400000,
		  .end = 0x410000,
		  .pgoff = 0x1000,
		  .dev_major = 8,
		  .inode = 5,
		  .path = "/bin/app" },
		{ .start = 0x410000, .end = 0x420000, .path = "" },
		{ .start = 0x420000,
		  .end = 0x430000,
		  .pgoff = 0x21000,
		  .dev_major = 8,
		  .inode = 5,
		  .path = "/bin/app" },
		{ .start = 0x430000, .end = 0x440000, .path = "" },
		{ .start = 0x440000,
		  .end = 0x450000,
		  .pgoff = 0x9000,
		  .dev_major = 8,
		  .inode = 5,
		  .path = "/bin/app" }, /* not where it would continue */
	};

	process.maps = maps;
	process.nr_maps = ARRAY_SIZE(maps);
	thread_table_synthesize(table, &process);
	assert_kind(table, 0x415000, DSO_FILE, 0x16000);
	assert_kind(table, 0x425000, DSO_FILE, 0x26000);
	assert_kind(table, 0x435000, DSO_GENERATED, 0x435000);
}

static void test_generated_code_belongs_to_one_image(void **state)
{
	struct thread_table *table = table_of(state);
	struct dso *first, *second;
	uint64_t offset;

	add_path(table, 20, 0x1000, "//anon", 10);
	thread_table_comm(table, 20, 20, "new", true, 100);
	add_path(table, 20, 0x1000, "//anon", 110);
	first = dso_at(table, 20, 0x1000, 50, &offset);
	second = dso_at(table, 20, 0x1000, 150, &offset);
	assert_ptr_not_equal(first, second);
	assert_int_equal(dso_key(second)->generation, 100);
	dso_put(first);
	dso_put(second);
}

static void test_hostile_maps_are_ignored(void **state)
{
	struct thread_table *table = table_of(state);
	struct map_fact map = { .start = 0x5000, .end = 0x1000, .inode = 1, .path = "/x" };

	thread_table_mmap(table, 20, &map, 10);
	map.end = map.start;
	thread_table_mmap(table, 20, &map, UINT64_MAX);
	map = (struct map_fact){
		.start = 0, .end = UINT64_MAX, .pgoff = UINT64_MAX, .inode = UINT64_MAX, .path = "["
	};
	thread_table_mmap(table, 20, &map, UINT64_MAX);
	thread_table_fork(table, 20, 20, 20, 20, UINT64_MAX);
	thread_table_exit(table, 20, 20, UINT64_MAX);
	thread_table_exit(table, 20, 20, UINT64_MAX);
	thread_table_comm(table, 20, 20, "x", true, UINT64_MAX);
	task_put(thread_table_get(table, 20, 20, UINT64_MAX, NULL));
	thread_table_check_invariants(table);
}

static void test_chain_is_located_with_one_call(void **state)
{
	struct thread_table *table = table_of(state);
	struct task *task;
	uint64_t ips[300];
	struct location locations[300];
	uint8_t results[300];

	for (uint64_t i = 0; i < 300; i += 2)
		add_map(table, 20, 0x1000 * (i + 1), i + 1, 10);
	for (uint64_t i = 0; i < 300; i++)
		ips[i] = 0x1000 * (i + 1) + i;
	task = thread_table_get(table, 20, 20, 20, NULL);
	thread_table_locate_many(table, task, ips, 300, 20, locations, results);
	for (uint64_t i = 0; i < 300; i++) {
		assert_int_equal(results[i], i % 2 ? LOCATE_NO_MAP : LOCATE_FOUND);
		if (i % 2)
			continue;
		assert_int_equal(dso_key(locations[i].dso)->inode, i + 1);
		assert_int_equal(locations[i].offset, i);
		dso_put(locations[i].dso);
	}
	thread_table_locate_many(table, task, ips, 0, 20, locations, results);
	task_put(task);
}

/* ---- what changed ---- */

static void test_changes_of_identity_are_told_once(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	assert_true(changed(table, 20));
	assert_false(changed(table, 20));
	thread_table_comm(table, 20, 20, "one", false, 110);
	assert_false(changed(table, 20)); /* its first name */
	thread_table_comm(table, 20, 20, "two", false, 120);
	assert_true(changed(table, 20));
	thread_table_comm(table, 20, 20, "two", false, 130);
	assert_false(changed(table, 20));
	add_map(table, 20, 0x1000, 1, 140);
	add_map(table, 20, 0x5000, 2, 140);
	add_map(table, 20, 0x1000, 1, 141);
	assert_false(changed(table, 20));
	add_map(table, 20, 0x1000, 2, 150);
	assert_true(changed(table, 20));
	thread_table_comm(table, 20, 20, "two", true, 160);
	assert_true(changed(table, 20));
	thread_table_fork(table, 20, 21, 20, 20, 170);
	thread_table_exit(table, 20, 21, 180);
	assert_false(changed(table, 20));
	thread_table_exit(table, 20, 20, 190);
	assert_true(changed(table, 20));
	/* A thread's id that comes again. */
	thread_table_fork(table, 30, 31, 30, 30, 200);
	thread_table_exit(table, 30, 31, 210);
	assert_false(changed(table, 30));
	thread_table_fork(table, 30, 31, 30, 30, 220);
	assert_true(changed(table, 30));
}

/* ---- forgetting ---- */

static void test_fc115_churn_leaves_no_growth(void **state)
{
	struct fixture *fixture = *state;
	struct thread_table *table = fixture->table;
	struct thread_table_stats stats;
	uint64_t nr_strings, nr_more, nr_bytes, nr_dsos, nr_files;

	scan(table, 10, "shell", 1, 5);
	str_stats(&nr_strings, &nr_bytes);
	for (uint64_t second = 1; second <= 60; second++) {
		for (uint64_t i = 0; i < 300; i++) {
			uint32_t pid = (uint32_t)(1000 + (second * 300 + i) % 30000);
			uint64_t time = second * SECOND + i * 3000000;
			char comm[16];

			snprintf(comm, sizeof(comm), "p%u", pid);
			thread_table_fork(table, pid, pid, 10, 10, time);
			thread_table_comm(table, pid, pid, comm, true, time + 10);
			add_map(table, pid, 0x1000, 1000000 + second * 300 + i, time + 11);
			add_map(table, pid, 0x1000, 2, time + 12);
			thread_table_fork(table, pid, pid + 500000, pid, pid, time + 13);
			assert_false(asks(table, pid, pid, time + 20));
			thread_table_exit(table, pid, pid + 500000, time + 30);
			thread_table_exit(table, pid, pid, time + 40);
		}
		thread_table_trim(table, (second - 1) * SECOND);
		thread_table_get_stats(table, &stats);
		/* This second and the one before it. */
		assert_true(stats.nr_tasks <= 2 * 600 + 1);
		assert_true(stats.nr_processes <= 2 * 300 + 1);
		assert_true(stats.nr_spaces <= 2 * 2 * 300 + 1);
		assert_int_equal(stats.nr_live, 1);
		dso_table_stats(fixture->dsos, &nr_dsos, &nr_files);
		assert_true(nr_dsos <= 2 * 300 + 2);
	}
	thread_table_check_invariants(table);
	thread_table_trim(table, 100 * SECOND);
	thread_table_get_stats(table, &stats);
	assert_int_equal(stats.nr_tasks, 1);
	assert_int_equal(stats.nr_processes, 1);
	assert_int_equal(stats.nr_spaces, 1);
	assert_int_equal(stats.nr_evicted, 0);
	dso_table_stats(fixture->dsos, &nr_dsos, &nr_files);
	assert_int_equal(nr_dsos, 1);
	str_stats(&nr_more, &nr_bytes);
	assert_int_equal(nr_more, nr_strings);
}

static void test_live_process_that_maps_and_execs_does_not_grow(void **state)
{
	struct fixture *fixture = *state;
	struct thread_table *table = fixture->table;
	uint64_t nr_dsos, nr_files;

	for (uint64_t second = 1; second <= 100; second++) {
		thread_table_comm(table, 20, 20, "self", true, second * SECOND);
		for (uint64_t i = 0; i < 100; i++)
			add_map(table, 20, 0x1000, second * 100 + i, second * SECOND + 1 + i);
		thread_table_trim(table, second * SECOND - 1);
		assert_true(stats_of(table).nr_spaces <= 3);
	}
	thread_table_trim(table, 200 * SECOND);
	assert_int_equal(stats_of(table).nr_spaces, 1);
	dso_table_stats(fixture->dsos, &nr_dsos, &nr_files);
	assert_int_equal(nr_dsos, 2); /* the map, and the program, which is kept */
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 200 * SECOND), 100 * 100 + 99);
}

static void test_live_process_that_only_maps_does_not_grow(void **state)
{
	struct fixture *fixture = *state;
	uint64_t nr_dsos, nr_files;

	for (uint64_t i = 1; i <= 1000; i++) {
		add_map(fixture->table, 20, 0x1000, i, i);
		thread_table_trim(fixture->table, i);
		dso_table_stats(fixture->dsos, &nr_dsos, &nr_files);
		assert_true(nr_dsos <= 3);
	}
}

static void test_trim_leaves_the_living_and_the_young(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_fork(table, 30, 30, 10, 10, 100);
	thread_table_comm(table, 30, 30, "young", false, 101);
	thread_table_exit(table, 20, 20, 200);
	thread_table_exit(table, 30, 30, 300);
	thread_table_trim(table, 200);
	assert_int_equal(stats_of(table).nr_tasks, 3);
	thread_table_trim(table, 201);
	assert_int_equal(stats_of(table).nr_tasks, 2);
	assert_comm(table, 30, 30, 250, "young");
	thread_table_check_invariants(table);
}

static void test_reference_outlives_the_table_entry(void **state)
{
	struct thread_table *table = table_of(state);
	struct location location;
	struct task *task;
	struct str *comm;

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_comm(table, 20, 20, "kept", true, 110);
	add_map(table, 20, 0x1000, 5, 111);
	task = task_get(thread_table_get(table, 20, 20, 120, NULL));
	task_put(task);
	thread_table_exit(table, 20, 20, 200);
	thread_table_trim(table, 300);
	assert_int_equal(stats_of(table).nr_processes, 1);
	assert_int_equal(stats_of(table).nr_spaces, 1);
	comm = task_comm(table, task, 150);
	assert_string_equal(comm->text, "kept");
	str_put(comm);
	comm = task_process_comm(table, task);
	assert_string_equal(comm->text, "kept");
	str_put(comm);
	assert_false(task_is_target(table, task));
	assert_int_equal(thread_table_locate(table, task, 0x1000, 150, &location), LOCATE_NO_MAP);
	task_put(task);
}

static void test_child_keeps_the_maps_of_a_forgotten_parent(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_comm(table, 20, 20, "daemon", true, 110);
	add_map(table, 20, 0x1000, 5, 111);
	thread_table_fork(table, 30, 30, 20, 20, 120);
	thread_table_exit(table, 20, 20, 130);
	thread_table_trim(table, 1000);
	assert_int_equal(inode_at(table, 30, 30, 0x1000, 2000), 5);
	assert_false(asks(table, 30, 30, 2000));
}

static void test_dead_tasks_make_room_when_the_table_is_full(void **state)
{
	struct thread_table *table = table_of(state);
	struct thread_table_stats stats;
	struct task *task;

	for (uint32_t pid = 1000; pid < 6000; pid++) {
		thread_table_fork(table, pid, pid, 10, 10, pid);
		thread_table_exit(table, pid, pid, pid + 1);
	}
	thread_table_get_stats(table, &stats);
	assert_true(stats.nr_tasks <= 200);
	assert_true(stats.nr_evicted >= 4000);
	thread_table_trim(table, 0);
	assert_true(stats_of(table).nr_tasks <= 100 + 1);
	thread_table_check_invariants(table);
	/* And when nobody is dead, the new ones have no place, but something answers. */
	for (uint32_t pid = 10000; pid < 16000; pid++)
		thread_table_fork(table, pid, pid, 10, 10, pid);
	assert_true(stats_of(table).nr_tasks <= 200);
	task = thread_table_get(table, 15999, 15999, 20000, NULL);
	assert_int_equal(task_pid(task), UINT32_MAX);
	task_put(task);
	scan(table, 15999, "full", 7, 20000);
	add_map(table, 15999, 0x1000, 7, 20000);
	thread_table_exit(table, 15999, 15999, 20000);
	thread_table_add_target(table, 15999);
	assert_true(stats_of(table).nr_tasks <= 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_same_task_is_found_again),
		CASE(test_idle_and_exited_tasks_need_no_facts),
		CASE(test_names_have_their_time),
		CASE(test_long_and_wild_names_are_kept_as_bytes),
		CASE(test_fc111_thread_name_and_process_name_differ),
		CASE(test_kind_of_a_map_is_told_by_its_name),
		CASE(test_files_are_told_apart_by_identity),
		CASE(test_fc051_jitdump_marker_is_no_code),
		CASE(test_fc050_anonymous_copy_of_program_text_is_the_program),
		CASE(test_fc050_hole_in_a_scanned_file_is_the_file),
		CASE(test_generated_code_belongs_to_one_image),
		CASE(test_hostile_maps_are_ignored),
		CASE(test_chain_is_located_with_one_call),
		CASE(test_changes_of_identity_are_told_once),
		CASE(test_fc115_churn_leaves_no_growth),
		CASE(test_live_process_that_maps_and_execs_does_not_grow),
		CASE(test_live_process_that_only_maps_does_not_grow),
		CASE(test_trim_leaves_the_living_and_the_young),
		CASE(test_reference_outlives_the_table_entry),
		CASE(test_child_keeps_the_maps_of_a_forgotten_parent),
		cmocka_unit_test_setup_teardown(test_dead_tasks_make_room_when_the_table_is_full,
						setup_small, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
