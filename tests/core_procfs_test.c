/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/procfs.c on fixture folders made here, and on our own /proc where that is the point. */
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
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "tests/core_procfs_fixture.h"

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
		CASE(test_only_numbers_are_processes),
		CASE(test_threads_are_listed),
		CASE(test_owner_is_the_effective_uid),
		CASE(test_name_line_cannot_pose_as_the_uid_line),
		CASE(test_sysctl_is_a_whole_number),
		CASE(test_own_figures_are_found_by_field),
		CASE(test_our_own_process_is_as_we_know_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
