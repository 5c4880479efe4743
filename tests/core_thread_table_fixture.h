/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table with its dsos, short words for facts, and questions with a yes or no. */
#ifndef SYMTOP_TESTS_CORE_THREAD_TABLE_FIXTURE_H
#define SYMTOP_TESTS_CORE_THREAD_TABLE_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/compiler.h"
#include "core/base/mem.h"
#include "core/thread_table.h"

#define SECOND UINT64_C(1000000000)

struct fixture {
	struct dso_table *dsos;
	struct thread_table *table;
	size_t nr_new_dsos;
};

static UNUSED void count_new_dso(void *arg, struct dso *dso)
{
	struct fixture *fixture = arg;

	/* No lock is held: the table may be asked. */
	thread_table_check_invariants(fixture->table);
	assert_non_null(dso_path(dso));
	fixture->nr_new_dsos++;
}

static UNUSED struct fixture *fixture_new(size_t max_tasks)
{
	struct fixture *fixture = mem_zalloc(sizeof(*fixture));
	struct thread_table_options options = {
		.max_tasks = max_tasks,
		.on_new_dso = count_new_dso,
		.arg = fixture,
	};

	fixture->dsos = dso_table_new();
	options.dsos = fixture->dsos;
	fixture->table = thread_table_new(&options);
	return fixture;
}

static UNUSED int setup(void **state)
{
	*state = fixture_new(0);
	return 0;
}

static UNUSED int setup_small(void **state)
{
	*state = fixture_new(100);
	return 0;
}

static UNUSED int teardown(void **state)
{
	struct fixture *fixture = *state;
	uint64_t nr_dsos, nr_files;

	thread_table_check_invariants(fixture->table);
	thread_table_free(fixture->table);
	dso_table_stats(fixture->dsos, &nr_dsos, &nr_files);
	dso_table_free(fixture->dsos);
	free(fixture);
	return nr_dsos ? -1 : 0;
}

static UNUSED struct thread_table *table_of(void **state)
{
	return ((struct fixture *)*state)->table;
}

static UNUSED void add_map(struct thread_table *table, uint32_t pid, uint64_t start, uint64_t inode,
			   uint64_t time_ns)
{
	struct map_fact map = { .start = start,
				.end = start + 0x1000,
				.dev_major = 8,
				.inode = inode,
				.path = "/bin/x" };

	thread_table_mmap(table, pid, &map, time_ns);
}

static UNUSED void add_path(struct thread_table *table, uint32_t pid, uint64_t start,
			    const char *path, uint64_t time_ns)
{
	struct map_fact map = {
		.start = start, .end = start + 0x1000, .pgoff = 0x3000, .path = path
	};

	thread_table_mmap(table, pid, &map, time_ns);
}

/* The file at @ip, 0: no map, -1: not yet. */
static UNUSED int64_t inode_at(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t ip,
			       uint64_t time_ns)
{
	struct task *task = thread_table_get(table, pid, tid, time_ns, NULL);
	struct location location = { 0 };
	int64_t inode = 0;

	switch (thread_table_locate(table, task, ip, time_ns, &location)) {
	case LOCATE_FOUND:
		inode = (int64_t)dso_key(location.dso)->inode;
		dso_put(location.dso);
		break;
	case LOCATE_NO_MAP:
		break;
	case LOCATE_NOT_YET:
		inode = -1;
		break;
	}
	task_put(task);
	thread_table_check_invariants(table);
	return inode;
}

static UNUSED void assert_comm(struct thread_table *table, uint32_t pid, uint32_t tid,
			       uint64_t time_ns, const char *expected)
{
	struct task *task = thread_table_get(table, pid, tid, time_ns, NULL);
	struct str *comm = task_comm(table, task, time_ns);

	assert_string_equal(comm->text, expected);
	str_put(comm);
	task_put(task);
}

static UNUSED void assert_process_comm(struct thread_table *table, uint32_t pid, uint32_t tid,
				       uint64_t time_ns, const char *expected)
{
	struct task *task = thread_table_get(table, pid, tid, time_ns, NULL);
	struct str *comm = task_process_comm(table, task);

	assert_string_equal(comm->text, expected);
	str_put(comm);
	task_put(task);
}

/* Does looking at the task ask for a scan? */
static UNUSED bool asks(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	bool needs_scan = false;

	task_put(thread_table_get(table, pid, tid, time_ns, &needs_scan));
	return needs_scan;
}

/* A scan from @start_ns to @start_ns + 10 of @pid with one map of @inode at 0x1000 (0: none). */
static UNUSED struct synth_process scan_of(uint32_t pid, const char *comm, uint64_t inode,
					   uint64_t start_ns)
{
	static struct synth_thread thread;
	static struct map_fact map;

	thread = (struct synth_thread){ .tid = pid };
	snprintf(thread.comm, sizeof(thread.comm), "%s", comm);
	map = (struct map_fact){ .start = 0x1000,
				 .end = 0x2000,
				 .dev_major = 8,
				 .inode = inode,
				 .path = "/bin/scanned" };
	return (struct synth_process){
		.pid = pid,
		.ppid = 1,
		.uid = 1000,
		.has_maps = true,
		.scan_start_ns = start_ns,
		.scan_end_ns = start_ns + 10,
		.threads = &thread,
		.nr_threads = 1,
		.maps = &map,
		.nr_maps = inode ? 1 : 0,
	};
}

static UNUSED void scan(struct thread_table *table, uint32_t pid, const char *comm, uint64_t inode,
			uint64_t start_ns)
{
	struct synth_process process = scan_of(pid, comm, inode, start_ns);

	thread_table_synthesize(table, &process);
	thread_table_check_invariants(table);
}

static UNUSED bool changed(struct thread_table *table, uint32_t pid)
{
	uint64_t bits[1024];
	bool is_changed;

	thread_table_take_changed(table, bits);
	is_changed = bits[(pid & 0xffff) / 64] >> (pid % 64) & 1;
	return is_changed;
}

static UNUSED struct thread_table_stats stats_of(struct thread_table *table)
{
	struct thread_table_stats stats;

	thread_table_get_stats(table, &stats);
	return stats;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif /* SYMTOP_TESTS_CORE_THREAD_TABLE_FIXTURE_H */
