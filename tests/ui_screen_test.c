/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells, widths, cutting: what a terminal would show, without one. */
#include "config.h"

#include "ui/screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/ui_fixture.h"

static void assert_row(const struct screen *screen, int y, const char *expected)
{
	char *dump = fixture_dump(screen);
	char *line = fixture_line(dump, y);

	assert_string_equal(line, expected);
	free(line);
	free(dump);
}

/* Each row adds up: wide cells have their second half, and nothing else has none. */
static void assert_whole(const struct screen *screen)
{
	for (int y = 0; y < screen_nr_rows(screen); y++) {
		const struct cell *cells = screen_row(screen, y);
		int x = 0;

		while (x < screen_nr_columns(screen)) {
			assert_in_range(cells[x].width, 1, 2);
			assert_true(cells[x].text[0] >= L' ');
			if (cells[x].width == 2) {
				assert_true(x + 1 < screen_nr_columns(screen));
				assert_int_equal(cells[x + 1].width, 0);
			}
			x += cells[x].width;
		}
		assert_int_equal(x, screen_nr_columns(screen));
	}
}

static void test_text_that_fits_is_unchanged(void **state UNUSED)
{
	struct screen *screen = screen_new(2, 10, true);

	assert_int_equal(screen_put(screen, 0, 2, 8, "abc", STYLE_NORMAL), 3);
	assert_row(screen, 0, "  abc");
	assert_int_equal(screen_put(screen, 1, 0, 10, "0123456789", STYLE_NORMAL), 10);
	assert_row(screen, 1, "0123456789");
	screen_free(screen);
}

static void test_text_that_does_not_fit_ends_in_a_mark(void **state UNUSED)
{
	struct screen *screen = screen_new(2, 10, true);
	struct screen *ascii = screen_new(1, 10, false);

	screen_put(screen, 0, 0, 5, "abcdef", STYLE_NORMAL);
	assert_row(screen, 0, "abcd…");
	screen_put(screen, 1, 7, 50, "abcdef", STYLE_NORMAL);
	assert_row(screen, 1, "       ab…");
	screen_put(ascii, 0, 0, 5, "abcdef", STYLE_NORMAL);
	assert_row(ascii, 0, "abcd~");
	screen_free(screen);
	screen_free(ascii);
}

static void test_outside_the_grid_is_clipped(void **state UNUSED)
{
	struct screen *screen = screen_new(2, 4, true);

	assert_int_equal(screen_put(screen, 2, 0, 4, "x", STYLE_NORMAL), 0);
	assert_int_equal(screen_put(screen, -1, 0, 4, "x", STYLE_NORMAL), 0);
	assert_int_equal(screen_put(screen, 0, 4, 4, "x", STYLE_NORMAL), 0);
	assert_int_equal(screen_put(screen, 0, -1, 4, "x", STYLE_NORMAL), 0);
	assert_int_equal(screen_put(screen, 0, 0, 0, "x", STYLE_NORMAL), 0);
	assert_int_equal(screen_put(screen, 0, 0, -5, "x", STYLE_NORMAL), 0);
	screen_fill(screen, 0, 2, 100, STYLE_TITLE);
	screen_fill(screen, 9, 0, 100, STYLE_TITLE);
	screen_select(screen, 1, 2, 100);
	screen_set_cursor(screen, 99, 99);
	assert_whole(screen);
	screen_free(screen);
}

static void test_sizes_are_limited(void **state UNUSED)
{
	struct screen *screen = screen_new(0, -3, true);

	assert_int_equal(screen_nr_rows(screen), 1);
	assert_int_equal(screen_nr_columns(screen), 1);
	screen_resize(screen, 65535, 65535);
	assert_int_equal(screen_nr_rows(screen), SCREEN_MAX_ROWS);
	assert_int_equal(screen_nr_columns(screen), SCREEN_MAX_COLUMNS);
	screen_free(screen);
}

static void test_fc092_wide_characters_are_never_split(void **state UNUSED)
{
	static const char *const names[] = { "日本語関数名テスト", "a日b本c語d関", "🚀🚀🚀go🚀",
					     "e\u0301te\u0301_a\u0300_la_carte",
					     "👨\u200d👩\u200d👧_family" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (int width = 1; width <= 80; width++) {
			struct screen *screen = screen_new(1, 100, true);
			int used = screen_put(screen, 0, 3, width, names[i], STYLE_NORMAL);

			screen_put(screen, 0, 3 + width, 1, "|", STYLE_NORMAL);
			assert_whole(screen);
			assert_in_range(used, 1, width);
			/* The next column stands where it belongs. */
			assert_int_equal(screen_row(screen, 0)[3 + width].text[0], L'|');
			screen_free(screen);
		}
	}
}

static void test_fc092_cut_before_a_wide_character_leaves_a_blank(void **state UNUSED)
{
	struct screen *screen = screen_new(2, 10, true);

	screen_put(screen, 0, 0, 4, "日本語", STYLE_NORMAL);
	assert_row(screen, 0, "日 …");
	screen_put(screen, 1, 0, 5, "日本語", STYLE_NORMAL);
	assert_row(screen, 1, "日本…");
	assert_whole(screen);
	screen_free(screen);
}

static void test_fc092_combining_marks_take_no_cell(void **state UNUSED)
{
	struct screen *screen = screen_new(1, 10, true);

	assert_int_equal(screen_put(screen, 0, 0, 10, "e\u0301x", STYLE_NORMAL), 2);
	assert_int_equal(screen_row(screen, 0)[0].text[1], 0x301);
	assert_int_equal(screen_row(screen, 0)[1].text[0], L'x');
	assert_row(screen, 0, "e\u0301x");
	/* A mark with nothing before it, and a heap of them. */
	assert_int_equal(screen_put(screen, 0, 0, 10, "\u0301a", STYLE_NORMAL), 1);
	assert_int_equal(
		screen_put(screen, 0, 0, 10, "a\u0301\u0302\u0303\u0304\u0305", STYLE_NORMAL), 1);
	assert_int_equal(wcslen(screen_row(screen, 0)[0].text), CELL_CHARS);
	screen_free(screen);
}

static void test_fc092_joiners_and_direction_marks_are_left_out(void **state UNUSED)
{
	struct screen *screen = screen_new(1, 10, true);

	screen_put(screen, 0, 0, 10, "a\u200db\ufe0fc\u202ed", STYLE_NORMAL);
	assert_row(screen, 0, "abcd");
	screen_free(screen);
}

static void test_fc093_each_bad_byte_is_one_mark(void **state UNUSED)
{
	struct screen *screen = screen_new(2, 20, true);

	screen_put(screen, 0, 0, 20,
		   "A\xff\xfe"
		   "B",
		   STYLE_NORMAL);
	assert_row(screen, 0, "A??B");
	screen_put(screen, 1, 0, 20, "abc\xe6\x97", STYLE_NORMAL); /* half a character */
	assert_row(screen, 1, "abc??");
	screen_free(screen);
}

static void test_fc080_control_characters_never_reach_a_cell(void **state UNUSED)
{
	struct screen *screen = screen_new(1, 20, true);

	screen_put(screen, 0, 0, 20,
		   "a\033[31m\a\n\x7f\xc2\x9b"
		   "1m",
		   STYLE_NORMAL);
	assert_row(screen, 0, "a?[31m????1m");
	assert_whole(screen);
	screen_free(screen);
}

static void test_ascii_screen_shows_one_question_mark_a_character(void **state UNUSED)
{
	struct screen *screen = screen_new(1, 20, false);

	assert_int_equal(screen_put(screen, 0, 0, 20, "日本 é 🚀", STYLE_NORMAL), 6);
	assert_row(screen, 0, "?? ? ?");
	assert_string_equal(screen_mark(screen, "…", "~"), "~");
	screen_free(screen);
}

static void test_overwriting_half_a_wide_character_blanks_the_rest(void **state UNUSED)
{
	struct screen *screen = screen_new(3, 6, true);

	for (int y = 0; y < 3; y++)
		screen_put(screen, y, 0, 6, "日本語", STYLE_NORMAL);
	screen_put(screen, 0, 1, 1, "x", STYLE_NORMAL);
	assert_row(screen, 0, " x本語");
	screen_put(screen, 1, 2, 1, "x", STYLE_NORMAL);
	assert_row(screen, 1, "日x 語");
	screen_put(screen, 2, 1, 2, "字", STYLE_NORMAL);
	assert_row(screen, 2, " 字 語");
	assert_whole(screen);
	screen_free(screen);
}

static void test_shifted_text_is_marked_at_both_ends(void **state UNUSED)
{
	struct screen *screen = screen_new(1, 10, true);

	screen_put_from(screen, 0, 0, 10, 3, "0123456789abcdef", STYLE_NORMAL);
	assert_row(screen, 0, "…456789ab…");
	screen_clear(screen);
	screen_put_from(screen, 0, 0, 10, 12, "0123456789abcdef", STYLE_NORMAL);
	assert_row(screen, 0, "…def");
	screen_clear(screen);
	screen_put_from(screen, 0, 0, 10, 99, "0123", STYLE_NORMAL);
	assert_row(screen, 0, "…");
	for (int skip = 0; skip < 20; skip++) {
		screen_clear(screen);
		screen_put_from(screen, 0, 1, 8, skip, "a日本語e\u0301関数b", STYLE_NORMAL);
		assert_whole(screen);
	}
	screen_free(screen);
}

static void test_width_counts_cells_and_stops_at_the_limit(void **state UNUSED)
{
	struct screen *screen = screen_new(1, 10, true);

	assert_int_equal(screen_width(screen, "", 10), 0);
	assert_int_equal(screen_width(screen, "a日e\u0301", 10), 4);
	assert_in_range(screen_width(screen, "aaaaaaaaaaaaaaaaaaaaaa", 5), 6, 7);
	assert_int_equal(screen_fit(screen, "日本語", 3), strlen("日"));
	assert_int_equal(screen_fit(screen, "日本語", 1), strlen("日"));
	assert_int_equal(screen_fit(screen, "e\u0301x", 1), strlen("e\u0301"));
	screen_free(screen);
}

static void test_styles_and_selection_are_dumped(void **state UNUSED)
{
	struct screen *screen = screen_new(1, 6, true);
	struct textbuf buf = { 0 };

	screen_put(screen, 0, 0, 2, "ab", STYLE_HOT);
	screen_put(screen, 0, 2, 2, "cd", STYLE_WARM);
	screen_select(screen, 0, 1, 4);
	screen_dump_styles(screen, &buf);
	assert_string_equal(buf.text, "rRGG#\n");
	textbuf_release(&buf);
	screen_free(screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_that_fits_is_unchanged),
		cmocka_unit_test(test_text_that_does_not_fit_ends_in_a_mark),
		cmocka_unit_test(test_outside_the_grid_is_clipped),
		cmocka_unit_test(test_sizes_are_limited),
		cmocka_unit_test(test_fc092_wide_characters_are_never_split),
		cmocka_unit_test(test_fc092_cut_before_a_wide_character_leaves_a_blank),
		cmocka_unit_test(test_fc092_combining_marks_take_no_cell),
		cmocka_unit_test(test_fc092_joiners_and_direction_marks_are_left_out),
		cmocka_unit_test(test_fc093_each_bad_byte_is_one_mark),
		cmocka_unit_test(test_fc080_control_characters_never_reach_a_cell),
		cmocka_unit_test(test_ascii_screen_shows_one_question_mark_a_character),
		cmocka_unit_test(test_overwriting_half_a_wide_character_blanks_the_rest),
		cmocka_unit_test(test_shifted_text_is_marked_at_both_ends),
		cmocka_unit_test(test_width_counts_cells_and_stops_at_the_limit),
		cmocka_unit_test(test_styles_and_selection_are_dumped),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
