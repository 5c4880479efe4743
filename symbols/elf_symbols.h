/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Function symbols of one ELF file, by file offset.
 *
 * .symtab if it is there and .dynsym for what it lacks (dynamic symbols through
 * PT_DYNAMIC when the section headers are gone); PLT stubs named after their
 * relocations. Addresses become file offsets through the executable program
 * headers (by file size, not memory size). Format: elf(5), the System V gABI.
 * Not yet: .gnu_debugdata, separate debug files.
 *
 * The file is hostile: every bound is checked, sizes are limited, nothing crashes.
 */
#ifndef SYMTOP_SYMBOLS_ELF_SYMBOLS_H
#define SYMTOP_SYMBOLS_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

struct symbol_table;

/*
 * Read the symbols of the open file @fd (stays the caller's; must be a regular
 * file). On success *@ret_table is the caller's, finished, maybe empty.
 *
 * Returns 0, -ENOEXEC when it is no ELF file (or no regular one), -EFBIG past a
 * limit, or what reading reported.
 */
int elf_symbols_read(int fd, struct symbol_table **ret_table, struct err *err) MUST_CHECK;

/* The same of an image in memory (the vdso): @image is only read during the call. */
int elf_symbols_read_image(const void *image, size_t size, struct symbol_table **ret_table,
			   struct err *err) MUST_CHECK;

/*
 * The build id of the open file @fd, up to 20 bytes into @ret_id.
 * Returns its length, or 0 when there is none or the file is no ELF file.
 */
size_t elf_symbols_build_id(int fd, unsigned char ret_id[static 20]);

#endif /* SYMTOP_SYMBOLS_ELF_SYMBOLS_H */
