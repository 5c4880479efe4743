/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of symbols/perf_map.c: procfs is a folder, PID/root/tmp holds the map. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbols/perf_map.h"
#include "symbols/symbol.h"
#include "tests/symbols_fixture.h"

#define PID 77

static struct perf_map *map;

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_process(PID, "77");
	map = perf_map_new(fixture_folder, PID);
	return 0;
}

static int teardown(void **state)
{
	perf_map_free(map);
	return fixture_teardown(state);
}

static const char *map_path(void)
{
	return fixture_path("%u/root/tmp/perf-77.map", PID);
}

/* All symbols of what is new, as "start-end name;". */
static const char *refresh(void)
{
	static char text[4096];
	struct symbol_table *table;
	size_t len = 0;

	text[0] = '\0';
	if (perf_map_refresh(map, &table, NULL) || !table)
		return text;
	for (size_t i = 0; i < symbol_table_nr(table); i++) {
		const struct symbol *symbol = symbol_table_at(table, i);

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%lx-%lx %s;",
					(unsigned long)symbol->start, (unsigned long)symbol->end,
					symbol->raw);
	}
	symbol_table_free(table);
	return text;
}

static int refresh_error(void)
{
	struct symbol_table *table = NULL;
	struct err err = { 0 };
	int ret = perf_map_refresh(map, &table, &err);

	assert_null(table);
	assert_int_equal(ret, err.code);
	if (ret)
		assert_true(err.text[0]);
	return ret;
}

static void test_absent_file_is_looked_for_again(void **state)
{
	(void)state;
	assert_int_equal(refresh_error(), -ENOENT);
	fixture_write(map_path(), "1000 10 f\n");
	assert_string_equal(refresh(), "1000-1010 f;");
}

static void test_fc044_growth_gives_the_new_lines_only(void **state)
{
	(void)state;
	fixture_write(map_path(), "1000 10 f\n2000 10 g\n");
	assert_string_equal(refresh(), "1000-1010 f;2000-2010 g;");
	assert_string_equal(refresh(), "");
	fixture_append(map_path(), "3000 10 h\n");
	assert_string_equal(refresh(), "3000-3010 h;");
	assert_string_equal(refresh(), "");
}

static void test_partial_last_line_waits(void **state)
{
	(void)state;
	fixture_write(map_path(), "1000 10 f\n2000 10 long_na");
	assert_string_equal(refresh(), "1000-1010 f;");
	assert_string_equal(refresh(), "");
	fixture_append(map_path(), "me\n");
	assert_string_equal(refresh(), "2000-2010 long_name;");
}

static void test_replaced_file_is_read_anew(void **state)
{
	const char *other = fixture_path("other");

	(void)state;
	fixture_write(map_path(), "1000 10 f\n");
	assert_string_equal(refresh(), "1000-1010 f;");
	fixture_write(other, "2000 10 g\n3000 10 h\n");
	assert_int_equal(rename(other, map_path()), 0);
	assert_string_equal(refresh(), "2000-2010 g;3000-3010 h;");
}

static void test_file_that_shrank_or_was_written_again_is_read_anew(void **state)
{
	(void)state;
	fixture_write(map_path(), "1000 10 f\n2000 10 g\n");
	assert_string_equal(refresh(), "1000-1010 f;2000-2010 g;");
	fixture_write(map_path(), "3000 10 h\n");
	assert_string_equal(refresh(), "3000-3010 h;");
	/* Same inode, longer than before, another text. */
	fixture_write(map_path(), "4000 10 i\n5000 10 j\n");
	assert_string_equal(refresh(), "4000-4010 i;5000-5010 j;");
}

static void test_fc045_later_line_wins(void **state)
{
	(void)state;
	fixture_write(map_path(), "a000 10 old_first\na000 10 new_first\n");
	assert_string_equal(refresh(), "a000-a010 new_first;");
}

static void test_fc045_later_line_wins_where_it_covers(void **state)
{
	(void)state;
	fixture_write(map_path(), "1000 100 big\n"
				  "1040 10 inner\n"
				  "2000 20 before\n"
				  "2010 20 behind\n"
				  "3000 10 under\n"
				  "2ff0 40 over\n"
				  "4000 10 same\n"
				  "4010 10 same\n");
	assert_string_equal(refresh(), "1000-1040 big;1040-1050 inner;1050-1100 big;"
				       "2000-2010 before;2010-2030 behind;2ff0-3030 over;"
				       "4000-4010 same;4010-4020 same;");
}

/* Against a table of every address: the last line that covers it. */
static void test_random_lines_agree_with_a_plain_model(void **state)
{
	enum { SPACE = 256, NR = 60 };
	unsigned int random = 1;

	(void)state;
	for (int round = 0; round < 50; round++) {
		int model[SPACE] = { 0 };
		struct symbol_table *table;
		char text[NR * 24];
		size_t len = 0;

		for (int i = 1; i <= NR; i++) {
			unsigned int start, size;

			random = random * 1103515245 + 12345;
			start = (random >> 8) % 200;
			size = 1 + (random >> 20) % 50;
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%x %x f%d\n",
						start, size, i);
			for (unsigned int addr = start; addr < start + size; addr++)
				model[addr] = i;
		}
		unlink(map_path());
		fixture_write(map_path(), text);
		assert_int_equal(perf_map_refresh(map, &table, NULL), 0);
		assert_non_null(table);
		for (unsigned int addr = 0; addr < SPACE; addr++) {
			const struct symbol *symbol = symbol_table_find(table, addr);

			assert_int_equal(symbol ? atoi(symbol->raw + 1) : 0, model[addr]);
		}
		symbol_table_free(table);
	}
}

static void test_fc047_formats_in_the_wild(void **state)
{
	(void)state;
	fixture_write(map_path(), "0x00007f0012345600 0x0000000000000378 long H.hotJava(int)\n"
				  "7F0012346000 1A0 JS:~f file.js:1:2  \n"
				  "7f0012347000\t10\tjit second name with spaces\r\n"
				  "  7f0012348000 10 indented\n"
				  "0X7f0012349000 0X10 0x10\n");
	assert_string_equal(refresh(), "7f0012345600-7f0012345978 long H.hotJava(int);"
				       "7f0012346000-7f00123461a0 JS:~f file.js:1:2;"
				       "7f0012347000-7f0012347010 jit second name with spaces;"
				       "7f0012348000-7f0012348010 indented;"
				       "7f0012349000-7f0012349010 0x10;");
}

static void test_lines_that_name_nothing_are_skipped(void **state)
{
	static const char text[] = "\n \nroot:$6$x:19000:0:99999:7:::\n1000\n1000 \n1000 10\n"
				   "1000 10 \n1000 10  \r\n0x 10 f\n1000 0 empty\n"
				   "11112222333344445 10 too_many_digits\n-1000 10 minus\n"
				   "ffffffffffffff00 200 wraps\n1000 10\0hidden\n"
				   "2000 10 cut\0here\n3000 10 good\n";

	(void)state;
	fixture_write_bytes(map_path(), "w", text, sizeof(text) - 1);
	assert_string_equal(refresh(), "2000-2010 cut;3000-3010 good;");
}

static void test_long_name_is_cut_between_characters(void **state)
{
	char *text = mem_zalloc(3 * PERF_MAP_MAX_NAME);
	struct symbol_table *table;
	size_t len;

	(void)state;
	strcat(text, "1000 10 x");
	len = strlen(text);
	for (int i = 0; i < PERF_MAP_MAX_NAME; i++, len += 2)
		memcpy(text + len, "\xc3\xa9", 2);
	text[len] = '\n';
	fixture_write(map_path(), text);
	assert_int_equal(perf_map_refresh(map, &table, NULL), 0);
	assert_int_equal(strlen(symbol_table_at(table, 0)->raw), PERF_MAP_MAX_NAME - 1);
	symbol_table_free(table);
	free(text);
}

static void test_endless_line_is_passed_over(void **state)
{
	size_t len = 5 * 1024 * 1024;
	char *text = mem_zalloc(len + 32);

	(void)state;
	memset(text, ' ', len); /* what is left of it looks like a line */
	fixture_write(map_path(), "1000 10 f\n");
	fixture_append(map_path(), text);
	fixture_append(map_path(), " 2000 10 still_the_same_line\n3000 10 g\n");
	assert_string_equal(refresh(), "1000-1010 f;");
	assert_string_equal(refresh(), "3000-3010 g;");
	assert_string_equal(refresh(), "");
	free(text);
}

static void test_lines_behind_much_garbage_are_found(void **state)
{
	size_t len = 9 * 1024 * 1024;
	char *text = mem_zalloc(len + 1);

	(void)state;
	memset(text, '\n', len);
	fixture_write(map_path(), text);
	fixture_append(map_path(), "3000 10 g\n");
	assert_string_equal(refresh(), "3000-3010 g;");
	free(text);
}

static void test_size_limit_is_said_after_what_fits(void **state)
{
	FILE *file;

	(void)state;
	fixture_write(map_path(), "1000 10 f\n");
	file = fopen(map_path(), "r+");
	assert_non_null(file);
	/* Sparse: zeros up to the limit, a line behind it. */
	assert_int_equal(fseek(file, PERF_MAP_MAX_BYTES, SEEK_SET), 0);
	fputs("\n2000 10 g\n", file);
	fclose(file);
	assert_string_equal(refresh(), "1000-1010 f;");
	assert_int_equal(refresh_error(), -EFBIG);
	assert_int_equal(refresh_error(), -EFBIG);
}

static void test_fc054_map_of_a_container_has_its_own_pid_and_root(void **state)
{
	(void)state;
	fixture_process(PID, "77\t5\t1");
	fixture_write(map_path(), "1000 10 decoy\n");
	fixture_write(fixture_path("tmp/perf-1.map"), "1000 10 decoy\n");
	assert_int_equal(refresh_error(), -ENOENT);
	fixture_write(fixture_path("%u/root/tmp/perf-1.map", PID), "1000 10 right\n");
	assert_string_equal(refresh(), "1000-1010 right;");
}

static void test_fc120_link_is_refused(void **state)
{
	const char *secret = fixture_path("secret");

	(void)state;
	fixture_write(secret, "1000 10 secret\n");
	assert_int_equal(symlink(secret, map_path()), 0);
	assert_int_equal(refresh_error(), -EPERM);
}

static void test_fc120_linked_folder_is_refused(void **state)
{
	const char *target = fixture_path("elsewhere/perf-77.map");
	const char *tmp = fixture_path("%u/root/tmp", PID);

	(void)state;
	fixture_write(target, "1000 10 elsewhere\n");
	assert_int_equal(rmdir(tmp), 0);
	assert_int_equal(symlink(fixture_path("elsewhere"), tmp), 0);
	assert_int_equal(refresh_error(), -ENOENT);
}

static void test_fc120_hard_link_is_refused(void **state)
{
	const char *secret = fixture_path("secret");

	(void)state;
	fixture_write(secret, "1000 10 secret\n");
	assert_int_equal(link(secret, map_path()), 0);
	assert_int_equal(refresh_error(), -EPERM);
}

static void test_fc120_file_that_everybody_may_write_is_refused(void **state)
{
	(void)state;
	fixture_write(map_path(), "1000 10 f\n");
	assert_int_equal(chmod(map_path(), 0666), 0);
	assert_int_equal(refresh_error(), -EPERM);
	assert_int_equal(chmod(map_path(), 0664), 0);
	assert_string_equal(refresh(), "1000-1010 f;");
}

static void test_fc120_file_of_another_user_is_refused(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("needs root to give a file away\n");
		skip();
	}
	fixture_write(map_path(), "1000 10 f\n");
	assert_int_equal(chown(map_path(), 65534, (gid_t)-1), 0);
	assert_int_equal(refresh_error(), -EPERM);
	/* Of a process of that user it is good, and so is one that root wrote. */
	fixture_write(fixture_path("%u/status", PID), "Uid:\t0\t65534\t0\t0\nNSpid:\t77\n");
	assert_string_equal(refresh(), "1000-1010 f;");
	fixture_append(map_path(), "2000 10 g\n");
	assert_int_equal(chown(map_path(), 0, (gid_t)-1), 0);
	assert_string_equal(refresh(), "2000-2010 g;");
}

static void test_fc121_pipe_neither_hangs_nor_is_read(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(map_path(), 0600), 0);
	assert_int_equal(refresh_error(), -EPERM);
}

static void test_dead_process_and_its_successor_are_not_read(void **state)
{
	(void)state;
	fixture_write(map_path(), "1000 10 f\n");
	assert_string_equal(refresh(), "1000-1010 f;");
	fixture_append(map_path(), "2000 10 of_the_successor\n");
	fixture_write(fixture_path("%u/stat", PID),
		      "77 (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20\n");
	assert_int_equal(refresh_error(), -ENOENT);
	unlink(fixture_path("%u/stat", PID));
	assert_int_equal(refresh_error(), -ENOENT);
	unlink(fixture_path("%u/status", PID));
	assert_int_equal(refresh_error(), -ENOENT);
	perf_map_free(NULL);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_absent_file_is_looked_for_again),
		CASE(test_fc044_growth_gives_the_new_lines_only),
		CASE(test_partial_last_line_waits),
		CASE(test_replaced_file_is_read_anew),
		CASE(test_file_that_shrank_or_was_written_again_is_read_anew),
		CASE(test_fc045_later_line_wins),
		CASE(test_fc045_later_line_wins_where_it_covers),
		CASE(test_random_lines_agree_with_a_plain_model),
		CASE(test_fc047_formats_in_the_wild),
		CASE(test_lines_that_name_nothing_are_skipped),
		CASE(test_long_name_is_cut_between_characters),
		CASE(test_endless_line_is_passed_over),
		CASE(test_lines_behind_much_garbage_are_found),
		CASE(test_size_limit_is_said_after_what_fits),
		CASE(test_fc054_map_of_a_container_has_its_own_pid_and_root),
		CASE(test_fc120_link_is_refused),
		CASE(test_fc120_linked_folder_is_refused),
		CASE(test_fc120_hard_link_is_refused),
		CASE(test_fc120_file_that_everybody_may_write_is_refused),
		CASE(test_fc120_file_of_another_user_is_refused),
		CASE(test_fc121_pipe_neither_hangs_nor_is_read),
		CASE(test_dead_process_and_its_successor_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
