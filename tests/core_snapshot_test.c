/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots are made by hand, as query.c and the tests of ui/ make them. */
#include "config.h"

#include "core/snapshot.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/worker.h"

static struct snapshot *snapshot_with(const struct view_spec *spec, const char *const *symbols,
				      const double *shares, size_t nr)
{
	struct snapshot *snapshot = snapshot_new(spec);

	for (size_t i = 0; i < nr; i++) {
		struct row *row = snapshot_add_row(snapshot);

		row->id = i + 1;
		row->symbol = snapshot_add_string(snapshot, symbols[i]);
		row->self_share = shares[i];
		row->children_share = 1 - shares[i];
		row->pid = (int64_t)(10 * i);
	}
	snapshot_sort(snapshot);
	return snapshot;
}

static void assert_order(const struct snapshot *snapshot, const char *order)
{
	char got[64] = "";

	for (size_t i = 0; i < snapshot_nr_rows(snapshot); i++) {
		size_t len = strlen(got);

		snprintf(got + len, sizeof(got) - len, "%s", snapshot_row(snapshot, i)->symbol);
	}
	assert_string_equal(got, order);
}

static void test_defaults_are_those_of_the_manual(void **state)
{
	struct view_spec spec;

	(void)state;
	view_spec_init(&spec);
	assert_int_equal(spec.keys.nr, 3);
	assert_int_equal(spec.keys.keys[0], SORT_COMM);
	assert_int_equal(spec.keys.keys[1], SORT_DSO);
	assert_int_equal(spec.keys.keys[2], SORT_SYMBOL);
	assert_int_equal(spec.order, ORDER_SELF);
	assert_int_equal(spec.window, VIEW_WINDOW_TIME);
	assert_true(spec.window_ns == UINT64_C(10000000000));
	assert_int_equal(spec.event, -1);
	assert_false(spec.show_idle || spec.relative || spec.hide_kernel || spec.hide_user);
	assert_string_equal(spec.filter, "");
}

static void test_sort_keys_parse(void **state)
{
	struct sort_keys keys;
	struct err err;

	(void)state;
	assert_int_equal(sort_keys_parse("pid, sym,cpu ,event", &keys, NULL), 0);
	assert_int_equal(keys.nr, 4);
	assert_int_equal(keys.keys[0], SORT_PID);
	assert_int_equal(keys.keys[1], SORT_SYMBOL);
	assert_int_equal(keys.keys[2], SORT_CPU);
	assert_int_equal(keys.keys[3], SORT_EVENT);
	for (int i = 0; i < NR_SORT_KEYS; i++) {
		assert_int_equal(sort_keys_parse(sort_key_name((enum sort_key)i), &keys, NULL), 0);
		assert_int_equal(keys.keys[0], i);
	}
	keys.nr = 77;
	assert_int_equal(sort_keys_parse("pid,colour", &keys, &err), -EINVAL);
	assert_non_null(strstr(err.text, "'colour'"));
	assert_int_equal(keys.nr, 77);
}

static void test_bad_sort_keys_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		",",
		"pid,",
		",pid",
		"pid,,tid",
		"pid tid",
		"symbols",
		"s",
		"pid,pid",
		"sym,symbol",
		"comm,pid,tid,dso,symbol,cpu,node,event,comm",
	};
	struct sort_keys keys;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(sort_keys_parse(bad[i], &keys, NULL), -EINVAL);
}

static void test_equal_strings_are_one(void **state)
{
	struct view_spec spec;
	struct snapshot *snapshot;
	const char *first;
	char text[32];

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	first = snapshot_add_string(snapshot, "name 7");
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		assert_string_equal(snapshot_add_string(snapshot, text), text);
	}
	assert_ptr_equal(snapshot_add_string(snapshot, "name 7"), first);
	assert_string_equal(snapshot_add_string(snapshot, NULL), "");
	assert_string_equal(snapshot_add_string(snapshot, ""), "");
	snapshot_put(snapshot);
}

static void test_a_string_longer_than_a_chunk_is_whole(void **state)
{
	static char text[200 * 1024];
	struct view_spec spec;
	struct snapshot *snapshot;

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	memset(text, 'x', sizeof(text) - 1);
	assert_string_equal(snapshot_add_string(snapshot, text), text);
	assert_string_equal(snapshot_add_string(snapshot, "short"), "short");
	snapshot_put(snapshot);
}

static void test_fc080_strings_are_made_printable(void **state)
{
	const char *frames[] = { "a\033[31m", "b" };
	const bool kernel[] = { true, false };
	struct view_spec spec;
	struct snapshot *snapshot;
	struct row *row;

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	assert_string_equal(snapshot_add_string(snapshot, "x\ny\a"), "x\\x0ay\\x07");
	assert_string_equal(snapshot_add_string(snapshot, "\xff"), "\\xff");
	row = snapshot_add_row(snapshot);
	snapshot_add_chain(snapshot, row, frames, kernel, 2, 3, 30);
	snapshot_add_note(snapshot, NOTE_WARN, "n\n");
	snapshot_add_event(snapshot, "e\n", 5);
	assert_string_equal(snapshot_chain(snapshot, 0)->frames[0], "a\\x1b[31m");
	assert_string_equal(snapshot_note(snapshot, 0)->text, "n\\x0a");
	assert_string_equal(snapshot_event(snapshot, 0)->name, "e\\x0a");
	snapshot_put(snapshot);
}

static void test_new_rows_are_empty(void **state)
{
	struct view_spec spec;
	struct snapshot *snapshot;
	const struct row *row;

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	row = snapshot_add_row(snapshot);
	assert_string_equal(row->comm, "");
	assert_string_equal(row->dso, "");
	assert_string_equal(row->dso_path, "");
	assert_string_equal(row->symbol, "");
	assert_string_equal(row->event, "");
	assert_int_equal(row->pid, -1);
	assert_int_equal(row->cpu, -1);
	assert_int_equal(row->nr_chains, 0);
	assert_string_equal(snapshot_header(snapshot)->host, "");
	assert_string_equal(snapshot_header(snapshot)->filter, "");
	snapshot_put(snapshot);
}

static void test_order_by_weight_has_the_largest_on_top(void **state)
{
	static const char *const symbols[] = { "a", "b", "c" };
	static const double shares[] = { 0.2, 0.5, 0.3 };
	struct view_spec spec;
	struct snapshot *snapshot;

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_with(&spec, symbols, shares, 3);
	assert_order(snapshot, "bca");
	snapshot_put(snapshot);
	spec.inverted = true;
	snapshot = snapshot_with(&spec, symbols, shares, 3);
	assert_order(snapshot, "acb");
	snapshot_put(snapshot);
	spec.inverted = false;
	spec.order = ORDER_CHILDREN;
	snapshot = snapshot_with(&spec, symbols, shares, 3);
	assert_order(snapshot, "acb");
	snapshot_put(snapshot);
}

static void test_order_by_key_has_the_first_on_top(void **state)
{
	static const char *const symbols[] = { "b", "c", "a" };
	static const double shares[] = { 0.2, 0.5, 0.3 };
	struct view_spec spec;
	struct snapshot *snapshot;

	(void)state;
	view_spec_init(&spec);
	spec.order = ORDER_KEY;
	spec.order_key = SORT_SYMBOL;
	snapshot = snapshot_with(&spec, symbols, shares, 3);
	assert_order(snapshot, "abc");
	snapshot_put(snapshot);
	spec.inverted = true;
	snapshot = snapshot_with(&spec, symbols, shares, 3);
	assert_order(snapshot, "cba");
	snapshot_put(snapshot);
	spec.inverted = false;
	spec.order_key = SORT_PID;
	snapshot = snapshot_with(&spec, symbols, shares, 3);
	assert_order(snapshot, "bca");
	snapshot_put(snapshot);
}

static void test_equals_have_one_order_whichever_came_first(void **state)
{
	static const char *const symbols[] = { "c", "a", "b", "d" };
	static const char *const other[] = { "b", "d", "c", "a" };
	static const double shares[] = { 0.25, 0.25, 0.25, 0.25 };
	struct view_spec spec;
	struct snapshot *snapshot;

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_with(&spec, symbols, shares, 4);
	assert_order(snapshot, "abcd");
	snapshot_put(snapshot);
	spec.inverted = true;
	snapshot = snapshot_with(&spec, other, shares, 4);
	assert_order(snapshot, "abcd");
	snapshot_put(snapshot);
}

static void test_chains_of_a_row_lie_side_by_side(void **state)
{
	const char *frames[] = { "leaf", "main" };
	const bool kernel[] = { true, false };
	struct view_spec spec;
	struct snapshot *snapshot;
	struct row *row;
	const struct row_chain *chain;

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	row = snapshot_add_row(snapshot);
	row->self_share = 0.1;
	snapshot_add_chain(snapshot, row, frames, kernel, 1, 1, 10);
	row = snapshot_add_row(snapshot);
	row->self_share = 0.9;
	snapshot_add_chain(snapshot, row, frames, kernel, 2, 7, 70);
	snapshot_add_chain(snapshot, row, frames, kernel, 1, 2, 20);
	snapshot_sort(snapshot);
	assert_int_equal(snapshot_nr_chains(snapshot), 3);
	assert_int_equal(snapshot_row(snapshot, 0)->nr_chains, 2);
	assert_int_equal(snapshot_row(snapshot, 0)->first_chain, 1);
	chain = snapshot_chain(snapshot, snapshot_row(snapshot, 0)->first_chain);
	assert_int_equal(chain->nr_frames, 2);
	assert_string_equal(chain->frames[1], "main");
	assert_true(chain->frames_kernel[0] && !chain->frames_kernel[1]);
	assert_true(chain->nr_samples > 6.5 && chain->period > 69);
	snapshot_put(snapshot);
}

static void test_cpus_and_events_come_back(void **state)
{
	struct view_spec spec;
	struct snapshot *snapshot;
	unsigned int cpu;
	double busy;

	(void)state;
	view_spec_init(&spec);
	snprintf(spec.filter, sizeof(spec.filter), "dso=x");
	snapshot = snapshot_new(&spec);
	snapshot_add_cpu(snapshot, 3, 0.5);
	snapshot_add_cpu(snapshot, 271, 1);
	snapshot_add_event(snapshot, "cycles", 42);
	assert_int_equal(snapshot_nr_cpus(snapshot), 2);
	snapshot_cpu(snapshot, 1, &cpu, &busy);
	assert_int_equal(cpu, 271);
	assert_true(busy > 0.99);
	assert_int_equal(snapshot_nr_events(snapshot), 1);
	assert_true(snapshot_event(snapshot, 0)->nr_samples == 42);
	assert_string_equal(snapshot_spec(snapshot)->filter, "dso=x");
	snapshot_edit_header(snapshot)->nr_lost = 9;
	assert_true(snapshot_header(snapshot)->nr_lost == 9);
	snapshot_put(snapshot);
	snapshot_put(NULL);
}

static void get_and_put(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		struct snapshot *snapshot = snapshot_get(arg);

		assert_string_equal(snapshot_row(snapshot, 0)->symbol, "a");
		snapshot_put(snapshot);
	}
	snapshot_put(arg);
}

static void test_references_are_counted_across_threads(void **state)
{
	static const char *const symbols[] = { "a" };
	static const double shares[] = { 1 };
	struct view_spec spec;
	struct snapshot *snapshot;
	struct worker *workers[3];

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_with(&spec, symbols, shares, 1);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++)
		assert_int_equal(worker_start("test", get_and_put, snapshot_get(snapshot),
					      &workers[i], NULL),
				 0);
	snapshot_put(snapshot);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++)
		worker_join(workers[i]);
}

static void test_engine_figures_keep_their_order_and_are_printable(void **state)
{
	struct engine_figure figure = { "rings", "", "lost", 3, ENGINE_COUNT };
	struct view_spec spec;
	struct snapshot *snapshot;

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	assert_int_equal(snapshot_nr_engine(snapshot), 0);
	snapshot_add_engine(snapshot, &figure);
	figure = (struct engine_figure){ "reader", "\n7", "CPUs", 64, ENGINE_RATE };
	snapshot_add_engine(snapshot, &figure);
	assert_int_equal(snapshot_nr_engine(snapshot), 2);
	assert_string_equal(snapshot_engine(snapshot, 0)->section, "rings");
	assert_string_equal(snapshot_engine(snapshot, 0)->item, "");
	assert_string_equal(snapshot_engine(snapshot, 1)->item, "\\x0a7");
	assert_string_equal(snapshot_engine(snapshot, 1)->name, "CPUs");
	assert_true(snapshot_engine(snapshot, 1)->value > 63.5);
	assert_int_equal(snapshot_engine(snapshot, 1)->unit, ENGINE_RATE);
	snapshot_put(snapshot);
}

static void test_a_derived_snapshot_has_rows_of_its_own_and_keeps_the_rest(void **state)
{
	static const char *const symbols[] = { "a", "b", "c" };
	static const double shares[] = { 0.5, 0.3, 0.2 };
	static const double deltas[] = { 0.01, -0.2, 0.1 };
	struct snapshot *snapshot, *copy, *second;
	struct view_spec spec;

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_with(&spec, symbols, shares, 3);
	snapshot_add_note(snapshot, NOTE_INFO, "a note");
	snapshot_add_slot(snapshot, 7);
	spec.order = ORDER_DELTA;
	copy = snapshot_derive(snapshot, &spec);
	for (size_t i = 0; i < 3; i++)
		snapshot_edit_row(copy, i)->delta = deltas[i];
	snapshot_sort(copy);
	snapshot_edit_header(copy)->nr_samples = 5;
	assert_order(copy, "bca");
	assert_order(snapshot, "abc");
	assert_true(!snapshot_header(snapshot)->nr_samples);
	snapshot_put(snapshot);
	/* One of a derived one does not need that any more. */
	second = snapshot_derive(copy, &spec);
	snapshot_put(copy);
	assert_order(second, "bca");
	assert_string_equal(snapshot_note(second, 0)->text, "a note");
	assert_int_equal(snapshot_nr_slots(second), 1);
	assert_true(snapshot_slot_end_ns(second, 0) == 7);
	assert_true(snapshot_header(second)->nr_samples == 5);
	snapshot_put(second);
}

static void test_a_snapshot_without_rows_can_be_derived(void **state)
{
	struct snapshot *snapshot, *copy;
	struct view_spec spec;

	(void)state;
	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	copy = snapshot_derive(snapshot, &spec);
	snapshot_put(snapshot);
	snapshot_sort(copy);
	assert_int_equal(snapshot_nr_rows(copy), 0);
	snapshot_put(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_those_of_the_manual),
		cmocka_unit_test(test_sort_keys_parse),
		cmocka_unit_test(test_bad_sort_keys_are_refused),
		cmocka_unit_test(test_equal_strings_are_one),
		cmocka_unit_test(test_a_string_longer_than_a_chunk_is_whole),
		cmocka_unit_test(test_fc080_strings_are_made_printable),
		cmocka_unit_test(test_new_rows_are_empty),
		cmocka_unit_test(test_order_by_weight_has_the_largest_on_top),
		cmocka_unit_test(test_order_by_key_has_the_first_on_top),
		cmocka_unit_test(test_equals_have_one_order_whichever_came_first),
		cmocka_unit_test(test_chains_of_a_row_lie_side_by_side),
		cmocka_unit_test(test_cpus_and_events_come_back),
		cmocka_unit_test(test_references_are_counted_across_threads),
		cmocka_unit_test(test_engine_figures_keep_their_order_and_are_printable),
		cmocka_unit_test(test_a_derived_snapshot_has_rows_of_its_own_and_keeps_the_rest),
		cmocka_unit_test(test_a_snapshot_without_rows_can_be_derived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
