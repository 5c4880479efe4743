/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of build ids, and that the symbolizer fills it from what it loads. */
#include "config.h"

#include "symbols/build_ids.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/clock.h"
#include "symbols/symbolizer.h"
#include "tests/elf_image.h"
#include "tests/symbols_fixture.h"

#define LONG_ENOUGH_NS (60 * NSEC_PER_SEC)

static struct dso_table *table;
static struct symbolizer *symbolizer;

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	table = dso_table_new();
	symbolizer = symbolizer_new(&(struct symbolizer_options){ .proc = fixture_folder });
	return 0;
}

static int teardown(void **state)
{
	symbolizer_free(symbolizer);
	dso_table_free(table);
	return fixture_teardown(state);
}

/* "PATH:FIRST-BYTE.SIZE ..." */
static void print_id(void *arg, const char *path, const unsigned char *id, size_t size)
{
	char *text = arg;
	size_t len = strlen(text);

	snprintf(text + len, 256 - len, "%s%s:%u.%zu", len ? " " : "", path, id[0], size);
}

static void assert_ids(const char *expected)
{
	char text[256] = "";

	symbolizer_build_ids(symbolizer, print_id, text);
	assert_string_equal(text, expected);
}

/* A program whose build id begins with @first_byte; 0: it has none. */
static void write_program(const char *path, uint8_t first_byte)
{
	const uint32_t note[] = { 4, 20, 3, 0x554e47, first_byte, 2, 3, 4, 5 };
	struct elf_image *image = image_new(SHT_SYMTAB);

	if (first_byte) {
		image->header.e_phnum = 2;
		image->segments[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
						   .p_offset = IMAGE_CODE_OFFSET,
						   .p_filesz = sizeof(note),
						   .p_align = 4 };
		memcpy(image->code, note, sizeof(note));
	}
	fixture_write_bytes(path, "w", image, sizeof(*image));
	free(image);
}

/* The file at @file, mapped by process @pid as @path, has its symbols loaded. */
static void load(const char *file, const char *path, uint32_t pid)
{
	struct dso_key key = fixture_key(file);
	struct dso *dso = dso_table_get(table, &key, path, pid, NULL);
	const struct symbol *symbol;

	assert_int_equal(symbolizer_lookup(symbolizer, dso, 0, &symbol), LOOKUP_PENDING);
	assert_true(symbolizer_wait_idle(symbolizer, LONG_ENOUGH_NS));
	dso_put(dso);
}

static void test_id_of_what_was_loaded_outlives_it(void **state)
{
	const char *file = fixture_path("1/root/app");

	(void)state;
	write_program(file, 7);
	assert_ids("");
	load(file, "/app", 1);
	assert_ids("/app:7.20");
	/* The same once more is the same entry. */
	load(file, "/app", 1);
	assert_ids("/app:7.20");
}

static void test_file_that_is_only_mapped_is_not_told(void **state)
{
	const char *file = fixture_path("1/root/app");
	struct dso_key key;
	struct dso *dso;

	(void)state;
	write_program(file, 7);
	key = fixture_key(file);
	dso = dso_table_get(table, &key, "/app", 1, NULL);
	symbolizer_hold(symbolizer, dso);
	assert_true(symbolizer_wait_idle(symbolizer, LONG_ENOUGH_NS));
	assert_ids("");
	dso_put(dso);
}

static void test_file_that_is_no_elf_has_no_id(void **state)
{
	const char *file = fixture_path("1/root/app");

	(void)state;
	fixture_write(file, "#!/bin/sh\n");
	load(file, "/app", 1);
	assert_ids("");
}

static void test_fc055_path_of_two_files_tells_neither(void **state)
{
	const char *first = fixture_path("1/root/app");
	const char *second = fixture_path("2/root/app");
	const char *other = fixture_path("2/root/other");

	(void)state;
	write_program(first, 7);
	write_program(second, 8);
	write_program(other, 8);
	load(first, "/app", 1);
	load(other, "/other", 2);
	assert_ids("/app:7.20 /other:8.20");
	load(second, "/app", 2);
	assert_ids("/other:8.20");
	/* The one that was first does not come back. */
	load(first, "/app", 1);
	assert_ids("/other:8.20");
}

static void test_path_of_a_file_without_an_id_tells_none(void **state)
{
	const char *first = fixture_path("1/root/app");
	const char *second = fixture_path("2/root/app");

	(void)state;
	write_program(first, 0);
	write_program(second, 8);
	load(first, "/app", 1);
	assert_ids("");
	load(second, "/app", 2);
	assert_ids("");
}

static void count_id(void *arg, const char *path, const unsigned char *id, size_t size)
{
	(void)path;
	assert_int_equal(id[0], 1);
	assert_int_equal(size, 16);
	*(size_t *)arg += 1;
}

static void test_number_of_paths_is_bounded(void **state)
{
	const unsigned char id[20] = { 1 };
	uint64_t nr_before, nr_after, nr_bytes;
	struct build_ids ids;
	size_t nr = 0;

	(void)state;
	str_stats(&nr_before, &nr_bytes);
	build_ids_init(&ids);
	for (unsigned int i = 0; i < 17000; i++) {
		char *path = mem_printf("/%u", i);
		struct str *str = str_from(path);

		build_ids_add(&ids, str, id, 16);
		str_put(str);
		free(path);
	}
	build_ids_walk(&ids, count_id, &nr);
	assert_int_equal(nr, 16384);
	build_ids_release(&ids);
	str_stats(&nr_after, &nr_bytes);
	assert_int_equal(nr_before, nr_after);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_id_of_what_was_loaded_outlives_it),
		CASE(test_file_that_is_only_mapped_is_not_told),
		CASE(test_file_that_is_no_elf_has_no_id),
		CASE(test_fc055_path_of_two_files_tells_neither),
		CASE(test_path_of_a_file_without_an_id_tells_none),
		cmocka_unit_test(test_number_of_paths_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
