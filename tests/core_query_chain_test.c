/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains: callers' rows, chains of a row, names in them. */
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

static void test_fc078_recursion_counts_once(void **state)
{
	struct fixture fixture;
	struct location callers[20];

	(void)state;
	fixture_init(&fixture);
	for (size_t i = 0; i < 19; i++)
		callers[i] = (struct location){ fixture.app, 0x3100 + i % 3 };
	callers[19] = (struct location){ fixture.app, 0x1100 };
	for (size_t depth = 1; depth < 20; depth++)
		add_chain(&fixture, user(&fixture, 0, fixture.app, 0x3000 + depth), 1,
			  callers + 20 - depth, depth);
	fixture.spec.children = true;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_near(get_row(&fixture, "app app fib")->self_share, 1);
	assert_near(get_row(&fixture, "app app fib")->children_share, 1);
	/* Shares end at 1 whatever was counted; the period shows it. */
	assert_near(get_row(&fixture, "app app fib")->children_period, 1900);
	assert_near(get_row(&fixture, "app app main")->self_share, 0);
	assert_near(get_row(&fixture, "app app main")->children_share, 1);
	assert_near(get_row(&fixture, "app app main")->children_period, 1900);
	assert_near(get_row(&fixture, "app app main")->nr_samples, 0);
	assert_true(snapshot_header(fixture.snapshot)->has_chains);
	/* Without symbols in the rows a sample is all the same one sample. */
	run_keys(&fixture, "comm");
	assert_nr_rows(&fixture, 1);
	assert_near(snapshot_row(fixture.snapshot, 0)->children_period, 1900);
	fixture_release(&fixture);
}

static void test_fc074_callers_are_looked_up_before_their_return_address(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	/* The call is the last instruction of main; the next byte is work's first. */
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x2000 } }, 1);
	/* The leaf is looked up where it is. */
	add_chain(&fixture, user(&fixture, 0, fixture.app, 0x3000), 1,
		  (struct location[]){ { fixture.app, 0 } }, 1);
	fixture.spec.children = true;
	run(&fixture);
	assert_near(get_row(&fixture, "app app main")->children_share, 0.5);
	assert_null(find_row(&fixture, "app app work"));
	assert_near(get_row(&fixture, "app app fib")->self_share, 0.5);
	fixture_release(&fixture);
}

static void test_without_children_callers_have_no_rows(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x1100 } }, 1);
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_near(snapshot_row(fixture.snapshot, 0)->children_share, 1);
	assert_int_equal(snapshot_row(fixture.snapshot, 0)->nr_chains, 0);
	assert_true(snapshot_header(fixture.snapshot)->has_chains);
	fixture_release(&fixture);
}

static void test_filters_look_at_callers_rows_too(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x1100 } }, 1);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 3);
	fixture.spec.children = true;
	set(fixture.spec.filter, "symbol=main");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_near(snapshot_row(fixture.snapshot, 0)->children_share, 0.25);
	fixture.spec.relative = true;
	run(&fixture);
	assert_near(snapshot_row(fixture.snapshot, 0)->children_share, 1);
	set(fixture.spec.filter, "");
	set(fixture.spec.symbols, "main");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	fixture_release(&fixture);
}

static void assert_chain(const struct fixture *fixture, size_t index, double nr, const char *wanted)
{
	const struct row_chain *chain = snapshot_chain(fixture->snapshot, index);
	char text[256] = "";

	for (size_t i = 0; i < chain->nr_frames; i++) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s%s%s", i ? " < " : "", chain->frames[i],
			 chain->frames_kernel[i] ? "*" : "");
	}
	assert_string_equal(text, wanted);
	assert_near(chain->nr_samples, nr);
	assert_near(chain->period, 100 * nr);
}

static void test_chains_of_a_row_by_name_heaviest_first(void **state)
{
	struct fixture fixture;
	const struct row *row;

	(void)state;
	fixture_init(&fixture);
	/* Two call sites in main are one chain by name. */
	add_chain(&fixture, kernel(&fixture, 0, 0x1001), 1,
		  (struct location[]){ { fixture.lib, 0x1100 }, { fixture.app, 0x1100 } }, 2);
	add_chain(&fixture, kernel(&fixture, 0, 0x1002), 1,
		  (struct location[]){ { fixture.lib, 0x1200 }, { fixture.app, 0x1200 } }, 2);
	add_chain(&fixture, kernel(&fixture, 0, 0x1002), 5,
		  (struct location[]){ { fixture.app, 0x9123 },
				       { fixture.unknown, 0x55 },
				       { fixture.kernel, 0x9555 } },
		  3);
	add(&fixture, kernel(&fixture, 0, 0x1001), 1);
	fixture.spec.chains = true;
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	row = snapshot_row(fixture.snapshot, 0);
	assert_int_equal(row->nr_chains, 3);
	assert_chain(&fixture, row->first_chain, 5,
		     "do_syscall_64* < [app]+0x9123 < [unknown] < [kernel]+0x9555*");
	assert_chain(&fixture, row->first_chain + 1, 2, "do_syscall_64* < malloc < main");
	assert_chain(&fixture, row->first_chain + 2, 1, "do_syscall_64*");
	fixture.spec.max_chains = 1;
	run(&fixture);
	assert_int_equal(snapshot_nr_chains(fixture.snapshot), 1);
	fixture_release(&fixture);
}

static void test_all_chains_hold_all_samples_of_a_row(void **state)
{
	struct fixture fixture;
	const struct row *row;
	double nr_samples = 0;

	(void)state;
	fixture_init(&fixture);
	/* Told apart by name: each from another function without one. */
	for (uint64_t i = 0; i < 100; i++)
		add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
			  (struct location[]){ { fixture.app, 0x9000 + i } }, 1);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 3);
	fixture.spec.chains = true;
	run(&fixture);
	assert_int_equal(snapshot_row(fixture.snapshot, 0)->nr_chains, 32);
	fixture.spec.max_chains = SIZE_MAX;
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	row = snapshot_row(fixture.snapshot, 0);
	assert_int_equal(row->nr_chains, 101);
	for (size_t i = 0; i < row->nr_chains; i++)
		nr_samples += snapshot_chain(fixture.snapshot, row->first_chain + i)->nr_samples;
	assert_near(nr_samples, 103);
	fixture_release(&fixture);
}

static void test_a_sample_without_callers_is_a_chain_of_one_frame(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 3);
	fixture.spec.chains = true;
	run(&fixture);
	assert_false(snapshot_header(fixture.snapshot)->has_chains);
	assert_int_equal(snapshot_nr_chains(fixture.snapshot), 1);
	assert_chain(&fixture, 0, 3, "main");
	fixture_release(&fixture);
}

static void test_a_caller_that_is_looked_up_is_pending_with_chains(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.lib, 0x1100 }, { fixture.app, 0x1100 } }, 2);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 3);
	fixture.app->pending = true;
	fixture.spec.chains = true;
	run(&fixture);
	assert_near(snapshot_header(fixture.snapshot)->pending_share, 0.25);
	fixture.spec.chains = false;
	run(&fixture);
	assert_near(snapshot_header(fixture.snapshot)->pending_share, 0);
	fixture_release(&fixture);
}

static void test_frames_of_a_chain_tell_where_they_are(void **state)
{
	const struct frame_place *const *places;
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, kernel(&fixture, 0, 0x1001), 1,
		  (struct location[]){ { fixture.app, 0x9123 }, { fixture.unknown, 0x55 } }, 2);
	add_chain(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x9123 } }, 1);
	fixture.spec.chains = true;
	run(&fixture);
	assert_int_equal(snapshot_nr_chains(fixture.snapshot), 2);
	places = snapshot_chain(fixture.snapshot,
				get_row(&fixture, "app [kernel] do_syscall_64")->first_chain)
			 ->places;
	assert_string_equal(places[0]->name, "do_syscall_64");
	assert_string_equal(places[0]->dso, "[kernel]");
	assert_true(places[0]->kernel && places[0]->has_symbol);
	assert_string_equal(places[1]->name, "[app]");
	assert_string_equal(places[1]->dso, "app");
	assert_int_equal(places[1]->offset, 0x9123);
	assert_false(places[1]->kernel || places[1]->has_symbol);
	assert_string_equal(places[2]->name, "[unknown]");
	assert_ptr_equal(places[1], snapshot_chain(fixture.snapshot,
						   get_row(&fixture, "app app main")->first_chain)
					    ->places[1]);
	fixture_release(&fixture);
}

static void test_unnamed_callers_are_one_row_and_keep_their_address_in_chains(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	for (uint64_t i = 0; i < 4; i++)
		add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
			  (struct location[]){ { fixture.app, 0x9000 + i } }, 1);
	fixture.spec.children = true;
	fixture.spec.chains = true;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_near(get_row(&fixture, "app app [no symbol]")->children_share, 1);
	assert_int_equal(get_row(&fixture, "app libc.so.6 malloc")->nr_chains, 4);
	fixture_release(&fixture);
}

static void test_hidden_levels_hide_frames_but_no_user_code_below_them(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, kernel(&fixture, 0, 0x1000), 1,
		  (struct location[]){ { fixture.kernel, 0x3100 }, { fixture.app, 0x1100 } }, 2);
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x1100 } }, 1);
	fixture.spec.children = true;
	fixture.spec.hide_user = true;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_near(get_row(&fixture, "app [kernel] net_rx_action")->children_share, 0.5);
	fixture.spec.hide_user = false;
	fixture.spec.hide_kernel = true;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_near(get_row(&fixture, "app app main")->children_share, 0.5);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fc078_recursion_counts_once),
		cmocka_unit_test(test_fc074_callers_are_looked_up_before_their_return_address),
		cmocka_unit_test(test_without_children_callers_have_no_rows),
		cmocka_unit_test(test_filters_look_at_callers_rows_too),
		cmocka_unit_test(test_chains_of_a_row_by_name_heaviest_first),
		cmocka_unit_test(test_all_chains_hold_all_samples_of_a_row),
		cmocka_unit_test(test_a_sample_without_callers_is_a_chain_of_one_frame),
		cmocka_unit_test(test_a_caller_that_is_looked_up_is_pending_with_chains),
		cmocka_unit_test(test_frames_of_a_chain_tell_where_they_are),
		cmocka_unit_test(test_unnamed_callers_are_one_row_and_keep_their_address_in_chains),
		cmocka_unit_test(test_hidden_levels_hide_frames_but_no_user_code_below_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
