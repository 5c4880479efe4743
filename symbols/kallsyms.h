/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel symbols from a file in the format of /proc/kallsyms (proc(5)): address,
 * type letter, name, and "[module]" for modules and BPF programs.
 *
 * Only text (t, T, w, W, i, and u/v never) names code. __pfx_ padding symbols
 * never cover a call's return address. All zeros (kptr_restrict) is an empty
 * table and -EACCES.
 */
#ifndef SYMTOP_SYMBOLS_KALLSYMS_H
#define SYMTOP_SYMBOLS_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

struct symbol_table;

/*
 * Parse @path in one pass. On success *@ret_table is the caller's and finished.
 *
 * Returns 0, -EACCES when addresses are hidden (hint names kptr_restrict), or what
 * reading reported.
 */
int kallsyms_read(const char *path, struct symbol_table **ret_table, struct err *err) MUST_CHECK;

/*
 * The addresses of @nr symbols of the kernel itself, of any type; 0 where there is none.
 * Returns 0 or what reading reported.
 */
int kallsyms_addresses(const char *path, const char *const *names, size_t nr,
		       uint64_t *ret_addresses) MUST_CHECK;

#endif /* SYMTOP_SYMBOLS_KALLSYMS_H */
