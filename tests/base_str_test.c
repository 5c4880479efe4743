/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "core/base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/worker.h"

/* Each case leaves the pool as it found it. */
static void assert_pool(uint64_t nr, uint64_t bytes)
{
	uint64_t nr_now, bytes_now;

	str_stats(&nr_now, &bytes_now);
	assert_int_equal(nr_now, nr);
	assert_int_equal(bytes_now, bytes);
}

static void test_equal_texts_are_one_string(void **state)
{
	struct str *first = str_from("libc.so.6");
	struct str *second = str_new("libc.so.6 and more", 9);
	struct str *other = str_from("libm.so.6");

	(void)state;
	assert_ptr_equal(first, second);
	assert_ptr_not_equal(first, other);
	assert_string_equal(first->text, "libc.so.6");
	assert_int_equal(first->len, 9);
	assert_pool(2, 18);
	str_put(first);
	assert_string_equal(second->text, "libc.so.6");
	str_put(second);
	str_put(other);
	assert_pool(0, 0);
}

static void test_text_ends_at_its_nul(void **state)
{
	struct str *str = str_new("ab\0cd", 5);
	struct str *empty = str_new("", 0);

	(void)state;
	assert_string_equal(str->text, "ab");
	assert_int_equal(str->len, 2);
	assert_string_equal(empty->text, "");
	assert_ptr_equal(empty, str_from(""));
	str_put(str);
	str_put(empty);
	str_put(empty);
	str_put(NULL);
	assert_pool(0, 0);
}

static void test_a_reference_keeps_it_alive(void **state)
{
	struct str *str = str_from("kept");

	(void)state;
	assert_ptr_equal(str_get(str), str);
	str_put(str);
	assert_pool(1, 4);
	assert_string_equal(str->text, "kept");
	str_put(str);
	assert_pool(0, 0);
}

static void test_pool_holds_many_strings(void **state)
{
	enum { NR = 20000 };
	static struct str *strings[NR];
	char text[32];

	(void)state;
	for (int i = 0; i < NR; i++) {
		snprintf(text, sizeof(text), "symbol_%05d", i);
		strings[i] = str_from(text);
	}
	assert_pool(NR, NR * 12);
	for (int i = 0; i < NR; i++) {
		struct str *again;

		snprintf(text, sizeof(text), "symbol_%05d", i);
		again = str_from(text);
		assert_ptr_equal(again, strings[i]);
		str_put(again);
	}
	/* From the middle outwards, so that chains lose heads, tails and what is between. */
	for (int i = 0; i < NR / 2; i++) {
		str_put(strings[NR / 2 + i]);
		str_put(strings[NR / 2 - 1 - i]);
	}
	assert_pool(0, 0);
}

static void use_strings(void *arg)
{
	unsigned int *nr_wrong = arg;

	for (int i = 0; i < 20000; i++) {
		char text[16];
		struct str *str, *more;

		/* Few texts: they are born and die all the time, under both workers. */
		snprintf(text, sizeof(text), "text%d", i % 3);
		str = str_from(text);
		more = str_get(str);
		*nr_wrong += !!strcmp(str->text, text);
		str_put(str);
		str_put(more);
	}
}

static void test_workers_share_the_pool(void **state)
{
	struct worker *workers[2] = { NULL };
	unsigned int nr_wrong[2] = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(worker_start("user", use_strings, &nr_wrong[i], &workers[i], NULL),
				 0);
	for (size_t i = 0; i < 2; i++) {
		worker_join(workers[i]);
		assert_int_equal(nr_wrong[i], 0);
	}
	assert_pool(0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_texts_are_one_string),
		cmocka_unit_test(test_text_ends_at_its_nul),
		cmocka_unit_test(test_a_reference_keeps_it_alive),
		cmocka_unit_test(test_pool_holds_many_strings),
		cmocka_unit_test(test_workers_share_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
