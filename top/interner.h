/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for things: the first thing gets 0, the next new one 1, ... A thing is bytes:
 * a text, a pair of numbers, a pointer.
 */
#ifndef SYMTOP_TOP_INTERNER_H
#define SYMTOP_TOP_INTERNER_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/text.h"

/* Zero-initialised it is empty and usable. */
struct interner {
	struct textbuf bytes; /* of all things, one after the other */
	size_t *starts;	      /* in bytes */
	size_t nr, nr_allocated;
	uint32_t *places; /* open addressing: number + 1; 0: free */
	size_t nr_places; /* a power of two */
};

void interner_release(struct interner *interner);
void interner_clear(struct interner *interner);

uint32_t interner_add(struct interner *interner, const void *bytes, size_t len);
uint32_t interner_add_text(struct interner *interner, const char *text);

/* The bytes of thing @id, borrowed until the next is added. */
const void *interner_get(const struct interner *interner, size_t id, size_t *ret_len);

#endif /* SYMTOP_TOP_INTERNER_H */
