/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects that code comes from, and the table that makes each exist once.
 *
 * A dso is what the machine runs code out of: an ELF file, the kernel, the vdso,
 * or the generated code of one process. Its identity is the file (device, inode,
 * generation), never the path: the same path may be another file in a container
 * or after an upgrade. Offsets are
 *   DSO_FILE, DSO_VDSO   position in the file (address - map start + map's file offset)
 *   DSO_KERNEL           the kernel address itself
 *   DSO_GENERATED        the process's own address
 *
 * Threads: everything here may be called from any worker. A dso is reference
 * counted; the table holds no reference of its own, so a dso nobody refers to is
 * freed, with its symbols and its held file.
 */
#ifndef SYMTOP_SYMBOLS_DSO_H
#define SYMTOP_SYMBOLS_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/compiler.h"
#include "core/base/str.h"

enum dso_kind {
	DSO_FILE,
	DSO_KERNEL, /* kernel, modules and BPF programs: one address space, one dso */
	DSO_VDSO,
	DSO_GENERATED, /* anonymous executable memory of one process: JIT code */
	DSO_UNKNOWN,   /* no map known at that address; offset is the address; never has symbols */
	NR_DSO_KINDS,
};

/*
 * Identity. Zero what a kind does not use, padding included.
 *   DSO_FILE: dev_major, dev_minor, inode, generation (0 when not known)
 *   DSO_GENERATED: owner = pid, generation = start time of its epoch (ns)
 *   DSO_VDSO: inode = 64 or 32, the word size
 */
struct dso_key {
	uint32_t kind; /* enum dso_kind */
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t owner;
	uint64_t inode;
	uint64_t generation;
};

/*
 * A file by its build id alone, as recordings have it: it is kept in the key, in the
 * place of what a device that cannot exist has. @size is 20 at most.
 */
void dso_key_set_build_id(struct dso_key *key, const unsigned char *id, size_t size);

/* The build id in @key, and its size; 0: it is a key of another kind. */
size_t dso_key_build_id(const struct dso_key *key, unsigned char ret_id[static 20]);

struct dso;
struct dso_table;

struct dso_table *dso_table_new(void);

/* All references must have been put before. NULL is fine. */
void dso_table_free(struct dso_table *table);

/*
 * The dso of @key: a reference, the caller's to put. @path is the path seen with
 * it, as the kernel gave it (" (deleted)" not stripped) and as the process that
 * maps it sees it; @pid that process (its root and map_files are where the file
 * is looked for). Both matter for the first call only. Sets *@ret_is_new (may be
 * NULL) when this call made it.
 */
struct dso *dso_table_get(struct dso_table *table, const struct dso_key *key, const char *path,
			  uint32_t pid, bool *ret_is_new);

struct dso *dso_get(struct dso *dso);
void dso_put(struct dso *dso); /* NULL is fine */

const struct dso_key *dso_key(const struct dso *dso);
enum dso_kind dso_kind(const struct dso *dso);

/* Path as first seen. Borrowed, lives as long as the dso. */
struct str *dso_path(const struct dso *dso);

/*
 * Name for a row, without directory: "libc.so.6", "[kernel]", "[vdso]",
 * "[JIT] 1234", "[unknown]". Borrowed, lives as long as the dso.
 */
struct str *dso_name(const struct dso *dso);

/*
 * Another live process that maps it: where to look for the file when the first
 * one is gone. Cheap; keeps the latest few.
 */
void dso_note_user(struct dso *dso, uint32_t pid);

/* How many dsos exist and how many files are held open. */
void dso_table_stats(struct dso_table *table, uint64_t *ret_nr_dsos, uint64_t *ret_nr_files);

#endif /* SYMTOP_SYMBOLS_DSO_H */
