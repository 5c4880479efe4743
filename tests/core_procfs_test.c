/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/procfs.c on fixture folders made here, and on our own /proc where that is the point. */
#include "config.h"

#include "core/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/clock.h"

#define USER_FLAGS 0x00400100U
#define KERNEL_FLAGS 0x00208040U

static char proc[64];

static void put(const char *name, const char *text, size_t len)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	for (char *slash = strchr(path + strlen(proc) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void puts_at(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

static void put_fifo(const char *name)
{
	char path[512];

	puts_at(name, "");
	snprintf(path, sizeof(path), "%s/%s", proc, name);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0);
}

static void put_stat(uint32_t pid, const char *comm, char state, uint32_t flags, unsigned int nr)
{
	char name[64], text[512];

	snprintf(name, sizeof(name), "%u/stat", pid);
	snprintf(text, sizeof(text),
		 "%u (%s) %c 7 %u %u 34816 -1 %u 1 2 3 4 5 6 7 8 20 -19 %u 0 12345 1000 200\n", pid,
		 comm, state, pid, pid, flags, nr);
	puts_at(name, text);
}

static void put_thread(uint32_t pid, uint32_t tid, const char *comm_line)
{
	char name[64];

	snprintf(name, sizeof(name), "%u/task/%u/comm", pid, tid);
	puts_at(name, comm_line);
}

#define TEXT_MAP "00400000-00401000 r-xp 00002000 fd:01 1234                       /usr/bin/x\n"

static int set_up(void **state)
{
	(void)state;
	snprintf(proc, sizeof(proc), "/tmp/procfs-test-XXXXXX");
	return mkdtemp(proc) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
	(void)stat;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(proc, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int read_at(struct procfs_reader *reader, uint32_t pid, const struct synth_process **ret)
{
	*ret = NULL;
	return procfs_read_process(reader, pid, ret);
}

/* ---- a process ---- */

static void test_single_threaded_process_is_read(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;
	uint64_t before = clock_now_ns();

	(void)state;
	put_stat(42, "spin", 'R', USER_FLAGS, 1);
	puts_at("42/maps", "003ff000-00400000 r--p 00000000 fd:01 1234 /usr/bin/x\n" TEXT_MAP
			   "7ffd0000-7ffd2000 r-xp 00000000 00:00 0            [vdso]\n"
			   "7fff0000-7fff2000 rw-p 00000000 00:00 0            [stack]\n");
	assert_int_equal(read_at(reader, 42, &process), 0);
	assert_int_equal(process->pid, 42);
	assert_int_equal(process->ppid, 7);
	assert_int_equal(process->uid, geteuid());
	assert_false(process->kernel_thread);
	assert_true(process->has_maps);
	assert_true(process->scan_start_ns >= before);
	assert_true(process->scan_end_ns >= process->scan_start_ns);
	assert_int_equal(process->nr_threads, 1);
	assert_int_equal(process->threads[0].tid, 42);
	assert_string_equal(process->threads[0].comm, "spin");
	assert_int_equal(process->nr_maps, 2);
	assert_int_equal(process->maps[0].start, 0x400000);
	assert_int_equal(process->maps[0].end, 0x401000);
	assert_int_equal(process->maps[0].pgoff, 0x2000);
	assert_int_equal(process->maps[0].dev_major, 0xfd);
	assert_int_equal(process->maps[0].dev_minor, 1);
	assert_int_equal(process->maps[0].inode, 1234);
	assert_string_equal(process->maps[0].path, "/usr/bin/x");
	assert_string_equal(process->maps[1].path, "[vdso]");
	procfs_reader_free(reader);
}

static void test_fc111_threads_have_their_own_names(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;
	unsigned int nr_seen = 0;

	(void)state;
	put_stat(50, "leader", 'S', USER_FLAGS, 3);
	put_thread(50, 50, "not read: stat has it\n");
	put_thread(50, 51, "worker one\n");
	put_thread(50, 52, "\n");
	puts_at("50/maps", TEXT_MAP);
	assert_int_equal(read_at(reader, 50, &process), 0);
	assert_int_equal(process->nr_threads, 3);
	for (size_t i = 0; i < process->nr_threads; i++) {
		const char *want = process->threads[i].tid == 50   ? "leader"
				   : process->threads[i].tid == 51 ? "worker one"
								   : "";

		assert_string_equal(process->threads[i].comm, want);
		nr_seen += process->threads[i].tid - 49;
	}
	assert_int_equal(nr_seen, 1 + 2 + 3);
	procfs_reader_free(reader);
}

static void test_comm_of_any_bytes_is_kept(void **state)
{
	static const char *const comms[] = {
		"",
		")",
		"a) R 1 (b",
		"new\nline",
		") S 1 2 3\n) Z",
		"\xff\x1b[31m",
		"   ",
		"123456789012345",
	};
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;
	char line[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(comms); i++) {
		put_stat(60, comms[i], 'S', USER_FLAGS, 2);
		snprintf(line, sizeof(line), "%s\n", comms[i]);
		put_thread(60, 61, line);
		puts_at("60/maps", TEXT_MAP);
		assert_int_equal(read_at(reader, 60, &process), 0);
		assert_int_equal(process->ppid, 7);
		assert_int_equal(process->nr_threads, 2);
		assert_string_equal(process->threads[0].comm, comms[i]);
		assert_string_equal(process->threads[1].comm, comms[i]);
	}
	procfs_reader_free(reader);
}

static void test_long_name_of_a_kernel_worker_is_cut(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;

	(void)state;
	put_stat(70, "kworker/u8:3-events_unbound", 'I', KERNEL_FLAGS, 1);
	puts_at("70/maps", "");
	assert_int_equal(read_at(reader, 70, &process), 0);
	assert_string_equal(process->threads[0].comm, "kworker/u8:3-ev");
	procfs_reader_free(reader);
}

static void test_kernel_thread_is_told_by_its_flags(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;

	(void)state;
	put_stat(2, "kthreadd", 'S', KERNEL_FLAGS, 1);
	assert_int_equal(read_at(reader, 2, &process), 0); /* newer kernels: maps is ESRCH */
	assert_true(process->kernel_thread);
	assert_true(process->has_maps);
	assert_int_equal(process->nr_maps, 0);

	put_stat(3, "zombie", 'Z', USER_FLAGS, 1);
	puts_at("3/maps", "");
	assert_int_equal(read_at(reader, 3, &process), 0);
	assert_false(process->kernel_thread);
	assert_true(process->has_maps);
	assert_int_equal(process->nr_maps, 0);
	procfs_reader_free(reader);
}

static void test_fc107_maps_of_a_live_thread_when_main_has_exited(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;

	(void)state;
	put_stat(80, "survivor", 'Z', USER_FLAGS, 3);
	puts_at("80/maps", "");
	put_thread(80, 80, "survivor\n");
	put_thread(80, 81, "gone\n"); /* has no maps file: ended meanwhile */
	put_thread(80, 82, "hot\n");
	puts_at("80/task/82/maps", TEXT_MAP);
	assert_int_equal(read_at(reader, 80, &process), 0);
	assert_true(process->has_maps);
	assert_int_equal(process->nr_maps, 1);
	assert_string_equal(process->maps[0].path, "/usr/bin/x");
	assert_string_equal(process->threads[0].comm, "survivor");
	procfs_reader_free(reader);
}

static void test_fc107_the_same_when_the_kernel_says_esrch(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;

	(void)state;
	put_stat(80, "survivor", 'Z', USER_FLAGS, 2);
	put_thread(80, 82, "hot\n");
	puts_at("80/task/82/maps", TEXT_MAP);
	assert_int_equal(read_at(reader, 80, &process), 0);
	assert_int_equal(process->nr_maps, 1);
	procfs_reader_free(reader);
}

static void test_process_that_vanishes_at_any_step_is_gone(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;

	(void)state;
	assert_int_equal(read_at(reader, 90, &process), -ESRCH);
	puts_at("90/other", ""); /* a folder, nothing in it that we read */
	assert_int_equal(read_at(reader, 90, &process), -ESRCH);
	puts_at("90/stat", "");
	assert_int_equal(read_at(reader, 90, &process), -ESRCH);
	put_stat(90, "x", 'R', USER_FLAGS, 2); /* no task folder */
	assert_int_equal(read_at(reader, 90, &process), -ESRCH);
	put_thread(90, 90, "x\n"); /* no maps */
	assert_int_equal(read_at(reader, 90, &process), -ESRCH);
	assert_null(process);
	procfs_reader_free(reader);
}

static void test_thread_that_vanishes_is_left_out(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;

	(void)state;
	put_stat(91, "x", 'R', USER_FLAGS, 3);
	put_thread(91, 92, "alive\n");
	puts_at("91/task/93/other", ""); /* no comm */
	put_thread(91, 94, "");		 /* nothing read */
	puts_at("91/maps", TEXT_MAP);
	assert_int_equal(read_at(reader, 91, &process), 0);
	assert_int_equal(process->nr_threads, 2);
	assert_int_equal(process->threads[1].tid, 92);
	procfs_reader_free(reader);
}

static void test_malformed_stat_is_no_process(void **state)
{
	static const char *const texts[] = {
		"\n",
		"1 (x",
		"1 x) R 1",
		"1 )x( R 1 2 3",
		"1 (x) R",
		"1 (x) R ",
		"1 (x) R 1 1 1 1 1",
		"1 (x) R a b c d e f g h i j k l m n o p q r s t u",
		"1 (x) R 1 1 1 1 1 99999999999999999999999999 1 1 1 1 1 1 1 1 1 1 1\n",
		"(",
		")",
		"()",
	};
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		puts_at("95/stat", texts[i]);
		puts_at("95/maps", TEXT_MAP);
		assert_int_equal(read_at(reader, 95, &process), -ESRCH);
	}
	procfs_reader_free(reader);
}

static void test_unreadable_maps_leave_the_rest(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;

	(void)state;
	put_stat(96, "secret", 'S', USER_FLAGS, 1);
	puts_at("96/maps/folder", ""); /* cannot be read even by root */
	assert_int_equal(read_at(reader, 96, &process), 0);
	assert_false(process->has_maps);
	assert_string_equal(process->threads[0].comm, "secret");
	procfs_reader_free(reader);
}

static void test_fifos_in_place_of_files_do_not_hang(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;
	char path[128];
	uint32_t uid;
	long value;
	int writer;

	(void)state;
	put_fifo("97/stat");
	assert_int_equal(read_at(reader, 97, &process), -ESRCH);

	put_stat(98, "x", 'S', USER_FLAGS, 2);
	put_fifo("98/task/99/comm");
	put_fifo("98/maps");
	/* With a writer that writes nothing a read would block. */
	snprintf(path, sizeof(path), "%s/98/maps", proc);
	writer = open(path, O_RDWR | O_CLOEXEC);
	assert_true(writer >= 0);
	assert_int_equal(read_at(reader, 98, &process), 0);
	assert_false(process->has_maps);
	assert_int_equal(process->nr_threads, 1);
	close(writer);

	put_fifo("97/status");
	assert_int_equal(procfs_read_owner(proc, 97, &uid, NULL), -ESRCH);
	put_fifo("sys/kernel/x");
	assert_int_equal(procfs_read_sysctl(proc, "kernel/x", &value), -EINVAL);
	puts_at("5", "a file where a folder should be");
	assert_int_equal(read_at(reader, 5, &process), -ENOTDIR);
	procfs_reader_free(reader);
}

static void test_large_process_is_refused_when_asked_for(void **state)
{
	struct procfs_reader *reader = procfs_reader_new(proc);
	const struct synth_process *process;

	(void)state;
	put_stat(100, "x", 'S', USER_FLAGS, 2);
	put_thread(100, 101, "y\n");
	puts_at("100/maps", TEXT_MAP);
	procfs_reader_set_max_threads(reader, 1);
	assert_int_equal(read_at(reader, 100, &process), -E2BIG);
	procfs_reader_set_max_threads(reader, 2);
	assert_int_equal(read_at(reader, 100, &process), 0);
	assert_int_equal(process->nr_threads, 2);
	procfs_reader_set_max_threads(reader, 0);
	assert_int_equal(read_at(reader, 100, &process), 0);
	procfs_reader_free(reader);
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

/* ---- maps ---- */

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

/* ---- lists and figures ---- */

static void test_only_numbers_are_processes(void **state)
{
	uint32_t *ids = NULL;
	size_t nr = 0;
	uint64_t sum = 0;

	(void)state;
	puts_at("1/stat", "");
	puts_at("4194303/stat", "");
	puts_at("self/stat", "");
	puts_at("12x/stat", "");
	puts_at("007/stat", "");
	puts_at("0/stat", "");
	puts_at("99999999999/stat", "");
	puts_at("uptime", "");
	assert_int_equal(procfs_list_processes(proc, &ids, &nr), 0);
	for (size_t i = 0; i < nr; i++)
		sum += ids[i];
	assert_int_equal(nr, 2);
	assert_int_equal(sum, 1 + 4194303);
	free(ids);
	assert_int_equal(procfs_list_processes("/nonexistent", &ids, &nr), -ENOENT);
}

static void test_threads_are_listed(void **state)
{
	uint32_t *ids = NULL;
	size_t nr = 0;

	(void)state;
	put_thread(10, 10, "a\n");
	put_thread(10, 12, "b\n");
	assert_int_equal(procfs_list_threads(proc, 10, &ids, &nr), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(ids[0] + ids[1], 22);
	free(ids);
	assert_int_equal(procfs_list_threads(proc, 11, &ids, &nr), -ESRCH);
}

static void test_owner_is_the_effective_uid(void **state)
{
	uint32_t uid = 0, ppid = 0;

	(void)state;
	puts_at("20/status", "Name:\tUid:\\nUid:\t9\t9\nUmask:\t0022\nState:\tS (sleeping)\n"
			     "PPid:\t19\nUid:\t1000\t1001\t1002\t1003\nGid:\t5\t5\t5\t5\n");
	assert_int_equal(procfs_read_owner(proc, 20, &uid, &ppid), 0);
	assert_int_equal(ppid, 19);
	assert_int_equal(procfs_read_owner(proc, 20, NULL, NULL), 0);
	assert_int_equal(procfs_read_owner(proc, 21, &uid, &ppid), -ESRCH);
	puts_at("22/status", "Name:\tx\nPPid:\t1\nUid:\t1000\n");
	assert_int_equal(procfs_read_owner(proc, 22, &uid, &ppid), -ESRCH);
	puts_at("23/status", "Name:\tx\nPPid:\t-1\nUid:\t1000\t1000\n");
	assert_int_equal(procfs_read_owner(proc, 23, &uid, &ppid), -ESRCH);
}

static void test_name_line_cannot_pose_as_the_uid_line(void **state)
{
	uint32_t uid = 0;

	(void)state;
	puts_at("24/status", "Name:\tUid: 0 0\nPPid:\t1\nUid:\t1000\t1001\t0\t0\n");
	assert_int_equal(procfs_read_owner(proc, 24, &uid, NULL), 0);
	assert_int_equal(uid, 1001);
}

static void test_sysctl_is_a_whole_number(void **state)
{
	long value = 0;

	(void)state;
	puts_at("sys/kernel/perf_event_paranoid", "-1\n");
	assert_int_equal(procfs_read_sysctl(proc, "kernel/perf_event_paranoid", &value), 0);
	assert_int_equal(value, -1);
	puts_at("sys/kernel/x", "abc\n");
	assert_int_equal(procfs_read_sysctl(proc, "kernel/x", &value), -EINVAL);
	puts_at("sys/kernel/x", "99999999999999999999999\n");
	assert_int_equal(procfs_read_sysctl(proc, "kernel/x", &value), -EINVAL);
	puts_at("sys/kernel/x", "12x\n");
	assert_int_equal(procfs_read_sysctl(proc, "kernel/x", &value), -EINVAL);
	assert_int_equal(procfs_read_sysctl(proc, "kernel/y", &value), -ENOENT);
	assert_int_equal(value, -1);
}

static void test_own_figures_are_found_by_field(void **state)
{
	(void)state;
	puts_at("self/status", "Name:\tx\nVmHWM:\t   99 kB\nVmRSS:\t    1234 kB\n");
	assert_int_equal(procfs_self_kb(proc, "VmRSS:"), 1234);
	assert_int_equal(procfs_self_kb(proc, "VmSwap:"), 0);
	assert_int_equal(procfs_self_kb("/nonexistent", "VmRSS:"), 0);
}

/* ---- the real thing ---- */

static void test_our_own_process_is_as_we_know_it(void **state)
{
	struct procfs_reader *reader = procfs_reader_new("/proc");
	uintptr_t here = (uintptr_t)test_our_own_process_is_as_we_know_it;
	const struct synth_process *process;
	uint32_t uid = 0, ppid = 0;
	char exe[PATH_MAX];
	bool found = false;
	ssize_t len;
	int ret;

	(void)state;
	ret = read_at(reader, (uint32_t)getpid(), &process);
	if (ret == -ESRCH) {
		print_message("no /proc here\n");
		procfs_reader_free(reader);
		skip();
	}
	assert_int_equal(ret, 0);
	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	assert_true(len > 0);
	exe[len] = '\0';
	assert_int_equal(process->ppid, getppid());
	assert_int_equal(process->uid, geteuid());
	assert_true(process->has_maps);
	for (size_t i = 0; i < process->nr_maps; i++) {
		const struct map_fact *map = &process->maps[i];

		if (here >= map->start && here < map->end) {
			found = true;
			assert_string_equal(map->path, exe);
		}
	}
	assert_true(found);
	assert_int_equal(procfs_read_owner("/proc", (uint32_t)getpid(), &uid, &ppid), 0);
	assert_int_equal(uid, geteuid());
	assert_int_equal(ppid, getppid());
	procfs_reader_free(reader);
}

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

/* Maps that the kernel was asked for are those of its text, odd and deleted paths too. */
static void test_asked_maps_are_those_of_the_text(void **state)
{
	struct procfs_reader *reader = procfs_reader_new("/proc");
	const struct synth_process *process;
	char path[128], *text = malloc(1 << 20);
	FILE *file;
	size_t len;
	void *base;
	int fd;

	(void)state;
	assert_non_null(text);
	snprintf(path, sizeof(path), "%s/odd \\name\nhere", proc);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8192), 0);
	base = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	assert_int_equal(unlink(path), 0);
	close(fd);
	file = fopen("/proc/self/maps", "r");
	if (!file || base == MAP_FAILED) {
		print_message("no /proc, or nothing may be executed in /tmp\n");
		skip();
	}
	assert_int_equal(read_at(reader, (uint32_t)getpid(), &process), 0);
	len = fread(text, 1, 1 << 20, file);
	fclose(file);
	assert_true(len > 0);
	assert_int_equal(
		procfs_parse_maps(text, len, compare_with_text, (void *)(uintptr_t)process), 0);
	procfs_reader_free(reader);
	munmap(base, 4096);
	free(text);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_single_threaded_process_is_read),
		CASE(test_fc111_threads_have_their_own_names),
		CASE(test_comm_of_any_bytes_is_kept),
		CASE(test_long_name_of_a_kernel_worker_is_cut),
		CASE(test_kernel_thread_is_told_by_its_flags),
		CASE(test_fc107_maps_of_a_live_thread_when_main_has_exited),
		CASE(test_fc107_the_same_when_the_kernel_says_esrch),
		CASE(test_process_that_vanishes_at_any_step_is_gone),
		CASE(test_thread_that_vanishes_is_left_out),
		CASE(test_malformed_stat_is_no_process),
		CASE(test_unreadable_maps_leave_the_rest),
		CASE(test_fifos_in_place_of_files_do_not_hang),
		CASE(test_large_process_is_refused_when_asked_for),
		CASE(test_maps_larger_than_any_buffer_are_read_whole),
		CASE(test_paths_are_kept_as_they_are),
		CASE(test_largest_numbers_are_read),
		CASE(test_malformed_lines_are_skipped_and_counted),
		CASE(test_line_with_a_nul_is_malformed),
		CASE(test_cut_last_line_gives_no_half_path),
		CASE(test_every_prefix_of_a_maps_file_is_safe),
		CASE(test_only_numbers_are_processes),
		CASE(test_threads_are_listed),
		CASE(test_owner_is_the_effective_uid),
		CASE(test_name_line_cannot_pose_as_the_uid_line),
		CASE(test_sysctl_is_a_whole_number),
		CASE(test_own_figures_are_found_by_field),
		CASE(test_our_own_process_is_as_we_know_it),
		CASE(test_asked_maps_are_those_of_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
