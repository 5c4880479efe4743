/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event names -> perf_event_attr.
 *
 * Understood (perf-list(1) forms): generic hardware, software and cache names,
 * rNNN, pmu/term=value,.../ and pmu/event/ from sysfs
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format}),
 * subsys:tracepoint from tracefs, each with modifiers :ukhHGDSWpppPe after it;
 * several separated by commas, groups in {}.
 *
 * On a hybrid machine a generic name becomes one event for each kind of core,
 * "cpu_core/cycles/" and "cpu_atom/cycles/", each restricted to its CPUs.
 *
 * Reads of sysfs are done once per PMU and kept in the event_parser.
 */
#ifndef SYMTOP_CORE_EVENT_H
#define SYMTOP_CORE_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/cpumap.h"

struct event {
	char *name; /* as the user wrote it, with modifiers */
	struct perf_event_attr
		attr;	    /* what to count: type, config*, exclude_*, pinned, precise_ip */
	bool precise_max;   /* :P: as precise as the machine can */
	bool user_excludes; /* the user said which levels (u, k, h): never widened, never narrowed
			     */
	bool named_by_user; /* false for the default event */
	bool weak;	    /* :W */
	int group;	    /* events of one {} have the same number >= 0; -1: alone */
	bool has_cpus;	    /* cpus is a restriction (uncore, hybrid PMUs) */
	struct cpuset cpus;
	double scale;  /* from sysfs EVENT.scale, 1.0 otherwise */
	char unit[16]; /* from sysfs EVENT.unit, "" otherwise */
};

struct event_list {
	struct event *events;
	size_t nr;
};

struct event_parser;

/* @sysfs ("/sys") and @tracefs ("/sys/kernel/tracing") are copied. Never NULL. */
struct event_parser *event_parser_new(const char *sysfs, const char *tracefs);
void event_parser_free(struct event_parser *parser);

/*
 * Parse one -e argument and append its events to @list (zero-initialised at first).
 * Returns 0, or -EINVAL/-ENOENT/-EACCES with a message that names the part of the
 * text that is wrong and, for a name that is nearly right, the nearest known ones.
 * On failure @list is as it was.
 */
int event_parser_add(struct event_parser *parser, const char *text, struct event_list *list,
		     struct err *err) MUST_CHECK;

/* Append the default event, cycles:P, not named by the user. */
void event_list_add_default(struct event_list *list);

void event_list_release(struct event_list *list);

/*
 * Turn @event into cpu-clock in place (name, attr); excludes are kept. For a
 * machine without the hardware event it named.
 */
void event_become_cpu_clock(struct event *event);

/* The name of what @attr counts when it is a generic event, else NULL. */
const char *event_generic_name(const struct perf_event_attr *attr);

/*
 * Every name known on this machine, sorted, one per line with its kind, for --list
 * and completion: calls @each for each.
 */
void event_parser_list(struct event_parser *parser,
		       void (*each)(void *arg, const char *name, const char *kind), void *arg);

#endif /* SYMTOP_CORE_EVENT_H */
