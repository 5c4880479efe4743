/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lines above the table say. */
#include "config.h"

#include "ui/header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "tests/ui_fixture.h"

typedef void (*draw_fn)(const struct snapshot *snapshot, struct screen *screen);

static const struct header_state plain;

static void draw_identity(const struct snapshot *snapshot, struct screen *screen)
{
	header_draw_identity(snapshot, &plain, screen, 0);
}

static void draw_figures(const struct snapshot *snapshot, struct screen *screen)
{
	header_draw_figures(snapshot, screen, 0);
}

static void draw_state(const struct snapshot *snapshot, struct screen *screen)
{
	header_draw_state(snapshot, &plain, screen, 0);
}

static void draw_empty(const struct snapshot *snapshot, struct screen *screen)
{
	header_draw_empty(snapshot, screen, 0);
}

/* The line that @draw makes on @width columns, the caller's to free. */
static char *line_of(draw_fn draw, const struct snapshot *snapshot, int width)
{
	struct screen *screen = screen_new(1, width, true);
	char *dump;

	draw(snapshot, screen);
	dump = fixture_dump(screen);
	screen_free(screen);
	return dump;
}

static void assert_has(draw_fn draw, const struct snapshot *snapshot, int width, const char *text)
{
	char *line = line_of(draw, snapshot, width);

	if (!strstr(line, text))
		fail_msg("no \"%s\" in: %s", text, line);
	free(line);
}

static void assert_lacks(draw_fn draw, const struct snapshot *snapshot, int width, const char *text)
{
	char *line = line_of(draw, snapshot, width);

	if (strstr(line, text))
		fail_msg("\"%s\" in: %s", text, line);
	free(line);
}

static void test_a_wide_screen_shows_all_of_it(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	char *line = line_of(draw_identity, snapshot, 140);

	assert_string_equal(line, "symtop   node07 6.18   cycles:P 4000 Hz   272 CPUs · 8 nodes   "
				  "all processes                                     "
				  "refresh 2.0 s · window 10 s\n");
	free(line);
	line = line_of(draw_figures, snapshot, 140);
	assert_string_equal(line, "1.09M samples/s   lost 0   overwritten 0   unresolved 0.4%   "
				  "read 0.21 s (10%)   self 1.2% · 84 MB   scan 5083/5083   "
				  "idle hidden 31.0%\n");
	free(line);
	snapshot_put(snapshot);
}

static void test_what_matters_stays_on_narrow_screens(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);

	for (int width = 20; width < 140; width++) {
		assert_has(draw_identity, snapshot, width, "cycles:P 4000 Hz");
		assert_has(draw_figures, snapshot, width, "lost 0");
	}
	snapshot_put(snapshot);
}

static void test_losses_are_counted_and_stand_out(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct snapshot_header *header = snapshot_edit_header(snapshot);
	struct screen *screen = screen_new(1, 200, true);
	struct textbuf styles = { 0 };

	header->nr_lost = 12;
	header->nr_overwritten = 3456789;
	header->nr_lost_metadata = 1;
	header->nr_throttled = 5;
	header->nr_corrupt = 6;
	header->nr_coarsened = 7;
	assert_has(draw_figures, snapshot, 200, "lost 12");
	assert_has(draw_figures, snapshot, 200, "overwritten 3.46M");
	assert_has(draw_figures, snapshot, 200, "metadata lost 1");
	assert_has(draw_figures, snapshot, 200, "throttled 5");
	assert_has(draw_figures, snapshot, 200, "corrupt 6");
	assert_has(draw_figures, snapshot, 240, "coarsened 7");
	draw_figures(snapshot, screen);
	screen_dump_styles(screen, &styles);
	assert_non_null(strstr(styles.text, "wwwwwww"));
	textbuf_release(&styles);
	screen_free(screen);
	snapshot_put(snapshot);
}

static void assert_figures(const struct recording_figures *recording, const char *line)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	char *dump;

	snapshot_edit_header(snapshot)->recording = *recording;
	dump = line_of(draw_figures, snapshot, 80);
	assert_string_equal(dump, line);
	free(dump);
	snapshot_put(snapshot);
}

static void test_a_recording_fits_on_usual_screens(void **state UNUSED)
{
	struct recording_figures figures = { .state = RECORDING_ON, .bytes = 1 << 20 };

	assert_figures(&figures, "1.09M samples/s  lost 0  overwritten 0  rec 1.0 MB  "
				 "unresolved 0.4%\n");
	figures.nr_dropped = 1234567;
	assert_figures(&figures, "1.09M samples/s  lost 0  rec 1.0 MB  dropped 1.23M  "
				 "unresolved 0.4%\n");
	figures.state = RECORDING_FINISHING;
	figures.bytes = UINT64_C(1234567890123);
	assert_figures(&figures, "1.09M samples/s  lost 0  rec 1.1 TB..  dropped 1.23M  "
				 "unresolved 0.4%\n");
	figures.state = RECORDING_NONE;
	assert_figures(&figures, "1.09M samples/s  lost 0  overwritten 0  unresolved 0.4%  "
				 "self 1.2% · 84 MB\n");
}

static void test_a_flight_recorder_tells_what_it_has(void **state UNUSED)
{
	struct recording_figures figures = {
		.state = RECORDING_KEPT,
		.keep_ns = 30 * NSEC_PER_SEC,
		.kept_ns = 27900 * NSEC_PER_MSEC,
	};

	assert_figures(&figures, "1.09M samples/s  lost 0  overwritten 0  flight 27/30 s  "
				 "unresolved 0.4%\n");
	figures.kept_is_cut = true;
	assert_figures(&figures, "1.09M samples/s  lost 0  overwritten 0  flight 27/30 s, cut  "
				 "unresolved 0.4%\n");
	figures.keep_ns = 1500 * NSEC_PER_MSEC;
	figures.kept_is_cut = false;
	assert_figures(&figures, "1.09M samples/s  lost 0  overwritten 0  flight 1/1.5 s  "
				 "unresolved 0.4%\n");
}

static void test_a_recording_stands_out_without_colours_too(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct screen *screen = screen_new(1, 80, true);
	struct textbuf styles = { 0 };

	snapshot_edit_header(snapshot)->recording.state = RECORDING_ON;
	draw_figures(snapshot, screen);
	screen_dump_styles(screen, &styles);
	assert_non_null(strstr(styles.text, "======="));
	textbuf_release(&styles);
	screen_free(screen);
	snapshot_put(snapshot);
}

static void test_forward_rings_have_no_overwritten_figure(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);

	snapshot_edit_header(snapshot)->overwrite = false;
	assert_lacks(draw_figures, snapshot, 200, "overwritten");
	snapshot_put(snapshot);
}

static void test_unknown_shares_are_a_dash(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	header->unresolved_share = (double)NAN;
	header->self_cpu = (double)NAN;
	header->read_share = (double)NAN;
	header->samples_per_sec = (double)NAN;
	header->idle_share = (double)NAN;
	assert_has(draw_figures, snapshot, 200, "unresolved -");
	assert_has(draw_figures, snapshot, 200, "self -");
	assert_has(draw_figures, snapshot, 200, "- samples/s");
	assert_lacks(draw_figures, snapshot, 200, "nan");
	assert_lacks(draw_figures, snapshot, 200, "-0");
	snapshot_put(snapshot);
}

static void test_fc101_missing_cpus_are_told(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	header->nr_cpus = 2;
	header->nr_cpus_open = 1;
	header->has_nodes = false;
	assert_has(draw_identity, snapshot, 140, "1 of 2 CPUs");
	assert_lacks(draw_identity, snapshot, 140, "nodes");
	snapshot_put(snapshot);
}

static void test_fc007_missing_kernel_samples_are_told(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);

	assert_false(header_has_state(snapshot, &plain));
	snapshot_edit_header(snapshot)->kernel_excluded = true;
	assert_true(header_has_state(snapshot, &plain));
	for (int width = 20; width <= 80; width++)
		assert_has(draw_state, snapshot, width, "no kernel samples");
	assert_has(draw_state, snapshot, 80, "shares are of user samples");
	snapshot_put(snapshot);
}

static void test_fc008_the_real_rate_is_shown(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	header->freq = 500;
	assert_has(draw_identity, snapshot, 80, "cycles:P 500 Hz");
	header->freq = 0;
	header->sample_period = 100000;
	assert_has(draw_identity, snapshot, 80, "cycles:P 1/100000");
	snapshot_put(snapshot);
}

static void test_all_that_narrows_the_view_is_told(void **state UNUSED)
{
	struct snapshot *snapshot;
	struct view_spec spec;

	view_spec_init(&spec);
	snprintf(spec.filter, sizeof(spec.filter), "dso=libm.so.6");
	snprintf(spec.comms, sizeof(spec.comms), "a,b");
	snprintf(spec.dsos, sizeof(spec.dsos), "c");
	snprintf(spec.symbols, sizeof(spec.symbols), "d");
	spec.hide_kernel = true;
	spec.hide_user = true;
	spec.show_idle = true;
	spec.relative = true;
	spec.percent_limit = 0.5;
	spec.event = 1;
	snapshot = fixture_snapshot(&spec);
	snapshot_add_event(snapshot, "cycles", 1);
	snapshot_add_event(snapshot, "faults", 2);
	snapshot_edit_header(snapshot)->own_processes_only = true;
	snapshot_edit_header(snapshot)->nr_rows_hidden = 9;
	assert_has(draw_state, snapshot, 300, "filter: dso=libm.so.6  (Esc clears)");
	assert_has(draw_state, snapshot, 300, "comms a,b");
	assert_has(draw_state, snapshot, 300, "objects c");
	assert_has(draw_state, snapshot, 300, "symbols d");
	assert_has(draw_state, snapshot, 300, "kernel hidden");
	assert_has(draw_state, snapshot, 300, "user hidden");
	assert_has(draw_state, snapshot, 300, "idle shown");
	assert_has(draw_state, snapshot, 300, "shares of what is shown");
	assert_has(draw_state, snapshot, 300, "limit 0.5%: 9 rows hidden");
	assert_has(draw_state, snapshot, 300, "event faults (2 of 2)");
	assert_has(draw_state, snapshot, 300, "own processes only");
	assert_lacks(draw_figures, snapshot, 300, "idle hidden");
	snapshot_put(snapshot);
}

static void test_a_long_filter_does_not_push_out_the_rest(void **state UNUSED)
{
	struct snapshot *snapshot;
	struct view_spec spec;

	view_spec_init(&spec);
	memset(spec.filter, 'x', sizeof(spec.filter) - 1);
	spec.hide_kernel = true;
	snapshot = fixture_snapshot(&spec);
	assert_has(draw_state, snapshot, 80, "kernel hidden");
	assert_has(draw_state, snapshot, 80, "filter: xxx");
	assert_has(draw_state, snapshot, 80, "x…");
	snapshot_put(snapshot);
}

static void test_warnings_come_first_and_the_rest_is_counted(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct screen *screen = screen_new(2, 60, true);
	struct textbuf styles = { 0 };
	char *dump;

	snapshot_add_note(snapshot, NOTE_INFO, "first");
	snapshot_add_note(snapshot, NOTE_INFO, "second");
	snapshot_add_note(snapshot, NOTE_WARN, "reading takes 1.3 s of 2.0 s: -d 4");
	header_draw_notes(snapshot, screen, 0, 2);
	dump = fixture_dump(screen);
	assert_string_equal(dump, "! reading takes 1.3 s of 2.0 s: -d 4\n"
				  "first                                             +1 more: ?\n");
	screen_dump_styles(screen, &styles);
	assert_int_equal(styles.text[0], 'w');
	textbuf_release(&styles);
	free(dump);
	screen_free(screen);
	snapshot_put(snapshot);
}

static void test_the_pace_is_told_when_it_is_slower_than_asked(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	header->effective_refresh_ns = 4 * NSEC_PER_SEC;
	assert_has(draw_identity, snapshot, 140, "refresh 4.0 s (not 2.0 s)");
	header->effective_refresh_ns = NSEC_PER_SEC / 10; /* an early frame */
	assert_has(draw_identity, snapshot, 140, "refresh 2.0 s · ");
	snapshot_put(snapshot);
}

static void test_the_window_tells_what_it_covers(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	header->window_ns = 3 * NSEC_PER_SEC;
	assert_has(draw_identity, snapshot, 140, "window 3.0 s of 10 s");
	header->window = VIEW_WINDOW_ALL;
	assert_has(draw_identity, snapshot, 140, "all 3.0 s");
	header->window = VIEW_WINDOW_TICK;
	assert_has(draw_identity, snapshot, 140, "last 3.0 s");
	header->window = VIEW_WINDOW_DECAY;
	assert_has(draw_identity, snapshot, 140, "decaying");
	snapshot_put(snapshot);
}

static void test_no_rows_have_a_reason(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_many(0, false);
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	assert_has(draw_empty, NULL, 80, "opening events");
	header->nr_samples = 0;
	header->scan_finished = false;
	header->scan_done = 1200;
	assert_has(draw_empty, snapshot, 80, "scanning processes: 1200 of 5083");
	assert_has(draw_figures, snapshot, 80, "scanning 1200/5083");
	header->scan_finished = true;
	assert_has(draw_empty, snapshot, 80, "collecting samples");
	header->nr_samples = 5;
	assert_has(draw_empty, snapshot, 80, "match");
	header->idle_share = 1;
	assert_has(draw_empty, snapshot, 80, "idle");
	header->nr_rows_hidden = 3;
	assert_has(draw_empty, snapshot, 80, "below the limit");
	header->target_gone = true;
	assert_has(draw_empty, snapshot, 80, "ended");
	assert_has(draw_identity, snapshot, 140, "(ended)");
	snapshot_put(snapshot);
}

static void test_without_utf8_the_header_is_ascii(void **state UNUSED)
{
	struct snapshot *snapshot = fixture_snapshot(NULL);
	struct screen *screen = screen_new(3, 140, false);
	char *dump;

	header_draw_identity(snapshot, &plain, screen, 0);
	header_draw_figures(snapshot, screen, 1);
	dump = fixture_dump(screen);
	for (const char *c = dump; *c; c++)
		assert_true(*c == '\n' || (*c >= 0x20 && *c < 0x7f));
	assert_null(strchr(dump, '?'));
	free(dump);
	screen_free(screen);
	snapshot_put(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_wide_screen_shows_all_of_it),
		cmocka_unit_test(test_what_matters_stays_on_narrow_screens),
		cmocka_unit_test(test_losses_are_counted_and_stand_out),
		cmocka_unit_test(test_a_recording_fits_on_usual_screens),
		cmocka_unit_test(test_a_flight_recorder_tells_what_it_has),
		cmocka_unit_test(test_a_recording_stands_out_without_colours_too),
		cmocka_unit_test(test_forward_rings_have_no_overwritten_figure),
		cmocka_unit_test(test_unknown_shares_are_a_dash),
		cmocka_unit_test(test_fc101_missing_cpus_are_told),
		cmocka_unit_test(test_fc007_missing_kernel_samples_are_told),
		cmocka_unit_test(test_fc008_the_real_rate_is_shown),
		cmocka_unit_test(test_all_that_narrows_the_view_is_told),
		cmocka_unit_test(test_a_long_filter_does_not_push_out_the_rest),
		cmocka_unit_test(test_warnings_come_first_and_the_rest_is_counted),
		cmocka_unit_test(test_the_pace_is_told_when_it_is_slower_than_asked),
		cmocka_unit_test(test_the_window_tells_what_it_covers),
		cmocka_unit_test(test_no_rows_have_a_reason),
		cmocka_unit_test(test_without_utf8_the_header_is_ascii),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
