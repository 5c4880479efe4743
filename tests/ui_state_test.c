/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys, prompts, pages and wishes, without a terminal. */
#include "config.h"

#include "ui/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/ui_fixture.h"
#include "ui/input.h"

struct fixture {
	struct state view;
	struct snapshot *snapshot;
};

static struct state *set_up(struct fixture *fixture)
{
	fixture_state(&fixture->view);
	fixture->snapshot = fixture_snapshot(NULL);
	state_show(&fixture->view, fixture->snapshot);
	return &fixture->view;
}

static void tear_down(struct fixture *fixture)
{
	state_release(&fixture->view);
	snapshot_put(fixture->snapshot);
}

static void assert_shows(struct state *view, const char *text)
{
	char *dump = fixture_draw(view, 24, 80, true);

	if (!strstr(dump, text))
		fail_msg("no \"%s\" on:\n%s", text, dump);
	free(dump);
}

static void assert_hides(struct state *view, const char *text)
{
	char *dump = fixture_draw(view, 24, 80, true);

	if (strstr(dump, text))
		fail_msg("\"%s\" on:\n%s", text, dump);
	free(dump);
}

static uint64_t selected(struct state *view)
{
	return table_selected(&view->table, view->shown)->id;
}

static void test_quit_keys_quit_from_everywhere(void **state UNUSED)
{
	static const uint32_t doors[] = { 'h', INPUT_ENTER, 'w', INPUT_F1 + 5 };
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	assert_int_equal(fixture_key(view, 'q'), UI_QUIT);
	assert_int_equal(fixture_key(view, INPUT_F1 + 9), UI_QUIT);
	assert_int_equal(fixture_key(view, INPUT_CTRL('C')), UI_QUIT);
	for (size_t i = 0; i < ARRAY_SIZE(doors); i++) {
		fixture_key(view, doors[i]);
		assert_int_not_equal(view->mode, MODE_TABLE);
		assert_int_equal(fixture_key(view, INPUT_CTRL('C')), UI_QUIT);
		/* q leaves the page, a second one the program. */
		assert_int_not_equal(fixture_key(view, 'q'), UI_QUIT);
		assert_int_equal(fixture_key(view, 'q'), UI_QUIT);
	}
	fixture_key(view, '/');
	assert_int_equal(fixture_key(view, INPUT_F1 + 9), UI_QUIT);
	tear_down(&fixture);
}

static void test_unknown_keys_say_so(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	assert_int_equal(fixture_key(view, 'X'), UI_NONE);
	assert_shows(view, "key X does nothing here; ? for help");
	fixture_key(view, INPUT_UNKNOWN);
	assert_shows(view, "that key does nothing here");
	fixture_key(view, 'j');
	assert_hides(view, "does nothing");
	tear_down(&fixture);
}

static void test_messages_time_out_by_the_clock(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	state_message(view, NOTE_WARN, "cannot write\ntry elsewhere\033[2J", 1000);
	assert_shows(view, "cannot write try elsewhere\\x1b[2J");
	assert_false(state_expire(view, 1000 + NSEC_PER_SEC));
	assert_true(state_expire(view, 1000 + 60 * NSEC_PER_SEC));
	assert_false(state_expire(view, 1000 + 61 * NSEC_PER_SEC));
	assert_hides(view, "cannot write");
	tear_down(&fixture);
}

static void test_pause_holds_the_screen_and_goes_on_with_the_newest(void **state UNUSED)
{
	struct snapshot *second = fixture_many(3, false);
	struct snapshot *third = fixture_many(4, false);
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, ' ');
	assert_shows(view, "PAUSED");
	state_show(view, second);
	state_show(view, third);
	assert_ptr_equal(view->shown, fixture.snapshot);
	assert_shows(view, "copy_page_range");
	fixture_key(view, 'Z');
	assert_ptr_equal(view->shown, third);
	assert_hides(view, "PAUSED");
	snapshot_put(second);
	snapshot_put(third);
	tear_down(&fixture);
}

static void test_a_change_while_paused_says_when_it_shows(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, ' ');
	assert_int_equal(fixture_key(view, 'K'), UI_SPEC);
	assert_shows(view, "the change shows when the screen goes on");
	tear_down(&fixture);
}

static void test_paused_before_the_first_snapshot_still_shows_it(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct state view;

	fixture_state(&view);
	fixture_key(&view, ' ');
	state_show(&view, snapshot);
	assert_shows(&view, "copy_page_range");
	state_release(&view);
	snapshot_put(snapshot);
}

static void test_filter_prompt_is_prefilled_and_wishes(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	struct ui_wish wish;

	fixture_key(view, '\\');
	fixture_type(view, "comm=crowd");
	assert_shows(view, "Filter: comm=crowd");
	state_key(view, INPUT_ENTER, 1, &wish);
	assert_int_equal(wish.action, UI_SPEC);
	assert_string_equal(wish.spec.filter, "comm=crowd");
	fixture_key(view, INPUT_F1 + 3);
	assert_shows(view, "Filter: comm=crowd");
	fixture_type(view, "x");
	assert_int_equal(fixture_key(view, INPUT_ESCAPE), UI_NONE);
	assert_string_equal(view->spec.filter, "comm=crowd");
	/* Esc in the table clears it, and then has nothing to do. */
	state_key(view, INPUT_ESCAPE, 1, &wish);
	assert_int_equal(wish.action, UI_SPEC);
	assert_string_equal(wish.spec.filter, "");
	assert_int_equal(fixture_key(view, INPUT_ESCAPE), UI_NONE);
	tear_down(&fixture);
}

static void test_zoom_adds_to_the_filter(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	assert_int_equal(fixture_key(view, 'd'), UI_SPEC);
	assert_string_equal(view->spec.filter, "dso=crowd");
	assert_int_equal(fixture_key(view, 't'), UI_SPEC);
	assert_string_equal(view->spec.filter, "dso=crowd comm=crowd");
	snprintf(view->spec.filter, sizeof(view->spec.filter), "a|b");
	fixture_key(view, 'd');
	assert_string_equal(view->spec.filter, "(a|b) dso=crowd");
	memset(view->spec.filter, 'x', 250);
	view->spec.filter[250] = '\0';
	assert_int_equal(fixture_key(view, 'd'), UI_NONE);
	assert_shows(view, "too long");
	tear_down(&fixture);
}

static void test_zoom_quotes_names_and_prefers_numbers(void **state UNUSED)
{
	struct fixture_row from = { 1, 0.5, "my (odd) \"name\"", "a b", "s", LEVEL_USER };
	struct snapshot *snapshot;
	struct view_spec spec;
	struct state view;

	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	fixture_add_row(snapshot, &from);
	fixture_state(&view);
	state_show(&view, snapshot);
	fixture_key(&view, 't');
	assert_string_equal(view.spec.filter, "comm=\"my (odd) \\\"name\\\"\"");
	view.spec.filter[0] = '\0';
	fixture_key(&view, 'd');
	assert_string_equal(view.spec.filter, "dso=\"a b\"");
	view.spec.filter[0] = '\0';
	snapshot_add_row(snapshot)->tid = 77;
	fixture_key(&view, 'j');
	fixture_key(&view, 't');
	assert_string_equal(view.spec.filter, "tid=77");
	state_release(&view);
	snapshot_put(snapshot);
}

static void test_search_moves_while_typing(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, '/');
	fixture_type(view, "kern");
	assert_int_equal(selected(view), 2);
	fixture_key(view, INPUT_ENTER);
	assert_int_equal(selected(view), 2);
	fixture_key(view, 'n');
	assert_int_equal(selected(view), 6);
	fixture_key(view, 'N');
	assert_int_equal(selected(view), 2);
	fixture_key(view, '/');
	fixture_type(view, "java");
	assert_int_equal(selected(view), 5);
	fixture_key(view, INPUT_ESCAPE); /* back to where it began */
	assert_int_equal(selected(view), 2);
	fixture_key(view, '/');
	fixture_key(view, INPUT_ENTER); /* the last text again */
	assert_int_equal(selected(view), 6);
	fixture_key(view, '/');
	fixture_type(view, "nowhere");
	fixture_key(view, INPUT_ENTER);
	assert_int_equal(selected(view), 6);
	assert_shows(view, "no row has \"nowhere\"");
	tear_down(&fixture);
}

static void test_fc086_selection_follows_across_snapshots(void **state UNUSED)
{
	struct snapshot *second = fixture_many(8, false);
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, 'j');
	fixture_key(view, 'j');
	assert_int_equal(selected(view), 3);
	state_show(view, second);
	assert_int_equal(selected(view), 3);
	snapshot_put(second);
	tear_down(&fixture);
}

static void test_refresh_prompt_takes_fractions_and_refuses_nonsense(void **state UNUSED)
{
	static const char *const bad[] = { "abc", "0.05", "nan", "inf", "-1", "1e9", "2 3", "1x" };
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	struct ui_wish wish;

	fixture_key(view, 's');
	assert_shows(view, "Seconds between refreshes: 2");
	fixture_key(view, INPUT_CTRL('U'));
	fixture_type(view, "0.25");
	state_key(view, INPUT_ENTER, 1, &wish);
	assert_int_equal(wish.action, UI_REFRESH);
	assert_int_equal(wish.refresh_ns, NSEC_PER_SEC / 4);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		fixture_key(view, 's');
		fixture_key(view, INPUT_CTRL('U'));
		fixture_type(view, bad[i]);
		assert_int_equal(fixture_key(view, INPUT_ENTER), UI_NONE);
		assert_shows(view, "a number from 0.1 to");
	}
	tear_down(&fixture);
}

static void test_limit_prompt_sets_and_clears(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, 'L');
	fixture_type(view, "0.5");
	assert_int_equal(fixture_key(view, INPUT_ENTER), UI_SPEC);
	assert_true(view->spec.percent_limit > 0.49 && view->spec.percent_limit < 0.51);
	fixture_key(view, 'L');
	fixture_key(view, INPUT_CTRL('U'));
	assert_int_equal(fixture_key(view, INPUT_ENTER), UI_SPEC);
	assert_true(view->spec.percent_limit == 0);
	tear_down(&fixture);
}

static void test_sort_keys_walk_along_the_columns(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	assert_int_equal(fixture_key(view, '<'), UI_NONE); /* the first already */
	assert_int_equal(fixture_key(view, '>'), UI_SPEC);
	assert_int_equal(view->spec.order, ORDER_SAMPLES);
	fixture_key(view, '>');
	fixture_key(view, '>');
	assert_int_equal(view->spec.order, ORDER_KEY);
	assert_int_equal(view->spec.order_key, SORT_COMM);
	fixture_key(view, '<');
	assert_int_equal(view->spec.order, ORDER_PERIOD);
	assert_int_equal(fixture_key(view, 'I'), UI_SPEC);
	assert_true(view->spec.inverted);
	tear_down(&fixture);
}

static void test_sort_menu_lists_the_columns(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, INPUT_F1 + 5);
	assert_shows(view, "Sort by");
	assert_shows(view, "> OVERHEAD");
	fixture_key(view, 'j');
	fixture_key(view, 'j');
	fixture_key(view, INPUT_DOWN);
	assert_shows(view, "> COMM");
	assert_int_equal(fixture_key(view, INPUT_ENTER), UI_SPEC);
	assert_int_equal(view->spec.order, ORDER_KEY);
	assert_int_equal(view->spec.order_key, SORT_COMM);
	assert_int_equal(view->mode, MODE_TABLE);
	fixture_key(view, INPUT_F1 + 5);
	assert_int_equal(fixture_key(view, INPUT_ESCAPE), UI_NONE);
	assert_int_equal(view->mode, MODE_TABLE);
	tear_down(&fixture);
}

static void test_window_menu_wishes(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	struct ui_wish wish;

	fixture_key(view, 'w');
	assert_shows(view, "> the last 10 s");
	fixture_key(view, 'k');
	assert_int_equal(fixture_key(view, INPUT_ENTER), UI_SPEC);
	assert_int_equal(view->spec.window, VIEW_WINDOW_TICK);
	fixture_key(view, 'w');
	fixture_key(view, 'j');
	fixture_key(view, 'j');
	fixture_key(view, INPUT_ENTER);
	fixture_type(view, "2.5");
	assert_int_equal(fixture_key(view, INPUT_ENTER), UI_SPEC);
	assert_int_equal(view->spec.window, VIEW_WINDOW_TIME);
	assert_int_equal(view->spec.window_ns, NSEC_PER_SEC * 5 / 2);
	fixture_key(view, 'w');
	for (int i = 0; i < 10; i++)
		fixture_key(view, 'j');
	state_key(view, INPUT_ENTER, 1, &wish);
	assert_int_equal(wish.action, UI_ZERO_EACH);
	assert_true(wish.zero_each);
	assert_shows(view, "zeroed each");
	tear_down(&fixture);
}

static void test_hiding_one_level_shows_the_other(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	assert_int_equal(fixture_key(view, 'K'), UI_SPEC);
	assert_true(view->spec.hide_kernel && !view->spec.hide_user);
	fixture_key(view, 'U');
	assert_true(!view->spec.hide_kernel && view->spec.hide_user);
	fixture_key(view, 'U');
	assert_true(!view->spec.hide_kernel && !view->spec.hide_user);
	tear_down(&fixture);
}

static void test_simple_keys_wish(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	struct ui_wish wish;

	assert_int_equal(fixture_key(view, 'z'), UI_ZERO);
	assert_int_equal(fixture_key(view, INPUT_CTRL('Z')), UI_SUSPEND);
	assert_int_equal(fixture_key(view, 'i'), UI_SPEC);
	assert_true(view->spec.show_idle);
	assert_int_equal(fixture_key(view, '%'), UI_SPEC);
	assert_true(view->spec.relative);
	assert_int_equal(fixture_key(view, INPUT_CTRL('L')), UI_NONE);
	assert_true(view->redraw);
	fixture_key(view, 'P');
	state_key(view, INPUT_ENTER, 1, &wish);
	assert_int_equal(wish.action, UI_WRITE);
	assert_string_equal(wish.path, "symtop.txt");
	tear_down(&fixture);
}

static void test_events_go_round_with_all_of_them_between(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	assert_int_equal(fixture_key(view, '.'), UI_NONE);
	assert_shows(view, "only one event");
	snapshot_add_event(fixture.snapshot, "cycles", 1);
	snapshot_add_event(fixture.snapshot, "faults", 1);
	assert_int_equal(fixture_key(view, '.'), UI_SPEC);
	assert_int_equal(view->spec.event, 0);
	fixture_key(view, '.');
	assert_int_equal(view->spec.event, 1);
	fixture_key(view, '.');
	assert_int_equal(view->spec.event, -1);
	fixture_key(view, ',');
	assert_int_equal(view->spec.event, 1);
	tear_down(&fixture);
}

static void test_children_need_chains(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	assert_int_equal(fixture_key(view, 'c'), UI_NONE);
	assert_shows(view, "start with -g");
	snapshot_edit_header(fixture.snapshot)->has_chains = true;
	assert_int_equal(fixture_key(view, 'c'), UI_SPEC);
	assert_true(view->spec.children);
	assert_int_equal(view->spec.order, ORDER_CHILDREN);
	fixture_key(view, 'c');
	assert_int_equal(view->spec.order, ORDER_SELF);
	tear_down(&fixture);
}

static void test_detail_follows_its_row_and_says_when_it_is_gone(void **state UNUSED)
{
	struct snapshot *without = fixture_many(1, false);
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, INPUT_END);
	for (int i = 0; i < 3; i++)
		fixture_key(view, INPUT_UP);
	fixture_key(view, INPUT_ENTER);
	assert_shows(view, "PhaseIdealLoop::build_loop_late_post(Node*, bool)");
	assert_shows(view, "libjvm.so");
	state_show(view, without);
	assert_shows(view, "PhaseIdealLoop::build_loop_late_post(Node*, bool)");
	assert_shows(view, "No samples in the window now");
	state_show(view, fixture.snapshot);
	assert_hides(view, "No samples");
	fixture_key(view, INPUT_ESCAPE);
	assert_int_equal(view->mode, MODE_TABLE);
	snapshot_put(without);
	tear_down(&fixture);
}

static void test_detail_asks_for_chains_and_shows_them(void **state UNUSED)
{
	static const char *const frames[] = { "leaf", "caller", "[libx.so]+0x1234" };
	static const bool kernel[] = { true, false, false };
	struct snapshot *with;
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	struct row *row;

	snapshot_edit_header(fixture.snapshot)->has_chains = true;
	assert_int_equal(fixture_key(view, INPUT_ENTER), UI_SPEC);
	assert_true(view->spec.chains);
	with = snapshot_new(&view->spec);
	fixture_fill_header(with);
	snapshot_edit_header(with)->has_chains = true;
	row = fixture_add_row(with, &fixture_rows[0]);
	snapshot_add_chain(with, row, frames, kernel, 3, 100, row->period / 2);
	state_show(view, with);
	assert_shows(view, "50.0%  100 samples");
	assert_shows(view, "[k] leaf");
	assert_shows(view, "[.] [libx.so]+0x1234");
	assert_int_equal(fixture_key(view, 'q'), UI_SPEC);
	assert_false(view->spec.chains);
	snapshot_put(with);
	tear_down(&fixture);
}

static void test_help_shows_the_notes_in_full(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	char *narrow;

	snapshot_add_note(fixture.snapshot, NOTE_WARN,
			  "reading takes 1.3 s of 2.0 s: -d 4, -F 1000 or --readers 4");
	fixture_key(view, '?');
	narrow = fixture_draw(view, 24, 40, true);
	assert_non_null(strstr(narrow, "  ! reading takes 1.3 s of 2.0 s: -d 4,\n"));
	assert_non_null(strstr(narrow, "-F 1000 or --readers 4"));
	free(narrow);
	fixture_key(view, INPUT_END);
	assert_shows(view, "red bold");
	fixture_key(view, 'h');
	assert_int_equal(view->mode, MODE_TABLE);
	tear_down(&fixture);
}

static void test_a_paste_outside_a_prompt_is_ignored(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, INPUT_PASTE_BEGIN);
	assert_int_equal(fixture_key(view, 'q'), UI_NONE);
	assert_int_equal(fixture_key(view, 'z'), UI_NONE);
	fixture_key(view, INPUT_PASTE_END);
	assert_int_equal(fixture_key(view, 'q'), UI_QUIT);
	fixture_key(view, INPUT_PASTE_BEGIN); /* whose end never comes */
	assert_int_equal(fixture_key(view, INPUT_CTRL('C')), UI_QUIT);
	tear_down(&fixture);
}

static void test_fc089_every_size_draws_every_page(void **state UNUSED)
{
	static const int sizes[][2] = {
		{ 1, 1 },   { 2, 5 },  { 3, 10 },  { 10, 38 }, { 24, 1 },
		{ 1, 200 }, { 5, 20 }, { 24, 80 }, { 0, 0 },   { 500, 1000 }
	};
	static const uint32_t pages[] = { 'j', 'h', INPUT_ENTER, 'w', '/', '\\', 'X', ' ' };
	struct snapshot *empty = fixture_many(0, false);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t page = 0; page < ARRAY_SIZE(pages); page++) {
			struct fixture fixture;
			struct state *view = set_up(&fixture);

			snapshot_add_note(fixture.snapshot, NOTE_WARN, "advice");
			fixture_key(view, pages[page]);
			free(fixture_draw(view, sizes[i][0], sizes[i][1], true));
			state_show(view, empty);
			free(fixture_draw(view, sizes[i][0], sizes[i][1], false));
			tear_down(&fixture);
		}
	}
	snapshot_put(empty);
}

static void test_fc089_one_line_shows_the_hottest_row_or_the_prompt(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	char *dump = fixture_draw(view, 1, 40, true);

	assert_non_null(strstr(dump, "26.72% crowd"));
	free(dump);
	fixture_key(view, '/');
	dump = fixture_draw(view, 1, 40, true);
	assert_non_null(strstr(dump, "Search:"));
	free(dump);
	tear_down(&fixture);
}

static void test_the_first_row_is_there_with_the_first_snapshot(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct state view;

	fixture_state(&view);
	assert_shows(&view, "opening events");
	snapshot_edit_header(snapshot)->scan_finished = false;
	state_show(&view, snapshot);
	assert_shows(&view, "26.72%");
	assert_shows(&view, "scanning 5083/5083");
	state_release(&view);
	snapshot_put(snapshot);
}

static void test_nothing_is_drawn_outside_the_ascii_range_without_utf8(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	static const uint32_t pages[] = { 'j', 'h', INPUT_ESCAPE, INPUT_ENTER, INPUT_ESCAPE, 'w' };

	for (size_t page = 0; page < ARRAY_SIZE(pages); page++) {
		char *dump;

		fixture_key(view, pages[page]);
		dump = fixture_draw(view, 50, 80, false);
		for (const char *c = dump; *c; c++)
			assert_true(*c == '\n' || (*c >= 0x20 && *c < 0x7f));
		free(dump);
	}
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quit_keys_quit_from_everywhere),
		cmocka_unit_test(test_unknown_keys_say_so),
		cmocka_unit_test(test_messages_time_out_by_the_clock),
		cmocka_unit_test(test_pause_holds_the_screen_and_goes_on_with_the_newest),
		cmocka_unit_test(test_a_change_while_paused_says_when_it_shows),
		cmocka_unit_test(test_paused_before_the_first_snapshot_still_shows_it),
		cmocka_unit_test(test_filter_prompt_is_prefilled_and_wishes),
		cmocka_unit_test(test_zoom_adds_to_the_filter),
		cmocka_unit_test(test_zoom_quotes_names_and_prefers_numbers),
		cmocka_unit_test(test_search_moves_while_typing),
		cmocka_unit_test(test_fc086_selection_follows_across_snapshots),
		cmocka_unit_test(test_refresh_prompt_takes_fractions_and_refuses_nonsense),
		cmocka_unit_test(test_limit_prompt_sets_and_clears),
		cmocka_unit_test(test_sort_keys_walk_along_the_columns),
		cmocka_unit_test(test_sort_menu_lists_the_columns),
		cmocka_unit_test(test_window_menu_wishes),
		cmocka_unit_test(test_hiding_one_level_shows_the_other),
		cmocka_unit_test(test_simple_keys_wish),
		cmocka_unit_test(test_events_go_round_with_all_of_them_between),
		cmocka_unit_test(test_children_need_chains),
		cmocka_unit_test(test_detail_follows_its_row_and_says_when_it_is_gone),
		cmocka_unit_test(test_detail_asks_for_chains_and_shows_them),
		cmocka_unit_test(test_help_shows_the_notes_in_full),
		cmocka_unit_test(test_a_paste_outside_a_prompt_is_ignored),
		cmocka_unit_test(test_fc089_every_size_draws_every_page),
		cmocka_unit_test(test_fc089_one_line_shows_the_hottest_row_or_the_prompt),
		cmocka_unit_test(test_the_first_row_is_there_with_the_first_snapshot),
		cmocka_unit_test(test_nothing_is_drawn_outside_the_ascii_range_without_utf8),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
