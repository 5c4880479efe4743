/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/synth.c: one sweep after the other, and in the middle of another; who takes part. */
#include "config.h"

#include "core/synth.h"

#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/worker.h"
#include "tests/core_synth_fixture.h"

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

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* The first frame has the CPUs for itself; only then come the others. */
static void test_one_worker_begins_and_the_others_come_when_told(void **state)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	const struct synth_options options = {
		.proc = proc, .nr_workers = 3, .table = table, .sweep = true, .starts_alone = true
	};
	struct synth *synth;

	(void)state;
	close_gate(0, NR_PROCESSES / 2);
	assert_int_equal(synth_start(&options, &synth, NULL), 0);
	while (nr_delivered() != NR_PROCESSES / 2)
		nanosleep(&moment, NULL);
	assert_int_equal(progress_of(synth).max_workers, 1);
	synth_request(synth, 1);
	move_gate(NR_PROCESSES / 2 + 1);
	while (nr_delivered() != NR_PROCESSES / 2 + 1)
		nanosleep(&moment, NULL);
	assert_int_equal(progress_of(synth).max_workers, 1);
	synth_use_all_workers(synth);
	open_gate();
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).nr_done, NR_PROCESSES);
	synth_stop(synth);
}

static void test_workers_that_are_let_go_start_at_once(void **state)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	const struct synth_options options = {
		.proc = proc, .nr_workers = 3, .table = table, .sweep = true, .starts_alone = true
	};
	struct synth *synth;

	(void)state;
	assert_int_equal(synth_start(&options, &synth, NULL), 0);
	assert_true(synth_wait_sweep(synth, FAR));
	assert_int_equal(progress_of(synth).max_workers, 1);
	synth_use_all_workers(synth);
	close_gate(0, NR_PROCESSES + 1);
	synth_rescan(synth, 3);
	while (progress_of(synth).nr_workers != 3)
		nanosleep(&moment, NULL);
	open_gate();
	synth_stop(synth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_rescan_reads_everything_again),
		CASE(test_rescan_has_the_workers_it_asks_for),
		CASE(test_rescan_in_the_middle_begins_anew_with_fewer_workers),
		CASE(test_rescan_does_not_count_a_large_process_of_the_sweep_before),
		CASE(test_request_outlives_the_sweep_that_is_given_up),
		CASE(test_rescan_of_an_idle_synthesizer_is_a_first_sweep),
		CASE(test_rescans_from_many_workers_end_in_one_whole_sweep),
		CASE(test_one_worker_begins_and_the_others_come_when_told),
		CASE(test_workers_that_are_let_go_start_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
