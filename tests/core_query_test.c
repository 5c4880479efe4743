/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries over a real profile with fake tasks, dsos and symbols. A row is named in
 * the tests as "comm:pid/tid dso symbol cpu node event", with what is not in use
 * left out.
 */
#include "config.h"

#include "core/query.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/core_fakes.h"

#define SEC UINT64_C(1000000000)
#define NR_TASKS 8

struct fixture {
	struct task tasks[NR_TASKS]; /* pid 100, 100, 102, 102, ...; tid 100, 101, 102, ... */
	struct task idle;
	struct str *comm, *other, *swapper;
	struct dso *app, *lib, *kernel, *unknown;
	struct profile *profile;
	uint16_t node_of_cpu[4];
	struct cpumap cpumap;
	struct query_context context;
	struct view_spec spec;
	struct snapshot *snapshot;
	uint64_t now;
};

static const char *const event_names[] = { "cycles", "page-faults" };

static void fixture_init(struct fixture *fixture)
{
	*fixture = (struct fixture){ .now = 100 * SEC };
	for (uint32_t i = 0; i < NR_TASKS; i++)
		fixture->tasks[i] = (struct task){
			.nr_refs = 1,
			.pid = 100 + i / 2 * 2,
			.tid = 100 + i,
			.uid = 1000 + i,
			.process_comm = "leader",
		};
	fixture->idle = (struct task){ .nr_refs = 1, .process_comm = "" };
	fixture->comm = str_from("app");
	fixture->other = str_from("other");
	fixture->swapper = str_from("swapper/3");
	fixture->app = fake_dso(DSO_FILE, "/opt/app");
	fake_symbol(fixture->app, 0x1000, 0x2000, "main");
	fake_symbol(fixture->app, 0x2000, 0x3000, "work");
	fake_symbol(fixture->app, 0x3000, 0x4000, "fib");
	fixture->lib = fake_dso(DSO_FILE, "/lib/libc.so.6");
	fake_symbol(fixture->lib, 0x1000, 0x2000, "malloc");
	fixture->kernel = fake_dso(DSO_KERNEL, "[kernel]");
	fake_symbol(fixture->kernel, 0x1000, 0x2000, "do_syscall_64");
	fake_symbol(fixture->kernel, 0x2000, 0x3000, "pv_native_safe_halt");
	fake_symbol(fixture->kernel, 0x3000, 0x4000, "net_rx_action");
	fake_symbol(fixture->kernel, 0x4000, 0x5000, "nf_hook");
	fixture->kernel->symbols[3].object = "[nf_tables]";
	fixture->unknown = fake_dso(DSO_UNKNOWN, "[unknown]");
	fixture->profile = profile_new(NULL, &fake_symbolizer);
	fixture->node_of_cpu[2] = 1;
	fixture->node_of_cpu[3] = 1;
	fixture->cpumap.node_of_cpu = fixture->node_of_cpu;
	fixture->cpumap.nr_node_of_cpu = 4;
	fixture->context = (struct query_context){
		.profile = fixture->profile,
		.symbolizer = &fake_symbolizer,
		.cpumap = &fixture->cpumap,
		.event_names = event_names,
		.nr_events = 1,
		.refresh_ns = SEC,
	};
	view_spec_init(&fixture->spec);
	profile_slot_begin(fixture->profile, 100 * SEC, 101 * SEC);
}

static void fixture_release(struct fixture *fixture)
{
	uint64_t nr, bytes;

	snapshot_put(fixture->snapshot);
	profile_free(fixture->profile);
	for (size_t i = 0; i < NR_TASKS; i++)
		assert_int_equal(fixture->tasks[i].nr_refs, 1);
	fake_dso_free(fixture->app);
	fake_dso_free(fixture->lib);
	fake_dso_free(fixture->kernel);
	fake_dso_free(fixture->unknown);
	str_put(fixture->comm);
	str_put(fixture->other);
	str_put(fixture->swapper);
	str_stats(&nr, &bytes);
	assert_int_equal(nr, 0);
}

static struct cell_key user(struct fixture *fixture, size_t task, struct dso *dso, uint64_t offset)
{
	return (struct cell_key){
		.task = &fixture->tasks[task],
		.comm = fixture->comm,
		.dso = dso,
		.offset = offset,
		.chain = CHAIN_NONE,
	};
}

static struct cell_key kernel(struct fixture *fixture, size_t task, uint64_t offset)
{
	struct cell_key key = user(fixture, task, fixture->kernel, offset);

	key.flags = CELL_KERNEL;
	return key;
}

static struct cell_key idle(struct fixture *fixture, uint64_t offset)
{
	struct cell_key key = kernel(fixture, 0, offset);

	key.task = &fixture->idle;
	key.comm = fixture->swapper;
	key.flags |= CELL_IDLE_TASK;
	return key;
}

static void add(struct fixture *fixture, struct cell_key key, uint64_t nr)
{
	profile_add(fixture->profile, &key, nr, 100 * nr);
}

/* Callers as return addresses, innermost first. */
static void add_chain(struct fixture *fixture, struct cell_key key, uint64_t nr,
		      const struct location *callers, size_t nr_callers)
{
	key.chain = chain_table_add(profile_chains(fixture->profile), callers, nr_callers);
	add(fixture, key, nr);
}

static const struct snapshot_header *run(struct fixture *fixture)
{
	struct err err;

	snapshot_put(fixture->snapshot);
	fixture->snapshot = NULL;
	if (query_run(&fixture->context, &fixture->spec, &fixture->snapshot, &err) < 0)
		fail_msg("%s", err.text);
	return snapshot_header(fixture->snapshot);
}

static void run_keys(struct fixture *fixture, const char *keys)
{
	assert_int_equal(sort_keys_parse(keys, &fixture->spec.keys, NULL), 0);
	run(fixture);
}

static void row_text(const struct row *row, char *text, size_t size)
{
	char ids[64] = "";
	char place[64] = "";

	if (row->pid >= 0)
		snprintf(ids, sizeof(ids), ":%d", (int)row->pid);
	if (row->tid >= 0)
		snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), "/%d", (int)row->tid);
	if (row->cpu >= 0)
		snprintf(place, sizeof(place), " cpu%d", row->cpu);
	if (row->node >= 0)
		snprintf(place + strlen(place), sizeof(place) - strlen(place), " node%d",
			 row->node);
	snprintf(text, size, "%s%s%s%s%s%s%s%s%s", row->comm, ids, *row->dso ? " " : "", row->dso,
		 *row->symbol ? " " : "", row->symbol, place, *row->event ? " " : "", row->event);
}

static const struct row *find_row(const struct fixture *fixture, const char *name)
{
	char text[256];

	for (size_t i = 0; i < snapshot_nr_rows(fixture->snapshot); i++) {
		const struct row *row = snapshot_row(fixture->snapshot, i);

		row_text(row, text, sizeof(text));
		if (!strcmp(text, name))
			return row;
	}
	return NULL;
}

static const struct row *get_row(const struct fixture *fixture, const char *name)
{
	const struct row *row = find_row(fixture, name);
	char text[256];

	if (row)
		return row;
	for (size_t i = 0; i < snapshot_nr_rows(fixture->snapshot); i++) {
		row_text(snapshot_row(fixture->snapshot, i), text, sizeof(text));
		print_message("there is '%s'\n", text);
	}
	fail_msg("no row '%s'", name);
	return NULL;
}

static void assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) < 1e-9))
		fail_msg("%f instead of %f", value, wanted);
}

static void assert_row(const struct fixture *fixture, const char *name, double self_share)
{
	assert_near(get_row(fixture, name)->self_share, self_share);
}

static void assert_nr_rows(const struct fixture *fixture, size_t nr)
{
	char text[256];

	if (snapshot_nr_rows(fixture->snapshot) == nr)
		return;
	for (size_t i = 0; i < snapshot_nr_rows(fixture->snapshot); i++) {
		row_text(snapshot_row(fixture->snapshot, i), text, sizeof(text));
		print_message("there is '%s'\n", text);
	}
	assert_int_equal(snapshot_nr_rows(fixture->snapshot), nr);
}

/* ---- rows ---- */

static void test_cells_of_one_function_are_one_row(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	const struct row *row;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1001), 3);
	add(&fixture, user(&fixture, 1, fixture.app, 0x1fff), 4);
	add(&fixture, user(&fixture, 2, fixture.lib, 0x1000), 3);
	header = run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app main", 0.7);
	assert_row(&fixture, "app libc.so.6 malloc", 0.3);
	row = snapshot_row(fixture.snapshot, 0);
	assert_string_equal(row->symbol, "main");
	assert_string_equal(row->dso_path, "/opt/app");
	assert_near(row->nr_samples, 7);
	assert_near(row->period, 700);
	assert_near(row->children_share, 0.7);
	assert_int_equal(row->level, LEVEL_USER);
	assert_int_equal(row->nr_chains, 0);
	assert_true(header->nr_samples == 10);
	assert_near(header->shown_samples, 10);
	assert_near(header->base_period, 1000);
	assert_true(header->window_ns == SEC);
	assert_string_equal(header->event, "cycles");
	assert_false(header->has_chains);
	fixture_release(&fixture);
}

static void test_rows_have_the_sort_keys_and_no_others(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	for (uint16_t cpu = 0; cpu < 4; cpu++) {
		key = user(&fixture, cpu, fixture.app, 0x1000 + cpu);
		key.cpu = cpu;
		add(&fixture, key, 1);
	}
	key.cpu = PROFILE_NO_CPU;
	add(&fixture, key, 1);
	run_keys(&fixture, "comm");
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app", 1);
	run_keys(&fixture, "symbol");
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, " main", 1);
	run_keys(&fixture, "dso,node");
	assert_row(&fixture, " app node0", 0.4);
	assert_row(&fixture, " app node1", 0.4);
	assert_row(&fixture, " app", 0.2);
	run_keys(&fixture, "cpu");
	assert_nr_rows(&fixture, 5);
	assert_row(&fixture, " cpu3", 0.2);
	run_keys(&fixture, "tid,event");
	assert_nr_rows(&fixture, 4);
	assert_row(&fixture, "/103 cycles", 0.4);
	fixture_release(&fixture);
}

static void test_the_same_file_at_two_inodes_is_one_row(void **state)
{
	struct fixture fixture;
	struct dso *copy;

	(void)state;
	fixture_init(&fixture);
	copy = fake_dso(DSO_FILE, "/lib/libc.so.6");
	fake_symbol(copy, 0x5000, 0x6000, "malloc");
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1001), 1);
	add(&fixture, user(&fixture, 0, copy, 0x5001), 1);
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app libc.so.6 malloc", 1);
	profile_slot_end(fixture.profile);
	profile_clear(fixture.profile);
	fake_dso_free(copy);
	/* Another path is another file, even if the rows look alike. */
	copy = fake_dso(DSO_FILE, "/snap/libc.so.6");
	fake_symbol(copy, 0x5000, 0x6000, "malloc");
	profile_slot_begin(fixture.profile, 101 * SEC, 102 * SEC);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1001), 1);
	add(&fixture, user(&fixture, 0, copy, 0x5001), 1);
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	profile_slot_end(fixture.profile);
	profile_clear(fixture.profile);
	fake_dso_free(copy);
	fixture_release(&fixture);
}

static void test_equal_names_in_different_objects_are_two_rows(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fake_symbol(fixture.app, 0x9000, 0xa000, "malloc");
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1001), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x9001), 1);
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	run_keys(&fixture, "symbol");
	assert_nr_rows(&fixture, 1);
	fixture_release(&fixture);
}

static void test_a_module_stands_in_the_place_of_its_dso(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, kernel(&fixture, 0, 0x4001), 1);
	add(&fixture, kernel(&fixture, 0, 0x1001), 1);
	run(&fixture);
	assert_row(&fixture, "app [nf_tables] nf_hook", 0.5);
	assert_row(&fixture, "app [kernel] do_syscall_64", 0.5);
	assert_int_equal(snapshot_row(fixture.snapshot, 0)->level, LEVEL_KERNEL);
	run_keys(&fixture, "dso");
	assert_row(&fixture, " [nf_tables]", 0.5);
	fixture_release(&fixture);
}

static void test_fc111_by_process_the_leaders_name_by_thread_its_own(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1);
	key = user(&fixture, 1, fixture.app, 0x1000);
	key.comm = fixture.other;
	add(&fixture, key, 1);
	run_keys(&fixture, "comm,pid");
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "leader:100", 1);
	run_keys(&fixture, "comm,pid,tid");
	assert_row(&fixture, "app:100/100", 0.5);
	assert_row(&fixture, "other:100/101", 0.5);
	run_keys(&fixture, "comm");
	assert_row(&fixture, "app", 0.5);
	assert_row(&fixture, "other", 0.5);
	/* A leader whose name is not known does not take the name away. */
	fixture.tasks[0].process_comm = "";
	fixture.tasks[1].process_comm = "";
	run_keys(&fixture, "comm,pid");
	assert_row(&fixture, "other:100", 0.5);
	fixture_release(&fixture);
}

static void test_ids_are_the_same_in_the_next_snapshot(void **state)
{
	struct fixture fixture;
	uint64_t id, other;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x2000), 1);
	run(&fixture);
	id = get_row(&fixture, "app app main")->id;
	other = get_row(&fixture, "app app work")->id;
	assert_true(id != other);
	profile_slot_end(fixture.profile);
	profile_clear(fixture.profile);
	profile_slot_begin(fixture.profile, 200 * SEC, 201 * SEC);
	add(&fixture, user(&fixture, 1, fixture.lib, 0x1000), 1);
	add(&fixture, user(&fixture, 1, fixture.app, 0x1234), 1);
	run(&fixture);
	assert_true(get_row(&fixture, "app app main")->id == id);
	fixture_release(&fixture);
}

/* ---- names ---- */

static void test_a_pending_name_shows_its_offset_and_merges_when_it_comes(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;

	(void)state;
	fixture_init(&fixture);
	fixture.app->pending = true;
	add(&fixture, user(&fixture, 0, fixture.app, 0x1001), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1002), 3);
	run(&fixture);
	header = run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app 0x1002", 0.75);
	assert_true(get_row(&fixture, "app app 0x1002")->symbol_pending);
	assert_false(get_row(&fixture, "app app 0x1002")->unresolved);
	assert_near(header->pending_share, 1);
	assert_near(header->unnamed_share, 0);
	fixture.app->pending = false;
	fixture.app->generation++;
	header = run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app main", 1);
	assert_near(header->pending_share, 0);
	fixture_release(&fixture);
}

static void test_fc023_what_has_no_name_gets_none(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	for (uint64_t i = 0; i < 5; i++) {
		add(&fixture, user(&fixture, 0, fixture.app, 0x9000 + i), 1);
		key = user(&fixture, 0, fixture.unknown, 0x7000 + i);
		key.flags = CELL_UNRESOLVED;
		add(&fixture, key, 1);
	}
	header = run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app [no symbol]", 0.5);
	assert_row(&fixture, "app [unknown] [unknown]", 0.5);
	assert_true(get_row(&fixture, "app [unknown] [unknown]")->unresolved);
	assert_false(get_row(&fixture, "app app [no symbol]")->unresolved);
	assert_false(get_row(&fixture, "app app [no symbol]")->symbol_pending);
	assert_near(header->unresolved_share, 0.5);
	assert_near(header->unnamed_share, 0.5);
	fixture_release(&fixture);
}

static void test_named_cells_are_looked_up_once_until_something_can_change(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1001), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x9001), 1);
	run(&fixture);
	run(&fixture);
	run(&fixture);
	/* The named cell once; the other each time, since asking makes a worker look again. */
	assert_int_equal(fixture.app->nr_lookups, 1 + 3);
	fake_symbol(fixture.app, 0x9000, 0xa000, "late");
	fixture.app->generation++;
	run(&fixture);
	assert_int_equal(fixture.app->nr_lookups, 4 + 2);
	assert_row(&fixture, "app app late", 0.5);
	fixture_release(&fixture);
}

static void test_what_the_profile_gave_up_is_other(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	key = user(&fixture, 0, fixture.app, PROFILE_NO_OFFSET);
	key.task = NULL;
	key.flags = CELL_EXITED;
	add(&fixture, key, 1);
	key.comm = fixture.other;
	key.dso = NULL;
	add(&fixture, key, 1);
	assert_near(run(&fixture)->unnamed_share, 0);
	assert_row(&fixture, "app app [other]", 0.5);
	assert_row(&fixture, "other other [other]", 0.5);
	run_keys(&fixture, "comm,pid,tid");
	assert_row(&fixture, "app", 0.5);
	fixture_release(&fixture);
}

/* ---- what shares are of ---- */

static void test_fc043_idle_is_left_out_and_counted(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 3);
	add(&fixture, idle(&fixture, 0x2001), 5); /* a halt */
	add(&fixture, idle(&fixture, 0x3001), 1); /* an interrupt on an idle CPU */
	add(&fixture, idle(&fixture, 0x9001), 1); /* without a name */
	header = run(&fixture);
	assert_near(header->idle_share, 0.6);
	assert_near(header->base_period, 400);
	assert_true(header->nr_samples == 10);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app main", 0.75);
	assert_row(&fixture, "swapper [kernel] net_rx_action", 0.25);
	fixture.spec.show_idle = true;
	header = run(&fixture);
	assert_near(header->idle_share, 0.6);
	assert_near(header->base_period, 1000);
	assert_row(&fixture, "swapper [kernel] pv_native_safe_halt", 0.5);
	assert_row(&fixture, "swapper [kernel] [no symbol]", 0.1);
	fixture_release(&fixture);
}

static void test_idle_symbols(void **state)
{
	(void)state;
	assert_true(query_is_idle_symbol("pv_native_safe_halt"));
	assert_true(query_is_idle_symbol("intel_idle"));
	assert_true(query_is_idle_symbol("acpi_idle_do_entry.constprop.0"));
	assert_false(query_is_idle_symbol("intel_idler"));
	assert_false(query_is_idle_symbol("intel"));
	assert_false(query_is_idle_symbol(""));
	assert_false(query_is_idle_symbol(".cold"));
	assert_false(query_is_idle_symbol("schedule"));
}

static void test_a_user_function_named_like_idle_is_work(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fake_symbol(fixture.app, 0x9000, 0xa000, "poll_idle");
	add(&fixture, user(&fixture, 0, fixture.app, 0x9000), 1);
	add(&fixture, kernel(&fixture, 0, 0x2000), 1);
	assert_near(run(&fixture)->idle_share, 0);
	assert_nr_rows(&fixture, 2);
	fixture_release(&fixture);
}

static void test_absolute_shares_are_of_all_relative_of_what_is_left(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 2);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 2);
	add(&fixture, kernel(&fixture, 0, 0x1000), 4);
	fixture.spec.hide_kernel = true;
	header = run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_row(&fixture, "app app main", 0.25);
	assert_near(header->shown_samples, 4);
	assert_near(header->kernel_share, 0);
	fixture.spec.relative = true;
	header = run(&fixture);
	assert_row(&fixture, "app app main", 0.5);
	assert_near(header->base_period, 400);
	assert_true(header->relative);
	fixture.spec.hide_kernel = false;
	fixture.spec.hide_user = true;
	header = run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_near(header->kernel_share, 1);
	fixture_release(&fixture);
}

static void test_fc078_nothing_shown_gives_plain_zeros(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	double shares[7];

	(void)state;
	fixture_init(&fixture);
	profile_add(fixture.profile,
		    &(struct cell_key){ .task = &fixture.tasks[0],
					.comm = fixture.comm,
					.dso = fixture.app,
					.offset = 0x1000,
					.chain = CHAIN_NONE },
		    1, 0);
	for (int relative = 0; relative < 2; relative++) {
		fixture.spec.relative = relative;
		header = run(&fixture);
		shares[0] = header->idle_share;
		shares[1] = header->kernel_share;
		shares[2] = header->unresolved_share;
		shares[3] = header->unnamed_share;
		shares[4] = header->outside_share;
		shares[5] = snapshot_row(fixture.snapshot, 0)->self_share;
		shares[6] = snapshot_row(fixture.snapshot, 0)->children_share;
		for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
			assert_true(fpclassify(shares[i]) == FP_ZERO && !signbit(shares[i]));
	}
	fixture_release(&fixture);
}

static void test_tasks_outside_of_the_target_are_counted_apart(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 2);
	add(&fixture, user(&fixture, 2, fixture.app, 0x2000), 5);
	key = user(&fixture, 0, fixture.app, 0x3000);
	key.task = NULL;
	key.flags = CELL_EXITED;
	add(&fixture, key, 1);
	fixture.tasks[0].is_target = true;
	fixture.context.filter_target = true;
	header = run(&fixture);
	assert_near(header->outside_share, 0.75);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app main", 1);
	fixture.context.filter_target = false;
	fixture.context.filter_user = true;
	fixture.context.uid = 1002;
	header = run(&fixture);
	assert_near(header->outside_share, 0.375);
	assert_row(&fixture, "app app work", 1);
	fixture_release(&fixture);
}

static void test_events_are_told_apart(void **state)
{
	struct fixture fixture;
	const struct snapshot_header *header;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	fixture.context.nr_events = 2;
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 3);
	key = user(&fixture, 0, fixture.lib, 0x1000);
	key.event = 1;
	profile_add(fixture.profile, &key, 1, 1);
	key.event = 7; /* of no event that we know */
	header = run(&fixture);
	/* Cycles and faults have no common unit, so samples are what counts. */
	assert_row(&fixture, "app libc.so.6 malloc", 0.25);
	assert_string_equal(header->event, "cycles, page-faults");
	assert_near(header->base_period, 4);
	assert_int_equal(snapshot_nr_events(fixture.snapshot), 2);
	assert_true(snapshot_event(fixture.snapshot, 0)->nr_samples == 3);
	assert_true(snapshot_event(fixture.snapshot, 1)->nr_samples == 1);
	assert_string_equal(snapshot_event(fixture.snapshot, 1)->name, "page-faults");
	fixture.spec.event = 1;
	header = run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app libc.so.6 malloc", 1);
	assert_string_equal(header->event, "page-faults");
	assert_true(header->nr_samples == 1);
	assert_true(snapshot_event(fixture.snapshot, 0)->nr_samples == 3);
	fixture.spec.event = -1;
	run_keys(&fixture, "event");
	assert_row(&fixture, " page-faults", 0.25);
	profile_add(fixture.profile, &key, 1, 1);
	run(&fixture);
	assert_nr_rows(&fixture, 3);
	fixture_release(&fixture);
}

/* ---- filters and limits ---- */

static void set(char *text, const char *value)
{
	snprintf(text, 256, "%s", value);
}

static void test_filters_choose_rows(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	key = user(&fixture, 0, fixture.app, 0x1000);
	key.cpu = 3;
	add(&fixture, key, 1);
	key = user(&fixture, 2, fixture.lib, 0x1000);
	key.comm = fixture.other;
	add(&fixture, key, 1);
	add(&fixture, user(&fixture, 4, fixture.app, 0x9000), 2);
	set(fixture.spec.filter, "dso=app symbol=main");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app main", 0.25);
	assert_string_equal(snapshot_header(fixture.snapshot)->filter, "dso=app symbol=main");
	/* Keys that are no column filter too. */
	set(fixture.spec.filter, "pid=102 | (cpu=3 node=1)");
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	set(fixture.spec.filter, "event=cycles !tid<104");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app [no symbol]", 0.5);
	set(fixture.spec.filter, "OTHER");
	run(&fixture);
	assert_row(&fixture, "other libc.so.6 malloc", 0.25);
	assert_near(snapshot_header(fixture.snapshot)->shown_samples, 1);
	fixture_release(&fixture);
}

static void test_a_pending_name_passes_no_filter_by_symbol(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture.app->pending = true;
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1);
	set(fixture.spec.filter, "symbol~.");
	run(&fixture);
	assert_nr_rows(&fixture, 0);
	set(fixture.spec.filter, "");
	set(fixture.spec.symbols, "0x1000");
	run(&fixture);
	assert_nr_rows(&fixture, 0);
	fixture_release(&fixture);
}

static void test_a_wrong_filter_is_an_error(void **state)
{
	struct fixture fixture;
	struct snapshot *snapshot = NULL;
	struct err err;

	(void)state;
	fixture_init(&fixture);
	set(fixture.spec.filter, "colour=red");
	assert_int_equal(query_run(&fixture.context, &fixture.spec, &snapshot, &err), -EINVAL);
	assert_null(snapshot);
	assert_non_null(strstr(err.text, "colour"));
	fixture_release(&fixture);
}

static void test_lists_are_exact_names(void **state)
{
	struct fixture fixture;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1);
	add(&fixture, user(&fixture, 0, fixture.app, 0x2000), 1);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1);
	key = user(&fixture, 0, fixture.app, 0x3000);
	key.comm = fixture.other;
	add(&fixture, key, 1);
	set(fixture.spec.symbols, "main,malloc,wor");
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	set(fixture.spec.symbols, "");
	set(fixture.spec.dsos, "/lib/libc.so.6");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	set(fixture.spec.dsos, "libc.so.6,,app");
	set(fixture.spec.comms, "other");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "other app fib", 0.25);
	fixture_release(&fixture);
}

static void test_small_rows_are_counted_and_not_shown(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 90);
	add(&fixture, user(&fixture, 0, fixture.app, 0x2000), 9);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1);
	fixture.spec.percent_limit = 5;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_int_equal(snapshot_header(fixture.snapshot)->nr_rows_hidden, 1);
	fixture.spec.max_rows = 1;
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_row(&fixture, "app app main", 0.9);
	assert_int_equal(snapshot_header(fixture.snapshot)->nr_rows_hidden, 2);
	fixture_release(&fixture);
}

/* ---- chains ---- */

static void test_fc078_recursion_counts_once(void **state)
{
	struct fixture fixture;
	struct location callers[20];

	(void)state;
	fixture_init(&fixture);
	for (size_t i = 0; i < 19; i++)
		callers[i] = (struct location){ fixture.app, 0x3100 + i % 3 };
	callers[19] = (struct location){ fixture.app, 0x1100 };
	for (size_t depth = 1; depth < 20; depth++)
		add_chain(&fixture, user(&fixture, 0, fixture.app, 0x3000 + depth), 1,
			  callers + 20 - depth, depth);
	fixture.spec.children = true;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_near(get_row(&fixture, "app app fib")->self_share, 1);
	assert_near(get_row(&fixture, "app app fib")->children_share, 1);
	/* Shares end at 1 whatever was counted; the period shows it. */
	assert_near(get_row(&fixture, "app app fib")->children_period, 1900);
	assert_near(get_row(&fixture, "app app main")->self_share, 0);
	assert_near(get_row(&fixture, "app app main")->children_share, 1);
	assert_near(get_row(&fixture, "app app main")->children_period, 1900);
	assert_near(get_row(&fixture, "app app main")->nr_samples, 0);
	assert_true(snapshot_header(fixture.snapshot)->has_chains);
	/* Without symbols in the rows a sample is all the same one sample. */
	run_keys(&fixture, "comm");
	assert_nr_rows(&fixture, 1);
	assert_near(snapshot_row(fixture.snapshot, 0)->children_period, 1900);
	fixture_release(&fixture);
}

static void test_fc074_callers_are_looked_up_before_their_return_address(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	/* The call is the last instruction of main; the next byte is work's first. */
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x2000 } }, 1);
	/* The leaf is looked up where it is. */
	add_chain(&fixture, user(&fixture, 0, fixture.app, 0x3000), 1,
		  (struct location[]){ { fixture.app, 0 } }, 1);
	fixture.spec.children = true;
	run(&fixture);
	assert_near(get_row(&fixture, "app app main")->children_share, 0.5);
	assert_null(find_row(&fixture, "app app work"));
	assert_near(get_row(&fixture, "app app fib")->self_share, 0.5);
	fixture_release(&fixture);
}

static void test_without_children_callers_have_no_rows(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x1100 } }, 1);
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_near(snapshot_row(fixture.snapshot, 0)->children_share, 1);
	assert_int_equal(snapshot_row(fixture.snapshot, 0)->nr_chains, 0);
	assert_true(snapshot_header(fixture.snapshot)->has_chains);
	fixture_release(&fixture);
}

static void test_filters_look_at_callers_rows_too(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x1100 } }, 1);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 3);
	fixture.spec.children = true;
	set(fixture.spec.filter, "symbol=main");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	assert_near(snapshot_row(fixture.snapshot, 0)->children_share, 0.25);
	fixture.spec.relative = true;
	run(&fixture);
	assert_near(snapshot_row(fixture.snapshot, 0)->children_share, 1);
	set(fixture.spec.filter, "");
	set(fixture.spec.symbols, "main");
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	fixture_release(&fixture);
}

static void assert_chain(const struct fixture *fixture, size_t index, double nr, const char *wanted)
{
	const struct row_chain *chain = snapshot_chain(fixture->snapshot, index);
	char text[256] = "";

	for (size_t i = 0; i < chain->nr_frames; i++) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s%s%s", i ? " < " : "", chain->frames[i],
			 chain->frames_kernel[i] ? "*" : "");
	}
	assert_string_equal(text, wanted);
	assert_near(chain->nr_samples, nr);
	assert_near(chain->period, 100 * nr);
}

static void test_chains_of_a_row_by_name_heaviest_first(void **state)
{
	struct fixture fixture;
	const struct row *row;

	(void)state;
	fixture_init(&fixture);
	/* Two call sites in main are one chain by name. */
	add_chain(&fixture, kernel(&fixture, 0, 0x1001), 1,
		  (struct location[]){ { fixture.lib, 0x1100 }, { fixture.app, 0x1100 } }, 2);
	add_chain(&fixture, kernel(&fixture, 0, 0x1002), 1,
		  (struct location[]){ { fixture.lib, 0x1200 }, { fixture.app, 0x1200 } }, 2);
	add_chain(&fixture, kernel(&fixture, 0, 0x1002), 5,
		  (struct location[]){ { fixture.app, 0x9123 },
				       { fixture.unknown, 0x55 },
				       { fixture.kernel, 0x9555 } },
		  3);
	add(&fixture, kernel(&fixture, 0, 0x1001), 1);
	fixture.spec.chains = true;
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	row = snapshot_row(fixture.snapshot, 0);
	assert_int_equal(row->nr_chains, 3);
	assert_chain(&fixture, row->first_chain, 5,
		     "do_syscall_64* < [app]+0x9123 < [unknown] < [kernel]+0x9555*");
	assert_chain(&fixture, row->first_chain + 1, 2, "do_syscall_64* < malloc < main");
	assert_chain(&fixture, row->first_chain + 2, 1, "do_syscall_64*");
	fixture.spec.max_chains = 1;
	run(&fixture);
	assert_int_equal(snapshot_nr_chains(fixture.snapshot), 1);
	fixture_release(&fixture);
}

static void test_all_chains_hold_all_samples_of_a_row(void **state)
{
	struct fixture fixture;
	const struct row *row;
	double nr_samples = 0;

	(void)state;
	fixture_init(&fixture);
	/* Told apart by name: each from another function without one. */
	for (uint64_t i = 0; i < 100; i++)
		add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
			  (struct location[]){ { fixture.app, 0x9000 + i } }, 1);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 3);
	fixture.spec.chains = true;
	run(&fixture);
	assert_int_equal(snapshot_row(fixture.snapshot, 0)->nr_chains, 32);
	fixture.spec.max_chains = SIZE_MAX;
	run(&fixture);
	assert_nr_rows(&fixture, 1);
	row = snapshot_row(fixture.snapshot, 0);
	assert_int_equal(row->nr_chains, 101);
	for (size_t i = 0; i < row->nr_chains; i++)
		nr_samples += snapshot_chain(fixture.snapshot, row->first_chain + i)->nr_samples;
	assert_near(nr_samples, 103);
	fixture_release(&fixture);
}

static void test_a_sample_without_callers_is_a_chain_of_one_frame(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 3);
	fixture.spec.chains = true;
	run(&fixture);
	assert_false(snapshot_header(fixture.snapshot)->has_chains);
	assert_int_equal(snapshot_nr_chains(fixture.snapshot), 1);
	assert_chain(&fixture, 0, 3, "main");
	fixture_release(&fixture);
}

static void test_a_caller_that_is_looked_up_is_pending_with_chains(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.lib, 0x1100 }, { fixture.app, 0x1100 } }, 2);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 3);
	fixture.app->pending = true;
	fixture.spec.chains = true;
	run(&fixture);
	assert_near(snapshot_header(fixture.snapshot)->pending_share, 0.25);
	fixture.spec.chains = false;
	run(&fixture);
	assert_near(snapshot_header(fixture.snapshot)->pending_share, 0);
	fixture_release(&fixture);
}

static void test_frames_of_a_chain_tell_where_they_are(void **state)
{
	const struct frame_place *const *places;
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, kernel(&fixture, 0, 0x1001), 1,
		  (struct location[]){ { fixture.app, 0x9123 }, { fixture.unknown, 0x55 } }, 2);
	add_chain(&fixture, user(&fixture, 0, fixture.app, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x9123 } }, 1);
	fixture.spec.chains = true;
	run(&fixture);
	assert_int_equal(snapshot_nr_chains(fixture.snapshot), 2);
	places = snapshot_chain(fixture.snapshot,
				get_row(&fixture, "app [kernel] do_syscall_64")->first_chain)
			 ->places;
	assert_string_equal(places[0]->name, "do_syscall_64");
	assert_string_equal(places[0]->dso, "[kernel]");
	assert_true(places[0]->kernel && places[0]->has_symbol);
	assert_string_equal(places[1]->name, "[app]");
	assert_string_equal(places[1]->dso, "app");
	assert_int_equal(places[1]->offset, 0x9123);
	assert_false(places[1]->kernel || places[1]->has_symbol);
	assert_string_equal(places[2]->name, "[unknown]");
	assert_ptr_equal(places[1], snapshot_chain(fixture.snapshot,
						   get_row(&fixture, "app app main")->first_chain)
					    ->places[1]);
	fixture_release(&fixture);
}

static void test_unnamed_callers_are_one_row_and_keep_their_address_in_chains(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	for (uint64_t i = 0; i < 4; i++)
		add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
			  (struct location[]){ { fixture.app, 0x9000 + i } }, 1);
	fixture.spec.children = true;
	fixture.spec.chains = true;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_near(get_row(&fixture, "app app [no symbol]")->children_share, 1);
	assert_int_equal(get_row(&fixture, "app libc.so.6 malloc")->nr_chains, 4);
	fixture_release(&fixture);
}

static void test_hidden_levels_hide_frames_but_no_user_code_below_them(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add_chain(&fixture, kernel(&fixture, 0, 0x1000), 1,
		  (struct location[]){ { fixture.kernel, 0x3100 }, { fixture.app, 0x1100 } }, 2);
	add_chain(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1,
		  (struct location[]){ { fixture.app, 0x1100 } }, 1);
	fixture.spec.children = true;
	fixture.spec.hide_user = true;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_near(get_row(&fixture, "app [kernel] net_rx_action")->children_share, 0.5);
	fixture.spec.hide_user = false;
	fixture.spec.hide_kernel = true;
	run(&fixture);
	assert_nr_rows(&fixture, 2);
	assert_near(get_row(&fixture, "app app main")->children_share, 0.5);
	fixture_release(&fixture);
}

static void test_windows_reach_the_profile(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	add(&fixture, user(&fixture, 0, fixture.app, 0x1000), 8);
	profile_slot_end(fixture.profile);
	profile_slot_begin(fixture.profile, 101 * SEC, 102 * SEC);
	add(&fixture, user(&fixture, 0, fixture.lib, 0x1000), 1);
	profile_slot_end(fixture.profile);
	fixture.spec.window = VIEW_WINDOW_TICK;
	assert_true(run(&fixture)->nr_samples == 1);
	fixture.spec.window = VIEW_WINDOW_TIME;
	assert_true(run(&fixture)->nr_samples == 9);
	assert_true(snapshot_header(fixture.snapshot)->window_ns == 2 * SEC);
	fixture.spec.window = VIEW_WINDOW_DECAY;
	assert_near(run(&fixture)->shown_samples, 8);
	assert_row(&fixture, "app app main", 7.0 / 8);
	fixture.spec.window = VIEW_WINDOW_ALL;
	assert_true(run(&fixture)->nr_samples == 9);
	assert_int_equal(snapshot_header(fixture.snapshot)->window, VIEW_WINDOW_ALL);
	fixture_release(&fixture);
}

static void test_an_empty_profile_makes_an_empty_snapshot(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture.spec.children = true;
	fixture.spec.chains = true;
	run(&fixture);
	assert_nr_rows(&fixture, 0);
	profile_slot_end(fixture.profile);
	profile_clear(fixture.profile);
	assert_true(!run(&fixture)->window_ns);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_of_one_function_are_one_row),
		cmocka_unit_test(test_rows_have_the_sort_keys_and_no_others),
		cmocka_unit_test(test_the_same_file_at_two_inodes_is_one_row),
		cmocka_unit_test(test_equal_names_in_different_objects_are_two_rows),
		cmocka_unit_test(test_a_module_stands_in_the_place_of_its_dso),
		cmocka_unit_test(test_fc111_by_process_the_leaders_name_by_thread_its_own),
		cmocka_unit_test(test_ids_are_the_same_in_the_next_snapshot),
		cmocka_unit_test(test_a_pending_name_shows_its_offset_and_merges_when_it_comes),
		cmocka_unit_test(test_fc023_what_has_no_name_gets_none),
		cmocka_unit_test(test_named_cells_are_looked_up_once_until_something_can_change),
		cmocka_unit_test(test_what_the_profile_gave_up_is_other),
		cmocka_unit_test(test_fc043_idle_is_left_out_and_counted),
		cmocka_unit_test(test_idle_symbols),
		cmocka_unit_test(test_a_user_function_named_like_idle_is_work),
		cmocka_unit_test(test_absolute_shares_are_of_all_relative_of_what_is_left),
		cmocka_unit_test(test_fc078_nothing_shown_gives_plain_zeros),
		cmocka_unit_test(test_tasks_outside_of_the_target_are_counted_apart),
		cmocka_unit_test(test_events_are_told_apart),
		cmocka_unit_test(test_filters_choose_rows),
		cmocka_unit_test(test_a_pending_name_passes_no_filter_by_symbol),
		cmocka_unit_test(test_a_wrong_filter_is_an_error),
		cmocka_unit_test(test_lists_are_exact_names),
		cmocka_unit_test(test_small_rows_are_counted_and_not_shown),
		cmocka_unit_test(test_fc078_recursion_counts_once),
		cmocka_unit_test(test_fc074_callers_are_looked_up_before_their_return_address),
		cmocka_unit_test(test_without_children_callers_have_no_rows),
		cmocka_unit_test(test_filters_look_at_callers_rows_too),
		cmocka_unit_test(test_chains_of_a_row_by_name_heaviest_first),
		cmocka_unit_test(test_all_chains_hold_all_samples_of_a_row),
		cmocka_unit_test(test_a_sample_without_callers_is_a_chain_of_one_frame),
		cmocka_unit_test(test_a_caller_that_is_looked_up_is_pending_with_chains),
		cmocka_unit_test(test_frames_of_a_chain_tell_where_they_are),
		cmocka_unit_test(test_unnamed_callers_are_one_row_and_keep_their_address_in_chains),
		cmocka_unit_test(test_hidden_levels_hide_frames_but_no_user_code_below_them),
		cmocka_unit_test(test_windows_reach_the_profile),
		cmocka_unit_test(test_an_empty_profile_makes_an_empty_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
