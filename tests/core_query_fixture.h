/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A real profile with fake tasks, dsos and symbols, and queries over it. A row is named in
 * the tests as "comm:pid/tid dso symbol cpu node event", with what is not in use left out.
 * Included by one .c of a test program, as core_fakes.h is.
 */
#ifndef SYMTOP_TESTS_CORE_QUERY_FIXTURE_H
#define SYMTOP_TESTS_CORE_QUERY_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/query.h"
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

static const char *const fixture_event_names[] = { "cycles", "page-faults" };

static inline void fixture_init(struct fixture *fixture)
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
		.event_names = fixture_event_names,
		.nr_events = 1,
		.refresh_ns = SEC,
	};
	view_spec_init(&fixture->spec);
	profile_slot_begin(fixture->profile, 100 * SEC, 101 * SEC);
}

static inline void fixture_release(struct fixture *fixture)
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

static inline struct cell_key user(struct fixture *fixture, size_t task, struct dso *dso,
				   uint64_t offset)
{
	return (struct cell_key){
		.task = &fixture->tasks[task],
		.comm = fixture->comm,
		.dso = dso,
		.offset = offset,
		.chain = CHAIN_NONE,
	};
}

static inline struct cell_key kernel(struct fixture *fixture, size_t task, uint64_t offset)
{
	struct cell_key key = user(fixture, task, fixture->kernel, offset);

	key.flags = CELL_KERNEL;
	return key;
}

static inline struct cell_key idle(struct fixture *fixture, uint64_t offset)
{
	struct cell_key key = kernel(fixture, 0, offset);

	key.task = &fixture->idle;
	key.comm = fixture->swapper;
	key.flags |= CELL_IDLE_TASK;
	return key;
}

static inline void add(struct fixture *fixture, struct cell_key key, uint64_t nr)
{
	profile_add(fixture->profile, &key, nr, 100 * nr);
}

/* Callers as return addresses, innermost first. */
static inline void add_chain(struct fixture *fixture, struct cell_key key, uint64_t nr,
			     const struct location *callers, size_t nr_callers)
{
	key.chain = chain_table_add(profile_chains(fixture->profile), callers, nr_callers);
	add(fixture, key, nr);
}

static inline const struct snapshot_header *run(struct fixture *fixture)
{
	struct err err;

	snapshot_put(fixture->snapshot);
	fixture->snapshot = NULL;
	if (query_run(&fixture->context, &fixture->spec, &fixture->snapshot, &err) < 0)
		fail_msg("%s", err.text);
	return snapshot_header(fixture->snapshot);
}

static inline void run_keys(struct fixture *fixture, const char *keys)
{
	assert_int_equal(sort_keys_parse(keys, &fixture->spec.keys, NULL), 0);
	run(fixture);
}

static inline void row_text(const struct row *row, char *text, size_t size)
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

static inline const struct row *find_row(const struct fixture *fixture, const char *name)
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

static inline const struct row *get_row(const struct fixture *fixture, const char *name)
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
	abort(); /* no compiler knows that the line before does not return */
}

static inline void assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) < 1e-9))
		fail_msg("%f instead of %f", value, wanted);
}

static inline void assert_row(const struct fixture *fixture, const char *name, double self_share)
{
	assert_near(get_row(fixture, name)->self_share, self_share);
}

static inline void assert_nr_rows(const struct fixture *fixture, size_t nr)
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

static inline void set(char *text, const char *value)
{
	snprintf(text, 256, "%s", value);
}

#endif /* SYMTOP_TESTS_CORE_QUERY_FIXTURE_H */
