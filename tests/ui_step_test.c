/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stepping through time while the screen holds; the engine is played by answer(). */
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

#define SEC NSEC_PER_SEC

struct engine {
	struct state view;
	struct view_spec asked; /* the last one */
	uint64_t first, last;	/* slots that there are end at these seconds */
	uint64_t nr_dropped;
};

/* A snapshot for @spec, as the collector makes it; its only row is called as its moment. */
static struct snapshot *answer(const struct engine *engine, const struct view_spec *spec)
{
	struct snapshot *snapshot = snapshot_new(spec);
	struct snapshot_header *header;
	struct fixture_row row = { 1, 0.5, "crowd", "crowd", NULL, LEVEL_USER };
	char name[32];

	fixture_fill_header(snapshot);
	header = snapshot_edit_header(snapshot);
	for (uint64_t end = engine->first; end <= engine->last; end++) {
		snapshot_add_slot(snapshot, end * SEC);
		if (!spec->end_ns || end * SEC <= spec->end_ns)
			header->window_end_ns = end * SEC;
	}
	header->time_ns = engine->last * SEC + SEC / 2;
	header->nr_slots_dropped = engine->nr_dropped;
	snprintf(name, sizeof(name), "at_%u", (unsigned int)(header->window_end_ns / SEC));
	row.symbol = name;
	if (header->window_end_ns)
		fixture_add_row(snapshot, &row);
	return snapshot;
}

/* The engine answers what it was asked last. */
static void show(struct engine *engine)
{
	struct snapshot *snapshot = answer(engine, &engine->asked);

	state_show(&engine->view, snapshot);
	snapshot_put(snapshot);
}

/* Slots that end at 10 to 20 s, the screen is at 20. */
static struct state *set_up(struct engine *engine)
{
	*engine = (struct engine){ .first = 10, .last = 20 };
	fixture_state(&engine->view);
	engine->asked = engine->view.spec;
	show(engine);
	return &engine->view;
}

static enum ui_action key(struct engine *engine, uint32_t code)
{
	struct ui_wish wish;

	state_key(&engine->view, code, 1, &wish);
	if (wish.action == UI_SPEC)
		engine->asked = wish.spec;
	return wish.action;
}

static void assert_shows(struct engine *engine, const char *text)
{
	char *dump = fixture_draw(&engine->view, 24, 80, true);

	if (!strstr(dump, text))
		fail_msg("no \"%s\" on:\n%s", text, dump);
	free(dump);
}

static void assert_hides(struct engine *engine, const char *text)
{
	char *dump = fixture_draw(&engine->view, 24, 80, true);

	if (strstr(dump, text))
		fail_msg("\"%s\" on:\n%s", text, dump);
	free(dump);
}

static void test_while_paused_left_shows_the_slot_before(void **state UNUSED)
{
	struct engine engine;

	set_up(&engine);
	assert_shows(&engine, "at_20");
	key(&engine, ' ');
	assert_int_equal(key(&engine, INPUT_LEFT), UI_SPEC);
	assert_true(engine.asked.end_ns == 19 * SEC);
	assert_shows(&engine, "at_20");
	show(&engine);
	assert_shows(&engine, "at_19");
	assert_shows(&engine, "window 10 s ending 1.5 s ago");
	assert_shows(&engine, "PAUSED");
	assert_int_equal(key(&engine, INPUT_RIGHT), UI_SPEC);
	show(&engine);
	assert_shows(&engine, "at_20");
	state_release(&engine.view);
}

static void test_unless_paused_the_arrows_shift_names(void **state UNUSED)
{
	struct engine engine;

	set_up(&engine);
	assert_int_equal(key(&engine, INPUT_RIGHT), UI_NONE);
	assert_true(engine.view.table.scroll > 0);
	assert_int_equal(key(&engine, INPUT_LEFT), UI_NONE);
	assert_int_equal(engine.view.table.scroll, 0);
	assert_int_equal(key(&engine, '{'), UI_NONE);
	assert_shows(&engine, "Space pauses first");
	state_release(&engine.view);
}

static void test_steps_add_up_before_an_answer_comes(void **state UNUSED)
{
	struct engine engine;

	set_up(&engine);
	key(&engine, ' ');
	for (int i = 0; i < 4; i++)
		key(&engine, INPUT_LEFT);
	key(&engine, INPUT_RIGHT);
	assert_true(engine.asked.end_ns == 17 * SEC);
	show(&engine);
	assert_shows(&engine, "at_17");
	state_release(&engine.view);
}

static void test_answers_to_earlier_questions_are_not_shown(void **state UNUSED)
{
	struct view_spec before;
	struct snapshot *late;
	struct engine engine;

	set_up(&engine);
	key(&engine, ' ');
	key(&engine, INPUT_LEFT);
	show(&engine);
	before = engine.asked;
	key(&engine, INPUT_LEFT);
	late = answer(&engine, &before);
	show(&engine);
	state_show(&engine.view, late);
	snapshot_put(late);
	assert_shows(&engine, "at_18");
	state_release(&engine.view);
}

static void test_the_oldest_slot_is_the_end(void **state UNUSED)
{
	struct engine engine;

	set_up(&engine);
	key(&engine, ' ');
	assert_int_equal(key(&engine, '{'), UI_SPEC);
	assert_true(engine.asked.end_ns == 10 * SEC);
	show(&engine);
	assert_shows(&engine, "at_10");
	assert_int_equal(key(&engine, INPUT_LEFT), UI_NONE);
	assert_shows(&engine, "there is nothing older");
	assert_int_equal(key(&engine, '{'), UI_NONE);
	/* Meanwhile two more are dropped: that one is shown, but is none of those kept. */
	engine.first = 12;
	engine.nr_dropped = 2;
	show(&engine);
	assert_shows(&engine, "at_10");
	assert_int_equal(key(&engine, INPUT_LEFT), UI_NONE);
	assert_shows(&engine, "older slots are gone");
	assert_int_equal(key(&engine, INPUT_RIGHT), UI_SPEC);
	assert_true(engine.asked.end_ns == 12 * SEC);
	state_release(&engine.view);
}

static void test_slots_that_come_while_paused_can_be_stepped_to(void **state UNUSED)
{
	struct engine engine;

	set_up(&engine);
	key(&engine, ' ');
	assert_int_equal(key(&engine, INPUT_RIGHT), UI_NONE);
	assert_shows(&engine, "there is nothing newer: Space goes on");
	engine.last = 22;
	show(&engine);
	assert_shows(&engine, "at_20");
	assert_int_equal(key(&engine, INPUT_RIGHT), UI_SPEC);
	assert_true(engine.asked.end_ns == 21 * SEC);
	show(&engine);
	assert_shows(&engine, "at_21");
	engine.last = 25;
	show(&engine);
	assert_int_equal(key(&engine, '}'), UI_SPEC);
	show(&engine);
	assert_shows(&engine, "at_25");
	state_release(&engine.view);
}

static void test_leaving_pause_returns_to_now(void **state UNUSED)
{
	struct view_spec before;
	struct snapshot *late;
	struct engine engine;

	set_up(&engine);
	key(&engine, ' ');
	key(&engine, '{');
	show(&engine);
	before = engine.asked;
	assert_int_equal(key(&engine, ' '), UI_SPEC);
	assert_true(!engine.asked.end_ns);
	assert_hides(&engine, "PAUSED");
	late = answer(&engine, &before);
	engine.last = 23;
	show(&engine);
	state_show(&engine.view, late);
	snapshot_put(late);
	assert_shows(&engine, "at_23");
	assert_shows(&engine, "refresh 2.0 s");
	assert_hides(&engine, "ago");
	/* Without a step the engine need not be asked. */
	key(&engine, ' ');
	assert_int_equal(key(&engine, ' '), UI_NONE);
	state_release(&engine.view);
}

static void test_a_moment_that_was_given_up_leaves_the_screen_as_it_is(void **state UNUSED)
{
	struct engine engine;

	set_up(&engine);
	key(&engine, ' ');
	key(&engine, '{');
	engine.first = 11;
	engine.nr_dropped = 1;
	show(&engine);
	assert_shows(&engine, "at_20");
	assert_shows(&engine, "that time is gone: older slots are not kept");
	/* Said once, not with each refresh. */
	key(&engine, 'j');
	show(&engine);
	assert_hides(&engine, "that time is gone");
	assert_shows(&engine, "at_20");
	state_release(&engine.view);
}

static void test_all_forgotten_holds_what_is_shown(void **state UNUSED)
{
	struct engine engine;

	set_up(&engine);
	key(&engine, ' ');
	key(&engine, INPUT_LEFT);
	show(&engine);
	assert_int_equal(key(&engine, 'z'), UI_ZERO);
	engine.first = 1;
	engine.last = 0;
	show(&engine);
	assert_shows(&engine, "at_19");
	assert_int_equal(key(&engine, INPUT_LEFT), UI_NONE);
	assert_shows(&engine, "there is nothing older");
	assert_int_equal(key(&engine, '}'), UI_NONE);
	state_release(&engine.view);
}

static void test_filters_show_at_once_where_one_stepped_to(void **state UNUSED)
{
	struct engine engine;

	set_up(&engine);
	key(&engine, ' ');
	key(&engine, INPUT_LEFT);
	show(&engine);
	assert_int_equal(key(&engine, 'K'), UI_SPEC);
	assert_true(engine.asked.hide_kernel && engine.asked.end_ns == 19 * SEC);
	assert_hides(&engine, "when the screen goes on");
	show(&engine);
	assert_shows(&engine, "kernel hidden");
	assert_shows(&engine, "at_19");
	state_release(&engine.view);
}

static void test_before_the_first_samples_there_is_no_time(void **state UNUSED)
{
	struct engine engine = { .first = 1 };

	fixture_state(&engine.view);
	key(&engine, ' ');
	assert_int_equal(key(&engine, INPUT_LEFT), UI_NONE);
	assert_shows(&engine, "no samples yet to step through");
	engine.asked = engine.view.spec;
	show(&engine);
	assert_int_equal(key(&engine, '}'), UI_NONE);
	assert_shows(&engine, "no samples yet to step through");
	state_release(&engine.view);
}

/* ---- what the first line says ---- */

static void assert_window(struct engine *engine, enum view_window window, bool is_replay,
			  const char *text)
{
	struct snapshot *snapshot;
	struct view_spec spec = engine->view.spec;

	spec.window = window;
	spec.end_ns = 12 * SEC + SEC / 2;
	engine->view.spec = spec;
	snapshot = answer(engine, &spec);
	snapshot_edit_header(snapshot)->window_end_ns = spec.end_ns;
	snapshot_edit_header(snapshot)->is_replay = is_replay;
	snapshot_edit_header(snapshot)->start_ns = 2 * SEC;
	snapshot_edit_header(snapshot)->elapsed_ns = 60 * SEC;
	state_show(&engine->view, snapshot);
	snapshot_put(snapshot);
	assert_shows(engine, text);
	assert_hides(engine, "refresh");
}

static void test_the_header_tells_the_moment(void **state UNUSED)
{
	struct engine engine;

	set_up(&engine);
	key(&engine, ' ');
	assert_window(&engine, VIEW_WINDOW_TICK, false, "last 10 s ending 8.0 s ago");
	assert_window(&engine, VIEW_WINDOW_TIME, false, "window 10 s ending 8.0 s ago");
	assert_window(&engine, VIEW_WINDOW_DECAY, false, "decaying ending 8.0 s ago");
	assert_window(&engine, VIEW_WINDOW_ALL, false, "all 10 s ending 8.0 s ago");
	assert_window(&engine, VIEW_WINDOW_TICK, true, "last 10 s at 10.5 s of 60.0 s");
	assert_window(&engine, VIEW_WINDOW_TIME, true, "window 10 s at 10.5 s of 60.0 s");
	state_release(&engine.view);
}

static void test_the_moment_stays_on_narrow_screens(void **state UNUSED)
{
	struct engine engine;
	char *dump;

	set_up(&engine);
	key(&engine, ' ');
	key(&engine, INPUT_LEFT);
	show(&engine);
	dump = fixture_draw(&engine.view, 10, 30, true);
	if (!strstr(dump, "window 10 s ending 1.5 s ago"))
		fail_msg("%s", dump);
	free(dump);
	state_release(&engine.view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_while_paused_left_shows_the_slot_before),
		cmocka_unit_test(test_unless_paused_the_arrows_shift_names),
		cmocka_unit_test(test_steps_add_up_before_an_answer_comes),
		cmocka_unit_test(test_answers_to_earlier_questions_are_not_shown),
		cmocka_unit_test(test_the_oldest_slot_is_the_end),
		cmocka_unit_test(test_slots_that_come_while_paused_can_be_stepped_to),
		cmocka_unit_test(test_leaving_pause_returns_to_now),
		cmocka_unit_test(test_a_moment_that_was_given_up_leaves_the_screen_as_it_is),
		cmocka_unit_test(test_all_forgotten_holds_what_is_shown),
		cmocka_unit_test(test_filters_show_at_once_where_one_stepped_to),
		cmocka_unit_test(test_before_the_first_samples_there_is_no_time),
		cmocka_unit_test(test_the_header_tells_the_moment),
		cmocka_unit_test(test_the_moment_stays_on_narrow_screens),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
