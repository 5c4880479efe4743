/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/procfs_maps.c on texts made here, and on our own /proc where that is the point. */
#include "config.h"

#include "core/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/core_procfs_fixture.h"

/* ---- the text ---- */

struct maps_seen {
	size_t nr;
	struct map_fact last;
	char path[4096];
};

static void see(void *arg, const struct map_fact *map)
{
	struct maps_seen *seen = arg;

	seen->nr++;
	seen->last = *map;
	snprintf(seen->path, sizeof(seen->path), "%s", map->path);
}

/* Leaves bytes behind where the next callee has its variables. */
static void scribble(void)
{
	volatile unsigned char bytes[2048];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0xa5;
}

static size_t parse(const char *text, struct maps_seen *ret_seen)
{
	size_t len = strlen(text), nr_malformed;
	char *copy = malloc(len ? len : 1); /* no NUL behind: a sanitizer sees a step too far */

	assert_non_null(copy);
	memcpy(copy, text, len);
	memset(ret_seen, 0, sizeof(*ret_seen));
	scribble();
	nr_malformed = procfs_parse_maps(copy, len, see, ret_seen);
	free(copy);
	/* What a line does not say is not known. */
	assert_int_equal(ret_seen->last.inode_generation, 0);
	assert_int_equal(ret_seen->last.build_id_size, 0);
	assert_null(ret_seen->last.build_id);
	return nr_malformed;
}

static void test_paths_are_kept_as_they_are(void **state)
{
	static const struct {
		const char *line, *path;
	} cases[] = {
		{ "1000-2000 r-xp 0 08:01 5 /a b/c  d \n", "/a b/c  d " },
		{ "1000-2000 r-xp 0 08:01 5 /x (deleted)\n", "/x (deleted)" },
		{ "1000-2000 r-xp 0 08:01 5 /two\\012lines\\012\n", "/two\nlines\n" },
		{ "1000-2000 r-xp 0 08:01 5 /back\\040slash\\\n", "/back\\040slash\\" },
		{ "1000-2000 r-xp 0 08:01 5 /\\\\012\n", "/\\\n" },
		{ "1000-2000 r-xp 0 08:01 5 \n", "" },
		{ "1000-2000 r-xp 0 08:01 5\n", "" },
		{ "1000-2000 rwxs 0 08:01 5 //anon\n", "//anon" },
		{ "1000-2000 --xp 0 08:01 5 [vsyscall]\n", "[vsyscall]" },
		{ "1000-2000 r-xp 0 08:01 5 /\xff\x1b[2J\n", "/\xff\x1b[2J" },
	};
	struct maps_seen seen;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(cases[i].line, &seen), 0);
		assert_int_equal(seen.nr, 1);
		assert_string_equal(seen.path, cases[i].path);
	}
}

static void test_largest_numbers_are_read(void **state)
{
	struct maps_seen seen;

	(void)state;
	assert_int_equal(parse("fffffffffffffff0-ffffffffffffffff r-xp ffffffffffffffff "
			       "ffffffff:ffffffff 18446744073709551615 /x\n",
			       &seen),
			 0);
	assert_int_equal(seen.last.start, UINT64_MAX - 15);
	assert_int_equal(seen.last.end, UINT64_MAX);
	assert_int_equal(seen.last.pgoff, UINT64_MAX);
	assert_int_equal(seen.last.dev_major, UINT32_MAX);
	assert_int_equal(seen.last.dev_minor, UINT32_MAX);
	assert_int_equal(seen.last.inode, UINT64_MAX);
}

static void test_malformed_lines_are_skipped_and_counted(void **state)
{
	static const char *const lines[] = {
		"\n",
		" \n",
		"x\n",
		"1000-2000\n",
		"1000-2000 \n",
		"1000-2000 r-x\n",
		"1000-2000 r-xp\n",
		"1000-2000 r-xpp 0 08:01 5 /x\n",
		"-2000 r-xp 0 08:01 5 /x\n",
		"2000-1000 r-xp 0 08:01 5 /x\n",
		"1000-1000 r-xp 0 08:01 5 /x\n",
		"1000-10000000000000000 r-xp 0 08:01 5 /x\n",
		"1000-2000 r-xp 0 0801 5 /x\n",
		"1000-2000 r-xp 0 100000000:01 5 /x\n",
		"1000-2000 r-xp 0 08:01 /x\n",
		"1000-2000 r-xp 0 08:01 18446744073709551616 /x\n",
		"1000-2000 r-xp 0 08:01 5x /x\n",
		"1000_2000 r-xp 0 08:01 5 /x\n",
		"1000-2000 r-xp 08:01 5 /x\n",
	};
	struct maps_seen seen;
	char text[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		snprintf(text, sizeof(text), "%s%s%s", lines[i], TEXT_MAP, lines[i]);
		assert_int_equal(parse(text, &seen), 2);
		assert_int_equal(seen.nr, 1);
	}
	assert_int_equal(parse("", &seen), 0);
}

static void test_line_with_a_nul_is_malformed(void **state)
{
	char text[] = "1000-2000 r-xp 0 08:01 5 /lib\0/x\n";
	struct maps_seen seen = { 0 };

	(void)state;
	assert_int_equal(procfs_parse_maps(text, sizeof(text) - 1, see, &seen), 1);
	assert_int_equal(seen.nr, 0);
}

static void test_cut_last_line_gives_no_half_path(void **state)
{
	struct maps_seen seen;

	(void)state;
	assert_int_equal(parse(TEXT_MAP "1000-2000 r-xp 0 08:01 5 /usr/lib/li", &seen), 1);
	assert_int_equal(seen.nr, 1);
	assert_string_equal(seen.path, "/usr/bin/x");
}

static void test_every_prefix_of_a_maps_file_is_safe(void **state)
{
	static const char text[] = TEXT_MAP "7ffd0000-7ffd2000 r-xp 00000000 00:00 0  /\\012\n";
	struct maps_seen seen;
	char part[sizeof(text)];

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		snprintf(part, sizeof(part), "%.*s", (int)len, text);
		parse(part, &seen);
		assert_true(seen.nr <= 2);
	}
}

static void test_maps_larger_than_any_buffer_are_read_whole(void **state)
{
	enum { NR_LINES = 100000 };
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;
	char *text = malloc(NR_LINES * 64);
	size_t len = 0;

	(void)state;
	assert_non_null(text);
	for (unsigned int i = 0; i < NR_LINES; i++)
		len += (size_t)snprintf(text + len, 64,
					"%x000-%x800 r-xp 00000000 fd:01 %u /lib/%u\n", i + 1,
					i + 1, i, i);
	put_stat(101, "java", 'S', USER_FLAGS, 1);
	put("101/maps", text, len);
	free(text);
	for (int round = 0; round < 2; round++) { /* the second with the buffer given back */
		assert_int_equal(read_at(reader, 101, &process), 0);
		assert_int_equal(process->nr_maps, NR_LINES);
		assert_string_equal(process->maps[0].path, "/lib/0");
		assert_string_equal(process->maps[NR_LINES - 1].path, "/lib/99999");
	}
	procfs_reader_free(reader);
}

/* ---- asked for ---- */

static void compare_with_text(void *arg, const struct map_fact *want)
{
	const struct synth_process *process = arg;

	if (!strcmp(want->path, "[vsyscall]")) /* in the text only; no code of the process */
		return;
	for (size_t i = 0; i < process->nr_maps; i++) {
		const struct map_fact *map = &process->maps[i];

		if (map->start != want->start)
			continue;
		assert_int_equal(map->end, want->end);
		assert_int_equal(map->pgoff, want->pgoff);
		assert_int_equal(map->dev_major, want->dev_major);
		assert_int_equal(map->dev_minor, want->dev_minor);
		assert_int_equal(map->inode, want->inode);
		assert_string_equal(map->path, want->path);
		return;
	}
	fail_msg("not found: %s", want->path);
}

/* Read ourselves, and our maps file for what the kernel says of the same. */
static void compare_ourselves(struct procfs_reader *reader)
{
	enum { MAX_BYTES = 4 << 20 };
	const struct synth_process *process;
	char *text = malloc(MAX_BYTES);
	FILE *file = fopen("/proc/self/maps", "r");
	size_t len;

	assert_non_null(text);
	assert_non_null(file);
	assert_int_equal(read_at(reader, (uint32_t)getpid(), &process), 0);
	len = fread(text, 1, MAX_BYTES, file);
	fclose(file);
	assert_true(len > 0 && len < MAX_BYTES);
	assert_int_equal(
		procfs_parse_maps(text, len, compare_with_text, (void *)(uintptr_t)process), 0);
	free(text);
}

/* A new file called @name, mapped to execute; NULL where none may be. */
static void *map_file(const char *name, bool unlinked)
{
	char path[128];
	void *base;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8192), 0);
	base = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	if (unlinked)
		assert_int_equal(unlink(path), 0);
	close(fd);
	return base == MAP_FAILED || access("/proc/self/maps", R_OK) < 0 ? NULL : base;
}

/* Maps that the kernel was asked for are those of its text, odd and deleted paths too. */
static void test_asked_maps_are_those_of_the_text(void **state)
{
	struct procfs_reader *reader = procfs_reader_new("/proc");
	void *base = map_file("odd \\name\nhere", true);

	(void)state;
	if (!base) {
		print_message("no /proc, or nothing may be executed in /tmp\n");
		procfs_reader_free(reader);
		skip();
	}
	for (int round = 0; round < 2; round++) /* the second with names that are known */
		compare_ourselves(reader);
	munmap(base, 4096);
	procfs_reader_free(reader);
}

/* More files than names are kept for: they take each other's places. */
static void test_known_names_are_of_their_own_files(void **state)
{
	enum { NR_FILES = 1500 };
	struct procfs_reader *reader = procfs_reader_new("/proc");
	static void *bases[NR_FILES];
	char name[32];

	(void)state;
	for (size_t i = 0; i < NR_FILES; i++) {
		snprintf(name, sizeof(name), "%zu", i);
		bases[i] = map_file(name, false);
		if (bases[i])
			continue;
		print_message("no /proc, or nothing may be executed in /tmp\n");
		procfs_reader_free(reader);
		skip();
	}
	for (int round = 0; round < 2; round++)
		compare_ourselves(reader);
	for (size_t i = 0; i < NR_FILES; i++)
		munmap(bases[i], 4096);
	procfs_reader_free(reader);
}

/* What has no name of its own is not called after a file of the same number, 0 or not. */
static void test_memory_is_not_called_after_a_file(void **state)
{
	struct procfs_reader *reader = procfs_reader_new("/proc");
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *base = mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, -1, 0);
	void *shared = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (base == MAP_FAILED || shared == MAP_FAILED || access("/proc/self/maps", R_OK) < 0) {
		print_message("no /proc, or no memory may be executed\n");
		procfs_reader_free(reader);
		skip();
	}
	for (int round = 0; round < 2; round++)
		compare_ourselves(reader);
	munmap(base, 4096);
	munmap(shared, 4096);
	procfs_reader_free(reader);
}

static void test_file_is_not_called_by_a_name_that_is_gone(void **state)
{
	struct procfs_reader *reader = procfs_reader_new("/proc");
	char path[128], link_path[128];
	void *base;

	(void)state;
	puts_at("gone", "");
	snprintf(path, sizeof(path), "%s/gone", proc);
	snprintf(link_path, sizeof(link_path), "%s/left", proc);
	assert_int_equal(link(path, link_path), 0);
	base = map_file("gone", true);
	if (!base) {
		print_message("no /proc, or nothing may be executed in /tmp\n");
		procfs_reader_free(reader);
		skip();
	}
	compare_ourselves(reader);
	munmap(base, 4096);
	base = map_file("left", false);
	assert_non_null(base);
	compare_ourselves(reader);
	munmap(base, 4096);
	procfs_reader_free(reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_paths_are_kept_as_they_are),
		CASE(test_largest_numbers_are_read),
		CASE(test_malformed_lines_are_skipped_and_counted),
		CASE(test_line_with_a_nul_is_malformed),
		CASE(test_cut_last_line_gives_no_half_path),
		CASE(test_every_prefix_of_a_maps_file_is_safe),
		CASE(test_maps_larger_than_any_buffer_are_read_whole),
		CASE(test_asked_maps_are_those_of_the_text),
		CASE(test_known_names_are_of_their_own_files),
		CASE(test_memory_is_not_called_after_a_file),
		CASE(test_file_is_not_called_by_a_name_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
