/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysfs is small and read seldom, so each file is opened by its path, read whole and
 * parsed strictly. What is not there has a fallback; what is there but wrong is an
 * error for CPUs, without which nothing works, and a skip for nodes, which only
 * arrange the display. Files are opened without blocking and must be regular: a
 * FIFO in a fixture or a container does not hold us up.
 *
 * A node's cpulist holds online CPUs only: what an offline CPU belongs to is not
 * known before it comes back.
 */
#include "config.h"

#include "core/cpumap.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/text.h"

#define NODE_UNKNOWN UINT16_MAX

/* 8192 single ids of four digits and a comma fit. */
#define MAX_FILE_BYTES (64 * 1024)

/* How much of a bad list a message shows. */
#define MAX_SHOWN_BYTES 60

unsigned int cpuset_nr(const struct cpuset *set)
{
	int nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(set->bits); i++)
		nr += __builtin_popcountll(set->bits[i]);
	return (unsigned int)nr;
}

int cpuset_next(const struct cpuset *set, unsigned int from)
{
	size_t word = from / 64;
	uint64_t bits;

	if (from >= CPUMAP_MAX_CPUS)
		return -1;
	bits = set->bits[word] & (UINT64_MAX << (from % 64));
	while (!bits) {
		if (++word == ARRAY_SIZE(set->bits))
			return -1;
		bits = set->bits[word];
	}
	return (int)(64 * word) + __builtin_ctzll(bits);
}

static bool cpuset_is_equal(const struct cpuset *a, const struct cpuset *b)
{
	return !memcmp(a->bits, b->bits, sizeof(a->bits));
}

/* A number in digits alone. Large ones stop at CPUMAP_MAX_CPUS, which is -ERANGE to all. */
static int parse_id(const char **text, unsigned int *ret_id)
{
	unsigned int id = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++)
		id = MIN(10 * id + (unsigned int)(**text - '0'), CPUMAP_MAX_CPUS);
	*ret_id = id;
	return 0;
}

/* "3" or "3-5". */
static int parse_range(const char **text, struct cpuset *set)
{
	unsigned int first, last;
	int ret = parse_id(text, &first);

	if (ret < 0)
		return ret;
	last = first;
	if (**text == '-') {
		(*text)++;
		ret = parse_id(text, &last);
		if (ret < 0)
			return ret;
	}
	if (first >= CPUMAP_MAX_CPUS || last >= CPUMAP_MAX_CPUS)
		return -ERANGE;
	if (last < first)
		return -EINVAL;
	for (unsigned int id = first; id <= last; id++)
		cpuset_add(set, id);
	return 0;
}

static const char *skip_space(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static int parse_list(const char *text, struct cpuset *set)
{
	int ret;

	text = skip_space(text);
	if (!*text)
		return 0;
	for (;;) {
		ret = parse_range(&text, set);
		if (ret < 0)
			return ret;
		if (*text != ',')
			break;
		text++;
	}
	return *skip_space(text) ? -EINVAL : 0;
}

/* The message for a list that parse_list() refused: it may hold anything. */
static int list_error(struct err *err, int code, const char *text)
{
	struct textbuf shown = { 0 };
	size_t len = strlen(text);

	text_add_printable(&shown, text, MIN(len, (size_t)MAX_SHOWN_BYTES));
	if (len > MAX_SHOWN_BYTES)
		textbuf_puts(&shown, "...");
	if (code == -ERANGE)
		err_say(err, code, "\"%s\": ids go up to %d", shown.text, CPUMAP_MAX_CPUS - 1);
	else
		err_say(err, code, "\"%s\": not a list of ids like 0-3,8", shown.text);
	textbuf_release(&shown);
	return code;
}

int cpuset_parse(const char *text, struct cpuset *ret_set, struct err *err)
{
	struct cpuset set = { 0 };
	int ret = parse_list(text, &set);

	if (ret < 0)
		return list_error(err, ret, text);
	*ret_set = set;
	return 0;
}

/* One past the last id of the run that starts at @first. */
static unsigned int run_end(const struct cpuset *set, unsigned int first)
{
	while (cpuset_has(set, first))
		first++;
	return first;
}

void cpuset_format(const struct cpuset *set, char *ret_text, size_t size)
{
	struct textbuf buf = { 0 };
	int first;

	if (!size)
		return;
	for (first = cpuset_next(set, 0); first >= 0;) {
		unsigned int end = run_end(set, (unsigned int)first);

		textbuf_printf(&buf, "%s%d", buf.len ? "," : "", first);
		if (end - (unsigned int)first > 1)
			textbuf_printf(&buf, "-%u", end - 1);
		first = cpuset_next(set, end);
	}
	snprintf(ret_text, size, "%s", buf.text ? buf.text : "");
	if (buf.len >= size)
		snprintf(ret_text + size - MIN(size, (size_t)4), MIN(size, (size_t)4), "...");
	textbuf_release(&buf);
}

/* A whole regular file into *@ret_text, the caller's; a NUL within it ends it. */
static int read_file(const char *path, char **ret_text)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	size_t len = 0;
	ssize_t nr;
	char *text;
	int ret = 0;

	if (fd < 0)
		return -errno;
	text = mem_zalloc(MAX_FILE_BYTES + 1);
	if (fstat(fd, &status) < 0)
		ret = -errno;
	else if (!S_ISREG(status.st_mode))
		ret = -EINVAL;
	while (!ret && len < MAX_FILE_BYTES) {
		nr = read(fd, text + len, MAX_FILE_BYTES - len);
		if (nr < 0)
			ret = -errno;
		if (nr <= 0)
			break;
		len += (size_t)nr;
	}
	if (!ret && len == MAX_FILE_BYTES)
		ret = -EFBIG;
	close(fd);
	if (ret < 0) {
		free(text);
		return ret;
	}
	*ret_text = text;
	return 0;
}

/* Is it not there, rather than wrong? Then every caller has a fallback. */
static bool is_absent(int code)
{
	return code == -ENOENT || code == -ENOTDIR || code == -EACCES;
}

/* The set in the file @path. No message for an absent file. */
static int read_set(const char *path, struct cpuset *ret_set, struct err *err)
{
	struct cpuset set = { 0 };
	char *text;
	int ret;

	ret = read_file(path, &text);
	if (ret < 0)
		return is_absent(ret) ? ret : err_set(err, ret, "%s", path);
	ret = parse_list(text, &set);
	free(text);
	if (ret < 0)
		return err_say(err, ret, "%s: not a list of ids below %d", path, CPUMAP_MAX_CPUS);
	*ret_set = set;
	return 0;
}

/* 0 to @nr - 1: all that sysconf(3) knows. */
static struct cpuset first_ids(long nr)
{
	struct cpuset set = { 0 };

	for (unsigned int id = 0; id < CPUMAP_MAX_CPUS && id < nr; id++)
		cpuset_add(&set, id);
	return set;
}

static int read_online(const char *sysfs, struct cpuset *ret_online, struct err *err)
{
	char *path = mem_printf("%s/devices/system/cpu/online", sysfs);
	struct cpuset online = { 0 };
	int ret;

	ret = read_set(path, &online, err);
	if (is_absent(ret)) {
		online = first_ids(sysconf(_SC_NPROCESSORS_ONLN));
		ret = 0;
	}
	if (!ret && !cpuset_nr(&online))
		ret = err_say(err, -EINVAL, "%s: no CPU is online", path);
	if (!ret)
		*ret_online = online;
	free(path);
	return ret;
}

/* At least the online CPUs. */
static int read_possible(const char *sysfs, const struct cpuset *online,
			 struct cpuset *ret_possible, struct err *err)
{
	char *path = mem_printf("%s/devices/system/cpu/possible", sysfs);
	struct cpuset possible = { 0 };
	int ret;

	ret = read_set(path, &possible, err);
	if (is_absent(ret))
		ret = 0;
	if (!ret) {
		for (size_t i = 0; i < ARRAY_SIZE(possible.bits); i++)
			possible.bits[i] |= online->bits[i];
		*ret_possible = possible;
	}
	free(path);
	return ret;
}

/* Ids of the folders nodeN. */
static struct cpuset list_nodes(const char *sysfs)
{
	char *path = mem_printf("%s/devices/system/node", sysfs);
	DIR *dir = opendir(path);
	struct cpuset nodes = { 0 };
	struct dirent *entry;

	free(path);
	while (dir && (entry = readdir(dir))) {
		const char *text = entry->d_name;
		unsigned int id;

		if (strncmp(text, "node", 4))
			continue;
		text += 4;
		if (!parse_id(&text, &id) && !*text)
			cpuset_add(&nodes, id);
	}
	if (dir)
		closedir(dir);
	return nodes;
}

static bool node_has_memory(const char *sysfs, unsigned int node)
{
	char *path = mem_printf("%s/devices/system/node/node%u/meminfo", sysfs, node);
	bool has_memory = false;
	const char *field;
	char *text;

	if (!read_file(path, &text)) {
		field = strstr(text, "MemTotal:");
		has_memory = field && strtoull(field + strlen("MemTotal:"), NULL, 10) > 0;
		free(text);
	}
	free(path);
	return has_memory;
}

/* Note the CPUs of @node in the map. False when it has none. */
static bool cpumap_read_node(struct cpumap *map, const char *sysfs, unsigned int node)
{
	char *path = mem_printf("%s/devices/system/node/node%u/cpulist", sysfs, node);
	struct cpuset cpus = { 0 };
	bool has_cpus;
	int cpu;

	/* Not there or not understood: a node without CPUs that we know. */
	has_cpus = !read_set(path, &cpus, NULL) && cpuset_nr(&cpus);
	free(path);
	for (cpu = cpuset_next(&cpus, 0); cpu >= 0;
	     cpu = cpuset_next(&cpus, (unsigned int)cpu + 1)) {
		if ((size_t)cpu < map->nr_node_of_cpu && map->node_of_cpu[cpu] == NODE_UNKNOWN)
			map->node_of_cpu[cpu] = (uint16_t)node;
	}
	return has_cpus;
}

static void cpumap_read_nodes(struct cpumap *map, const char *sysfs)
{
	struct cpuset folders = list_nodes(sysfs);
	int node;

	/* In order, so that a CPU which two nodes claim always goes to the same. */
	for (node = cpuset_next(&folders, 0); node >= 0;
	     node = cpuset_next(&folders, (unsigned int)node + 1)) {
		bool has_cpus = cpumap_read_node(map, sysfs, (unsigned int)node);

		if (has_cpus || node_has_memory(sysfs, (unsigned int)node))
			cpuset_add(&map->nodes, (unsigned int)node);
	}
	map->nr_nodes = cpuset_nr(&map->nodes);
	map->has_nodes = map->nr_nodes > 0;
	if (map->has_nodes)
		return;
	cpuset_add(&map->nodes, 0);
	map->nr_nodes = 1;
	memset(map->node_of_cpu, 0, map->nr_node_of_cpu * sizeof(*map->node_of_cpu));
}

/* One more than the largest id. */
static size_t cpuset_bound(const struct cpuset *set)
{
	size_t bound = 0;

	for (int id = cpuset_next(set, 0); id >= 0; id = cpuset_next(set, (unsigned int)id + 1))
		bound = (size_t)id + 1;
	return bound;
}

int cpumap_init(struct cpumap *map, const char *sysfs, struct err *err)
{
	struct cpumap new_map = { 0 };
	int ret;

	ret = read_online(sysfs, &new_map.online, err);
	if (ret < 0)
		return ret;
	ret = read_possible(sysfs, &new_map.online, &new_map.possible, err);
	if (ret < 0)
		return ret;
	new_map.nr_online = cpuset_nr(&new_map.online);
	new_map.nr_possible = cpuset_nr(&new_map.possible);
	new_map.nr_node_of_cpu = cpuset_bound(&new_map.possible);
	new_map.node_of_cpu = mem_calloc(new_map.nr_node_of_cpu, sizeof(*new_map.node_of_cpu));
	for (size_t i = 0; i < new_map.nr_node_of_cpu; i++)
		new_map.node_of_cpu[i] = NODE_UNKNOWN;
	cpumap_read_nodes(&new_map, sysfs);
	*map = new_map;
	return 0;
}

void cpumap_release(struct cpumap *map)
{
	free(map->node_of_cpu);
	*map = (struct cpumap){ 0 };
}

int cpumap_refresh_online(struct cpumap *map, const char *sysfs, bool *ret_changed, struct err *err)
{
	struct cpuset online = { 0 };
	int node;
	int ret;

	ret = read_online(sysfs, &online, err);
	if (ret < 0)
		return ret;
	/* A CPU that was never possible would have no place in node_of_cpu. */
	for (size_t i = 0; i < ARRAY_SIZE(online.bits); i++)
		online.bits[i] &= map->possible.bits[i];
	*ret_changed = !cpuset_is_equal(&online, &map->online);
	if (!*ret_changed)
		return 0;
	map->online = online;
	map->nr_online = cpuset_nr(&online);
	for (node = cpuset_next(&map->nodes, 0); map->has_nodes && node >= 0;
	     node = cpuset_next(&map->nodes, (unsigned int)node + 1))
		cpumap_read_node(map, sysfs, (unsigned int)node);
	return 0;
}

unsigned int cpumap_node(const struct cpumap *map, unsigned int cpu)
{
	if (cpu >= map->nr_node_of_cpu || map->node_of_cpu[cpu] == NODE_UNKNOWN)
		return 0;
	return map->node_of_cpu[cpu];
}

void cpumap_node_cpus(const struct cpumap *map, unsigned int node, struct cpuset *ret_cpus)
{
	*ret_cpus = (struct cpuset){ 0 };
	for (unsigned int cpu = 0; cpu < map->nr_node_of_cpu; cpu++) {
		if (map->node_of_cpu[cpu] == node && node != NODE_UNKNOWN &&
		    cpuset_has(&map->possible, cpu))
			cpuset_add(ret_cpus, cpu);
	}
}
