/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where reports go. Every byte is checked, so that a full disk or a reader that went away
 * is an error with a name, never a short file with status 0.
 */
#ifndef SYMTOP_TOP_OUTPUT_H
#define SYMTOP_TOP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

struct output;

/*
 * @path NULL: stdout. A regular file is written beside its name and takes it in
 * output_close(), so that a failed run leaves an existing file alone.
 */
int output_open(const char *path, struct output **ret_output, struct err *err) MUST_CHECK;

/* Returns 0, -EPIPE when the reader is gone (no message), or what write(2) reported. */
int output_write(struct output *output, const char *text, size_t len, struct err *err) MUST_CHECK;

/* The descriptor, to be polled for a reader that went away. */
int output_fd(const struct output *output);

/* Finish (with @keep) or throw away, and free. NULL is fine. */
int output_close(struct output *output, bool keep, struct err *err) MUST_CHECK;

#endif /* SYMTOP_TOP_OUTPUT_H */
