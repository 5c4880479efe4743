/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tally.h"

static struct tuple sample(uint32_t tid, uint64_t ip)
{
	return (struct tuple){ .pid = 1, .tid = tid, .ip = ip, .cpu = 3, .cpumode = 2 };
}

static void test_identical_samples_are_one_tuple(void **state)
{
	struct tally *tally = tally_new();
	struct tuple tuple = sample(7, 0x1000);

	(void)state;
	for (int i = 0; i < 1000; i++)
		tally_add(tally, &tuple, NULL, 10);
	assert_int_equal(tally_nr(tally), 1);
	assert_int_equal(tally_at(tally, 0)->nr_samples, 1000);
	assert_int_equal(tally_at(tally, 0)->period, 10000);
	assert_int_equal(tally_at(tally, 0)->cpu, 3);
	tally_free(tally);
}

static void test_every_part_of_the_key_tells_apart(void **state)
{
	struct tally *tally = tally_new();
	struct tuple tuples[7];
	uint64_t chain[] = { 1, 2, 3 };

	(void)state;
	for (size_t i = 0; i < 7; i++)
		tuples[i] = sample(7, 0x1000);
	tuples[1].tid = 8;
	tuples[2].ip = 0x1001;
	tuples[3].cpu = 4;
	tuples[4].event = 256; /* in a byte it would be 0 */
	tuples[5].cpumode = 1;
	tuples[6].nr_chain = 3;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < 7; i++)
			tally_add(tally, &tuples[i], chain, 1);
	}
	assert_int_equal(tally_nr(tally), 7);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(tally_at(tally, i)->nr_samples, 2);
	tally_free(tally);
}

static void test_chains_are_compared_in_full(void **state)
{
	struct tally *tally = tally_new();
	struct tuple tuple = sample(7, 0x1000);
	uint64_t a[] = { 1, 2, 3 };
	uint64_t b[] = { 1, 3, 2 };

	(void)state;
	tuple.nr_chain = 3;
	tally_add(tally, &tuple, a, 1);
	tally_add(tally, &tuple, b, 1);
	tally_add(tally, &tuple, a, 1);
	assert_int_equal(tally_nr(tally), 2);
	assert_memory_equal(tally_chain(tally, tally_at(tally, 0)), a, sizeof(a));
	assert_memory_equal(tally_chain(tally, tally_at(tally, 1)), b, sizeof(b));
	tally_free(tally);
}

static void test_separate_samples_are_never_merged(void **state)
{
	struct tally *tally = tally_new();
	struct tuple tuple = sample(7, 0x1000);

	(void)state;
	tally_add(tally, &tuple, NULL, 1);
	tuple.separate = true;
	tuple.time = 5;
	tally_add(tally, &tuple, NULL, 1);
	tuple.time = 6;
	tally_add(tally, &tuple, NULL, 1);
	assert_int_equal(tally_nr(tally), 3);
	assert_int_equal(tally_at(tally, 1)->time, 5);
	assert_int_equal(tally_at(tally, 2)->time, 6);
	/* And an ordinary one does not fall into a separate one either. */
	tuple.separate = false;
	tally_add(tally, &tuple, NULL, 1);
	assert_int_equal(tally_nr(tally), 3);
	assert_int_equal(tally_at(tally, 0)->nr_samples, 2);
	tally_free(tally);
}

static void test_many_tuples_survive_growth_and_clear(void **state)
{
	struct tally *tally = tally_new();

	(void)state;
	for (int round = 0; round < 2; round++) {
		uint64_t total = 0;

		for (uint32_t i = 0; i < 50000; i++) {
			struct tuple tuple = sample(i % 97, 0x1000 + i % 10007);
			uint64_t ips[] = { i % 5, i % 3 };

			tuple.nr_chain = 2;
			tally_add(tally, &tuple, ips, 2);
		}
		for (size_t i = 0; i < tally_nr(tally); i++)
			total += tally_at(tally, i)->period;
		assert_int_equal(total, 100000);
		assert_true(tally_nr(tally) > 10007);
		tally_clear(tally);
		assert_int_equal(tally_nr(tally), 0);
	}
	tally_free(tally);
}

/* Few are cleared one by one: nothing of them may be left, wherever they collided. */
static void test_few_tuples_in_a_large_index_are_cleared(void **state)
{
	struct tally *tally = tally_new();

	(void)state;
	for (uint64_t round = 0; round < 3000; round++) {
		for (uint64_t i = 0; i < 60; i++) {
			struct tuple tuple = sample(7, round + i);

			tuple.separate = i % 7 == 6;
			tally_add(tally, &tuple, NULL, round + 1);
		}
		assert_int_equal(tally_nr(tally), 60);
		for (size_t i = 0; i < 60; i++) {
			assert_int_equal(tally_at(tally, i)->ip, round + i);
			assert_int_equal(tally_at(tally, i)->nr_samples, 1);
			assert_int_equal(tally_at(tally, i)->period, round + 1);
		}
		tally_clear(tally);
		assert_int_equal(tally_nr(tally), 0);
	}
	tally_free(tally);
}

static void test_a_tuple_moves_with_its_weight(void **state)
{
	struct tally *from = tally_new();
	struct tally *to = tally_new();
	struct tuple tuple = sample(7, 0x1000);
	uint64_t chain[] = { 9, 8 };

	(void)state;
	tuple.nr_chain = 2;
	tally_add(from, &tuple, chain, 4);
	tally_add(from, &tuple, chain, 4);
	tally_add_tuple(to, tally_at(from, 0), tally_chain(from, tally_at(from, 0)));
	tally_add_tuple(to, tally_at(from, 0), tally_chain(from, tally_at(from, 0)));
	assert_int_equal(tally_nr(to), 1);
	assert_int_equal(tally_at(to, 0)->nr_samples, 4);
	assert_int_equal(tally_at(to, 0)->period, 16);
	assert_memory_equal(tally_chain(to, tally_at(to, 0)), chain, sizeof(chain));
	tally_free(from);
	tally_free(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identical_samples_are_one_tuple),
		cmocka_unit_test(test_every_part_of_the_key_tells_apart),
		cmocka_unit_test(test_chains_are_compared_in_full),
		cmocka_unit_test(test_separate_samples_are_never_merged),
		cmocka_unit_test(test_many_tuples_survive_growth_and_clear),
		cmocka_unit_test(test_few_tuples_in_a_large_index_are_cleared),
		cmocka_unit_test(test_a_tuple_moves_with_its_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
