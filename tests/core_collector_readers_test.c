/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core/collector_readers.c with readers and ticks that only count: every reader runs once
 * a round whatever their number was before, and nothing that a reader held is lost.
 */
#include "config.h"

#include "core/collector_internal.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/mem.h"

#define NR_CPUS 8
#define MANY_ROUNDS 50

/* The test's reader: ended by reader_free(), looked at only while it rests. */
struct reader {
	uint64_t nr_runs;
	uint64_t nr_located, nr_merged;
	unsigned int tries_left; /* of what is deferred */
	bool has_cpus;
	struct reader_figures figures;
};

static unsigned int nr_live_readers;

struct reader *reader_new(const struct reader_options *options)
{
	(void)options;
	nr_live_readers++;
	return mem_zalloc(sizeof(struct reader));
}

void reader_free(struct reader *reader)
{
	nr_live_readers -= reader != NULL;
	free(reader);
}

void reader_clear_cpus(struct reader *reader)
{
	reader->has_cpus = false;
}

size_t reader_locate(struct reader *reader)
{
	reader->nr_located++;
	if (reader->tries_left && !--reader->tries_left)
		reader->figures.nr_deferred = 0;
	return reader->figures.nr_deferred != 0;
}

void reader_get_figures(const struct reader *reader, struct reader_figures *ret_figures)
{
	*ret_figures = reader->figures;
}

/* A run counts as many samples as it was told to cut at. */
void tick_run_reader(struct reader_worker *reader, uint64_t cut_ns, const uint64_t *changed)
{
	assert(changed == reader->collector->changed);
	reader->reader->nr_runs++;
	reader->reader->figures.nr_samples += cut_ns;
	reader->reader->figures.copy_ns = cut_ns;
}

void tick_merge_reader(struct collector *collector, struct reader *reader)
{
	(void)collector;
	reader->nr_merged++;
}

void tick_share_cpus(struct collector *collector)
{
	for (unsigned int i = 0; i < collector->nr_readers; i++)
		collector->readers[i].reader->has_cpus = true;
}

size_t event_set_nr_cpus(const struct event_set *set)
{
	(void)set;
	return NR_CPUS + 2;
}

/* Two of them are offline: there is nothing to read on these. */
void event_set_get_info(const struct event_set *set, struct event_set_info *ret_info)
{
	(void)set;
	*ret_info = (struct event_set_info){ .nr_cpus_open = NR_CPUS };
}

/* ---- */

static struct cpumap cpumap = { .nr_nodes = 1 };

static struct collector *start(unsigned int nr_readers, enum reader_affinity affinity)
{
	struct collector *collector = mem_zalloc(sizeof(*collector));

	nr_live_readers = 0;
	collector->options.nr_readers = nr_readers;
	collector->options.affinity = affinity;
	collector->options.cpumap = &cpumap;
	mutex_init(&collector->lock);
	cond_init(&collector->readers_wake);
	cond_init(&collector->readers_done);
	assert_int_equal(collector_start_readers(collector, NULL), 0);
	return collector;
}

static void stop(struct collector *collector)
{
	mutex_lock(&collector->lock);
	collector->stop = true;
	cond_broadcast(&collector->readers_wake);
	mutex_unlock(&collector->lock);
	collector_stop_readers(collector);
	collector_free_readers(collector);
	assert_int_equal(nr_live_readers, 0);
	cond_release(&collector->readers_wake);
	cond_release(&collector->readers_done);
	mutex_release(&collector->lock);
	free(collector);
}

/* Each of the readers there are runs once a round, and no other does. */
static void check_rounds(struct collector *collector, unsigned int nr_readers)
{
	uint64_t before[NR_CPUS];

	assert_int_equal(collector->nr_readers, nr_readers);
	for (unsigned int i = 0; i < nr_readers; i++)
		before[i] = collector->readers[i].reader->nr_runs;
	for (unsigned int round = 1; round <= MANY_ROUNDS; round++) {
		collector_run_readers(collector, 1);
		for (unsigned int i = 0; i < nr_readers; i++)
			assert_int_equal(collector->readers[i].reader->nr_runs - before[i], round);
	}
	for (unsigned int i = 0; i < nr_readers; i++)
		assert_true(collector->readers[i].reader->has_cpus);
}

static void test_every_reader_runs_once_a_round_whatever_their_number(void **state)
{
	static const unsigned int numbers[] = { 1, 8, 3, 1, 5, 5, 2, 8, 7, 1 };
	struct collector *collector = start(4, AFFINITY_SYS);
	struct reader_figures sum;
	uint64_t nr_samples = 4 * MANY_ROUNDS;

	(void)state;
	check_rounds(collector, 4);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		collector_change_readers(collector, numbers[i]);
		check_rounds(collector, numbers[i]);
		nr_samples += (uint64_t)numbers[i] * MANY_ROUNDS;
		/* What they counted is not forgotten with them. */
		collector_sum_readers(collector, &sum);
		assert_int_equal(sum.nr_samples, nr_samples);
		collector_settle_retired(collector);
		collector_sum_readers(collector, &sum);
		assert_int_equal(sum.nr_samples, nr_samples);
		assert_int_equal(nr_live_readers, numbers[i]);
	}
	stop(collector);
}

static void test_number_stays_between_one_and_the_cpus(void **state)
{
	struct collector *collector = start(0, AFFINITY_SYS);

	(void)state;
	assert_int_equal(collector->nr_readers, 1);
	collector_change_readers(collector, 1000);
	check_rounds(collector, NR_CPUS);
	collector_change_readers(collector, 0);
	check_rounds(collector, 1);
	stop(collector);
	collector = start(4000000000U, AFFINITY_SYS);
	check_rounds(collector, NR_CPUS);
	stop(collector);
}

static void test_reader_that_goes_keeps_what_waits_until_it_is_placed(void **state)
{
	struct collector *collector = start(3, AFFINITY_SYS);
	struct reader *reader = collector->readers[2].reader;
	struct reader_figures sum;

	(void)state;
	reader->figures.nr_deferred = 7;
	reader->figures.nr_lost = 5;
	reader->tries_left = 3;
	collector_change_readers(collector, 1);
	assert_int_equal(collector->nr_retired, 2);
	assert_false(reader->has_cpus);
	collector_settle_retired(collector);
	assert_int_equal(collector->nr_retired, 1);
	collector_settle_retired(collector);
	assert_int_equal(collector->nr_retired, 1);
	assert_int_equal(reader->nr_located, 2);
	assert_int_equal(reader->nr_merged, 2);
	collector_sum_readers(collector, &sum);
	assert_int_equal(sum.nr_deferred, 7);
	assert_int_equal(sum.nr_lost, 5);
	/* A new one in its place is another reader. */
	collector_change_readers(collector, 3);
	check_rounds(collector, 3);
	collector_settle_retired(collector);
	assert_int_equal(collector->nr_retired, 0);
	collector_sum_readers(collector, &sum);
	assert_int_equal(sum.nr_deferred, 0);
	assert_int_equal(sum.nr_lost, 5);
	/* And one that still waits at the end is let go. */
	collector->readers[2].reader->figures.nr_deferred = 1;
	collector_change_readers(collector, 2);
	collector_settle_retired(collector);
	assert_int_equal(collector->nr_retired, 1);
	stop(collector);
}

static void test_work_is_summed_over_the_drains_of_a_tick(void **state)
{
	struct collector *collector = start(2, AFFINITY_SYS);

	(void)state;
	for (int drain = 0; drain < 3; drain++) {
		collector_run_readers(collector, 10);
		collector_note_work(collector);
	}
	assert_int_equal(collector->readers[1].tick.nr_samples, 30);
	assert_int_equal(collector->readers[1].tick.copy_ns, 30);
	collector_end_work(collector);
	assert_int_equal(collector->readers[1].last.nr_samples, 30);
	assert_int_equal(collector->readers[1].tick.nr_samples, 0);
	collector_run_readers(collector, 4);
	collector_note_work(collector);
	assert_int_equal(collector->readers[1].tick.nr_samples, 4);
	stop(collector);
}

static void test_readers_of_a_node_may_start_anywhere(void **state)
{
	struct collector *collector = start(2, AFFINITY_NODE);

	(void)state;
	assert_true(cpuset_nr(&collector->home) > 0);
	check_rounds(collector, 2);
	collector_change_readers(collector, 6);
	check_rounds(collector, 6);
	stop(collector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reader_runs_once_a_round_whatever_their_number),
		cmocka_unit_test(test_number_stays_between_one_and_the_cpus),
		cmocka_unit_test(test_reader_that_goes_keeps_what_waits_until_it_is_placed),
		cmocka_unit_test(test_work_is_summed_over_the_drains_of_a_tick),
		cmocka_unit_test(test_readers_of_a_node_may_start_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
