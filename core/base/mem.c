/* SPDX-License-Identifier: GPL-2.0-or-later */
/* malloc() and friends that end the program instead of returning NULL. */
#include "config.h"

#include "core/base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"

static void *check(void *ptr, size_t size)
{
	if (!ptr)
		die("out of memory (%zu bytes)", size);
	return ptr;
}

void *mem_zalloc(size_t size)
{
	return check(calloc(1, size ? size : 1), size);
}

void *mem_calloc(size_t nr, size_t size)
{
	return check(calloc(nr ? nr : 1, size ? size : 1), nr * size);
}

void *mem_resize(void *ptr, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes))
		die("out of memory (%zu x %zu bytes)", nr, size);
	return check(realloc(ptr, bytes ? bytes : 1), bytes);
}

char *mem_strdup(const char *text)
{
	return check(strdup(text), strlen(text));
}

char *mem_strndup(const char *text, size_t len)
{
	return check(strndup(text, len), len);
}

char *mem_printf(const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0)
		die("out of memory (formatting)");
	return text;
}
