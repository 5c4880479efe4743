/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that need no file: tables of what linux/perf_event.h numbers, and what all
 * parts of the event parser use to read small files and to guess at wrong names.
 *
 * The name of a cache event is made of cache, operation and result (the kernel's
 * PERF_COUNT_HW_CACHE_*), so it is taken apart rather than listed.
 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/event_private.h"

struct generic_event {
	const char *name;
	uint32_t type;
	uint32_t config;
};

#define HARDWARE(name, id)                                   \
	{                                                    \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id \
	}
#define SOFTWARE(name, id)                                   \
	{                                                    \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id \
	}

static const struct generic_event generic_events[] = {
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("faults", PAGE_FAULTS),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cs", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("migrations", CPU_MIGRATIONS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
	SOFTWARE("dummy", DUMMY),
	SOFTWARE("bpf-output", BPF_OUTPUT),
	SOFTWARE("cgroup-switches", CGROUP_SWITCHES),
};

/* By PERF_COUNT_HW_CACHE_OP_*. */
static const struct {
	const char *one, *many;
} cache_ops[] = {
	{ "load", "loads" },
	{ "store", "stores" },
	{ "prefetch", "prefetches" },
};

enum {
	LOADS = 1 << PERF_COUNT_HW_CACHE_OP_READ,
	STORES = 1 << PERF_COUNT_HW_CACHE_OP_WRITE,
	PREFETCHES = 1 << PERF_COUNT_HW_CACHE_OP_PREFETCH,
};

/* By PERF_COUNT_HW_CACHE_*, with the operations that make sense there. */
static const struct {
	const char *name;
	unsigned int ops;
} caches[] = {
	{ "L1-dcache", LOADS | STORES | PREFETCHES },
	{ "L1-icache", LOADS | PREFETCHES },
	{ "LLC", LOADS | STORES | PREFETCHES },
	{ "dTLB", LOADS | STORES | PREFETCHES },
	{ "iTLB", LOADS },
	{ "branch", LOADS },
	{ "node", LOADS | STORES | PREFETCHES },
};

/* ---- lists of names, small files ---- */

void name_list_take(struct name_list *list, char *name)
{
	mem_grow(list->names, list->nr, list->nr_allocated);
	list->names[list->nr++] = name;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void name_list_sort(struct name_list *list)
{
	if (list->nr)
		qsort(list->names, list->nr, sizeof(*list->names), compare_names);
}

void name_list_release(struct name_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->names[i]);
	free(list->names);
	memset(list, 0, sizeof(*list));
}

bool event_name_is_safe(const char *name)
{
	if (!*name || *name == '.')
		return false;
	for (; *name; name++) {
		if (!isalnum((unsigned char)*name) && !strchr("_-.", *name))
			return false;
	}
	return true;
}

int event_read_dir(struct name_list *ret_names, const char *fmt, ...)
{
	struct name_list names = { 0 };
	struct dirent *entry;
	char path[PATH_MAX];
	va_list args;
	DIR *dir;
	int ret;

	va_start(args, fmt);
	ret = vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	if (ret < 0 || (size_t)ret >= sizeof(path))
		return -ENAMETOOLONG;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (event_name_is_safe(entry->d_name))
			name_list_take(&names, mem_strdup(entry->d_name));
	}
	closedir(dir);
	name_list_sort(&names);
	*ret_names = names;
	return 0;
}

int event_read_file(char *ret_text, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	ssize_t len;
	va_list args;
	int fd, ret;

	va_start(args, fmt);
	ret = vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	if (ret < 0 || (size_t)ret >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	len = read(fd, ret_text, size);
	ret = len < 0 ? -errno : 0;
	close(fd);
	if (ret < 0)
		return ret;
	if ((size_t)len == size)
		return -E2BIG;
	ret_text[len] = '\0';
	len = (ssize_t)strcspn(ret_text, "\n");
	while (len > 0 && isspace((unsigned char)ret_text[len - 1]))
		len--;
	ret_text[len] = '\0';
	return 0;
}

bool event_parse_u64(const char *text, int base, uint64_t *ret_value)
{
	uint64_t value;
	char *end;

	/* strtoull() would take blanks and signs as well, and 010 as 8. */
	if (base == 0) {
		base = !strncasecmp(text, "0x", 2) ? 16 : 10;
		text += base == 16 ? 2 : 0;
	}
	if (base == 16 ? !isxdigit((unsigned char)*text) : !isdigit((unsigned char)*text))
		return false;
	if (base == 16 && !strncasecmp(text, "0x", 2)) /* a second one */
		return false;
	errno = 0;
	value = strtoull(text, &end, base);
	if (errno || *end)
		return false;
	*ret_value = value;
	return true;
}

/* ---- generic names ---- */

/* "loads" or "load-misses": what follows the cache. */
static bool find_cache_op(const char *text, size_t op, unsigned int *ret_result)
{
	size_t len = strlen(cache_ops[op].one);

	if (!strcasecmp(text, cache_ops[op].many) || !strcasecmp(text, cache_ops[op].one))
		*ret_result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	else if (!strncasecmp(text, cache_ops[op].one, len) && !strcasecmp(text + len, "-misses"))
		*ret_result = PERF_COUNT_HW_CACHE_RESULT_MISS;
	else
		return false;
	return true;
}

static bool find_cache(const char *name, struct perf_event_attr *attr)
{
	for (size_t cache = 0; cache < ARRAY_SIZE(caches); cache++) {
		size_t len = strlen(caches[cache].name);
		unsigned int result;

		if (strncasecmp(name, caches[cache].name, len) || name[len] != '-')
			continue;
		for (size_t op = 0; op < ARRAY_SIZE(cache_ops); op++) {
			if (!(caches[cache].ops & 1U << op) ||
			    !find_cache_op(name + len + 1, op, &result))
				continue;
			attr->type = PERF_TYPE_HW_CACHE;
			attr->config = cache | op << 8 | (uint64_t)result << 16;
			return true;
		}
	}
	return false;
}

/* rNNN: the number as the hardware has it, in hexadecimal. */
static bool find_raw(const char *name, struct perf_event_attr *attr)
{
	uint64_t config;

	if (*name != 'r')
		return false;
	name += !strncasecmp(name + 1, "0x", 2) ? 3 : 1;
	if (!event_parse_u64(name, 16, &config))
		return false;
	attr->type = PERF_TYPE_RAW;
	attr->config = config;
	return true;
}

bool event_find_generic(const char *name, struct perf_event_attr *attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(generic_events); i++) {
		if (strcmp(name, generic_events[i].name))
			continue;
		attr->type = generic_events[i].type;
		attr->config = generic_events[i].config;
		return true;
	}
	return find_cache(name, attr) || find_raw(name, attr);
}

const char *event_generic_name(const struct perf_event_attr *attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(generic_events); i++) {
		if (attr->type == generic_events[i].type &&
		    attr->config == generic_events[i].config)
			return generic_events[i].name;
	}
	return NULL;
}

void event_each_generic(event_each_fn each, void *arg)
{
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(generic_events); i++) {
		bool hardware = generic_events[i].type == PERF_TYPE_HARDWARE;

		each(arg, generic_events[i].name, hardware ? "hardware" : "software");
	}
	for (size_t cache = 0; cache < ARRAY_SIZE(caches); cache++) {
		for (size_t op = 0; op < ARRAY_SIZE(cache_ops); op++) {
			if (!(caches[cache].ops & 1U << op))
				continue;
			snprintf(name, sizeof(name), "%s-%s", caches[cache].name,
				 cache_ops[op].many);
			each(arg, name, "cache");
			snprintf(name, sizeof(name), "%s-%s-misses", caches[cache].name,
				 cache_ops[op].one);
			each(arg, name, "cache");
		}
	}
}

/* ---- near names ---- */

#define NEAR_MAX_LEN 64

/* Edit distance (insert, delete, replace) of two short texts, whatever their case. */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[NEAR_MAX_LEN + 1];
	size_t len_a = strlen(a), len_b = strlen(b);

	if (len_a > NEAR_MAX_LEN || len_b > NEAR_MAX_LEN)
		return UINT_MAX;
	for (size_t j = 0; j <= len_b; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= len_a; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= len_b; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			unsigned int best = MIN(MIN(row[j], row[j - 1]) + 1, diagonal + !same);

			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[len_b];
}

void near_names_init(struct near_names *near, const char *wanted)
{
	memset(near, 0, sizeof(*near));
	near->wanted = wanted;
}

/*
 * How far apart the two are: "L1-dcache" is no typing error of "L1-dcache-loads" but
 * its beginning, "tsc" is the event part of "msr/tsc/", and "sched_switch" that of
 * "sched:sched_switch".
 */
static unsigned int name_distance(const char *wanted, const char *name)
{
	size_t len = strlen(wanted);
	const char *part = strpbrk(name, "/:");
	unsigned int distance = edit_distance(wanted, name);

	if (len >= 3 && !strncasecmp(wanted, name, len))
		return MIN(distance, 1);
	if (part && !strncasecmp(part + 1, wanted, len) && strchr("/", part[1 + len]))
		return 1;
	return distance;
}

void near_names_offer(struct near_names *near, const char *name)
{
	unsigned int distance = name_distance(near->wanted, name);
	size_t len = strlen(near->wanted), at = near->nr;

	if (distance > MAX(len / 3, 2) || distance > len / 2 ||
	    strlen(name) >= sizeof(near->names[0]))
		return;
	while (at > 0 && near->distances[at - 1] > distance)
		at--;
	if (at == NEAR_NAMES)
		return;
	near->nr = MIN(near->nr + 1, NEAR_NAMES);
	for (size_t i = near->nr - 1; i > at; i--) {
		near->distances[i] = near->distances[i - 1];
		memcpy(near->names[i], near->names[i - 1], sizeof(near->names[i]));
	}
	near->distances[at] = distance;
	snprintf(near->names[at], sizeof(near->names[at]), "%s", name);
}

void near_names_hint(const struct near_names *near, struct err *err)
{
	if (near->nr == 1)
		err_hint(err, "did you mean %s?", near->names[0]);
	else if (near->nr == 2)
		err_hint(err, "did you mean %s or %s?", near->names[0], near->names[1]);
	else if (near->nr == 3)
		err_hint(err, "did you mean %s, %s or %s?", near->names[0], near->names[1],
			 near->names[2]);
}
