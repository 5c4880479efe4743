/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which columns stand where, and what they print. */
#include "config.h"

#include "ui/column.h"

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
#include "ui/screen.h"

static bool is_shown(const struct column_place *places, size_t nr, const char *title)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(places[i].column->title, title))
			return true;
	return false;
}

/* What the column called @title prints for @row, the caller's to free. */
static char *printed(const struct view_spec *spec, const struct row *row, const char *title)
{
	struct column_place places[MAX_COLUMNS];
	size_t nr = columns_choose(spec, 200, places);
	struct textbuf buf = { 0 };

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(places[i].column->title, title))
			places[i].column->print(row, &buf);
	assert_non_null(buf.text);
	return buf.text;
}

static void assert_printed(const struct view_spec *spec, const struct row *row, const char *title,
			   const char *expected)
{
	char *text = printed(spec, row, title);

	assert_string_equal(text, expected);
	free(text);
}

static void all_keys(struct view_spec *spec)
{
	view_spec_init(spec);
	spec->keys.nr = NR_SORT_KEYS;
	for (size_t i = 0; i < NR_SORT_KEYS; i++)
		spec->keys.keys[i] = (enum sort_key)i;
}

static struct row blank_row(void)
{
	return (struct row){ .comm = "",
			     .dso = "",
			     .dso_path = "",
			     .symbol = "",
			     .event = "",
			     .pid = -1,
			     .tid = -1,
			     .cpu = -1,
			     .node = -1 };
}

static void test_columns_never_overlap_at_any_width(void **state UNUSED)
{
	struct column_place places[MAX_COLUMNS];
	struct view_spec spec;

	for (int kind = 0; kind < 4; kind++) {
		all_keys(&spec);
		if (kind & 1)
			view_spec_init(&spec);
		spec.children = kind & 2;
		for (int width = 1; width <= 300; width++) {
			size_t nr = columns_choose(&spec, width, places);
			int end = 0;

			assert_true(nr > 0);
			for (size_t i = 0; i < nr; i++) {
				assert_true(places[i].x >= end);
				assert_true(places[i].width > 0);
				end = places[i].x + places[i].width + 1;
			}
		}
	}
}

static void test_columns_of_keys_not_in_use_are_absent(void **state UNUSED)
{
	struct column_place places[MAX_COLUMNS];
	struct view_spec spec;
	size_t nr;

	view_spec_init(&spec);
	nr = columns_choose(&spec, 200, places);
	assert_true(is_shown(places, nr, "OVERHEAD"));
	assert_true(is_shown(places, nr, "COMM"));
	assert_true(is_shown(places, nr, "SYMBOL"));
	assert_false(is_shown(places, nr, "PID"));
	assert_false(is_shown(places, nr, "CHILDREN"));
	assert_false(is_shown(places, nr, "SAMPLES"));
}

static void test_call_chains_give_two_share_columns(void **state UNUSED)
{
	struct column_place places[MAX_COLUMNS];
	struct view_spec spec;
	size_t nr;

	view_spec_init(&spec);
	spec.children = true;
	nr = columns_choose(&spec, 80, places);
	assert_string_equal(places[0].column->title, "CHILDREN");
	assert_string_equal(places[1].column->title, "SELF");
	assert_false(is_shown(places, nr, "OVERHEAD"));
}

static void test_fc088_numbers_and_object_stay_on_narrow_screens(void **state UNUSED)
{
	struct column_place places[MAX_COLUMNS];
	struct view_spec spec;

	view_spec_init(&spec);
	for (int width = 20; width <= 80; width++) {
		size_t nr = columns_choose(&spec, width, places);

		assert_true(is_shown(places, nr, "OVERHEAD"));
		assert_true(is_shown(places, nr, "OBJECT"));
		assert_true(places[nr - 1].x + places[nr - 1].width <= width);
	}
}

static void test_the_last_column_takes_the_rest(void **state UNUSED)
{
	struct column_place places[MAX_COLUMNS];
	struct view_spec spec;
	size_t nr;

	view_spec_init(&spec);
	nr = columns_choose(&spec, 300, places);
	assert_int_equal(places[nr - 1].x + places[nr - 1].width, 300);
}

static void test_unknown_is_a_dash(void **state UNUSED)
{
	struct row row = blank_row();
	struct view_spec spec;

	all_keys(&spec);
	row.self_share = (double)NAN;
	assert_printed(&spec, &row, "OVERHEAD", "-");
	assert_printed(&spec, &row, "PID", "-");
	assert_printed(&spec, &row, "TID", "-");
	assert_printed(&spec, &row, "CPU", "-");
	assert_printed(&spec, &row, "NODE", "-");
	assert_printed(&spec, &row, "COMM", "-");
	assert_printed(&spec, &row, "OBJECT", "-");
	assert_printed(&spec, &row, "SYMBOL", "-");
	assert_printed(&spec, &row, "EVENT", "-");
}

static void test_zero_is_a_zero(void **state UNUSED)
{
	struct row row = blank_row();
	struct view_spec spec;

	all_keys(&spec);
	row.pid = 0;
	row.cpu = 0;
	row.node = 0;
	assert_printed(&spec, &row, "OVERHEAD", "0.00%");
	assert_printed(&spec, &row, "PID", "0");
	assert_printed(&spec, &row, "CPU", "0");
	assert_printed(&spec, &row, "NODE", "0");
}

static void test_levels_have_marks(void **state UNUSED)
{
	static const char *const marks[] = { "[.]", "[k]", "[u]", "[g]", "[H]" };
	struct row row = blank_row();
	struct view_spec spec;

	view_spec_init(&spec);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		row.level = (enum row_level)i;
		assert_printed(&spec, &row, "", marks[i]);
	}
	row.level = (enum row_level)99;
	assert_printed(&spec, &row, "", "[ ]");
}

static void test_hot_and_warm_have_their_styles(void **state UNUSED)
{
	static const struct {
		double share;
		unsigned int style;
	} cases[] = {
		{ 0.05, STYLE_HOT },	  { 0.0499, STYLE_WARM }, { 0.005, STYLE_WARM },
		{ 0.0049, STYLE_NORMAL }, { 0, STYLE_NORMAL },
	};
	struct column_place places[MAX_COLUMNS];
	struct view_spec spec;

	view_spec_init(&spec);
	columns_choose(&spec, 80, places);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct row row = blank_row();

		row.self_share = cases[i].share;
		assert_int_equal(places[0].column->style(&row), cases[i].style);
	}
}

static void test_changes_have_a_column_where_there_are_any(void **state UNUSED)
{
	static const struct {
		enum row_change change;
		double delta;
		const char *text;
		unsigned int style;
	} cases[] = {
		{ CHANGE_NONE, 0, "-", STYLE_NORMAL },
		{ CHANGE_UNKNOWN, 0, "-", STYLE_DIM },
		{ CHANGE_NEW, 0.4, "new", STYLE_HOT },
		{ CHANGE_NEW, 0.004, "new", STYLE_NORMAL },
		{ CHANGE_SHARE, 0.005, "+0.50", STYLE_HOT },
		{ CHANGE_SHARE, 0.0049, "+0.49", STYLE_NORMAL },
		{ CHANGE_SHARE, 0, "0.00", STYLE_NORMAL },
		{ CHANGE_SHARE, -0.0049, "-0.49", STYLE_NORMAL },
		{ CHANGE_SHARE, -0.005, "-0.50", STYLE_WARM },
		{ CHANGE_SHARE, (double)NAN, "-", STYLE_NORMAL },
	};
	struct column_place places[MAX_COLUMNS];
	struct view_spec spec;

	view_spec_init(&spec);
	assert_false(is_shown(places, columns_choose(&spec, 80, places), "DELTA"));
	spec.delta = true;
	assert_true(is_shown(places, columns_choose(&spec, 80, places), "DELTA"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct row row = blank_row();

		row.change = cases[i].change;
		row.delta = cases[i].delta;
		assert_printed(&spec, &row, "DELTA", cases[i].text);
		assert_int_equal(places[1].column->style(&row), cases[i].style);
	}
}

static void test_sorting_by_samples_shows_them(void **state UNUSED)
{
	struct column_place places[MAX_COLUMNS];
	struct view_spec spec;
	size_t nr;

	view_spec_init(&spec);
	spec.order = ORDER_SAMPLES;
	nr = columns_choose(&spec, 80, places);
	assert_true(is_shown(places, nr, "SAMPLES"));
	spec.order = ORDER_PERIOD;
	nr = columns_choose(&spec, 80, places);
	assert_true(is_shown(places, nr, "PERIOD"));
}

static void test_exactly_one_column_is_sorted(void **state UNUSED)
{
	const struct column *columns[MAX_COLUMNS];
	struct view_spec spec;
	size_t nr;

	all_keys(&spec);
	assert_int_equal(columns_sortable(&spec, columns), 3 + NR_SORT_KEYS);
	spec.delta = true;
	nr = columns_sortable(&spec, columns);
	assert_int_equal(nr, 4 + NR_SORT_KEYS);
	for (size_t i = 0; i < nr; i++) {
		size_t nr_sorted = 0;

		spec.order = columns[i]->order;
		spec.order_key = columns[i]->key;
		for (size_t j = 0; j < nr; j++)
			nr_sorted += column_is_sorted(columns[j], &spec);
		assert_int_equal(nr_sorted, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_never_overlap_at_any_width),
		cmocka_unit_test(test_columns_of_keys_not_in_use_are_absent),
		cmocka_unit_test(test_call_chains_give_two_share_columns),
		cmocka_unit_test(test_fc088_numbers_and_object_stay_on_narrow_screens),
		cmocka_unit_test(test_the_last_column_takes_the_rest),
		cmocka_unit_test(test_unknown_is_a_dash),
		cmocka_unit_test(test_zero_is_a_zero),
		cmocka_unit_test(test_levels_have_marks),
		cmocka_unit_test(test_hot_and_warm_have_their_styles),
		cmocka_unit_test(test_changes_have_a_column_where_there_are_any),
		cmocka_unit_test(test_sorting_by_samples_shows_them),
		cmocka_unit_test(test_exactly_one_column_is_sorted),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
