/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rows are compared with: the module, then the key and the column. */
#include "config.h"

#include "ui/baseline.h"

#include <math.h>
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

/* Rows with these shares, ids from 1; a share below 0: no such row. */
static struct snapshot *with_shares(const struct view_spec *spec, const double *shares, size_t nr)
{
	struct snapshot *snapshot = snapshot_new(spec);

	fixture_fill_header(snapshot);
	for (size_t i = 0; i < nr; i++) {
		struct fixture_row row = { i + 1, shares[i], "crowd", "crowd", NULL, LEVEL_USER };
		char name[32];

		snprintf(name, sizeof(name), "row_%zu", i + 1);
		row.symbol = name;
		if (shares[i] >= 0)
			fixture_add_row(snapshot, &row);
	}
	snapshot_sort(snapshot);
	return snapshot;
}

static const double before_shares[] = { 0.5, 0.3, 0.1 };
static const double after_shares[] = { 0.2, 0.31, -1, 0.4 };

static const struct row *row_of(const struct snapshot *snapshot, uint64_t id)
{
	for (size_t i = 0; i < snapshot_nr_rows(snapshot); i++)
		if (snapshot_row(snapshot, i)->id == id)
			return snapshot_row(snapshot, i);
	fail_msg("no row %u", (unsigned int)id);
	abort(); /* no compiler knows that the line before does not return */
}

static void assert_change(const struct snapshot *snapshot, uint64_t id, enum row_change change,
			  double delta)
{
	const struct row *row = row_of(snapshot, id);

	assert_int_equal(row->change, change);
	if (!(fabs(row->delta - delta) < 1e-9))
		fail_msg("%f instead of %f", row->delta, delta);
}

/* Compare @after_shares for @after with @before_shares for @before; @edit may change these. */
static struct snapshot *compare(const struct view_spec *before, const struct view_spec *after,
				void (*edit)(struct snapshot *snapshot), size_t *ret_nr_gone)
{
	struct snapshot *old = with_shares(before, before_shares, ARRAY_SIZE(before_shares));
	struct snapshot *new = with_shares(after, after_shares, ARRAY_SIZE(after_shares));
	struct snapshot *compared;
	struct baseline *baseline;

	if (edit)
		edit(old);
	baseline = baseline_new(old);
	snapshot_put(old);
	assert_true(baseline_fits(baseline, after));
	compared = baseline_compare(baseline, new, ret_nr_gone);
	snapshot_put(new);
	baseline_free(baseline);
	return compared;
}

static void test_rows_tell_their_change_new_and_gone(void **state UNUSED)
{
	struct snapshot *compared;
	struct view_spec spec;
	size_t nr_gone;

	view_spec_init(&spec);
	compared = compare(&spec, &spec, NULL, &nr_gone);
	assert_change(compared, 1, CHANGE_SHARE, -0.3);
	assert_change(compared, 2, CHANGE_SHARE, 0.01);
	assert_change(compared, 4, CHANGE_NEW, 0.4);
	assert_int_equal(snapshot_nr_rows(compared), 3);
	assert_int_equal(nr_gone, 1);
	/* What it was made of is gone, its texts are not. */
	assert_string_equal(row_of(compared, 4)->symbol, "row_4");
	assert_string_equal(snapshot_header(compared)->host, "node07");
	snapshot_put(compared);
}

static void test_without_a_baseline_rows_tell_nothing(void **state UNUSED)
{
	struct snapshot *compared, *plain;
	struct view_spec spec;
	size_t nr_gone;

	view_spec_init(&spec);
	spec.order = ORDER_DELTA;
	compared = compare(&spec, &spec, NULL, &nr_gone);
	plain = baseline_remove(compared);
	snapshot_put(compared);
	assert_change(plain, 4, CHANGE_NONE, 0);
	assert_false(snapshot_spec(plain)->delta);
	assert_int_equal(snapshot_spec(plain)->order, ORDER_SELF);
	assert_int_equal(snapshot_row(plain, 0)->id, 4);
	assert_int_equal(snapshot_row(plain, 1)->id, 2);
	snapshot_put(plain);
}

static void test_the_largest_changes_of_either_sign_stand_on_top(void **state UNUSED)
{
	static const uint64_t order[] = { 4, 1, 2 };
	struct snapshot *compared;
	struct view_spec spec;
	size_t nr_gone;

	view_spec_init(&spec);
	spec.order = ORDER_DELTA;
	compared = compare(&spec, &spec, NULL, &nr_gone);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(snapshot_row(compared, i)->id, order[i]);
	snapshot_put(compared);
	spec.inverted = true;
	compared = compare(&spec, &spec, NULL, &nr_gone);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(snapshot_row(compared, i)->id, order[2 - i]);
	snapshot_put(compared);
}

static void hide_some(struct snapshot *snapshot)
{
	snapshot_edit_header(snapshot)->nr_rows_hidden = 5;
}

static void leave_unnamed(struct snapshot *snapshot)
{
	snapshot_edit_row(snapshot, 2)->symbol_pending = true;
}

static void leave_another_unnamed(struct snapshot *snapshot)
{
	snapshot_edit_row(snapshot, 2)->dso_path = "/opt/other";
	snapshot_edit_row(snapshot, 2)->symbol_pending = true;
}

static void test_what_may_have_been_hidden_is_not_called_new(void **state UNUSED)
{
	struct snapshot *compared;
	struct view_spec spec, filtered;
	size_t nr_gone;

	view_spec_init(&spec);
	compared = compare(&spec, &spec, hide_some, &nr_gone);
	assert_change(compared, 4, CHANGE_UNKNOWN, 0);
	assert_change(compared, 1, CHANGE_SHARE, -0.3);
	assert_int_equal(nr_gone, 1);
	snapshot_put(compared);
	filtered = spec;
	snprintf(filtered.filter, sizeof(filtered.filter), "comm=crowd");
	/* A filter that came later hides rows of the baseline; they are not gone. */
	compared = compare(&spec, &filtered, NULL, &nr_gone);
	assert_change(compared, 4, CHANGE_NEW, 0.4);
	assert_true(nr_gone == BASELINE_GONE_UNKNOWN);
	snapshot_put(compared);
	compared = compare(&filtered, &spec, NULL, &nr_gone);
	assert_change(compared, 4, CHANGE_UNKNOWN, 0);
	assert_int_equal(nr_gone, 1);
	snapshot_put(compared);
	compared = compare(&filtered, &filtered, NULL, &nr_gone);
	assert_change(compared, 4, CHANGE_NEW, 0.4);
	assert_int_equal(nr_gone, 1);
	snapshot_put(compared);
}

static void test_names_that_come_later_make_no_row_new_or_gone(void **state UNUSED)
{
	struct snapshot *compared;
	struct view_spec spec;
	size_t nr_gone;

	view_spec_init(&spec);
	compared = compare(&spec, &spec, leave_unnamed, &nr_gone);
	assert_change(compared, 4, CHANGE_UNKNOWN, 0);
	assert_int_equal(nr_gone, 0);
	snapshot_put(compared);
	/* What is in another object was nothing of that. */
	compared = compare(&spec, &spec, leave_another_unnamed, &nr_gone);
	assert_change(compared, 4, CHANGE_NEW, 0.4);
	snapshot_put(compared);
}

static void test_with_callers_totals_these_are_compared(void **state UNUSED)
{
	struct snapshot *snapshot, *compared;
	struct baseline *baseline;
	struct view_spec spec;
	size_t nr_gone;

	view_spec_init(&spec);
	spec.children = true;
	snapshot = with_shares(&spec, before_shares, ARRAY_SIZE(before_shares));
	snapshot_edit_row(snapshot, 0)->children_share = 0.9;
	baseline = baseline_new(snapshot);
	snapshot_edit_row(snapshot, 0)->children_share = 0.7;
	compared = baseline_compare(baseline, snapshot, &nr_gone);
	assert_change(compared, 1, CHANGE_SHARE, -0.2);
	snapshot_put(compared);
	snapshot_put(snapshot);
	baseline_free(baseline);
}

static void test_what_changes_the_meaning_of_rows_or_shares_does_not_fit(void **state UNUSED)
{
	struct snapshot *snapshot;
	struct view_spec spec, other;
	struct baseline *baseline;

	view_spec_init(&spec);
	snapshot = with_shares(&spec, before_shares, ARRAY_SIZE(before_shares));
	baseline = baseline_new(snapshot);
	snapshot_put(snapshot);
	other = spec;
	other.order = ORDER_PERIOD;
	other.window = VIEW_WINDOW_ALL;
	other.hide_kernel = true;
	other.percent_limit = 1;
	other.end_ns = 1;
	assert_true(baseline_fits(baseline, &other));
	other = spec;
	other.keys.nr = 2;
	assert_false(baseline_fits(baseline, &other));
	other = spec;
	other.keys.keys[0] = SORT_PID;
	assert_false(baseline_fits(baseline, &other));
	other = spec;
	other.event = 0;
	assert_false(baseline_fits(baseline, &other));
	other = spec;
	other.children = true;
	assert_false(baseline_fits(baseline, &other));
	other = spec;
	other.show_idle = true;
	assert_false(baseline_fits(baseline, &other));
	other = spec;
	other.relative = true;
	assert_false(baseline_fits(baseline, &other));
	baseline_free(baseline);
}

/* Shares of what is shown are of something else with each filter. */
static void test_relative_shares_fit_under_the_same_filter_only(void **state UNUSED)
{
	struct snapshot *snapshot;
	struct baseline *baseline;
	struct view_spec spec;

	view_spec_init(&spec);
	spec.relative = true;
	snapshot = with_shares(&spec, before_shares, ARRAY_SIZE(before_shares));
	baseline = baseline_new(snapshot);
	snapshot_put(snapshot);
	assert_true(baseline_fits(baseline, &spec));
	spec.hide_user = true;
	assert_false(baseline_fits(baseline, &spec));
	baseline_free(baseline);
}

/* ---- the key ---- */

struct fixture {
	struct state view;
	struct view_spec spec;
};

static void show(struct fixture *fixture, const double *shares, size_t nr)
{
	struct snapshot *snapshot = with_shares(&fixture->spec, shares, nr);

	state_show(&fixture->view, snapshot);
	snapshot_put(snapshot);
}

static void show_before(struct fixture *fixture)
{
	show(fixture, before_shares, ARRAY_SIZE(before_shares));
}

static void show_after(struct fixture *fixture)
{
	show(fixture, after_shares, ARRAY_SIZE(after_shares));
}

static struct state *set_up(struct fixture *fixture)
{
	*fixture = (struct fixture){ 0 };
	fixture_state(&fixture->view);
	fixture->spec = fixture->view.spec;
	show_before(fixture);
	return &fixture->view;
}

static void assert_shows(struct state *view, const char *text)
{
	char *dump = fixture_draw(view, 24, 80, true);

	if (!strstr(dump, text))
		fail_msg("no \"%s\" on:\n%s", text, dump);
	free(dump);
}

static void assert_hides(struct state *view, const char *text)
{
	char *dump = fixture_draw(view, 24, 80, true);

	if (strstr(dump, text))
		fail_msg("\"%s\" on:\n%s", text, dump);
	free(dump);
}

static void test_b_adds_a_column_of_changes_and_takes_it_away(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	assert_int_equal(fixture_key(view, 'b'), UI_NONE);
	assert_shows(view, "baseline: a column tells");
	assert_shows(view, "\u0394");
	assert_shows(view, "50.00%    0.00 crowd");
	show_after(&fixture);
	assert_shows(view, "20.00%  -30.00 crowd");
	assert_shows(view, "31.00%   +1.00 crowd");
	assert_shows(view, "40.00%     new crowd");
	assert_shows(view, "1 row of it gone");
	assert_int_equal(fixture_key(view, 'b'), UI_NONE);
	assert_shows(view, "the baseline was dropped");
	assert_hides(view, "\u0394");
	assert_hides(view, "new");
	assert_hides(view, "gone");
	show_after(&fixture);
	assert_hides(view, "\u0394");
	state_release(view);
}

static void test_rows_can_be_sorted_by_their_change(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	struct ui_wish wish;

	fixture_key(view, '>');
	assert_int_equal(view->spec.order, ORDER_SAMPLES);
	fixture_key(view, '<');
	fixture_key(view, 'b');
	show_after(&fixture);
	state_key(view, '>', 1, &wish);
	assert_int_equal(wish.action, UI_SPEC);
	assert_int_equal(wish.spec.order, ORDER_DELTA);
	/* The engine knows no changes. */
	assert_false(wish.spec.delta);
	fixture.spec = wish.spec;
	show_after(&fixture);
	assert_shows(view, "\u0394\u25bc");
	assert_int_equal(snapshot_row(view->shown, 1)->id, 1);
	fixture_key(view, INPUT_F1 + 5);
	assert_shows(view, "> DELTA");
	fixture_key(view, INPUT_ESCAPE);
	fixture_key(view, 'b');
	assert_shows(view, "OVERHEAD\u25bc");
	assert_int_equal(snapshot_row(view->shown, 1)->id, 2);
	/* What the engine still sends is shown so too. */
	show_after(&fixture);
	assert_shows(view, "OVERHEAD\u25bc");
	state_release(view);
}

static void test_other_rows_drop_it_with_a_message(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, 'b');
	fixture.spec.keys.nr = 2;
	show_after(&fixture);
	assert_shows(view, "the baseline was dropped: rows and shares mean something else");
	assert_hides(view, "\u0394");
	assert_null(view->baseline);
	state_release(view);
}

static void test_it_holds_over_pauses_steps_and_filters(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, ' ');
	fixture_key(view, 'b');
	show_after(&fixture);
	assert_shows(view, "50.00%    0.00");
	fixture_key(view, ' ');
	assert_shows(view, "20.00%  -30.00");
	snprintf(fixture.spec.filter, sizeof(fixture.spec.filter), "row_1");
	show_after(&fixture);
	assert_shows(view, "20.00%  -30.00");
	assert_hides(view, "gone");
	assert_int_equal(fixture_key(view, 'z'), UI_ZERO);
	show_before(&fixture);
	assert_shows(view, "50.00%    0.00");
	state_release(view);
}

static void test_without_rows_there_is_nothing_to_remember(void **state UNUSED)
{
	struct fixture fixture = { 0 };

	fixture_state(&fixture.view);
	fixture_key(&fixture.view, 'b');
	assert_shows(&fixture.view, "no rows yet to compare with");
	fixture.spec = fixture.view.spec;
	show(&fixture, before_shares, 0);
	fixture_key(&fixture.view, 'b');
	assert_shows(&fixture.view, "no rows yet to compare with");
	assert_null(fixture.view.baseline);
	state_release(&fixture.view);
}

static void test_a_baseline_of_which_all_rows_are_gone_counts_them(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);

	fixture_key(view, 'b');
	show(&fixture, before_shares, 0);
	assert_shows(view, "3 rows of it gone");
	state_release(view);
}

static void test_the_header_tells_when_it_was(void **state UNUSED)
{
	struct fixture fixture;
	struct state *view = set_up(&fixture);
	struct snapshot *snapshot;

	snapshot_edit_header(view->shown)->window_end_ns = 100 * NSEC_PER_SEC;
	fixture_key(view, 'b');
	snapshot = with_shares(&fixture.spec, after_shares, ARRAY_SIZE(after_shares));
	snapshot_edit_header(snapshot)->time_ns = 114 * NSEC_PER_SEC;
	state_show(view, snapshot);
	fixture_key(view, 'j');
	assert_shows(view, "baseline 14 s ago, 1 row of it gone");
	snapshot_put(snapshot);
	snapshot = with_shares(&fixture.spec, after_shares, ARRAY_SIZE(after_shares));
	snapshot_edit_header(snapshot)->is_replay = true;
	snapshot_edit_header(snapshot)->start_ns = 88 * NSEC_PER_SEC;
	snapshot_edit_header(snapshot)->elapsed_ns = 60 * NSEC_PER_SEC;
	state_show(view, snapshot);
	assert_shows(view, "baseline at 12.0 s of 60.0 s, 1 row of it gone");
	snapshot_put(snapshot);
	state_release(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_tell_their_change_new_and_gone),
		cmocka_unit_test(test_without_a_baseline_rows_tell_nothing),
		cmocka_unit_test(test_the_largest_changes_of_either_sign_stand_on_top),
		cmocka_unit_test(test_what_may_have_been_hidden_is_not_called_new),
		cmocka_unit_test(test_names_that_come_later_make_no_row_new_or_gone),
		cmocka_unit_test(test_with_callers_totals_these_are_compared),
		cmocka_unit_test(test_what_changes_the_meaning_of_rows_or_shares_does_not_fit),
		cmocka_unit_test(test_relative_shares_fit_under_the_same_filter_only),
		cmocka_unit_test(test_b_adds_a_column_of_changes_and_takes_it_away),
		cmocka_unit_test(test_rows_can_be_sorted_by_their_change),
		cmocka_unit_test(test_other_rows_drop_it_with_a_message),
		cmocka_unit_test(test_it_holds_over_pauses_steps_and_filters),
		cmocka_unit_test(test_without_rows_there_is_nothing_to_remember),
		cmocka_unit_test(test_a_baseline_of_which_all_rows_are_gone_counts_them),
		cmocka_unit_test(test_the_header_tells_when_it_was),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
