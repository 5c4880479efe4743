/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/event.c and core/event_name.c: names, modifiers, lists and groups. */
#include "config.h"

#include "core/event.h"

#include "tests/event_fixture.h"

/* ---- names ---- */

static void test_generic_names_are_the_kernels(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} cases[] = {
		{ "cycles", 0, 0 },
		{ "cpu-cycles", 0, 0 },
		{ "instructions", 0, 1 },
		{ "cache-references", 0, 2 },
		{ "cache-misses", 0, 3 },
		{ "branches", 0, 4 },
		{ "branch-instructions", 0, 4 },
		{ "branch-misses", 0, 5 },
		{ "bus-cycles", 0, 6 },
		{ "stalled-cycles-frontend", 0, 7 },
		{ "stalled-cycles-backend", 0, 8 },
		{ "ref-cycles", 0, 9 },
		{ "cpu-clock", 1, 0 },
		{ "task-clock", 1, 1 },
		{ "page-faults", 1, 2 },
		{ "faults", 1, 2 },
		{ "context-switches", 1, 3 },
		{ "cs", 1, 3 },
		{ "cpu-migrations", 1, 4 },
		{ "migrations", 1, 4 },
		{ "minor-faults", 1, 5 },
		{ "major-faults", 1, 6 },
		{ "alignment-faults", 1, 7 },
		{ "emulation-faults", 1, 8 },
		{ "dummy", 1, 9 },
		{ "bpf-output", 1, 10 },
		{ "cgroup-switches", 1, 11 },
		{ "L1-dcache-loads", 3, 0 },
		{ "L1-dcache-load-misses", 3, 0x10000 },
		{ "L1-dcache-stores", 3, 0x100 },
		{ "L1-dcache-prefetches", 3, 0x200 },
		{ "L1-icache-load-misses", 3, 0x10001 },
		{ "LLC-loads", 3, 2 },
		{ "LLC-store-misses", 3, 0x10102 },
		{ "dTLB-loads", 3, 3 },
		{ "dtlb-load-misses", 3, 0x10003 },
		{ "iTLB-load-misses", 3, 0x10004 },
		{ "branch-loads", 3, 5 },
		{ "branch-load-misses", 3, 0x10005 },
		{ "node-prefetch-misses", 3, 0x10206 },
		{ "r1a8", 4, 0x1a8 },
		{ "r0x1A8", 4, 0x1a8 },
		{ "rffffffffffffffff", 4, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct event *event = one(cases[i].name);

		assert_string_equal(event->name, cases[i].name);
		assert_int_equal(event->attr.type, cases[i].type);
		assert_int_equal(event->attr.config, cases[i].config);
		assert_int_equal(event->attr.size, sizeof(event->attr));
		assert_int_equal(event->group, -1);
		assert_true(event->named_by_user);
		assert_false(event->user_excludes);
		assert_false(event->has_cpus);
		assert_true(event->scale == 1.0);
	}
}

static void test_names_that_are_none_are_refused(void **state)
{
	static const char *const names[] = {
		"cycle5",
		"r",
		"r0x",
		"r0x0x1",
		"rxyz",
		"rfffffffffffffffff",
		"iTLB-stores",
		"L1-icache-stores",
		"L1-dcache",
		"L1-dcache-",
		"L1-dcache-load-miss",
		"Cycles",
		"..",
		".",
		"-",
		"*",
		"\xff\x01",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		refuse(names[i], -ENOENT, names[i]);
}

static void test_wrong_name_gets_near_ones(void **state)
{
	(void)state;
	refuse("cycels:u", -ENOENT, "did you mean cycles?");
	refuse("instruction", -ENOENT, "instructions");
	refuse("branch-mises", -ENOENT, "branch-misses");
	refuse("l1-dcache-load-mises", -ENOENT, "L1-dcache-load-misses");
	refuse("tsc", -ENOENT, "did you mean msr/tsc/?");
	refuse("sched_switch", -ENOENT, "sched:sched_switch");
	refuse("LLC", -ENOENT, "LLC-");
	refuse("zzzzzzzzzz", -ENOENT, "unknown event 'zzzzzzzzzz'");
	assert_null(strstr(err.text, "did you mean"));
}

static void test_name_of_any_length_is_refused(void **state)
{
	char *name = malloc(100000);

	(void)state;
	assert_non_null(name);
	memset(name, 'x', 99999);
	name[99999] = '\0';
	assert_int_equal(add(name), -ENOENT);
	memcpy(name, "sched:", 6);
	assert_int_equal(add(name), -ENOENT);
	memcpy(name, "cpu/xx", 6);
	assert_int_equal(add(name), -EINVAL);
	name[99998] = '/';
	assert_int_equal(add(name), -ENOENT);
	free(name);
}

/* ---- modifiers ---- */

static void test_levels_named_exclude_the_others(void **state)
{
	const struct event *event = one("cycles:u");

	(void)state;
	assert_true(event->user_excludes);
	assert_false(event->attr.exclude_user);
	assert_true(event->attr.exclude_kernel);
	assert_true(event->attr.exclude_hv);
	assert_string_equal(event->name, "cycles:u");
	event = one("cycles:uk");
	assert_false(event->attr.exclude_user);
	assert_false(event->attr.exclude_kernel);
	assert_true(event->attr.exclude_hv);
	event = one("cycles:hk");
	assert_true(event->attr.exclude_user);
	assert_false(event->attr.exclude_hv);
}

static void test_guest_and_host_exclude_each_other(void **state)
{
	const struct event *event = one("cycles:G");

	(void)state;
	assert_true(event->attr.exclude_host);
	assert_false(event->attr.exclude_guest);
	assert_false(event->user_excludes);
	event = one("cycles:H");
	assert_false(event->attr.exclude_host);
	assert_true(event->attr.exclude_guest);
	event = one("cycles:GH");
	assert_false(event->attr.exclude_host);
	assert_false(event->attr.exclude_guest);
	event = one("cycles");
	assert_false(event->attr.exclude_host);
	assert_false(event->attr.exclude_guest);
}

static void test_other_modifiers_set_their_flag(void **state)
{
	const struct event *event;

	(void)state;
	assert_int_equal(one("cycles")->attr.precise_ip, 0);
	assert_int_equal(one("cycles:p")->attr.precise_ip, 1);
	assert_int_equal(one("cycles:upp")->attr.precise_ip, 2);
	assert_int_equal(one("cycles:ppp")->attr.precise_ip, 3);
	event = one("cycles:PDe");
	assert_true(event->precise_max);
	assert_int_equal(event->attr.precise_ip, 0);
	assert_true(event->attr.pinned);
	assert_true(event->attr.exclusive);
	assert_false(event->weak);
	assert_true(one("cycles:W")->weak);
}

static void test_wrong_modifiers_are_named(void **state)
{
	(void)state;
	refuse("cycles:ux", -EINVAL, "unknown modifier 'x'");
	refuse("cycles:pppp", -EINVAL, "more than three");
	refuse("cycles:S", -EINVAL, "not supported");
	refuse("cycles:", -EINVAL, "after the ':'");
	refuse("cycles:u:k", -EINVAL, "':'");
	refuse("cpu/mem-loads/x", -EINVAL, "unknown modifier 'x'");
	refuse("sched:sched_switch:Z", -EINVAL, "unknown modifier 'Z'");
	refuse("{cycles}:Z", -EINVAL, "unknown modifier 'Z'");
}

/* ---- lists and groups ---- */

static void test_groups_are_numbered(void **state)
{
	(void)state;
	assert_int_equal(add("cs,{cycles,instructions:k}:u,{r1 , cpu/event=1,umask=2/},faults"), 0);
	assert_int_equal(list.nr, 6);
	assert_int_equal(list.events[0].group, -1);
	assert_int_equal(list.events[1].group, 0);
	assert_int_equal(list.events[2].group, 0);
	assert_int_equal(list.events[3].group, 1);
	assert_int_equal(list.events[4].group, 1);
	assert_int_equal(list.events[5].group, -1);
	assert_string_equal(list.events[1].name, "cycles:u");
	assert_true(list.events[1].attr.exclude_kernel);
	/* Its own k and the group's u: both. */
	assert_string_equal(list.events[2].name, "instructions:ku");
	assert_false(list.events[2].attr.exclude_kernel);
	assert_false(list.events[2].attr.exclude_user);
	assert_true(list.events[2].attr.exclude_hv);
	/* A later -e goes on counting. */
	assert_int_equal(add("{cs,faults}:W"), 0);
	assert_int_equal(list.events[6].group, 2);
	assert_int_equal(list.events[7].group, 2);
	assert_true(list.events[7].weak);
}

static void test_only_the_leader_of_a_group_is_pinned(void **state)
{
	(void)state;
	assert_int_equal(add("{cycles,sched:sched_wakeup*}:DeP"), 0);
	assert_int_equal(list.nr, 3);
	assert_true(list.events[0].attr.pinned);
	assert_true(list.events[0].attr.exclusive);
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(list.events[i].group, 0);
		assert_false(list.events[i].attr.pinned);
		assert_false(list.events[i].attr.exclusive);
		assert_true(list.events[i].precise_max);
	}
	refuse("{cycles,cs:D}", -EINVAL, "first event of a group");
}

static void test_broken_lists_are_refused(void **state)
{
	(void)state;
	refuse("", -EINVAL, "an event is missing");
	refuse(" ", -EINVAL, "an event is missing");
	refuse(",", -EINVAL, "an event is missing");
	refuse("cycles,", -EINVAL, "an event is missing");
	refuse("cycles,,cs", -EINVAL, "an event is missing before ',cs'");
	refuse("{}", -EINVAL, "an event is missing before '}'");
	refuse("{cycles", -EINVAL, "'}' is missing");
	refuse("{", -EINVAL, "'}' is missing");
	refuse("{cycles,{cs}}", -EINVAL, "do not nest");
	refuse("{cycles,}", -EINVAL, "an event is missing");
	refuse("{cycles}x", -EINVAL, "unknown modifier 'x'");
	refuse("{cycles}:", -EINVAL, "after the ':'");
	refuse("{cycles} cs", -EINVAL, "a ',' is missing before 'cs'");
	refuse("cycles}", -EINVAL, "a ',' is missing before '}'");
	refuse("cs{cycles}", -EINVAL, "a ',' is missing before '{");
	refuse(":u", -EINVAL, "has no name");
	refuse("cpu/event=1,cycles", -EINVAL, "second '/' is missing");
}

static void test_failure_leaves_the_list_as_it_was(void **state)
{
	(void)state;
	assert_int_equal(add("cycles,{cs,faults}"), 0);
	assert_int_equal(add("instructions,sched:*,nonsense"), -ENOENT);
	assert_int_equal(list.nr, 3);
	assert_string_equal(list.events[0].name, "cycles");
	assert_string_equal(list.events[2].name, "faults");
}

static void test_every_cut_of_a_long_list_is_safe(void **state)
{
	static const char text[] = "{cycles:up,cpu/event=0xfff,edge/P}:kD, sched:sched_w*:H,"
				   "uncore_imc_0/reads/,L1-dcache-loads,r0x1f:GH";
	char part[sizeof(text)];

	(void)state;
	for (size_t from = 0; from < sizeof(text); from++) {
		for (size_t len = 0; from + len < sizeof(text); len++) {
			int ret;

			snprintf(part, sizeof(part), "%.*s", (int)len, text + from);
			event_list_release(&list);
			ret = add(part);
			assert_true(ret == 0 ? list.nr > 0 : list.nr == 0 && err.text[0]);
		}
	}
}

/* ---- the rest ---- */

static void test_default_event_is_precise_cycles(void **state)
{
	(void)state;
	event_list_add_default(&list);
	assert_int_equal(list.nr, 1);
	assert_string_equal(list.events[0].name, "cycles:P");
	assert_int_equal(list.events[0].attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(list.events[0].attr.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(list.events[0].attr.size, sizeof(struct perf_event_attr));
	assert_true(list.events[0].precise_max);
	assert_false(list.events[0].named_by_user);
	assert_int_equal(list.events[0].group, -1);
}

static void test_event_becomes_cpu_clock_with_its_levels(void **state)
{
	struct event *event;

	(void)state;
	assert_int_equal(add("mem-loads:uPpp"), 0);
	event = &list.events[0];
	event_become_cpu_clock(event);
	assert_string_equal(event->name, "cpu-clock:u");
	assert_int_equal(event->attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(event->attr.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(event->attr.config1, 0);
	assert_int_equal(event->attr.precise_ip, 0);
	assert_false(event->precise_max);
	assert_false(event->attr.exclude_user);
	assert_true(event->attr.exclude_kernel);
	event_list_release(&list);
	event_list_add_default(&list);
	event_become_cpu_clock(&list.events[0]);
	assert_string_equal(list.events[0].name, "cpu-clock");
	assert_false(list.events[0].named_by_user);
}

struct names_seen {
	size_t nr, nr_pmu, nr_tracepoint, nr_unsorted;
	char last[256];
	bool cycles, tsc;
};

static void see_name(void *arg, const char *name, const char *kind)
{
	struct names_seen *seen = arg;

	seen->nr++;
	seen->nr_pmu += !strcmp(kind, "pmu");
	seen->nr_tracepoint += !strcmp(kind, "tracepoint");
	seen->nr_unsorted += strcmp(seen->last, name) >= 0;
	seen->cycles |= !strcmp(name, "cycles") && !strcmp(kind, "hardware");
	seen->tsc |= !strcmp(name, "msr/tsc/") && !strcmp(kind, "pmu");
	snprintf(seen->last, sizeof(seen->last), "%s", name);
}

static void test_list_is_sorted_and_each_name_is_understood(void **state)
{
	struct names_seen seen = { 0 };

	(void)state;
	event_parser_list(parser, see_name, &seen);
	assert_int_equal(seen.nr_unsorted, 0);
	assert_int_equal(seen.nr_pmu, 4 + 1 + 1); /* neither .scale nor .unit */
	assert_int_equal(seen.nr_tracepoint, 3 + 2);
	assert_true(seen.cycles);
	assert_true(seen.tsc);
}

static void add_name(void *arg, const char *name, const char *kind)
{
	(void)arg;
	if (strcmp(name, "irq:broken") && strcmp(name, "cpu/by-core/")) {
		if (add(name) < 0)
			fail_msg("%s (%s): %s", name, kind, err.text);
	}
}

static void test_every_listed_name_can_be_given(void **state)
{
	(void)state;
	event_parser_list(parser, add_name, NULL);
	assert_true(list.nr > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_generic_names_are_the_kernels),
		CASE(test_names_that_are_none_are_refused),
		CASE(test_wrong_name_gets_near_ones),
		CASE(test_name_of_any_length_is_refused),
		CASE(test_levels_named_exclude_the_others),
		CASE(test_guest_and_host_exclude_each_other),
		CASE(test_other_modifiers_set_their_flag),
		CASE(test_wrong_modifiers_are_named),
		CASE(test_groups_are_numbered),
		CASE(test_only_the_leader_of_a_group_is_pinned),
		CASE(test_broken_lists_are_refused),
		CASE(test_failure_leaves_the_list_as_it_was),
		CASE(test_every_cut_of_a_long_list_is_safe),
		CASE(test_default_event_is_precise_cycles),
		CASE(test_event_becomes_cpu_clock_with_its_levels),
		CASE(test_list_is_sorted_and_each_name_is_understood),
		CASE(test_every_listed_name_can_be_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
