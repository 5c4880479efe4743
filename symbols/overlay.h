/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols that came after the first ones: generated code as it is written, kernel
 * code as it is loaded. What was added last wins where it covers.
 *
 * Symbols live as long as the overlay, whatever covers them later. Any thread.
 */
#ifndef SYMTOP_SYMBOLS_OVERLAY_H
#define SYMTOP_SYMBOLS_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

struct overlay;
struct symbol;
struct symbol_table;

struct overlay *overlay_new(void);
void overlay_free(struct overlay *overlay); /* NULL is fine */

/*
 * Lay @table (finished, taken over) on top, without what the overlay, or where it
 * has nothing @base (borrowed, may be NULL), already says. With a @base a symbol is
 * the same when start and name are, without one the end counts too.
 * Returns the bytes this keeps: 0 when there was nothing new.
 */
uint64_t overlay_add(struct overlay *overlay, struct symbol_table *base,
		     struct symbol_table *table);

/* Code without a name came to [@start, @end): what was known there is over. */
void overlay_hide(struct overlay *overlay, uint64_t start, uint64_t end);

/*
 * Does the overlay cover @offset? Then *@ret_symbol is its symbol, or NULL when that
 * code has no name.
 */
bool overlay_find(struct overlay *overlay, uint64_t offset, const struct symbol **ret_symbol);

/* How many ranges it has, for tests. */
size_t overlay_nr(struct overlay *overlay);

#endif /* SYMTOP_SYMBOLS_OVERLAY_H */
