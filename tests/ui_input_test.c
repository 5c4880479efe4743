/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes become keys. */
#include "config.h"

#include "ui/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"

#define NOW NSEC_PER_SEC
#define LATER (NOW + INPUT_ESCAPE_NS)

static void feed(struct input *input, const char *bytes)
{
	input_feed(input, bytes, strlen(bytes), NOW);
}

static void test_plain_characters_are_themselves(void **state UNUSED)
{
	struct input *input = input_new();

	feed(input, "aZ é日");
	assert_int_equal(input_next(input, NOW), 'a');
	assert_int_equal(input_next(input, NOW), 'Z');
	assert_int_equal(input_next(input, NOW), ' ');
	assert_int_equal(input_next(input, NOW), 0xe9);
	assert_int_equal(input_next(input, NOW), 0x65e5);
	assert_int_equal(input_next(input, NOW), INPUT_NONE);
	input_free(input);
}

static void test_control_characters_have_names(void **state UNUSED)
{
	struct input *input = input_new();

	feed(input, "\r\n\x7f\b\x03\x0c");
	assert_int_equal(input_next(input, NOW), INPUT_ENTER);
	assert_int_equal(input_next(input, NOW), INPUT_ENTER);
	assert_int_equal(input_next(input, NOW), INPUT_BACKSPACE);
	assert_int_equal(input_next(input, NOW), INPUT_BACKSPACE);
	assert_int_equal(input_next(input, NOW), INPUT_CTRL('C'));
	assert_int_equal(input_next(input, NOW), INPUT_CTRL('L'));
	input_feed(input, "\0", 1, NOW);
	assert_int_equal(input_next(input, NOW), 0);
	assert_int_equal(input_next(input, NOW), INPUT_NONE);
	input_free(input);
}

static void test_known_sequences_are_keys(void **state UNUSED)
{
	static const struct {
		const char *bytes;
		uint32_t key;
	} cases[] = {
		{ "\033[A", INPUT_UP },
		{ "\033OB", INPUT_DOWN },
		{ "\033[5~", INPUT_PAGE_UP },
		{ "\033OP", INPUT_F1 },
		{ "\033[[A", INPUT_F1 },
		{ "\033[21~", INPUT_F1 + 9 },
		{ "\033[3~", INPUT_DELETE },
		{ "\033[Z", INPUT_BACK_TAB },
		{ "\033[200~", INPUT_PASTE_BEGIN },
		{ "\033[201~", INPUT_PASTE_END },
	};
	struct input *input = input_new();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		feed(input, cases[i].bytes);
		assert_int_equal(input_next(input, NOW), cases[i].key);
		assert_int_equal(input_next(input, NOW), INPUT_NONE);
	}
	input_free(input);
}

static void test_unknown_sequences_are_one_key_not_escape_and_letters(void **state UNUSED)
{
	static const char *const cases[] = {
		"\033[1;5A",
		"\033[99~",
		"\033Oz",
		"\033[?1;2c",
		"\033q",
		"\033\xc3\xa9",
		"\033]11;rgb:0/0/0\a",
		"\033P1$r0m\033\\",
		"\033[<0;3;4M",
		"\033[27;5;9~",
		"\033_x\033\\",
	};
	struct input *input = input_new();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		feed(input, cases[i]);
		feed(input, "x");
		assert_int_equal(input_next(input, NOW), INPUT_UNKNOWN);
		assert_int_equal(input_next(input, NOW), 'x');
		assert_int_equal(input_next(input, NOW), INPUT_NONE);
	}
	input_free(input);
}

static void test_a_sequence_may_come_in_pieces(void **state UNUSED)
{
	struct input *input = input_new();

	feed(input, "\033");
	assert_int_equal(input_next(input, NOW), INPUT_NONE);
	feed(input, "[");
	assert_int_equal(input_next(input, NOW), INPUT_NONE);
	feed(input, "A");
	assert_int_equal(input_next(input, NOW), INPUT_UP);
	feed(input, "\xe6\x97");
	assert_int_equal(input_next(input, NOW), INPUT_NONE);
	feed(input, "\xa5");
	assert_int_equal(input_next(input, NOW), 0x65e5);
	input_free(input);
}

static void test_a_lone_escape_is_one_when_nothing_follows(void **state UNUSED)
{
	struct input *input = input_new();

	assert_int_equal(input_deadline_ns(input), 0);
	feed(input, "\033");
	assert_int_equal(input_next(input, NOW), INPUT_NONE);
	assert_int_equal(input_deadline_ns(input), LATER);
	assert_int_equal(input_next(input, LATER - 1), INPUT_NONE);
	assert_int_equal(input_next(input, LATER), INPUT_ESCAPE);
	assert_int_equal(input_next(input, LATER), INPUT_NONE);
	assert_int_equal(input_deadline_ns(input), 0);
	input_free(input);
}

static void test_two_escapes_are_two(void **state UNUSED)
{
	struct input *input = input_new();

	feed(input, "\033\033");
	assert_int_equal(input_next(input, NOW), INPUT_ESCAPE);
	assert_int_equal(input_next(input, NOW), INPUT_NONE);
	assert_int_equal(input_next(input, LATER), INPUT_ESCAPE);
	input_free(input);
}

static void test_a_sequence_broken_off_does_not_eat_what_follows(void **state UNUSED)
{
	struct input *input = input_new();

	feed(input, "\033[12\rq");
	assert_int_equal(input_next(input, NOW), INPUT_UNKNOWN);
	assert_int_equal(input_next(input, NOW), INPUT_ENTER);
	assert_int_equal(input_next(input, NOW), 'q');
	feed(input, "\033[12");
	assert_int_equal(input_next(input, NOW), INPUT_NONE);
	assert_int_equal(input_next(input, LATER), INPUT_UNKNOWN);
	feed(input, "q");
	assert_int_equal(input_next(input, LATER), 'q');
	input_free(input);
}

static void test_bytes_that_are_no_utf8_are_dropped(void **state UNUSED)
{
	struct input *input = input_new();

	feed(input, "\xff\xfe\x80\xc0\xafq");
	assert_int_equal(input_next(input, NOW), 'q');
	feed(input, "\xe6q"); /* half a character, then a key */
	assert_int_equal(input_next(input, LATER), 'q');
	input_free(input);
}

static void test_an_endless_sequence_is_given_up(void **state UNUSED)
{
	struct input *input = input_new();

	feed(input, "\033[");
	for (int i = 0; i < 1000; i++) {
		size_t room = input_room(input);

		assert_true(room > 0);
		feed(input, "1");
		input_next(input, NOW);
	}
	input_next(input, LATER);
	feed(input, "q");
	assert_int_equal(input_next(input, LATER), 'q');
	input_free(input);
}

static void test_any_bytes_are_consumed(void **state UNUSED)
{
	struct input *input = input_new();
	uint32_t seed = 1;

	for (int round = 0; round < 2000; round++) {
		char bytes[64];

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (char)(seed >> 24);
			if ((seed >> 16) % 5 == 0)
				bytes[i] = "\033[O]1~;"[(seed >> 8) % 7];
		}
		input_feed(input, bytes, sizeof(bytes), NOW);
		for (int i = 0; i < 300; i++)
			input_next(input, LATER);
		assert_int_equal(input_next(input, LATER), INPUT_NONE);
		assert_int_equal(input_deadline_ns(input), 0);
	}
	input_free(input);
}

static void test_terminfo_sequences_come_first(void **state UNUSED)
{
	struct input *input = input_new();

	input_add_sequence(input, "\033[Y", INPUT_END);
	input_add_sequence(input, "\033[A", INPUT_HOME);
	input_add_sequence(input, "", INPUT_UP);
	input_add_sequence(input, "x", INPUT_UP);
	input_add_sequence(input, "\033[0123456789012345678901234567", INPUT_UP);
	for (int i = 0; i < 1000; i++)
		input_add_sequence(input, "\033[111~", INPUT_UP);
	feed(input, "\033[Y\033[Ax");
	assert_int_equal(input_next(input, NOW), INPUT_END);
	assert_int_equal(input_next(input, NOW), INPUT_HOME);
	assert_int_equal(input_next(input, NOW), 'x');
	input_free(input);
}

static void test_keys_have_names(void **state UNUSED)
{
	static const struct {
		uint32_t key;
		const char *name;
	} cases[] = {
		{ 'x', "x" },
		{ ' ', "Space" },
		{ INPUT_CTRL('L'), "^L" },
		{ INPUT_F1 + 9, "F10" },
		{ INPUT_PAGE_UP, "PgUp" },
		{ 0xe9, "U+00E9" },
		{ INPUT_ESCAPE, "Esc" },
	};
	char name[16];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		input_key_name(cases[i].key, name);
		assert_string_equal(name, cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_characters_are_themselves),
		cmocka_unit_test(test_control_characters_have_names),
		cmocka_unit_test(test_known_sequences_are_keys),
		cmocka_unit_test(test_unknown_sequences_are_one_key_not_escape_and_letters),
		cmocka_unit_test(test_a_sequence_may_come_in_pieces),
		cmocka_unit_test(test_a_lone_escape_is_one_when_nothing_follows),
		cmocka_unit_test(test_two_escapes_are_two),
		cmocka_unit_test(test_a_sequence_broken_off_does_not_eat_what_follows),
		cmocka_unit_test(test_bytes_that_are_no_utf8_are_dropped),
		cmocka_unit_test(test_an_endless_sequence_is_given_up),
		cmocka_unit_test(test_any_bytes_are_consumed),
		cmocka_unit_test(test_terminfo_sequences_come_first),
		cmocka_unit_test(test_keys_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
