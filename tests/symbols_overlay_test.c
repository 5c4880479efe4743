/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of symbols/overlay.c. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/overlay.h"
#include "symbols/symbol.h"

struct named_range {
	uint64_t start, end;
	const char *name;
};

static struct symbol_table *table_of(const struct named_range *ranges, size_t nr)
{
	struct symbol_table *table = symbol_table_new();

	for (size_t i = 0; i < nr; i++)
		symbol_table_add(table, ranges[i].start, ranges[i].end - ranges[i].start, 0,
				 SYMBOL_GLOBAL, ranges[i].name, strlen(ranges[i].name), NULL);
	symbol_table_finish(table);
	return table;
}

static uint64_t add(struct overlay *overlay, struct symbol_table *base, uint64_t start,
		    uint64_t end, const char *name)
{
	const struct named_range range = { start, end, name };

	return overlay_add(overlay, base, table_of(&range, 1));
}

/* "-": not covered, "": covered by code without a name. */
static const char *name_at(struct overlay *overlay, uint64_t offset)
{
	const struct symbol *symbol;

	if (!overlay_find(overlay, offset, &symbol))
		return "-";
	return symbol ? symbol->raw : "";
}

static void test_empty_overlay_covers_nothing(void **state)
{
	struct overlay *overlay = overlay_new();

	(void)state;
	assert_string_equal(name_at(overlay, 0), "-");
	assert_string_equal(name_at(overlay, UINT64_MAX), "-");
	assert_int_equal(overlay_add(overlay, NULL, table_of(NULL, 0)), 0);
	overlay_free(overlay);
	overlay_free(NULL);
}

static void test_last_added_wins_where_it_covers(void **state)
{
	struct overlay *overlay = overlay_new();

	(void)state;
	add(overlay, NULL, 0x1000, 0x2000, "old");
	add(overlay, NULL, 0x1400, 0x1500, "new");
	assert_string_equal(name_at(overlay, 0xfff), "-");
	assert_string_equal(name_at(overlay, 0x1000), "old");
	assert_string_equal(name_at(overlay, 0x13ff), "old");
	assert_string_equal(name_at(overlay, 0x1400), "new");
	assert_string_equal(name_at(overlay, 0x14ff), "new");
	assert_string_equal(name_at(overlay, 0x1500), "old");
	assert_string_equal(name_at(overlay, 0x1fff), "old");
	assert_string_equal(name_at(overlay, 0x2000), "-");
	overlay_free(overlay);
}

static void test_symbols_stay_when_they_are_covered(void **state)
{
	struct overlay *overlay = overlay_new();
	const struct symbol *old;

	(void)state;
	add(overlay, NULL, 0x1000, 0x2000, "old");
	assert_true(overlay_find(overlay, 0x1800, &old));
	add(overlay, NULL, 0x800, 0x3000, "new");
	assert_int_equal(overlay_nr(overlay), 1);
	assert_string_equal(old->raw, "old");
	overlay_free(overlay);
}

static void test_what_is_known_costs_nothing(void **state)
{
	static const struct named_range ranges[] = {
		{ 0x1000, 0x1100, "f" },
		{ 0x1100, 0x1200, "g" },
		{ 0x3000, 0x3100, "h" },
	};
	struct overlay *overlay = overlay_new();
	struct symbol_table *base = table_of(ranges, 1);

	(void)state;
	assert_true(overlay_add(overlay, NULL, table_of(ranges + 1, 1)) > 0);
	assert_int_equal(overlay_add(overlay, NULL, table_of(ranges + 1, 1)), 0);
	assert_true(overlay_add(overlay, base, table_of(ranges, 3)) > 0);
	assert_int_equal(overlay_nr(overlay), 2); /* g and h; f is the base's */
	assert_string_equal(name_at(overlay, 0x1000), "-");
	assert_string_equal(name_at(overlay, 0x3000), "h");
	assert_int_equal(overlay_add(overlay, base, table_of(ranges, 3)), 0);
	/* Another name or, without a base, another size is new. */
	assert_true(add(overlay, NULL, 0x1100, 0x1180, "g") > 0);
	assert_true(add(overlay, base, 0x1000, 0x1100, "f2") > 0);
	assert_int_equal(add(overlay, base, 0x3000, 0x4000, "h"), 0);
	symbol_table_free(base);
	overlay_free(overlay);
}

static void test_hidden_code_has_no_name_any_more(void **state)
{
	struct overlay *overlay = overlay_new();

	(void)state;
	overlay_hide(overlay, 0x1100, 0x1200);
	assert_string_equal(name_at(overlay, 0x1100), "");
	add(overlay, NULL, 0x1000, 0x2000, "f");
	overlay_hide(overlay, 0x1100, 0x1200);
	assert_string_equal(name_at(overlay, 0x10ff), "f");
	assert_string_equal(name_at(overlay, 0x1100), "");
	assert_string_equal(name_at(overlay, 0x1200), "f");
	add(overlay, NULL, 0x1100, 0x1180, "g");
	assert_string_equal(name_at(overlay, 0x1100), "g");
	assert_string_equal(name_at(overlay, 0x1180), "");
	overlay_free(overlay);
}

static void test_random_batches_agree_with_a_plain_model(void **state)
{
	enum { SPACE = 512 };
	unsigned int random = 7;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct overlay *overlay = overlay_new();
		int model[SPACE] = { 0 };

		for (int batch = 1; batch < 30; batch++) {
			struct symbol_table *table = symbol_table_new();
			char name[16];

			snprintf(name, sizeof(name), "f%d", batch);
			for (unsigned int start = 0; start < SPACE;) {
				unsigned int size;

				random = random * 1103515245 + 12345;
				start += (random >> 8) % 90;
				size = 1 + (random >> 20) % 30;
				if (start + size > SPACE)
					break;
				symbol_table_add(table, start, size, 0, SYMBOL_GLOBAL, name,
						 strlen(name), NULL);
				for (unsigned int i = start; i < start + size; i++)
					model[i] = batch;
				start += size;
			}
			symbol_table_finish(table);
			overlay_add(overlay, NULL, table);
		}
		for (unsigned int i = 0; i < SPACE; i++) {
			const char *name = name_at(overlay, i);

			assert_int_equal(name[0] == '-' ? 0 : atoi(name + 1), model[i]);
		}
		overlay_free(overlay);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_overlay_covers_nothing),
		cmocka_unit_test(test_last_added_wins_where_it_covers),
		cmocka_unit_test(test_symbols_stay_when_they_are_covered),
		cmocka_unit_test(test_what_is_known_costs_nothing),
		cmocka_unit_test(test_hidden_code_has_no_name_any_more),
		cmocka_unit_test(test_random_batches_agree_with_a_plain_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
