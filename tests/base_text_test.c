/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "core/base/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_printable(const char *text, const char *expected)
{
	char *printable = text_printable(text);

	assert_string_equal(printable, expected);
	free(printable);
}

static void assert_json(const char *text, const char *expected)
{
	struct textbuf buf = { 0 };

	text_add_json(&buf, text);
	assert_string_equal(buf.text, expected);
	assert_int_equal(buf.len, strlen(expected));
	textbuf_release(&buf);
}

static void test_good_text_passes_unchanged(void **state)
{
	static const char *const texts[] = {
		"", "main", "std::map<int, char>", "a\\b", "\xc3\xa4", "\xe2\x82\xac",
		"\xf0\x9f\x94\xa5", "\xc2\xa0", "\xf4\x8f\xbf\xbf",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_printable(texts[i], texts[i]);
}

static void test_control_characters_are_escaped(void **state)
{
	(void)state;
	assert_printable("\x1b[31mred\n", "\\x1b[31mred\\x0a");
	assert_printable("a\tb\x7f", "a\\x09b\\x7f");
	/* C1: U+009B starts a sequence on some terminals. */
	assert_printable("\xc2\x9b" "31m", "\\xc2\\x9b31m");
	assert_printable("\xc2\x80\xc2\x9f", "\\xc2\\x80\\xc2\\x9f");
}

static void test_bytes_that_are_no_utf8_are_escaped(void **state)
{
	(void)state;
	assert_printable("\x80", "\\x80");
	assert_printable("a\xff" "b", "a\\xffb");
	/* Overlong forms of '/', and of NUL. */
	assert_printable("\xc0\xaf", "\\xc0\\xaf");
	assert_printable("\xe0\x80\xaf", "\\xe0\\x80\\xaf");
	assert_printable("\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf");
	assert_printable("\xc0\x80", "\\xc0\\x80");
	/* A surrogate, beyond U+10FFFF, and the first bytes of something longer. */
	assert_printable("\xed\xa0\x80", "\\xed\\xa0\\x80");
	assert_printable("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	assert_printable("\xe2\x82", "\\xe2\\x82");
	assert_printable("\xe2\x82" "a", "\\xe2\\x82a");
}

static void test_marks_that_reorder_or_break_lines_are_escaped(void **state)
{
	(void)state;
	assert_printable("\xe2\x80\xa8", "\\xe2\\x80\\xa8");
	assert_printable("\xe2\x80\xa9", "\\xe2\\x80\\xa9");
	assert_printable("a\xe2\x80\xae" "b", "a\\xe2\\x80\\xaeb");
	assert_printable("\xe2\x80\x8f", "\\xe2\\x80\\x8f");
	assert_printable("\xe2\x81\xa6", "\\xe2\\x81\\xa6");
}

static void test_only_len_bytes_are_looked_at(void **state)
{
	struct textbuf buf = { 0 };

	(void)state;
	/* The euro sign is cut in its middle. */
	text_add_printable(&buf, "ab\xe2\x82\xac", 4);
	assert_string_equal(buf.text, "ab\\xe2\\x82");
	textbuf_clear(&buf);
	text_add_printable(&buf, "a\0b", 3);
	assert_string_equal(buf.text, "a\\x00b");
	textbuf_release(&buf);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void assert_clean(const char *text, size_t len)
{
	size_t nr;

	for (size_t i = 0; i < len; i += nr) {
		uint32_t code = 0;

		nr = text_utf8_len(text + i, len - i, &code);
		assert_true(nr > 0);
		assert_true(code >= 0x20 && code != 0x7f && !(code >= 0x80 && code < 0xa0));
	}
}

static void test_random_bytes_come_out_clean(void **state)
{
	uint64_t seed = UINT64_C(88172645463325252);
	struct textbuf buf = { 0 };

	(void)state;
	for (int i = 0; i < 50000; i++) {
		size_t len = next_random(&seed) % 16;
		char *bytes = malloc(len + 1);

		assert_non_null(bytes);
		for (size_t j = 0; j < len; j++)
			bytes[j] = (char)(next_random(&seed) % 0x80 +
					  (next_random(&seed) % 3 ? 0x80 : 0));
		bytes[len] = '\0';
		textbuf_clear(&buf);
		text_add_printable(&buf, bytes, len);
		assert_clean(buf.text, buf.len);
		textbuf_clear(&buf);
		text_add_json(&buf, bytes);
		assert_clean(buf.text, buf.len);
		free(bytes);
	}
	textbuf_release(&buf);
}

static void test_json_strings_are_quoted(void **state)
{
	(void)state;
	assert_json("", "\"\"");
	assert_json("say \"hi\" \\ x", "\"say \\\"hi\\\" \\\\ x\"");
	assert_json("a\n\x1b\x7f", "\"a\\u000a\\u001b\\u007f\"");
	assert_json("\xc3\xa4", "\"\xc3\xa4\"");
	assert_json("a\xff" "b\xe2\x82", "\"a\\ufffdb\\ufffd\\ufffd\"");
	assert_json("\xe2\x80\xa8", "\"\\u2028\"");
}

static void test_code_points_are_decoded(void **state)
{
	static const struct {
		const char *text;
		size_t len, nr;
		uint32_t code;
	} cases[] = {
		{ "A", 1, 1, 'A' },		     { "\xc3\xa4", 2, 2, 0xe4 },
		{ "\xe2\x82\xac", 3, 3, 0x20ac },    { "\xf0\x9f\x94\xa5", 4, 4, 0x1f525 },
		{ "\xf0\x9f\x94\xa5", 3, 0, 0 },     { "", 0, 0, 0 },
		{ "\xf8\x88\x80\x80\x80", 5, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t code = 0;

		assert_int_equal(text_utf8_len(cases[i].text, cases[i].len, &code), cases[i].nr);
		assert_int_equal(code, cases[i].code);
	}
}

static void test_numbers_have_three_digits_and_a_unit(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },	       { -5, "0" },	    { NAN, "0" },
		{ 7, "7" },	       { 999, "999" },	    { 999.4, "999" },
		{ 999.6, "1.00k" },    { 1000, "1.00k" },   { 1234567, "1.23M" },
		{ 9994, "9.99k" },     { 9996, "10.0k" },   { 99960, "100k" },
		{ 999600, "1.00M" },   { 12.3e9, "12.3G" }, { 456e12, "456T" },
		{ 1e18, "1.00E" },     { 1e30, "999E" },    { INFINITY, "999E" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[16];

		text_si(cases[i].value, text);
		assert_string_equal(text, cases[i].text);
		assert_true(strlen(text) < 8);
	}
}

static void test_textbuf_grows_and_is_terminated(void **state)
{
	struct textbuf buf = { 0 };

	(void)state;
	textbuf_clear(&buf);
	assert_null(buf.text);
	for (int i = 0; i < 1000; i++) {
		textbuf_printf(&buf, "%03d", i);
		textbuf_puts(&buf, ",");
		assert_int_equal(buf.len, 4 * (i + 1));
		assert_int_equal(buf.text[buf.len], '\0');
	}
	assert_memory_equal(buf.text + 3996, "999,", 5);
	textbuf_clear(&buf);
	assert_string_equal(buf.text, "");
	textbuf_release(&buf);
	assert_null(buf.text);
	assert_int_equal(buf.nr_allocated, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_text_passes_unchanged),
		cmocka_unit_test(test_control_characters_are_escaped),
		cmocka_unit_test(test_bytes_that_are_no_utf8_are_escaped),
		cmocka_unit_test(test_marks_that_reorder_or_break_lines_are_escaped),
		cmocka_unit_test(test_only_len_bytes_are_looked_at),
		cmocka_unit_test(test_random_bytes_come_out_clean),
		cmocka_unit_test(test_json_strings_are_quoted),
		cmocka_unit_test(test_code_points_are_decoded),
		cmocka_unit_test(test_numbers_have_three_digits_and_a_unit),
		cmocka_unit_test(test_textbuf_grows_and_is_terminated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
