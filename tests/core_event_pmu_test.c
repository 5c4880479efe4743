/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/event_pmu.c and core/event_tracepoint.c: sysfs and tracefs, hostile ones too. */
#include "config.h"

#include "core/event.h"

#include "tests/event_fixture.h"

static void put_fifo(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	make_folders(path);
	unlink(path);
	assert_int_equal(mkfifo(path, 0644), 0);
}

/* Performance and efficiency cores. */
static int set_up_hybrid(void **state)
{
	(void)state;
	if (set_up_root() < 0)
		return -1;
	put_cpu_pmu("cpu_core", "4\n");
	put_cpu_pmu("cpu_atom", "10\n");
	put(DEVICES "cpu_core/cpus", "0-7\n");
	put(DEVICES "cpu_atom/cpus", "8-11\n");
	put(DEVICES "cpu_atom/events/atom-only", "event=0x77\n");
	put_tracepoints();
	make_parser();
	return 0;
}

#define HYBRID(name) cmocka_unit_test_setup_teardown(name, set_up_hybrid, tear_down)

/* ---- PMUs ---- */

static void test_terms_fill_the_bits_of_their_format(void **state)
{
	static const struct {
		const char *text;
		uint64_t config, config1, config2;
	} cases[] = {
		{ "cpu/event=0x3c/", 0x3c, 0, 0 },
		{ "cpu/event=60/", 0x3c, 0, 0 },
		{ "cpu/event=0xfff,umask=0x1/", 0xf000001ffULL, 0, 0 },
		{ "cpu/event=0xa8,umask=0x1,cmask=0x1,edge/", 0x10401a8, 0, 0 },
		{ "cpu/ event=1 , edge /", 0x40001, 0, 0 },
		{ "cpu/edge=0,event=1/", 1, 0, 0 },
		{ "cpu/ldlat=30,other=0xf/", 0, 30, 0xf0 },
		{ "cpu/offcore_rsp=0xffffffffffffffff/", 0, UINT64_MAX, 0 },
		{ "cpu/config=0x11,config1=2,config2=3/", 0x11, 2, 3 },
		{ "cpu/mem-loads/", 0x1cd, 3, 0 },
		{ "cpu/mem-loads,ldlat=0x40/", 0x1cd, 0x40, 0 },
		{ "cpu/event=0xff,event=0x01/", 0x01, 0, 0 },
		{ "cpu/by-core,cmask=5/", 0x5000010, 0, 0 },
		{ "cpu/topdown.slots/", 0x400, 0, 0 },
		{ "cpu/r1a8,ldlat=1/", 0x1a8, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct event *event = one(cases[i].text);

		assert_int_equal(event->attr.type, 4);
		assert_int_equal(event->attr.config, cases[i].config);
		assert_int_equal(event->attr.config1, cases[i].config1);
		assert_int_equal(event->attr.config2, cases[i].config2);
		assert_string_equal(event->name, cases[i].text);
	}
}

static void test_modifiers_follow_the_slash(void **state)
{
	(void)state;
	assert_int_equal(one("cpu/mem-loads/ppu")->attr.precise_ip, 2);
	assert_string_equal(list.events[0].name, "cpu/mem-loads/ppu");
	assert_true(list.events[0].attr.exclude_kernel);
	assert_true(one("cpu/mem-loads/:P")->precise_max);
}

static void test_events_of_the_core_need_no_pmu(void **state)
{
	const struct event *event = one("mem-loads:ppu");

	(void)state;
	assert_string_equal(event->name, "mem-loads:ppu");
	assert_int_equal(event->attr.type, 4);
	assert_int_equal(event->attr.config, 0x1cd);
	assert_int_equal(event->attr.config1, 3);
	assert_int_equal(event->attr.precise_ip, 2);
}

static void test_generic_names_are_known_in_the_core_pmu(void **state)
{
	const struct event *event = one("cpu/instructions/u");

	(void)state;
	assert_int_equal(event->attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(event->attr.config, PERF_COUNT_HW_INSTRUCTIONS);
	assert_true(event->attr.exclude_kernel);
	/* What sysfs has goes first. */
	assert_int_equal(one("cpu/cpu-cycles/")->attr.type, 4);
	assert_int_equal(one("cpu/r1a8/")->attr.config, 0x1a8);
	refuse("cpu/cpu-clock/", -ENOENT, "cpu-clock");
	refuse("msr/cycles/", -ENOENT, "cycles");
}

static void test_uncore_event_has_cpus_scale_and_unit(void **state)
{
	const struct event *event = one("uncore_imc_0/reads/");

	(void)state;
	assert_int_equal(event->attr.type, 12);
	assert_int_equal(event->attr.config, 4);
	assert_true(event->has_cpus);
	assert_int_equal(cpuset_nr(&event->cpus), 2);
	assert_true(cpuset_has(&event->cpus, 18));
	assert_true(event->scale > 6.1035e-5 && event->scale < 6.1036e-5);
	assert_string_equal(event->unit, "MiB");
	assert_int_equal(one("msr/tsc/")->attr.type, 9);
	assert_false(list.events[0].has_cpus);
}

static void test_wrong_pmu_parts_are_named(void **state)
{
	(void)state;
	refuse("cpi/event=1/", -ENOENT, "no PMU 'cpi'");
	assert_non_null(strstr(err.text, "did you mean cpu?"));
	refuse("cpu/evnet=1/", -ENOENT, "evnet");
	assert_non_null(strstr(err.text, "did you mean event?"));
	refuse("cpu/mem-load/", -ENOENT, "did you mean mem-loads?");
	refuse("cpu/event=0x1000/", -EINVAL, "does not fit its 12 bits");
	refuse("cpu/edge=2/", -EINVAL, "does not fit its 1 bits");
	refuse("cpu/event=x/", -EINVAL, "'x' is no value");
	refuse("cpu/event=-1/", -EINVAL, "'-1' is no value");
	refuse("cpu/event=0x1ffffffffffffffff/", -EINVAL, "is no value");
	refuse("cpu/event=/", -EINVAL, "is no value");
	refuse("cpu/event = 1/", -EINVAL, "' 1' is no value");
	refuse("cpu//", -EINVAL, "a term is missing");
	refuse("cpu/event=1,/", -EINVAL, "a term is missing");
	refuse("cpu/event=1", -EINVAL, "second '/' is missing");
	refuse("cpu/by-core/", -EINVAL, "add cmask=...");
	refuse("cpu/config3=1/", -ENOENT, "config3");
	refuse("/event=1/", -EINVAL, "has no name");
	refuse("../x/", -ENOENT, "no PMU '..'");
}

static void test_commas_between_slashes_do_not_separate(void **state)
{
	(void)state;
	assert_int_equal(add("cpu/event=1,umask=2/,cycles, cpu/event=3,umask=4/u ,r5"), 0);
	assert_int_equal(list.nr, 4);
	assert_int_equal(list.events[0].attr.config, 0x201);
	assert_int_equal(list.events[1].attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(list.events[2].attr.config, 0x403);
	assert_true(list.events[2].user_excludes);
	assert_int_equal(list.events[3].attr.config, 5);
}

static void test_hostile_sysfs_is_an_error_not_a_crash(void **state)
{
	static const char *const formats[] = {
		"",
		"config",
		"config:",
		"config:x",
		"config:64",
		"config:0-64",
		"config:7-0",
		"config:0-63,0",
		"config3:0-7",
		"config:-",
		"config:1-",
		"config:-1",
		"config:0-7,",
		"config:18446744073709551616",
		"config:0-18446744073709551615",
		":0-7",
		"\xff\xfe",
		"config:00000000000000000000000000000000000000000000000001",
		"config:0,,1",
	};
	char big[5000];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		put(DEVICES "odd/type", "20\n");
		put(DEVICES "odd/format/t", formats[i]);
		make_parser();
		refuse("odd/t=1/", -EINVAL, "cannot read");
	}
	memset(big, '7', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	put(DEVICES "odd/format/t", big);
	put(DEVICES "odd/format/folder/x", "");
	put_fifo(DEVICES "odd/format/fifo");
	put(DEVICES "odd/events/big", big);
	put(DEVICES "odd/events/loop", "loop");
	put(DEVICES "odd/events/alien", "nothing=1");
	put(DEVICES "odd/events/empty", "");
	put(DEVICES "odd/events/folder2/x", "");
	put_fifo(DEVICES "odd/events/fifo2");
	make_parser();
	refuse("odd/t=1/", -EINVAL, "cannot read");
	refuse("odd/folder=1/", -EINVAL, "cannot read");
	refuse("odd/big/", -EINVAL, "cannot read event");
	refuse("odd/folder2/", -EINVAL, "cannot read event");
	refuse("odd/loop/", -EINVAL, "'loop' that the PMU lacks");
	refuse("odd/alien/", -EINVAL, "'nothing' that the PMU lacks");
	refuse("odd/empty/", -EINVAL, "'' that the PMU lacks");
	refuse("odd/fifo2/", -EINVAL, "");
	refuse("odd/fifo=1/", -EINVAL, "cannot read");
}

static void test_hostile_type_scale_and_cpus(void **state)
{
	static const char *const types[] = { "",    "x",
					     "-1",  "4294967296",
					     "1 2", "99999999999999999999999999999999999999999" };
	static const char *const scales[] = { "", "x", "-1", "0", "nan", "inf", "1e300", "1,5" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		put(DEVICES "odd/type", types[i]);
		make_parser();
		assert_true(add("odd/config=1/") < 0);
		assert_non_null(strstr(err.text, "odd"));
	}
	put(DEVICES "odd/type", "21");
	put(DEVICES "odd/format/e", "config:0-7");
	put(DEVICES "odd/events/a", "e=1");
	put(DEVICES "odd/events/a.unit", "far too long for a unit of measure");
	put(DEVICES "odd/cpumask", "0-999999999999");
	for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
		put(DEVICES "odd/events/a.scale", scales[i]);
		make_parser();
		assert_true(one("odd/a/")->scale == 1.0);
		assert_string_equal(list.events[0].unit, "");
		assert_false(list.events[0].has_cpus);
	}
	put(DEVICES "file", "a file in place of a folder");
	put(DEVICES "typeless/x", "");
	put_fifo(DEVICES "piped/type");
	make_parser();
	assert_true(add("file/x/") < 0);
	assert_true(add("typeless/x/") < 0);
	assert_true(add("piped/x/") < 0);
}

static void test_machine_without_sysfs_has_generic_events(void **state)
{
	(void)state;
	event_parser_free(parser);
	parser = event_parser_new("/nonexistent", "/nonexistent");
	assert_int_equal(one("cycles:P")->attr.type, PERF_TYPE_HARDWARE);
	refuse("cpu/event=1/", -ENOENT, "no PMU");
	refuse("sched:sched_switch", -ENOENT, "/nonexistent/events");
	refuse("cycels:u", -ENOENT, "did you mean cycles?");
}

/* ---- hybrid ---- */

static void test_hybrid_generic_event_is_one_for_each_kind_of_core(void **state)
{
	(void)state;
	assert_int_equal(add("cycles:P"), 0);
	assert_int_equal(list.nr, 2);
	assert_string_equal(list.events[0].name, "cpu_atom/cycles/P");
	assert_int_equal(list.events[0].attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(list.events[0].attr.config, UINT64_C(10) << 32);
	assert_true(list.events[0].has_cpus);
	assert_int_equal(cpuset_nr(&list.events[0].cpus), 4);
	assert_true(list.events[0].precise_max);
	assert_string_equal(list.events[1].name, "cpu_core/cycles/P");
	assert_int_equal(list.events[1].attr.config, UINT64_C(4) << 32);
	assert_int_equal(cpuset_nr(&list.events[1].cpus), 8);
	event_list_release(&list);
	assert_int_equal(add("LLC-load-misses,r1c2"), 0);
	assert_int_equal(list.nr, 4);
	assert_int_equal(list.events[0].attr.config, UINT64_C(10) << 32 | 0x10002);
	assert_int_equal(list.events[2].attr.type, 10);
	assert_int_equal(list.events[3].attr.type, 4);
	assert_int_equal(list.events[3].attr.config, 0x1c2);
}

static void test_hybrid_event_of_one_kind_is_one(void **state)
{
	const struct event *event = one("cpu_core/cycles/u");

	(void)state;
	assert_int_equal(event->attr.config, UINT64_C(4) << 32);
	assert_int_equal(cpuset_nr(&event->cpus), 8);
	event = one("atom-only");
	assert_string_equal(event->name, "cpu_atom/atom-only/");
	assert_int_equal(event->attr.type, 10);
	assert_int_equal(one("cpu-clock")->has_cpus, false);
	assert_int_equal(one("cpu_atom/r1a/")->attr.type, 10);
}

static void test_hybrid_group_is_one_for_each_kind_of_core(void **state)
{
	(void)state;
	assert_int_equal(add("{cycles,instructions:u}:D,cs,{cycles,atom-only}"), 0);
	assert_int_equal(list.nr, 8);
	assert_int_equal(list.events[0].group, 0);
	assert_int_equal(list.events[1].group, 1);
	assert_int_equal(list.events[2].group, 0);
	assert_int_equal(list.events[3].group, 1);
	assert_int_equal(cpuset_nr(&list.events[0].cpus), cpuset_nr(&list.events[2].cpus));
	assert_true(list.events[0].attr.pinned);
	assert_true(list.events[1].attr.pinned);
	assert_false(list.events[2].attr.pinned);
	assert_false(list.events[3].attr.pinned);
	assert_int_equal(list.events[4].group, -1);
	assert_int_equal(list.events[5].group, 2);
	assert_int_equal(list.events[6].group, 3);
	assert_int_equal(list.events[7].group, 2);
	assert_string_equal(list.events[7].name, "cpu_atom/atom-only/");
}

/* ---- tracepoints ---- */

static void test_tracepoint_is_known_by_its_id(void **state)
{
	const struct event *event = one("sched:sched_switch");

	(void)state;
	assert_string_equal(event->name, "sched:sched_switch");
	assert_int_equal(event->attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(event->attr.config, 314);
	event = one("irq:softirq_entry:k");
	assert_string_equal(event->name, "irq:softirq_entry:k");
	assert_true(event->attr.exclude_user);
}

static void test_wildcard_gives_all_that_match(void **state)
{
	(void)state;
	assert_int_equal(add("sched:sched_wakeup*:k,cs"), 0);
	assert_int_equal(list.nr, 3);
	assert_string_equal(list.events[0].name, "sched:sched_wakeup:k");
	assert_string_equal(list.events[1].name, "sched:sched_wakeup_new:k");
	assert_int_equal(list.events[1].attr.config, 316);
	assert_true(list.events[1].attr.exclude_user);
	event_list_release(&list);
	assert_int_equal(add("sched:*"), 0);
	assert_int_equal(list.nr, 3); /* what has no id is none */
}

static void test_wrong_tracepoints_are_named(void **state)
{
	(void)state;
	refuse("sched:sched_swich", -ENOENT, "did you mean sched_switch?");
	refuse("shced:sched_switch", -ENOENT, "no tracepoint subsystem 'shced'");
	refuse("shced:sched_switch", -ENOENT, "did you mean sched?");
	refuse("sched:x*", -ENOENT, "no tracepoint 'x*'");
	refuse("sched:", -EINVAL, "after the ':'");
	refuse("sched:enable", -ENOENT, "enable");
	refuse("header_page:x", -ENOENT, "header_page");
	refuse("irq:broken", -EINVAL, "its id is no number");
	refuse("irq:*", -EINVAL, "its id is no number");
	refuse("..:sched", -ENOENT, "'..'");
	refuse("sched:..", -ENOENT, "'..'");
}

static void test_tracefs_that_is_hostile_is_an_error(void **state)
{
	(void)state;
	put_fifo("tracing/events/odd/fifo/id");
	put("tracing/events/odd/folder/id/x", "");
	put("tracing/events/odd/big/id", "99999999999999999999999999999");
	refuse("odd:fifo", -EINVAL, "odd:fifo");
	assert_true(add("odd:folder") < 0);
	refuse("odd:big", -EINVAL, "odd:big");
}

static void test_secret_tracefs_says_who_may_read_it(void **state)
{
	char path[128];

	(void)state;
	if (geteuid() == 0) {
		print_message("root may read everything\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/tracing", root);
	assert_int_equal(chmod(path, 0), 0);
	refuse("sched:sched_switch", -EACCES, "only root");
	assert_int_equal(chmod(path, 0755), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_terms_fill_the_bits_of_their_format),
		CASE(test_modifiers_follow_the_slash),
		CASE(test_events_of_the_core_need_no_pmu),
		CASE(test_generic_names_are_known_in_the_core_pmu),
		CASE(test_uncore_event_has_cpus_scale_and_unit),
		CASE(test_wrong_pmu_parts_are_named),
		CASE(test_commas_between_slashes_do_not_separate),
		CASE(test_hostile_sysfs_is_an_error_not_a_crash),
		CASE(test_hostile_type_scale_and_cpus),
		CASE(test_machine_without_sysfs_has_generic_events),
		HYBRID(test_hybrid_generic_event_is_one_for_each_kind_of_core),
		HYBRID(test_hybrid_event_of_one_kind_is_one),
		HYBRID(test_hybrid_group_is_one_for_each_kind_of_core),
		CASE(test_tracepoint_is_known_by_its_id),
		CASE(test_wildcard_gives_all_that_match),
		CASE(test_wrong_tracepoints_are_named),
		CASE(test_tracefs_that_is_hostile_is_an_error),
		CASE(test_secret_tracefs_says_who_may_read_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
