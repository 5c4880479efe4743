/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets are as large as ours, not as cpu_set_t: that ends at CPU 1023, and the kernel
 * refuses to tell (EINVAL) what does not fit in it.
 */
#include "config.h"

#include "core/affinity.h"

#include <errno.h>
#include <numaif.h>
#include <sched.h>

#include "core/base/err.h"

#define SET_BYTES CPU_ALLOC_SIZE(CPUMAP_MAX_CPUS)

static cpu_set_t *alloc_set(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUMAP_MAX_CPUS);

	if (!set)
		die("out of memory: a set of CPUs");
	CPU_ZERO_S(SET_BYTES, set);
	return set;
}

int affinity_get(struct cpuset *ret_cpus)
{
	cpu_set_t *set = alloc_set();
	struct cpuset cpus = { 0 };
	int ret = 0;

	if (sched_getaffinity(0, SET_BYTES, set) < 0)
		ret = -errno;
	for (unsigned int cpu = 0; cpu < CPUMAP_MAX_CPUS && !ret; cpu++) {
		if (CPU_ISSET_S(cpu, SET_BYTES, set))
			cpuset_add(&cpus, cpu);
	}
	CPU_FREE(set);
	if (!ret)
		*ret_cpus = cpus;
	return ret;
}

int affinity_set(const struct cpuset *cpus)
{
	cpu_set_t *set = alloc_set();
	int ret = 0;

	for (int cpu = cpuset_next(cpus, 0); cpu >= 0;
	     cpu = cpuset_next(cpus, (unsigned int)cpu + 1))
		CPU_SET_S((size_t)cpu, SET_BYTES, set);
	if (sched_setaffinity(0, SET_BYTES, set) < 0)
		ret = -errno;
	CPU_FREE(set);
	return ret;
}

int affinity_move(unsigned int cpu)
{
	struct cpuset cpus = { 0 };

	cpuset_add(&cpus, cpu);
	return affinity_set(&cpus);
}

/* mbind(2) itself, since numa_tonode_memory() prints when it fails. */
void affinity_bind_memory(void *bytes, size_t size, unsigned int node)
{
	enum { BITS = 8 * sizeof(unsigned long) };
	unsigned long mask[1024 / BITS] = { 0 };

	if (node >= 1024)
		return;
	mask[node / BITS] = 1UL << (node % BITS);
	mbind(bytes, size, MPOL_PREFERRED, mask, 1024 + 1, 0);
}
