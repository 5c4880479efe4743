/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A named range of a dso, and a table of them.
 *
 * Tables are built once by one worker and immutable after; symbols that were
 * looked up are demangled on first use and live as long as their dso.
 */
#ifndef SYMTOP_SYMBOLS_SYMBOL_H
#define SYMTOP_SYMBOLS_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

/* What a look-up answers. Immutable; lives as long as its dso. */
struct symbol {
	uint64_t start;	    /* offset in its dso, see dso.h */
	uint64_t end;	    /* first offset after it */
	const char *name;   /* demangled; bytes as they came otherwise */
	const char *raw;    /* as the object has it */
	const char *object; /* shown instead of dso_name(): a module, "bpf"; NULL: the dso */
};

/*
 * Strength of a name among several at one address: global before weak before
 * local, fewer leading underscores first, sized before sizeless, then the
 * shorter, then the smaller by strcmp(). SYMBOL_FALLBACK names only what nothing
 * else names: an ifunc's resolver, the rest of a PLT.
 */
enum symbol_binding { SYMBOL_FALLBACK, SYMBOL_LOCAL, SYMBOL_WEAK, SYMBOL_GLOBAL };

/* Longer names are cut. */
#define SYMBOL_MAX_NAME 65535

/*
 * Builder and table in one: add, then finish, then only find.
 *
 * symbol_table_finish() sorts, chooses among aliases, gives a sizeless symbol the
 * bytes up to the next symbol or its @limit (end of its section), whichever is
 * first (none inside a sized one: there it is a label), and lets the innermost,
 * latest starting of sized symbols that overlap have the bytes. Ranges never
 * overlap; a symbol with another one inside is in pieces, each a struct symbol of
 * its own with the same name.
 */
struct symbol_table;

struct symbol_table *symbol_table_new(void);
void symbol_table_free(struct symbol_table *table); /* NULL is fine */

/*
 * Add a name for [@start, @start + @size); @size 0 means not known, then @limit is
 * the most it may extend to (0: it gets no bytes at all, but ends a sizeless one
 * before it). @object as in struct symbol, copied like @name. The caller bounds how
 * much it adds: past 4 GiB of names or 65535 objects symbols are dropped.
 */
void symbol_table_add(struct symbol_table *table, uint64_t start, uint64_t size, uint64_t limit,
		      enum symbol_binding binding, const char *name, size_t name_len,
		      const char *object);

void symbol_table_finish(struct symbol_table *table);

size_t symbol_table_nr(const struct symbol_table *table);
uint64_t symbol_table_bytes(const struct symbol_table *table);

/*
 * The symbol that covers @offset, or NULL. Demangles on first hit. Any thread,
 * after symbol_table_finish(). Borrowed: lives as long as the table.
 */
const struct symbol *symbol_table_find(struct symbol_table *table, uint64_t offset);

/* The symbol of rank @index in address order, for tests and search. */
const struct symbol *symbol_table_at(struct symbol_table *table, size_t index);

void symbol_table_check_invariants(const struct symbol_table *table);

#endif /* SYMTOP_SYMBOLS_SYMBOL_H */
