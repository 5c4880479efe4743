/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of generated code from /tmp/perf-PID.map: lines "START SIZE NAME", hex
 * with or without 0x (kernel: tools/perf/Documentation/jit-interface.txt).
 *
 * The file belongs to the target: found through /proc/PID/root and the last NSpid,
 * opened without following links or blocking, used only when it is a regular file
 * of the target's user or root that nobody else may write. Read by growth: what was
 * read is not read again. Later lines win over earlier ones for the same addresses.
 *
 * A perf_map is used by one worker at a time.
 */
#ifndef SYMTOP_SYMBOLS_PERF_MAP_H
#define SYMTOP_SYMBOLS_PERF_MAP_H

#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

/* What is read of one file at most, and of one name. */
#define PERF_MAP_MAX_BYTES (64 * 1024 * 1024)
#define PERF_MAP_MAX_NAME 4096

struct perf_map;
struct symbol_table;

/*
 * @proc is the path of procfs ("/proc"); tests pass a folder. Copied. NULL: the process
 * is one of a recording and may be gone, so its file is looked for in our own /tmp and
 * must be ours or root's. Never returns NULL.
 */
struct perf_map *perf_map_new(const char *proc, uint32_t pid);
void perf_map_free(struct perf_map *map); /* NULL is fine */

/*
 * Look at the file again. When it has new lines (all of them when it was replaced),
 * *@ret_table becomes a new finished table of those, the caller's; else NULL. What
 * such a table covers is newer than what earlier tables say of the same addresses.
 * A long file comes in several tables: call again until there is none.
 *
 * Returns 0, -ENOENT when there is none (yet, or any more: the process is gone),
 * -EPERM when the file may not be trusted (owner, type, link), -EFBIG past the limit
 * (what fits was delivered before), or what reading reported.
 */
int perf_map_refresh(struct perf_map *map, struct symbol_table **ret_table,
		     struct err *err) MUST_CHECK;

#endif /* SYMTOP_SYMBOLS_PERF_MAP_H */
