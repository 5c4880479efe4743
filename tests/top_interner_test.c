/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "top/interner.h"

static void test_equal_things_have_equal_numbers(void **state)
{
	struct interner interner = { 0 };
	size_t len;

	(void)state;
	assert_int_equal(interner_add_text(&interner, ""), 0);
	assert_int_equal(interner_add_text(&interner, "a"), 1);
	assert_int_equal(interner_add(&interner, "a\0b", 3), 2);
	assert_int_equal(interner_add_text(&interner, "a"), 1);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(interner_add(&interner, &i, sizeof(i)), 3 + i);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(interner_add(&interner, &i, sizeof(i)), 3 + i);
	assert_int_equal(interner_add_text(&interner, ""), 0);
	assert_memory_equal(interner_get(&interner, 2, &len), "a\0b", 3);
	assert_int_equal(len, 3);
	interner_clear(&interner);
	assert_int_equal(interner_add_text(&interner, "a"), 0);
	interner_release(&interner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_things_have_equal_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
