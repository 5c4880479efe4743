/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of core/kernel_map.c: procfs and the folder of the modules are the test's. */
#include "config.h"

#include "core/kernel_map.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>

#include "tests/symbols_fixture.h"

static void print_part(void *arg, const struct kernel_part *part)
{
	const char *name = part->name;

	if (!strncmp(name, fixture_folder, strlen(fixture_folder)))
		name += strlen(fixture_folder);
	fprintf(arg, "%" PRIx64 "+%" PRIx64 "@%" PRIx64 " %s\n", part->start, part->len,
		part->pgoff, name);
}

static void assert_parts(const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	kernel_map_read(fixture_folder, fixture_path("lib"), print_part, file);
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
}

#define KALLSYMS                               \
	"ffffffff81000000 T _stext\n"          \
	"ffffffff81000000 T _text\n"           \
	"ffffffff822090c8 T _etext\n"          \
	"ffffffff83000000 D _edata\n"          \
	"ffffffffc0001000 t _text\t[module]\n" \
	"ffffffffc0002000 t _etext\t[module]\n"

static void test_kernel_is_as_perf_record_writes_it(void **state)
{
	(void)state;
	fixture_write(fixture_path("kallsyms"), KALLSYMS);
	assert_parts("ffffffff81000000+12090c8@ffffffff81000000 [kernel.kallsyms]_text\n");
	fixture_write(fixture_path("kallsyms"), "ffffffff81000100 T _stext\n"
						"ffffffff81000400 T _etext\n");
	assert_parts("ffffffff81000100+300@ffffffff81000100 [kernel.kallsyms]_stext\n");
}

static void test_hidden_addresses_are_not_told(void **state)
{
	(void)state;
	assert_parts(""); /* no files at all */
	fixture_write(fixture_path("kallsyms"), "0000000000000000 T _text\n"
						"0000000000000000 T _stext\n"
						"0000000000000000 T _etext\n");
	fixture_write(fixture_path("modules"), "ext4 1048576 3 - Live 0x0000000000000000\n");
	assert_parts("");
	/* Half of it is no use. */
	fixture_write(fixture_path("kallsyms"), "ffffffff81000000 T _text\n");
	assert_parts("");
	fixture_write(fixture_path("kallsyms"), "ffffffff81000000 T _text\n"
						"ffffffff80000000 T _etext\n");
	assert_parts("");
}

static void test_modules_have_their_files_where_these_are_found(void **state)
{
	(void)state;
	fixture_write(fixture_path("sys/kernel/osrelease"), "6.1.0-9-amd64\n");
	fixture_write(fixture_path("modules"),
		      "xfs 2097152 1 - Live 0xffffffffc0300000\n"
		      "ext4 1048576 3 mbcache,jbd2, Live 0xffffffffc0000000\n"
		      "nf_nat 65536 0 - Loading 0xffffffffc0200000 (OE)\n"
		      "mine 4096 0 - Live 0xffffffffc0400000 (OE)\n");
	fixture_write(fixture_path("lib/6.1.0-9-amd64/modules.dep"),
		      "kernel/fs/ext4/ext4.ko: kernel/fs/mbcache.ko kernel/fs/jbd2/jbd2.ko\n"
		      "kernel/net/nf-nat.ko.xz:\n"
		      "kernel/fs/xfs/xfs.ko.zst: kernel/lib/ext4.ko\n"
		      "kernel/fs/ext4-other/ext4.ko:\n"
		      "/elsewhere/mine.ko:\n"
		      "kernel/mine.koala:\n");
	assert_parts("ffffffffc0000000+100000@0 /lib/6.1.0-9-amd64/kernel/fs/ext4/ext4.ko\n"
		     "ffffffffc0400000+1000@0 [mine]\n"
		     "ffffffffc0200000+10000@0 /lib/6.1.0-9-amd64/kernel/net/nf-nat.ko.xz\n"
		     "ffffffffc0300000+200000@0 /lib/6.1.0-9-amd64/kernel/fs/xfs/xfs.ko.zst\n");
	/* Whatever their files are, where they are is told. */
	fixture_write(fixture_path("sys/kernel/osrelease"), "../etc\n");
	fixture_write(fixture_path("modules"), "xfs 2097152 1 - Live 0xffffffffc0300000\n");
	assert_parts("ffffffffc0300000+200000@0 [xfs]\n");
}

static void test_malformed_modules_are_passed_over(void **state)
{
	(void)state;
	fixture_write(fixture_path("sys/kernel/osrelease"), "r\n");
	fixture_write(
		fixture_path("lib/r/modules.dep"),
		"\n:\nno colon\n.ko:\n/.ko:\n"
		"kernel/"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		".ko:\nkernel/good.ko:");
	fixture_write(fixture_path("modules"),
		      "\nnothing\n one 1 - Live 0x1000\n"
		      "a/b 4096 0 - Live 0xffffffffc0000000\n"
		      "empty 0 0 - Live 0xffffffffc0000000\n"
		      "wraps 18446744073709551615 0 - Live 0xffffffffc0000000\n"
		      "cut 4096 0 - Li\n"
		      "decimal 4096 0 - Live 12345\n"
		      "good 4096 0 - Live 0xffffffffc0100000");
	assert_parts("ffffffffc0100000+1000@0 /lib/r/kernel/good.ko\n");
}

static void test_fc121_pipes_in_place_of_files_do_not_hang(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(fixture_path("modules"), 0644), 0);
	assert_int_equal(mkfifo(fixture_path("kallsyms"), 0644), 0);
	assert_parts("");
	assert_int_equal(unlink(fixture_path("modules")), 0);
	fixture_write(fixture_path("modules"), "x 4096 0 - Live 0xffffffffc0000000\n");
	assert_int_equal(mkfifo(fixture_path("sys/kernel/osrelease"), 0644), 0);
	assert_parts("ffffffffc0000000+1000@0 [x]\n");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_kernel_is_as_perf_record_writes_it),
		CASE(test_hidden_addresses_are_not_told),
		CASE(test_modules_have_their_files_where_these_are_found),
		CASE(test_malformed_modules_are_passed_over),
		CASE(test_fc121_pipes_in_place_of_files_do_not_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
