/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core/event_setup.c: who opens what from where, and event_open.c's starters, on the
 * fake kernel, which writes calls down, and on the real one.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/affinity.h"
#include "core/event_set_private.h"
#include "tests/event_set_fixture.h"

static uint16_t nodes[64];

/* CPUs 0 to @nr - 1, on @nr_nodes nodes in turn. */
static void use_cpus(unsigned int nr, unsigned int nr_nodes)
{
	char text[16];

	snprintf(text, sizeof(text), "0-%u", nr - 1);
	set_cpus(text, text);
	for (unsigned int i = 0; i < nr; i++)
		nodes[i] = (uint16_t)(i % nr_nodes);
	cpumap.node_of_cpu = nodes;
	cpumap.nr_node_of_cpu = nr;
}

/* The rule. */

static void test_rule(void **state)
{
	static const struct {
		size_t nr_cpus, nr_fds_a_cpu, nr_own_cpus;
		bool by_task, interrupts;
		unsigned int nr_workers;
		bool moves;
	} rows[] = {
		/* One event: nothing pays, however many CPUs there are. */
		{ 1, 2, 1, false, true, 1, false },
		{ 2, 2, 2, false, true, 1, false },
		{ 64, 2, 64, false, true, 1, false },
		{ 272, 2, 272, false, true, 1, false },
		/* Ten: many CPUs are shared out, but there is nothing to move for. */
		{ 2, 11, 2, false, true, 1, false },
		{ 272, 11, 272, false, true, 7, false },
		/* As measured: from about 40 on two CPUs, from a dozen on many. */
		{ 2, 33, 2, false, true, 1, false },
		{ 2, 51, 2, false, true, 1, true },
		{ 272, 16, 272, false, true, 8, true },
		/* Without interrupts to save, only when it costs next to nothing. */
		{ 2, 101, 2, false, false, 1, false },
		{ 272, 101, 272, false, false, 8, false },
		{ 272, 301, 272, false, false, 8, true },
		/* Many. */
		{ 2, 701, 2, false, true, 2, true },
		{ 2, 701, 2, false, false, 2, true },
		{ 272, 701, 272, false, true, 8, true },
		/* On one CPU alone all is local. */
		{ 1, 701, 1, false, true, 1, false },
		/* No more workers than CPUs that we may run on. */
		{ 272, 701, 3, false, true, 3, true },
		/* Where tasks run nobody knows. */
		{ 272, 701, 272, true, true, 8, false },
		{ 0, 0, 4, false, true, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_setup_load load = {
			.nr_cpus = rows[i].nr_cpus,
			.nr_fds = rows[i].nr_cpus * rows[i].nr_fds_a_cpu,
			.nr_own_cpus = rows[i].nr_own_cpus,
			.by_task = rows[i].by_task,
			.interrupts = rows[i].interrupts,
		};
		struct event_setup_plan plan = event_setup_plan(&options, &load);

		if (plan.nr_workers != rows[i].nr_workers || plan.moves != rows[i].moves)
			fail_msg("row %zu: %u workers, moves %d", i, plan.nr_workers, plan.moves);
	}
}

static void test_rule_can_be_overruled(void **state)
{
	struct event_setup_load load = { .nr_cpus = 8, .nr_fds = 16, .nr_own_cpus = 2 };

	(void)state;
	options.nr_setup_workers = 5;
	assert_int_equal(event_setup_plan(&options, &load).nr_workers, 5);
	options.nr_setup_workers = 50; /* never more than CPUs to visit */
	assert_int_equal(event_setup_plan(&options, &load).nr_workers, 8);
	options.setup_moves = SETUP_MOVES_ALWAYS;
	assert_true(event_setup_plan(&options, &load).moves);
	options.setup_moves = SETUP_MOVES_NEVER;
	load.nr_fds = 80000;
	assert_false(event_setup_plan(&options, &load).moves);
}

/* The order. */

/* The calls from @*pos on that are for @cpu must be a move to it and then @whats from it. */
static void check_visit(size_t *pos, int cpu, const char *whats)
{
	const struct fake_call *call = &fake.calls[*pos];

	assert_int_equal(call->what, 'm');
	assert_int_equal(call->cpu, cpu);
	for (const char *what = whats; *what; what++) {
		call = &fake.calls[++*pos];
		assert_int_equal(call->what, *what);
		assert_int_equal(call->cpu, cpu);
		assert_int_equal(call->place, cpu);
		assert_int_not_equal(call->worker, gettid());
	}
	++*pos;
}

static void test_all_of_a_cpu_is_done_from_there_before_the_next(void **state)
{
	size_t pos = 0;

	(void)state;
	use_cpus(4, 1);
	options.nr_setup_workers = 1;
	options.setup_moves = SETUP_MOVES_ALWAYS;
	add_named("cycles", 0);
	add_named("instructions", 1);
	add_named("branches", 2);
	must_open();
	/* Probes and trials come first, from the caller. */
	while (fake.calls[pos].worker == gettid())
		assert_int_equal(fake.calls[pos++].place, -1);
	for (int cpu = 0; cpu < 4; cpu++)
		check_visit(&pos, cpu, "oioioioi");
	for (int cpu = 0; cpu < 4; cpu++)
		check_visit(&pos, cpu, "rrss");
	assert_int_equal(pos, fake.nr_calls);
	assert_int_equal(event_set_enable(set, &err), 0);
	for (int cpu = 0; cpu < 4; cpu++)
		check_visit(&pos, cpu, "eeee");
	assert_int_equal(event_set_disable(set, &err), 0);
	for (int cpu = 0; cpu < 4; cpu++)
		check_visit(&pos, cpu, "dddd");
	event_set_close(set);
	set = NULL;
	for (int cpu = 0; cpu < 4; cpu++)
		check_visit(&pos, cpu, "");
	assert_int_equal(pos, fake.nr_calls);
	/* The caller stayed where it was. */
	assert_int_equal(fake_place, -1);
	assert_int_equal(info.nr_setup_workers, 1);
	assert_true(info.setup_moves);
}

static void test_few_events_are_opened_without_workers_and_moves(void **state)
{
	(void)state;
	use_cpus(16, 1);
	add_named("cycles", 0);
	must_open();
	assert_int_equal(event_set_enable(set, &err), 0);
	for (size_t i = 0; i < fake.nr_calls; i++)
		assert_int_equal(fake.calls[i].worker, gettid());
	assert_int_equal(fake.nr_moves, 0);
	assert_int_equal(info.nr_setup_workers, 1);
	assert_false(info.setup_moves);
}

static void test_workers_move_where_they_save_interrupts(void **state)
{
	(void)state;
	use_cpus(4, 1);
	add_clocks(100);
	must_open();
	assert_false(info.setup_moves);
	assert_int_equal(fake.nr_moves, 0);
	assert_int_equal(event_set_enable(set, &err), 0);
	assert_int_equal(fake.nr_moves, 4);
	assert_int_equal(event_set_disable(set, &err), 0);
	assert_int_equal(fake.nr_moves, 8);
	event_set_close(set);
	set = NULL;
	assert_int_equal(fake.nr_moves, 12);
}

static void test_with_very_many_events_workers_move_in_every_pass(void **state)
{
	(void)state;
	use_cpus(8, 1);
	add_clocks(300);
	must_open();
	assert_true(info.setup_moves);
	assert_int_equal(fake.nr_moves, 2 * 8); /* to open, to map */
	assert_int_equal(info.nr_cpus_open, 8);
}

static void test_slices_are_equal_and_of_neighbours(void **state)
{
	int last_place[4] = { -1, -1, -1, -1 };
	pid_t workers[4] = { 0 };
	size_t nr_moves[4] = { 0 };
	size_t nr_workers = 0;
	size_t nr_node_changes = 0;

	(void)state;
	use_cpus(12, 2); /* even CPUs on node 0, odd ones on node 1 */
	options.nr_setup_workers = 4;
	options.setup_moves = SETUP_MOVES_ALWAYS;
	add_named("cycles", 0);
	must_open();
	for (size_t i = 0; i < fake.nr_calls && fake.calls[i].what != 'r'; i++) {
		const struct fake_call *call = &fake.calls[i];
		size_t k = 0;

		if (call->what != 'm')
			continue;
		while (k < nr_workers && workers[k] != call->worker)
			k++;
		assert_true(k < 4 || nr_workers >= 4);
		if (k >= 4)
			break; /* of the second pass */
		workers[k] = call->worker;
		nr_workers = MAX(nr_workers, k + 1);
		nr_node_changes += last_place[k] >= 0 && (call->cpu - last_place[k]) % 2;
		last_place[k] = call->cpu;
		nr_moves[k]++;
	}
	assert_int_equal(nr_workers, 4);
	for (size_t k = 0; k < 4; k++)
		assert_int_equal(nr_moves[k], 3);
	assert_int_equal(nr_node_changes, 0);
	assert_int_equal(info.nr_cpus_open, 12);
}

static void test_a_slice_is_of_work_not_of_cpus(void **state)
{
	pid_t first = 0;
	size_t nr_of_first = 0;

	(void)state;
	use_cpus(8, 1);
	options.nr_setup_workers = 2;
	target.has_cpus = true; /* the first two have 100 events, the others metadata only */
	cpuset_add(&target.cpus, 0);
	cpuset_add(&target.cpus, 1);
	add_clocks(100);
	must_open();
	for (size_t i = 0; i < fake.nr_opens; i++)
		assert_true(fake_is_open(&fake.opens[i]) || fake.opens[i].cpu == 0);
	for (size_t i = 0; i < fake.nr_calls; i++) {
		const struct fake_call *call = &fake.calls[i];

		if (call->what != 'i' || call->cpu > 1)
			continue;
		first = first ? first : call->worker;
		nr_of_first += call->worker == first;
	}
	assert_int_equal(nr_of_first, 101); /* with that of the metadata */
}

static void test_who_may_not_move_goes_on_without(void **state)
{
	(void)state;
	use_cpus(8, 1);
	options.nr_setup_workers = 3;
	options.setup_moves = SETUP_MOVES_ALWAYS;
	fake.move_code = -EINVAL;
	add_named("cycles", 0);
	must_open();
	assert_int_equal(event_set_enable(set, &err), 0);
	assert_int_equal(info.nr_cpus_open, 8);
	assert_int_equal(nr_notes(), 0);
	for (int cpu = 0; cpu < 8; cpu++)
		assert_int_equal(find_open(cpu, -1, false)->nr_enabled, 1);
}

/* Errors. */

static void test_error_of_the_lowest_cpu_is_told_and_nothing_leaks(void **state)
{
	size_t before;

	(void)state;
	use_cpus(16, 2);
	before = fake_count_fds();
	options.nr_setup_workers = 4;
	add_clocks(10);
	cpuset_add(&fake.bad_cpus, 3);
	cpuset_add(&fake.bad_cpus, 4);
	cpuset_add(&fake.bad_cpus, 7);
	cpuset_add(&fake.bad_cpus, 14);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(open_set(), -EBUSY);
		assert_null(set);
		assert_non_null(strstr(err.text, "CPU 3:"));
		assert_int_equal(fake_count_fds(), before);
		assert_int_equal(fake.nr_rings, 0);
	}
}

static void test_refused_rings_are_halved_with_several_workers(void **state)
{
	(void)state;
	use_cpus(8, 1);
	options.nr_setup_workers = 4;
	options.sample_pages = 1024;
	fake.max_locked_pages = 8 * (32 + 1 + 128 + 1);
	add_named("cycles", 0);
	must_open();
	assert_int_equal(fake.nr_rings, 16);
	assert_true(fake.nr_locked_pages <= fake.max_locked_pages);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(fake_ring(event_set_cpu(set, i)->samples)->nr_pages * FAKE_PAGE,
				 info.sample_ring_bytes);
	assert_true(has_note("kernel.perf_event_mlock_kb is 516"));
}

static void test_what_workers_skip_is_noted_once(void **state)
{
	(void)state;
	use_cpus(8, 1);
	options.nr_setup_workers = 4;
	fake.offline_cpu = 5;
	fake.cpu_without_hardware = 6;
	add_named("cycles", 0);
	must_open();
	assert_int_equal(nr_notes(), 1);
	assert_true(has_note("CPU 5-6"));
	assert_int_equal(info.nr_cpus_open, 6);
}

static void test_tasks_that_are_refused_to_several_workers_are_noted_once(void **state)
{
	(void)state;
	use_cpus(8, 1);
	options.nr_setup_workers = 4;
	be_ordinary_user();
	fixture_process(PID, 1, 1000, 2);
	fake.foreign_tid = PID + 1;
	add_named("cycles:u", 0);
	events[0].attr.exclude_kernel = 1;
	must_open();
	assert_true(has_note("left out"));
	assert_int_equal(nr_notes(), 2); /* and that it is own processes only */
	assert_int_equal(count_open(PERF_TYPE_HARDWARE, -1, PID), 8);
}

static void test_ids_of_all_workers_are_known(void **state)
{
	(void)state;
	use_cpus(8, 1);
	options.nr_setup_workers = 4;
	for (size_t i = 0; i < 10; i++)
		add_named("raw", i);
	must_open();
	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];

		if (fake_is_open(call) && fake_is_hardware(&call->attr))
			assert_int_equal(event_set_index(set, call->id), (int)call->attr.config);
	}
}

static void test_cpus_that_come_together_are_shared_out(void **state)
{
	unsigned int nr_opened;
	unsigned int nr_closed;

	(void)state;
	set_cpus("0", "0-7");
	options.nr_setup_workers = 4;
	add_named("cycles", 0);
	must_open();
	assert_int_equal(event_set_enable(set, &err), 0);
	set_cpus("1-7", "0-7");
	assert_int_equal(event_set_refresh_cpus(set, &cpumap, &nr_opened, &nr_closed, &err), 0);
	assert_int_equal(nr_opened, 7);
	assert_int_equal(nr_closed, 1);
	assert_int_equal(fake.nr_rings, 14);
	for (int cpu = 1; cpu < 8; cpu++)
		assert_int_equal(find_open(cpu, -1, false)->nr_enabled, 1);
}

/* Starters. */

/* Open members under @starter_fd; -1: in no group. */
static size_t count_members(int starter_fd)
{
	size_t nr = 0;

	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];

		nr += fake_is_open(call) && call->group_fd == starter_fd &&
		      call->attr.config == PERF_COUNT_SW_CPU_CLOCK;
	}
	return nr;
}

static void test_many_software_events_are_started_by_groups(void **state)
{
	size_t nr_starters = 0;
	size_t before;

	(void)state;
	before = fake_count_fds();
	add_clocks(300);
	must_open();
	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];

		if (!fake_is_open(call) || call->attr.config != PERF_COUNT_SW_DUMMY)
			continue;
		assert_true(call->attr.disabled);
		assert_true(call->group_fd == -1);
		nr_starters += count_members(call->fd) > 0;
		assert_true(count_members(call->fd) <= EVENT_MAX_STARTED);
	}
	assert_int_equal(nr_starters, 6);
	assert_int_equal(count_members(-1), 0);
	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];

		if (call->attr.config != PERF_COUNT_SW_DUMMY)
			assert_false(call->attr.disabled);
	}
	assert_int_equal(info.nr_fds, 2 * (1 + 300 + 3));
	event_set_close(set);
	set = NULL;
	assert_int_equal(fake_count_fds(), before);
}

static void test_starters_are_enabled_for_their_members_and_closed(void **state)
{
	size_t nr_starters = 0;

	(void)state;
	add_clocks(300);
	must_open();
	assert_int_equal(event_set_disable(set, &err), 0); /* nothing runs yet: no member is told */
	assert_int_equal(event_set_enable(set, &err), 0);
	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];

		if (call->attr.config != PERF_COUNT_SW_DUMMY) {
			assert_int_equal(call->nr_enabled + call->nr_disabled, 0);
			assert_true(fake_is_open(call));
		} else if (!fake_is_open(call) && call->nr_enabled) {
			nr_starters++;
		}
	}
	assert_int_equal(nr_starters, 6);
	event_set_get_info(set, &info);
	assert_int_equal(info.nr_fds, 2 * (1 + 300));
	/* From here on they are on their own. */
	assert_int_equal(event_set_disable(set, &err), 0);
	assert_int_equal(event_set_enable(set, &err), 0);
	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];

		if (call->attr.config != PERF_COUNT_SW_DUMMY)
			assert_true(call->nr_enabled == 1 && call->nr_disabled == 1);
	}
}

static void test_events_that_cannot_be_members_stay_alone(void **state)
{
	(void)state;
	add_clocks(20);
	events[3].attr.pinned = 1;
	events[4].attr.exclusive = 1;
	events[5].attr.type = PERF_TYPE_HARDWARE;
	events[6].attr.type = PERF_TYPE_BREAKPOINT;
	must_open();
	assert_int_equal(event_set_enable(set, &err), 0);
	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];
		bool alone = call->attr.pinned || call->attr.exclusive ||
			     call->attr.type != PERF_TYPE_SOFTWARE;

		if (!fake_is_open(call) || call->attr.config == PERF_COUNT_SW_DUMMY)
			continue;
		assert_int_equal(call->nr_enabled, alone);
		assert_int_equal(call->attr.disabled, alone);
	}
}

static void test_few_events_and_groups_of_the_user_have_no_starter(void **state)
{
	(void)state;
	add_clocks(EVENT_MIN_STARTED - 1);
	must_open();
	assert_int_equal(count_members(-1), 2 * (EVENT_MIN_STARTED - 1));
	event_set_close(set);
	set = NULL;
	add_clocks(10);
	for (size_t i = 0; i < list.nr; i++)
		events[i].group = 0;
	must_open();
	assert_int_equal(count_members(-1), 2); /* the leaders */
}

static void test_tasks_have_no_starters(void **state)
{
	(void)state;
	fixture_process(PID, 1, 0, 1);
	watch_processes(PID, 0);
	add_clocks(20);
	must_open();
	assert_int_equal(count_members(-1), 40);
}

/* The real kernel. */

static int setup_real(void **state)
{
	setup(state);
	event_kernel = &event_kernel_real;
	options.proc = "/proc";
	options.freq = 1000;
	assert_int_equal(cpumap_init(&cpumap, "/sys", &err), 0);
	return 0;
}

static int teardown_real(void **state)
{
	cpumap_release(&cpumap);
	return teardown(state);
}

/* Samples by event since the last call. */
static void count_samples(size_t *ret_nr, size_t nr_events)
{
	struct ring_buffer buffer = { 0 };
	const struct perf_event_header *header;

	memset(ret_nr, 0, nr_events * sizeof(*ret_nr));
	for (size_t i = 0; i < event_set_nr_cpus(set); i++) {
		struct cpu_rings *rings = event_set_cpu(set, i);

		if (!rings->samples)
			continue;
		ring_read(rings->samples, &buffer);
		while ((header = ring_next(rings->samples))) {
			struct sample sample;
			int index;

			if (header->type != PERF_RECORD_SAMPLE)
				continue;
			assert_true(record_decode_sample(event_set_sample_format(set), header,
							 &sample));
			index = event_set_index(set, sample.id);
			assert_true(index >= 0 && (size_t)index < nr_events);
			ret_nr[index]++;
		}
	}
	ring_buffer_release(&buffer);
}

static void test_real_kernel_starts_all_members(void **state)
{
	struct cpuset before = { 0 };
	struct cpuset after = { 0 };
	size_t nr[40];
	size_t max = 0;
	int ret;

	(void)state;
	options.nr_setup_workers = 2;
	options.setup_moves = SETUP_MOVES_ALWAYS;
	add_clocks(40);
	assert_int_equal(affinity_get(&before), 0);
	ret = open_set();
	if (ret == -EPERM || ret == -EACCES || ret == -ENOSYS) {
		print_message("%s\n", err.text);
		skip();
	}
	if (ret)
		fail_msg("%s", err.text);
	if (info.own_processes_only)
		skip();
	count_samples(nr, 40);
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(nr[i], 0);
	assert_int_equal(event_set_enable(set, &err), 0);
	spin_ms(100);
	assert_int_equal(event_set_disable(set, &err), 0);
	count_samples(nr, 40);
	for (size_t i = 0; i < 40; i++)
		max = MAX(max, nr[i]);
	/* Each on its own: they all tick alike. */
	for (size_t i = 0; i < 40; i++)
		assert_true(nr[i] > 10 && nr[i] >= max / 2);
	spin_ms(20);
	count_samples(nr, 40);
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(nr[i], 0);
	assert_int_equal(event_set_enable(set, &err), 0);
	spin_ms(50);
	count_samples(nr, 40);
	for (size_t i = 0; i < 40; i++)
		assert_true(nr[i] > 5);
	assert_int_equal(affinity_get(&after), 0);
	assert_memory_equal(&before, &after, sizeof(before));
}

#define REAL_TEST(name) cmocka_unit_test_setup_teardown(name, setup_real, teardown_real)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rule),
		TEST(test_rule_can_be_overruled),
		TEST(test_all_of_a_cpu_is_done_from_there_before_the_next),
		TEST(test_few_events_are_opened_without_workers_and_moves),
		TEST(test_workers_move_where_they_save_interrupts),
		TEST(test_with_very_many_events_workers_move_in_every_pass),
		TEST(test_slices_are_equal_and_of_neighbours),
		TEST(test_a_slice_is_of_work_not_of_cpus),
		TEST(test_who_may_not_move_goes_on_without),
		TEST(test_error_of_the_lowest_cpu_is_told_and_nothing_leaks),
		TEST(test_refused_rings_are_halved_with_several_workers),
		TEST(test_what_workers_skip_is_noted_once),
		TEST(test_tasks_that_are_refused_to_several_workers_are_noted_once),
		TEST(test_ids_of_all_workers_are_known),
		TEST(test_cpus_that_come_together_are_shared_out),
		TEST(test_many_software_events_are_started_by_groups),
		TEST(test_starters_are_enabled_for_their_members_and_closed),
		TEST(test_events_that_cannot_be_members_stay_alone),
		TEST(test_few_events_and_groups_of_the_user_have_no_starter),
		TEST(test_tasks_have_no_starters),
		REAL_TEST(test_real_kernel_starts_all_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
