/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole screens against the files in tests/screens. UPDATE_SCREENS=1 writes them anew. */
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

#include "tests/engine_fixture.h"
#include "tests/ui_fixture.h"
#include "ui/input.h"

/* $srcdir is where the sources are when the build is elsewhere. */
static FILE *open_screen(const char *name, const char *mode)
{
	const char *top = getenv("srcdir");
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/screens/%s.screen", top ? top : ".", name);
	return fopen(path, mode);
}

static void check(const char *name, const char *dump)
{
	struct textbuf expected = { 0 };
	char buf[4096];
	FILE *file;
	size_t nr;

	if (getenv("UPDATE_SCREENS")) {
		file = open_screen(name, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(dump, 1, strlen(dump), file), strlen(dump));
		assert_int_equal(fclose(file), 0);
		return;
	}
	file = open_screen(name, "r");
	if (!file)
		fail_msg("no golden screen %s (UPDATE_SCREENS=1 writes it)", name);
	textbuf_puts(&expected, "");
	while ((nr = fread(buf, 1, sizeof(buf), file)) > 0)
		textbuf_add(&expected, buf, nr);
	fclose(file);
	if (strcmp(expected.text, dump) != 0)
		fail_msg("screen %s differs; it is now:\n%s", name, dump);
	textbuf_release(&expected);
}

/* Draw @view and compare, then forget it. */
static void check_state(struct state *view, const char *name, int nr_rows, int nr_columns,
			bool utf8)
{
	char *dump = fixture_draw(view, nr_rows, nr_columns, utf8);

	check(name, dump);
	free(dump);
	state_release(view);
}

/* A state that shows @snapshot, whose reference it takes. */
static void start(struct state *view, struct snapshot *snapshot)
{
	fixture_state(view);
	view->spec = *snapshot_spec(snapshot);
	state_show(view, snapshot);
	snapshot_put(snapshot);
}

static void test_table_on_usual_sizes(void **state UNUSED)
{
	struct state view;

	start(&view, fixture_snapshot(NULL));
	check_state(&view, "table-80x24", 24, 80, true);
	start(&view, fixture_snapshot(NULL));
	check_state(&view, "table-140x20", 20, 140, true);
	start(&view, fixture_snapshot(NULL));
	check_state(&view, "table-40x12", 12, 40, true);
	start(&view, fixture_snapshot(NULL));
	check_state(&view, "table-20x5", 5, 20, true);
}

static void test_table_without_utf8(void **state UNUSED)
{
	struct state view;

	start(&view, fixture_snapshot(NULL));
	check_state(&view, "table-ascii", 24, 80, false);
}

static void test_table_styles(void **state UNUSED)
{
	struct screen *screen = screen_new(24, 80, true);
	struct textbuf buf = { 0 };
	struct state view;

	start(&view, fixture_snapshot(NULL));
	fixture_key(&view, 'j');
	state_draw(&view, screen);
	screen_dump(screen, &buf);
	screen_dump_styles(screen, &buf);
	check("table-styles", buf.text);
	textbuf_release(&buf);
	screen_free(screen);
	state_release(&view);
}

static void test_table_narrowed_paused_and_with_advice(void **state UNUSED)
{
	struct snapshot *snapshot;
	struct view_spec spec;
	struct state view;

	view_spec_init(&spec);
	snprintf(spec.filter, sizeof(spec.filter), "dso=libm.so.6");
	spec.hide_kernel = true;
	snapshot = fixture_snapshot(&spec);
	snapshot_add_note(snapshot, NOTE_INFO, "cycles is not there: cpu-clock counts instead");
	snapshot_add_note(snapshot, NOTE_WARN,
			  "reading takes 1.3 s of 2.0 s: -d 4, -F 1000 or --readers 4");
	snapshot_edit_header(snapshot)->nr_lost = 22024;
	start(&view, snapshot);
	fixture_key(&view, ' ');
	fixture_key(&view, INPUT_DOWN);
	check_state(&view, "table-narrowed", 24, 80, true);
}

static struct snapshot *moved(const struct view_spec *spec)
{
	struct snapshot *snapshot = fixture_snapshot(spec);

	snapshot_edit_header(snapshot)->time_ns = 114 * NSEC_PER_SEC;
	snapshot_edit_header(snapshot)->window_end_ns = 100 * NSEC_PER_SEC;
	return snapshot;
}

static void test_table_at_an_earlier_moment(void **state UNUSED)
{
	struct snapshot *snapshot;
	struct view_spec spec;
	struct state view;

	view_spec_init(&spec);
	spec.end_ns = 100 * NSEC_PER_SEC;
	start(&view, moved(&spec));
	view.paused = true;
	check_state(&view, "table-moment", 12, 80, true);
	snapshot = moved(&spec);
	snapshot_edit_header(snapshot)->is_replay = true;
	snapshot_edit_header(snapshot)->start_ns = 88 * NSEC_PER_SEC;
	snapshot_edit_header(snapshot)->elapsed_ns = 60 * NSEC_PER_SEC;
	snapshot_edit_header(snapshot)->target = "perf.data, 100% read";
	start(&view, snapshot);
	view.paused = true;
	check_state(&view, "table-moment-replay", 12, 80, true);
}

static void test_table_with_changes(void **state UNUSED)
{
	static const double changes[] = { -0.012, 0.0004, 0.03, 0, 0.0049, -0.05 };
	struct screen *screen = screen_new(16, 80, true);
	struct snapshot *before = moved(NULL);
	struct textbuf buf = { 0 };
	struct state view;
	char *ascii;

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		snapshot_edit_row(before, i)->self_share -= changes[i];
	snapshot_edit_row(before, 6)->id = 99;
	start(&view, before);
	fixture_key(&view, 'b');
	before = moved(NULL);
	state_show(&view, before);
	snapshot_put(before);
	fixture_key(&view, 'k');
	state_draw(&view, screen);
	screen_dump(screen, &buf);
	screen_dump_styles(screen, &buf);
	check("table-changes", buf.text);
	ascii = fixture_draw(&view, 16, 80, false);
	check("table-changes-ascii", ascii);
	free(ascii);
	textbuf_release(&buf);
	screen_free(screen);
	state_release(&view);
}

static void test_table_while_recording(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct snapshot_header *header = snapshot_edit_header(snapshot);
	struct state view;

	header->recording.state = RECORDING_ON;
	header->recording.path = snapshot_add_string(snapshot, "symtop.data");
	header->recording.bytes = 12900000;
	header->recording.nr_dropped = 42;
	start(&view, snapshot);
	check_state(&view, "table-recording", 24, 80, true);
}

static void test_table_of_user_samples_only(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct state view;

	snapshot_edit_header(snapshot)->kernel_excluded = true;
	snapshot_edit_header(snapshot)->own_processes_only = true;
	start(&view, snapshot);
	check_state(&view, "table-user-only", 24, 80, true);
}

static void test_table_with_children(void **state UNUSED)
{
	struct snapshot *snapshot;
	struct view_spec spec;
	struct state view;

	view_spec_init(&spec);
	spec.children = true;
	spec.order = ORDER_CHILDREN;
	snapshot = fixture_snapshot(&spec);
	snapshot_edit_header(snapshot)->has_chains = true;
	start(&view, snapshot);
	check_state(&view, "table-children", 24, 80, true);
}

static void test_table_with_all_keys(void **state UNUSED)
{
	struct snapshot *snapshot;
	struct view_spec spec;
	struct state view;
	struct row *row;

	view_spec_init(&spec);
	assert_int_equal(
		sort_keys_parse("comm,pid,tid,cpu,node,event,dso,symbol", &spec.keys, NULL), 0);
	spec.order = ORDER_KEY;
	spec.order_key = SORT_TID;
	spec.inverted = true;
	snapshot = snapshot_new(&spec);
	fixture_fill_header(snapshot);
	row = fixture_add_row(snapshot, &fixture_rows[0]);
	row->pid = 4711;
	row->tid = 4712;
	row->cpu = 0;
	row->node = 7;
	row->event = snapshot_add_string(snapshot, "cycles:P");
	fixture_add_row(snapshot, &fixture_rows[1]);
	start(&view, snapshot);
	check_state(&view, "table-keys", 10, 120, true);
}

static void test_fc092_wide_names_keep_the_columns(void **state UNUSED)
{
	static const struct fixture_row rows[] = {
		{ 1, 0.4, "日本語プロセス", "ライブラリ共有物.so.1",
		  "関数名がとても長い場合::処理する()を呼ぶ", LEVEL_USER },
		{ 2, 0.3, "🚀rocket", "lib🚀.so", "launch_🚀🚀🚀", LEVEL_USER },
		{ 3, 0.2, "e\u0301tude", "libe\u0301.so", "a\u0300_la_carte", LEVEL_USER },
		{ 4, 0.1,
		  "A\xff\xfe"
		  "B",
		  "half\xe6\x97", "\033[31mred\a", LEVEL_KERNEL },
	};
	struct snapshot *snapshot;
	struct view_spec spec;
	struct state view;

	for (int utf8 = 0; utf8 < 2; utf8++) {
		view_spec_init(&spec);
		snapshot = snapshot_new(&spec);
		fixture_fill_header(snapshot);
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			fixture_add_row(snapshot, &rows[i]);
		start(&view, snapshot);
		check_state(&view, utf8 ? "table-wide" : "table-wide-ascii", 10, 80, utf8);
	}
}

static void test_before_the_first_rows(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_many(0, false);
	struct snapshot_header *header = snapshot_edit_header(snapshot);
	struct state view;

	header->nr_samples = 0;
	header->scan_finished = false;
	header->scan_done = 1200;
	start(&view, snapshot);
	check_state(&view, "table-scanning", 10, 80, true);
	fixture_state(&view);
	check_state(&view, "table-starting", 10, 80, true);
}

static void test_help_page(void **state UNUSED)
{
	struct state view;

	start(&view, fixture_snapshot(NULL));
	fixture_key(&view, 'h');
	check_state(&view, "help-80x100", 100, 80, true);
	start(&view, fixture_snapshot(NULL));
	fixture_key(&view, 'h');
	fixture_key(&view, INPUT_PAGE_DOWN);
	check_state(&view, "help-80x24", 24, 80, true);
}

static void test_detail_page(void **state UNUSED)
{
	static const char *const frames[] = { "main", "__libc_start_call_main", "[crowd]+0x1234" };
	static const char *const kernel_frames[] = { "main", "copy_page_range" };
	static const bool levels[] = { false, false, false };
	static const bool kernel_levels[] = { false, true };
	struct snapshot *snapshot;
	struct view_spec spec;
	struct state view;
	struct row *row;

	view_spec_init(&spec);
	spec.chains = true;
	snapshot = snapshot_new(&spec);
	fixture_fill_header(snapshot);
	snapshot_edit_header(snapshot)->has_chains = true;
	row = fixture_add_row(snapshot, &fixture_rows[0]);
	row->pid = row->tid = 4711;
	row->dso_path =
		snapshot_add_string(snapshot, "/opt/a/rather/long/path/that/does/not/fit/on/"
					      "one/line/of/eighty/columns/bin/crowd");
	snapshot_add_chain(snapshot, row, frames, levels, 3, 4000, row->period * 0.75);
	snapshot_add_chain(snapshot, row, kernel_frames, kernel_levels, 2, 1344,
			   row->period * 0.25);
	start(&view, snapshot);
	fixture_key(&view, INPUT_ENTER);
	check_state(&view, "detail-80x24", 24, 80, true);
}

static void test_menus_and_prompts(void **state UNUSED)
{
	struct state view;

	start(&view, fixture_snapshot(NULL));
	fixture_key(&view, INPUT_F1 + 5);
	check_state(&view, "menu-sort", 24, 80, true);
	start(&view, fixture_snapshot(NULL));
	fixture_key(&view, 'w');
	check_state(&view, "menu-window", 24, 80, true);
	start(&view, fixture_snapshot(NULL));
	fixture_key(&view, '\\');
	fixture_type(&view, "comm=crowd");
	check_state(&view, "prompt-filter", 24, 80, true);
	start(&view, fixture_snapshot(NULL));
	fixture_key(&view, 'X');
	check_state(&view, "message", 24, 80, true);
	start(&view, fixture_snapshot(NULL));
	view.record_path = "build.data";
	fixture_key(&view, 'W');
	check_state(&view, "prompt-record", 24, 80, true);
}

static void start_engine(struct state *view, size_t nr_readers)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);

	fixture_engine(snapshot, nr_readers);
	start(view, snapshot);
	fixture_key(view, '9');
}

static void test_engine_view(void **state UNUSED)
{
	struct state view;

	start_engine(&view, 5);
	check_state(&view, "engine-80x24", 24, 80, true);
	start_engine(&view, 5);
	check_state(&view, "engine-80x60", 60, 80, false);
	start_engine(&view, 16);
	fixture_key(&view, ']');
	check_state(&view, "engine-200x50", 50, 200, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_on_usual_sizes),
		cmocka_unit_test(test_table_without_utf8),
		cmocka_unit_test(test_table_styles),
		cmocka_unit_test(test_table_narrowed_paused_and_with_advice),
		cmocka_unit_test(test_table_at_an_earlier_moment),
		cmocka_unit_test(test_table_with_changes),
		cmocka_unit_test(test_table_while_recording),
		cmocka_unit_test(test_table_of_user_samples_only),
		cmocka_unit_test(test_table_with_children),
		cmocka_unit_test(test_table_with_all_keys),
		cmocka_unit_test(test_fc092_wide_names_keep_the_columns),
		cmocka_unit_test(test_before_the_first_rows),
		cmocka_unit_test(test_help_page),
		cmocka_unit_test(test_detail_page),
		cmocka_unit_test(test_menus_and_prompts),
		cmocka_unit_test(test_engine_view),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
