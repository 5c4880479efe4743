/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/synth.c: one sweep, requests, large processes, the end. */
#include "config.h"

#include "core/synth.h"

#include <assert.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/worker.h"
#include "tests/core_synth_fixture.h"

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
		CASE(test_stop_in_the_middle_ends_after_the_process_at_hand),
		CASE(test_stop_at_once_is_fine),
		CASE(test_requests_from_many_workers_are_all_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
