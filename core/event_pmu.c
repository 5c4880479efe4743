/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PMUs as sysfs describes them, below bus/event_source/devices:
 *
 *   PMU/type           number for perf_event_attr.type
 *   PMU/format/TERM    "config:0-7,32-35": the bits, lowest first, that a value fills
 *   PMU/events/EVENT   "event=0x3c,umask=0x1": terms; EVENT.scale, EVENT.unit
 *   PMU/cpus           (cores of one kind) or PMU/cpumask (uncore): where it can count
 *
 * A big machine has hundreds of PMUs, so the names are listed once and a PMU is read
 * when it is first named. Nothing read here is believed: what does not parse makes
 * that term or event unusable, with an error for who asks for it.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/event_private.h"

#define DEVICES "bus/event_source/devices"

/* The longest text in sysfs is a page; a terms line that long is nonsense. */
#define TERMS_BYTES 1024

/* Which bits of which config a value fills; nr_bits 0: sysfs made no sense. */
struct pmu_format {
	char *name;
	unsigned int nr_config; /* 0: config, 1: config1, 2: config2 */
	unsigned int nr_bits;
	uint8_t bits[64];
};

struct pmu_event {
	char *name;
	char *terms; /* NULL: unreadable */
	double scale;
	char unit[16];
};

struct pmu {
	char *name;
	bool is_read;
	bool is_other; /* known to be no core, without having been read */
	int error;     /* why it cannot be used, 0: it can */
	uint32_t type;
	bool has_cpus; /* from cpus or cpumask */
	bool is_core;
	bool is_hybrid;
	struct cpuset cpus;
	struct pmu_format *formats;
	size_t nr_formats;
	struct pmu_event *events;
	size_t nr_events;
};

struct pmu_table {
	char *sysfs;
	bool is_listed;
	struct pmu *pmus; /* sorted by name */
	size_t nr;
};

/* The part of *@rest up to the next comma, which is cut off; NULL at the end. */
static char *next_part(char **rest)
{
	char *part = *rest;

	if (!part)
		return NULL;
	*rest = strchr(part, ',');
	if (*rest)
		*(*rest)++ = '\0';
	return part;
}

/* ---- reading ---- */

static bool read_range(const char *text, struct pmu_format *format)
{
	char copy[32];
	uint64_t from, to;
	char *dash;

	if (strlen(text) >= sizeof(copy))
		return false;
	snprintf(copy, sizeof(copy), "%s", text);
	dash = strchr(copy, '-');
	if (dash)
		*dash = '\0';
	if (!event_parse_u64(copy, 10, &from))
		return false;
	to = from;
	if (dash && !event_parse_u64(dash + 1, 10, &to))
		return false;
	if (to > 63 || from > to || format->nr_bits + (to - from + 1) > 64)
		return false;
	for (uint64_t bit = from; bit <= to; bit++)
		format->bits[format->nr_bits++] = (uint8_t)bit;
	return true;
}

/* "config:0-7,32-35", "config1:3" */
static bool parse_format(char *text, struct pmu_format *format)
{
	static const char *const configs[] = { "config", "config1", "config2" };
	char *colon = strchr(text, ':');
	char *rest, *range;

	if (!colon)
		return false;
	*colon = '\0';
	rest = colon + 1;
	while (strcmp(text, configs[format->nr_config])) {
		if (++format->nr_config == ARRAY_SIZE(configs))
			return false;
	}
	while ((range = next_part(&rest))) {
		if (!read_range(range, format))
			return false;
	}
	return format->nr_bits > 0;
}

static void read_formats(struct pmu *pmu, const char *dir)
{
	struct name_list names = { 0 };
	char text[256];

	if (event_read_dir(&names, "%s/format", dir) < 0)
		return;
	pmu->formats = mem_calloc(names.nr, sizeof(*pmu->formats));
	for (size_t i = 0; i < names.nr; i++) {
		struct pmu_format *format = &pmu->formats[pmu->nr_formats++];

		format->name = mem_strdup(names.names[i]);
		if (event_read_file(text, sizeof(text), "%s/format/%s", dir, format->name) < 0 ||
		    !parse_format(text, format))
			format->nr_bits = 0;
	}
	name_list_release(&names);
}

/* "cas_count_read.scale" describes "cas_count_read"; ".snapshot", ".per-pkg" likewise. */
static bool is_attribute(const char *name)
{
	static const char *const suffixes[] = { ".scale", ".unit", ".snapshot", ".per-pkg" };
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t suffix_len = strlen(suffixes[i]);

		if (len > suffix_len && !strcmp(name + len - suffix_len, suffixes[i]))
			return true;
	}
	return false;
}

/* In the C locale: sysfs has a point where the user's language may have a comma. */
static bool parse_scale(const char *text, double *ret_scale)
{
	locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	double scale;
	char *end;

	if (!c_locale)
		return false;
	scale = strtod_l(text, &end, c_locale);
	freelocale(c_locale);
	if (end == text || *end || !(scale > 0 && scale < 1e30))
		return false;
	*ret_scale = scale;
	return true;
}

static void read_event(struct pmu_event *event, const char *dir, const char *name)
{
	char text[TERMS_BYTES];

	event->name = mem_strdup(name);
	if (event_read_file(text, sizeof(text), "%s/events/%s", dir, name) == 0)
		event->terms = mem_strdup(text);
	if (event_read_file(text, sizeof(text), "%s/events/%s.scale", dir, name) < 0 ||
	    !parse_scale(text, &event->scale))
		event->scale = 1.0;
	if (event_read_file(event->unit, sizeof(event->unit), "%s/events/%s.unit", dir, name) < 0)
		event->unit[0] = '\0';
}

static void read_events(struct pmu *pmu, const char *dir)
{
	struct name_list names = { 0 };

	if (event_read_dir(&names, "%s/events", dir) < 0)
		return;
	pmu->events = mem_calloc(names.nr, sizeof(*pmu->events));
	for (size_t i = 0; i < names.nr; i++) {
		if (!is_attribute(names.names[i]))
			read_event(&pmu->events[pmu->nr_events++], dir, names.names[i]);
	}
	name_list_release(&names);
}

/*
 * Cores of several kinds have PMUs "cpu_*" with a file "cpus" on x86. Those of other
 * architectures may have that file too; there the kernel finds the PMU of a CPU by
 * itself, so their generic events need not name it.
 */
static void read_cpus(struct pmu *pmu, const char *dir)
{
	char text[4096];
	bool has_cpus_file = event_read_file(text, sizeof(text), "%s/cpus", dir) == 0;

	pmu->is_core = has_cpus_file || !strcmp(pmu->name, "cpu");
	pmu->is_hybrid = has_cpus_file && !strncmp(pmu->name, "cpu_", 4);
	if (!has_cpus_file && event_read_file(text, sizeof(text), "%s/cpumask", dir) < 0)
		return;
	pmu->has_cpus = cpuset_parse(text, &pmu->cpus, NULL) == 0 && cpuset_nr(&pmu->cpus) > 0;
}

static void read_pmu(struct pmu_table *table, struct pmu *pmu)
{
	char dir[PATH_MAX], text[32];
	uint64_t type;

	pmu->is_read = true;
	snprintf(dir, sizeof(dir), "%s/" DEVICES "/%s", table->sysfs, pmu->name);
	pmu->error = event_read_file(text, sizeof(text), "%s/type", dir);
	if (pmu->error)
		return;
	if (!event_parse_u64(text, 10, &type) || type > UINT32_MAX) {
		pmu->error = -EINVAL;
		return;
	}
	pmu->type = (uint32_t)type;
	read_formats(pmu, dir);
	read_events(pmu, dir);
	read_cpus(pmu, dir);
}

static void list_pmus(struct pmu_table *table)
{
	struct name_list names = { 0 };

	if (table->is_listed)
		return;
	table->is_listed = true;
	if (event_read_dir(&names, "%s/" DEVICES, table->sysfs) < 0)
		return;
	table->pmus = mem_calloc(names.nr, sizeof(*table->pmus));
	for (size_t i = 0; i < names.nr; i++)
		table->pmus[table->nr++].name = mem_strdup(names.names[i]);
	name_list_release(&names);
}

/* ---- the table ---- */

struct pmu_table *pmu_table_new(const char *sysfs)
{
	struct pmu_table *table = mem_zalloc(sizeof(*table));

	table->sysfs = mem_strdup(sysfs);
	return table;
}

void pmu_table_free(struct pmu_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->nr; i++) {
		struct pmu *pmu = &table->pmus[i];

		for (size_t j = 0; j < pmu->nr_formats; j++)
			free(pmu->formats[j].name);
		for (size_t j = 0; j < pmu->nr_events; j++) {
			free(pmu->events[j].name);
			free(pmu->events[j].terms);
		}
		free(pmu->formats);
		free(pmu->events);
		free(pmu->name);
	}
	free(table->pmus);
	free(table->sysfs);
	free(table);
}

struct pmu *pmu_table_find(struct pmu_table *table, const char *name, struct err *err)
{
	struct near_names near;

	list_pmus(table);
	near_names_init(&near, name);
	for (size_t i = 0; i < table->nr; i++) {
		struct pmu *pmu = &table->pmus[i];

		near_names_offer(&near, pmu->name);
		if (strcmp(pmu->name, name))
			continue;
		if (!pmu->is_read)
			read_pmu(table, pmu);
		if (!pmu->error)
			return pmu;
		err_set(err, pmu->error, "PMU '%s': cannot read its type in sysfs", name);
		return NULL;
	}
	err_say(err, -ENOENT, "no PMU '%s' on this machine", name);
	near_names_hint(&near, err);
	return NULL;
}

struct pmu *pmu_table_core(struct pmu_table *table, size_t from)
{
	list_pmus(table);
	for (size_t i = 0; i < table->nr; i++) {
		struct pmu *pmu = &table->pmus[i];
		char path[PATH_MAX];

		if (!pmu->is_read && !pmu->is_other) {
			/* Ask for one file first: of hundreds of PMUs one or two are cores. */
			snprintf(path, sizeof(path), "%s/" DEVICES "/%s/cpus", table->sysfs,
				 pmu->name);
			pmu->is_other = strcmp(pmu->name, "cpu") && access(path, F_OK) < 0;
			if (!pmu->is_other)
				read_pmu(table, pmu);
		}
		if (pmu->is_core && !pmu->error && from-- == 0)
			return pmu;
	}
	return NULL;
}

bool pmu_is_hybrid(const struct pmu *pmu)
{
	return pmu->is_hybrid;
}

bool pmu_is_core(const struct pmu *pmu)
{
	return pmu->is_core;
}

const char *pmu_name(const struct pmu *pmu)
{
	return pmu->name;
}

uint32_t pmu_type(const struct pmu *pmu)
{
	return pmu->type;
}

static const struct pmu_event *find_event(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nr_events; i++) {
		if (!strcmp(pmu->events[i].name, name))
			return &pmu->events[i];
	}
	return NULL;
}

static const struct pmu_format *find_format(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nr_formats; i++) {
		if (!strcmp(pmu->formats[i].name, name))
			return &pmu->formats[i];
	}
	return NULL;
}

bool pmu_has_event(const struct pmu *pmu, const char *name)
{
	return find_event(pmu, name);
}

void pmu_restrict_cpus(const struct pmu *pmu, struct event *event)
{
	event->has_cpus = pmu->has_cpus;
	if (pmu->has_cpus)
		event->cpus = pmu->cpus;
}

void pmu_table_each(struct pmu_table *table, event_each_fn each, void *arg)
{
	char name[256];

	list_pmus(table);
	for (size_t i = 0; i < table->nr; i++) {
		struct pmu *pmu = &table->pmus[i];

		if (!pmu->is_read)
			read_pmu(table, pmu);
		for (size_t j = 0; j < pmu->nr_events && !pmu->error; j++) {
			snprintf(name, sizeof(name), "%s/%s/", pmu->name, pmu->events[j].name);
			each(arg, name, "pmu");
		}
	}
}

/* ---- terms ---- */

/* What the terms of one event are put together from. */
struct terms {
	const struct pmu *pmu;
	const char *text; /* as the user wrote them */
	struct event *event;
	struct err *err;
};

static void set_bits(const struct pmu_format *format, uint64_t value, struct perf_event_attr *attr)
{
	uint64_t config = format->nr_config == 0   ? attr->config
			  : format->nr_config == 1 ? attr->config1
						   : attr->config2;

	for (unsigned int i = 0; i < format->nr_bits; i++) {
		config &= ~(UINT64_C(1) << format->bits[i]);
		config |= (value >> i & 1) << format->bits[i];
	}
	if (format->nr_config == 0)
		attr->config = config;
	else if (format->nr_config == 1)
		attr->config1 = config;
	else
		attr->config2 = config;
}

static int set_term(struct terms *terms, const char *name, const char *value_text)
{
	const struct pmu_format *format = find_format(terms->pmu, name);
	struct perf_event_attr *attr = &terms->event->attr;
	const char *pmu_name = terms->pmu->name;
	uint64_t value = 1;

	if (value_text && !event_parse_u64(value_text, 0, &value))
		return err_say(terms->err, -EINVAL, "%s/%s/: '%s' is no value for %s", pmu_name,
			       terms->text, value_text, name);
	if (format && !format->nr_bits)
		return err_say(terms->err, -EINVAL,
			       "%s/%s/: sysfs describes term '%s' in a way symtop cannot read",
			       pmu_name, terms->text, name);
	if (format && format->nr_bits < 64 && value >> format->nr_bits)
		return err_say(terms->err, -EINVAL, "%s/%s/: %s=%s does not fit its %u bits",
			       pmu_name, terms->text, name, value_text, format->nr_bits);
	if (format)
		set_bits(format, value, attr);
	else if (value_text && !strcmp(name, "config"))
		attr->config = value;
	else if (value_text && !strcmp(name, "config1"))
		attr->config1 = value;
	else if (value_text && !strcmp(name, "config2"))
		attr->config2 = value;
	else
		return -ENOENT;
	return 0;
}

static int unknown_term(struct terms *terms, const char *name)
{
	struct near_names near;

	near_names_init(&near, name);
	for (size_t i = 0; i < terms->pmu->nr_events; i++)
		near_names_offer(&near, terms->pmu->events[i].name);
	for (size_t i = 0; i < terms->pmu->nr_formats; i++)
		near_names_offer(&near, terms->pmu->formats[i].name);
	err_say(terms->err, -ENOENT, "%s/%s/: PMU '%s' has no term or event '%s'", terms->pmu->name,
		terms->text, terms->pmu->name, name);
	near_names_hint(&near, terms->err);
	return -ENOENT;
}

/* Does the user give a value for @name, which sysfs leaves open with "name=?"? */
static bool user_gives(const struct terms *terms, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = terms->text; (at = strstr(at, name)); at++) {
		if ((at == terms->text || at[-1] == ',') && at[len] == '=')
			return true;
	}
	return false;
}

/* The terms that sysfs has for an event. They name no further event. */
static int apply_event(struct terms *terms, const struct pmu_event *event)
{
	char *copy, *rest, *term;
	int ret = 0;

	if (!event->terms)
		return err_say(terms->err, -EINVAL, "%s/%s/: cannot read event '%s' in sysfs",
			       terms->pmu->name, terms->text, event->name);
	rest = copy = mem_strdup(event->terms);
	while (!ret && (term = next_part(&rest))) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if (value && !strcmp(value, "?")) {
			if (!user_gives(terms, term))
				ret = err_say(terms->err, -EINVAL,
					      "%s/%s/: event '%s' needs a value: add %s=...",
					      terms->pmu->name, terms->text, event->name, term);
			continue;
		}
		ret = set_term(terms, term, value);
		if (ret == -ENOENT)
			ret = err_say(terms->err, -EINVAL,
				      "%s/%s/: event '%s' has a term '%s' that the PMU lacks",
				      terms->pmu->name, terms->text, event->name, term);
	}
	free(copy);
	terms->event->scale = event->scale;
	memcpy(terms->event->unit, event->unit, sizeof(event->unit));
	return ret;
}

static int apply_term(struct terms *terms, char *term)
{
	const struct pmu_event *event = find_event(terms->pmu, term);
	struct perf_event_attr raw = { 0 };
	char *value = strchr(term, '=');
	int ret;

	if (event)
		return apply_event(terms, event);
	if (value)
		*value++ = '\0';
	ret = set_term(terms, term, value);
	if (ret != -ENOENT)
		return ret;
	if (!value && event_find_generic(term, &raw) && raw.type == PERF_TYPE_RAW) {
		terms->event->attr.config = raw.config;
		return 0;
	}
	return unknown_term(terms, term);
}

int pmu_parse_terms(const struct pmu *pmu, const char *text, struct event *event, struct err *err)
{
	struct terms terms = { .pmu = pmu, .text = text, .event = event, .err = err };
	char *copy = mem_strdup(text), *rest = copy, *term;
	int ret = 0;

	event->attr.type = pmu->type;
	pmu_restrict_cpus(pmu, event);
	while (!ret && (term = next_part(&rest))) {
		term += strspn(term, " \t");
		for (size_t len = strlen(term); len && strchr(" \t", term[len - 1]);)
			term[--len] = '\0';
		ret = *term ? apply_term(&terms, term)
			    : err_say(err, -EINVAL, "%s/%s/: a term is missing", pmu->name, text);
	}
	free(copy);
	return ret;
}
