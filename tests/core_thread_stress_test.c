/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread table under eight workers that do everything at once, for a bounded
 * number of steps, and a ninth that walks over all of it meanwhile. Few ids, so that all of them
 * meet: pids come again, children are forked from who is just exec'ing, scanned and forgotten.
 * Under TSan this is the proof of the locking; the rest is that what must always hold holds.
 */
#include "config.h"

#include "core/thread_table.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/compiler.h"
#include "core/base/mem.h"
#include "core/base/worker.h"

#define NR_WORKERS 8
#define NR_STEPS 20000
#define NR_PIDS 40
#define NR_TIDS 3
#define NR_FILES 20

static struct thread_table *table;
/* Later than all that is asked about the past: no time may be less than nothing. */
static _Atomic uint64_t now_ns = 1000000;
static _Atomic uint64_t nr_wrong; /* cmocka's asserts belong to the main thread */
static _Atomic uint64_t nr_found;

struct stress {
	struct worker *worker;
	uint64_t seed;
	struct task *kept[16]; /* references held for long, as cells do */
};

/* Says where: it may happen once in a thousand runs. */
static void expect_at(bool holds, int line, uint64_t value)
{
	if (holds)
		return;
	if (atomic_fetch_add(&nr_wrong, 1) < 10)
		fprintf(stderr, "wrong at line %d: %llu\n", line, (unsigned long long)value);
}

#define expect(holds) expect_at(holds, __LINE__, 0)
#define expect_of(value, holds) expect_at(holds, __LINE__, value)

static uint32_t pick(struct stress *stress, uint32_t nr)
{
	stress->seed = stress->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(stress->seed >> 33) % nr;
}

static uint64_t tick(void)
{
	return atomic_fetch_add(&now_ns, 1000);
}

static uint32_t pick_pid(struct stress *stress)
{
	return 1 + pick(stress, NR_PIDS);
}

static uint32_t tid_of(uint32_t pid, uint32_t nr)
{
	return nr ? 1000 * nr + pid : pid;
}

/* Offsets equal addresses in all of them, so that a look-up can be checked. */
static struct map_fact pick_map(struct stress *stress)
{
	uint64_t start = UINT64_C(0x1000) * (1 + pick(stress, 64));
	struct map_fact map = { .start = start,
				.end = start + 0x1000 * (1 + pick(stress, 4)),
				.pgoff = start,
				.dev_major = 8,
				.path = "/bin/file" };

	map.inode = 1 + pick(stress, NR_FILES);
	if (!pick(stress, 5))
		map.path = "//anon";
	return map;
}

static void do_fork(struct stress *stress)
{
	uint32_t pid = pick_pid(stress);
	uint32_t ppid = pick(stress, 2) ? pid : pick_pid(stress);
	uint32_t tid = tid_of(pid, ppid == pid ? 1 + pick(stress, NR_TIDS - 1) : 0);

	thread_table_fork(table, pid, tid, ppid, ppid, tick());
}

static void do_comm(struct stress *stress)
{
	static const char *const comms[] = { "one", "two", "three", "four" };
	uint32_t pid = pick_pid(stress);

	thread_table_comm(table, pid, tid_of(pid, pick(stress, NR_TIDS)),
			  comms[pick(stress, ARRAY_SIZE(comms))], pick(stress, 3) == 0, tick());
}

static void do_mmap(struct stress *stress)
{
	struct map_fact map = pick_map(stress);
	uint64_t time_ns = tick();

	/* Some come late. */
	thread_table_mmap(table, pick_pid(stress), &map, time_ns - pick(stress, 2) * 20000);
}

static void do_exit(struct stress *stress)
{
	uint32_t pid = pick_pid(stress);

	thread_table_exit(table, pid, tid_of(pid, pick(stress, NR_TIDS)), tick());
}

static void do_synthesize(struct stress *stress)
{
	uint32_t pid = pick_pid(stress);
	struct map_fact maps[4];
	struct synth_thread threads[2] = { { .tid = pid, .comm = "scanned" },
					   { .tid = tid_of(pid, 1), .comm = "thread" } };
	struct synth_process process = {
		.pid = pid,
		.ppid = 1,
		.uid = 1000,
		.has_maps = pick(stress, 4) != 0,
		.scan_start_ns = tick(),
		.threads = threads,
		.nr_threads = 1 + pick(stress, 2),
		.maps = maps,
		.nr_maps = ARRAY_SIZE(maps),
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		maps[i] = pick_map(stress);
	process.scan_end_ns = tick();
	if (pick(stress, 4))
		thread_table_synthesize(table, &process);
	else
		thread_table_scan_failed(table, pid, process.scan_start_ns);
}

static void ask_about(struct stress *stress, struct task *task, uint64_t time_ns)
{
	struct location locations[8];
	uint64_t ips[8];
	uint8_t results[8];
	struct str *comm;
	uint32_t uid;

	for (size_t i = 0; i < ARRAY_SIZE(ips); i++)
		ips[i] = UINT64_C(0x1000) * pick(stress, 70) + pick(stress, 0x1000);
	thread_table_locate_many(table, task, ips, ARRAY_SIZE(ips), time_ns, locations, results);
	for (size_t i = 0; i < ARRAY_SIZE(ips); i++) {
		if (results[i] != LOCATE_FOUND)
			continue;
		expect_of(locations[i].offset, locations[i].offset == ips[i]);
		expect(dso_kind(locations[i].dso) != DSO_UNKNOWN);
		dso_put(locations[i].dso);
		atomic_fetch_add(&nr_found, 1);
	}
	comm = task_comm(table, task, time_ns);
	expect(comm->len < 16);
	str_put(comm);
	comm = task_process_comm(table, task);
	expect(comm->len < 16);
	str_put(comm);
	(void)task_is_target(table, task);
	(void)task_is_kernel_thread(table, task);
	uid = task_uid(table, task);
	expect_of(uid, uid == 1000 || uid == UINT32_MAX);
}

static void do_question(struct stress *stress)
{
	uint32_t pid = pick_pid(stress);
	uint32_t tid = tid_of(pid, pick(stress, NR_TIDS));
	uint64_t time_ns = atomic_load(&now_ns) - pick(stress, 100000);
	struct task **kept = &stress->kept[pick(stress, ARRAY_SIZE(stress->kept))];
	bool needs_scan;
	struct task *task = thread_table_get(table, pid, tid, time_ns, &needs_scan);

	expect(task_pid(task) == pid && task_tid(task) == tid);
	ask_about(stress, task, time_ns);
	if (*kept)
		ask_about(stress, *kept, time_ns);
	task_put(*kept);
	*kept = task;
}

static void do_housekeeping(struct stress *stress)
{
	uint64_t bits[1024];
	struct thread_table_stats stats;

	thread_table_trim(table, atomic_load(&now_ns) - pick(stress, 200000));
	thread_table_take_changed(table, bits);
	thread_table_get_stats(table, &stats);
	thread_table_add_target(table, pick_pid(stress));
	/* What is in the table is bounded by what was alive a moment ago. */
	expect_of(stats.nr_tasks, stats.nr_tasks < 100000);
}

static void run(void *arg)
{
	static void (*const steps[])(struct stress * stress) = {
		do_fork, do_comm,	do_mmap,     do_mmap,
		do_exit, do_synthesize, do_question, do_question,
	};
	struct stress *stress = arg;

	for (int i = 0; i < NR_STEPS; i++) {
		if (i % 64 == 0)
			do_housekeeping(stress);
		else
			steps[pick(stress, ARRAY_SIZE(steps))](stress);
	}
	for (size_t i = 0; i < ARRAY_SIZE(stress->kept); i++)
		task_put(stress->kept[i]);
}

/* ---- the walker ---- */

static _Atomic bool is_over;
static _Atomic uint64_t nr_walked;

struct walk {
	uint64_t since_ns;
};

static void walk_comm(void *arg, uint32_t pid, uint32_t tid, const char *comm, bool exec,
		      uint64_t time_ns)
{
	const struct walk *walk = arg;

	expect(!exec || tid == pid);
	expect(time_ns >= walk->since_ns);
	expect(strlen(comm) < 16);
	atomic_fetch_add(&nr_walked, 1);
}

static void walk_map(void *arg, uint32_t pid, const struct map_view *map, uint64_t time_ns)
{
	const struct walk *walk = arg;

	expect(pid >= 1 && pid <= NR_PIDS);
	expect(time_ns >= walk->since_ns && time_ns >= map->from_ns);
	expect(map->start < map->end && map->pgoff == map->start);
	expect(dso_kind(map->dso) == DSO_FILE || dso_kind(map->dso) == DSO_GENERATED);
	/* No lock is held. */
	task_put(thread_table_get(table, pid, pid, time_ns, NULL));
	atomic_fetch_add(&nr_walked, 1);
}

static void run_walker(void *arg)
{
	struct walk walk = { 0 };
	const struct thread_table_visitor visitor = {
		.on_comm = walk_comm,
		.on_map = walk_map,
		.arg = &walk,
	};

	(void)arg;
	do {
		uint64_t now = atomic_load(&now_ns);

		walk.since_ns = now > 100000 ? now - 100000 : 0;
		thread_table_walk(table, &visitor, walk.since_ns);
	} while (!atomic_load(&is_over));
}

static void end_everybody(void)
{
	for (uint32_t pid = 1; pid <= NR_PIDS; pid++) {
		for (uint32_t i = 0; i < NR_TIDS; i++)
			thread_table_exit(table, pid, tid_of(pid, i), tick());
		/* Forks of a process are of its main thread's id, too. */
		thread_table_exit(table, pid, pid, tick());
	}
}

static void test_everything_at_once(void **state)
{
	struct dso_table *dsos = dso_table_new();
	struct thread_table_options options = { .dsos = dsos };
	struct stress stresses[NR_WORKERS] = { 0 };
	struct thread_table_stats stats;
	struct worker *walker;
	uint64_t nr_dsos, nr_files;

	(void)state;
	table = thread_table_new(&options);
	for (size_t i = 0; i < NR_WORKERS; i++) {
		stresses[i].seed = i + 1;
		assert_int_equal(
			worker_start("stress", run, &stresses[i], &stresses[i].worker, NULL), 0);
	}
	assert_int_equal(worker_start("walker", run_walker, NULL, &walker, NULL), 0);
	for (size_t i = 0; i < NR_WORKERS; i++)
		worker_join(stresses[i].worker);
	atomic_store(&is_over, true);
	worker_join(walker);
	/* How often it came round is the scheduler's business. */
	assert_true(nr_walked > 0);
	assert_int_equal(nr_wrong, 0);
	assert_true(nr_found > NR_STEPS);
	thread_table_check_invariants(table);

	end_everybody();
	thread_table_check_invariants(table);
	thread_table_trim(table, UINT64_MAX);
	thread_table_check_invariants(table);
	thread_table_get_stats(table, &stats);
	assert_int_equal(stats.nr_live, 0);
	assert_int_equal(stats.nr_tasks, 0);
	assert_int_equal(stats.nr_processes, 0);
	assert_int_equal(stats.nr_spaces, 0);
	dso_table_stats(dsos, &nr_dsos, &nr_files);
	assert_int_equal(nr_dsos, 0);
	thread_table_free(table);
	dso_table_free(dsos);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
