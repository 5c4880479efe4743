/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs and NUMA nodes of the machine, from sysfs (kernel:
 * Documentation/ABI/testing/sysfs-devices-system-cpu, -node).
 *
 * A plain value, read once at start and again after hotplug. Ids are the
 * kernel's and may have holes. A machine without a node folder is one node, 0,
 * with has_nodes false.
 */
#ifndef SYMTOP_CORE_CPUMAP_H
#define SYMTOP_CORE_CPUMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

#define CPUMAP_MAX_CPUS 8192

/* A set of CPU (or node) ids. Zero-initialised it is empty. A value: copy freely. */
struct cpuset {
	uint64_t bits[CPUMAP_MAX_CPUS / 64];
};

static inline bool cpuset_has(const struct cpuset *set, unsigned int id)
{
	return id < CPUMAP_MAX_CPUS && (set->bits[id / 64] >> (id % 64) & 1);
}

static inline void cpuset_add(struct cpuset *set, unsigned int id)
{
	if (id < CPUMAP_MAX_CPUS)
		set->bits[id / 64] |= UINT64_C(1) << (id % 64);
}

static inline void cpuset_remove(struct cpuset *set, unsigned int id)
{
	if (id < CPUMAP_MAX_CPUS)
		set->bits[id / 64] &= ~(UINT64_C(1) << (id % 64));
}

unsigned int cpuset_nr(const struct cpuset *set);

/* The smallest id >= @from in the set, or -1. */
int cpuset_next(const struct cpuset *set, unsigned int from);

/*
 * Parse "0-3,8,10-11" (cpuset(7) list format; "" is the empty set; spaces around
 * and a newline at the end are fine).
 * Returns 0, -EINVAL (malformed) or -ERANGE (id >= CPUMAP_MAX_CPUS).
 */
int cpuset_parse(const char *text, struct cpuset *ret_set, struct err *err) MUST_CHECK;

/* "0-3,8", the shortest form; @ret_text is cut with "..." when @size is too small. */
void cpuset_format(const struct cpuset *set, char *ret_text, size_t size);

struct cpumap {
	struct cpuset possible;
	struct cpuset online;
	unsigned int nr_possible;
	unsigned int nr_online;
	struct cpuset nodes; /* ids of the nodes that have CPUs or memory */
	unsigned int nr_nodes;
	bool has_nodes;	       /* sysfs has node folders */
	uint16_t *node_of_cpu; /* by CPU id, nr_node_of_cpu of them; UINT16_MAX: not known */
	size_t nr_node_of_cpu;
};

/*
 * Read it below @sysfs ("/sys"; tests pass a folder). When sysfs is not there,
 * sysconf(3) gives the CPUs. Returns 0, or -EINVAL, -ERANGE or what reading reported,
 * with @err, when the CPUs cannot be told; then the map is as it was. On success it is
 * the caller's to cpumap_release().
 */
int cpumap_init(struct cpumap *map, const char *sysfs, struct err *err) MUST_CHECK;
void cpumap_release(struct cpumap *map);

/*
 * Read the online set again (hotplug), and the nodes of CPUs that were offline so far.
 * *@ret_changed: the set differs. Errors as from cpumap_init(); the map is as it was.
 */
int cpumap_refresh_online(struct cpumap *map, const char *sysfs, bool *ret_changed,
			  struct err *err) MUST_CHECK;

/* Node id of @cpu, 0 when not known. */
unsigned int cpumap_node(const struct cpumap *map, unsigned int cpu);

/* CPUs of node @node into *@ret_cpus (possible ones whose node is known). */
void cpumap_node_cpus(const struct cpumap *map, unsigned int node, struct cpuset *ret_cpus);

#endif /* SYMTOP_CORE_CPUMAP_H */
