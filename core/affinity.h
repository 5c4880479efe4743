/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which CPUs the calling worker runs (sched_setaffinity(2)), and on which node memory
 * lies (mbind(2)).
 *
 * Calls about CPUs are about the calling worker alone; workers that it starts later begin
 * where it is. The main thread stays where the user put it: who needs to be on a CPU
 * starts a worker that goes there and ends.
 */
#ifndef SYMTOP_CORE_AFFINITY_H
#define SYMTOP_CORE_AFFINITY_H

#include <stddef.h>

#include "core/base/compiler.h"
#include "core/cpumap.h"

/* The CPUs that the calling worker may run on now. Returns 0 or a negative errno. */
int affinity_get(struct cpuset *ret_cpus) MUST_CHECK;

/*
 * Run on @cpus only, from the return on. Those that are offline or outside of our
 * cpuset cgroup do not count.
 *
 * Returns 0, -EINVAL when none is left, or what sched_setaffinity(2) reported; the
 * worker then stays where it was.
 */
int affinity_set(const struct cpuset *cpus) MUST_CHECK;

/* The same for one CPU. */
int affinity_move(unsigned int cpu) MUST_CHECK;

/*
 * Whole pages that nobody has touched yet shall lie on NUMA node @node. A preference:
 * where the node has no memory left, or the kernel knows no nodes, any will do.
 */
void affinity_bind_memory(void *bytes, size_t size, unsigned int node);

#endif /* SYMTOP_CORE_AFFINITY_H */
