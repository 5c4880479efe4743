/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine view: layout on every size, scrolling, what is not known, what is tuned. */
#include "config.h"

#include "ui/engine_view.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/engine_fixture.h"
#include "tests/ui_fixture.h"
#include "ui/input.h"

static struct snapshot *new_snapshot(size_t nr_readers)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);

	fixture_engine(snapshot, nr_readers);
	return snapshot;
}

static char *draw(struct engine_view *view, const struct snapshot *snapshot, int nr_rows,
		  int nr_columns)
{
	struct screen *screen = screen_new(nr_rows, nr_columns, true);
	char *dump;

	engine_view_draw(view, snapshot, 0, screen, 0, nr_rows);
	dump = fixture_dump(screen);
	screen_free(screen);
	return dump;
}

/* All of the sheet, at a width. */
static char *draw_all(const struct snapshot *snapshot, int nr_columns)
{
	struct engine_view view = { 0 };

	return draw(&view, snapshot, 500, nr_columns);
}

static void test_every_figure_is_there_from_80_columns_on(void **state UNUSED)
{
	struct snapshot *snapshot = new_snapshot(5);

	for (int width = 80; width <= 400; width += 7) {
		char *dump = draw_all(snapshot, width);

		for (size_t i = 0; i < snapshot_nr_engine(snapshot); i++) {
			const struct engine_figure *figure = snapshot_engine(snapshot, i);

			if (!strstr(dump, figure->section) || !strstr(dump, figure->name) ||
			    !strstr(dump, figure->item))
				fail_msg("no %s/%s/%s at %d columns on:\n%s", figure->section,
					 figure->item, figure->name, width, dump);
		}
		assert_null(strstr(dump, "\u2026"));
		free(dump);
	}
	snapshot_put(snapshot);
}

static int nr_lines(const char *dump)
{
	int nr = 0;

	for (int y = 0; strchr(dump, '\n'); y++, dump = strchr(dump, '\n') + 1)
		if (*dump != '\n')
			nr = y + 1;
	return nr;
}

static void test_wide_screens_take_fewer_lines(void **state UNUSED)
{
	struct snapshot *snapshot = new_snapshot(2);
	char *narrow = draw_all(snapshot, 80);
	char *wide = draw_all(snapshot, 200);
	char *tiny = draw_all(snapshot, 20);

	assert_in_range(nr_lines(narrow), 20, 45);
	assert_in_range(nr_lines(wide), 10, 24);
	assert_true(nr_lines(tiny) > nr_lines(narrow));
	free(narrow);
	free(wide);
	free(tiny);
	snapshot_put(snapshot);
}

static void test_scrolling_stops_at_both_ends(void **state UNUSED)
{
	struct snapshot *snapshot = new_snapshot(40);
	char *all = draw_all(snapshot, 80);
	struct engine_view view = { 0 };
	int nr = nr_lines(all);
	char *dump;

	engine_view_move(&view, LONG_MIN);
	assert_int_equal(view.top, 0);
	engine_view_move(&view, LONG_MAX);
	dump = draw(&view, snapshot, 20, 80);
	assert_int_equal(view.top, nr - 20);
	assert_null(strstr(dump, "more lines"));
	free(dump);
	engine_view_move(&view, -1);
	dump = draw(&view, snapshot, 20, 80);
	assert_int_equal(view.top, nr - 21);
	assert_non_null(strstr(dump, " 1 more lines"));
	free(dump);
	/* On a screen that shows all there is nothing to scroll to. */
	free(draw(&view, snapshot, 200, 80));
	assert_int_equal(view.top, 0);
	engine_view_move(&view, -5);
	assert_int_equal(view.top, 0);
	free(all);
	snapshot_put(snapshot);
}

static void test_each_line_is_drawn_where_it_is_scrolled_to(void **state UNUSED)
{
	struct snapshot *snapshot = new_snapshot(12);
	char *all = draw_all(snapshot, 80);
	struct engine_view view = { 0 };

	for (int top = 0; top + 20 <= nr_lines(all); top++) {
		char *dump = draw(&view, snapshot, 20, 80);

		assert_int_equal(view.top, top);
		for (int y = 0; y < 19; y++) {
			char *expected = fixture_line(all, top + y);
			char *line = fixture_line(dump, y);

			assert_string_equal(line, expected);
			free(expected);
			free(line);
		}
		free(dump);
		engine_view_move(&view, 1);
	}
	free(all);
	snapshot_put(snapshot);
}

static void add(struct snapshot *snapshot, const char *name, double value, enum engine_unit unit)
{
	const struct engine_figure figure = { "odd", "", name, value, unit };

	snapshot_add_engine(snapshot, &figure);
}

static void test_values_that_are_none_are_a_dash(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	char *dump;

	add(snapshot, "a", NAN, ENGINE_COUNT);
	add(snapshot, "b", INFINITY, ENGINE_SECONDS);
	add(snapshot, "c", -1, ENGINE_BYTES);
	add(snapshot, "d", 1e300, ENGINE_BYTES);
	add(snapshot, "e", 1e300, ENGINE_SECONDS);
	add(snapshot, "f", 0.5, ENGINE_SHARE);
	add(snapshot, "g", 1500, ENGINE_RATE);
	add(snapshot, "h", 2e-7, ENGINE_SECONDS);
	dump = draw_all(snapshot, 80);
	assert_non_null(strstr(dump, "\na          -\nb          -\nc          -\n"));
	assert_non_null(strstr(dump, "50.0%\n"));
	assert_non_null(strstr(dump, "1.50k/s\n"));
	assert_non_null(strstr(dump, "200 ns\n"));
	free(dump);
	snapshot_put(snapshot);
}

static void test_nothing_to_show_is_fine(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	char *dump = draw_all(snapshot, 80);

	assert_int_equal(nr_lines(dump), 0);
	free(dump);
	snapshot_put(snapshot);
}

static void test_fc089_every_size_draws(void **state UNUSED)
{
	struct snapshot *snapshot = new_snapshot(17);

	for (int columns = 1; columns < 120; columns += 3) {
		for (int rows = 1; rows < 40; rows += 4) {
			struct engine_view view = { 0 };

			for (int i = 0; i < 4; i++) {
				free(draw(&view, snapshot, rows, columns));
				engine_view_move(&view, i ? LONG_MAX : 7);
			}
		}
	}
	snapshot_put(snapshot);
}

static void test_trouble_is_in_the_colour_of_warnings(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct screen *screen = screen_new(5, 40, true);
	struct engine_view view = { 0 };

	add(snapshot, "overwritten", 3, ENGINE_COUNT);
	add(snapshot, "lost", 0, ENGINE_COUNT);
	engine_view_draw(&view, snapshot, 0, screen, 0, 5);
	assert_int_equal(screen_row(screen, 1)[12].style, STYLE_WARN);
	assert_int_equal(screen_row(screen, 2)[12].style, STYLE_NORMAL);
	screen_free(screen);
	snapshot_put(snapshot);
}

/* ---- with keys ---- */

struct fixture {
	struct state view;
	struct snapshot *snapshot;
};

static struct state *set_up(struct fixture *fixture, size_t nr_readers)
{
	fixture_state(&fixture->view);
	fixture->snapshot = new_snapshot(nr_readers);
	state_show(&fixture->view, fixture->snapshot);
	fixture_key(&fixture->view, '9');
	return &fixture->view;
}

static void tear_down(struct fixture *fixture)
{
	state_release(&fixture->view);
	snapshot_put(fixture->snapshot);
}

static bool shows(struct state *view, const char *text)
{
	char *dump = fixture_draw(view, 60, 80, true);
	bool found = strstr(dump, text) != NULL;

	free(dump);
	return found;
}

static void test_views_are_reached_by_tab_and_by_number(void **state UNUSED)
{
	static const struct {
		uint32_t key;
		bool engine;
	} steps[] = { { '1', false },  { '\t', true },
		      { '\t', false }, { INPUT_BACK_TAB, true },
		      { '9', true },   { INPUT_BACK_TAB, false },
		      { '9', true },   { '1', false },
		      { '1', false } };
	struct fixture fixture;
	struct state *view = set_up(&fixture, 2);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		assert_int_equal(fixture_key(view, steps[i].key), UI_NONE);
		assert_int_equal(shows(view, "synthesizer"), steps[i].engine);
		assert_int_equal(shows(view, "copy_page_range"), !steps[i].engine);
	}
	for (uint32_t key = '2'; key <= '8'; key++) {
		fixture_key(view, key);
		assert_true(shows(view, "no such view yet"));
		assert_int_equal(view->view, VIEW_SYMBOLS);
	}
	tear_down(&fixture);
}

static void test_a_key_of_the_other_view_says_where_it_works(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture, 2);

	assert_int_equal(fixture_key(view, 'K'), UI_NONE);
	assert_true(shows(view, "key K is for the symbols view: 1 goes there"));
	assert_false(view->spec.hide_kernel);
	fixture_key(view, '1');
	assert_int_equal(fixture_key(view, '+'), UI_NONE);
	assert_true(shows(view, "key + is for the engine view: 9 goes there"));
	fixture_key(view, 'X');
	assert_true(shows(view, "key X does nothing here"));
	tear_down(&fixture);
}

static void test_moving_scrolls_this_view_only(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture, 60);

	free(fixture_draw(view, 24, 80, true));
	fixture_key(view, 'j');
	assert_int_equal(view->engine.top, 1);
	fixture_key(view, INPUT_PAGE_DOWN);
	assert_int_equal(view->engine.top, view->engine.nr_visible);
	fixture_key(view, 'G');
	free(fixture_draw(view, 24, 80, true));
	assert_true(view->engine.top > 60);
	fixture_key(view, INPUT_PAGE_UP);
	fixture_key(view, 'k');
	fixture_key(view, 'g');
	assert_int_equal(view->engine.top, 0);
	assert_int_equal(view->table.index, 0);
	fixture_key(view, '1');
	fixture_key(view, 'j');
	assert_int_equal(view->engine.top, 0);
	assert_int_equal(view->table.index, 1);
	tear_down(&fixture);
}

static void test_readers_are_more_and_fewer(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture, 2);
	struct ui_wish wish;

	/* Keys come faster than snapshots. */
	for (unsigned int nr = 3; nr < 6; nr++) {
		state_key(view, '+', 1, &wish);
		assert_int_equal(wish.action, UI_READERS);
		assert_int_equal(wish.nr_readers, nr);
	}
	for (unsigned int nr = 4; nr >= 1; nr--) {
		state_key(view, '-', 1, &wish);
		assert_int_equal(wish.action, UI_READERS);
		assert_int_equal(wish.nr_readers, nr);
	}
	assert_int_equal(fixture_key(view, '-'), UI_NONE);
	assert_true(shows(view, "one reader is the least"));
	snapshot_edit_header(fixture.snapshot)->nr_cpus_open = 2;
	assert_int_equal(fixture_key(view, '+'), UI_READERS);
	assert_int_equal(fixture_key(view, '+'), UI_NONE);
	assert_true(shows(view, "a reader for each CPU already"));
	tear_down(&fixture);
}

static void test_before_the_first_snapshot_nothing_is_tuned(void **state UNUSED)
{
	struct state view;

	fixture_state(&view);
	fixture_key(&view, '9');
	assert_int_equal(fixture_key(&view, '+'), UI_NONE);
	assert_int_equal(fixture_key(&view, '-'), UI_NONE);
	assert_int_equal(fixture_key(&view, ']'), UI_NONE);
	assert_int_equal(fixture_key(&view, 'j'), UI_NONE);
	assert_true(shows(&view, "opening events"));
	assert_int_equal(fixture_key(&view, 'S'), UI_RESCAN);
	state_release(&view);
}

static void test_workers_of_the_next_scan_are_chosen(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture, 2);
	struct ui_wish wish;

	assert_true(shows(view, "next scan") && shows(view, "adaptive\n"));
	fixture_key(view, '[');
	assert_int_equal(view->nr_scan_workers, 0);
	state_key(view, 'S', 1, &wish);
	assert_int_equal(wish.action, UI_RESCAN);
	assert_int_equal(wish.nr_scan_workers, 0);
	/* From what adaptive came to, eleven, upwards. */
	assert_int_equal(fixture_key(view, ']'), UI_NONE);
	assert_int_equal(view->nr_scan_workers, 12);
	assert_true(shows(view, "the next scan (S) has 12 workers"));
	for (int i = 0; i < 100; i++)
		fixture_key(view, ']');
	assert_int_equal(view->nr_scan_workers, 64);
	for (int i = 0; i < 63; i++)
		fixture_key(view, '[');
	assert_true(shows(view, "the next scan (S) has 1 worker\n"));
	state_key(view, 'S', 1, &wish);
	assert_int_equal(wish.nr_scan_workers, 1);
	fixture_key(view, '[');
	assert_true(shows(view, "chooses the number of its workers"));
	tear_down(&fixture);
}

static void show_scan(struct state *view, uint64_t nr_scans, bool finished)
{
	struct snapshot *snapshot = new_snapshot(2);
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	header->nr_scans = nr_scans;
	header->scan_finished = finished;
	header->scan_ns = 6500 * NSEC_PER_USEC;
	header->scan_workers = 3;
	state_show(view, snapshot);
	snapshot_put(snapshot);
}

static void test_the_end_of_a_scan_that_was_asked_for_is_told(void **state UNUSED)
{
	static const char *const told = "scanned 5083 processes in 6.5 ms with 3 workers";
	struct fixture fixture;
	struct state *view = set_up(&fixture, 2);

	show_scan(view, 1, true);
	assert_false(shows(view, told));
	fixture_key(view, 'S');
	assert_true(shows(view, "scanning /proc..."));
	show_scan(view, 1, true); /* made before the key */
	show_scan(view, 2, false);
	assert_false(shows(view, told));
	show_scan(view, 2, true);
	assert_true(shows(view, told));
	fixture_key(view, 'j');
	show_scan(view, 2, true);
	assert_false(shows(view, told));
	/* Twice in a row: the second is the one whose end counts; also while paused. */
	fixture_key(view, ' ');
	fixture_key(view, 'S');
	fixture_key(view, 'S');
	show_scan(view, 3, true);
	assert_false(shows(view, told));
	show_scan(view, 4, true);
	assert_true(shows(view, told));
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_figure_is_there_from_80_columns_on),
		cmocka_unit_test(test_wide_screens_take_fewer_lines),
		cmocka_unit_test(test_scrolling_stops_at_both_ends),
		cmocka_unit_test(test_each_line_is_drawn_where_it_is_scrolled_to),
		cmocka_unit_test(test_values_that_are_none_are_a_dash),
		cmocka_unit_test(test_nothing_to_show_is_fine),
		cmocka_unit_test(test_fc089_every_size_draws),
		cmocka_unit_test(test_trouble_is_in_the_colour_of_warnings),
		cmocka_unit_test(test_views_are_reached_by_tab_and_by_number),
		cmocka_unit_test(test_a_key_of_the_other_view_says_where_it_works),
		cmocka_unit_test(test_moving_scrolls_this_view_only),
		cmocka_unit_test(test_readers_are_more_and_fewer),
		cmocka_unit_test(test_before_the_first_snapshot_nothing_is_tuned),
		cmocka_unit_test(test_workers_of_the_next_scan_are_chosen),
		cmocka_unit_test(test_the_end_of_a_scan_that_was_asked_for_is_told),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
