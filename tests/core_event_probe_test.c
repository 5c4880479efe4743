/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/event_probe.c and core/event_ids.c: what the kernel knows; which event a sample is of. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/worker.h"
#include "core/event_ids.h"
#include "core/event_probe.h"
#include "tests/event_kernel_fake.h"

static int setup(void **state)
{
	(void)state;
	fake_start();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_stop();
	return 0;
}

static void test_a_modern_kernel_is_asked_once(void **state)
{
	struct event_features features = { 0 };

	(void)state;
	event_probe_features(0, &features);
	assert_true(features.sample_identifier && features.comm_exec && features.mmap2);
	assert_true(features.clockid && features.write_backward);
	assert_true(features.ksymbol && features.bpf_event);
	assert_int_equal(fake.nr_open_calls, 1);
}

static void test_probing_does_not_make_the_kernel_watch_tasks(void **state)
{
	struct event_features features;

	(void)state;
	event_probe_features(0, &features);
	assert_true(event_probe_kernel_rights(0));
	for (size_t i = 0; i < fake.nr_opens; i++)
		assert_int_equal(fake.opens[i].pid, -1);
}

static void test_one_missing_feature_does_not_cost_the_others(void **state)
{
	struct event_features features = { 0 };

	(void)state;
	fake.no_ksymbol = true;
	event_probe_features(0, &features);
	assert_false(features.ksymbol);
	assert_true(features.bpf_event && features.write_backward && features.clockid);
}

static void test_an_old_kernel_has_no_feature(void **state)
{
	struct event_features features;

	(void)state;
	memset(&features, 1, sizeof(features));
	fake.old = true;
	event_probe_features(0, &features);
	assert_false(features.sample_identifier || features.comm_exec || features.mmap2);
	assert_false(features.clockid || features.write_backward);
	assert_false(features.ksymbol || features.bpf_event);
}

static void test_features_are_known_without_rights_for_the_machine(void **state)
{
	struct event_features features = { 0 };

	(void)state;
	fake.no_machine_rights = true;
	fake.no_kernel_rights = true;
	fake.no_ksymbol = true;
	event_probe_features(0, &features);
	assert_false(features.ksymbol);
	assert_true(features.clockid);
	assert_false(event_probe_machine_rights(0));
	assert_false(event_probe_kernel_rights(0));
}

static void test_rights_for_the_kernel_without_those_for_the_machine(void **state)
{
	(void)state;
	fake.no_machine_rights = true;
	assert_true(event_probe_kernel_rights(0));
	assert_false(event_probe_machine_rights(0));
}

/* The user's event then fails the same way, and that has a name. */
static void test_other_errors_are_not_missing_rights(void **state)
{
	(void)state;
	fake.refuse_all = -EMFILE;
	assert_true(event_probe_kernel_rights(0));
	assert_true(event_probe_machine_rights(0));
	assert_true(event_probe_cpu(0));
}

static void test_a_kernel_that_refuses_everything_is_taken_for_a_modern_one(void **state)
{
	struct event_features features = { 0 };

	(void)state;
	fake.refuse_all = -EPERM;
	event_probe_features(0, &features);
	assert_true(features.write_backward && features.clockid);
	assert_int_equal(fake.nr_open_calls, 2);
}

static void test_a_cpu_that_is_offline(void **state)
{
	(void)state;
	fake.offline_cpu = 3;
	assert_false(event_probe_cpu(3));
	assert_true(event_probe_cpu(2));
}

static void test_probes_close_what_they_open(void **state)
{
	struct event_features features;
	size_t before;

	(void)state;
	before = fake_count_fds();
	fake.no_ksymbol = true;
	event_probe_features(0, &features);
	(void)event_probe_kernel_rights(0);
	(void)event_probe_machine_rights(0);
	(void)event_probe_cpu(0);
	assert_int_equal(fake_count_fds(), before);
}

static void test_ids_are_found_after_the_table_grew(void **state)
{
	struct event_ids ids = { 0 };

	(void)state;
	assert_int_equal(event_ids_find(&ids, 1), -1);
	for (uint64_t id = 1; id <= 1000; id++)
		event_ids_add(&ids, id * 64, (int)(id % 7));
	for (uint64_t id = 1; id <= 1000; id++)
		assert_int_equal(event_ids_find(&ids, id * 64), (int)(id % 7));
	assert_int_equal(event_ids_find(&ids, 65), -1);
	assert_int_equal(event_ids_find(&ids, 0), -1);
	event_ids_clear(&ids);
	assert_int_equal(event_ids_find(&ids, 64), -1);
	event_ids_add(&ids, 64, 5);
	assert_int_equal(event_ids_find(&ids, 64), 5);
	event_ids_clear(&ids);
}

struct finder {
	struct event_ids ids;
	_Atomic uint64_t nr_added;
	_Atomic size_t nr_wrong;
};

static void find_while_added(void *arg)
{
	struct finder *finder = arg;
	uint64_t nr;

	do {
		nr = finder->nr_added;
		for (uint64_t id = 1; id <= nr; id++)
			finder->nr_wrong += event_ids_find(&finder->ids, id) != (int)(id % 5);
		finder->nr_wrong += event_ids_find(&finder->ids, 1000000) != -1;
	} while (nr < 3000);
}

static void test_ids_are_found_while_others_are_added(void **state)
{
	struct finder finder = { 0 };
	struct worker *worker;

	(void)state;
	assert_int_equal(worker_start("finder", find_while_added, &finder, &worker, NULL), 0);
	for (uint64_t id = 1; id <= 3000; id++) {
		event_ids_add(&finder.ids, id, (int)(id % 5));
		finder.nr_added = id;
	}
	worker_join(worker);
	assert_int_equal(finder.nr_wrong, 0);
	event_ids_clear(&finder.ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_a_modern_kernel_is_asked_once),
		TEST(test_probing_does_not_make_the_kernel_watch_tasks),
		TEST(test_one_missing_feature_does_not_cost_the_others),
		TEST(test_an_old_kernel_has_no_feature),
		TEST(test_features_are_known_without_rights_for_the_machine),
		TEST(test_rights_for_the_kernel_without_those_for_the_machine),
		TEST(test_other_errors_are_not_missing_rights),
		TEST(test_a_kernel_that_refuses_everything_is_taken_for_a_modern_one),
		TEST(test_a_cpu_that_is_offline),
		TEST(test_probes_close_what_they_open),
		TEST(test_ids_are_found_after_the_table_grew),
		TEST(test_ids_are_found_while_others_are_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
