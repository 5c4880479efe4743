/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C++ (Itanium), Rust (legacy and v0) names in readable form, by libiberty.
 *
 * Hostile names cost bounded time, stack and memory. Any thread.
 */
#ifndef SYMTOP_SYMBOLS_DEMANGLE_H
#define SYMTOP_SYMBOLS_DEMANGLE_H

#include "core/base/compiler.h"

/* Longest raw name that is demangled, and longest result that is kept. */
#define DEMANGLE_MAX_INPUT 8192
#define DEMANGLE_MAX_OUTPUT 16384

/*
 * The readable form of @name, the caller's to free(), or NULL when it is no
 * mangled name, too long, too deep or its readable form would be too long: then
 * the raw name is the name. Compiler suffixes stay visible ("f() [clone .cold]").
 */
char *demangle(const char *name) MUST_CHECK;

#endif /* SYMTOP_SYMBOLS_DEMANGLE_H */
