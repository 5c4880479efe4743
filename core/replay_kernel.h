/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is the kernel of a recording the one that runs here? Only then do /proc/kallsyms and
 * the vdso tell its names: a wrong name is worse than none. Any thread.
 */
#ifndef SYMTOP_CORE_REPLAY_KERNEL_H
#define SYMTOP_CORE_REPLAY_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

/* What a recording tells of it. */
struct kernel_facts {
	char release[72]; /* "": not known */
	unsigned char build_id[20];
	size_t build_id_size; /* 0: not known */
	char symbol[32];      /* a function and where it was; "": not known */
	uint64_t address;
	uint64_t text_end; /* of the kernel's code */
};

/* The build id of the kernel that runs here, and its size, 20 at most; 0: not known. */
size_t kernel_build_id(const char *sysfs, unsigned char ret_id[static 20]);

/* @proc "/proc", @sysfs "/sys". Reads files. */
bool kernel_facts_match(const struct kernel_facts *facts, const char *proc, const char *sysfs);

#endif /* SYMTOP_CORE_REPLAY_KERNEL_H */
