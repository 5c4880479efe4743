/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/affinity.c: on the CPUs that this process may use. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "core/affinity.h"
#include "core/base/worker.h"

static struct cpuset home;

static int setup(void **state)
{
	(void)state;
	return affinity_get(&home);
}

static int teardown(void **state)
{
	(void)state;
	return affinity_set(&home);
}

static void assert_set(const struct cpuset *expected)
{
	struct cpuset now;

	assert_int_equal(affinity_get(&now), 0);
	assert_memory_equal(&now, expected, sizeof(now));
}

static void test_home_is_what_the_kernel_says(void **state)
{
	(void)state;
	assert_true(cpuset_nr(&home) > 0);
	assert_true(cpuset_has(&home, (unsigned int)sched_getcpu()));
}

static void test_a_move_is_done_when_it_returns(void **state)
{
	(void)state;
	for (int cpu = cpuset_next(&home, 0); cpu >= 0;
	     cpu = cpuset_next(&home, (unsigned int)cpu + 1)) {
		struct cpuset one = { 0 };

		cpuset_add(&one, (unsigned int)cpu);
		assert_int_equal(affinity_move((unsigned int)cpu), 0);
		assert_int_equal(sched_getcpu(), cpu);
		assert_set(&one);
	}
	assert_int_equal(affinity_set(&home), 0);
	assert_set(&home);
}

static void test_cpus_that_are_not_there_do_not_count(void **state)
{
	struct cpuset some = home;

	(void)state;
	/* Past what a cpu_set_t holds. */
	cpuset_add(&some, CPUMAP_MAX_CPUS - 1);
	assert_int_equal(affinity_set(&some), 0);
	assert_set(&home);
}

static void test_who_cannot_go_stays(void **state)
{
	struct cpuset nothing = { 0 };

	(void)state;
	assert_int_equal(affinity_move(CPUMAP_MAX_CPUS - 1), -EINVAL);
	assert_int_equal(affinity_move(CPUMAP_MAX_CPUS), -EINVAL);
	assert_int_equal(affinity_set(&nothing), -EINVAL);
	assert_set(&home);
}

static void move_away(void *arg)
{
	unsigned int cpu = (unsigned int)cpuset_next(&home, 0);

	*(int *)arg = affinity_move(cpu);
}

static void test_a_worker_moves_alone(void **state)
{
	struct worker *worker;
	int ret = -1;

	(void)state;
	assert_int_equal(worker_start("mover", move_away, &ret, &worker, NULL), 0);
	worker_join(worker);
	assert_int_equal(ret, 0);
	assert_set(&home);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_home_is_what_the_kernel_says),
		TEST(test_a_move_is_done_when_it_returns),
		TEST(test_cpus_that_are_not_there_do_not_count),
		TEST(test_who_cannot_go_stays),
		TEST(test_a_worker_moves_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
