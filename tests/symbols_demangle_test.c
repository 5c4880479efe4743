/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "symbols/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/mem.h"

static void assert_demangled(const char *name, const char *expected)
{
	char *text = demangle(name);

	if (expected) {
		assert_non_null(text);
		assert_string_equal(text, expected);
	} else {
		assert_null(text);
	}
	free(text);
}

static void test_cxx_and_rust_names_are_readable(void **state)
{
	(void)state;
	assert_demangled("_Z1fv", "f()");
	assert_demangled("_ZNSt6vectorIiSaIiEE9push_backEOi",
			 "std::vector<int, std::allocator<int> >::push_back(int&&)");
	assert_demangled("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	assert_demangled("_RNvC7mycrate3foo", "mycrate::foo");
	assert_demangled("_RNvMs_NtCs1234_7mycrate4listINtB4_4ListjE3new",
			 "<mycrate::list::List<usize>>::new");
}

static void test_fc064_names_that_do_not_parse_stay(void **state)
{
	(void)state;
	assert_demangled("", NULL);
	assert_demangled("_", NULL);
	assert_demangled("_Z", NULL);
	assert_demangled("_R", NULL);
	assert_demangled("main", NULL);
	assert_demangled("_Reset_handler", NULL);
	assert_demangled("_RNA_polymerase", NULL);
	assert_demangled("_Zone_alloc", NULL);
	assert_demangled("_Z3fo", NULL);
	assert_demangled("_Z1fv trailing", NULL);
	assert_demangled("_Z99999999999999999999f", NULL);
	assert_demangled("i", NULL); /* a type, not a name */
	assert_demangled("\xff\xfe_Z1fv", NULL);
}

static void test_fc064_cxx_is_not_taken_for_rust(void **state)
{
	(void)state;
	assert_demangled("_ZN12_GLOBAL__N_113single_threadEv",
			 "(anonymous namespace)::single_thread()");
	assert_demangled("_ZN17h0123456789abcdef3fooEv", "h0123456789abcdef::foo()");
	assert_demangled("_ZN17h0123456789abcdefC1Ev", "h0123456789abcdef::h0123456789abcdef()");
}

static void test_fc065_suffixes_stay_visible(void **state)
{
	(void)state;
	assert_demangled("_Z3foov.cold", "foo() [clone .cold]");
	assert_demangled("_Z3fooi.constprop.0", "foo(int) [clone .constprop.0]");
	assert_demangled("_Z3foov.isra.0.part.1", "foo() [clone .isra.0] [clone .part.1]");
	assert_demangled("_Z3foov.llvm.1234567890", "foo() [clone .llvm.1234567890]");
	assert_demangled("_ZN4core3fmt5write17h0123456789abcdefE.llvm.99",
			 "core::fmt::write [clone .llvm.99]");
	assert_demangled("_RNvC7mycrate3foo.llvm.99", "mycrate::foo [clone .llvm.99]");
	assert_demangled("_RNvC7mycrate3foo.cold", "mycrate::foo [clone .cold]");
	assert_demangled("_Z3foov@plt", "foo()@plt");
	assert_demangled("_Z3foov@@LIB_1.0", "foo()@@LIB_1.0");
	assert_demangled("main.cold", NULL);
}

static char *repeat(const char *prefix, const char *unit, int nr, const char *suffix)
{
	char *name = mem_zalloc(strlen(prefix) + strlen(unit) * nr + strlen(suffix) + 1);
	char *pos = stpcpy(name, prefix);

	while (nr-- > 0)
		pos = stpcpy(pos, unit);
	memcpy(pos, suffix, strlen(suffix));
	return name;
}

/* S_ is the template, S0_ the first pair, and each pair is made of the one before. */
static char *nested_pairs(int nr)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *name = mem_strdup("_Z1fSt4pairIiiE");

	for (int i = 0; i < nr; i++) {
		char *longer = mem_printf("%sS_IS%c_S%c_E", name, digits[i], digits[i]);

		free(name);
		name = longer;
	}
	return name;
}

/* All that was crafted to be deep, endless or huge. NULL-terminated; the caller's. */
static char **crafted_names(void)
{
	char **names = mem_calloc(40, sizeof(*names));
	size_t nr = 0;

	names[nr++] = repeat("_", "Z", 20000, "");
	names[nr++] = repeat("_", "Z", 8000, "");
	names[nr++] = repeat("_Z1f", "P", 50000, "i");
	names[nr++] = repeat("_Z1f", "P", 8000, "i");
	names[nr++] = repeat("_Z1f", "F", 8000, "");
	names[nr++] = repeat("_Z1f", "PFvv", 2000, "E");
	names[nr++] = repeat("_Z1f", "A_", 4000, "i");
	names[nr++] = repeat("_Z1f", "s", 8000, "");
	names[nr++] = repeat("_ZN", "1a", 4000, "Ev");
	names[nr++] = repeat("_Z1fIX", "ng", 4000, "Li1EEEvv");
	names[nr++] = repeat("_Z", "cvT_IDo", 1100, "");
	names[nr++] = repeat("_Zcv", "T_I", 2000, "");
	names[nr++] = mem_strdup("_RNvB_1a");
	names[nr++] = mem_strdup("_RINvC1a1bRB8_E");
	names[nr++] = mem_strdup("_RINvC1a1bFGzzzzzzzzzz_uEuE");
	names[nr++] = repeat("_RINvC1a1b", "INvC1a1b", 5000, "");
	names[nr++] = repeat("_RINvC1a1b", "INvC1a1b", 1000, "");
	names[nr++] = repeat("_RINvC1a1b", "R", 8000, "jE");
	names[nr++] = repeat("_RYB_", "B_", 4000, "");
	names[nr++] = nested_pairs(30); /* a billion */
	return names;
}

static void free_names(char **names)
{
	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

static void test_fc061_fc062_crafted_names_cost_little(void **state)
{
	char **names = crafted_names();

	(void)state;
	for (size_t i = 0; names[i]; i++) {
		uint64_t begin = clock_thread_cpu_ns();
		char *text = demangle(names[i]);
		uint64_t spent = clock_thread_cpu_ns() - begin;

		assert_true(!text || strlen(text) <= DEMANGLE_MAX_OUTPUT);
		/* Milliseconds without a sanitizer; the fault would be hours. */
		assert_true(spent < NSEC_PER_SEC);
		free(text);
	}
	free_names(names);
}

static void test_fc062_doubling_is_cut_and_not_before(void **state)
{
	char *some = nested_pairs(3), *many = nested_pairs(30);
	char *text = demangle(some);

	(void)state;
	assert_non_null(text);
	assert_non_null(strstr(text, "std::pair<std::pair<std::pair<std::pair<int, int>,"));
	assert_demangled(many, NULL);
	free(text);
	free(some);
	free(many);
}

/* A generic argument for each level, a tuple of twice the one before: "B", its position, "_". */
static char *nested_tuples(int nr)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *name = mem_strdup("_RINvC1a1bTjjE"), *longer;
	size_t position = strlen("INvC1a1b");

	for (int i = 0; i < nr; i++) {
		size_t number = position - 1; /* "B_" is 0, "B0_" is 1 */
		char reference[4] = { digits[number / 62], digits[number % 62], '_', '\0' };

		position = strlen(name) - strlen("_R");
		longer = mem_printf("%sTB%sB%sE", name, reference + (number < 62),
				    reference + (number < 62));
		free(name);
		name = longer;
	}
	longer = mem_printf("%sE", name);
	free(name);
	return longer;
}

static void test_fc062_rust_back_references_are_cut(void **state)
{
	char *some = nested_tuples(6), *many = nested_tuples(30);
	char *text = demangle(some);

	(void)state;
	assert_non_null(text);
	assert_true(strlen(text) > 1000);
	assert_demangled(many, NULL);
	free(text);
	free(some);
	free(many);
}

static void test_long_names_are_readable_up_to_the_limit(void **state)
{
	char *some = repeat("_ZN", "4abcd", 900, "Ev"), *many = repeat("_ZN", "4abcd", 1700, "Ev");
	char *text = demangle(some); /* c++filt refuses it */

	(void)state;
	assert_non_null(text);
	assert_int_equal(strlen(text), 900 * strlen("abcd::"));
	free(text);
	assert_demangled(many, NULL);
	free(some);
	free(many);
}

/* A crash here is the child's. The stack limit holds for a program from its exec on. */
static void test_fc061_small_stack_is_enough(void **state)
{
	static const struct rlimit small = { .rlim_cur = 256 << 10, .rlim_max = 256 << 10 };
	int status = 0;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		if (setrlimit(RLIMIT_STACK, &small))
			_exit(99);
		execl("/proc/self/exe", "small-stack", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int run_crafted_names(void)
{
	char **names = crafted_names();
	char *text;

	for (size_t i = 0; names[i]; i++)
		free(demangle(names[i]));
	free_names(names);
	text = demangle("_ZNSt6vectorIiSaIiEE9push_backEOi");
	free(text);
	return !text;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx_and_rust_names_are_readable),
		cmocka_unit_test(test_fc064_names_that_do_not_parse_stay),
		cmocka_unit_test(test_fc064_cxx_is_not_taken_for_rust),
		cmocka_unit_test(test_fc065_suffixes_stay_visible),
		cmocka_unit_test(test_fc061_fc062_crafted_names_cost_little),
		cmocka_unit_test(test_fc062_doubling_is_cut_and_not_before),
		cmocka_unit_test(test_fc062_rust_back_references_are_cut),
		cmocka_unit_test(test_long_names_are_readable_up_to_the_limit),
		cmocka_unit_test(test_fc061_small_stack_is_enough),
	};

	if (argc > 0 && !strcmp(argv[0], "small-stack"))
		return run_crafted_names();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
