/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core/event_mode.c and event_tasks.c: by CPU or by task, rights, descriptors; which
 * tasks are opened and which have inherited.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/event_set_fixture.h"

static void test_fc114_soft_limit_is_raised(void **state)
{
	struct rlimit old;
	struct rlimit limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	limit = old;
	limit.rlim_cur = 8;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	add_named("cycles", 0);
	must_open();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(limit.rlim_cur >= old.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static void test_fc114_needed_and_available_number_are_told(void **state)
{
	struct rlimit limit;
	char text[64];
	size_t before;

	(void)state;
	before = fake_count_fds();
	fake.max_open = 20;
	set_cpus("0-63", "0-63");
	add_named("cycles", 0);
	assert_int_equal(open_set(), -EMFILE);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	snprintf(text, sizeof(text), "%llu are allowed", (unsigned long long)limit.rlim_cur);
	assert_non_null(strstr(err.text, text));
	assert_non_null(strstr(err.text, "256 descriptors")); /* 2 x 64, and others */
	assert_int_equal(fake_count_fds(), before);
}

static void test_processes_are_opened_with_all_threads_on_all_cpus(void **state)
{
	(void)state;
	fixture_process(PID, 1, 0, 3);
	fixture_process(PID + 10, 1, 0, 1);
	watch_processes(PID, PID + 10);
	add_named("cycles", 0);
	must_open();
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, -1, 0), 4 * 2);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 1, PID + 2), 1);
	assert_true(find_open(1, PID + 2, false)->attr.inherit);
	assert_true(find_open(1, PID + 2, true)->attr.inherit);
	assert_int_equal(find_open(1, PID + 2, false)->output,
			 fake_ring(event_set_cpu(set, 1)->samples)->fd);
	assert_int_equal(find_open(1, PID + 2, true)->output,
			 fake_ring(event_set_cpu(set, 1)->metadata)->fd);
	assert_false(info.filter_in_user_space || info.own_processes_only);
	assert_int_equal(event_set_enable(set, &err), 0);
	assert_int_equal(find_open(0, PID + 10, false)->nr_enabled, 1);
}

/* Or the end of that task would look like the end of the CPU. */
static void test_rings_do_not_belong_to_a_task_that_may_end(void **state)
{
	(void)state;
	fixture_process(PID, 1, 0, 1);
	watch_processes(PID, 0);
	add_named("cycles", 0);
	must_open();
	assert_int_equal(event_set_enable(set, &err), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(fake_get(event_set_cpu(set, i)->metadata_fd)->nr_enabled, 0);
		assert_int_equal(fake_get(event_set_cpu(set, i)->metadata_fd)->pid, getpid());
		assert_int_equal(fake_get(fake_ring(event_set_cpu(set, i)->samples)->fd)->pid,
				 getpid());
		assert_true(fake_get(fake_ring(event_set_cpu(set, i)->samples)->fd)
				    ->attr.write_backward);
	}
}

static void test_threads_are_not_inherited(void **state)
{
	(void)state;
	ids[0] = PID;
	target.kind = TARGET_THREADS;
	target.ids = ids;
	target.nr_ids = 1;
	add_named("cycles", 0);
	must_open();
	assert_false(find_open(0, PID, false)->attr.inherit);
	assert_false(find_open(0, PID, true)->attr.inherit);
}

static void test_command_is_enabled_by_its_exec(void **state)
{
	(void)state;
	ids[0] = PID;
	target.kind = TARGET_COMMAND;
	target.ids = ids;
	target.nr_ids = 1;
	add_named("cycles", 0);
	must_open();
	assert_true(find_open(0, PID, false)->attr.enable_on_exec);
	assert_true(find_open(1, PID, true)->attr.enable_on_exec);
	assert_true(find_open(1, PID, true)->attr.inherit);
	assert_int_equal(event_set_enable(set, &err), 0);
	assert_int_equal(find_open(0, PID, false)->nr_enabled, 0);
	/* But not a second time. */
	assert_int_equal(event_set_disable(set, &err), 0);
	assert_int_equal(event_set_enable(set, &err), 0);
	assert_int_equal(find_open(0, PID, false)->nr_enabled, 1);
}

static void test_a_thread_that_vanishes_is_skipped(void **state)
{
	(void)state;
	fixture_process(PID, 1, 0, 3);
	watch_processes(PID, PID + 10);
	fake.dead_tid = PID + 1;
	add_named("cycles", 0);
	must_open();
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, 0), 2);
}

static void test_a_process_that_does_not_exist_is_an_error(void **state)
{
	(void)state;
	watch_processes(PID, 0);
	add_named("cycles", 0);
	assert_int_equal(open_set(), -ESRCH);
	assert_non_null(strstr(err.text, "5000000"));
	/* Gone after it was listed. */
	fixture_process(PID, 1, 0, 1);
	fake.dead_tid = PID;
	assert_int_equal(open_set(), -ESRCH);
}

static void test_a_foreign_thread_is_an_error_that_names_it(void **state)
{
	(void)state;
	be_ordinary_user();
	fixture_process(PID, 1, 0, 1);
	watch_processes(PID, 0);
	fake.foreign_tid = PID;
	add_named("cycles", 0);
	assert_int_equal(open_set(), -EACCES);
	assert_non_null(strstr(err.text, "thread 5000000"));
	assert_non_null(strstr(err.text, "another user"));
}

static unsigned int nr_threads_to_come;

static int fake_open_with_new_threads(struct perf_event_attr *attr, pid_t pid, int cpu,
				      int group_fd)
{
	/* On CPU 1 the process has one thread more than on CPU 0. */
	if (pid == PID && cpu == 1 && fake_is_hardware(attr) && nr_threads_to_come) {
		nr_threads_to_come--;
		fixture_process(PID, 1, 0, 10 - nr_threads_to_come);
	}
	return fake_open(attr, pid, cpu, group_fd);
}

static void open_with_new_threads(unsigned int nr)
{
	static struct event_kernel kernel;

	kernel = fake_kernel;
	kernel.open = fake_open_with_new_threads;
	event_kernel = &kernel;
	nr_threads_to_come = nr;
	fixture_process(PID, 1, 0, 1);
	watch_processes(PID, 0);
	add_named("cycles", 0);
	must_open();
}

static void test_threads_that_come_while_opening_are_neither_missed_nor_doubled(void **state)
{
	(void)state;
	open_with_new_threads(1);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, 0), 10);
	for (pid_t tid = PID; tid < PID + 10; tid++) {
		assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, tid), 1);
		assert_int_equal(count_open(PERF_TYPE_HARDWARE, 1, tid), 1);
	}
	assert_false(info.filter_in_user_space);
}

static void test_threads_that_never_stop_coming_make_us_watch_the_machine(void **state)
{
	(void)state;
	open_with_new_threads(9);
	assert_true(info.filter_in_user_space);
	assert_int_equal(count_open(-1, -1, 0), 4);
	assert_int_equal(count_open(-1, -1, -1), 4);
	assert_false(find_open(0, -1, false)->attr.inherit);
	assert_true(has_note("whole machine"));
}

static void test_very_many_threads_make_us_watch_the_machine(void **state)
{
	(void)state;
	fixture_process(PID, 1, 0, 300);
	watch_processes(PID, 0);
	set_cpus("0-15", "0-15");
	add_named("cycles", 0);
	must_open();
	assert_true(info.filter_in_user_space);
	assert_int_equal(info.nr_fds, 32);
	assert_true(has_note("whole machine"));
}

static void test_ordinary_user_gets_own_processes(void **state)
{
	(void)state;
	be_ordinary_user();
	fixture_process(PID, 1, 1000, 2);
	fixture_process(PID + 10, 1, 0, 1);
	fixture_process(PID + 20, PID, 1000, 1);
	add_default();
	must_open();
	assert_true(info.own_processes_only && info.kernel_excluded);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, 0), 3);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, PID + 20), 1);
	assert_int_equal(count_open(-1, -1, PID + 10), 0);
	assert_true(has_note("kernel.perf_event_paranoid is 2"));
	assert_true(has_note("cap_perfmon"));
}

static void test_own_process_that_may_not_be_watched_is_left_out(void **state)
{
	(void)state;
	be_ordinary_user();
	fixture_process(PID, 1, 1000, 1);
	fixture_process(PID + 1, 1, 1000, 1);
	fake.foreign_tid = PID + 1;
	add_default();
	must_open();
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, 0), 1);
	assert_true(has_note("left out"));
}

static void test_own_processes_are_cut_to_the_descriptor_limit(void **state)
{
	struct rlimit old;
	struct rlimit limit = { 300, 300 };
	pid_t child = fork();
	int status;

	(void)state;
	/* A hard limit cannot be taken back: in a child. */
	if (child == 0) {
		be_ordinary_user();
		fake.hangs_up = true;
		if (getrlimit(RLIMIT_NOFILE, &old) || setrlimit(RLIMIT_NOFILE, &limit))
			_exit(1);
		/* Where we may raise it, it is raised; that is not this test. */
		fixture_process(PID, 1, 1000, 200);
		add_default();
		if (event_set_open(&list, &target, &cpumap, &options, &set, &err))
			_exit(2);
		_exit(!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur == 300 &&
				      !has_note("of your 200 threads")
			      ? 3
			      : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_user_target_with_and_without_rights(void **state)
{
	(void)state;
	target.kind = TARGET_USER;
	target.uid = 1000;
	add_default();
	must_open();
	assert_true(info.filter_in_user_space);
	assert_int_equal(count_open(-1, -1, -1), 4);
	event_set_close(set);
	set = NULL;
	be_ordinary_user();
	fixture_process(PID, 1, 1000, 1);
	must_open();
	assert_false(info.filter_in_user_space);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, PID), 1);
	event_set_close(set);
	set = NULL;
	target.uid = 0;
	assert_int_equal(open_set(), -EACCES);
	assert_non_null(strstr(err.text, "user 0"));
	assert_non_null(strstr(err.text, "perf_event_paranoid"));
}

static void test_new_login_is_adopted_and_children_are_not(void **state)
{
	(void)state;
	be_ordinary_user();
	fixture_process(PID, 1, 1000, 1);
	fixture_process(PID + 5, 1, 0, 1); /* sshd */
	add_default();
	must_open();
	assert_int_equal(event_set_enable(set, &err), 0);
	fixture_process(PID + 20, PID, 1000, 1);      /* a child of ours: inherited */
	fixture_process(PID + 30, PID + 5, 1000, 2);  /* the login */
	fixture_process(PID + 40, PID + 30, 1000, 1); /* its child */
	fixture_process(PID + 50, 1, 1000, 1);	      /* a daemon that lost its parent */
	assert_int_equal(event_set_adopt_tasks(set, &err), 3);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, PID + 20), 0);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, PID + 50), 0);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, PID + 31), 1);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 1, PID + 40), 1);
	assert_int_equal(find_open(1, PID + 40, false)->nr_enabled, 1);
	assert_int_equal(find_open(1, PID + 40, false)->output,
			 fake_ring(event_set_cpu(set, 1)->samples)->fd);
	/* They are known now, and so are their children. */
	fixture_process(PID + 60, PID + 40, 1000, 1);
	assert_int_equal(event_set_adopt_tasks(set, &err), 0);
}

static void test_ended_tasks_give_their_descriptors_back(void **state)
{
	size_t before;

	(void)state;
	be_ordinary_user();
	fixture_process(PID, 1, 1000, 1);
	fixture_process(PID + 1, 1, 1000, 1);
	add_default();
	must_open();
	before = fake_count_fds();
	fixture_remove("5000001");
	/* Its children may go on: then the kernel does not hang up. */
	assert_int_equal(event_set_adopt_tasks(set, &err), 0);
	assert_int_equal(fake_count_fds(), before);
	fake_hang_up(find_open(0, PID + 1, true)->fd);
	before = fake_count_fds();
	assert_int_equal(event_set_adopt_tasks(set, &err), 0);
	assert_int_equal(fake_count_fds(), before - 4);
	assert_int_equal(count_open(-1, -1, PID + 1), 0);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, -1, PID), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fc114_soft_limit_is_raised),
		TEST(test_fc114_needed_and_available_number_are_told),
		TEST(test_processes_are_opened_with_all_threads_on_all_cpus),
		TEST(test_rings_do_not_belong_to_a_task_that_may_end),
		TEST(test_threads_are_not_inherited),
		TEST(test_command_is_enabled_by_its_exec),
		TEST(test_a_thread_that_vanishes_is_skipped),
		TEST(test_a_process_that_does_not_exist_is_an_error),
		TEST(test_a_foreign_thread_is_an_error_that_names_it),
		TEST(test_threads_that_come_while_opening_are_neither_missed_nor_doubled),
		TEST(test_threads_that_never_stop_coming_make_us_watch_the_machine),
		TEST(test_very_many_threads_make_us_watch_the_machine),
		TEST(test_ordinary_user_gets_own_processes),
		TEST(test_own_process_that_may_not_be_watched_is_left_out),
		TEST(test_own_processes_are_cut_to_the_descriptor_limit),
		TEST(test_user_target_with_and_without_rights),
		TEST(test_new_login_is_adopted_and_children_are_not),
		TEST(test_ended_tasks_give_their_descriptors_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
