/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces: which map answers for an address at a time. */
#include "config.h"

#include "core/address_space.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/mem.h"

#define NR_DSOS 4

static struct dso_table *dsos;
static struct dso *dso[NR_DSOS]; /* files */
static struct dso *jit;

static int setup(void **state)
{
	struct dso_key key = { .kind = DSO_FILE, .dev_major = 8 };

	(void)state;
	dsos = dso_table_new();
	for (size_t i = 0; i < NR_DSOS; i++) {
		key.inode = i + 1;
		dso[i] = dso_table_get(dsos, &key, "/lib/x", 1, NULL);
	}
	key = (struct dso_key){ .kind = DSO_GENERATED, .owner = 1 };
	jit = dso_table_get(dsos, &key, "//anon", 1, NULL);
	return 0;
}

static int teardown(void **state)
{
	uint64_t nr_dsos, nr_files;

	(void)state;
	for (size_t i = 0; i < NR_DSOS; i++)
		dso_put(dso[i]);
	dso_put(jit);
	/* No space kept a reference. */
	dso_table_stats(dsos, &nr_dsos, &nr_files);
	dso_table_free(dsos);
	return nr_dsos ? -1 : 0;
}

static void assert_at(struct address_space *space, uint64_t ip, uint64_t time_ns,
		      const struct dso *expected, uint64_t offset)
{
	struct location location = { 0 };

	assert_true(address_space_locate(space, ip, time_ns, &location));
	assert_ptr_equal(location.dso, expected);
	assert_int_equal(location.offset, offset);
	dso_put(location.dso);
	address_space_check_invariants(space);
}

static void assert_nowhere(struct address_space *space, uint64_t ip, uint64_t time_ns)
{
	struct location location = { 0 };

	assert_false(address_space_locate(space, ip, time_ns, &location));
	address_space_check_invariants(space);
}

static void test_both_ends_of_a_map_are_exact(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	assert_false(address_space_map(space, 0x1000, 0x3000, 0x500, dso[0], 10, false));
	assert_nowhere(space, 0xfff, 20);
	assert_at(space, 0x1000, 20, dso[0], 0x500);
	assert_at(space, 0x2fff, 20, dso[0], 0x24ff);
	assert_nowhere(space, 0x3000, 20);
	assert_nowhere(space, 0x1000, 9);
	assert_at(space, 0x1000, 10, dso[0], 0x500);
	address_space_put(space);
}

static void test_empty_and_reversed_ranges_are_ignored(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	assert_false(address_space_map(space, 0x1000, 0x1000, 0, dso[0], 1, false));
	assert_false(address_space_map(space, 0x2000, 0x1000, 0, dso[0], 1, true));
	assert_int_equal(address_space_nr_maps(space), 0);
	assert_false(address_space_map(space, 0, UINT64_MAX, 0, dso[0], 1, false));
	assert_at(space, UINT64_MAX - 1, 1, dso[0], UINT64_MAX - 1);
	assert_nowhere(space, UINT64_MAX, 1);
	address_space_put(space);
}

static void test_covered_map_answers_for_its_time(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	address_space_map(space, 0x1000, 0x5000, 0, dso[0], 10, false);
	assert_true(address_space_map(space, 0x2000, 0x3000, 0x100, dso[1], 20, false));
	assert_true(address_space_map(space, 0x2000, 0x3000, 0x200, dso[2], 30, false));
	assert_at(space, 0x2800, 19, dso[0], 0x1800);
	assert_at(space, 0x2800, 20, dso[1], 0x900);
	assert_at(space, 0x2800, 29, dso[1], 0x900);
	assert_at(space, 0x2800, 30, dso[2], 0xa00);
	/* What was left and right of it goes on, with the right offsets. */
	assert_at(space, 0x1fff, 40, dso[0], 0xfff);
	assert_at(space, 0x3000, 40, dso[0], 0x2000);
	assert_nowhere(space, 0x2800, 9);
	address_space_put(space);
}

static void test_one_map_may_cover_many(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	for (uint64_t i = 0; i < 20; i++)
		address_space_map(space, 0x10000 * i, 0x10000 * i + 0x8000, 0, dso[i % 2], 10,
				  false);
	assert_true(address_space_map(space, 0x4000, 0x120000 + 0x4000, 0, dso[2], 20, false));
	assert_at(space, 0x3fff, 30, dso[0], 0x3fff);
	assert_at(space, 0x4000, 30, dso[2], 0);
	assert_at(space, 0x50000, 30, dso[2], 0x50000 - 0x4000);
	assert_at(space, 0x50000, 15, dso[1], 0);
	assert_at(space, 0x124000, 30, dso[0], 0x4000);
	assert_at(space, 0x130000, 30, dso[1], 0);
	address_space_put(space);
}

/* JITs change the protection of their memory all the time: a record each. */
static void test_same_map_again_changes_nothing(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	address_space_map(space, 0x1000, 0x9000, 0x1000, jit, 10, false);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t start = 0x1000 + i % 8 * 0x1000;

		assert_false(
			address_space_map(space, start, start + 0x1000, start, jit, 20 + i, false));
	}
	assert_int_equal(address_space_nr_maps(space), 1);
	/* And what is new of a larger one is just added. */
	assert_false(address_space_map(space, 0, 0xa000, 0, jit, 2000, false));
	assert_at(space, 0x1000, 10, jit, 0x1000);
	assert_nowhere(space, 0x9000, 1999);
	assert_at(space, 0x9000, 2000, jit, 0x9000);
	assert_int_equal(address_space_nr_maps(space), 3);
	address_space_put(space);
}

static void test_same_file_at_another_offset_is_another_map(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	address_space_map(space, 0x1000, 0x2000, 0, dso[0], 10, false);
	assert_true(address_space_map(space, 0x1000, 0x2000, 0x1000, dso[0], 20, false));
	assert_at(space, 0x1000, 15, dso[0], 0);
	assert_at(space, 0x1000, 25, dso[0], 0x1000);
	address_space_put(space);
}

static void test_synthesized_maps_count_from_birth(void **state)
{
	struct address_space *space = address_space_new(5, NULL);

	(void)state;
	address_space_map(space, 0x1000, 0x2000, 0, dso[0], 100, true);
	assert_at(space, 0x1000, 5, dso[0], 0);
	assert_nowhere(space, 0x1000, 4);
	address_space_put(space);
}

static void test_records_win_over_synthesized_maps_in_any_order(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	address_space_map(space, 0x2000, 0x3000, 0, dso[1], 50, false);
	assert_false(address_space_map(space, 0x1000, 0x4000, 0, dso[0], 100, true));
	assert_at(space, 0x1000, 200, dso[0], 0);
	assert_at(space, 0x2000, 200, dso[1], 0);
	assert_at(space, 0x3000, 200, dso[0], 0x2000);

	/* A record from after the scan ends the map; before, the scan was right. */
	assert_true(address_space_map(space, 0x3000, 0x4000, 0, dso[2], 150, false));
	assert_at(space, 0x3000, 149, dso[0], 0x2000);
	assert_at(space, 0x3000, 150, dso[2], 0);

	/* One from before it that comes late: what the scan saw there is not to be trusted. */
	assert_true(address_space_map(space, 0x1000, 0x2000, 0, dso[3], 60, false));
	assert_at(space, 0x1000, 60, dso[3], 0);
	assert_nowhere(space, 0x1000, 59);
	address_space_put(space);
}

static void test_late_record_answers_until_the_newer_one(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	address_space_map(space, 0x2000, 0x3000, 0, dso[0], 10, false);
	address_space_map(space, 0x2000, 0x3000, 0, dso[1], 50, false);
	assert_true(address_space_map(space, 0x1000, 0x4000, 0, dso[2], 30, false));
	assert_at(space, 0x2000, 29, dso[0], 0);
	assert_at(space, 0x2000, 30, dso[2], 0x1000);
	assert_at(space, 0x2000, 49, dso[2], 0x1000);
	assert_at(space, 0x2000, 50, dso[1], 0);
	assert_at(space, 0x1000, 60, dso[2], 0);
	assert_at(space, 0x3000, 60, dso[2], 0x2000);
	address_space_put(space);
}

static void test_dropping_synthesized_maps_leaves_records(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	address_space_map(space, 0x1000, 0x2000, 0, dso[0], 100, true);
	address_space_map(space, 0x3000, 0x4000, 0, dso[1], 100, true);
	address_space_map(space, 0x5000, 0x6000, 0, dso[2], 90, false);
	/* A record of what the scan saw makes it a fact of its own. */
	address_space_map(space, 0x3000, 0x4000, 0, dso[1], 95, false);
	address_space_set_complete(space);
	address_space_drop_synthesized(space);
	assert_false(address_space_is_complete(space));
	assert_nowhere(space, 0x1000, 200);
	assert_at(space, 0x3000, 200, dso[1], 0);
	assert_at(space, 0x5000, 200, dso[2], 0);
	address_space_put(space);
}

static void test_forked_space_sees_its_parent_as_of_the_fork(void **state)
{
	struct address_space *parent = address_space_new(0, NULL);
	struct address_space *child;

	(void)state;
	address_space_map(parent, 0x1000, 0x2000, 0, dso[0], 10, false);
	child = address_space_new(20, parent);
	address_space_map(parent, 0x1000, 0x2000, 0, dso[1], 30, false);
	address_space_map(parent, 0x3000, 0x4000, 0, dso[1], 30, false);
	assert_at(child, 0x1000, 40, dso[0], 0);
	assert_nowhere(child, 0x3000, 40);
	assert_at(parent, 0x1000, 40, dso[1], 0);
	/* The child's own maps hide the parent's, from their time on. */
	address_space_map(child, 0x1000, 0x2000, 0, dso[2], 50, false);
	assert_at(child, 0x1000, 49, dso[0], 0);
	assert_at(child, 0x1000, 50, dso[2], 0);
	/* A scan of the parent that comes later tells of the child's maps too. */
	address_space_map(parent, 0x5000, 0x6000, 0, dso[3], 60, true);
	address_space_put(parent);
	assert_at(child, 0x5000, 25, dso[3], 0);
	address_space_put(child);
}

static void test_trim_keeps_what_children_need(void **state)
{
	struct address_space *parent = address_space_new(0, NULL);
	struct address_space *child;

	(void)state;
	address_space_map(parent, 0x1000, 0x2000, 0, dso[0], 10, false);
	address_space_map(parent, 0x1000, 0x2000, 0, dso[1], 20, false);
	child = address_space_new(25, parent);
	address_space_map(parent, 0x1000, 0x2000, 0, dso[2], 30, false);
	address_space_map(parent, 0x1000, 0x2000, 0, dso[3], 40, false);
	assert_int_equal(address_space_nr_maps(parent), 4);
	assert_true(address_space_trim(parent, 35));
	assert_int_equal(address_space_nr_maps(parent), 3);
	assert_true(address_space_trim(parent, 100));
	assert_int_equal(address_space_nr_maps(parent), 2);
	assert_at(child, 0x1000, 200, dso[1], 0);
	address_space_put(child);
	assert_false(address_space_trim(parent, 100));
	assert_int_equal(address_space_nr_maps(parent), 1);
	assert_at(parent, 0x1000, 200, dso[3], 0);
	address_space_put(parent);
}

static void test_long_chain_of_forks_is_cut_and_answers(void **state)
{
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	address_space_map(space, 0x1000, 0x2000, 0, dso[0], 1, false);
	for (uint64_t i = 1; i <= 1000; i++) {
		struct address_space *child = address_space_new(10 * i, space);

		address_space_map(child, 0x10000 * i, 0x10000 * i + 0x1000, 0, dso[i % 4],
				  10 * i + 1, false);
		/* Made after the fork: not the child's. */
		address_space_map(space, 0x5000, 0x6000, 0, dso[1], 10 * i + 1, false);
		address_space_put(space);
		space = child;
	}
	assert_at(space, 0x1000, 20000, dso[0], 0);
	assert_at(space, 0x10000, 20000, dso[1], 0);
	assert_at(space, 0x10000 * 993, 20000, dso[1], 0);
	assert_at(space, 0x10000 * 1000, 20000, dso[0], 0);
	assert_nowhere(space, 0x10000 * 1000, 10000);
	assert_nowhere(space, 0x5000, 20000);
	address_space_put(space);
}

static void test_completeness_is_inherited(void **state)
{
	struct address_space *space = address_space_new(1, NULL);
	struct address_space *first = space;

	(void)state;
	for (uint64_t i = 2; i < 6; i++) {
		struct address_space *child = address_space_new(i, space);

		if (space != first)
			address_space_put(space);
		space = child;
	}
	assert_false(address_space_is_complete(space));
	address_space_set_complete(first);
	assert_true(address_space_is_complete(space));
	for (uint64_t i = 6; i < 30; i++) {
		struct address_space *child = address_space_new(i, space);

		address_space_put(space);
		space = child;
	}
	assert_true(address_space_is_complete(space));
	address_space_put(first);
	address_space_put(space);
}

static void test_number_of_maps_is_limited(void **state)
{
	struct address_space *space = address_space_new(0, NULL);
	size_t nr;

	(void)state;
	for (uint64_t i = 0; i < 20000; i++)
		address_space_map(space, 0x2000 * i, 0x2000 * i + 0x1000, 0, dso[0], i, false);
	nr = address_space_nr_maps(space);
	assert_in_range(nr, 1000, 16384);
	assert_at(space, 0, 30000, dso[0], 0);
	address_space_put(space);

	space = address_space_new(0, NULL);
	for (uint64_t i = 0; i < 20000; i++)
		address_space_map(space, 0x1000, 0x2000, 0, dso[i % 2], i, false);
	assert_in_range(address_space_nr_maps(space), 1000, 4097);
	assert_at(space, 0x1000, 30000, dso[1], 0);
	assert_at(space, 0x1000, 19000, dso[0], 0);
	address_space_put(space);
}

static void test_many_addresses_are_located_at_once(void **state)
{
	struct address_space *parent = address_space_new(0, NULL);
	struct address_space *child;
	const uint64_t ips[] = { 0x1800, 0x9000, 0x3800, 0x1000, 0x5000 };
	bool found[ARRAY_SIZE(ips)] = { [4] = true };
	struct location locations[ARRAY_SIZE(ips)] = { 0 };

	(void)state;
	address_space_map(parent, 0x1000, 0x2000, 0, dso[0], 1, false);
	child = address_space_new(5, parent);
	address_space_map(child, 0x3000, 0x4000, 0, dso[1], 6, false);
	address_space_locate_many(child, ips, ARRAY_SIZE(ips), 10, locations, found);
	assert_true(found[0] && !found[1] && found[2] && found[3]);
	assert_ptr_equal(locations[0].dso, dso[0]);
	assert_ptr_equal(locations[2].dso, dso[1]);
	assert_int_equal(locations[2].offset, 0x800);
	assert_int_equal(locations[3].offset, 0);
	assert_null(locations[4].dso); /* found before: not looked for */
	for (size_t i = 0; i < ARRAY_SIZE(ips); i++)
		dso_put(locations[i].dso);
	address_space_put(parent);
	address_space_put(child);
}

static void test_program_is_the_first_map_after_exec(void **state)
{
	struct address_space *space = address_space_new(5, NULL);

	(void)state;
	address_space_set_complete(space);
	address_space_map(space, 0x1000, 0x5000, 0, dso[0], 6, false);
	address_space_map(space, 0x8000, 0x9000, 0, dso[1], 7, false);
	assert_true(address_space_is_inside_program(space, 0x2000, 0x3000));
	assert_false(address_space_is_inside_program(space, 0x4000, 0x6000));
	assert_false(address_space_is_inside_program(space, 0x8000, 0x9000));
	address_space_put(space);

	/* What came after a scan may be unloaded again. */
	space = address_space_new(0, NULL);
	address_space_map(space, 0x1000, 0x5000, 0, dso[0], 6, true);
	address_space_set_complete(space);
	address_space_map(space, 0x8000, 0x9000, 0, dso[1], 7, false);
	assert_false(address_space_is_inside_program(space, 0x8000, 0x9000));
	address_space_put(space);
}

/* The same operations against a model: one cell a page and a time. */
#define MODEL_PAGES 64
#define MODEL_TIMES 200

static void test_random_records_agree_with_a_model(void **state)
{
	static int model[MODEL_TIMES][MODEL_PAGES]; /* dso * 1000 + page of the file + 1; 0: none */
	struct address_space *space = address_space_new(0, NULL);

	(void)state;
	srand(7);
	for (int time = 1; time < MODEL_TIMES; time++) {
		int start = rand() % MODEL_PAGES;
		int end = start + 1 + rand() % (MODEL_PAGES - start);
		int which = rand() % NR_DSOS;
		int pgoff = rand() % 4;

		for (int page = 0; page < MODEL_PAGES; page++) {
			model[time][page] = model[time - 1][page];
			if (page >= start && page < end)
				model[time][page] = which * 1000 + pgoff + page - start + 1;
		}
		address_space_map(space, (uint64_t)start << 12, (uint64_t)end << 12,
				  (uint64_t)pgoff << 12, dso[which], (uint64_t)time, false);
	}
	for (int time = 0; time < MODEL_TIMES; time++) {
		for (int page = 0; page < MODEL_PAGES; page++) {
			int cell = model[time][page];
			uint64_t ip = ((uint64_t)page << 12) + 5;

			if (!cell)
				assert_nowhere(space, ip, (uint64_t)time);
			else
				assert_at(space, ip, (uint64_t)time, dso[(cell - 1) / 1000],
					  ((uint64_t)((cell - 1) % 1000) << 12) + 5);
		}
	}
	address_space_put(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ends_of_a_map_are_exact),
		cmocka_unit_test(test_empty_and_reversed_ranges_are_ignored),
		cmocka_unit_test(test_covered_map_answers_for_its_time),
		cmocka_unit_test(test_one_map_may_cover_many),
		cmocka_unit_test(test_same_map_again_changes_nothing),
		cmocka_unit_test(test_same_file_at_another_offset_is_another_map),
		cmocka_unit_test(test_synthesized_maps_count_from_birth),
		cmocka_unit_test(test_records_win_over_synthesized_maps_in_any_order),
		cmocka_unit_test(test_late_record_answers_until_the_newer_one),
		cmocka_unit_test(test_dropping_synthesized_maps_leaves_records),
		cmocka_unit_test(test_forked_space_sees_its_parent_as_of_the_fork),
		cmocka_unit_test(test_trim_keeps_what_children_need),
		cmocka_unit_test(test_long_chain_of_forks_is_cut_and_answers),
		cmocka_unit_test(test_completeness_is_inherited),
		cmocka_unit_test(test_number_of_maps_is_limited),
		cmocka_unit_test(test_many_addresses_are_located_at_once),
		cmocka_unit_test(test_program_is_the_first_map_after_exec),
		cmocka_unit_test(test_random_records_agree_with_a_model),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
