/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows, names, what shares are of, filters. */
#include "config.h"

#include "core/query.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/core_query_fixture.h"

/* ---- rows ---- */

static void test_cells_of_one_function_are_one_row(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	const struct row *row;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1001), 3);
	add(&fixture, user(&fixture, 1, fixture.app, 0x1fff), 4);
	add(&fixture, user(&fixture, 2, fixture.lib, 0x1000), 3);
	header = run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app main", 0.7);
	assert_row(&fixture, "app libc.so.6 malloc", 0.3);
	row = snapshot_row(fixture.snapshot, 0);
	assert_string_equal(row->symbol, "main");
	assert_string_equal(row->dso_path, "/opt/app");
	assert_near(row->nr_samples, 7);
	assert_near(row->period, 700);
	assert_near(row->children_share, 0.7);
	assert_int_equal(row->level, LEVEL_USER);
	assert_int_equal(row->nr_chains, 0);
	assert_true(header->nr_samples == 10);
	assert_near(header->shown_samples, 10);
	assert_near(header->base_period, 1000);
	assert_true(header->window_ns == SEC);
	assert_string_equal(header->event, "cycles");
	assert_false(header->has_chains);
	fixture_release(&fixture);
}

static void test_rows_have_the_sort_keys_and_no_others(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	for (uint16_t cpu = 0; cpu < 4; cpu++) {
		key = user(&fixture, cpu, fixture.app, 0x1000 + cpu);
		key.cpu = cpu;
		add(&fixture, key, 1);
	}
	key.cpu = PROFILE_NO_CPU;
	add(&fixture, key, 1);
	run_keys(&fixture, "comm");
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app", 1);
	run_keys(&fixture, "symbol");
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, " main", 1);
	run_keys(&fixture, "dso,node");
	assert_row(&fixture, " app node0", 0.4);
	assert_row(&fixture, " app node1", 0.4);
	assert_row(&fixture, " app", 0.2);
	run_keys(&fixture, "cpu");
	assert_nr_rows(&fixture, 5);
	assert_row(&fixture, " cpu3", 0.2);
	run_keys(&fixture, "tid,event");
	assert_nr_rows(&fixture, 4);
	assert_row(&fixture, "/103 cycles", 0.4);
	fixture_release(&fixture);
}

static void test_the_same_file_at_two_inodes_is_one_row(void **state)
{
	struct fixture fixture;
	struct dso *copy;

	(void)state;
	fixture_init(&fixture);
	copy = fake_dso(DSO_FILE, "/lib/libc.so.6");
	fake_symbol(copy, 0x5000, 0x6000, "malloc");
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1001), 1);
	add(&fixture, user(&fixture, 0, copy, 0x5001), 1);
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app libc.so.6 malloc", 1);
	profile_slot_end(fixture.profile);
	profile_clear(fixture.profile);
	fake_dso_free(copy);
	/* Another path is another file, even if the rows look alike. */
	copy = fake_dso(DSO_FILE, "/snap/libc.so.6");
	fake_symbol(copy, 0x5000, 0x6000, "malloc");
	profile_slot_begin(fixture.profile, 101 * SEC, 102 * SEC);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1001), 1);
	add(&fixture, user(&fixture, 0, copy, 0x5001), 1);
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	profile_slot_end(fixture.profile);
	profile_clear(fixture.profile);
	fake_dso_free(copy);
	fixture_release(&fixture);
}

static void test_equal_names_in_different_objects_are_two_rows(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fake_symbol(fixture.app, 0x9000, 0xa000, "malloc");
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1001), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x9001), 1);
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	run_keys(&fixture, "symbol");
	assert_nr_rows(&fixture, 1);
	fixture_release(&fixture);
}

static void test_a_module_stands_in_the_place_of_its_dso(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, kernel(&fixture, 0, 0x4001), 1);
	add(&fixture, kernel(&fixture, 0, 0x1001), 1);
	run(&fixture);
	assert_row(&fixture, "app [nf_tables] nf_hook", 0.5);
	assert_row(&fixture, "app [kernel] do_syscall_64", 0.5);
	assert_int_equal(snapshot_row(fixture.snapshot, 0)->level, LEVEL_KERNEL);
	run_keys(&fixture, "dso");
	assert_row(&fixture, " [nf_tables]", 0.5);
	fixture_release(&fixture);
}

static void test_fc111_by_process_the_leaders_name_by_thread_its_own(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1);
	key = user(&fixture, 1, fixture.app, 0x1000);
	key.comm = fixture.other;
	add(&fixture, key, 1);
	run_keys(&fixture, "comm,pid");
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "leader:100", 1);
	run_keys(&fixture, "comm,pid,tid");
	assert_row(&fixture, "app:100/100", 0.5);
	assert_row(&fixture, "other:100/101", 0.5);
	run_keys(&fixture, "comm");
	assert_row(&fixture, "app", 0.5);
	assert_row(&fixture, "other", 0.5);
	/* A leader whose name is not known does not take the name away. */
	fixture.tasks[0].process_comm = "";
	fixture.tasks[1].process_comm = "";
	run_keys(&fixture, "comm,pid");
	assert_row(&fixture, "other:100", 0.5);
	fixture_release(&fixture);
}

static void test_ids_are_the_same_in_the_next_snapshot(void **state)
{
	struct fixture fixture;
	uint64_t id, other;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x2000), 1);
	run(&fixture);
	id = get_row(&fixture, "app app main")->id;
	other = get_row(&fixture, "app app work")->id;
	assert_true(id != other);
	profile_slot_end(fixture.profile);
	profile_clear(fixture.profile);
	profile_slot_begin(fixture.profile, 200 * SEC, 201 * SEC);
	add(&fixture, user(&fixture, 1, fixture.lib, 0x1000), 1);
	add(&fixture, user(&fixture, 1, fixture.app, 0x1234), 1);
	run(&fixture);
	assert_true(get_row(&fixture, "app app main")->id == id);
	fixture_release(&fixture);
}

/* ---- names ---- */

static void test_a_pending_name_shows_its_offset_and_merges_when_it_comes(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;

	(void)state;
	fixture_init(&fixture);
	fixture.app->pending = true;
	add(&fixture, user(&fixture, 0, fixture.app, 0x1001), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1002), 3);
	run(&fixture);
	header = run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app 0x1002", 0.75);
	assert_true(get_row(&fixture, "app app 0x1002")->symbol_pending);
	assert_false(get_row(&fixture, "app app 0x1002")->unresolved);
	assert_near(header->pending_share, 1);
	assert_near(header->unnamed_share, 0);
	fixture.app->pending = false;
	fixture.app->generation++;
	header = run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app main", 1);
	assert_near(header->pending_share, 0);
	fixture_release(&fixture);
}

static void test_fc023_what_has_no_name_gets_none(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	for (uint64_t i = 0; i < 5; i++) {
		add(&fixture, user(&fixture, 0, fixture.app, 0x9000 + i), 1);
		key = user(&fixture, 0, fixture.unknown, 0x7000 + i);
		key.flags = CELL_UNRESOLVED;
		add(&fixture, key, 1);
	}
	header = run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app [no symbol]", 0.5);
	assert_row(&fixture, "app [unknown] [unknown]", 0.5);
	assert_true(get_row(&fixture, "app [unknown] [unknown]")->unresolved);
	assert_false(get_row(&fixture, "app app [no symbol]")->unresolved);
	assert_false(get_row(&fixture, "app app [no symbol]")->symbol_pending);
	assert_near(header->unresolved_share, 0.5);
	assert_near(header->unnamed_share, 0.5);
	fixture_release(&fixture);
}

static void test_named_cells_are_looked_up_once_until_something_can_change(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1001), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x9001), 1);
	run(&fixture);
	run(&fixture);
	run(&fixture);
	/* The named cell once; the other each time, since asking makes a worker look again. */
	assert_int_equal(fixture.app->nr_lookups, 1 + 3);
	fake_symbol(fixture.app, 0x9000, 0xa000, "late");
	fixture.app->generation++;
	run(&fixture);
	assert_int_equal(fixture.app->nr_lookups, 4 + 2);
	assert_row(&fixture, "app app late", 0.5);
	fixture_release(&fixture);
}

static void test_what_the_profile_gave_up_is_other(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	key = user(&fixture, 0, fixture.app, PROFILE_NO_OFFSET);
	key.task = NULL;
	key.flags = CELL_EXITED;
	add(&fixture, key, 1);
	key.comm = fixture.other;
	key.dso = NULL;
	add(&fixture, key, 1);
	assert_near(run(&fixture)->unnamed_share, 0);
	assert_row(&fixture, "app app [other]", 0.5);
	assert_row(&fixture, "other other [other]", 0.5);
	run_keys(&fixture, "comm,pid,tid");
	assert_row(&fixture, "app", 0.5);
	fixture_release(&fixture);
}

/* ---- what shares are of ---- */

static void test_fc043_idle_is_left_out_and_counted(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 3);
	add(&fixture, idle(&fixture, 0x2001), 5); /* a halt */
	add(&fixture, idle(&fixture, 0x3001), 1); /* an interrupt on an idle CPU */
	add(&fixture, idle(&fixture, 0x9001), 1); /* without a name */
	header = run(&fixture);
	assert_near(header->idle_share, 0.6);
	assert_near(header->base_period, 400);
	assert_true(header->nr_samples == 10);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app main", 0.75);
	assert_row(&fixture, "swapper [kernel] net_rx_action", 0.25);
	fixture.spec.show_idle = true;
	header = run(&fixture);
	assert_near(header->idle_share, 0.6);
	assert_near(header->base_period, 1000);
	assert_row(&fixture, "swapper [kernel] pv_native_safe_halt", 0.5);
	assert_row(&fixture, "swapper [kernel] [no symbol]", 0.1);
	fixture_release(&fixture);
}

static void test_idle_symbols(void **state)
{
	(void)state;
	assert_true(query_is_idle_symbol("pv_native_safe_halt"));
	assert_true(query_is_idle_symbol("intel_idle"));
	assert_true(query_is_idle_symbol("acpi_idle_do_entry.constprop.0"));
	assert_false(query_is_idle_symbol("intel_idler"));
	assert_false(query_is_idle_symbol("intel"));
	assert_false(query_is_idle_symbol(""));
	assert_false(query_is_idle_symbol(".cold"));
	assert_false(query_is_idle_symbol("schedule"));
}

static void test_a_user_function_named_like_idle_is_work(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fake_symbol(fixture.app, 0x9000, 0xa000, "poll_idle");
	add(&fixture, user(&fixture, 0, fixture.app, 0x9000), 1);
	add(&fixture, kernel(&fixture, 0, 0x2000), 1);
	assert_near(run(&fixture)->idle_share, 0);
	assert_nr_rows(&fixture, 2);
	fixture_release(&fixture);
}

static void test_absolute_shares_are_of_all_relative_of_what_is_left(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 2);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 2);
	add(&fixture, kernel(&fixture, 0, 0x1000), 4);
	fixture.spec.hide_kernel = true;
	header = run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app main", 0.25);
	assert_near(header->shown_samples, 4);
	assert_near(header->kernel_share, 0);
	fixture.spec.relative = true;
	header = run(&fixture);
	assert_row(&fixture, "app app main", 0.5);
	assert_near(header->base_period, 400);
	assert_true(header->relative);
	fixture.spec.hide_kernel = false;
	fixture.spec.hide_user = true;
	header = run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_near(header->kernel_share, 1);
	fixture_release(&fixture);
}

static void test_fc078_nothing_shown_gives_plain_zeros(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	double shares[7];

	(void)state;
	fixture_init(&fixture);
	profile_add(fixture.profile,
		    &(struct cell_key){ .task = &fixture.tasks[0],
					.comm = fixture.comm,
					.dso = fixture.app,
					.offset = 0x1000,
					.chain = CHAIN_NONE },
		    1, 0);
	for (int relative = 0; relative < 2; relative++) {
		fixture.spec.relative = relative;
		header = run(&fixture);
		shares[0] = header->idle_share;
		shares[1] = header->kernel_share;
		shares[2] = header->unresolved_share;
		shares[3] = header->unnamed_share;
		shares[4] = header->outside_share;
		shares[5] = snapshot_row(fixture.snapshot, 0)->self_share;
		shares[6] = snapshot_row(fixture.snapshot, 0)->children_share;
		for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
			assert_true(fpclassify(shares[i]) == FP_ZERO && !signbit(shares[i]));
	}
	fixture_release(&fixture);
}

static void test_tasks_outside_of_the_target_are_counted_apart(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 2);
	add(&fixture, user(&fixture, 2, fixture.app, 0x2000), 5);
	key = user(&fixture, 0, fixture.app, 0x3000);
	key.task = NULL;
	key.flags = CELL_EXITED;
	add(&fixture, key, 1);
	fixture.tasks[0].is_target = true;
	fixture.context.filter_target = true;
	header = run(&fixture);
	assert_near(header->outside_share, 0.75);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app main", 1);
	fixture.context.filter_target = false;
	fixture.context.filter_user = true;
	fixture.context.uid = 1002;
	header = run(&fixture);
	assert_near(header->outside_share, 0.375);
	assert_row(&fixture, "app app work", 1);
	fixture_release(&fixture);
}

static void test_events_are_told_apart(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	fixture.context.nr_events = 2;
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 3);
	key = user(&fixture, 0, fixture.lib, 0x1000);
	key.event = 1;
	profile_add(fixture.profile, &key, 1, 1);
	key.event = 7; /* of no event that we know */
	header = run(&fixture);
	/* Cycles and faults have no common unit, so samples are what counts. */
	assert_row(&fixture, "app libc.so.6 malloc", 0.25);
	assert_string_equal(header->event, "cycles, page-faults");
	assert_near(header->base_period, 4);
	assert_int_equal(snapshot_nr_events(fixture.snapshot), 2);
	assert_true(snapshot_event(fixture.snapshot, 0)->nr_samples == 3);
	assert_true(snapshot_event(fixture.snapshot, 1)->nr_samples == 1);
	assert_string_equal(snapshot_event(fixture.snapshot, 1)->name, "page-faults");
	fixture.spec.event = 1;
	header = run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app libc.so.6 malloc", 1);
	assert_string_equal(header->event, "page-faults");
	assert_true(header->nr_samples == 1);
	assert_true(snapshot_event(fixture.snapshot, 0)->nr_samples == 3);
	fixture.spec.event = -1;
	run_keys(&fixture, "event");
	assert_row(&fixture, " page-faults", 0.25);
	profile_add(fixture.profile, &key, 1, 1);
	run(&fixture);
	assert_nr_rows(&fixture, 3);
	fixture_release(&fixture);
}

/* ---- filters and limits ---- */

static void test_filters_choose_rows(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	key = user(&fixture, 0, fixture.app, 0x1000);
	key.cpu = 3;
	add(&fixture, key, 1);
	key = user(&fixture, 2, fixture.lib, 0x1000);
	key.comm = fixture.other;
	add(&fixture, key, 1);
	add(&fixture, user(&fixture, 4, fixture.app, 0x9000), 2);
	set(fixture.spec.filter, "dso=app symbol=main");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app main", 0.25);
	assert_string_equal(snapshot_header(fixture.snapshot)->filter, "dso=app symbol=main");
	/* Keys that are no column filter too. */
	set(fixture.spec.filter, "pid=102 | (cpu=3 node=1)");
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	set(fixture.spec.filter, "event=cycles !tid<104");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app [no symbol]", 0.5);
	set(fixture.spec.filter, "OTHER");
	run(&fixture);
	assert_row(&fixture, "other libc.so.6 malloc", 0.25);
	assert_near(snapshot_header(fixture.snapshot)->shown_samples, 1);
	fixture_release(&fixture);
}

static void test_a_pending_name_passes_no_filter_by_symbol(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture.app->pending = true;
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1);
	set(fixture.spec.filter, "symbol~.");
	run(&fixture);
	assert_nr_rows(&fixture, 0);
	set(fixture.spec.filter, "");
	set(fixture.spec.symbols, "0x1000");
	run(&fixture);
	assert_nr_rows(&fixture, 0);
	fixture_release(&fixture);
}

static void test_a_wrong_filter_is_an_error(void **state)
{
	struct fixture fixture;
	struct snapshot *snapshot = NULL;
	struct err err;

	(void)state;
	fixture_init(&fixture);
	set(fixture.spec.filter, "colour=red");
	assert_int_equal(query_run(&fixture.context, &fixture.spec, &snapshot, &err), -EINVAL);
	assert_null(snapshot);
	assert_non_null(strstr(err.text, "colour"));
	fixture_release(&fixture);
}

static void test_lists_are_exact_names(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x2000), 1);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1);
	key = user(&fixture, 0, fixture.app, 0x3000);
	key.comm = fixture.other;
	add(&fixture, key, 1);
	set(fixture.spec.symbols, "main,malloc,wor");
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	set(fixture.spec.symbols, "");
	set(fixture.spec.dsos, "/lib/libc.so.6");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	set(fixture.spec.dsos, "libc.so.6,,app");
	set(fixture.spec.comms, "other");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "other app fib", 0.25);
	fixture_release(&fixture);
}

static void test_small_rows_are_counted_and_not_shown(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 90);
	add(&fixture, user(&fixture, 0, fixture.app, 0x2000), 9);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1);
	fixture.spec.percent_limit = 5;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_int_equal(snapshot_header(fixture.snapshot)->nr_rows_hidden, 1);
	fixture.spec.max_rows = 1;
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app main", 0.9);
	assert_int_equal(snapshot_header(fixture.snapshot)->nr_rows_hidden, 2);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_of_one_function_are_one_row),
		cmocka_unit_test(test_rows_have_the_sort_keys_and_no_others),
		cmocka_unit_test(test_the_same_file_at_two_inodes_is_one_row),
		cmocka_unit_test(test_equal_names_in_different_objects_are_two_rows),
		cmocka_unit_test(test_a_module_stands_in_the_place_of_its_dso),
		cmocka_unit_test(test_fc111_by_process_the_leaders_name_by_thread_its_own),
		cmocka_unit_test(test_ids_are_the_same_in_the_next_snapshot),
		cmocka_unit_test(test_a_pending_name_shows_its_offset_and_merges_when_it_comes),
		cmocka_unit_test(test_fc023_what_has_no_name_gets_none),
		cmocka_unit_test(test_named_cells_are_looked_up_once_until_something_can_change),
		cmocka_unit_test(test_what_the_profile_gave_up_is_other),
		cmocka_unit_test(test_fc043_idle_is_left_out_and_counted),
		cmocka_unit_test(test_idle_symbols),
		cmocka_unit_test(test_a_user_function_named_like_idle_is_work),
		cmocka_unit_test(test_absolute_shares_are_of_all_relative_of_what_is_left),
		cmocka_unit_test(test_fc078_nothing_shown_gives_plain_zeros),
		cmocka_unit_test(test_tasks_outside_of_the_target_are_counted_apart),
		cmocka_unit_test(test_events_are_told_apart),
		cmocka_unit_test(test_filters_choose_rows),
		cmocka_unit_test(test_a_pending_name_passes_no_filter_by_symbol),
		cmocka_unit_test(test_a_wrong_filter_is_an_error),
		cmocka_unit_test(test_lists_are_exact_names),
		cmocka_unit_test(test_small_rows_are_counted_and_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
