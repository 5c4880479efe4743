/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "symbols/kallsyms.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/mem.h"
#include "symbols/symbol.h"

static char folder[] = "/tmp/symtop-kallsyms-XXXXXX";
static char *path;

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	path = mem_printf("%s/kallsyms", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	free(path);
	return rmdir(folder);
}

static void write_file(const char *text, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static struct symbol_table *read_text(const char *text)
{
	struct symbol_table *table = NULL;
	struct err err = { .code = 0 };

	write_file(text, strlen(text));
	assert_int_equal(kallsyms_read(path, &table, &err), 0);
	assert_int_equal(err.code, 0);
	symbol_table_check_invariants(table);
	return table;
}

static const char *name_at(struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);

	return symbol ? symbol->name : "";
}

static void test_fc040_symbol_ends_where_the_next_begins(void **state)
{
	struct symbol_table *table = read_text("ffffffff81000000 T first\n"
					       "ffffffff81000100 t second\n"
					       "ffffffff81000180 W third\n");

	(void)state;
	assert_string_equal(name_at(table, 0xffffffff80ffffff), "");
	assert_string_equal(name_at(table, 0xffffffff81000000), "first");
	assert_string_equal(name_at(table, 0xffffffff810000ff), "first");
	assert_string_equal(name_at(table, 0xffffffff81000100), "second");
	assert_string_equal(name_at(table, 0xffffffff8100017f), "second");
	assert_string_equal(name_at(table, 0xffffffff81000180), "third");
	symbol_table_free(table);
}

static void test_fc040_last_symbol_is_limited(void **state)
{
	struct symbol_table *table = read_text("ffffffff81000f00 T last\n");

	(void)state;
	assert_string_equal(name_at(table, 0xffffffff81001fff), "last");
	assert_string_equal(name_at(table, 0xffffffff81002000), "");
	assert_string_equal(name_at(table, UINT64_MAX), "");
	symbol_table_free(table);
}

static void test_fc040_gap_is_nobodys(void **state)
{
	struct symbol_table *table = read_text("ffffffff81000000 T before_gap\n"
					       "ffffffff81100000 T after_gap\n"
					       "ffffffff82000000 T last\n"
					       "ffffffffc0000000 t of_module\t[ext4]\n");

	(void)state;
	assert_string_equal(name_at(table, 0xffffffff81001fff), "before_gap");
	assert_string_equal(name_at(table, 0xffffffff81002000), "");
	assert_string_equal(name_at(table, 0xffffffff82002000), "");
	symbol_table_free(table);
}

static void test_fc040_module_does_not_reach_to_the_next(void **state)
{
	struct symbol_table *table = read_text("ffffffffc0000000 t last_of_one\t[one]\n"
					       "ffffffffc0004000 t first_of_two\t[two]\n");

	(void)state;
	assert_string_equal(name_at(table, 0xffffffffc0001fff), "last_of_one");
	assert_string_equal(name_at(table, 0xffffffffc0002000), "");
	assert_string_equal(name_at(table, 0xffffffffc0004000), "first_of_two");
	symbol_table_free(table);
}

static void test_fc040_large_function_is_whole(void **state)
{
	struct symbol_table *table = read_text("ffffffff81000000 T large\n"
					       "ffffffff8101e000 T next\n");

	(void)state;
	assert_string_equal(name_at(table, 0xffffffff8101dfff), "large");
	symbol_table_free(table);
}

static void test_fc040_padding_names_nothing(void **state)
{
	struct symbol_table *table = read_text("ffffffff81000000 T panic_caller\n"
					       "ffffffff81000040 T __pfx_next\n"
					       "ffffffff81000050 T next\n"
					       "ffffffff81000090 t __cfi_other\n"
					       "ffffffff810000a0 t other\n"
					       "ffffffff810000b0 T __pfx_\n");

	(void)state;
	/* The call is the last instruction: its return address - 1 is in the caller. */
	assert_string_equal(name_at(table, 0xffffffff8100003f), "panic_caller");
	assert_string_equal(name_at(table, 0xffffffff81000040), "");
	assert_string_equal(name_at(table, 0xffffffff8100004f), "");
	assert_string_equal(name_at(table, 0xffffffff81000050), "next");
	assert_string_equal(name_at(table, 0xffffffff81000090), "");
	assert_string_equal(name_at(table, 0xffffffff810000a0), "other");
	assert_string_equal(name_at(table, 0xffffffff810000b0), "__pfx_"); /* of nothing: a name */
	symbol_table_free(table);
}

static void test_fc040_data_names_no_code_but_ends_it(void **state)
{
	static const char types[] = "dDbBrRAVvuUnN?";

	(void)state;
	for (const char *type = types; *type; type++) {
		char *text = mem_printf("0000000000001000 %c percpu\n"
					"ffffffff81000000 T code\n"
					"ffffffff81000040 %c data\n"
					"ffffffff81000080 T more\n",
					*type, *type);
		struct symbol_table *table = read_text(text);

		assert_string_equal(name_at(table, 0x1000), "");
		assert_string_equal(name_at(table, 0xffffffff8100003f), "code");
		assert_string_equal(name_at(table, 0xffffffff81000040), "");
		assert_string_equal(name_at(table, 0xffffffff81000080), "more");
		symbol_table_free(table);
		free(text);
	}
}

static void test_fc040_end_of_text_is_no_function(void **state)
{
	struct symbol_table *table = read_text("ffffffff81000000 T f\n"
					       "ffffffff81000010 T _etext\n"
					       "ffffffff81100000 t init\n"
					       "ffffffff81100010 T _einittext\n"
					       "ffffffff81200000 t sched\n"
					       "ffffffff81200010 T __sched_text_end\n"
					       "ffffffff81200020 t last\n");

	(void)state;
	assert_string_equal(name_at(table, 0xffffffff8100000f), "f");
	assert_string_equal(name_at(table, 0xffffffff81000010), "");
	assert_string_equal(name_at(table, 0xffffffff81100010), "");
	assert_string_equal(name_at(table, 0xffffffff81200010), "");
	assert_string_equal(name_at(table, 0xffffffff81200020), "last");
	symbol_table_free(table);
}

static void test_fc040_alias_does_not_depend_on_the_order(void **state)
{
	struct symbol_table *table = read_text("ffffffff81000000 T __x64_sys_read\n"
					       "ffffffff81000000 t a\n"
					       "ffffffff81000000 T sys_read\n"
					       "ffffffff81000000 W weak\n"
					       "ffffffff81000040 T next\n");
	struct symbol_table *reversed = read_text("ffffffff81000040 T next\n"
						  "ffffffff81000000 W weak\n"
						  "ffffffff81000000 T sys_read\n"
						  "ffffffff81000000 t a\n"
						  "ffffffff81000000 T __x64_sys_read\n");

	(void)state;
	assert_string_equal(name_at(table, 0xffffffff8100003f), "sys_read");
	assert_string_equal(name_at(reversed, 0xffffffff8100003f), "sys_read");
	assert_int_equal(symbol_table_nr(table), 2);
	assert_int_equal(symbol_table_nr(reversed), 2);
	symbol_table_free(table);
	symbol_table_free(reversed);
}

static void test_modules_and_bpf_are_objects(void **state)
{
	/* Not in order, as modules and programs are. */
	struct symbol_table *table = read_text("ffffffff81000000 T kernel\n"
					       "ffffffffc0009000 t ext4_b\t[ext4]\n"
					       "ffffffffc0001000 t ext4_a\t[ext4]\n"
					       "ffffffffc0000000 t bpf_prog_12_x\t[bpf]\n");

	(void)state;
	assert_null(symbol_table_find(table, 0xffffffff81000000)->object);
	assert_string_equal(name_at(table, 0xffffffffc0008fff), "ext4_a");
	assert_string_equal(symbol_table_find(table, 0xffffffffc0001fff)->object, "ext4");
	assert_string_equal(symbol_table_find(table, 0xffffffffc0000010)->object, "bpf");
	assert_string_equal(symbol_table_find(table, 0xffffffffc0000010)->name, "bpf_prog_12_x");
	symbol_table_free(table);
}

static void test_fc037_zeros_are_an_error_that_names_kptr_restrict(void **state)
{
	static const char text[] = "0000000000000000 T _text\n0000000000000000 t f\t[ext4]\n";
	struct symbol_table *table = NULL;
	struct err err = { .code = 0 };

	(void)state;
	write_file(text, strlen(text));
	assert_int_equal(kallsyms_read(path, &table, &err), -EACCES);
	assert_null(table);
	assert_int_equal(err.code, -EACCES);
	assert_non_null(strstr(err.text, "kptr_restrict"));
	assert_int_equal(kallsyms_read(path, &table, NULL), -EACCES);
}

static void test_symbol_at_zero_names_nothing(void **state)
{
	struct symbol_table *table = read_text("0000000000000000 T absolute\n"
					       "ffffffff81000000 T f\n");

	(void)state;
	assert_string_equal(name_at(table, 0), "");
	assert_string_equal(name_at(table, 0x10), "");
	assert_int_equal(symbol_table_nr(table), 1);
	symbol_table_free(table);
}

static void test_malformed_lines_are_skipped(void **state)
{
	struct symbol_table *table = read_text("\n\n \n"
					       "ffffffff81000000\n"
					       "ffffffff81000000 T\n"
					       "ffffffff81000000 T \n"
					       "ffffffff81000000 TT two\n"
					       "ffffffff81000000  T space\n"
					       "fffffffff82000000 T too_long\n"
					       "xyz T no_address\n"
					       "ffffffff81000000 T no_end\t[modul\n"
					       "ffffffff81000000 T \t[module]\n"
					       "ffffffff81000000 T good\n"
					       "FFFFFFFF81000040 T without_newline");

	(void)state;
	assert_int_equal(symbol_table_nr(table), 2);
	assert_string_equal(name_at(table, 0xffffffff81000000), "good");
	assert_string_equal(name_at(table, 0xffffffff81000040), "without_newline");
	symbol_table_free(table);
}

static void test_bytes_like_nul_are_survived(void **state)
{
	static const char text[] = "ffffffff81000000 T a\0b\nffffffff81000040 \0 c\n\0\0";
	struct symbol_table *table = NULL;

	(void)state;
	write_file(text, sizeof(text));
	assert_int_equal(kallsyms_read(path, &table, NULL), 0);
	symbol_table_check_invariants(table);
	assert_string_equal(name_at(table, 0xffffffff81000000), "a");
	symbol_table_free(table);
}

static void test_long_file_is_read_whole(void **state)
{
	enum { NR = 50000 };
	char *text = mem_zalloc((size_t)NR * 64), *pos = text;
	struct symbol_table *table;

	(void)state;
	for (unsigned int i = 0; i < NR; i++)
		pos += snprintf(pos, 64, "%016lx t function_number_%u\n",
				0xffffffff81000000 + i * 32ul, i);
	table = read_text(text);
	assert_int_equal(symbol_table_nr(table), NR);
	for (unsigned int i = 0; i < NR; i += 997) {
		char name[64];

		snprintf(name, sizeof(name), "function_number_%u", i);
		assert_string_equal(name_at(table, 0xffffffff8100001f + i * 32ul), name);
	}
	symbol_table_free(table);
	free(text);
}

static void test_empty_file_is_an_empty_table(void **state)
{
	struct symbol_table *table = read_text("");

	(void)state;
	assert_int_equal(symbol_table_nr(table), 0);
	symbol_table_free(table);
}

static void test_what_cannot_be_read_is_reported(void **state)
{
	struct symbol_table *table = NULL;
	struct err err = { .code = 0 };

	(void)state;
	unlink(path);
	assert_int_equal(kallsyms_read(path, &table, &err), -ENOENT);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(kallsyms_read(path, &table, &err), -EINVAL);
	assert_int_equal(kallsyms_read(folder, &table, &err), -EINVAL);
	unlink(path);
	assert_null(table);
}

static void test_this_kernel_can_be_read(void **state)
{
	struct symbol_table *table = NULL;
	int ret = kallsyms_read("/proc/kallsyms", &table, NULL);

	(void)state;
	if (ret) {
		print_message("/proc/kallsyms: %s\n", strerror(-ret));
		skip();
	}
	symbol_table_check_invariants(table);
	for (size_t i = 0; i < symbol_table_nr(table); i++) {
		const struct symbol *symbol = symbol_table_at(table, i);

		assert_true(symbol->end - symbol->start <= 256 << 10);
		assert_int_not_equal(strncmp(symbol->raw, "__pfx_", 6), 0);
	}
	symbol_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fc040_symbol_ends_where_the_next_begins),
		cmocka_unit_test(test_fc040_last_symbol_is_limited),
		cmocka_unit_test(test_fc040_gap_is_nobodys),
		cmocka_unit_test(test_fc040_module_does_not_reach_to_the_next),
		cmocka_unit_test(test_fc040_large_function_is_whole),
		cmocka_unit_test(test_fc040_padding_names_nothing),
		cmocka_unit_test(test_fc040_data_names_no_code_but_ends_it),
		cmocka_unit_test(test_fc040_end_of_text_is_no_function),
		cmocka_unit_test(test_fc040_alias_does_not_depend_on_the_order),
		cmocka_unit_test(test_modules_and_bpf_are_objects),
		cmocka_unit_test(test_fc037_zeros_are_an_error_that_names_kptr_restrict),
		cmocka_unit_test(test_symbol_at_zero_names_nothing),
		cmocka_unit_test(test_malformed_lines_are_skipped),
		cmocka_unit_test(test_bytes_like_nul_are_survived),
		cmocka_unit_test(test_long_file_is_read_whole),
		cmocka_unit_test(test_empty_file_is_an_empty_table),
		cmocka_unit_test(test_what_cannot_be_read_is_reported),
		cmocka_unit_test(test_this_kernel_can_be_read),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
