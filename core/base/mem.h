/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for objects whose size is ours: never NULL, the program dies when there
 * is none. Sizes that come from outside (a section, a file) are allocated with
 * malloc() by the caller, who checks them against a limit and reports -ENOMEM.
 * Everything here is freed with free(). Any thread.
 */
#ifndef SYMTOP_CORE_BASE_MEM_H
#define SYMTOP_CORE_BASE_MEM_H

#include <stddef.h>

#include "core/base/compiler.h"

/* @size zeroed bytes. */
void *mem_zalloc(size_t size) MUST_CHECK;

/* @nr zeroed elements of @size bytes. */
void *mem_calloc(size_t nr, size_t size) MUST_CHECK;

/* Resize to @nr elements of @size bytes; new elements are not zeroed. */
void *mem_resize(void *ptr, size_t nr, size_t size) MUST_CHECK;

char *mem_strdup(const char *text) MUST_CHECK;

/* The first @len bytes of @text (or up to its NUL), terminated. */
char *mem_strndup(const char *text, size_t len) MUST_CHECK;

/* A formatted string. */
char *mem_printf(const char *fmt, ...) PRINTF(1, 2) MUST_CHECK;

/*
 * Room for one more: grow @array (of pointers or structs) so that it holds at
 * least @nr + 1 elements; doubles. @nr_allocated is a size_t lvalue.
 */
#define mem_grow(array, nr, nr_allocated)                                                \
	do {                                                                             \
		if ((nr) >= (nr_allocated)) {                                            \
			(nr_allocated) = (nr_allocated) ? 2 * (nr_allocated) : 16;       \
			(array) = mem_resize((array), (nr_allocated), sizeof(*(array))); \
		}                                                                        \
	} while (0)

#endif /* SYMTOP_CORE_BASE_MEM_H */
