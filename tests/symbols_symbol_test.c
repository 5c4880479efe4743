/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "symbols/symbol.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/worker.h"

struct item {
	uint64_t start, size, limit;
	enum symbol_binding binding;
	const char *name;
};

static struct symbol_table *make_table(const struct item *items, size_t nr)
{
	struct symbol_table *table = symbol_table_new();

	for (size_t i = 0; i < nr; i++)
		symbol_table_add(table, items[i].start, items[i].size, items[i].limit,
				 items[i].binding, items[i].name, strlen(items[i].name), NULL);
	symbol_table_finish(table);
	symbol_table_check_invariants(table);
	return table;
}

#define MAKE_TABLE(items) make_table(items, ARRAY_SIZE(items))

/* "" when nothing covers @offset. */
static const char *name_at(struct symbol_table *table, uint64_t offset)
{
	const struct symbol *symbol = symbol_table_find(table, offset);

	return symbol ? symbol->raw : "";
}

static void test_sized_symbol_covers_exactly_its_bytes(void **state)
{
	static const struct item items[] = { { 0x100, 0x10, 0, SYMBOL_GLOBAL, "f" },
					     { 0x200, 0x10, 0, SYMBOL_GLOBAL, "g" } };
	struct symbol_table *table = MAKE_TABLE(items);

	(void)state;
	assert_string_equal(name_at(table, 0xff), "");
	assert_string_equal(name_at(table, 0x100), "f");
	assert_string_equal(name_at(table, 0x10f), "f");
	assert_string_equal(name_at(table, 0x110), "");
	assert_string_equal(name_at(table, 0x20f), "g");
	assert_string_equal(name_at(table, 0x210), "");
	assert_int_equal(symbol_table_find(table, 0x205)->start, 0x200);
	assert_int_equal(symbol_table_find(table, 0x205)->end, 0x210);
	symbol_table_free(table);
}

static void test_empty_table_finds_nothing(void **state)
{
	struct symbol_table *table = make_table(NULL, 0);

	(void)state;
	assert_int_equal(symbol_table_nr(table), 0);
	assert_null(symbol_table_find(table, 0));
	assert_null(symbol_table_find(table, UINT64_MAX));
	symbol_table_free(table);
	symbol_table_free(NULL);
}

static void test_fc022_sizeless_symbol_ends_at_next_or_limit(void **state)
{
	static const struct item items[] = { { 0x10, 0, 0x100, SYMBOL_LOCAL, "first" },
					     { 0x30, 0, 0x100, SYMBOL_LOCAL, "middle" },
					     { 0x50, 0, 0x100, SYMBOL_LOCAL, "last" } };
	struct symbol_table *table = MAKE_TABLE(items);

	(void)state;
	assert_string_equal(name_at(table, 0x2f), "first");
	assert_string_equal(name_at(table, 0x30), "middle");
	assert_string_equal(name_at(table, 0x4f), "middle");
	assert_string_equal(name_at(table, 0xff), "last");
	assert_string_equal(name_at(table, 0x100), "");
	symbol_table_free(table);
}

static void test_fc023_sizeless_symbol_without_limit_covers_nothing(void **state)
{
	static const struct item items[] = { { 0x10, 0, 0x100, SYMBOL_LOCAL, "label" },
					     { 0x30, 0, 0, SYMBOL_GLOBAL, "marker" },
					     { 0x50, 8, 0, SYMBOL_LOCAL, "sized" } };
	struct symbol_table *table = MAKE_TABLE(items);

	(void)state;
	assert_string_equal(name_at(table, 0x2f), "label");
	assert_string_equal(name_at(table, 0x30), "");
	assert_string_equal(name_at(table, 0x4f), "");
	assert_string_equal(name_at(table, 0x50), "sized");
	assert_int_equal(symbol_table_nr(table), 2);
	symbol_table_free(table);
}

static void test_sizeless_label_inside_a_function_does_not_cut_it(void **state)
{
	static const struct item items[] = { { 0x10, 0x40, 0, SYMBOL_LOCAL, "function" },
					     { 0x20, 0, 0x100, SYMBOL_GLOBAL, "label" },
					     { 0x50, 0, 0x100, SYMBOL_GLOBAL, "behind" } };
	struct symbol_table *table = MAKE_TABLE(items);

	(void)state;
	assert_string_equal(name_at(table, 0x20), "function");
	assert_string_equal(name_at(table, 0x4f), "function");
	assert_string_equal(name_at(table, 0x50), "behind");
	assert_int_equal(symbol_table_nr(table), 2);
	symbol_table_free(table);
}

static void test_sizeless_alias_takes_the_size_of_the_sized_one(void **state)
{
	static const struct item items[] = { { 0x10, 0, 0x100, SYMBOL_GLOBAL, "entry" },
					     { 0x10, 8, 0, SYMBOL_LOCAL, "entry_local" } };
	struct symbol_table *table = MAKE_TABLE(items);

	(void)state;
	assert_string_equal(name_at(table, 0x17), "entry");
	assert_string_equal(name_at(table, 0x18), "");
	symbol_table_free(table);
}

/* Every order of adding: 5! of them. */
static void test_fc025_alias_does_not_depend_on_the_order(void **state)
{
	static const struct item items[] = { { 0x40, 9, 0, SYMBOL_GLOBAL, "real_work" },
					     { 0x40, 9, 0, SYMBOL_WEAK, "zz" },
					     { 0x40, 9, 0, SYMBOL_LOCAL, "r" },
					     { 0x40, 9, 0, SYMBOL_GLOBAL, "_real" },
					     { 0x40, 9, 0, SYMBOL_GLOBAL, "real_worker" } };

	(void)state;
	for (unsigned int order = 0; order < 120; order++) {
		struct item permuted[ARRAY_SIZE(items)];
		struct symbol_table *table;
		unsigned int rest = order;

		memcpy(permuted, items, sizeof(items));
		for (unsigned int i = 0; i < ARRAY_SIZE(items); i++) {
			unsigned int other = i + rest % (5 - i);
			struct item swapped = permuted[i];

			rest /= 5 - i;
			permuted[i] = permuted[other];
			permuted[other] = swapped;
		}
		table = MAKE_TABLE(permuted);
		assert_int_equal(symbol_table_nr(table), 1);
		assert_string_equal(name_at(table, 0x40), "real_work");
		symbol_table_free(table);
	}
}

static void assert_stronger(struct item strong, struct item weak)
{
	struct item items[] = { weak, strong };
	struct symbol_table *table = MAKE_TABLE(items);

	assert_string_equal(name_at(table, strong.start), strong.name);
	symbol_table_free(table);
}

static void test_fc025_each_rule_decides(void **state)
{
	(void)state;
	assert_stronger((struct item){ 8, 4, 0, SYMBOL_GLOBAL, "__long_name" },
			(struct item){ 8, 4, 0, SYMBOL_WEAK, "a" });
	assert_stronger((struct item){ 8, 4, 0, SYMBOL_WEAK, "__long_name" },
			(struct item){ 8, 4, 0, SYMBOL_LOCAL, "a" });
	assert_stronger((struct item){ 8, 4, 0, SYMBOL_LOCAL, "__long_name" },
			(struct item){ 8, 4, 0, SYMBOL_FALLBACK, "a" });
	assert_stronger((struct item){ 8, 4, 0, SYMBOL_LOCAL, "_long_name" },
			(struct item){ 8, 4, 0, SYMBOL_LOCAL, "__a" });
	assert_stronger((struct item){ 8, 4, 0, SYMBOL_LOCAL, "long_name" },
			(struct item){ 8, 0, 99, SYMBOL_LOCAL, "a" });
	assert_stronger((struct item){ 8, 4, 0, SYMBOL_LOCAL, "zz" },
			(struct item){ 8, 4, 0, SYMBOL_LOCAL, "aaa" });
	assert_stronger((struct item){ 8, 4, 0, SYMBOL_LOCAL, "aa" },
			(struct item){ 8, 4, 0, SYMBOL_LOCAL, "ab" });
	/* Without bytes of its own a name is none. */
	assert_stronger((struct item){ 8, 4, 0, SYMBOL_LOCAL, "sized" },
			(struct item){ 8, 0, 0, SYMBOL_GLOBAL, "a" });
}

static void test_inner_symbol_cuts_the_outer_one(void **state)
{
	static const struct item items[] = { { 0x10, 0x40, 0, SYMBOL_GLOBAL, "outer" },
					     { 0x20, 0x08, 0, SYMBOL_LOCAL, "inner" },
					     { 0x48, 0x10, 0, SYMBOL_LOCAL, "overlapping" } };
	struct symbol_table *table = MAKE_TABLE(items);

	(void)state;
	assert_string_equal(name_at(table, 0x1f), "outer");
	assert_string_equal(name_at(table, 0x20), "inner");
	assert_string_equal(name_at(table, 0x28), "outer");
	assert_string_equal(name_at(table, 0x47), "outer");
	assert_string_equal(name_at(table, 0x48), "overlapping");
	assert_string_equal(name_at(table, 0x57), "overlapping");
	assert_string_equal(name_at(table, 0x58), "");
	/* A piece starts where it says. */
	assert_int_equal(symbol_table_find(table, 0x30)->start, 0x28);
	assert_int_equal(symbol_table_nr(table), 4);
	symbol_table_free(table);
}

static void test_longer_alias_keeps_what_is_behind_the_name(void **state)
{
	static const struct item items[] = { { 0x10, 0x08, 0, SYMBOL_GLOBAL, "stub" },
					     { 0x10, 0x40, 0, SYMBOL_FALLBACK, "[plt]" } };
	struct symbol_table *table = MAKE_TABLE(items);

	(void)state;
	assert_string_equal(name_at(table, 0x17), "stub");
	assert_string_equal(name_at(table, 0x18), "[plt]");
	assert_string_equal(name_at(table, 0x50), "");
	symbol_table_free(table);
}

static void test_size_past_the_end_of_addresses_is_cut(void **state)
{
	static const struct item items[] = { { UINT64_MAX - 4, UINT64_MAX, 0, SYMBOL_LOCAL, "end" },
					     { UINT64_MAX, 9, 0, SYMBOL_LOCAL, "no_bytes" },
					     { 0, 1, 0, SYMBOL_LOCAL, "begin" } };
	struct symbol_table *table = MAKE_TABLE(items);

	(void)state;
	assert_string_equal(name_at(table, 0), "begin");
	assert_string_equal(name_at(table, 1), "");
	assert_string_equal(name_at(table, UINT64_MAX - 1), "end");
	assert_string_equal(name_at(table, UINT64_MAX), "");
	symbol_table_free(table);
}

static void test_long_name_is_cut(void **state)
{
	struct symbol_table *table = symbol_table_new();
	size_t len = SYMBOL_MAX_NAME + 1000;
	char *name = malloc(len + 1);

	(void)state;
	assert_non_null(name);
	memset(name, 'n', len);
	name[len] = '\0';
	symbol_table_add(table, 1, 1, 0, SYMBOL_LOCAL, name, len, NULL);
	symbol_table_finish(table);
	assert_int_equal(strlen(name_at(table, 1)), SYMBOL_MAX_NAME);
	symbol_table_free(table);
	free(name);
}

static void test_name_need_not_be_terminated(void **state)
{
	struct symbol_table *table = symbol_table_new();

	(void)state;
	symbol_table_add(table, 1, 1, 0, SYMBOL_LOCAL, "abcdef", 3, NULL);
	symbol_table_finish(table);
	assert_string_equal(name_at(table, 1), "abc");
	symbol_table_free(table);
}

static void test_objects_exist_once(void **state)
{
	struct symbol_table *table = symbol_table_new();
	char module[] = "ext4";

	(void)state;
	symbol_table_add(table, 0x10, 8, 0, SYMBOL_LOCAL, "a", 1, module);
	symbol_table_add(table, 0x20, 8, 0, SYMBOL_LOCAL, "b", 1, NULL);
	symbol_table_add(table, 0x30, 8, 0, SYMBOL_LOCAL, "c", 1, "bpf");
	symbol_table_add(table, 0x40, 8, 0, SYMBOL_LOCAL, "d", 1, module);
	module[0] = 'X';
	symbol_table_finish(table);
	assert_string_equal(symbol_table_find(table, 0x10)->object, "ext4");
	assert_null(symbol_table_find(table, 0x20)->object);
	assert_string_equal(symbol_table_find(table, 0x30)->object, "bpf");
	assert_ptr_equal(symbol_table_find(table, 0x10)->object,
			 symbol_table_find(table, 0x40)->object);
	symbol_table_free(table);
}

static void test_found_symbol_is_demangled_and_stays(void **state)
{
	static const struct item items[] = { { 0x10, 8, 0, SYMBOL_GLOBAL, "_ZN3one3twoEv" } };
	struct symbol_table *table = MAKE_TABLE(items);
	uint64_t bytes = symbol_table_bytes(table);
	const struct symbol *symbol = symbol_table_find(table, 0x12);

	(void)state;
	assert_string_equal(symbol->name, "one::two()");
	assert_string_equal(symbol->raw, "_ZN3one3twoEv");
	assert_ptr_equal(symbol_table_find(table, 0x17), symbol);
	assert_ptr_equal(symbol_table_at(table, 0), symbol);
	assert_true(symbol_table_bytes(table) > bytes);
	symbol_table_free(table);
}

static void test_bytes_of_losing_aliases_are_given_back(void **state)
{
	struct symbol_table *table = symbol_table_new();
	char name[1000];

	(void)state;
	memset(name, 'l', sizeof(name));
	for (int i = 0; i < 10000; i++)
		symbol_table_add(table, 0x10, 8, 0, SYMBOL_LOCAL, name, sizeof(name), NULL);
	assert_true(symbol_table_bytes(table) > 10000000);
	symbol_table_finish(table);
	assert_true(symbol_table_bytes(table) < 5000);
	symbol_table_free(table);
}

enum { NR_OFFSETS = 64, NR_RANDOM = 12 };

static bool is_stronger(const struct item *left, const struct item *right)
{
	size_t left_underscores = strspn(left->name, "_"),
	       right_underscores = strspn(right->name, "_");

	if (left->binding != right->binding)
		return left->binding > right->binding;
	if (left_underscores != right_underscores)
		return left_underscores < right_underscores;
	if (!left->size != !right->size)
		return left->size > 0;
	return strcmp(left->name, right->name) < 0; /* all have one length */
}

/* What the header says of the start @start, asked for @offset; slow and plain. */
static const struct item *model_group(const struct item *items, uint64_t start, uint64_t offset,
				      bool is_covered, uint64_t next)
{
	const struct item *winner = NULL, *sized = NULL, *rest = NULL;

	for (const struct item *item = items; item < items + NR_RANDOM; item++) {
		if (item->start != start || (!item->size && item->limit <= start))
			continue;
		if (!winner || is_stronger(item, winner))
			winner = item;
		if (item->size && (!sized || is_stronger(item, sized)))
			sized = item;
		if (item->size && offset < start + item->size && (!rest || is_stronger(item, rest)))
			rest = item;
	}
	if (!winner)
		return NULL;
	if (!sized)
		return !is_covered && offset < next && offset < winner->limit ? winner : NULL;
	if (offset < start + (winner->size ? winner->size : sized->size))
		return winner;
	return rest;
}

static const struct item *model_find(const struct item *items, uint64_t offset)
{
	for (uint64_t start = offset + 1; start-- > 0;) {
		const struct item *found;
		uint64_t next = UINT64_MAX;
		bool is_covered = false;

		for (int i = 0; i < NR_RANDOM; i++) {
			if (items[i].start > start)
				next = MIN(next, items[i].start);
			if (items[i].size && items[i].start < start &&
			    items[i].start + items[i].size > start)
				is_covered = true;
		}
		found = model_group(items, start, offset, is_covered, next);
		if (found)
			return found;
	}
	return NULL;
}

static void test_random_overlaps_agree_with_the_model(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct item items[NR_RANDOM];
		char names[NR_RANDOM][8];
		struct symbol_table *table;

		for (int i = 0; i < NR_RANDOM; i++) {
			snprintf(names[i], sizeof(names[i]), "%s%c%c",
				 rand_r(&seed) % 4 ? "x" : "_", 'a' + rand_r(&seed) % 26, 'a' + i);
			items[i].name = names[i];
			items[i].start = (uint64_t)(rand_r(&seed) % (NR_OFFSETS - 16));
			items[i].size = rand_r(&seed) % 3 ? (uint64_t)(rand_r(&seed) % 16 + 1) : 0;
			items[i].limit = (uint64_t)(rand_r(&seed) % NR_OFFSETS);
			items[i].binding = (enum symbol_binding)(rand_r(&seed) % 4);
		}
		table = make_table(items, NR_RANDOM);
		for (uint64_t offset = 0; offset < NR_OFFSETS; offset++) {
			const struct item *expected = model_find(items, offset);

			assert_string_equal(name_at(table, offset), expected ? expected->name : "");
		}
		symbol_table_free(table);
	}
}

enum { NR_WORKERS = 4, NR_SYMBOLS = 2000 };

struct finder {
	struct symbol_table *table;
	_Atomic int *nr_waiting; /* they begin together */
	const struct symbol *found[NR_SYMBOLS];
};

static void find_all(void *arg)
{
	struct finder *finder = arg;

	atomic_fetch_sub(finder->nr_waiting, 1);
	while (atomic_load(finder->nr_waiting) > 0)
		sched_yield();
	for (int i = 0; i < NR_SYMBOLS; i++)
		finder->found[i] = symbol_table_find(finder->table, (uint64_t)i * 16 + 3);
}

static void test_workers_that_find_at_once_get_one_symbol(void **state)
{
	struct symbol_table *table = symbol_table_new();
	struct finder *finders = calloc(NR_WORKERS, sizeof(*finders));
	struct worker *workers[NR_WORKERS];
	_Atomic int nr_waiting = NR_WORKERS;

	(void)state;
	assert_non_null(finders);
	for (int i = 0; i < NR_SYMBOLS; i++) {
		char name[32];
		int len = snprintf(name, sizeof(name), "_ZN3abc5f%04dEv", i);

		symbol_table_add(table, (uint64_t)i * 16, 16, 0, SYMBOL_LOCAL, name, (size_t)len,
				 NULL);
	}
	symbol_table_finish(table);
	for (int i = 0; i < NR_WORKERS; i++) {
		finders[i].table = table;
		finders[i].nr_waiting = &nr_waiting;
		assert_int_equal(worker_start("finder", find_all, &finders[i], &workers[i], NULL),
				 0);
	}
	for (int i = 0; i < NR_WORKERS; i++)
		worker_join(workers[i]);
	for (int i = 0; i < NR_SYMBOLS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "abc::f%04d()", i);
		assert_string_equal(finders[0].found[i]->name, name);
		for (int j = 1; j < NR_WORKERS; j++)
			assert_ptr_equal(finders[j].found[i], finders[0].found[i]);
	}
	symbol_table_free(table);
	free(finders);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sized_symbol_covers_exactly_its_bytes),
		cmocka_unit_test(test_empty_table_finds_nothing),
		cmocka_unit_test(test_fc022_sizeless_symbol_ends_at_next_or_limit),
		cmocka_unit_test(test_fc023_sizeless_symbol_without_limit_covers_nothing),
		cmocka_unit_test(test_sizeless_label_inside_a_function_does_not_cut_it),
		cmocka_unit_test(test_sizeless_alias_takes_the_size_of_the_sized_one),
		cmocka_unit_test(test_fc025_alias_does_not_depend_on_the_order),
		cmocka_unit_test(test_fc025_each_rule_decides),
		cmocka_unit_test(test_inner_symbol_cuts_the_outer_one),
		cmocka_unit_test(test_longer_alias_keeps_what_is_behind_the_name),
		cmocka_unit_test(test_size_past_the_end_of_addresses_is_cut),
		cmocka_unit_test(test_long_name_is_cut),
		cmocka_unit_test(test_name_need_not_be_terminated),
		cmocka_unit_test(test_objects_exist_once),
		cmocka_unit_test(test_found_symbol_is_demangled_and_stays),
		cmocka_unit_test(test_bytes_of_losing_aliases_are_given_back),
		cmocka_unit_test(test_random_overlaps_agree_with_the_model),
		cmocka_unit_test(test_workers_that_find_at_once_get_one_symbol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
