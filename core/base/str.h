/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared strings: each distinct text exists once, is never changed, and is freed
 * with its last reference. Two shared strings are equal when their pointers are.
 *
 * Any thread may call anything here. The pool is global and bounded by what is
 * referenced: whoever bounds the references bounds the pool.
 */
#ifndef SYMTOP_CORE_BASE_STR_H
#define SYMTOP_CORE_BASE_STR_H

#include <stddef.h>
#include <stdint.h>

struct str {
	_Atomic uint32_t nr_refs; /* private to str.c */
	uint32_t len;
	uint64_t hash;
	struct str *next; /* private to str.c */
	char text[];	  /* NUL-terminated; bytes as they came, not made printable */
};

/* A reference to the shared string of these bytes (up to @len or a NUL). Never NULL. */
struct str *str_new(const char *text, size_t len);

/* The same for a C string. */
struct str *str_from(const char *text);

/* One more reference; returns @str. */
struct str *str_get(struct str *str);

/* One reference less. NULL is fine. */
void str_put(struct str *str);

/* How many distinct strings and bytes of text there are now. */
void str_stats(uint64_t *ret_nr, uint64_t *ret_bytes);

#endif /* SYMTOP_CORE_BASE_STR_H */
