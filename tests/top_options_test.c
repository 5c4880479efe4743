/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "top/options.h"

static int parse(struct options *options, struct err *err, const char *line)
{
	static char copy[512];
	static char *argv[64];
	char *rest = copy;
	char *word;
	int argc = 0;

	snprintf(copy, sizeof(copy), "symtop %s", line);
	while ((word = strsep(&rest, " ")) && argc < 63)
		argv[argc++] = word;
	argv[argc] = NULL;
	options_init(options);
	return options_parse(options, argc, argv, err);
}

static void test_defaults_are_those_of_the_manual(void **state)
{
	struct options options;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(parse(&options, &err, "-v"), 0);
	assert_int_equal(options.freq, 4000);
	assert_int_equal(options.refresh_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(options.spec.window, VIEW_WINDOW_TIME);
	assert_int_equal(options.spec.keys.nr, 3);
	assert_false(options.batch);
	options_release(&options);
}

static void test_a_command_begins_at_the_first_word(void **state)
{
	struct options options;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(parse(&options, &err, "-b make -j 4"), 0);
	assert_string_equal(options.command[0], "make");
	assert_string_equal(options.command[1], "-j");
	options_release(&options);
	assert_int_equal(parse(&options, &err, "-b -- -odd"), 0);
	assert_string_equal(options.command[0], "-odd");
	options_release(&options);
}

static void test_bad_values_name_the_option(void **state)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
		{ "-d 0.05", "--delay" },	  { "-d -1", "--delay" },
		{ "-d 1e400", "--delay" },	  { "-d nan", "--delay" },
		{ "-d", "needs a value" },	  { "-F 0", "--freq" },
		{ "-F 4k", "--freq" },		  { "-F -5", "--freq" },
		{ "-c 0", "--count" },		  { "-n 0", "--reports" },
		{ "-s nonsense", "nonsense" },	  { "--format xml", "--format" },
		{ "--no-such", "--no-such" },	  { "--readers 0", "--readers" },
		{ "--call-graph dwarf", "fp" },	  { "--percent-limit 101", "--percent-limit" },
		{ "--percent-limit x", "--percent-limit" }, { "--color blue", "--color" },
		{ "-p 1 -t 1", "only one" },	  { "-p 1 sleep", "only one" },
		{ "-a -u root", "only one" },	  { "-C 0 --node 0", "exclude" },
		{ "--stay", "command" },	  { "-K -U", "everything" },
		{ "--window 0", "--window" },	  { "--synth-threads 99999", "--synth-threads" },
		{ "--flight 0.9", "--flight" },	  { "--flight 61m", "1 hour" },
		{ "--flight 1e30", "--flight" },  { "--flight -1", "--flight" },
		{ "-w", "needs a value" },	  { "--record=", "--record" },
		{ "-i x -w y", "-w has no" },	  { "-i x --flight 10", "--flight has no" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct options options;
		struct err err = { 0 };

		if (parse(&options, &err, cases[i].line) != -EINVAL ||
		    !strstr(err.text, cases[i].text))
			fail_msg("%s: %s", cases[i].line, err.text);
		options_release(&options);
	}
}

static void test_what_is_recorded_is_named(void **state)
{
	struct options options;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(parse(&options, &err, "-b -d 1"), 0);
	assert_null(options.record);
	assert_int_equal(options.keep_ns, 0);
	options_release(&options);
	assert_int_equal(parse(&options, &err, "-w a.data --flight 1.5"), 0);
	assert_string_equal(options.record, "a.data");
	assert_int_equal(options.keep_ns, 1500 * NSEC_PER_MSEC);
	assert_int_equal(options.nr_arguments, 5);
	assert_string_equal(options.arguments[4], "1.5");
	options_release(&options);
	assert_int_equal(parse(&options, &err, "--flight 1h"), 0);
	assert_int_equal(options.keep_ns, 3600 * NSEC_PER_SEC);
	options_release(&options);
	assert_int_equal(parse(&options, &err, "--flight 1 --record b"), 0);
	assert_string_equal(options.record, "b");
	options_release(&options);
}

static void test_times_take_units(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(options_parse_time("0.5", 1, &ns), 0);
	assert_int_equal(ns, 500 * NSEC_PER_MSEC);
	assert_int_equal(options_parse_time("100ms", 1, &ns), 0);
	assert_int_equal(ns, 100 * NSEC_PER_MSEC);
	assert_int_equal(options_parse_time("2m", 1, &ns), 0);
	assert_int_equal(ns, 120 * NSEC_PER_SEC);
	assert_int_equal(options_parse_time("1x", 1, &ns), -EINVAL);
	assert_int_equal(options_parse_time("", 1, &ns), -EINVAL);
	assert_int_equal(options_parse_time("inf", 1, &ns), -EINVAL);
}

static void test_fc017_ring_sizes_are_rounded_up_or_refused(void **state)
{
	static const struct {
		const char *text;
		size_t bytes;
		int ret;
	} cases[] = {
		{ "1", 4096, 0 },	   { "3", 4 * 4096, 1 },   { "5", 8 * 4096, 1 },
		{ "1000", 1024 * 4096, 1 }, { "16M", 16 << 20, 0 }, { "1K", 4096, 1 },
		{ "5000B", 8192, 1 },	   { "1G", 1 << 30, 0 },   { "0", 0, -EINVAL },
		{ "-1", 0, -EINVAL },	   { "+1", 0, -EINVAL },   { " 1", 0, -EINVAL },
		{ "", 0, -EINVAL },	   { "abc", 0, -EINVAL },  { "1MB", 0, -EINVAL },
		{ "3G", 0, -EINVAL },	   { "2147483648", 0, -EINVAL },
		{ "18446744073709551615", 0, -EINVAL },
		{ "99999999999999999999", 0, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t bytes = 0;
		int ret = options_parse_pages(cases[i].text, 4096, &bytes);

		if (ret != cases[i].ret || bytes != cases[i].bytes)
			fail_msg("-m %s: %d, %zu bytes", cases[i].text, ret, bytes);
	}
}

static void test_events_are_collected_in_order(void **state)
{
	struct options options;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(parse(&options, &err, "-e cpu-clock -e faults:u -F max"), 0);
	assert_int_equal(options.nr_events, 2);
	assert_string_equal(options.events[1], "faults:u");
	assert_true(options.freq == UINT64_MAX);
	options_release(&options);
}

static void test_windows_have_names_and_lengths(void **state)
{
	struct options options;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(parse(&options, &err, "--window decay"), 0);
	assert_int_equal(options.spec.window, VIEW_WINDOW_DECAY);
	options_release(&options);
	assert_int_equal(parse(&options, &err, "--window 30"), 0);
	assert_int_equal(options.spec.window, VIEW_WINDOW_TIME);
	assert_int_equal(options.spec.window_ns, 30 * NSEC_PER_SEC);
	options_release(&options);
}

static void test_a_format_is_named_or_comes_with_the_suffix(void **state)
{
	static const struct {
		const char *line, *format;
		bool callchain;
	} cases[] = {
		{ "-b", "text", false },
		{ "-o x.csv", "csv", false },
		{ "-o x.unknown", "text", false },
		{ "-o x.csv --format json", "json", false },
		{ "--format text -o x.folded", "text", false },
		{ "-o x.folded", "folded", true },
		{ "-n 1 -o x.speedscope.json", "speedscope", true },
		{ "--duration 1 -o x.svg", "svg", true },
		{ "-n 1 -o x.prom -s dso --rows 3", "prometheus", false },
		{ "--format pprof true", "pprof", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct options options;
		struct err err = { 0 };

		if (parse(&options, &err, cases[i].line) < 0)
			fail_msg("%s: %s", cases[i].line, err.text);
		assert_string_equal(options.format->name, cases[i].format);
		assert_int_equal(options.callchain, cases[i].callchain);
		options_release(&options);
	}
}

static void test_what_a_format_cannot_do_is_refused(void **state)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
		{ "--format xml", "there are text, json, csv, folded" },
		{ "-o x.svg", "give -n 1" },
		{ "-o x.pb.gz -n 2", "give -n 1" },
		{ "-o x.prom -d 1 --duration 5", "give -n 1" },
		{ "-o x.firefox.json -d 1 true", "give -n 1" },
		{ "-o x.folded -s dso", "-s" },
		{ "-o x.folded --rows 5", "--rows" },
		{ "-o x.perf-script --percent-limit 1", "--percent-limit" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct options options;
		struct err err = { 0 };

		if (parse(&options, &err, cases[i].line) != -EINVAL ||
		    !strstr(err.text, cases[i].text))
			fail_msg("%s: %s", cases[i].line, err.text);
		options_release(&options);
	}
}

static void test_the_command_line_is_kept_as_a_shell_takes_it_and_printable(void **state)
{
	char *argv[] = { (char[]){ "/usr/bin/symtop" }, (char[]){ "-b" }, (char[]){ "--filter" },
			 (char[]){ "comm='a b'" },	(char[]){ "--" }, (char[]){ "x\x1b[31m" },
			 (char[]){ "" },		NULL };
	struct options options;
	struct err err = { 0 };

	(void)state;
	options_init(&options);
	assert_int_equal(options_parse(&options, 7, argv, &err), 0);
	assert_string_equal(options.command_line,
			    "symtop -b --filter 'comm='\\''a b'\\''' -- 'x\\x1b[31m' ''");
	options_release(&options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_those_of_the_manual),
		cmocka_unit_test(test_a_command_begins_at_the_first_word),
		cmocka_unit_test(test_bad_values_name_the_option),
		cmocka_unit_test(test_what_is_recorded_is_named),
		cmocka_unit_test(test_times_take_units),
		cmocka_unit_test(test_fc017_ring_sizes_are_rounded_up_or_refused),
		cmocka_unit_test(test_events_are_collected_in_order),
		cmocka_unit_test(test_windows_have_names_and_lengths),
		cmocka_unit_test(test_a_format_is_named_or_comes_with_the_suffix),
		cmocka_unit_test(test_what_a_format_cannot_do_is_refused),
		cmocka_unit_test(test_the_command_line_is_kept_as_a_shell_takes_it_and_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
