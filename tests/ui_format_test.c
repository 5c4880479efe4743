/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as people read them. */
#include "config.h"

#include "ui/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"

static void assert_share(double share, const char *expected)
{
	char text[FORMAT_SIZE];

	format_share(share, 2, text);
	assert_string_equal(text, expected);
}

static void test_fc078_nan_and_negative_zero_are_never_printed(void **state UNUSED)
{
	char text[FORMAT_SIZE];

	assert_share(0.0 / (double)0, "-");
	assert_share((double)NAN, "-");
	assert_share((double)INFINITY, "-");
	assert_share(-0.0, "0.00%");
	assert_share(-1e-12, "0.00%");
	assert_share(-5, "0.00%");
	format_count((double)NAN, text);
	assert_string_equal(text, "-");
	format_count(-0.0, text);
	assert_string_equal(text, "0");
	format_count(-0.4, text);
	assert_string_equal(text, "0");
}

static void test_shares_have_two_decimals_and_a_limit(void **state UNUSED)
{
	assert_share(0, "0.00%");
	assert_share(0.26721, "26.72%");
	assert_share(1, "100.00%");
	assert_share(1e300, "999.00%");
}

static void assert_points(double change, const char *expected)
{
	char text[FORMAT_SIZE];

	format_points(change, text);
	assert_string_equal(text, expected);
}

static void test_changes_have_a_sign_unless_they_are_none(void **state UNUSED)
{
	assert_points(0.013, "+1.30");
	assert_points(-0.0075, "-0.75");
	assert_points(1, "+100.00");
	assert_points(0, "0.00");
	assert_points(0.00004, "0.00");
	assert_points(-0.00004, "0.00");
	assert_points(0.00006, "+0.01");
	assert_points(-1e300, "-999.00");
	assert_points((double)NAN, "-");
	assert_points((double)INFINITY, "-");
}

static void test_counts_are_exact_until_a_million(void **state UNUSED)
{
	char text[FORMAT_SIZE];

	format_count(0, text);
	assert_string_equal(text, "0");
	format_count(999999, text);
	assert_string_equal(text, "999999");
	format_count(1234567, text);
	assert_string_equal(text, "1.23M");
	format_count(1e300, text);
	assert_true(strlen(text) < 9);
}

static void test_durations_change_their_unit(void **state UNUSED)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 s" },
		{ 196, "196 ns" },
		{ 999, "999 ns" },
		{ 1000, "1 us" },
		{ 31400, "31 us" },
		{ 99499, "99 us" },
		{ 99500, "0.1 ms" },
		{ 3100 * NSEC_PER_USEC, "3.1 ms" },
		{ 99 * NSEC_PER_MSEC, "99.0 ms" },
		{ 210 * NSEC_PER_MSEC, "0.21 s" },
		{ 999 * NSEC_PER_MSEC, "1.0 s" },
		{ 2 * NSEC_PER_SEC, "2.0 s" },
		{ 10 * NSEC_PER_SEC, "10 s" },
		{ 600 * NSEC_PER_SEC, "10.0 min" },
		{ 9000 * NSEC_PER_SEC, "2.5 h" },
	};
	char text[FORMAT_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		format_duration(cases[i].ns, text);
		assert_string_equal(text, cases[i].text);
	}
	format_duration(UINT64_MAX, text);
	assert_true(strlen(text) < FORMAT_SIZE - 1);
}

static void test_bytes_are_powers_of_1024(void **state UNUSED)
{
	char text[FORMAT_SIZE];

	format_bytes(512, text);
	assert_string_equal(text, "512 B");
	format_bytes(UINT64_C(84) << 20, text);
	assert_string_equal(text, "84 MB");
	format_bytes(UINT64_C(1229) << 20, text);
	assert_string_equal(text, "1.2 GB");
	format_bytes(UINT64_MAX, text);
	assert_string_equal(text, "16 EB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fc078_nan_and_negative_zero_are_never_printed),
		cmocka_unit_test(test_shares_have_two_decimals_and_a_limit),
		cmocka_unit_test(test_changes_have_a_sign_unless_they_are_none),
		cmocka_unit_test(test_counts_are_exact_until_a_million),
		cmocka_unit_test(test_durations_change_their_unit),
		cmocka_unit_test(test_bytes_are_powers_of_1024),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
