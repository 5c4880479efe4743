/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread table: facts from records and scans, in any order, and what it answers. */
#include "config.h"

#include "core/thread_table.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/compiler.h"
#include "core/base/mem.h"

#define SECOND UINT64_C(1000000000)

struct fixture {
	struct dso_table *dsos;
	struct thread_table *table;
	size_t nr_new_dsos;
};

static void count_new_dso(void *arg, struct dso *dso)
{
	struct fixture *fixture = arg;

	/* No lock is held: the table may be asked. */
	thread_table_check_invariants(fixture->table);
	assert_non_null(dso_path(dso));
	fixture->nr_new_dsos++;
}

static struct fixture *fixture_new(size_t max_tasks)
{
	struct fixture *fixture = mem_zalloc(sizeof(*fixture));
	struct thread_table_options options = {
		.max_tasks = max_tasks, .on_new_dso = count_new_dso, .arg = fixture,
	};

	fixture->dsos = dso_table_new();
	options.dsos = fixture->dsos;
	fixture->table = thread_table_new(&options);
	return fixture;
}

static int setup(void **state)
{
	*state = fixture_new(0);
	return 0;
}

static int setup_small(void **state)
{
	*state = fixture_new(100);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	uint64_t nr_dsos, nr_files;

	thread_table_check_invariants(fixture->table);
	thread_table_free(fixture->table);
	dso_table_stats(fixture->dsos, &nr_dsos, &nr_files);
	dso_table_free(fixture->dsos);
	free(fixture);
	return nr_dsos ? -1 : 0;
}

static struct thread_table *table_of(void **state)
{
	return ((struct fixture *)*state)->table;
}

static void add_map(struct thread_table *table, uint32_t pid, uint64_t start, uint64_t inode,
		    uint64_t time_ns)
{
	struct map_fact map = { .start = start, .end = start + 0x1000, .dev_major = 8,
				.inode = inode, .path = "/bin/x" };

	thread_table_mmap(table, pid, &map, time_ns);
}

static void add_path(struct thread_table *table, uint32_t pid, uint64_t start, const char *path,
		     uint64_t time_ns)
{
	struct map_fact map = { .start = start, .end = start + 0x1000, .pgoff = 0x3000,
				.path = path };

	thread_table_mmap(table, pid, &map, time_ns);
}

/* The file at @ip, 0: no map, -1: not yet. */
static int64_t inode_at(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t ip,
			uint64_t time_ns)
{
	struct task *task = thread_table_get(table, pid, tid, time_ns, NULL);
	struct location location = { 0 };
	int64_t inode = 0;

	switch (thread_table_locate(table, task, ip, time_ns, &location)) {
	case LOCATE_FOUND:
		inode = (int64_t)dso_key(location.dso)->inode;
		dso_put(location.dso);
		break;
	case LOCATE_NO_MAP:
		break;
	case LOCATE_NOT_YET:
		inode = -1;
		break;
	}
	task_put(task);
	thread_table_check_invariants(table);
	return inode;
}

static void assert_comm(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns,
			const char *expected)
{
	struct task *task = thread_table_get(table, pid, tid, time_ns, NULL);
	struct str *comm = task_comm(table, task, time_ns);

	assert_string_equal(comm->text, expected);
	str_put(comm);
	task_put(task);
}

static void assert_process_comm(struct thread_table *table, uint32_t pid, uint32_t tid,
				uint64_t time_ns, const char *expected)
{
	struct task *task = thread_table_get(table, pid, tid, time_ns, NULL);
	struct str *comm = task_process_comm(table, task);

	assert_string_equal(comm->text, expected);
	str_put(comm);
	task_put(task);
}

/* Does looking at the task ask for a scan? */
static bool asks(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	bool needs_scan = false;

	task_put(thread_table_get(table, pid, tid, time_ns, &needs_scan));
	return needs_scan;
}

/* A scan from @start_ns to @start_ns + 10 of @pid with one map of @inode at 0x1000 (0: none). */
static struct synth_process scan_of(uint32_t pid, const char *comm, uint64_t inode,
				    uint64_t start_ns)
{
	static struct synth_thread thread;
	static struct map_fact map;

	thread = (struct synth_thread){ .tid = pid };
	snprintf(thread.comm, sizeof(thread.comm), "%s", comm);
	map = (struct map_fact){ .start = 0x1000, .end = 0x2000, .dev_major = 8, .inode = inode,
				 .path = "/bin/scanned" };
	return (struct synth_process){
		.pid = pid, .ppid = 1, .uid = 1000, .has_maps = true,
		.scan_start_ns = start_ns, .scan_end_ns = start_ns + 10,
		.threads = &thread, .nr_threads = 1, .maps = &map, .nr_maps = inode ? 1 : 0,
	};
}

static void scan(struct thread_table *table, uint32_t pid, const char *comm, uint64_t inode,
		 uint64_t start_ns)
{
	struct synth_process process = scan_of(pid, comm, inode, start_ns);

	thread_table_synthesize(table, &process);
	thread_table_check_invariants(table);
}

static bool changed(struct thread_table *table, uint32_t pid)
{
	uint64_t bits[1024];
	bool is_changed;

	thread_table_take_changed(table, bits);
	is_changed = bits[(pid & 0xffff) / 64] >> (pid % 64) & 1;
	return is_changed;
}

static struct thread_table_stats stats_of(struct thread_table *table)
{
	struct thread_table_stats stats;

	thread_table_get_stats(table, &stats);
	return stats;
}

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

/* ---- fork, exec, exit ---- */

static void test_child_inherits_name_maps_owner_and_target(void **state)
{
	struct thread_table *table = table_of(state);
	struct task *child;

	scan(table, 10, "parent", 7, 5);
	thread_table_add_target(table, 10);
	thread_table_fork(table, 20, 20, 10, 10, 100);
	child = thread_table_get(table, 20, 20, 110, NULL);
	assert_comm(table, 20, 20, 110, "parent");
	assert_process_comm(table, 20, 20, 110, "parent");
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 110), 7);
	assert_int_equal(task_uid(table, child), 1000);
	assert_true(task_is_target(table, child));
	assert_false(asks(table, 20, 20, 110)); /* its parent was scanned */
	/* What the parent maps later is not the child's. */
	add_map(table, 10, 0x8000, 9, 120);
	assert_int_equal(inode_at(table, 20, 20, 0x8000, 130), 0);
	task_put(child);
}

static void test_target_is_no_one_elses(void **state)
{
	struct thread_table *table = table_of(state);
	struct task *task;

	thread_table_fork(table, 21, 21, 10, 10, 50); /* before it was wanted */
	thread_table_add_target(table, 10);
	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_fork(table, 20, 22, 20, 20, 110);
	thread_table_comm(table, 20, 20, "new", true, 120);
	task = thread_table_get(table, 20, 20, 130, NULL);
	assert_true(task_is_target(table, task));
	task_put(task);
	task = thread_table_get(table, 20, 22, 115, NULL);
	assert_true(task_is_target(table, task));
	task_put(task);
	task = thread_table_get(table, 21, 21, 130, NULL);
	assert_false(task_is_target(table, task));
	task_put(task);
	/* Its pid, used again by a child of somebody else. */
	thread_table_exit(table, 20, 20, 200);
	thread_table_fork(table, 20, 20, 1, 1, 300);
	task = thread_table_get(table, 20, 20, 310, NULL);
	assert_false(task_is_target(table, task));
	task_put(task);
}

static void test_exec_separates_before_and_after(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_comm(table, 10, 10, "make", false, 90);
	thread_table_comm(table, 20, 20, "sh", false, 100);
	add_map(table, 20, 0x1000, 1, 110);
	thread_table_comm(table, 20, 20, "cc", true, 200);
	add_map(table, 20, 0x1000, 2, 201);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 199), 1);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 210), 2);
	assert_comm(table, 20, 20, 199, "sh");
	assert_comm(table, 20, 20, 200, "cc");
	assert_int_equal(stats_of(table).nr_tasks, 2); /* the same task, and its parent */
}

static void test_exec_ends_the_other_threads(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_fork(table, 20, 21, 20, 20, 110);
	thread_table_fork(table, 20, 22, 20, 21, 110);
	assert_int_equal(stats_of(table).nr_live, 4);
	thread_table_comm(table, 20, 20, "new", true, 200);
	assert_int_equal(stats_of(table).nr_live, 2);
	thread_table_exit(table, 20, 20, 300);
	assert_int_equal(stats_of(table).nr_live, 1);
	thread_table_trim(table, 1000);
	assert_int_equal(stats_of(table).nr_processes, 1);
}

/* The kernel gives the thread that execs the id of the main one, which exited before. */
static void test_exec_of_another_thread_than_the_main_one(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_fork(table, 20, 21, 20, 20, 110);
	thread_table_exit(table, 20, 20, 150);
	thread_table_comm(table, 20, 20, "new", true, 160);
	add_map(table, 20, 0x1000, 2, 170);
	assert_comm(table, 20, 20, 180, "new");
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 180), 2);
	assert_int_equal(stats_of(table).nr_live, 2);
	thread_table_exit(table, 20, 20, 200);
	thread_table_trim(table, 1000);
	assert_int_equal(stats_of(table).nr_processes, 1);
}

static void test_fc107_process_goes_on_without_its_main_thread(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_comm(table, 20, 20, "server", true, 105);
	add_map(table, 20, 0x1000, 5, 106);
	thread_table_fork(table, 20, 21, 20, 20, 110);
	thread_table_exit(table, 20, 20, 150);
	thread_table_trim(table, 1000);
	assert_int_equal(inode_at(table, 20, 21, 0x1000, 10 * SECOND), 5);
	assert_process_comm(table, 20, 21, 10 * SECOND, "server");
	/* It still maps and forks. */
	add_map(table, 20, 0x4000, 6, 20 * SECOND);
	assert_int_equal(inode_at(table, 20, 21, 0x4000, 21 * SECOND), 6);
	thread_table_fork(table, 20, 22, 20, 21, 22 * SECOND);
	assert_int_equal(inode_at(table, 20, 22, 0x4000, 23 * SECOND), 6);
}

static void test_fc107_main_thread_gone_before_we_came(void **state)
{
	struct thread_table *table = table_of(state);
	struct synth_process process = scan_of(20, "survivor", 5, 1000);
	struct synth_thread threads[] = { { .tid = 20, .comm = "leader" },
					  { .tid = 21, .comm = "survivor" } };

	/* Its exit record is all we saw of it before the scan. */
	thread_table_exit(table, 20, 20, 500);
	process.threads = threads;
	process.nr_threads = 2;
	thread_table_synthesize(table, &process);
	assert_int_equal(inode_at(table, 20, 21, 0x1000, 5 * SECOND), 5);
	assert_comm(table, 20, 21, 5 * SECOND, "survivor");
	assert_int_equal(stats_of(table).nr_live, 1);
	thread_table_exit(table, 20, 21, 6 * SECOND);
	thread_table_trim(table, 10 * SECOND);
	assert_int_equal(stats_of(table).nr_processes, 0);
}

static void test_dead_task_is_found_for_its_samples(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_comm(table, 20, 20, "short", true, 110);
	add_map(table, 20, 0x1000, 5, 111);
	thread_table_exit(table, 20, 20, 200);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 150), 5);
	assert_comm(table, 20, 20, 150, "short");
	/* A task runs for a moment after its exit record. */
	assert_comm(table, 20, 20, 205, "short");
	assert_false(asks(table, 20, 20, 205));
	assert_int_equal(stats_of(table).nr_tasks, 2);
}

static void test_fc108_pid_used_again_is_another_task(void **state)
{
	struct thread_table *table = table_of(state);
	struct task *first, *second;

	for (uint64_t round = 0; round < 20; round++) {
		uint64_t base = 1000 * (round + 1);

		thread_table_fork(table, 20, 20, 10, 10, base);
		thread_table_comm(table, 20, 20, round % 2 ? "odd" : "even", true, base + 10);
		add_map(table, 20, 0x1000, round + 1, base + 11);
		thread_table_fork(table, 20, 21, 20, 20, base + 20);
		thread_table_exit(table, 20, 21, base + 500);
		thread_table_exit(table, 20, 20, base + 500);
	}
	for (uint64_t round = 0; round < 20; round++) {
		uint64_t base = 1000 * (round + 1);

		assert_comm(table, 20, 20, base + 100, round % 2 ? "odd" : "even");
		assert_int_equal(inode_at(table, 20, 20, 0x1000, base + 100), round + 1);
		assert_int_equal(inode_at(table, 20, 21, 0x1000, base + 100), round + 1);
		assert_int_equal(inode_at(table, 20, 20, 0x1000, base + 499), round + 1);
	}
	first = thread_table_get(table, 20, 20, 1100, NULL);
	second = thread_table_get(table, 20, 20, 2100, NULL);
	assert_ptr_not_equal(first, second);
	task_put(first);
	task_put(second);
}

static void test_fc108_sample_from_before_the_fork_is_not_the_childs(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 1000);
	thread_table_comm(table, 20, 20, "late", true, 1010);
	add_map(table, 20, 0x1000, 5, 1011);
	/* Whoever had the pid before died before we knew. */
	assert_comm(table, 20, 20, 900, "");
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 900), 0);
	assert_false(asks(table, 20, 20, 900));
	assert_comm(table, 20, 20, 1100, "late");
}

static void test_fc108_tid_used_again_in_another_process(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 30, 20, 20, 100);
	thread_table_comm(table, 20, 30, "first", false, 110);
	thread_table_exit(table, 20, 30, 200);
	thread_table_fork(table, 40, 30, 40, 40, 300);
	thread_table_comm(table, 40, 30, "second", false, 310);
	assert_comm(table, 20, 30, 150, "first");
	assert_comm(table, 40, 30, 350, "second");
}

static void test_fork_of_a_live_id_ends_the_old_one(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_comm(table, 20, 20, "old", true, 110);
	add_map(table, 20, 0x1000, 5, 111);
	/* Its exit was lost. */
	thread_table_fork(table, 20, 20, 10, 10, 1000);
	assert_comm(table, 20, 20, 999, "old");
	assert_comm(table, 20, 20, 1000, "");
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 1100), 0);
	assert_int_equal(stats_of(table).nr_live, 2);
	/* The same for a thread. */
	thread_table_fork(table, 20, 21, 20, 20, 1100);
	thread_table_comm(table, 20, 21, "thread", false, 1110);
	thread_table_fork(table, 20, 21, 20, 20, 1200);
	assert_comm(table, 20, 21, 1150, "thread");
	assert_int_equal(stats_of(table).nr_live, 3);
}

static void test_sign_of_life_long_after_death_is_another_task(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_comm(table, 20, 20, "old", true, 110);
	thread_table_exit(table, 20, 20, 200);
	/* No fork told of this one; it is not the old one. */
	assert_comm(table, 20, 20, 5 * SECOND, "");
	assert_true(asks(table, 20, 20, 5 * SECOND));
	assert_comm(table, 20, 20, 150, "old");
}

static void test_fork_record_after_the_samples_and_the_scan(void **state)
{
	struct thread_table *table = table_of(state);
	struct task *early = thread_table_get(table, 20, 20, 150, NULL);
	struct task *thread = thread_table_get(table, 20, 21, 160, NULL);
	struct task *task;

	scan(table, 10, "parent", 3, 5);
	scan(table, 20, "child", 7, 170);
	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_fork(table, 20, 21, 20, 20, 110);
	task = thread_table_get(table, 20, 20, 180, NULL);
	assert_ptr_equal(task, early);
	task_put(task);
	task = thread_table_get(table, 20, 21, 180, NULL);
	assert_ptr_equal(task, thread);
	task_put(task);
	assert_comm(table, 20, 20, 120, "parent");
	assert_comm(table, 20, 20, 170, "child");
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 180), 7);
	task_put(early);
	task_put(thread);
	thread_table_check_invariants(table);
}

static void test_fork_record_after_a_sample_brings_the_parents_maps(void **state)
{
	struct thread_table *table = table_of(state);

	scan(table, 10, "parent", 3, 5);
	task_put(thread_table_get(table, 20, 20, 150, NULL));
	thread_table_fork(table, 20, 20, 10, 10, 100);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 150), 3);
	assert_comm(table, 20, 20, 150, "parent");
}

static void test_dead_threads_placeholder_does_not_keep_its_process(void **state)
{
	struct thread_table *table = table_of(state);

	/* A short process of which we get the fork late or never. */
	task_put(thread_table_get(table, 20, 20, 100, NULL));
	task_put(thread_table_get(table, 20, 21, 100, NULL));
	thread_table_exit(table, 20, 21, 200);
	thread_table_exit(table, 20, 20, 210);
	thread_table_trim(table, 10 * SECOND);
	assert_int_equal(stats_of(table).nr_tasks, 0);
	assert_int_equal(stats_of(table).nr_spaces, 0);
}

static void test_kernel_threads_need_no_scan(void **state)
{
	struct thread_table *table = table_of(state);
	struct synth_process process = scan_of(2, "kthreadd", 0, 5);
	struct task *task;

	process.kernel_thread = true;
	thread_table_synthesize(table, &process);
	thread_table_fork(table, 30, 30, 2, 2, 100);
	assert_false(asks(table, 30, 30, 110));
	task = thread_table_get(table, 30, 30, 110, NULL);
	assert_true(task_is_kernel_thread(table, task));
	/* A helper that the kernel starts becomes a program by exec. */
	thread_table_comm(table, 30, 30, "modprobe", true, 120);
	assert_false(task_is_kernel_thread(table, task));
	task_put(task);
}

/* ---- scans ---- */

static void test_scan_is_asked_for_once(void **state)
{
	struct thread_table *table = table_of(state);

	assert_int_equal(inode_at(table, 20, 20, 0, 0), 0); /* not asked: nothing to wait for */
	assert_true(asks(table, 20, 20, 100));
	assert_false(asks(table, 20, 21, 100));
	assert_int_equal(inode_at(table, 20, 20, 0, 0), -1);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 100), -1);
	scan(table, 20, "x", 7, 200);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 100), 7);
	assert_int_equal(inode_at(table, 20, 20, 0, 0), 0);
	assert_false(asks(table, 20, 20, 300));
	assert_int_equal(stats_of(table).nr_scanned, 1);
}

static void test_failed_scan_ends_the_wait(void **state)
{
	struct thread_table *table = table_of(state);

	assert_true(asks(table, 20, 20, 100));
	thread_table_scan_failed(table, 20, 110);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 100), 0);
	assert_false(asks(table, 20, 20, 120));
	thread_table_scan_failed(table, 999, 110); /* nobody */
	assert_int_equal(stats_of(table).nr_processes, 1);
}

static void test_scan_without_readable_maps_ends_the_wait(void **state)
{
	struct thread_table *table = table_of(state);
	struct synth_process process = scan_of(20, "root's", 0, 150);

	process.has_maps = false;
	assert_true(asks(table, 20, 20, 100));
	thread_table_synthesize(table, &process);
	assert_comm(table, 20, 20, 160, "root's");
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 160), 0);
	assert_false(asks(table, 20, 20, 170));
}

static void test_child_of_an_unknown_parent_asks_once_itself(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	assert_true(asks(table, 20, 20, 110));
	assert_false(asks(table, 20, 20, 111));
	/* The parent's maps came first: what was as of the fork is known. */
	scan(table, 10, "parent", 3, 120);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 130), 3);
	assert_int_equal(inode_at(table, 20, 20, 0x9000, 130), 0);
	/* A grandchild has nothing to ask for any more. */
	thread_table_fork(table, 30, 30, 20, 20, 140);
	assert_false(asks(table, 30, 30, 150));
}

static void test_exec_needs_no_scan(void **state)
{
	struct thread_table *table = table_of(state);

	assert_true(asks(table, 20, 20, 100));
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 110), -1);
	thread_table_comm(table, 20, 20, "new", true, 200);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 110), 0);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 210), 0);
	assert_false(asks(table, 20, 20, 220));
}

static void test_fc002_scan_never_undoes_newer_records(void **state)
{
	struct thread_table *table = table_of(state);

	/* The scan began at 100, and the program changed before it came in. */
	thread_table_comm(table, 20, 20, "new", true, 150);
	add_map(table, 20, 0x1000, 9, 151);
	scan(table, 20, "old", 7, 100);
	assert_comm(table, 20, 20, 200, "new");
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 200), 9);
	/* A name or a map alone. */
	thread_table_comm(table, 30, 30, "renamed", false, 150);
	add_map(table, 30, 0x1000, 9, 150);
	scan(table, 30, "old", 7, 100);
	assert_comm(table, 30, 30, 200, "renamed");
	assert_int_equal(inode_at(table, 30, 30, 0x1000, 200), 9);
	/* A fork: the scan was of whoever had the pid before. */
	thread_table_comm(table, 10, 10, "parent", false, 50);
	thread_table_fork(table, 40, 40, 10, 10, 150);
	scan(table, 40, "old", 7, 100);
	assert_comm(table, 40, 40, 200, "parent");
	assert_int_equal(inode_at(table, 40, 40, 0x1000, 200), 0);
	/* An exit. */
	thread_table_fork(table, 50, 50, 10, 10, 50);
	thread_table_exit(table, 50, 50, 150);
	scan(table, 50, "dying", 7, 100);
	assert_int_equal(inode_at(table, 50, 50, 0x1000, 140), 7);
	thread_table_trim(table, 1000);
	assert_int_equal(stats_of(table).nr_live, stats_of(table).nr_tasks);
}

static void test_fc002_records_after_the_scan_win_over_it(void **state)
{
	struct thread_table *table = table_of(state);

	scan(table, 20, "old", 7, 100);
	thread_table_comm(table, 20, 20, "new", true, 200);
	add_map(table, 20, 0x1000, 9, 201);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 150), 7);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 250), 9);
	assert_comm(table, 20, 20, 150, "old");
	assert_comm(table, 20, 20, 250, "new");
}

static void test_fc014_exec_within_a_scan_drops_its_maps(void **state)
{
	struct thread_table *table = table_of(state);

	/* From 100 to 110; the exec at 105 is told of later. */
	scan(table, 20, "new", 7, 100);
	thread_table_comm(table, 20, 20, "new", true, 105);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 104), 0);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 106), 0);
	add_map(table, 20, 0x1000, 7, 106);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 107), 7);
	/* Or before it: the scan saw the new image, and nothing of the old one. */
	scan(table, 30, "new", 7, 100);
	thread_table_comm(table, 30, 30, "new", true, 95);
	assert_int_equal(inode_at(table, 30, 30, 0x1000, 90), 0);
}

static void test_fc014_child_on_another_cpu(void **state)
{
	struct thread_table *table = table_of(state);

	scan(table, 10, "parent", 1, 5);
	for (uint32_t round = 0; round < 500; round++) {
		uint32_t pid = 1000 + round;
		uint64_t base = 1000 * (round + 1);

		thread_table_fork(table, pid, pid, 10, 10, base);
		add_map(table, pid, 0x7000, 2, base + 100); /* dlopen */
		thread_table_comm(table, pid, pid, "spin", true, base + 400);
		add_map(table, pid, 0x1000, 3, base + 401);
		thread_table_exit(table, pid, pid, base + 800);
		assert_int_equal(inode_at(table, pid, pid, 0x1000, base + 50), 1);
		assert_int_equal(inode_at(table, pid, pid, 0x7000, base + 200), 2);
		assert_int_equal(inode_at(table, pid, pid, 0x7000, base + 500), 0);
		assert_int_equal(inode_at(table, pid, pid, 0x1000, base + 500), 3);
		assert_comm(table, pid, pid, base + 399, "parent");
		assert_comm(table, pid, pid, base + 700, "spin");
	}
}

static void test_exit_before_the_scan_leaves_nobody_alive(void **state)
{
	struct thread_table *table = table_of(state);

	/* Both saw the end of a process that the table did not know. */
	thread_table_exit(table, 20, 20, 105);
	scan(table, 20, "gone", 7, 100);
	assert_int_equal(stats_of(table).nr_live, 0);
	assert_int_equal(inode_at(table, 20, 20, 0x1000, 104), 7);
	thread_table_trim(table, 200);
	assert_int_equal(stats_of(table).nr_tasks, 0);
	assert_int_equal(stats_of(table).nr_spaces, 0);
	/* A zombie of a process that was known. */
	thread_table_fork(table, 30, 30, 10, 10, 300);
	thread_table_exit(table, 30, 30, 310);
	scan(table, 30, "zombie", 0, 400);
	thread_table_trim(table, 500);
	assert_int_equal(stats_of(table).nr_processes, 1);
}

static void test_many_threads_of_one_scan(void **state)
{
	struct thread_table *table = table_of(state);
	struct synth_process process = scan_of(20, "main", 7, 100);
	struct synth_thread *threads = mem_calloc(10000, sizeof(*threads));

	for (uint32_t i = 0; i < 10000; i++) {
		threads[i].tid = 20 + i;
		snprintf(threads[i].comm, sizeof(threads[i].comm), "t%u", i);
	}
	process.threads = threads;
	process.nr_threads = 10000;
	thread_table_synthesize(table, &process);
	assert_comm(table, 20, 10019, 200, "t9999");
	assert_int_equal(inode_at(table, 20, 5000, 0x1000, 200), 7);
	assert_int_equal(stats_of(table).nr_tasks, 10000);
	for (uint32_t i = 0; i < 10000; i++)
		thread_table_exit(table, 20, 20 + i, 300);
	thread_table_trim(table, 400);
	assert_int_equal(stats_of(table).nr_tasks, 0);
	free(threads);
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
		"//anon", "", "[heap]", "[stack]", "[stack:12]", "[anon:v8]", "[anon_shmem:x]",
		"/memfd:jit (deleted)", "/dev/zero (deleted)", "/SYSV00000000 (deleted)",
		"anon_inode:[perf_event]", "/anon_hugepage (deleted)",
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
	struct map_fact map = { .start = 0x1000, .end = 0x2000, .dev_major = 8, .dev_minor = 1,
				.inode = 5, .inode_generation = 77, .path = "/lib/a" };
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
	struct map_fact map = { .start = 0x400000, .end = 0x500000, .pgoff = 0x1000,
				.dev_major = 8, .inode = 5, .path = "/bin/app" };
	struct map_fact lib = { .start = 0x7f0000000000, .end = 0x7f0000100000, .dev_major = 8,
				.inode = 6, .path = "/lib/l" };
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
		{ .start = 0x400000, .end = 0x410000, .pgoff = 0x1000, .dev_major = 8,
		  .inode = 5, .path = "/bin/app" },
		{ .start = 0x410000, .end = 0x420000, .path = "" },
		{ .start = 0x420000, .end = 0x430000, .pgoff = 0x21000, .dev_major = 8,
		  .inode = 5, .path = "/bin/app" },
		{ .start = 0x430000, .end = 0x440000, .path = "" },
		{ .start = 0x440000, .end = 0x450000, .pgoff = 0x9000, .dev_major = 8,
		  .inode = 5, .path = "/bin/app" }, /* not where it would continue */
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
	map = (struct map_fact){ .start = 0, .end = UINT64_MAX, .pgoff = UINT64_MAX,
				 .inode = UINT64_MAX, .path = "[" };
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

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_same_task_is_found_again),
		CASE(test_idle_and_exited_tasks_need_no_facts),
		CASE(test_names_have_their_time),
		CASE(test_long_and_wild_names_are_kept_as_bytes),
		CASE(test_fc111_thread_name_and_process_name_differ),
		CASE(test_child_inherits_name_maps_owner_and_target),
		CASE(test_target_is_no_one_elses),
		CASE(test_exec_separates_before_and_after),
		CASE(test_exec_ends_the_other_threads),
		CASE(test_exec_of_another_thread_than_the_main_one),
		CASE(test_fc107_process_goes_on_without_its_main_thread),
		CASE(test_fc107_main_thread_gone_before_we_came),
		CASE(test_dead_task_is_found_for_its_samples),
		CASE(test_fc108_pid_used_again_is_another_task),
		CASE(test_fc108_sample_from_before_the_fork_is_not_the_childs),
		CASE(test_fc108_tid_used_again_in_another_process),
		CASE(test_fork_of_a_live_id_ends_the_old_one),
		CASE(test_sign_of_life_long_after_death_is_another_task),
		CASE(test_fork_record_after_the_samples_and_the_scan),
		CASE(test_fork_record_after_a_sample_brings_the_parents_maps),
		CASE(test_dead_threads_placeholder_does_not_keep_its_process),
		CASE(test_kernel_threads_need_no_scan),
		CASE(test_scan_is_asked_for_once),
		CASE(test_failed_scan_ends_the_wait),
		CASE(test_scan_without_readable_maps_ends_the_wait),
		CASE(test_child_of_an_unknown_parent_asks_once_itself),
		CASE(test_exec_needs_no_scan),
		CASE(test_fc002_scan_never_undoes_newer_records),
		CASE(test_fc002_records_after_the_scan_win_over_it),
		CASE(test_fc014_exec_within_a_scan_drops_its_maps),
		CASE(test_fc014_child_on_another_cpu),
		CASE(test_exit_before_the_scan_leaves_nobody_alive),
		CASE(test_many_threads_of_one_scan),
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
		CASE(test_trim_leaves_the_living_and_the_young),
		CASE(test_reference_outlives_the_table_entry),
		CASE(test_child_keeps_the_maps_of_a_forgotten_parent),
		cmocka_unit_test_setup_teardown(test_dead_tasks_make_room_when_the_table_is_full,
						setup_small, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
