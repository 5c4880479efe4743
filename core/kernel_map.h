/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel and its modules are in memory (proc(5): kallsyms, modules), as
 * perf.data files tell it. Any thread; reads files.
 */
#ifndef SYMTOP_CORE_KERNEL_MAP_H
#define SYMTOP_CORE_KERNEL_MAP_H

#include <stdint.h>

#include "core/base/compiler.h"

struct kernel_part {
	/* "[kernel.kallsyms]_text"; a module's file, or "[NAME]" when it is not found */
	const char *name;
	uint64_t start, len;
	uint64_t pgoff; /* of the kernel: where the function in its name is; else 0 */
};

/*
 * Calls @each for the kernel and each module, by @proc ("/proc") and @modules
 * ("/lib/modules"); not for those whose address is hidden. Borrowed during the call.
 */
void kernel_map_read(const char *proc, const char *modules,
		     void (*each)(void *arg, const struct kernel_part *part), void *arg);

#endif /* SYMTOP_CORE_KERNEL_MAP_H */
