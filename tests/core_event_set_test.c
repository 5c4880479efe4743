/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core/event_set.c and event_open.c: CPUs, hotplug, the whole on the real kernel.
 *
 * Tests of a real CPU switch CPU 1 off and on, which disturbs whatever else runs:
 * only with SYMTOP_TEST_ALONE=1.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/event_set_fixture.h"

static void test_enable_and_disable_reach_every_event(void **state)
{
	(void)state;
	add_named("cycles", 0);
	must_open();
	for (size_t i = 0; i < fake.nr_opens; i++)
		assert_true(fake.opens[i].attr.disabled && !fake.opens[i].nr_enabled);
	assert_int_equal(event_set_enable(set, &err), 0);
	assert_int_equal(event_set_disable(set, &err), 0);
	for (int cpu = 0; cpu < 2; cpu++) {
		for (int dummy = 0; dummy < 2; dummy++) {
			assert_int_equal(find_open(cpu, -1, dummy)->nr_enabled, 1);
			assert_int_equal(find_open(cpu, -1, dummy)->nr_disabled, 1);
		}
	}
}

static void test_nothing_stays_open(void **state)
{
	size_t before;

	(void)state;
	before = fake_count_fds();
	add_named("cycles", 0);
	add_default();
	must_open();
	event_set_close(set);
	set = NULL;
	assert_int_equal(fake_count_fds(), before);
	assert_int_equal(fake.nr_rings, 0);
	event_set_close(NULL);
}

static void test_fc101_a_cpu_that_is_gone_is_skipped(void **state)
{
	(void)state;
	fake.offline_cpu = 0;
	set_cpus("0-3", "0-7");
	add_named("cycles", 0);
	must_open();
	assert_int_equal(info.nr_cpus_open, 3);
	assert_int_equal(event_set_nr_cpus(set), 8);
	assert_null(event_set_cpu(set, 0)->samples);
	assert_int_equal(event_set_cpu(set, 0)->metadata_fd, -1);
	assert_non_null(event_set_cpu(set, 1)->samples);
	assert_null(event_set_cpu(set, 7)->samples);
	assert_true(has_note("CPU 0"));
}

static void test_fc101_default_event_survives_a_cpu_that_is_gone(void **state)
{
	(void)state;
	fake.offline_cpu = 0;
	add_default();
	must_open();
	assert_string_equal(events[0].name, "cycles:P");
	assert_int_equal(info.nr_cpus_open, 1);
}

static void test_fc101_all_cpus_gone_is_an_error(void **state)
{
	(void)state;
	fake.offline_cpu = 1;
	set_cpus("1", "0-1");
	add_named("cycles", 0);
	assert_int_equal(open_set(), -ENODEV);
	assert_non_null(strstr(err.text, "cycles"));
}

static void test_named_cpus_only(void **state)
{
	(void)state;
	set_cpus("0-3", "0-7");
	target.has_cpus = true;
	cpuset_add(&target.cpus, 2);
	cpuset_add(&target.cpus, 6);
	add_named("cycles", 0);
	must_open();
	assert_int_equal(info.nr_cpus_open, 1);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, -1, 0), 1);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 2, 0), 1);
	assert_non_null(event_set_cpu(set, 2)->samples);
	assert_null(event_set_cpu(set, 6)->samples);
	assert_true(has_note("CPU 6"));
}

static void test_cpus_that_are_not_sampled_have_metadata(void **state)
{
	(void)state;
	set_cpus("0-3", "0-7");
	target.has_cpus = true;
	cpuset_add(&target.cpus, 2);
	add_named("cycles", 0);
	must_open();
	assert_int_equal(event_set_enable(set, &err), 0);
	for (int cpu = 0; cpu < 4; cpu++) {
		struct cpu_rings *rings = event_set_cpu(set, (size_t)cpu);

		assert_int_equal(rings->cpu, cpu);
		assert_non_null(rings->metadata);
		assert_int_equal(find_open(cpu, -1, true)->fd, rings->metadata_fd);
		assert_int_equal(find_open(cpu, -1, true)->nr_enabled, 1);
		assert_int_equal(rings->samples != NULL, cpu == 2);
	}
	assert_null(event_set_cpu(set, 4)->metadata);
	assert_int_equal(info.nr_cpus_open, 1);
	assert_int_equal(nr_notes(), 0);
}

static void test_tasks_have_metadata_on_cpus_that_are_not_sampled(void **state)
{
	(void)state;
	fixture_process(PID, 1, 0, 1);
	watch_processes(PID, 0);
	target.has_cpus = true;
	cpuset_add(&target.cpus, 1);
	add_named("cycles", 0);
	must_open();
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, -1, 0), 1);
	assert_int_equal(count_open(PERF_TYPE_SOFTWARE, 0, PID), 1);
	assert_int_equal(count_open(PERF_TYPE_SOFTWARE, 1, PID), 1);
	/* Carriers, our own: for metadata on both, for samples on one. */
	assert_int_equal(count_open(PERF_TYPE_SOFTWARE, 0, getpid()), 1);
	assert_int_equal(count_open(PERF_TYPE_SOFTWARE, 1, getpid()), 2);
	assert_non_null(event_set_cpu(set, 0)->metadata);
	assert_null(event_set_cpu(set, 0)->samples);
	assert_int_equal(find_open(0, PID, true)->output, event_set_cpu(set, 0)->metadata_fd);
}

static void test_named_cpus_that_are_all_offline(void **state)
{
	(void)state;
	target.has_cpus = true;
	cpuset_add(&target.cpus, 5);
	add_named("cycles", 0);
	assert_int_equal(open_set(), -ENODEV);
	assert_non_null(strstr(err.text, "5"));
	assert_non_null(strstr(err.text, "0-1"));
}

static void test_events_of_some_cpus_only(void **state)
{
	(void)state;
	set_cpus("0-3", "0-3");
	add_event("cpu_core/cycles/", 8, 0);
	add_event("cpu_atom/cycles/", 9, 0);
	for (size_t i = 0; i < 2; i++) {
		events[i].has_cpus = true;
		cpuset_add(&events[i].cpus, (unsigned int)i);
	}
	must_open();
	assert_int_equal(count_open(8, -1, 0), 1);
	assert_int_equal(count_open(8, 0, 0), 1);
	assert_int_equal(count_open(9, 1, 0), 1);
	assert_int_equal(info.nr_cpus_open, 2);
	/* Who execs on a CPU of neither kind may go on on one that is. */
	assert_non_null(event_set_cpu(set, 2)->metadata);
	assert_null(event_set_cpu(set, 2)->samples);
}

static void test_a_cpu_without_the_event_keeps_the_others(void **state)
{
	(void)state;
	fake.cpu_without_hardware = 1;
	add_event("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	add_named("cycles", 0);
	must_open();
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 1, 0), 0);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 0, 0), 1);
	assert_int_equal(info.nr_cpus_open, 2);
	assert_true(has_note("CPU 1"));
}

static void test_a_cpu_without_any_of_the_events_has_metadata_only(void **state)
{
	(void)state;
	fake.cpu_without_hardware = 1;
	add_named("cycles", 0);
	must_open();
	assert_int_equal(count_open(-1, 1, 0), 1);
	assert_int_equal(info.nr_cpus_open, 1);
	assert_non_null(event_set_cpu(set, 1)->metadata);
	assert_null(event_set_cpu(set, 1)->samples);
	assert_true(has_note("CPU 1"));
}

static void refresh(const char *online, unsigned int nr_opened, unsigned int nr_closed)
{
	unsigned int opened;
	unsigned int closed;

	set_cpus(online, "0-3");
	assert_int_equal(event_set_refresh_cpus(set, &cpumap, &opened, &closed, &err), 0);
	assert_int_equal(opened, nr_opened);
	assert_int_equal(closed, nr_closed);
	event_set_get_info(set, &info);
}

static void test_fc102_a_cpu_that_returns_is_opened_again(void **state)
{
	struct fake_open *again;
	uint64_t id;

	(void)state;
	set_cpus("0-2", "0-3");
	add_named("cycles", 0);
	add_named("instructions", 1);
	must_open();
	assert_int_equal(event_set_enable(set, &err), 0);
	refresh("0-2", 0, 0);
	id = find_open(1, -1, false)->id;
	assert_int_equal(event_set_index(set, id), 1);
	refresh("0,2", 0, 1);
	assert_int_equal(event_set_index(set, id), -1);
	assert_null(event_set_cpu(set, 1)->samples);
	assert_null(event_set_cpu(set, 1)->metadata);
	assert_int_equal(event_set_cpu(set, 1)->metadata_fd, -1);
	assert_int_equal(count_open(-1, 1, 0), 0);
	assert_int_equal(info.nr_cpus_open, 2);
	refresh("0-3", 2, 0);
	assert_int_equal(info.nr_cpus_open, 4);
	assert_non_null(event_set_cpu(set, 1)->samples);
	again = find_open(1, -1, false);
	assert_int_equal(again->nr_enabled, 1);
	assert_int_equal(event_set_index(set, again->id), 1);
	assert_int_equal(fake.nr_rings, 8);
}

static void test_fc102_a_cpu_that_went_and_returned_unseen(void **state)
{
	(void)state;
	add_named("cycles", 0);
	must_open();
	assert_int_equal(event_set_enable(set, &err), 0);
	assert_false(event_set_has_dead_cpus(set));
	spin_ms(25);
	assert_false(event_set_has_dead_cpus(set));
	fake.stopped_cpu = 1;
	spin_ms(25);
	(void)event_set_has_dead_cpus(set); /* time went backwards: the fake's */
	spin_ms(25);
	assert_true(event_set_has_dead_cpus(set));
	fake.stopped_cpu = -1;
	refresh("0-1", 1, 1);
	assert_int_equal(info.nr_cpus_open, 2);
	assert_int_equal(find_open(1, -1, false)->nr_enabled, 1);
	assert_false(event_set_has_dead_cpus(set));
	refresh("0-1", 0, 0);
}

static void test_events_that_are_disabled_are_not_dead(void **state)
{
	(void)state;
	add_named("cycles", 0);
	must_open();
	fake.stopped_cpu = 1;
	assert_int_equal(event_set_enable(set, &err), 0);
	assert_false(event_set_has_dead_cpus(set));
	assert_int_equal(event_set_disable(set, &err), 0);
	spin_ms(25);
	assert_false(event_set_has_dead_cpus(set));
	assert_int_equal(event_set_enable(set, &err), 0);
	assert_false(event_set_has_dead_cpus(set));
}

static void test_fc102_a_cpu_that_goes_again_while_it_is_opened(void **state)
{
	(void)state;
	set_cpus("0", "0-3");
	add_named("cycles", 0);
	must_open();
	fake.offline_cpu = 1;
	refresh("0-1", 0, 0);
	fake.offline_cpu = -1;
	refresh("0-1", 1, 0);
}

static void test_fc102_events_of_tasks_survive_and_new_cpus_get_all_threads(void **state)
{
	(void)state;
	set_cpus("0-1", "0-3");
	fixture_process(PID, 1, 0, 1);
	watch_processes(PID, 0);
	add_named("cycles", 0);
	must_open();
	fixture_process(PID, 1, 0, 2);
	refresh("0,2", 1, 0);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 1, PID), 1);
	/* On CPU 2 nobody could inherit; on CPU 1 the new thread has. */
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 2, PID + 1), 1);
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, 1, PID + 1), 0);
}

static void test_target_is_gone_when_all_its_processes_are(void **state)
{
	int fds[2];
	pid_t child;
	char byte;

	(void)state;
	options.proc = "/proc";
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		close(fds[1]);
		_exit((int)read(fds[0], &byte, 1));
	}
	close(fds[0]);
	watch_processes((uint32_t)child, PID);
	add_named("cycles", 0);
	must_open();
	assert_false(event_set_target_gone(set));
	close(fds[1]);
	/* Ended, but nobody waited for it: that is gone too, unless there are heirs. */
	assert_int_equal(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
	assert_false(event_set_target_gone(set));
	for (size_t i = 0; i < fake.nr_opens; i++) {
		/* Its threads too: sanitizers start one. Carriers are ours. */
		if (fake.opens[i].pid > 0 && fake.opens[i].pid != getpid() &&
		    fake_is_open(&fake.opens[i]))
			fake_hang_up(fake.opens[i].fd);
	}
	assert_true(event_set_target_gone(set));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(event_set_target_gone(set));
}

static void test_the_machine_is_never_gone(void **state)
{
	(void)state;
	add_named("cycles", 0);
	must_open();
	assert_false(event_set_target_gone(set));
}

static void test_no_event_is_refused(void **state)
{
	(void)state;
	assert_int_equal(open_set(), -EINVAL);
}

#define REAL_TEST(name) cmocka_unit_test_setup_teardown(name, setup_real, teardown_real)

/* The real kernel. */

static int setup_real(void **state)
{
	setup(state);
	event_kernel = &event_kernel_real;
	options.proc = "/proc";
	assert_int_equal(cpumap_init(&cpumap, "/sys", &err), 0);
	add_default();
	add_event("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	return 0;
}

static int teardown_real(void **state)
{
	cpumap_release(&cpumap);
	return teardown(state);
}

static void open_real(void)
{
	int ret = open_set();

	if (ret == -EPERM || ret == -EACCES || ret == -ENOSYS) {
		print_message("%s\n", err.text);
		skip();
	}
	if (ret)
		fail_msg("%s", err.text);
	assert_int_equal(event_set_enable(set, &err), 0);
}

/* Samples of @pid (0: any) that wait on @cpu (-1: all). */
static size_t read_samples(int cpu, uint32_t pid, uint64_t since_ns)
{
	struct ring_buffer buffer = { 0 };
	const struct perf_event_header *header;
	size_t nr = 0;

	for (size_t i = 0; i < event_set_nr_cpus(set); i++) {
		struct cpu_rings *rings = event_set_cpu(set, i);

		if (!rings->samples || (cpu >= 0 && rings->cpu != (uint32_t)cpu))
			continue;
		ring_read(rings->samples, &buffer);
		while ((header = ring_next(rings->samples))) {
			struct sample sample;

			if (header->type != PERF_RECORD_SAMPLE)
				continue;
			assert_true(record_decode_sample(event_set_sample_format(set), header,
							 &sample));
			assert_true(event_set_index(set, sample.id) >= 0);
			/* The events' clock is ours. */
			assert_true(sample.time <= clock_now_ns());
			nr += (pid == 0 || sample.pid == pid) && sample.time >= since_ns;
		}
	}
	ring_buffer_release(&buffer);
	return nr;
}

static void test_real_kernel_samples_us(void **state)
{
	uint64_t start_ns = clock_now_ns();

	(void)state;
	open_real();
	spin_ms(100);
	assert_true(read_samples(-1, (uint32_t)getpid(), start_ns) > 10);
	assert_int_equal(event_set_disable(set, &err), 0);
}

static void test_real_kernel_tells_of_a_process_that_starts(void **state)
{
	struct ring_buffer buffer = { 0 };
	const struct perf_event_header *header;
	bool has_fork = false;
	pid_t child;

	(void)state;
	open_real();
	child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	for (size_t i = 0; i < event_set_nr_cpus(set); i++) {
		struct cpu_rings *rings = event_set_cpu(set, i);

		if (!rings->metadata)
			continue;
		ring_read(rings->metadata, &buffer);
		while ((header = ring_next(rings->metadata))) {
			struct record record;

			has_fork = has_fork || (record_decode(event_set_metadata_format(set),
							      header, &record) == RECORD_OK &&
						record.type == PERF_RECORD_FORK &&
						record.task.pid == (uint32_t)child);
		}
	}
	ring_buffer_release(&buffer);
	assert_true(has_fork || info.own_processes_only);
}

static void test_real_kernel_follows_children_of_a_process(void **state)
{
	uint64_t start_ns = clock_now_ns();
	pid_t child;

	(void)state;
	watch_processes((uint32_t)getpid(), 0);
	open_real();
	child = fork();
	if (child == 0) {
		spin_ms(50);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(read_samples(-1, (uint32_t)child, start_ns) > 5);
}

static void test_real_kernel_enables_a_command_at_its_exec(void **state)
{
	uint64_t start_ns = clock_now_ns();
	int fds[2];
	char byte;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	ids[0] = (uint32_t)fork();
	if (ids[0] == 0) {
		close(fds[1]);
		spin_ms(20);
		if (read(fds[0], &byte, 1) == 0)
			execl("/bin/sh", "sh", "-c",
			      "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done",
			      (char *)NULL);
		_exit(1);
	}
	close(fds[0]);
	target.kind = TARGET_COMMAND;
	target.ids = ids;
	target.nr_ids = 1;
	open_real();
	assert_int_equal(read_samples(-1, ids[0], start_ns), 0);
	close(fds[1]);
	assert_int_equal(waitpid((pid_t)ids[0], NULL, 0), (pid_t)ids[0]);
	assert_true(read_samples(-1, ids[0], start_ns) > 0);
	assert_true(event_set_target_gone(set));
}

static bool switch_cpu1(const char *state)
{
	FILE *file = fopen("/sys/devices/system/cpu/cpu1/online", "we");

	if (!file)
		return false;
	fputs(state, file);
	return fclose(file) == 0;
}

static void need_cpu1(void)
{
	if (getenv("SYMTOP_TEST_ALONE") && cpuset_has(&cpumap.online, 1))
		return;
	print_message("needs SYMTOP_TEST_ALONE=1 and a CPU 1: switches it off and on\n");
	skip();
}

static size_t samples_of_cpu1(void)
{
	cpu_set_t old;
	cpu_set_t cpu1;
	uint64_t start_ns = clock_now_ns();

	CPU_ZERO(&cpu1);
	CPU_SET(1, &cpu1);
	assert_int_equal(sched_getaffinity(0, sizeof(old), &old), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(cpu1), &cpu1), 0);
	spin_ms(50);
	assert_int_equal(sched_setaffinity(0, sizeof(old), &old), 0);
	return read_samples(1, (uint32_t)getpid(), start_ns);
}

static void test_fc102_real_cpu_returns(void **state)
{
	unsigned int nr_opened;
	unsigned int nr_closed = 0;
	bool changed;
	int ret;

	(void)state;
	need_cpu1();
	open_real();
	assert_true(samples_of_cpu1() > 5);
	if (!switch_cpu1("0")) {
		print_message("CPU 1 cannot be switched off\n");
		skip();
	}
	ret = cpumap_refresh_online(&cpumap, "/sys", &changed, &err);
	if (!ret)
		ret = event_set_refresh_cpus(set, &cpumap, &nr_opened, &nr_closed, &err);
	assert_true(switch_cpu1("1"));
	assert_int_equal(ret, 0);
	assert_int_equal(nr_closed, 1);
	assert_int_equal(cpumap_refresh_online(&cpumap, "/sys", &changed, &err), 0);
	assert_int_equal(event_set_refresh_cpus(set, &cpumap, &nr_opened, &nr_closed, &err), 0);
	assert_int_equal(nr_opened, 1);
	assert_true(samples_of_cpu1() > 5);
	/* Off and on between two looks. */
	assert_false(event_set_has_dead_cpus(set));
	assert_true(switch_cpu1("0"));
	assert_true(switch_cpu1("1"));
	spin_ms(100);
	assert_true(event_set_has_dead_cpus(set));
	assert_int_equal(event_set_refresh_cpus(set, &cpumap, &nr_opened, &nr_closed, &err), 0);
	assert_int_equal(nr_opened, 1);
	assert_true(samples_of_cpu1() > 5);
}

static void test_fc102_real_task_events_survive(void **state)
{
	(void)state;
	need_cpu1();
	watch_processes((uint32_t)getpid(), 0);
	open_real();
	assert_true(samples_of_cpu1() > 5);
	if (!switch_cpu1("0")) {
		print_message("CPU 1 cannot be switched off\n");
		skip();
	}
	assert_true(switch_cpu1("1"));
	assert_true(samples_of_cpu1() > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_enable_and_disable_reach_every_event),
		TEST(test_nothing_stays_open),
		TEST(test_fc101_a_cpu_that_is_gone_is_skipped),
		TEST(test_fc101_default_event_survives_a_cpu_that_is_gone),
		TEST(test_fc101_all_cpus_gone_is_an_error),
		TEST(test_named_cpus_only),
		TEST(test_named_cpus_that_are_all_offline),
		TEST(test_cpus_that_are_not_sampled_have_metadata),
		TEST(test_tasks_have_metadata_on_cpus_that_are_not_sampled),
		TEST(test_events_of_some_cpus_only),
		TEST(test_a_cpu_without_the_event_keeps_the_others),
		TEST(test_a_cpu_without_any_of_the_events_has_metadata_only),
		TEST(test_fc102_a_cpu_that_returns_is_opened_again),
		TEST(test_fc102_a_cpu_that_went_and_returned_unseen),
		TEST(test_events_that_are_disabled_are_not_dead),
		TEST(test_fc102_a_cpu_that_goes_again_while_it_is_opened),
		TEST(test_fc102_events_of_tasks_survive_and_new_cpus_get_all_threads),
		TEST(test_target_is_gone_when_all_its_processes_are),
		TEST(test_the_machine_is_never_gone),
		TEST(test_no_event_is_refused),
		REAL_TEST(test_real_kernel_samples_us),
		REAL_TEST(test_real_kernel_tells_of_a_process_that_starts),
		REAL_TEST(test_real_kernel_follows_children_of_a_process),
		REAL_TEST(test_real_kernel_enables_a_command_at_its_exec),
		REAL_TEST(test_fc102_real_cpu_returns),
		REAL_TEST(test_fc102_real_task_events_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
