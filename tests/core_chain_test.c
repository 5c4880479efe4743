/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains over fake dsos whose references are counted. */
#include "config.h"

#include "core/chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/core_fakes.h"

struct fixture {
	struct dso *a, *b, *unknown;
	struct chain_table *table;
};

static void fixture_init(struct fixture *fixture, size_t max_nodes)
{
	fixture->a = fake_dso(DSO_FILE, "/bin/a");
	fixture->b = fake_dso(DSO_FILE, "/lib/b");
	fixture->unknown = fake_dso(DSO_UNKNOWN, "[unknown]");
	fixture->table = chain_table_new(max_nodes);
}

static void fixture_release(struct fixture *fixture)
{
	chain_table_check_invariants(fixture->table);
	chain_table_free(fixture->table);
	fake_dso_free(fixture->a);
	fake_dso_free(fixture->b);
	fake_dso_free(fixture->unknown);
}

static uint32_t add(struct fixture *fixture, const struct location *frames, size_t nr)
{
	uint32_t node = chain_table_add(fixture->table, frames, nr);

	chain_table_check_invariants(fixture->table);
	return node;
}

static void test_no_frames_are_no_chain(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture, 100);
	assert_int_equal(add(&fixture, NULL, 0), CHAIN_NONE);
	assert_int_equal(chain_table_nr(fixture.table), 0);
	chain_table_free(NULL);
	fixture_release(&fixture);
}

static void test_a_chain_reads_back_innermost_first(void **state)
{
	struct fixture fixture;
	const struct chain_node *node;
	uint32_t id;

	(void)state;
	fixture_init(&fixture, 100);
	id = add(&fixture,
		 (struct location[]){ { fixture.b, 3 }, { fixture.a, 2 }, { fixture.a, 1 } }, 3);
	node = chain_table_node(fixture.table, id);
	assert_ptr_equal(node->dso, fixture.b);
	assert_true(node->offset == 3 && node->depth == 3);
	node = chain_table_node(fixture.table, node->parent);
	assert_ptr_equal(node->dso, fixture.a);
	assert_true(node->offset == 2 && node->depth == 2);
	node = chain_table_node(fixture.table, node->parent);
	assert_true(node->offset == 1 && node->depth == 1);
	assert_int_equal(node->parent, CHAIN_NONE);
	fixture_release(&fixture);
}

static void test_equal_beginnings_are_stored_once(void **state)
{
	struct fixture fixture;
	uint32_t first, second;

	(void)state;
	fixture_init(&fixture, 100);
	first = add(&fixture, (struct location[]){ { fixture.b, 3 }, { fixture.a, 1 } }, 2);
	second = add(&fixture, (struct location[]){ { fixture.b, 4 }, { fixture.a, 1 } }, 2);
	assert_int_not_equal(first, second);
	assert_int_equal(chain_table_nr(fixture.table), 3);
	assert_int_equal(chain_table_node(fixture.table, first)->parent,
			 chain_table_node(fixture.table, second)->parent);
	assert_int_equal(
		add(&fixture, (struct location[]){ { fixture.b, 3 }, { fixture.a, 1 } }, 2), first);
	/* The same offsets elsewhere are another chain. */
	assert_int_not_equal(
		add(&fixture, (struct location[]){ { fixture.a, 3 }, { fixture.a, 1 } }, 2), first);
	fixture_release(&fixture);
}

static void test_fc077_unknown_addresses_are_one_frame(void **state)
{
	struct fixture fixture;
	uint32_t first, second;

	(void)state;
	fixture_init(&fixture, 100);
	first = add(&fixture,
		    (struct location[]){ { fixture.a, 7 },
					 { fixture.unknown, 0x123 },
					 { fixture.unknown, 0x456 },
					 { fixture.a, 1 } },
		    4);
	second = add(&fixture,
		     (struct location[]){
			     { fixture.a, 7 }, { fixture.unknown, 0x9999 }, { fixture.a, 1 } },
		     3);
	assert_int_equal(first, second);
	assert_int_equal(chain_table_node(fixture.table, first)->depth, 3);
	fixture_release(&fixture);
}

static void test_past_the_limit_new_chains_are_refused_and_counted(void **state)
{
	struct fixture fixture;
	uint32_t known;

	(void)state;
	fixture_init(&fixture, 3);
	known = add(&fixture, (struct location[]){ { fixture.b, 2 }, { fixture.a, 1 } }, 2);
	assert_int_equal(
		add(&fixture, (struct location[]){ { fixture.b, 9 }, { fixture.b, 8 } }, 2),
		CHAIN_NONE);
	assert_true(chain_table_nr_refused(fixture.table) == 1);
	assert_true(chain_table_nr(fixture.table) <= 3);
	assert_int_equal(
		add(&fixture, (struct location[]){ { fixture.b, 2 }, { fixture.a, 1 } }, 2), known);
	fixture_release(&fixture);
}

static void test_a_sweep_keeps_what_is_marked_and_its_callers(void **state)
{
	struct fixture fixture;
	uint32_t kept, other;

	(void)state;
	fixture_init(&fixture, 5);
	kept = add(&fixture,
		   (struct location[]){ { fixture.a, 3 }, { fixture.a, 2 }, { fixture.a, 1 } }, 3);
	(void)add(&fixture, (struct location[]){ { fixture.b, 5 }, { fixture.a, 1 } }, 2);
	assert_int_equal(fixture.b->nr_refs, 2);
	chain_table_mark_begin(fixture.table);
	chain_table_mark(fixture.table, kept);
	chain_table_mark(fixture.table, kept);
	chain_table_mark(fixture.table, CHAIN_NONE);
	chain_table_sweep(fixture.table);
	chain_table_check_invariants(fixture.table);
	assert_int_equal(chain_table_nr(fixture.table), 3);
	assert_int_equal(fixture.b->nr_refs, 1);
	assert_int_equal(
		add(&fixture,
		    (struct location[]){ { fixture.a, 3 }, { fixture.a, 2 }, { fixture.a, 1 } }, 3),
		kept);
	/* The places that became free are used again. */
	other = add(&fixture, (struct location[]){ { fixture.b, 6 }, { fixture.b, 5 } }, 2);
	assert_int_not_equal(other, CHAIN_NONE);
	assert_int_equal(chain_table_nr(fixture.table), 5);
	fixture_release(&fixture);
}

static void test_many_chains_are_found_again(void **state)
{
	struct location frames[4];
	static uint32_t ids[20000];
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture, 1 << 20);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++) {
			uint32_t id;

			for (uint32_t k = 0; k < 4; k++)
				frames[k] = (struct location){ k % 2 ? fixture.a : fixture.b,
							       i >> (4 * k) };
			id = chain_table_add(fixture.table, frames, 4);
			if (round)
				assert_int_equal(id, ids[i]);
			ids[i] = id;
		}
	}
	chain_table_mark_begin(fixture.table);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i += 3)
		chain_table_mark(fixture.table, ids[i]);
	chain_table_sweep(fixture.table);
	chain_table_check_invariants(fixture.table);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i += 3)
		assert_true(chain_table_node(fixture.table, ids[i])->offset == i);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_frames_are_no_chain),
		cmocka_unit_test(test_a_chain_reads_back_innermost_first),
		cmocka_unit_test(test_equal_beginnings_are_stored_once),
		cmocka_unit_test(test_fc077_unknown_addresses_are_one_frame),
		cmocka_unit_test(test_past_the_limit_new_chains_are_refused_and_counted),
		cmocka_unit_test(test_a_sweep_keeps_what_is_marked_and_its_callers),
		cmocka_unit_test(test_many_chains_are_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
