/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of core/event*.c share: sysfs and tracefs folders of a made-up
 * machine, and how to give one -e argument. Included once by each of them.
 */
#ifndef SYMTOP_TESTS_EVENT_FIXTURE_H
#define SYMTOP_TESTS_EVENT_FIXTURE_H

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/event.h"

#define DEVICES "sys/bus/event_source/devices/"

static char root[64];
static struct event_parser *parser;
static struct event_list list;
static struct err err;

/* ---- the fixture ---- */

static void make_folders(char *path)
{
	for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

static void put(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	make_folders(path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void put_cpu_pmu(const char *name, const char *type)
{
	static const char *const files[][2] = {
		{ "format/event", "config:0-7,32-35\n" },
		{ "format/umask", "config:8-15\n" },
		{ "format/edge", "config:18\n" },
		{ "format/cmask", "config:24-31\n" },
		{ "format/ldlat", "config1:0-15\n" },
		{ "format/offcore_rsp", "config1:0-63\n" },
		{ "format/other", "config2:4-7\n" },
		{ "events/cpu-cycles", "event=0x3c\n" },
		{ "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
		{ "events/by-core", "event=0x10,cmask=?\n" },
		{ "events/topdown.slots", "event=0x0,umask=0x4\n" },
	};
	char path[256];

	snprintf(path, sizeof(path), DEVICES "%s/type", name);
	put(path, type);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), DEVICES "%s/%s", name, files[i][0]);
		put(path, files[i][1]);
	}
}

static void put_tracepoints(void)
{
	put("tracing/events/sched/sched_switch/id", "314\n");
	put("tracing/events/sched/sched_wakeup/id", "315\n");
	put("tracing/events/sched/sched_wakeup_new/id", "316\n");
	put("tracing/events/sched/filter/none", "a folder without an id\n");
	put("tracing/events/sched/enable", "0\n");
	put("tracing/events/irq/softirq_entry/id", "90\n");
	put("tracing/events/irq/broken/id", "many\n");
	put("tracing/events/header_page", "x\n");
}

static int set_up_root(void)
{
	snprintf(root, sizeof(root), "/tmp/event-test-XXXXXX");
	memset(&list, 0, sizeof(list));
	memset(&err, 0, sizeof(err));
	return mkdtemp(root) ? 0 : -1;
}

static void make_parser(void)
{
	char sysfs[128], tracefs[128];

	snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
	snprintf(tracefs, sizeof(tracefs), "%s/tracing", root);
	event_parser_free(parser);
	parser = event_parser_new(sysfs, tracefs);
}

static int set_up(void **state)
{
	(void)state;
	if (set_up_root() < 0)
		return -1;
	put_cpu_pmu("cpu", "4\n");
	put(DEVICES "msr/type", "9"); /* no newline */
	put(DEVICES "msr/format/event", "config:0-63");
	put(DEVICES "msr/events/tsc", "event=0x00");
	put(DEVICES "uncore_imc_0/type", "12\n");
	put(DEVICES "uncore_imc_0/cpumask", "0,18\n");
	put(DEVICES "uncore_imc_0/format/event", "config:0-7\n");
	put(DEVICES "uncore_imc_0/events/reads", "event=0x4\n");
	put(DEVICES "uncore_imc_0/events/reads.scale", "6.103515625e-5\n");
	put(DEVICES "uncore_imc_0/events/reads.unit", "MiB\n");
	put_tracepoints();
	make_parser();
	return 0;
}

static int remove_one(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
	(void)stat;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	event_list_release(&list);
	event_parser_free(parser);
	parser = NULL;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int add(const char *text)
{
	memset(&err, 0, sizeof(err));
	return event_parser_add(parser, text, &list, &err);
}

/* The event that @text alone gives. */
static const struct event *one(const char *text)
{
	event_list_release(&list);
	if (add(text) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(list.nr, 1);
	return &list.events[0];
}

static void refuse(const char *text, int code, const char *part)
{
	event_list_release(&list);
	assert_int_equal(add(text), code);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, part))
		fail_msg("'%s' is not in: %s", part, err.text);
	assert_int_equal(list.nr, 0);
	assert_int_equal(event_parser_add(parser, text, &list, NULL), code);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif /* SYMTOP_TESTS_EVENT_FIXTURE_H */
