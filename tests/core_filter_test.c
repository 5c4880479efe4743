/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One subject, and filters that it passes or not. */
#include "config.h"

#include "core/filter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct filter_subject subject = {
	.comm = "Web Content",
	.dso = "libxul.so",
	.symbol = "std::vector<int>::push_back(int const&)",
	.event = "cycles:P",
	.pid = 1234,
	.tid = 1240,
	.cpu = 0,
	.node = 1,
};

static bool matches(const char *text, const struct filter_subject *who)
{
	struct filter *filter;
	struct err err;
	bool matched;

	if (filter_parse(text, &filter, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	matched = filter_match(filter, who);
	filter_free(filter);
	return matched;
}

static void assert_matches(const char *const *texts, size_t nr, bool wanted)
{
	for (size_t i = 0; i < nr; i++) {
		if (matches(texts[i], &subject) != wanted)
			fail_msg("'%s' should%s match", texts[i], wanted ? "" : " not");
	}
}

static void test_what_matches(void **state)
{
	static const char *const yes[] = {
		"",
		"  ",
		"web",
		"WEB",
		"xul",
		"push_back",
		"\"Web C\"",
		"web xul",
		"web | nothing",
		"nothing | xul",
		"!nothing",
		"!!web",
		"! nothing",
		"(web)",
		"( web | x ) xul",
		"comm=\"Web Content\"",
		"comm!=web",
		"dso=libxul.so",
		"dso~^libxul\\.so$",
		"symbol~\"push_back\\(int\"",
		"sym~vector<int>",
		"event=cycles:P",
		"pid=1234",
		"pid = 1234",
		"pid!=5",
		"pid>1000",
		"pid<2000",
		"pid>=1234",
		"pid<=1234",
		"tid=1240",
		"cpu=0",
		"cpu<1",
		"node=1",
		"symbol~\"^std::(vector|list)<\"",
		"nothing web | xul",
		"\"std::vector<int>\"",
		"std::vector<int>::push",
		"comm~\"^Web|^nothing\"",
		"dso ~ \\.so$",
		"(((web)))",
		"!(nothing | none)",
		"comm~x{0}",
	};

	(void)state;
	assert_matches(yes, ARRAY_SIZE(yes), true);
}

static void test_what_does_not(void **state)
{
	static const char *const no[] = {
		"nothing",	  "web nothing",
		"!web",		  "!(web)",
		"comm=web",	  "comm=Web\\ Content | none",
		"dso=libxul",	  "dso~^xul",
		"dso!=libxul.so", "pid=123",
		"pid>1234",	  "pid<1234",
		"pid!=1234",	  "cpu!=0",
		"cycles",	  "symbol~push_back$",
		"dso~LIBXUL",	  "web !xul",
		"!!nothing",	  "comm=\"\"",
		"1234",		  "(nothing | none) web",
	};

	(void)state;
	assert_matches(no, ARRAY_SIZE(no), false);
}

static void test_unknown_never_matches_a_comparison(void **state)
{
	static const char *const texts[] = {
		"comm=x", "comm!=x", "comm~.*", "symbol=\"\"", "x",	  "pid=1",
		"pid!=1", "pid<5",   "cpu>=0",	"cpu!=0",      "node<=9", "event!=x",
	};
	const struct filter_subject nobody = { .pid = -1, .tid = -1, .cpu = -1, .node = -1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_false(matches(texts[i], &nobody));
	assert_true(matches("", &nobody));
	assert_true(matches("!pid=1", &nobody));
}

static void test_a_quoted_value_keeps_backslashes_and_quotes(void **state)
{
	const struct filter_subject odd = {
		.comm = "a\"b\\c", .pid = -1, .tid = -1, .cpu = -1, .node = -1
	};

	(void)state;
	assert_true(matches("comm=\"a\\\"b\\c\"", &odd));
	assert_true(matches("comm~\"b\\\\c$\"", &odd));
	assert_false(matches("comm~\"b.\\.c\"", &odd));
}

static void assert_refused(const char *text, const char *place)
{
	struct filter *filter = NULL;
	struct err err = { 0 };

	if (filter_parse(text, &filter, &err) != -EINVAL)
		fail_msg("'%s' was taken", text);
	assert_null(filter);
	if (!strstr(err.text, place))
		fail_msg("'%s': '%s' does not say '%s'", text, err.text, place);
	assert_int_equal(filter_parse(text, &filter, NULL), -EINVAL);
}

static void test_faults_are_named_with_their_place(void **state)
{
	(void)state;
	assert_refused("com=x", "character 1 ('com=x')");
	assert_refused("web com=x", "character 5 ('com=x')");
	assert_refused("(web", "character 5 (at the end)");
	assert_refused("web)", "character 4");
	assert_refused("()", "character 2");
	assert_refused("web |", "character 6");
	assert_refused("| web", "character 1");
	assert_refused("web || xul", "character 6");
	assert_refused("!", "character 2");
	assert_refused("comm=", "character 6");
	assert_refused("comm= ", "character 7");
	assert_refused("comm=\"x", "quote is not closed");
	assert_refused("\"", "quote is not closed");
	assert_refused("f(int)", "quotes");
	assert_refused("symbol=f(int)", "quotes");
	assert_refused("pid=", "missing");
	assert_refused("pid=12x", "number");
	assert_refused("pid=-1", "number");
	assert_refused("pid=x", "number");
	assert_refused("pid=\"\"", "number");
	assert_refused("pid=99999999999999999999", "too large");
	assert_refused("pid~1", "number");
	assert_refused("comm<x", "name");
	assert_refused("comm~\"[\"", "character 6");
	assert_refused("comm~\"(\"", "character 6");
}

static void test_messages_hold_no_control_characters(void **state)
{
	struct filter *filter;
	struct err err;

	(void)state;
	assert_int_equal(filter_parse("a )\033[31m", &filter, &err), -EINVAL);
	assert_null(strchr(err.text, '\033'));
}

static void test_hostile_patterns_are_refused(void **state)
{
	char text[400];

	(void)state;
	assert_refused("comm~\"(a{1,200}){1,200}\"", "repeats");
	assert_refused("comm~\"((x{9}){9}){9,99}\"", "repeats");
	assert_refused("comm~\"x{99999999999999999999}\"", "repeats");
	assert_refused("comm~\"(a*)\\1\"", "back-references");
	memset(text, 'a', sizeof(text));
	memcpy(text, "comm~", 5);
	text[sizeof(text) - 1] = '\0';
	assert_refused(text, "too long");
}

static void test_hostile_texts_end(void **state)
{
	char text[2000];
	struct filter *filter;

	(void)state;
	memset(text, '(', sizeof(text));
	text[1000] = '\0';
	assert_refused(text, "nested too deep");
	memset(text, '!', sizeof(text));
	text[1000] = '\0';
	assert_refused(text, "missing");
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_refused(text, "longer");
	for (size_t i = 0; i < 500; i++)
		memcpy(text + 2 * i, "a|", 2);
	text[999] = '\0';
	assert_int_equal(filter_parse(text, &filter, NULL), 0);
	assert_true(filter_match(filter, &(struct filter_subject){ .comm = "xax" }));
	filter_free(filter);
}

/* Every prefix of every text, and every byte replaced: parsed or refused, never a crash. */
static void test_broken_texts_do_not_crash(void **state)
{
	static const char *const texts[] = {
		"(comm=\"a b\" | !pid>=12) dso~^lib symbol~\"x|y\" cpu<3",
		"a b|c !d (e|f) \"g h\" node!=2 event=cycles:P",
	};
	static const char bytes[] = "()|!\"=~<>{}[]\\*+?,0a \xff\033";
	char text[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		for (size_t place = 0; place < strlen(texts[i]); place++) {
			for (size_t byte = 0; byte < sizeof(bytes); byte++) {
				struct filter *filter = NULL;

				snprintf(text, sizeof(text), "%s", texts[i]);
				text[place] = bytes[byte];
				if (!filter_parse(text, &filter, NULL))
					(void)filter_match(filter, &subject);
				filter_free(filter);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_matches),
		cmocka_unit_test(test_what_does_not),
		cmocka_unit_test(test_unknown_never_matches_a_comparison),
		cmocka_unit_test(test_a_quoted_value_keeps_backslashes_and_quotes),
		cmocka_unit_test(test_faults_are_named_with_their_place),
		cmocka_unit_test(test_messages_hold_no_control_characters),
		cmocka_unit_test(test_hostile_patterns_are_refused),
		cmocka_unit_test(test_hostile_texts_end),
		cmocka_unit_test(test_broken_texts_do_not_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
