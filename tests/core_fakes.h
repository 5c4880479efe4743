/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks, dsos and a symbolizer that hold what a test puts in, for the tests of
 * chain, profile and query. Included by one .c of a test program, in place of
 * thread_table.c, dso.c and symbolizer.c. References are counted: at the end of a
 * test each object must have just the one it began with.
 */
#ifndef SYMTOP_TESTS_CORE_FAKES_H
#define SYMTOP_TESTS_CORE_FAKES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/thread_table.h"
#include "symbols/symbolizer.h"

#define FAKE_MAX_SYMBOLS 64

struct task {
	int nr_refs;
	uint32_t pid, tid, uid;
	const char *process_comm;
	bool is_target;
};

struct dso {
	int nr_refs;
	struct dso_key key;
	struct str *name, *path;
	struct symbol symbols[FAKE_MAX_SYMBOLS];
	size_t nr_symbols;
	bool pending;
	uint32_t generation;
	unsigned int nr_lookups;
};

struct symbolizer {
	int unused;
};

static UNUSED struct symbolizer fake_symbolizer;

struct task *task_get(struct task *task)
{
	task->nr_refs++;
	return task;
}

void task_put(struct task *task)
{
	if (task)
		task->nr_refs--;
}

uint32_t task_pid(const struct task *task)
{
	return task->pid;
}

uint32_t task_tid(const struct task *task)
{
	return task->tid;
}

struct str *task_process_comm(struct thread_table *table, struct task *task)
{
	(void)table;
	return str_from(task->process_comm);
}

uint32_t task_uid(struct thread_table *table, struct task *task)
{
	(void)table;
	return task->uid;
}

bool task_is_target(struct thread_table *table, struct task *task)
{
	(void)table;
	return task->is_target;
}

struct dso *dso_get(struct dso *dso)
{
	dso->nr_refs++;
	return dso;
}

void dso_put(struct dso *dso)
{
	if (dso)
		dso->nr_refs--;
}

enum dso_kind dso_kind(const struct dso *dso)
{
	return (enum dso_kind)dso->key.kind;
}

struct str *dso_path(const struct dso *dso)
{
	return dso->path;
}

struct str *dso_name(const struct dso *dso)
{
	return dso->name;
}

uint32_t symbolizer_generation(const struct dso *dso)
{
	return dso->generation;
}

enum lookup symbolizer_lookup(struct symbolizer *symbolizer, struct dso *dso, uint64_t offset,
			      const struct symbol **ret_symbol)
{
	(void)symbolizer;
	dso->nr_lookups++;
	if (dso->pending)
		return LOOKUP_PENDING;
	for (size_t i = 0; i < dso->nr_symbols; i++) {
		const struct symbol *symbol = &dso->symbols[i];

		if (offset >= symbol->start && offset < symbol->end) {
			*ret_symbol = symbol;
			return LOOKUP_FOUND;
		}
	}
	return LOOKUP_NONE;
}

static UNUSED struct dso *fake_dso(enum dso_kind kind, const char *path)
{
	struct dso *dso = mem_zalloc(sizeof(*dso));
	const char *slash = strrchr(path, '/');

	dso->nr_refs = 1;
	dso->key.kind = (uint32_t)kind;
	dso->path = str_from(path);
	dso->name = str_from(slash ? slash + 1 : path);
	return dso;
}

static UNUSED void fake_symbol(struct dso *dso, uint64_t start, uint64_t end, const char *name)
{
	assert_true(dso->nr_symbols < FAKE_MAX_SYMBOLS);
	dso->symbols[dso->nr_symbols++] =
		(struct symbol){ .start = start, .end = end, .name = name, .raw = name };
}

static UNUSED void fake_dso_free(struct dso *dso)
{
	assert_int_equal(dso->nr_refs, 1);
	str_put(dso->path);
	str_put(dso->name);
	free(dso);
}

#endif /* SYMTOP_TESTS_CORE_FAKES_H */
