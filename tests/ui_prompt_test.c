/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line editor. */
#include "config.h"

#include "ui/prompt.h"

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

static void type(struct prompt *prompt, const char *text)
{
	uint32_t code;
	size_t len;

	for (; *text; text += len) {
		len = text_utf8_len(text, strlen(text), &code);
		prompt_key(prompt, code);
	}
}

static void test_typing_inserts_at_the_cursor(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt, "> ", "");
	type(&prompt, "bc");
	prompt_key(&prompt, INPUT_HOME);
	assert_int_equal(prompt_key(&prompt, 'a'), PROMPT_CHANGED);
	assert_string_equal(prompt.text, "abc");
	prompt_key(&prompt, INPUT_CTRL('E'));
	type(&prompt, "d");
	assert_string_equal(prompt.text, "abcd");
}

static void test_the_given_text_can_be_edited(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt, "> ", "dso=libc");
	prompt_key(&prompt, INPUT_BACKSPACE);
	assert_string_equal(prompt.text, "dso=lib");
	prompt_key(&prompt, INPUT_CTRL('A'));
	prompt_key(&prompt, INPUT_DELETE);
	assert_string_equal(prompt.text, "so=lib");
	prompt_key(&prompt, INPUT_RIGHT);
	prompt_key(&prompt, INPUT_CTRL('K'));
	assert_string_equal(prompt.text, "s");
}

static void test_kill_keys_work_as_in_a_shell(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt, "> ", "one two  three");
	prompt_key(&prompt, INPUT_CTRL('W'));
	assert_string_equal(prompt.text, "one two  ");
	prompt_key(&prompt, INPUT_CTRL('W'));
	assert_string_equal(prompt.text, "one ");
	type(&prompt, "four");
	prompt_key(&prompt, INPUT_LEFT);
	prompt_key(&prompt, INPUT_CTRL('U'));
	assert_string_equal(prompt.text, "r");
	assert_int_equal(prompt.cursor, 0);
	prompt_key(&prompt, INPUT_CTRL('W'));
	prompt_key(&prompt, INPUT_CTRL('U'));
	prompt_key(&prompt, INPUT_BACKSPACE);
	assert_string_equal(prompt.text, "r");
}

static void test_multibyte_characters_go_whole(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt, "> ", "");
	type(&prompt, "é日🚀");
	assert_string_equal(prompt.text, "é日🚀");
	prompt_key(&prompt, INPUT_LEFT);
	prompt_key(&prompt, INPUT_BACKSPACE);
	assert_string_equal(prompt.text, "é🚀");
	prompt_key(&prompt, INPUT_DELETE);
	assert_string_equal(prompt.text, "é");
	prompt_key(&prompt, INPUT_LEFT);
	prompt_key(&prompt, INPUT_DELETE);
	assert_string_equal(prompt.text, "");
}

static void test_a_full_prompt_takes_no_more(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt, "> ", "");
	for (int i = 0; i < 1000; i++)
		type(&prompt, "日");
	assert_true(prompt.len < PROMPT_BYTES);
	assert_int_equal(prompt.len % 3, 0);
	assert_int_equal(strlen(prompt.text), prompt.len);
}

static void test_a_text_too_long_is_cut_between_characters(void **state UNUSED)
{
	char text[400] = "";
	struct prompt prompt;

	for (int i = 0; i < 120; i++)
		memcpy(text + 3 * i, "日", 4);
	prompt_init(&prompt, "> ", text);
	assert_int_equal(prompt.len, 255 / 3 * 3);
	assert_int_equal(prompt.text[prompt.len], 0);
}

static void test_control_characters_are_not_inserted(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt, "> ", "a");
	assert_int_equal(prompt_key(&prompt, INPUT_CTRL('X')), PROMPT_IGNORED);
	assert_int_equal(prompt_key(&prompt, 0x9b), PROMPT_IGNORED);
	assert_int_equal(prompt_key(&prompt, '\t'), PROMPT_IGNORED);
	assert_int_equal(prompt_key(&prompt, INPUT_UNKNOWN), PROMPT_IGNORED);
	assert_int_equal(prompt_key(&prompt, INPUT_UP), PROMPT_IGNORED);
	assert_string_equal(prompt.text, "a");
}

static void test_a_paste_with_line_ends_stays_text(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt, "> ", "");
	prompt_key(&prompt, INPUT_PASTE_BEGIN);
	type(&prompt, "a");
	assert_int_equal(prompt_key(&prompt, INPUT_ENTER), PROMPT_CHANGED);
	type(&prompt, "q\033b");
	assert_int_equal(prompt_key(&prompt, INPUT_ESCAPE), PROMPT_IGNORED);
	prompt_key(&prompt, INPUT_PASTE_END);
	assert_string_equal(prompt.text, "a qb");
	assert_int_equal(prompt_key(&prompt, INPUT_ENTER), PROMPT_ACCEPTED);
}

static void test_ctrl_c_leaves_a_paste_without_end(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt, "> ", "");
	prompt_key(&prompt, INPUT_PASTE_BEGIN);
	assert_int_equal(prompt_key(&prompt, INPUT_CTRL('C')), PROMPT_LEFT);
}

static void test_enter_accepts_and_escape_leaves(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt, "> ", "x");
	assert_int_equal(prompt_key(&prompt, INPUT_ENTER), PROMPT_ACCEPTED);
	assert_int_equal(prompt_key(&prompt, INPUT_ESCAPE), PROMPT_LEFT);
	assert_int_equal(prompt_key(&prompt, INPUT_CTRL('C')), PROMPT_LEFT);
	assert_int_equal(prompt_key(&prompt, INPUT_CTRL('G')), PROMPT_LEFT);
}

static void test_the_cursor_is_on_the_screen_at_any_width(void **state UNUSED)
{
	struct prompt prompt;

	prompt_init(&prompt,
		    "Filter: ", "comm=日本語 dso~\"lib(c|m)\" and a rather long rest of it");
	for (int width = 1; width < 100; width++) {
		struct screen *screen = screen_new(1, width, true);
		int y, x;

		for (prompt.cursor = 0; prompt.cursor < prompt.len;
		     prompt_key(&prompt, INPUT_RIGHT)) {
			prompt_draw(&prompt, screen, 0);
			assert_true(screen_cursor(screen, &y, &x));
			assert_in_range(x, 0, width - 1);
		}
		screen_free(screen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typing_inserts_at_the_cursor),
		cmocka_unit_test(test_the_given_text_can_be_edited),
		cmocka_unit_test(test_kill_keys_work_as_in_a_shell),
		cmocka_unit_test(test_multibyte_characters_go_whole),
		cmocka_unit_test(test_a_full_prompt_takes_no_more),
		cmocka_unit_test(test_a_text_too_long_is_cut_between_characters),
		cmocka_unit_test(test_control_characters_are_not_inserted),
		cmocka_unit_test(test_a_paste_with_line_ends_stays_text),
		cmocka_unit_test(test_ctrl_c_leaves_a_paste_without_end),
		cmocka_unit_test(test_enter_accepts_and_escape_leaves),
		cmocka_unit_test(test_the_cursor_is_on_the_screen_at_any_width),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
