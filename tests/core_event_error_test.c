/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/event_error.c: the message names the object, the errno as it was and a remedy that fits. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/event_error.h"
#include "tests/event_kernel_fake.h"

static struct perf_event_attr attr;
static struct event_failure failure;
static struct err err;

static int setup(void **state)
{
	(void)state;
	fake_start();
	fixture_start();
	memset(&attr, 0, sizeof(attr));
	memset(&err, 0, sizeof(err));
	failure = (struct event_failure){ .event = "cycles:P", .attr = &attr, .cpu = 3,
					  .machine = true, .proc = fixture_proc,
					  .nr_fds_needed = 777 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_stop();
	fake_stop();
	return 0;
}

static const char *text_of(int code)
{
	failure.code = code;
	assert_int_equal(event_error_open(&failure, &err), code);
	assert_int_equal(err.code, code);
	return err.text;
}

#define assert_has(text, part) assert_non_null(strstr(text, part))
#define assert_lacks(text, part) assert_null(strstr(text, part))

static void be_ordinary_user(void)
{
	fake.euid = 1000;
	fake.has_capabilities = false;
}

static void test_fc011_errno_event_and_cpu_are_named(void **state)
{
	static const int codes[] = { -EACCES, -EPERM,  -ENOSYS, -EMFILE, -ENFILE,     -ENOMEM,
				     -ENOSPC, -EBUSY,  -ENOENT, -ENODEV, -ENXIO,      -EOPNOTSUPP,
				     -EINVAL, -ESRCH,  -E2BIG,  -EIO,	 -EOVERFLOW };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		const char *text = text_of(codes[i]);

		assert_has(text, "cycles:P");
		assert_has(text, "CPU 3");
		assert_has(text, "perf_event_open");
		assert_has(text, strerror(-codes[i]));
	}
}

static void test_fc011_the_hint_matches_the_errno(void **state)
{
	(void)state;
	assert_has(text_of(-EMFILE), "777 descriptors");
	assert_has(err.text, "ulimit -n");
	assert_has(text_of(-ENFILE), "fs.file-max");
	assert_has(text_of(-ENOMEM), "memory");
	assert_has(text_of(-EBUSY), "watchdog");
	assert_has(text_of(-EBUSY), "profiler");
	assert_has(text_of(-ENOSPC), "counters");
	assert_has(text_of(-ENOENT), "cpu-clock");
	assert_lacks(err.text, "paranoid");
}

static void test_call_chains_are_named_when_memory_is_short(void **state)
{
	(void)state;
	assert_lacks(text_of(-ENOMEM), "max-stack");
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	assert_has(text_of(-ENOMEM), "max-stack");
}

static void test_fc005_root_is_not_told_to_lower_paranoid(void **state)
{
	static const int codes[] = { -EPERM, -EACCES, -ENOSYS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		assert_has(text_of(codes[i]), "seccomp");
		assert_has(err.text, "lockdown");
		assert_has(err.text, "sandbox");
		assert_lacks(err.text, "paranoid");
	}
}

static void test_fc005_cap_perfmon_is_as_good_as_root(void **state)
{
	(void)state;
	be_ordinary_user();
	fake.has_capabilities = true;
	assert_has(text_of(-EPERM), "seccomp");
	assert_lacks(err.text, "paranoid");
}

static void test_an_ordinary_user_gets_the_paranoid_value_that_helps(void **state)
{
	(void)state;
	be_ordinary_user();
	assert_has(text_of(-EACCES), "kernel.perf_event_paranoid is 2");
	assert_has(err.text, "kernel.perf_event_paranoid=0");
	assert_has(err.text, "cap_perfmon");
	failure.machine = false;
	assert_has(text_of(-EACCES), "kernel.perf_event_paranoid=1");
}

static void test_fc005_paranoid_is_not_blamed_when_it_does_not_forbid(void **state)
{
	(void)state;
	be_ordinary_user();
	fixture_sysctl("perf_event_paranoid", -1);
	assert_has(text_of(-EPERM), "seccomp");
	assert_lacks(err.text, "=0");
	failure.machine = false;
	attr.exclude_kernel = 1;
	fixture_sysctl("perf_event_paranoid", 2);
	assert_has(text_of(-EPERM), "seccomp");
	/* A distribution's kernel that has a level 4 forbids even that. */
	fixture_sysctl("perf_event_paranoid", 4);
	assert_has(text_of(-EACCES), "kernel.perf_event_paranoid=2");
}

static void test_a_thread_of_another_user_is_named(void **state)
{
	(void)state;
	be_ordinary_user();
	failure.machine = false;
	failure.tid = 4321;
	attr.exclude_kernel = 1;
	assert_has(text_of(-EACCES), "thread 4321");
	assert_has(err.text, "another user");
}

static void test_precision_and_groups_are_named_when_they_may_be_it(void **state)
{
	(void)state;
	attr.precise_ip = 2;
	assert_has(text_of(-EOPNOTSUPP), ":pp)");
	failure.in_group = true;
	assert_has(text_of(-EINVAL), ":W");
}

static void test_a_missing_sysctl_is_not_fatal(void **state)
{
	(void)state;
	be_ordinary_user();
	fixture_remove("sys");
	assert_has(text_of(-EACCES), strerror(EACCES));
}

static void test_fc016_a_refused_ring_names_both_limits(void **state)
{
	struct ring_failure ring = { .code = -EPERM, .cpu = 7, .sample_bytes = 4096,
				     .metadata_bytes = 8192, .proc = fixture_proc };

	(void)state;
	assert_int_equal(event_error_ring(&ring, &err), -EPERM);
	assert_has(err.text, "kernel.perf_event_mlock_kb is 516");
	assert_has(err.text, "RLIMIT_MEMLOCK");
	assert_has(err.text, "CPU 7");
	assert_has(err.text, "4 + 8 KiB");
	assert_has(err.text, strerror(EPERM));
}

static void test_no_err_is_fine(void **state)
{
	(void)state;
	failure.code = -EPERM;
	assert_int_equal(event_error_open(&failure, NULL), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_fc011_errno_event_and_cpu_are_named),
		TEST(test_fc011_the_hint_matches_the_errno),
		TEST(test_call_chains_are_named_when_memory_is_short),
		TEST(test_fc005_root_is_not_told_to_lower_paranoid),
		TEST(test_fc005_cap_perfmon_is_as_good_as_root),
		TEST(test_an_ordinary_user_gets_the_paranoid_value_that_helps),
		TEST(test_fc005_paranoid_is_not_blamed_when_it_does_not_forbid),
		TEST(test_a_thread_of_another_user_is_named),
		TEST(test_precision_and_groups_are_named_when_they_may_be_it),
		TEST(test_a_missing_sysctl_is_not_fatal),
		TEST(test_fc016_a_refused_ring_names_both_limits),
		TEST(test_no_err_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
