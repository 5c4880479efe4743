/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the words of -p, -t, -u, -C and --node to a struct target, and to words again. */
#ifndef SYMTOP_TOP_TARGET_H
#define SYMTOP_TOP_TARGET_H

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/cpumap.h"
#include "core/event_set.h"
#include "top/options.h"

/*
 * Fill *@ret_target (released with target_release()). For a command ids is empty:
 * the child's pid comes later. Returns 0 or a negative errno with what is wrong:
 * a bad list, no such process, user, CPU or node.
 */
int target_init(const struct options *options, const struct cpumap *cpumap, const char *proc,
		struct target *ret_target, struct err *err) MUST_CHECK;
void target_release(struct target *target);

/* "all processes", "pid 12 (gcc)", "user joe", with " on CPUs 0-3". The caller's to free(). */
char *target_describe(const struct target *target, const struct options *options) MUST_CHECK;

#endif /* SYMTOP_TOP_TARGET_H */
