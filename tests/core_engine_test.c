/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures in, rows out: which there are, in what unit, and what is not known. */
#include "config.h"

#include "core/engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"

static const struct engine_reader readers[] = {
	{ .nr_cpus = 64,
	  .node = 3,
	  .nr_samples = 4000,
	  .copy_ns = 100000,
	  .decode_ns = 200000,
	  .locate_ns = 700000,
	  .nr_moves = 1 },
	{ .nr_cpus = 8, .node = -1 },
};

static void fill(struct engine_figures *figures)
{
	*figures = (struct engine_figures){
		.live = true,
		.affinity = AFFINITY_NODE,
		.readers = readers,
		.nr_readers = 2,
		.tick_elapsed_ns = 2 * NSEC_PER_SEC,
		.drain_interval_ns = NSEC_PER_SEC / 4,
		.rings = { .sample_ring_bytes = 1 << 20, .nr_cpus_open = 72 },
		.nr_overwritten = 17,
		.synth = { .nr_sweeps = 2, .nr_total = 100, .sweep_ns = 5 * NSEC_PER_MSEC },
		.self_cpu = 0.25,
		.self_rss_bytes = 4096,
	};
	figures->latency.tick[TICK_COPY] =
		(struct stage_figures){ .nr = 4, .last_ns = 5, .total_ns = 4000000, .max_ns = 9 };
	figures->latency.start[START_OPEN] =
		(struct stage_figures){ .nr = 2, .total_ns = 3000000, .max_ns = 2000000 };
}

static struct snapshot *snapshot_of(const struct engine_figures *figures)
{
	struct snapshot *snapshot;
	struct view_spec spec;

	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	engine_add(snapshot, figures);
	return snapshot;
}

static const struct engine_figure *find(const struct snapshot *snapshot, const char *section,
					const char *item, const char *name)
{
	for (size_t i = 0; i < snapshot_nr_engine(snapshot); i++) {
		const struct engine_figure *figure = snapshot_engine(snapshot, i);

		if (!strcmp(figure->section, section) && !strcmp(figure->item, item) &&
		    !strcmp(figure->name, name))
			return figure;
	}
	return NULL;
}

static void assert_figure(const struct snapshot *snapshot, const char *section, const char *item,
			  const char *name, double value, enum engine_unit unit)
{
	const struct engine_figure *figure = find(snapshot, section, item, name);

	if (!figure)
		fail_msg("no %s/%s/%s", section, item, name);
	if (isnan(value) ? !isnan(figure->value) : fabs(figure->value - value) > 1e-12)
		fail_msg("%s/%s/%s is %g, not %g", section, item, name, figure->value, value);
	assert_int_equal(figure->unit, unit);
}

static void test_stages_have_their_times_in_seconds(void **state)
{
	struct engine_figures figures;
	struct snapshot *snapshot;

	(void)state;
	fill(&figures);
	snapshot = snapshot_of(&figures);
	assert_figure(snapshot, "tick", "copy", "times", 4, ENGINE_COUNT);
	assert_figure(snapshot, "tick", "copy", "mean", 1e-3, ENGINE_SECONDS);
	assert_figure(snapshot, "tick", "copy", "max", 9e-9, ENGINE_SECONDS);
	assert_figure(snapshot, "tick", "copy", "last", 5e-9, ENGINE_SECONDS);
	assert_figure(snapshot, "start", "", "open events", 3e-3, ENGINE_SECONDS);
	/* A stage that did not happen is not one that took no time. */
	assert_null(find(snapshot, "tick", "decode", "mean"));
	assert_null(find(snapshot, "start", "", "map rings"));
	snapshot_put(snapshot);
}

static void test_each_reader_has_a_line(void **state)
{
	struct engine_figures figures;
	struct snapshot *snapshot;

	(void)state;
	fill(&figures);
	snapshot = snapshot_of(&figures);
	assert_figure(snapshot, "reader", "0", "CPUs", 64, ENGINE_COUNT);
	assert_figure(snapshot, "reader", "0", "node", 3, ENGINE_COUNT);
	assert_figure(snapshot, "reader", "0", "samples", 2000, ENGINE_RATE);
	assert_figure(snapshot, "reader", "0", "locate", 7e-4, ENGINE_SECONDS);
	assert_figure(snapshot, "reader", "0", "per sample", 1e-3 / 4000, ENGINE_SECONDS);
	assert_figure(snapshot, "reader", "0", "moves", 1, ENGINE_COUNT);
	assert_figure(snapshot, "reader", "1", "node", NAN, ENGINE_COUNT);
	assert_figure(snapshot, "reader", "1", "per sample", NAN, ENGINE_SECONDS);
	assert_null(find(snapshot, "reader", "2", "CPUs"));
	assert_figure(snapshot, "reading", "", "readers, on a node", 2, ENGINE_COUNT);
	snapshot_put(snapshot);
}

static void test_before_the_first_tick_rates_are_not_known(void **state)
{
	struct engine_figures figures;
	struct snapshot *snapshot;

	(void)state;
	fill(&figures);
	figures.tick_elapsed_ns = 0;
	snapshot = snapshot_of(&figures);
	assert_figure(snapshot, "reader", "0", "samples", NAN, ENGINE_RATE);
	snapshot_put(snapshot);
}

static void test_sections_are_whole_and_items_alike(void **state)
{
	struct engine_figures figures;
	struct snapshot *snapshot;
	size_t nr;

	(void)state;
	fill(&figures);
	snapshot = snapshot_of(&figures);
	nr = snapshot_nr_engine(snapshot);
	for (size_t i = 0; i < nr; i++) {
		const struct engine_figure *figure = snapshot_engine(snapshot, i);
		bool away = false;

		/* No figure stands apart from its section, and none is there twice. */
		for (size_t j = i + 1; j < nr; j++) {
			const struct engine_figure *other = snapshot_engine(snapshot, j);
			bool same = !strcmp(figure->section, other->section);

			if (same && away)
				fail_msg("section %s is in two parts", figure->section);
			away |= !same;
			if (same && !strcmp(figure->item, other->item))
				assert_string_not_equal(figure->name, other->name);
		}
	}
	/* The same names in the same order for both readers. */
	for (size_t i = 0; i < nr; i++) {
		const struct engine_figure *figure = snapshot_engine(snapshot, i);

		if (!strcmp(figure->section, "reader") && !strcmp(figure->item, "0"))
			assert_string_equal(figure->name, snapshot_engine(snapshot, i + 8)->name);
	}
	snapshot_put(snapshot);
}

static void test_a_recording_has_no_rings_and_no_synthesizer(void **state)
{
	static const char *const live[] = { "reader", "reading", "rings", "synthesizer",
					    "metadata" };
	struct engine_figures figures;
	struct snapshot *snapshot;

	(void)state;
	fill(&figures);
	figures.live = false;
	snapshot = snapshot_of(&figures);
	for (size_t i = 0; i < snapshot_nr_engine(snapshot); i++)
		for (size_t j = 0; j < ARRAY_SIZE(live); j++)
			assert_string_not_equal(snapshot_engine(snapshot, i)->section, live[j]);
	assert_figure(snapshot, "self", "", "memory", 4096, ENGINE_BYTES);
	assert_figure(snapshot, "self", "", "CPU", 0.25, ENGINE_SHARE);
	assert_non_null(find(snapshot, "profile", "", "cells"));
	snapshot_put(snapshot);
}

static void test_every_unit_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < NR_ENGINE_UNITS; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(engine_unit_name((enum engine_unit)i),
						engine_unit_name((enum engine_unit)j));
	assert_string_equal(engine_unit_name(ENGINE_SECONDS), "s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages_have_their_times_in_seconds),
		cmocka_unit_test(test_each_reader_has_a_line),
		cmocka_unit_test(test_before_the_first_tick_rates_are_not_known),
		cmocka_unit_test(test_sections_are_whole_and_items_alike),
		cmocka_unit_test(test_a_recording_has_no_rings_and_no_synthesizer),
		cmocka_unit_test(test_every_unit_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
