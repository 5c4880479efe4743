/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the compiler checks for us: attributes with short names.
 *
 * GUARDED_BY is documentation (clang 14 rejects it on struct fields in C);
 * REQUIRES, ACQUIRES and RELEASES on functions are checked by clang
 * -Wthread-safety.
 */
#ifndef SYMTOP_CORE_BASE_COMPILER_H
#define SYMTOP_CORE_BASE_COMPILER_H

#include <stddef.h>

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args), nonnull(fmt)))
#define MUST_CHECK __attribute__((warn_unused_result))
#define NORETURN __attribute__((noreturn))
#define UNUSED __attribute__((unused))

#if defined(__clang__)
#define CAPABILITY(name) __attribute__((capability(name)))
#define REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define ACQUIRES(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define RELEASES(...) __attribute__((release_capability(__VA_ARGS__)))
#define NO_THREAD_SAFETY __attribute__((no_thread_safety_analysis))
#else
#define CAPABILITY(name)
#define REQUIRES(...)
#define ACQUIRES(...)
#define RELEASES(...)
#define NO_THREAD_SAFETY
#endif
#define GUARDED_BY(lock)

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif /* SYMTOP_CORE_BASE_COMPILER_H */
