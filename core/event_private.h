/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the event parser share; nobody else includes this.
 *
 * event.c             the grammar: lists, groups, modifiers
 * event_name.c        the kernel's generic names, and which name was meant
 * event_pmu.c         PMUs of sysfs
 * event_tracepoint.c  tracepoints of tracefs
 *
 * Threads: an event_parser and all it holds is used by one thread at a time.
 */
#ifndef SYMTOP_CORE_EVENT_PRIVATE_H
#define SYMTOP_CORE_EVENT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/event.h"

/* ---- event_name.c ---- */

/* Strings that the list owns. Zero-initialised it is empty. */
struct name_list {
	char **names;
	size_t nr;
	size_t nr_allocated;
};

/* @name is taken. */
void name_list_take(struct name_list *list, char *name);
void name_list_sort(struct name_list *list);
void name_list_release(struct name_list *list);

/* A name that may be part of a path: letters, digits, "_-.", not at first a dot. */
bool event_name_is_safe(const char *name);

/* The names in the folder at @fmt, sorted, unsafe ones left out. Returns 0 or -errno. */
int event_read_dir(struct name_list *ret_names, const char *fmt, ...) PRINTF(2, 3) MUST_CHECK;

/*
 * The first line of the file at @fmt, without the blanks at its end. Never blocks.
 * Returns 0, -E2BIG (longer than @size - 1), or what open(2) and read(2) reported.
 */
int event_read_file(char *ret_text, size_t size, const char *fmt, ...) PRINTF(3, 4) MUST_CHECK;

/* A whole string as a number; base 0: decimal or 0x. False for anything else. */
bool event_parse_u64(const char *text, int base, uint64_t *ret_value);

/* Set type and config of a generic hardware, software, cache or raw event name. */
bool event_find_generic(const char *name, struct perf_event_attr *attr);

typedef void (*event_each_fn)(void *arg, const char *name, const char *kind);

void event_each_generic(event_each_fn each, void *arg);

/* The known names that are nearest to a wrong one. */
#define NEAR_NAMES 3
struct near_names {
	const char *wanted;
	size_t nr;
	unsigned int distances[NEAR_NAMES]; /* ascending */
	char names[NEAR_NAMES][80];
};

void near_names_init(struct near_names *near, const char *wanted);
void near_names_offer(struct near_names *near, const char *name);

/* "did you mean a, b or c?", or nothing. */
void near_names_hint(const struct near_names *near, struct err *err);

/* ---- event_pmu.c ---- */

struct pmu;
struct pmu_table;

struct pmu_table *pmu_table_new(const char *sysfs);
void pmu_table_free(struct pmu_table *table);

/* Borrowed until the table ends; read at the first call. NULL: no such PMU, see @err. */
struct pmu *pmu_table_find(struct pmu_table *table, const char *name, struct err *err);

/*
 * The PMUs of the CPU cores, one after the other (@from 0, 1, ...), NULL at the end:
 * "cpu", or one for each kind of core on a hybrid machine.
 */
struct pmu *pmu_table_core(struct pmu_table *table, size_t from);

/* One of several kinds of cores: generic events must name it. */
bool pmu_is_hybrid(const struct pmu *pmu);
bool pmu_is_core(const struct pmu *pmu);
const char *pmu_name(const struct pmu *pmu);
uint32_t pmu_type(const struct pmu *pmu);
bool pmu_has_event(const struct pmu *pmu, const char *name);

/* Restrict @event to the CPUs of @pmu, when it has such. */
void pmu_restrict_cpus(const struct pmu *pmu, struct event *event);

/* Fill @event from "term=value,event,flag" as between the slashes of pmu/.../. */
int pmu_parse_terms(const struct pmu *pmu, const char *terms, struct event *event,
		    struct err *err) MUST_CHECK;

void pmu_table_each(struct pmu_table *table, event_each_fn each, void *arg);

/* ---- event_tracepoint.c ---- */

bool tracepoint_has_subsystem(const char *tracefs, const char *subsystem);

/* The tracepoints of @subsystem that @pattern (fnmatch(3)) matches, one at least. */
int tracepoint_match(const char *tracefs, const char *subsystem, const char *pattern,
		     struct name_list *ret_names, struct err *err) MUST_CHECK;
int tracepoint_read_id(const char *tracefs, const char *subsystem, const char *name,
		       uint64_t *ret_id, struct err *err) MUST_CHECK;
void tracepoint_each(const char *tracefs, event_each_fn each, void *arg);

#endif /* SYMTOP_CORE_EVENT_PRIVATE_H */
