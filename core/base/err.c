/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error texts are built in place, truncated rather than allocated: an error path
 * must not fail itself.
 */
#include "config.h"

#include "core/base/err.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic(void (*)(void)) die_hook;

static void append(struct err *err, const char *text)
{
	size_t len = strlen(err->text);

	snprintf(err->text + len, sizeof(err->text) - len, "%s", text);
}

static const char *describe(int code, char *buf, size_t size)
{
	/* The GNU variant: returns the text, which may or may not be in buf. */
	return strerror_r(code < 0 ? -code : code, buf, size);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	char buf[128];
	va_list args;

	if (!err)
		return code;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	err->code = code;
	append(err, ": ");
	append(err, describe(code, buf, sizeof(buf)));
	return code;
}

int err_say(struct err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	err->code = code;
	return code;
}

void err_hint(struct err *err, const char *fmt, ...)
{
	size_t len;
	va_list args;

	if (!err)
		return;
	append(err, "\n");
	len = strlen(err->text);
	va_start(args, fmt);
	vsnprintf(err->text + len, sizeof(err->text) - len, fmt, args);
	va_end(args);
}

void die_set_hook(void (*hook)(void))
{
	atomic_store(&die_hook, hook);
}

void die(const char *fmt, ...)
{
	void (*hook)(void) = atomic_exchange(&die_hook, NULL);
	char text[1024];
	ssize_t ignored;
	va_list args;

	if (hook)
		hook();
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	ignored = write(STDERR_FILENO, "symtop: ", 8);
	ignored = write(STDERR_FILENO, text, strlen(text));
	ignored = write(STDERR_FILENO, "\n", 1);
	(void)ignored; /* nowhere left to report to */
	_exit(1);
}
