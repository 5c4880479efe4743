/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/event_settle.c: what events are made of, and what is stepped down when refused. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "tests/event_set_fixture.h"

static void test_attr_of_samples(void **state)
{
	const struct perf_event_attr *attr;

	(void)state;
	add_named("cycles", 0);
	must_open();
	attr = &find_open(1, -1, false)->attr;
	assert_int_equal(attr->sample_type, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD);
	assert_int_equal(attr->sample_type, event_set_sample_format(set)->sample_type);
	assert_true(event_set_sample_format(set)->sample_id_all);
	assert_true(attr->freq);
	assert_int_equal(attr->sample_freq, 4000);
	assert_true(attr->disabled && attr->sample_id_all && attr->write_backward);
	assert_true(attr->use_clockid);
	assert_int_equal(attr->clockid, CLOCK_MONOTONIC);
	assert_false(attr->inherit || attr->mmap || attr->comm || attr->task);
	assert_int_equal(attr->read_format, 0);
}

static void test_attr_of_metadata(void **state)
{
	const struct perf_event_attr *attr;

	(void)state;
	add_named("cycles", 0);
	must_open();
	attr = &find_open(0, -1, true)->attr;
	assert_true(attr->mmap && attr->mmap2 && attr->comm && attr->comm_exec && attr->task);
	assert_true(attr->ksymbol && attr->bpf_event && attr->sample_id_all);
	assert_false(attr->mmap_data || attr->write_backward || attr->freq);
	assert_int_equal(attr->sample_period, 1);
	assert_true(attr->exclude_kernel && attr->watermark && attr->use_clockid);
	assert_int_equal(attr->sample_type, event_set_metadata_format(set)->sample_type);
}

static void test_call_chains_are_asked_for(void **state)
{
	const struct perf_event_attr *attr;

	(void)state;
	add_named("cycles", 0);
	options.callchain = true;
	options.callchain_user = false;
	options.max_stack = 1000;
	must_open();
	attr = &find_open(0, -1, false)->attr;
	assert_true(attr->sample_type & PERF_SAMPLE_CALLCHAIN);
	assert_true(attr->exclude_callchain_user && !attr->exclude_callchain_kernel);
	assert_int_equal(attr->sample_max_stack, 127);
	assert_true(has_note("kernel.perf_event_max_stack"));
	assert_true(info.callchain);
}

static void test_samples_of_several_events_are_told_apart(void **state)
{
	(void)state;
	add_named("cycles", 0);
	add_named("instructions", 1);
	must_open();
	assert_true(event_set_sample_format(set)->sample_type & PERF_SAMPLE_IDENTIFIER);
	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];

		if (fake_is_open(call) && fake_is_hardware(&call->attr))
			assert_int_equal(event_set_index(set, call->id), (int)call->attr.config);
	}
	assert_int_equal(event_set_index(set, 123456), -1);
}

static void test_one_event_needs_no_ids(void **state)
{
	(void)state;
	add_named("cycles", 0);
	must_open();
	assert_false(event_set_sample_format(set)->sample_type & PERF_SAMPLE_IDENTIFIER);
	assert_int_equal(event_set_index(set, 123456), 0);
}

static void test_fc004_default_event_becomes_cpu_clock(void **state)
{
	static const int codes[] = { -ENOENT, -EOPNOTSUPP, -ENXIO, -ENODEV, -EINVAL };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		fake.hardware_code = codes[i];
		list.nr = 0;
		add_default();
		must_open();
		assert_string_equal(events[0].name, "cpu-clock");
		assert_int_equal(find_open(1, -1, false)->attr.config, PERF_COUNT_SW_CPU_CLOCK);
		assert_int_equal(find_open(1, -1, false)->attr.precise_ip, 0);
		assert_true(has_note("cpu-clock"));
		assert_int_equal(nr_notes(), 1);
		event_set_close(set);
		set = NULL;
		free(events[0].name);
	}
	list.nr = 0;
}

static void test_fc004_named_event_is_never_replaced(void **state)
{
	static const int codes[] = { -ENOENT, -EOPNOTSUPP, -ENXIO, -ENODEV, -EINVAL };
	size_t before;

	(void)state;
	before = fake_count_fds();
	add_named("cycles", 0);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		fake.hardware_code = codes[i];
		assert_int_equal(open_set(), codes[i]);
		assert_null(set);
		assert_non_null(strstr(err.text, "cycles"));
		assert_non_null(strstr(err.text, strerror(-codes[i])));
		assert_string_equal(events[0].name, "cycles");
		assert_int_equal(fake_count_fds(), before);
	}
}

static void test_precision_is_stepped_down_for_p(void **state)
{
	(void)state;
	fake.has_precise_limit = true;
	fake.max_precise = 1;
	fake.precise_code = -EOPNOTSUPP;
	add_default();
	must_open();
	assert_int_equal(find_open(0, -1, false)->attr.precise_ip, 1);
	assert_string_equal(events[0].name, "cycles:P");
	assert_int_equal(nr_notes(), 0);
}

static void test_precision_is_settled_once_not_for_each_cpu(void **state)
{
	size_t nr_refused;

	(void)state;
	fake.has_precise_limit = true;
	fake.precise_code = -EINVAL;
	set_cpus("0-63", "0-63");
	add_default();
	must_open();
	assert_int_equal(find_open(63, -1, false)->attr.precise_ip, 0);
	nr_refused = fake.nr_open_calls - fake.nr_opens;
	assert_int_equal(nr_refused, 3);
}

static void test_precision_asked_for_is_kept(void **state)
{
	(void)state;
	fake.has_precise_limit = true;
	fake.precise_code = -EOPNOTSUPP;
	add_named("cycles:pp", 0);
	events[0].attr.precise_ip = 2;
	assert_int_equal(open_set(), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, ":pp"));
}

static void test_guests_are_left_out_where_the_pmu_insists(void **state)
{
	(void)state;
	fake.guest_code = -EOPNOTSUPP;
	add_default();
	must_open();
	assert_true(find_open(0, -1, false)->attr.exclude_guest);
	assert_int_equal(find_open(0, -1, false)->attr.precise_ip, 3);
	assert_string_equal(events[0].name, "cycles:P");
}

static void test_fc005_root_is_told_about_sandboxes(void **state)
{
	static const int codes[] = { -EPERM, -EACCES, -ENOSYS };

	(void)state;
	add_default();
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		fake.refuse_all = codes[i];
		assert_int_equal(open_set(), codes[i]);
		assert_non_null(strstr(err.text, "perf_event_open"));
		assert_non_null(strstr(err.text, strerror(-codes[i])));
		assert_non_null(strstr(err.text, "seccomp"));
		assert_null(strstr(err.text, "paranoid"));
	}
}

static void test_fc011_errno_event_and_cpu_are_told(void **state)
{
	static const int codes[] = { -ENOMEM, -ENOSPC, -EBUSY, -EMFILE };

	(void)state;
	add_default();
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		fake.refuse_all = codes[i];
		assert_int_equal(open_set(), codes[i]);
		assert_non_null(strstr(err.text, strerror(-codes[i])));
		assert_non_null(strstr(err.text, "cycles:P"));
		assert_non_null(strstr(err.text, "CPU 0"));
	}
}

static void test_fc007_without_kernel_rights_the_kernel_is_left_out_and_said(void **state)
{
	(void)state;
	fake.no_kernel_rights = true;
	add_default();
	must_open();
	assert_true(info.kernel_excluded);
	assert_true(find_open(0, -1, false)->attr.exclude_kernel);
	assert_true(find_open(0, -1, false)->attr.exclude_hv);
	assert_true(has_note("kernel"));
	assert_true(has_note("perf_event_paranoid"));
}

static void test_levels_that_the_user_named_are_not_narrowed(void **state)
{
	(void)state;
	be_ordinary_user();
	fixture_process(PID, 1, 1000, 1);
	watch_processes(PID, 0);
	add_named("cycles:k", 0);
	events[0].user_excludes = true;
	events[0].attr.exclude_user = 1;
	assert_int_equal(open_set(), -EACCES);
	assert_non_null(strstr(err.text, "perf_event_paranoid=1"));
}

static void test_fc008_rate_is_clamped_and_said(void **state)
{
	(void)state;
	fixture_sysctl("perf_event_max_sample_rate", 500);
	fake.max_rate = 500;
	options.freq = 1000;
	options.freq_named = true;
	add_default();
	must_open();
	assert_int_equal(info.freq, 500);
	assert_int_equal(find_open(0, -1, false)->attr.sample_freq, 500);
	assert_true(has_note("500 Hz instead of 1000"));
	assert_true(has_note("kernel.perf_event_max_sample_rate"));
	assert_string_equal(events[0].name, "cycles:P");
}

static void test_fc008_max_is_the_limit_without_a_note(void **state)
{
	(void)state;
	fixture_sysctl("perf_event_max_sample_rate", 25000);
	fake.max_rate = 25000;
	options.freq = UINT64_MAX;
	add_default();
	must_open();
	assert_int_equal(info.freq, 25000);
	assert_int_equal(nr_notes(), 0);
}

static int fake_open_lowers_rate(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
	/* Between the trial and CPU 1 the kernel finds that sampling takes too long. */
	if (cpu == 1 && fake_is_hardware(attr) && fake.max_rate != 1000) {
		fake.max_rate = 1000;
		fixture_sysctl("perf_event_max_sample_rate", 1000);
	}
	return fake_open(attr, pid, cpu, group_fd);
}

static void test_fc008_limit_that_sinks_while_opening(void **state)
{
	static struct event_kernel kernel;

	(void)state;
	kernel = fake_kernel;
	kernel.open = fake_open_lowers_rate;
	event_kernel = &kernel;
	add_default();
	must_open();
	assert_int_equal(info.freq, 1000);
	assert_int_equal(find_open(1, -1, false)->attr.sample_freq, 1000);
	assert_true(has_note("1000 Hz instead of 4000"));
}

static void test_a_period_is_used_as_it_is(void **state)
{
	(void)state;
	options.freq = 0;
	options.period = 123456;
	add_default();
	must_open();
	assert_false(find_open(0, -1, false)->attr.freq);
	assert_int_equal(find_open(0, -1, false)->attr.sample_period, 123456);
	assert_int_equal(info.period, 123456);
	assert_int_equal(info.freq, 0);
}

static void test_neither_rate_nor_period_is_refused(void **state)
{
	(void)state;
	options.freq = 0;
	add_default();
	assert_int_equal(open_set(), -EINVAL);
}

static void test_old_kernel_gets_forward_rings_and_no_new_bits(void **state)
{
	(void)state;
	fake.old = true;
	add_named("cycles", 0);
	add_named("instructions", 1);
	must_open();
	assert_false(info.overwrite);
	assert_int_equal(fake_ring(event_set_cpu(set, 0)->samples)->kind, RING_FORWARD);
	assert_true(event_set_sample_format(set)->sample_type & PERF_SAMPLE_ID);
	assert_true(has_note("backward"));
}

static void test_weak_group_is_broken_up(void **state)
{
	(void)state;
	fake.group_code = -EINVAL;
	add_named("cycles", 0);
	add_named("instructions", 1);
	events[0].group = events[1].group = 0;
	assert_int_equal(open_set(), -EINVAL);
	assert_non_null(strstr(err.text, ":W"));
	events[0].weak = events[1].weak = true;
	must_open();
	assert_true(has_note("group"));
	assert_int_equal(find_open(0, -1, false)->group_fd, -1);
}

static void test_group_members_have_their_leader_of_the_cpu(void **state)
{
	(void)state;
	add_named("cycles", 0);
	add_named("instructions", 1);
	events[0].group = events[1].group = 4;
	must_open();
	for (int cpu = 0; cpu < 2; cpu++) {
		struct fake_open *member = find_open(cpu, -1, false);

		assert_int_equal(member->attr.config, 1);
		assert_int_equal(fake_get(member->group_fd)->attr.config, 0);
		assert_int_equal(fake_get(member->group_fd)->cpu, cpu);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_attr_of_samples),
		TEST(test_attr_of_metadata),
		TEST(test_call_chains_are_asked_for),
		TEST(test_samples_of_several_events_are_told_apart),
		TEST(test_one_event_needs_no_ids),
		TEST(test_fc004_default_event_becomes_cpu_clock),
		TEST(test_fc004_named_event_is_never_replaced),
		TEST(test_precision_is_stepped_down_for_p),
		TEST(test_precision_is_settled_once_not_for_each_cpu),
		TEST(test_precision_asked_for_is_kept),
		TEST(test_guests_are_left_out_where_the_pmu_insists),
		TEST(test_fc005_root_is_told_about_sandboxes),
		TEST(test_fc011_errno_event_and_cpu_are_told),
		TEST(test_fc007_without_kernel_rights_the_kernel_is_left_out_and_said),
		TEST(test_levels_that_the_user_named_are_not_narrowed),
		TEST(test_fc008_rate_is_clamped_and_said),
		TEST(test_fc008_max_is_the_limit_without_a_note),
		TEST(test_fc008_limit_that_sinks_while_opening),
		TEST(test_a_period_is_used_as_it_is),
		TEST(test_neither_rate_nor_period_is_refused),
		TEST(test_old_kernel_gets_forward_rings_and_no_new_bits),
		TEST(test_weak_group_is_broken_up),
		TEST(test_group_members_have_their_leader_of_the_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
