/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of core/event_*.c share: one set on the fake kernel, opened with
 * what the test puts into these variables, and looked at from both sides.
 *
 * Include cmocka.h before.
 */
#ifndef SYMTOP_TESTS_EVENT_SET_FIXTURE_H
#define SYMTOP_TESTS_EVENT_SET_FIXTURE_H

#include "core/base/clock.h"
#include "tests/event_kernel_fake.h"

/* No process has such an id: kill(2) of it does nothing. */
#define PID 5000000

static struct event events[300];
static struct event_list list;
static struct target target;
static struct event_set_options options;
static struct cpumap cpumap;
static struct event_set *set;
static struct event_set_info info;
static struct err err;
static uint32_t ids[4];

static inline void set_cpus(const char *online, const char *possible)
{
	memset(&cpumap, 0, sizeof(cpumap));
	assert_int_equal(cpuset_parse(online, &cpumap.online, NULL), 0);
	assert_int_equal(cpuset_parse(possible, &cpumap.possible, NULL), 0);
	cpumap.nr_online = cpuset_nr(&cpumap.online);
	cpumap.nr_possible = cpuset_nr(&cpumap.possible);
}

/* @nr software events that are alone. */
static inline void add_clocks(size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		fixture_event(&events[list.nr++], "cpu-clock", PERF_TYPE_SOFTWARE,
			      PERF_COUNT_SW_CPU_CLOCK);
		events[list.nr - 1].named_by_user = true;
	}
	list.events = events;
}

static inline void add_event(const char *name, uint32_t type, uint64_t config)
{
	fixture_event(&events[list.nr++], name, type, config);
	list.events = events;
}

/* The default event: cycles:P, not named by the user. */
static inline void add_default(void)
{
	add_event("cycles:P", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	events[list.nr - 1].precise_max = true;
}

static inline void add_named(const char *name, uint64_t config)
{
	add_event(name, PERF_TYPE_HARDWARE, config);
	events[list.nr - 1].named_by_user = true;
}

static inline void watch_processes(uint32_t first, uint32_t second)
{
	ids[0] = first;
	ids[1] = second;
	target.kind = TARGET_PROCESSES;
	target.ids = ids;
	target.nr_ids = second ? 2 : 1;
}

static inline void be_ordinary_user(void)
{
	fake.euid = 1000;
	fake.has_capabilities = false;
	fake.no_machine_rights = true;
	fake.no_kernel_rights = true;
}

static inline int setup(void **state)
{
	(void)state;
	fake_start();
	fixture_start();
	memset(&list, 0, sizeof(list));
	memset(&target, 0, sizeof(target));
	memset(&err, 0, sizeof(err));
	options = (struct event_set_options){
		.freq = 4000,
		.callchain_kernel = true,
		.callchain_user = true,
		.overwrite = true,
		.drain_ns = 2 * NSEC_PER_SEC,
		.proc = fixture_proc,
		.sysfs = "/sys",
	};
	set = NULL;
	set_cpus("0-1", "0-1");
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	event_set_close(set);
	assert_int_equal(fake.nr_rings, 0);
	for (size_t i = 0; i < list.nr; i++)
		free(events[i].name);
	fixture_stop();
	fake_stop();
	return 0;
}

static inline int open_set(void)
{
	int ret = event_set_open(&list, &target, &cpumap, &options, &set, &err);

	if (ret)
		assert_int_equal(err.code, ret);
	else
		event_set_get_info(set, &info);
	return ret;
}

static inline void must_open(void)
{
	if (open_set())
		fail_msg("%s", err.text);
}

static inline bool has_note(const char *part)
{
	for (size_t i = 0; event_set_note(set, i); i++) {
		if (strstr(event_set_note(set, i), part))
			return true;
	}
	return false;
}

static inline size_t nr_notes(void)
{
	size_t nr = 0;

	while (event_set_note(set, nr))
		nr++;
	return nr;
}

/* Still open descriptors of the fake that meet all of what is given (-1, 0: anything). */
static inline size_t count_open(int type, int cpu, pid_t pid)
{
	size_t nr = 0;

	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];

		if (!fake_is_open(call))
			continue;
		nr += (type < 0 || (int)call->attr.type == type) && (cpu < 0 || call->cpu == cpu) &&
		      (pid == 0 || call->pid == pid);
	}
	return nr;
}

/* The open event of @type (and of @pid, when not 0) on @cpu; a dummy with @dummy. */
static inline struct fake_open *find_open(int cpu, pid_t pid, bool dummy)
{
	for (size_t i = fake.nr_opens; i-- > 0;) {
		struct fake_open *call = &fake.opens[i];
		bool is_dummy = call->attr.type == PERF_TYPE_SOFTWARE &&
				call->attr.config == PERF_COUNT_SW_DUMMY;

		if (fake_is_open(call) && call->cpu == cpu && is_dummy == dummy &&
		    (pid == 0 || call->pid == pid))
			return call;
	}
	print_error("nothing is open on CPU %d\n", cpu);
	abort();
}

static inline void spin_ms(unsigned int ms)
{
	uint64_t end_ns = clock_thread_cpu_ns() + ms * NSEC_PER_MSEC;

	while (clock_thread_cpu_ns() < end_ns)
		;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif /* SYMTOP_TESTS_EVENT_SET_FIXTURE_H */
