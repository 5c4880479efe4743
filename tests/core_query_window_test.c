/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What time is summed: windows up to now and up to a moment in the past. */
#include "config.h"

#include "core/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/core_query_fixture.h"

static void test_windows_reach_the_profile(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 8);
	profile_slot_end(fixture.profile);
	profile_slot_begin(fixture.profile, 101 * SEC, 102 * SEC);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1);
	profile_slot_end(fixture.profile);
	fixture.spec.window = VIEW_WINDOW_TICK;
	assert_true(run(&fixture)->nr_samples == 1);
	fixture.spec.window = VIEW_WINDOW_TIME;
	assert_true(run(&fixture)->nr_samples == 9);
	assert_true(snapshot_header(fixture.snapshot)->window_ns == 2 * SEC);
	fixture.spec.window = VIEW_WINDOW_DECAY;
	assert_near(run(&fixture)->shown_samples, 8);
	assert_row(&fixture, "app app main", 7.0 / 8);
	fixture.spec.window = VIEW_WINDOW_ALL;
	assert_true(run(&fixture)->nr_samples == 9);
	assert_int_equal(snapshot_header(fixture.snapshot)->window, VIEW_WINDOW_ALL);
	fixture_release(&fixture);
}

static void test_an_empty_profile_makes_an_empty_snapshot(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture.spec.children = true;
	fixture.spec.chains = true;
	run(&fixture);
	assert_nr_rows(&fixture, 0);
	profile_slot_end(fixture.profile);
	profile_clear(fixture.profile);
	assert_true(!run(&fixture)->window_ns);
	fixture_release(&fixture);
}

/* Close the open slot with @nr samples of main in it, and open the next, of a second too. */
static void end_slot(struct fixture *fixture, uint64_t nr)
{
	if (nr)
		add(fixture, user(fixture, 0, fixture->app, 0x1000), nr);
	profile_slot_end(fixture->profile);
	fixture->now += SEC;
	profile_slot_begin(fixture->profile, fixture->now, fixture->now + SEC);
}

/* Slots of 1, 2, 4, 8 and 16 samples that end at 101 to 105 s; the open one has 32. */
static void fill(struct fixture *fixture)
{
	for (uint64_t i = 0; i < 5; i++)
		end_slot(fixture, UINT64_C(1) << i);
	add(fixture, user(fixture, 0, fixture->app, 0x1000), 32);
}

/* The samples of a window that ends at @end_ns. */
static uint64_t nr_until(struct fixture *fixture, enum view_window window, uint64_t end_ns)
{
	fixture->spec.window = window;
	fixture->spec.end_ns = end_ns;
	return run(fixture)->nr_samples;
}

static void limit(struct fixture *fixture, size_t max_slots, size_t max_cells)
{
	const struct profile_limits limits = { .max_slots = max_slots, .max_cells = max_cells };

	profile_free(fixture->profile);
	fixture->profile = profile_new(&limits, &fake_symbolizer);
	fixture->context.profile = fixture->profile;
	profile_slot_begin(fixture->profile, 100 * SEC, 101 * SEC);
}

static void test_a_window_ends_with_the_slot_that_is_asked_for(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fill(&fixture);
	for (uint64_t i = 0; i < 5; i++)
		assert_true(nr_until(&fixture, VIEW_WINDOW_TICK, (101 + i) * SEC) == UINT64_C(1)
											     << i);
	fixture.spec.window_ns = 2 * SEC;
	assert_true(nr_until(&fixture, VIEW_WINDOW_TIME, 104 * SEC) == 8 + 4);
	assert_true(snapshot_header(fixture.snapshot)->window_ns == 2 * SEC);
	assert_true(snapshot_header(fixture.snapshot)->window_end_ns == 104 * SEC);
	/* There is no time before the first slot. */
	assert_true(nr_until(&fixture, VIEW_WINDOW_TIME, 101 * SEC) == 1);
	assert_true(snapshot_header(fixture.snapshot)->window_ns == SEC);
	assert_true(nr_until(&fixture, VIEW_WINDOW_ALL, 103 * SEC) == 1 + 2 + 4);
	assert_true(snapshot_header(fixture.snapshot)->window_ns == 3 * SEC);
	nr_until(&fixture, VIEW_WINDOW_DECAY, 102 * SEC);
	assert_near(snapshot_header(fixture.snapshot)->shown_samples, 2 + 7.0 / 8);
	fixture_release(&fixture);
}

static void test_what_came_later_has_no_rows(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	end_slot(&fixture, 3);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 5);
	end_slot(&fixture, 0);
	for (int window = VIEW_WINDOW_TICK; window <= VIEW_WINDOW_ALL; window++) {
		nr_until(&fixture, (enum view_window)window, 101 * SEC);
		assert_nr_rows(&fixture, 1);
		assert_row(&fixture, "app app main", 1);
	}
	fixture_release(&fixture);
}

static void test_between_slots_the_one_before_is_the_last(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fill(&fixture);
	assert_true(nr_until(&fixture, VIEW_WINDOW_TICK, 103 * SEC - 1) == 2);
	assert_true(nr_until(&fixture, VIEW_WINDOW_TICK, 103 * SEC + 1) == 4);
	assert_true(snapshot_header(fixture.snapshot)->window_end_ns == 103 * SEC);
	/* The open slot has no end yet, wherever it is for now. */
	assert_true(nr_until(&fixture, VIEW_WINDOW_TICK, 106 * SEC) == 16);
	assert_true(nr_until(&fixture, VIEW_WINDOW_TIME, UINT64_MAX) == 31);
	assert_true(nr_until(&fixture, VIEW_WINDOW_ALL, UINT64_MAX) == 31);
	fixture_release(&fixture);
}

static void test_an_open_slot_without_length_is_not_taken_for_the_one_before(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 7);
	profile_slot_end(fixture.profile);
	profile_slot_begin(fixture.profile, 101 * SEC, 101 * SEC);
	assert_true(nr_until(&fixture, VIEW_WINDOW_TICK, 101 * SEC) == 7);
	fixture_release(&fixture);
}

static void test_before_all_slots_there_is_nothing(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fill(&fixture);
	for (int window = VIEW_WINDOW_TICK; window <= VIEW_WINDOW_ALL; window++) {
		assert_true(!nr_until(&fixture, (enum view_window)window, 101 * SEC - 1));
		assert_nr_rows(&fixture, 0);
		assert_true(!snapshot_header(fixture.snapshot)->window_end_ns);
		assert_true(!snapshot_header(fixture.snapshot)->window_ns);
	}
	fixture_release(&fixture);
}

static void test_a_slot_without_samples_is_a_moment_too(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	end_slot(&fixture, 3);
	end_slot(&fixture, 0);
	end_slot(&fixture, 3);
	assert_true(!nr_until(&fixture, VIEW_WINDOW_TICK, 102 * SEC));
	assert_nr_rows(&fixture, 0);
	assert_true(snapshot_header(fixture.snapshot)->window_end_ns == 102 * SEC);
	assert_true(snapshot_header(fixture.snapshot)->window_ns == SEC);
	fixture_release(&fixture);
}

static void test_a_snapshot_tells_which_moments_there_are(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	run(&fixture);
	assert_int_equal(snapshot_nr_slots(fixture.snapshot), 0);
	limit(&fixture, 3, 0);
	fill(&fixture);
	run(&fixture);
	assert_int_equal(snapshot_nr_slots(fixture.snapshot), 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(snapshot_slot_end_ns(fixture.snapshot, i) == (103 + i) * SEC);
	/* Those before are no moments, though the sum since the start has them. */
	assert_true(!nr_until(&fixture, VIEW_WINDOW_TICK, 102 * SEC));
	assert_true(nr_until(&fixture, VIEW_WINDOW_ALL, 103 * SEC) == 1 + 2 + 4);
	assert_true(snapshot_header(fixture.snapshot)->window_ns == 3 * SEC);
	profile_clear(fixture.profile);
	assert_true(!nr_until(&fixture, VIEW_WINDOW_ALL, 103 * SEC));
	assert_int_equal(snapshot_nr_slots(fixture.snapshot), 0);
	fixture_release(&fixture);
}

static void test_dropped_slots_are_counted_until_a_clear(void **state)
{
	struct profile_stats stats;
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	limit(&fixture, 3, 0);
	fill(&fixture);
	profile_get_stats(fixture.profile, &stats);
	assert_true(stats.nr_slots_dropped == 2);
	profile_clear(fixture.profile);
	profile_get_stats(fixture.profile, &stats);
	assert_true(stats.nr_slots_dropped == 0);
	fixture_release(&fixture);
}

static void test_coarsened_history_keeps_its_sums_at_each_moment(void **state)
{
	struct fixture fixture;
	uint64_t sum = 0;

	(void)state;
	fixture_init(&fixture);
	limit(&fixture, 0, 64);
	for (uint64_t slot = 0; slot < 10; slot++) {
		for (uint64_t i = 0; i < 40; i++)
			add(&fixture,
			    user(&fixture, i % NR_TASKS, fixture.app, 0x1000 + 40 * slot + i),
			    slot + 1);
		end_slot(&fixture, 0);
	}
	profile_check_invariants(fixture.profile);
	for (uint64_t slot = 0; slot < 10; slot++) {
		sum += 40 * (slot + 1);
		assert_true(nr_until(&fixture, VIEW_WINDOW_TICK, (101 + slot) * SEC) ==
			    40 * (slot + 1));
		assert_true(nr_until(&fixture, VIEW_WINDOW_ALL, (101 + slot) * SEC) == sum);
		assert_near(snapshot_header(fixture.snapshot)->base_period, 100.0 * (double)sum);
	}
	fixture_release(&fixture);
}

/* Totals beyond 2^53 are no exact doubles: what is left of a difference is no sample. */
static void test_large_periods_leave_no_ghosts_before_their_time(void **state)
{
	struct cell_key key;
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	end_slot(&fixture, 1);
	key = user(&fixture, 0, fixture.lib, 0x1000);
	for (int i = 0; i < 3; i++) {
		/* One rounds down, three round up. */
		profile_add(fixture.profile, &key, 1, (UINT64_C(1) << 60) + 100);
		end_slot(&fixture, 0);
	}
	assert_true(nr_until(&fixture, VIEW_WINDOW_ALL, 101 * SEC) == 1);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app main", 1);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_reach_the_profile),
		cmocka_unit_test(test_an_empty_profile_makes_an_empty_snapshot),
		cmocka_unit_test(test_a_window_ends_with_the_slot_that_is_asked_for),
		cmocka_unit_test(test_what_came_later_has_no_rows),
		cmocka_unit_test(test_between_slots_the_one_before_is_the_last),
		cmocka_unit_test(test_an_open_slot_without_length_is_not_taken_for_the_one_before),
		cmocka_unit_test(test_before_all_slots_there_is_nothing),
		cmocka_unit_test(test_a_slot_without_samples_is_a_moment_too),
		cmocka_unit_test(test_a_snapshot_tells_which_moments_there_are),
		cmocka_unit_test(test_dropped_slots_are_counted_until_a_clear),
		cmocka_unit_test(test_coarsened_history_keeps_its_sums_at_each_moment),
		cmocka_unit_test(test_large_periods_leave_no_ghosts_before_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
