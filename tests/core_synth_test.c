/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core/synth.c on a fixture folder. The thread table is a recorder of its calls,
 * with a gate at which a chosen call waits, so order is tested without sleeping.
 */
#include "config.h"

#include "core/synth.h"

#include <assert.h>
#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/worker.h"

#define NR_PROCESSES 60
#define LARGE 30 /* a pid among them */
#define FAR (clock_now_ns() + 600 * NSEC_PER_SEC)

static char proc[64];

static struct {
	struct mutex lock;
	struct cond changed;
	uint32_t read[16384]; /* pids in the order they were delivered */
	size_t nr_read;
	uint32_t failed[64];
	size_t nr_failed;
	size_t nr_threads;
	uint32_t gate_pid; /* its delivery waits at the gate; 0: the nth and later ones do */
	uint32_t gate_pid2;
	size_t gate_nth;
	unsigned int gate_round; /* who waits from an earlier one may pass */
	bool gate_closed, gate_reached;
} recorder;

static struct thread_table *const table = (void *)&recorder;

void thread_table_synthesize(struct thread_table *to, const struct synth_process *process)
{
	assert(to == table);
	mutex_lock(&recorder.lock);
	recorder.read[recorder.nr_read++] = process->pid;
	recorder.nr_threads += process->nr_threads;
	if (recorder.gate_closed &&
	    (process->pid == recorder.gate_pid || process->pid == recorder.gate_pid2 ||
	     (recorder.gate_nth && recorder.nr_read >= recorder.gate_nth))) {
		unsigned int round = recorder.gate_round;

		recorder.gate_reached = true;
		cond_broadcast(&recorder.changed);
		while (recorder.gate_closed && recorder.gate_round == round)
			cond_wait(&recorder.changed, &recorder.lock);
	}
	mutex_unlock(&recorder.lock);
}

void thread_table_scan_failed(struct thread_table *to, uint32_t pid, uint64_t scan_start_ns)
{
	assert(to == table);
	assert(scan_start_ns);
	mutex_lock(&recorder.lock);
	recorder.failed[recorder.nr_failed++] = pid;
	mutex_unlock(&recorder.lock);
}

static void close_gate(uint32_t pid, size_t nth)
{
	mutex_lock(&recorder.lock);
	recorder.gate_pid = pid;
	recorder.gate_nth = nth;
	recorder.gate_closed = true;
	recorder.gate_reached = false;
	mutex_unlock(&recorder.lock);
}

static void wait_at_gate(void)
{
	mutex_lock(&recorder.lock);
	while (!recorder.gate_reached)
		cond_wait(&recorder.changed, &recorder.lock);
	mutex_unlock(&recorder.lock);
}

/* Let through who waits; from now on the @nth and later ones do. */
static void move_gate(size_t nth)
{
	mutex_lock(&recorder.lock);
	recorder.gate_nth = nth;
	recorder.gate_round++;
	cond_broadcast(&recorder.changed);
	mutex_unlock(&recorder.lock);
}

static void open_gate(void)
{
	mutex_lock(&recorder.lock);
	recorder.gate_closed = false;
	cond_broadcast(&recorder.changed);
	mutex_unlock(&recorder.lock);
}

/* How often @pid was delivered; *@ret_first: the place of the first time. */
static size_t count_reads(uint32_t pid, size_t *ret_first)
{
	size_t nr = 0;

	mutex_lock(&recorder.lock);
	for (size_t i = 0; i < recorder.nr_read; i++) {
		if (recorder.read[i] != pid)
			continue;
		if (!nr && ret_first)
			*ret_first = i;
		nr++;
	}
	mutex_unlock(&recorder.lock);
	return nr;
}

static size_t nr_delivered(void)
{
	size_t nr;

	mutex_lock(&recorder.lock);
	nr = recorder.nr_read;
	mutex_unlock(&recorder.lock);
	return nr;
}

/* ---- the fixture: processes 1 to NR_PROCESSES ---- */

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	for (char *slash = strchr(path + strlen(proc) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void put_process(uint32_t pid, unsigned int nr_threads)
{
	char name[64], text[256];

	snprintf(name, sizeof(name), "%u/stat", pid);
	snprintf(text, sizeof(text),
		 "%u (p) S 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 %u 0 9 1000 200\n", pid,
		 nr_threads);
	put(name, text);
	snprintf(name, sizeof(name), "%u/maps", pid);
	put(name, "1000-2000 r-xp 0 08:01 5 /x\n");
	if (nr_threads > 1) {
		snprintf(name, sizeof(name), "%u/task/100000/comm", pid);
		put(name, "t\n");
	}
}

static int remove_one(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
	(void)stat;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int set_up(void **state)
{
	(void)state;
	memset(&recorder, 0, sizeof(recorder));
	mutex_init(&recorder.lock);
	cond_init(&recorder.changed);
	snprintf(proc, sizeof(proc), "/tmp/synth-test-XXXXXX");
	if (!mkdtemp(proc))
		return -1;
	for (uint32_t pid = 1; pid <= NR_PROCESSES; pid++)
		put_process(pid, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cond_release(&recorder.changed);
	mutex_release(&recorder.lock);
	return nftw(proc, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct synth *start(unsigned int nr_workers, bool sweep)
{
	struct synth_options options = {
		.proc = proc,
		.nr_workers = nr_workers,
		.table = table,
		.sweep = sweep,
	};
	struct synth *synth = NULL;
	struct err err;

	assert_int_equal(synth_start(&options, &synth, &err), 0);
	return synth;
}

static struct synth_progress progress_of(struct synth *synth)
{
	struct synth_progress progress;

	synth_get_progress(synth, &progress);
	return progress;
}

/* ---- the sweep ---- */

static void sweep_with(unsigned int nr_workers)
{
	struct synth *synth = start(nr_workers, true);
	struct synth_progress progress;

	assert_true(synth_wait_sweep(synth, FAR));
	progress = progress_of(synth);
	assert_true(progress.sweep_done);
	assert_int_equal(progress.nr_done, NR_PROCESSES);
	assert_int_equal(progress.nr_total, NR_PROCESSES);
	assert_int_equal(progress.nr_vanished, 0);
	assert_int_equal(progress.nr_denied, 0);
	assert_true(progress.sweep_ns > 0);
	assert_int_equal(progress_of(synth).sweep_ns, progress.sweep_ns);
	synth_stop(synth);
	assert_int_equal(recorder.nr_read, NR_PROCESSES);
	assert_int_equal(recorder.nr_threads, NR_PROCESSES);
	for (uint32_t pid = 1; pid <= NR_PROCESSES; pid++)
		assert_int_equal(count_reads(pid, NULL), 1);
}

static void test_each_process_is_read_once_by_1_worker(void **state)
{
	(void)state;
	sweep_with(1);
}

static void test_each_process_is_read_once_by_2_workers(void **state)
{
	(void)state;
	sweep_with(2);
}

static void test_each_process_is_read_once_by_8_workers(void **state)
{
	(void)state;
	sweep_with(8);
}

static void test_each_process_is_read_once_by_as_many_as_fit(void **state)
{
	(void)state;
	sweep_with(0);
}

static void test_absurd_number_of_workers_is_cut(void **state)
{
	(void)state;
	sweep_with(4000000000U);
}

static void test_few_processes_have_one_worker(void **state)
{
	struct synth *synth;

	(void)state;
	close_gate(0, 1);
	synth = start(0, true);
	wait_at_gate();
	assert_int_equal(progress_of(synth).nr_workers, 1);
	open_gate();
	synth_stop(synth);
}

static void test_workers_asked_for_are_there_and_one_stays(void **state)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	struct synth *synth;

	(void)state;
	close_gate(0, 1);
	synth = start(4, true);
	wait_at_gate();
	/* Each waits with one process in hand, so they do not run out before all are there. */
	while (progress_of(synth).nr_workers != 4)
		nanosleep(&moment, NULL);
	open_gate();
	assert_true(synth_wait_sweep(synth, FAR));
	while (progress_of(synth).nr_workers != 1)
		nanosleep(&moment, NULL);
	synth_request(synth, 5);
	assert_true(synth_wait_requests(synth, FAR));
	assert_int_equal(count_reads(5, NULL), 2);
	synth_stop(synth);
}

static void test_missing_proc_is_an_empty_sweep(void **state)
{
	struct synth_options options = { .proc = "/nonexistent", .table = table, .sweep = true };
	struct synth *synth = NULL;

	(void)state;
	assert_int_equal(synth_start(&options, &synth, NULL), 0);
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_total, 0);
	synth_request(synth, 1);
	assert_true(synth_wait_requests(synth, FAR));
	synth_stop(synth);
	assert_int_equal(recorder.nr_failed, 1);
}

/* ---- requests ---- */

static void test_sampled_processes_are_read_before_the_sweep(void **state)
{
	struct synth *synth;
	uint32_t pids[3];
	size_t nr = 0, place = 0;

	(void)state;
	close_gate(0, 1);
	synth = start(1, true);
	wait_at_gate();
	/* Three that are not the one at the gate. */
	for (uint32_t pid = NR_PROCESSES; nr < 3; pid -= 7) {
		if (!count_reads(pid, NULL))
			pids[nr++] = pid;
	}
	for (size_t i = 0; i < 3; i++)
		synth_request(synth, pids[i]);
	assert_int_equal(progress_of(synth).nr_waiting, 3);
	assert_false(synth_wait_requests(synth, clock_now_ns()));
	assert_false(synth_wait_sweep(synth, clock_now_ns()));
	open_gate();
	assert_true(synth_wait_requests(synth, FAR));
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_waiting, 0);
	assert_int_equal(progress_of(synth).nr_on_demand, 3);
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	synth_stop(synth);
	for (size_t i = 0; i < 3; i++) {
		/* Once: the sweep does not read them again. */
		assert_int_equal(count_reads(pids[i], &place), 1);
		assert_int_equal(place, 1 + i);
	}
	assert_int_equal(recorder.nr_read, NR_PROCESSES);
}

static void test_waiting_requests_are_deduplicated(void **state)
{
	struct synth *synth = start(1, false);

	(void)state;
	assert_true(synth_wait_sweep(synth, clock_now_ns()));
	close_gate(3, 0);
	synth_request(synth, 3);
	wait_at_gate();
	for (int i = 0; i < 10; i++)
		synth_request(synth, 4);
	/* 3 is being read, and what it was may be over: this one counts. */
	synth_request(synth, 3);
	synth_request(synth, 3);
	assert_int_equal(progress_of(synth).nr_waiting, 3);
	open_gate();
	assert_true(synth_wait_requests(synth, FAR));
	assert_int_equal(progress_of(synth).nr_on_demand, 3);
	assert_int_equal(count_reads(3, NULL), 2);
	assert_int_equal(count_reads(4, NULL), 1);
	synth_request(synth, 4);
	assert_true(synth_wait_requests(synth, FAR));
	assert_int_equal(count_reads(4, NULL), 2);
	synth_stop(synth);
	assert_int_equal(recorder.nr_read, 4);
}

static void test_vanished_process_is_reported_as_failed(void **state)
{
	struct synth *synth = start(1, false);

	(void)state;
	synth_request(synth, 9999);
	synth_request(synth, UINT32_MAX); /* no such pid in any kernel */
	assert_true(synth_wait_requests(synth, FAR));
	assert_int_equal(progress_of(synth).nr_vanished, 1);
	synth_stop(synth);
	assert_int_equal(recorder.nr_read, 0);
	assert_int_equal(recorder.nr_failed, 2);
	assert_int_equal(recorder.failed[0] + recorder.failed[1], 9999 - 1);
}

static void test_unreadable_maps_are_counted(void **state)
{
	struct synth *synth;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/7/maps", proc);
	assert_int_equal(unlink(path), 0);
	put("7/maps/folder", "");
	synth = start(2, true);
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_denied, 1);
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	synth_stop(synth);
	assert_int_equal(count_reads(7, NULL), 1);
}

/* ---- large processes ---- */

static void test_fc113_one_large_process_does_not_hold_up_the_rest(void **state)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	struct synth *synth;

	(void)state;
	put_process(LARGE, 10000);
	close_gate(LARGE, 0);
	synth = start(2, true);
	wait_at_gate();
	/* While it is being read, everything else is, and requests are served. */
	while (progress_of(synth).nr_done < NR_PROCESSES - 1)
		nanosleep(&moment, NULL);
	synth_request(synth, 1);
	assert_true(synth_wait_requests(synth, FAR));
	assert_false(progress_of(synth).sweep_done);
	open_gate();
	assert_true(synth_wait_sweep(synth, FAR));
	synth_stop(synth);
	assert_int_equal(count_reads(LARGE, NULL), 1);
	assert_int_equal(recorder.nr_threads, NR_PROCESSES + 1 + 1);
}

static void test_at_most_one_worker_is_at_a_large_process(void **state)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	struct synth *synth;

	(void)state;
	put_process(LARGE, 10000);
	put_process(LARGE + 1, 10000);
	recorder.gate_pid2 = LARGE + 1;
	close_gate(LARGE, 0);
	synth = start(4, true);
	wait_at_gate();
	while (progress_of(synth).nr_done < NR_PROCESSES - 2)
		nanosleep(&moment, NULL);
	assert_int_equal(count_reads(LARGE, NULL) + count_reads(LARGE + 1, NULL), 1);
	open_gate();
	assert_true(synth_wait_sweep(synth, FAR));
	synth_stop(synth);
	assert_int_equal(count_reads(LARGE, NULL) + count_reads(LARGE + 1, NULL), 2);
}

static void test_single_worker_reads_the_large_one_last(void **state)
{
	struct synth *synth;
	size_t place = 0;

	(void)state;
	put_process(LARGE, 10000);
	synth = start(1, true);
	assert_true(synth_wait_sweep(synth, FAR));
	synth_stop(synth);
	assert_int_equal(count_reads(LARGE, &place), 1);
	assert_int_equal(place, NR_PROCESSES - 1);
}

static void test_large_request_gets_a_worker_of_its_own(void **state)
{
	struct synth *synth;

	(void)state;
	put_process(LARGE, 10000);
	put_process(LARGE + 1, 5000);
	synth = start(0, false);
	for (int round = 0; round < 3; round++) {
		close_gate(LARGE, 0);
		synth_request(synth, LARGE);
		wait_at_gate();
		synth_request(synth, LARGE + 1);
		synth_request(synth, 2);
		while (count_reads(2, NULL) != (size_t)round + 1)
			sched_yield();
		/* At most one worker is at a large process. */
		assert_int_equal(count_reads(LARGE + 1, NULL), round);
		assert_false(synth_wait_requests(synth, clock_now_ns()));
		open_gate();
		assert_true(synth_wait_requests(synth, FAR));
		assert_int_equal(count_reads(LARGE, NULL), round + 1);
		assert_int_equal(count_reads(LARGE + 1, NULL), round + 1);
		assert_int_equal(progress_of(synth).nr_waiting, 0);
		assert_int_equal(progress_of(synth).nr_on_demand, 3 * (round + 1));
	}
	synth_stop(synth);
}

static void test_large_process_is_read_once_for_sweep_and_request(void **state)
{
	struct synth *synth;
	size_t nr;

	(void)state;
	put_process(LARGE, 10000);
	close_gate(0, 1);
	synth = start(1, true);
	wait_at_gate();
	synth_request(synth, LARGE);
	open_gate();
	assert_true(synth_wait_requests(synth, FAR));
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	synth_stop(synth);
	nr = count_reads(LARGE, NULL);
	assert_int_equal(nr, 1);
}

/* ---- once more ---- */

static void test_rescan_reads_everything_again(void **state)
{
	struct synth *synth = start(1, true);
	struct synth_progress progress;

	(void)state;
	for (unsigned int sweep = 1; sweep <= 5; sweep++) {
		assert_true(synth_wait_sweep(synth, FAR));
		progress = progress_of(synth);
		assert_int_equal(progress.nr_sweeps, sweep);
		assert_int_equal(progress.nr_done, NR_PROCESSES);
		assert_int_equal(progress.nr_total, NR_PROCESSES);
		assert_true(progress.sweep_ns > 0);
		for (uint32_t pid = 1; pid <= NR_PROCESSES; pid++)
			assert_int_equal(count_reads(pid, NULL), sweep);
		/* Adaptive, one, two, three. */
		synth_rescan(synth, sweep - 1);
	}
	synth_stop(synth);
}

static void test_rescan_has_the_workers_it_asks_for(void **state)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	struct synth *synth = start(1, true);

	(void)state;
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).max_workers, 1);
	close_gate(0, NR_PROCESSES + 1);
	synth_rescan(synth, 5);
	assert_false(progress_of(synth).sweep_done);
	while (progress_of(synth).nr_workers != 5)
		nanosleep(&moment, NULL);
	open_gate();
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).max_workers, 5);
	while (progress_of(synth).nr_workers != 1)
		nanosleep(&moment, NULL);
	synth_rescan(synth, 1);
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).max_workers, 1);
	synth_stop(synth);
}

static void test_rescan_in_the_middle_begins_anew_with_fewer_workers(void **state)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	struct synth *synth;

	(void)state;
	close_gate(0, 10);
	synth = start(4, true);
	/* All four are at the gate, each with a process of the sweep that is given up. */
	while (nr_delivered() != 9 + 4)
		nanosleep(&moment, NULL);
	synth_rescan(synth, 2);
	assert_int_equal(progress_of(synth).nr_done, 0);
	assert_int_equal(progress_of(synth).nr_total, 0);
	/* They put down what they have in hand; two go, two come back. */
	move_gate(9 + 4 + 1);
	while (progress_of(synth).nr_workers != 2 && nr_delivered() != 9 + 4 + 4)
		nanosleep(&moment, NULL);
	assert_int_equal(progress_of(synth).nr_workers, 2);
	open_gate();
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_sweeps, 2);
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	while (progress_of(synth).nr_workers != 1)
		nanosleep(&moment, NULL);
	synth_stop(synth);
	for (uint32_t pid = 1; pid <= NR_PROCESSES; pid++)
		assert_in_range(count_reads(pid, NULL), 1, 2);
}

static void test_rescan_does_not_count_a_large_process_of_the_sweep_before(void **state)
{
	struct synth *synth;

	(void)state;
	put_process(LARGE, 10000);
	close_gate(LARGE, 0);
	synth = start(1, true);
	wait_at_gate(); /* it is the last one */
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES - 1);
	synth_rescan(synth, 1);
	open_gate();
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	synth_stop(synth);
	assert_int_equal(count_reads(1, NULL), 2);
}

static void test_request_outlives_the_sweep_that_is_given_up(void **state)
{
	struct synth *synth;

	(void)state;
	put_process(LARGE, 10000);
	put_process(LARGE + 1, 10000);
	close_gate(LARGE, 0);
	recorder.gate_pid2 = LARGE + 1;
	synth = start(1, true);
	wait_at_gate(); /* at one of the large ones; the other is in the queue, for the sweep */
	synth_request(synth, LARGE);
	synth_request(synth, LARGE + 1);
	synth_rescan(synth, 3);
	assert_int_equal(progress_of(synth).nr_waiting, 2);
	open_gate();
	assert_true(synth_wait_requests(synth, FAR));
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	assert_int_equal(progress_of(synth).nr_on_demand, 2);
	assert_int_equal(progress_of(synth).nr_waiting, 0);
	synth_stop(synth);
}

static void test_rescan_of_an_idle_synthesizer_is_a_first_sweep(void **state)
{
	struct synth *synth = start(2, false);

	(void)state;
	assert_int_equal(progress_of(synth).nr_sweeps, 0);
	synth_rescan(synth, 2);
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_sweeps, 1);
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	synth_stop(synth);
	assert_int_equal(recorder.nr_read, NR_PROCESSES);
}

static void rescan_many(void *arg)
{
	for (unsigned int i = 0; i < 50; i++) {
		synth_rescan(arg, i % 5);
		synth_request(arg, 1 + i);
		progress_of(arg);
	}
}

static void test_rescans_from_many_workers_end_in_one_whole_sweep(void **state)
{
	struct worker *workers[3] = { NULL };
	struct synth *synth;

	(void)state;
	put_process(LARGE, 10000);
	synth = start(3, true);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++)
		assert_int_equal(worker_start("asker", rescan_many, synth, &workers[i], NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++)
		worker_join(workers[i]);
	assert_true(synth_wait_requests(synth, FAR));
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_sweeps, 151);
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	assert_int_equal(progress_of(synth).nr_total, NR_PROCESSES);
	synth_stop(synth);
}

/* ---- the end ---- */

static void open_gate_at_stop(void *arg)
{
	/* Comes back when the synth is told to stop, while its worker is at the gate. */
	assert(!synth_wait_sweep(arg, FAR));
	open_gate();
}

static void test_stop_in_the_middle_ends_after_the_process_at_hand(void **state)
{
	struct worker *opener = NULL;
	struct synth *synth;

	(void)state;
	close_gate(0, 10);
	synth = start(1, true);
	wait_at_gate();
	synth_request(synth, 59);
	assert_int_equal(worker_start("opener", open_gate_at_stop, synth, &opener, NULL), 0);
	synth_stop(synth);
	worker_join(opener);
	assert_int_equal(recorder.nr_read, 10);
}

static void test_stop_at_once_is_fine(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		memset(recorder.read, 0, sizeof(recorder.read));
		recorder.nr_read = 0;
		synth_stop(start(i % 5, true));
	}
	synth_stop(start(0, false));
	synth_stop(NULL);
}

static void request_all(void *arg)
{
	for (uint32_t pid = 1; pid <= NR_PROCESSES + 10; pid++)
		synth_request(arg, pid);
}

static void test_requests_from_many_workers_are_all_done(void **state)
{
	struct worker *workers[4] = { NULL };
	struct synth *synth;

	(void)state;
	put_process(LARGE, 10000);
	synth = start(3, true);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++)
		assert_int_equal(worker_start("asker", request_all, synth, &workers[i], NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++)
		worker_join(workers[i]);
	assert_true(synth_wait_requests(synth, FAR));
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_waiting, 0);
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	synth_stop(synth);
	for (uint32_t pid = 1; pid <= NR_PROCESSES; pid++)
		assert_true(count_reads(pid, NULL) >= 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_each_process_is_read_once_by_1_worker),
		CASE(test_each_process_is_read_once_by_2_workers),
		CASE(test_each_process_is_read_once_by_8_workers),
		CASE(test_each_process_is_read_once_by_as_many_as_fit),
		CASE(test_absurd_number_of_workers_is_cut),
		CASE(test_few_processes_have_one_worker),
		CASE(test_workers_asked_for_are_there_and_one_stays),
		CASE(test_missing_proc_is_an_empty_sweep),
		CASE(test_sampled_processes_are_read_before_the_sweep),
		CASE(test_waiting_requests_are_deduplicated),
		CASE(test_vanished_process_is_reported_as_failed),
		CASE(test_unreadable_maps_are_counted),
		CASE(test_fc113_one_large_process_does_not_hold_up_the_rest),
		CASE(test_at_most_one_worker_is_at_a_large_process),
		CASE(test_single_worker_reads_the_large_one_last),
		CASE(test_large_request_gets_a_worker_of_its_own),
		CASE(test_large_process_is_read_once_for_sweep_and_request),
		CASE(test_rescan_reads_everything_again),
		CASE(test_rescan_has_the_workers_it_asks_for),
		CASE(test_rescan_in_the_middle_begins_anew_with_fewer_workers),
		CASE(test_rescan_does_not_count_a_large_process_of_the_sweep_before),
		CASE(test_request_outlives_the_sweep_that_is_given_up),
		CASE(test_rescan_of_an_idle_synthesizer_is_a_first_sweep),
		CASE(test_rescans_from_many_workers_end_in_one_whole_sweep),
		CASE(test_stop_in_the_middle_ends_after_the_process_at_hand),
		CASE(test_stop_at_once_is_fine),
		CASE(test_requests_from_many_workers_are_all_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
