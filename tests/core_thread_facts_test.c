/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread table: facts from records and scans, in any order. */
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
	/* Nor is one of its threads alive. */
	assert_comm(table, 20, 25, 900, "");
	assert_int_equal(stats_of(table).nr_live, 2);
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

static void test_fc108_thread_of_the_one_before_is_not_of_the_next(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_fork(table, 20, 20, 10, 10, 100);
	thread_table_fork(table, 20, 21, 20, 20, 110);
	thread_table_comm(table, 20, 21, "first", false, 120);
	add_map(table, 20, 0x1000, 1, 120);
	thread_table_exit(table, 20, 21, 200);
	thread_table_exit(table, 20, 20, 200);
	thread_table_fork(table, 20, 20, 10, 10, 300);
	thread_table_comm(table, 20, 20, "second", true, 310);
	add_map(table, 20, 0x1000, 2, 320);
	/* Its fork was lost. */
	assert_comm(table, 20, 21, 400, "");
	assert_int_equal(inode_at(table, 20, 21, 0x1000, 400), 2);
	assert_int_equal(inode_at(table, 20, 21, 0x1000, 150), 1);
}

static void test_end_of_a_thread_is_not_the_end_of_an_unknown_process(void **state)
{
	struct thread_table *table = table_of(state);

	thread_table_exit(table, 20, 21, 100);
	assert_true(asks(table, 20, 21, 90));
	thread_table_exit(table, 30, 30, 100);
	assert_false(asks(table, 30, 30, 90));
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
	/* A name read while it changed is no name for the time before. */
	thread_table_comm(table, 31, 31, "before", false, 50);
	thread_table_comm(table, 31, 31, "after", false, 105);
	scan(table, 31, "after", 7, 100);
	assert_comm(table, 31, 31, 102, "before");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		CASE(test_fc108_thread_of_the_one_before_is_not_of_the_next),
		CASE(test_end_of_a_thread_is_not_the_end_of_an_unknown_process),
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
