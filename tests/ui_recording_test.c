/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The key that records, and what is told of it. */
#include "config.h"

#include "ui/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/ui_fixture.h"
#include "ui/input.h"

/* Show a snapshot with these figures. */
static void show(struct state *view, const struct recording_figures *figures)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	header->recording = *figures;
	header->wall_time_ns = UINT64_C(1700000000000000000);
	if (!figures->path)
		header->recording.path = "";
	if (!figures->trouble)
		header->recording.trouble = "";
	state_show(view, snapshot);
	snapshot_put(snapshot);
}

static void show_state(struct state *view, enum recording_state recording)
{
	show(view, &(struct recording_figures){ .state = recording, .path = "a.data" });
}

/* The message that is there, or "". */
static const char *message(const struct state *view)
{
	return view->message_until_ns ? view->message : "";
}

static enum ui_action press(struct state *view, uint32_t key, struct ui_wish *ret_wish)
{
	state_key(view, key, 1, ret_wish);
	return ret_wish->action;
}

static void test_w_asks_for_a_name_and_records(void **state UNUSED)
{
	struct state view;
	struct ui_wish wish;

	fixture_state(&view);
	show(&view, &(struct recording_figures){ 0 });
	assert_int_equal(press(&view, 'W', &wish), UI_NONE);
	assert_int_equal(view.mode, MODE_PROMPT);
	assert_string_equal(view.prompt.label, "Record to: ");
	assert_string_equal(view.prompt.text, "symtop-20231114-221320.data");
	press(&view, INPUT_CTRL('U'), &wish);
	fixture_type(&view, "/tmp/x y.data");
	assert_int_equal(press(&view, INPUT_ENTER, &wish), UI_RECORD);
	assert_string_equal(wish.path, "/tmp/x y.data");
	state_release(&view);
}

static void test_escape_and_an_empty_name_record_nothing(void **state UNUSED)
{
	struct state view;
	struct ui_wish wish;

	fixture_state(&view);
	show(&view, &(struct recording_figures){ 0 });
	press(&view, 'W', &wish);
	assert_int_equal(press(&view, INPUT_ESCAPE, &wish), UI_NONE);
	assert_int_equal(view.mode, MODE_TABLE);
	press(&view, 'W', &wish);
	press(&view, INPUT_CTRL('U'), &wish);
	assert_int_equal(press(&view, INPUT_ENTER, &wish), UI_NONE);
	state_release(&view);
}

static void test_w_is_there_before_the_first_snapshot_and_in_each_view(void **state UNUSED)
{
	struct state view;
	struct ui_wish wish;

	fixture_state(&view);
	press(&view, 'W', &wish);
	assert_string_equal(view.prompt.text, "symtop.data");
	press(&view, INPUT_ESCAPE, &wish);
	press(&view, '9', &wish);
	press(&view, 'W', &wish);
	assert_int_equal(view.mode, MODE_PROMPT);
	state_release(&view);
}

static void
test_the_name_of_the_command_line_is_proposed_unless_it_would_be_cut(void **state UNUSED)
{
	char path[PROMPT_BYTES + 1];
	struct state view;
	struct ui_wish wish;

	fixture_state(&view);
	view.record_path = "mine.data";
	press(&view, 'W', &wish);
	assert_string_equal(view.prompt.text, "mine.data");
	press(&view, INPUT_ESCAPE, &wish);
	memset(path, 'x', sizeof(path));
	path[PROMPT_BYTES - 1] = '\0';
	view.record_path = path;
	press(&view, 'W', &wish);
	press(&view, INPUT_ENTER, &wish);
	assert_string_equal(wish.path, path);
	path[PROMPT_BYTES - 1] = 'x';
	path[PROMPT_BYTES] = '\0';
	press(&view, 'W', &wish);
	assert_string_equal(view.prompt.text, "symtop.data");
	state_release(&view);
}

static void test_w_ends_a_recording(void **state UNUSED)
{
	struct state view;
	struct ui_wish wish;

	fixture_state(&view);
	show_state(&view, RECORDING_ON);
	assert_int_equal(press(&view, 'W', &wish), UI_RECORD_END);
	assert_int_equal(view.mode, MODE_TABLE);
	show_state(&view, RECORDING_FINISHING);
	assert_int_equal(press(&view, 'W', &wish), UI_NONE);
	assert_string_equal(message(&view), "the last recording is still on its way to the disk");
	state_release(&view);
}

static void test_a_flight_recorder_writes_what_it_kept(void **state UNUSED)
{
	struct state view;
	struct ui_wish wish;

	fixture_state(&view);
	show(&view, &(struct recording_figures){ .state = RECORDING_KEPT, .keep_ns = 1 });
	assert_string_equal(message(&view), "");
	press(&view, 'W', &wish);
	assert_string_equal(view.prompt.label, "Write what was kept to: ");
	assert_int_equal(press(&view, INPUT_ENTER, &wish), UI_RECORD);
	show(&view,
	     &(struct recording_figures){ .state = RECORDING_ON, .keep_ns = 1, .path = "a.data" });
	assert_string_equal(message(&view), "writing what was kept to a.data");
	state_release(&view);
}

static void test_begin_and_end_are_told_once(void **state UNUSED)
{
	struct state view;

	fixture_state(&view);
	show_state(&view, RECORDING_NONE);
	assert_string_equal(message(&view), "");
	show_state(&view, RECORDING_ON);
	assert_string_equal(message(&view), "recording to a.data");
	fixture_key(&view, 'j');
	show_state(&view, RECORDING_ON);
	show_state(&view, RECORDING_FINISHING);
	assert_string_equal(message(&view), "");
	for (int i = 0; i < 2; i++) {
		show(&view, &(struct recording_figures){
				    .path = "a.data", .nr_ended = 1, .bytes = 12900000 });
		assert_string_equal(message(&view), i ? "" : "recorded 12 MB to a.data");
		assert_int_equal(view.message_level, NOTE_INFO);
		fixture_key(&view, 'j');
	}
	state_release(&view);
}

static void test_a_recording_between_two_snapshots_is_told(void **state UNUSED)
{
	struct state view;

	fixture_state(&view);
	show_state(&view, RECORDING_NONE);
	show(&view, &(struct recording_figures){ .path = "b.data", .nr_ended = 1, .bytes = 2048 });
	assert_string_equal(message(&view), "recorded 2.0 kB to b.data");
	/* The next one is under way already: the figures are of that. */
	show(&view,
	     &(struct recording_figures){ .state = RECORDING_ON, .path = "c.data", .nr_ended = 2 });
	assert_string_equal(message(&view), "recording to c.data");
	show(&view,
	     &(struct recording_figures){ .state = RECORDING_ON, .path = "d.data", .nr_ended = 3 });
	assert_string_equal(message(&view), "recording to d.data");
	state_release(&view);
}

static void test_losses_and_trouble_are_warnings_also_while_paused(void **state UNUSED)
{
	struct state view;

	fixture_state(&view);
	show_state(&view, RECORDING_ON);
	fixture_key(&view, ' ');
	show(&view, &(struct recording_figures){
			    .path = "a.data", .nr_ended = 1, .bytes = 1 << 20, .nr_dropped = 17 });
	assert_string_equal(message(&view), "17 records dropped, the disk was too slow: "
					    "recorded 1.0 MB to a.data");
	assert_int_equal(view.message_level, NOTE_WARN);
	show(&view, &(struct recording_figures){
			    .path = "b", .nr_ended = 2, .trouble = "b: cannot be written: x" });
	assert_string_equal(message(&view), "recording: b: cannot be written: x");
	assert_int_equal(view.message_level, NOTE_WARN);
	assert_true(view.paused);
	state_release(&view);
}

static void test_while_paused_w_goes_by_the_newest_snapshot(void **state UNUSED)
{
	struct state view;
	struct ui_wish wish;

	fixture_state(&view);
	show_state(&view, RECORDING_NONE);
	fixture_key(&view, ' ');
	show_state(&view, RECORDING_ON);
	assert_int_equal(press(&view, 'W', &wish), UI_RECORD_END);
	state_release(&view);
}

static void test_what_ends_behind_a_prompt_is_told_after_it(void **state UNUSED)
{
	const struct recording_figures ended = { .path = "a.data", .nr_ended = 1, .bytes = 1024 };
	struct state view;

	fixture_state(&view);
	show_state(&view, RECORDING_ON);
	fixture_key(&view, '/');
	show(&view, &ended);
	fixture_key(&view, INPUT_ESCAPE);
	assert_string_equal(message(&view), "");
	show(&view, &ended);
	assert_string_equal(message(&view), "recorded 1.0 kB to a.data");
	state_release(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_w_asks_for_a_name_and_records),
		cmocka_unit_test(test_escape_and_an_empty_name_record_nothing),
		cmocka_unit_test(test_w_is_there_before_the_first_snapshot_and_in_each_view),
		cmocka_unit_test(
			test_the_name_of_the_command_line_is_proposed_unless_it_would_be_cut),
		cmocka_unit_test(test_w_ends_a_recording),
		cmocka_unit_test(test_a_flight_recorder_writes_what_it_kept),
		cmocka_unit_test(test_begin_and_end_are_told_once),
		cmocka_unit_test(test_a_recording_between_two_snapshots_is_told),
		cmocka_unit_test(test_losses_and_trouble_are_warnings_also_while_paused),
		cmocka_unit_test(test_while_paused_w_goes_by_the_newest_snapshot),
		cmocka_unit_test(test_what_ends_behind_a_prompt_is_told_after_it),
	};

	/* Proposed names hold the local time. */
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
