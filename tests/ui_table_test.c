/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cursor, scrolling and search. */
#include "config.h"

#include "ui/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/ui_fixture.h"

static void draw(struct table *table, const struct snapshot *snapshot, int height)
{
	struct screen *screen = screen_new(height, 80, true);

	table_draw(table, snapshot, screen, 0, height);
	screen_free(screen);
}

static uint64_t selected_id(const struct table *table, const struct snapshot *snapshot)
{
	const struct row *row = table_selected(table, snapshot);

	return row ? row->id : 0;
}

static void test_untouched_cursor_stays_at_the_top(void **state UNUSED)
{
	struct snapshot *first = fixture_many(10, false);
	struct snapshot *second = fixture_many(10, true);
	struct table table = { 0 };

	table_update(&table, first);
	assert_int_equal(selected_id(&table, first), 1);
	table_update(&table, second);
	assert_int_equal(selected_id(&table, second), 10);
	assert_int_equal(table.index, 0);
	snapshot_put(first);
	snapshot_put(second);
}

static void test_fc086_moved_cursor_follows_its_row(void **state UNUSED)
{
	struct snapshot *first = fixture_many(10, false);
	struct snapshot *second = fixture_many(10, true);
	struct table table = { 0 };

	table_update(&table, first);
	table_move(&table, first, 2);
	assert_int_equal(selected_id(&table, first), 3);
	table_update(&table, second);
	assert_int_equal(selected_id(&table, second), 3);
	assert_int_equal(table.index, 7);
	snapshot_put(first);
	snapshot_put(second);
}

static void test_fc086_down_and_up_to_the_first_row_pins_it(void **state UNUSED)
{
	struct snapshot *first = fixture_many(10, false);
	struct snapshot *second = fixture_many(10, true);
	struct table table = { 0 };

	table_move(&table, first, 1);
	table_move(&table, first, -1);
	table_update(&table, second);
	assert_int_equal(selected_id(&table, second), 1);
	table_home(&table);
	assert_int_equal(selected_id(&table, second), 10);
	snapshot_put(first);
	snapshot_put(second);
}

static void test_fc086_row_that_vanishes_and_comes_back(void **state UNUSED)
{
	struct snapshot *all = fixture_many(10, false);
	struct snapshot *few = fixture_many(4, false);
	struct table table = { 0 };

	table_move(&table, all, 6);
	table_update(&table, few);
	assert_int_equal(table.index, 3); /* nearby */
	assert_non_null(table_selected(&table, few));
	table_update(&table, all);
	assert_int_equal(selected_id(&table, all), 7);
	/* Whoever moved on meanwhile stays where they went. */
	table_update(&table, few);
	table_move(&table, few, -1);
	table_update(&table, all);
	assert_int_equal(selected_id(&table, all), 3);
	snapshot_put(all);
	snapshot_put(few);
}

static void test_no_rows_no_selection(void **state UNUSED)
{
	struct snapshot *none = fixture_many(0, false);
	struct table table = { 0 };

	table_update(&table, NULL);
	assert_null(table_selected(&table, NULL));
	table_update(&table, none);
	table_move(&table, none, 5);
	table_move(&table, none, -5);
	table_go(&table, none, SIZE_MAX);
	assert_null(table_selected(&table, none));
	assert_false(table_search(&table, none, "x", 3, 1));
	draw(&table, none, 5);
	snapshot_put(none);
}

static void test_moves_stop_at_the_ends(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_many(10, false);
	struct table table = { 0 };

	table_move(&table, snapshot, -3);
	assert_int_equal(table.index, 0);
	table_move(&table, snapshot, 100);
	assert_int_equal(table.index, 9);
	table_go(&table, snapshot, SIZE_MAX);
	assert_int_equal(table.index, 9);
	snapshot_put(snapshot);
}

static void test_the_cursor_is_always_on_the_screen(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_many(100, false);
	struct table table = { 0 };

	for (int height = 1; height <= 20; height++) {
		for (size_t index = 0; index < 100; index += 7) {
			table_go(&table, snapshot, index);
			draw(&table, snapshot, height);
			assert_true(table.top <= index);
			assert_true(index < table.top + (size_t)height);
			assert_true(table.top + (size_t)height <= 100);
		}
	}
	snapshot_put(snapshot);
}

static void test_rows_stay_while_the_cursor_moves_on_the_screen(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_many(100, false);
	struct table table = { 0 };

	table_go(&table, snapshot, 50);
	draw(&table, snapshot, 10);
	assert_int_equal(table.top, 41);
	table_move(&table, snapshot, -9);
	draw(&table, snapshot, 10);
	assert_int_equal(table.top, 41);
	table_move(&table, snapshot, -1);
	draw(&table, snapshot, 10);
	assert_int_equal(table.top, 40);
	snapshot_put(snapshot);
}

static void test_search_goes_round_and_ignores_case(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct table table = { 0 };

	assert_true(table_search(&table, snapshot, "KERNEL", 0, 1));
	assert_int_equal(table.index, 1);
	assert_true(table_search(&table, snapshot, "kernel", 2, 1));
	assert_int_equal(table.index, 5);
	assert_true(table_search(&table, snapshot, "crowd", 6, 1));
	assert_int_equal(table.index, 0);
	assert_true(table_search(&table, snapshot, "kernel", 0, -1));
	assert_int_equal(table.index, 6);
	assert_true(table_search(&table, snapshot, "execinterp", 0, 1)); /* a symbol */
	assert_true(table_search(&table, snapshot, "libjvm", 0, 1));	 /* an object */
	assert_false(table_search(&table, snapshot, "no such thing", 0, 1));
	snapshot_put(snapshot);
}

static void test_fc088_sideways_shift_ends_with_the_longest_name(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct table table = { 0 };

	table_scroll(&table, -8);
	assert_int_equal(table.scroll, 0);
	for (int i = 0; i < 100; i++)
		table_scroll(&table, 8);
	draw(&table, snapshot, 20);
	/* "PhaseIdealLoop::build_loop_late_post(Node*, bool)" in the 31 cells left on 80. */
	assert_int_equal(table.scroll, 18);
	snapshot_put(snapshot);
}

static void test_fc088_long_names_leave_numbers_and_object(void **state UNUSED)
{
	char *name = malloc(5001);
	struct fixture_row from = { 1, 0.5, "comm", "libshort.so", name, LEVEL_USER };
	struct screen *screen = screen_new(1, 80, true);
	struct snapshot *snapshot;
	struct table table = { 0 };
	struct view_spec spec;
	char *dump;

	memset(name, 'x', 5000);
	name[5000] = '\0';
	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	fixture_add_row(snapshot, &from);
	from.dso = name;
	fixture_add_row(snapshot, &from);
	table_draw(&table, snapshot, screen, 0, 1);
	dump = fixture_dump(screen);
	assert_non_null(strstr(dump, "50.00%"));
	assert_non_null(strstr(dump, "libshort.so"));
	assert_non_null(strstr(dump, "xxx…\n"));
	free(dump);
	table_scroll(&table, 4990);
	table_draw(&table, snapshot, screen, 0, 1);
	dump = fixture_dump(screen);
	assert_non_null(strstr(dump, "…xxx"));
	assert_non_null(strstr(dump, "libshort.so"));
	free(dump);
	free(name);
	screen_free(screen);
	snapshot_put(snapshot);
}

static void test_selected_row_has_a_mark_and_a_style(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct screen *screen = screen_new(8, 80, true);
	struct table table = { 0 };

	table_move(&table, snapshot, 1);
	table_draw(&table, snapshot, screen, 0, 8);
	assert_int_equal(screen_row(screen, 1)[0].text[0], L'>');
	assert_true(screen_row(screen, 1)[79].style & STYLE_SELECTED);
	assert_int_equal(screen_row(screen, 0)[0].text[0], L' ');
	assert_false(screen_row(screen, 0)[79].style & STYLE_SELECTED);
	screen_free(screen);
	snapshot_put(snapshot);
}

static void test_the_arrow_shows_the_order_there_is(void **state UNUSED)
{
	static const struct {
		enum order_by order;
		bool inverted;
		const char *title;
	} cases[] = {
		{ ORDER_SELF, false, "OVERHEAD\u25bc" },
		{ ORDER_SELF, true, "OVERHEAD\u25b2" },
		{ ORDER_KEY, false, "COMM\u25b2" }, /* names from a to z */
		{ ORDER_KEY, true, "COMM\u25bc" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct screen *screen = screen_new(1, 80, true);
		struct view_spec spec;
		char *dump;

		view_spec_init(&spec);
		spec.order = cases[i].order;
		spec.order_key = SORT_COMM;
		spec.inverted = cases[i].inverted;
		table_draw_title(&spec, screen, 0);
		dump = fixture_dump(screen);
		if (!strstr(dump, cases[i].title))
			fail_msg("no %s on %s", cases[i].title, dump);
		free(dump);
		screen_free(screen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_untouched_cursor_stays_at_the_top),
		cmocka_unit_test(test_fc086_moved_cursor_follows_its_row),
		cmocka_unit_test(test_fc086_down_and_up_to_the_first_row_pins_it),
		cmocka_unit_test(test_fc086_row_that_vanishes_and_comes_back),
		cmocka_unit_test(test_no_rows_no_selection),
		cmocka_unit_test(test_moves_stop_at_the_ends),
		cmocka_unit_test(test_the_cursor_is_always_on_the_screen),
		cmocka_unit_test(test_rows_stay_while_the_cursor_moves_on_the_screen),
		cmocka_unit_test(test_search_goes_round_and_ignores_case),
		cmocka_unit_test(test_fc088_sideways_shift_ends_with_the_longest_name),
		cmocka_unit_test(test_fc088_long_names_leave_numbers_and_object),
		cmocka_unit_test(test_selected_row_has_a_mark_and_a_style),
		cmocka_unit_test(test_the_arrow_shows_the_order_there_is),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
