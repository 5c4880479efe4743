/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "top/tune.h"

static void test_more_workers_must_bring_more_than_a_tenth(void **state)
{
	static const struct tune_trial scaling[] = {
		{ 1, 800 * NSEC_PER_MSEC }, { 2, 410 * NSEC_PER_MSEC },
		{ 4, 210 * NSEC_PER_MSEC }, { 8, 205 * NSEC_PER_MSEC } };
	static const struct tune_trial slower[] = {
		{ 1, 7 * NSEC_PER_MSEC }, { 2, 10 * NSEC_PER_MSEC }, { 4, 18 * NSEC_PER_MSEC } };
	static const struct tune_trial tiny[] = {
		{ 1, 3 * NSEC_PER_MSEC }, { 2, 2 * NSEC_PER_MSEC } };

	(void)state;
	assert_int_equal(tune_choose_workers(scaling, 4), 4);
	assert_int_equal(tune_choose_workers(slower, 3), 1);
	assert_int_equal(tune_choose_workers(tiny, 2), 1); /* a millisecond is nothing */
	assert_int_equal(tune_choose_workers(scaling, 1), 1);
}

static void test_a_tick_takes_a_fiftieth_of_the_refresh(void **state)
{
	(void)state;
	assert_int_equal(tune_choose_refresh(0), 100 * NSEC_PER_MSEC);
	assert_int_equal(tune_choose_refresh(2 * NSEC_PER_MSEC), 100 * NSEC_PER_MSEC);
	assert_int_equal(tune_choose_refresh(2 * NSEC_PER_MSEC + 1), 200 * NSEC_PER_MSEC);
	assert_int_equal(tune_choose_refresh(100 * NSEC_PER_MSEC), 5 * NSEC_PER_SEC);
}

static void test_a_ring_holds_one_and_a_half_refreshes(void **state)
{
	(void)state;
	assert_int_equal(tune_choose_ring(0, NSEC_PER_SEC, 4096), 4096);
	assert_int_equal(tune_choose_ring(4096, 2 * NSEC_PER_SEC, 4096), 4 * 4096);
	assert_int_equal(tune_choose_ring(224000, 2 * NSEC_PER_SEC, 4096), 1 << 20);
	assert_int_equal(tune_choose_ring(1e18, NSEC_PER_SEC, 4096), 1 << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_workers_must_bring_more_than_a_tenth),
		cmocka_unit_test(test_a_tick_takes_a_fiftieth_of_the_refresh),
		cmocka_unit_test(test_a_ring_holds_one_and_a_half_refreshes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
