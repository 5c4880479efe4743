/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Brings the symbols of one dso in, whatever kind it is, and keeps its figures.
 * Part of the symbolizer; what look-ups read is published for them (dso_internal.h).
 */
#ifndef SYMTOP_SYMBOLS_SYMBOL_LOADER_H
#define SYMTOP_SYMBOLS_SYMBOL_LOADER_H

#include <stdbool.h>
#include <stdint.h>

struct dso;
struct symbol_accounts;
struct symbol_origin;

/*
 * Make @dso ready for loading, once, before anything else here: takes a reference of
 * @accounts. The caller serializes.
 */
void symbol_loader_attach(struct dso *dso, struct symbol_accounts *accounts);

/* With one reference, the caller's. */
struct symbol_accounts *symbol_accounts_new(void);

/* One reference of @accounts less. */
void symbol_accounts_put(struct symbol_accounts *accounts);

/*
 * Load @dso, or look for what is newer than at the last time, and say when asking
 * again is worth it. @origin: of what recording; NULL: of none. One worker at a time may do this to
 * a dso; blocks on files. Returns true when look-ups may have other answers now.
 */
bool symbol_loader_load(struct dso *dso, const char *proc, const struct symbol_origin *origin);

/* Kernel code @name came to [@start, @start + @size). Any thread; blocks on nothing. */
void symbol_loader_add_kernel_code(struct dso *kernel, uint64_t start, uint64_t size,
				   const char *name);

#endif /* SYMTOP_SYMBOLS_SYMBOL_LOADER_H */
