/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filter language of --filter and the \ key.
 *
 *   expr   = all { "|" all } ;  all = term { term }  (every one of them) ;
 *   term   = { "!" } ( word | key op value | "(" expr ")" ) ;
 *   key    = comm pid tid dso symbol (sym) cpu node event
 *   op     = "=" equal  "!=" not  "~" regex (POSIX extended)  "<" ">" "<=" ">=" numbers
 *   word   = substring of comm, dso or symbol, case ignored
 *
 * Words and values end at a space or one of ( ) | and go in "quotes" where they hold
 * one (\" is a quote inside). A value that is not known matches no comparison, "!="
 * included; "!" inverts whatever its term says. Patterns must not have back-references.
 *
 * A filter is immutable after parsing; any thread may match.
 */
#ifndef SYMTOP_CORE_FILTER_H
#define SYMTOP_CORE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

struct filter;

/* What is matched. Strings may be NULL: not known, never matches. */
struct filter_subject {
	const char *comm, *dso, *symbol, *event;
	int64_t pid, tid, cpu, node; /* -1: not known, never matches */
};

/*
 * Parse @text; "" gives a filter that matches all. On success *@ret_filter is the
 * caller's. Returns 0 or -EINVAL with the place in the text named.
 */
int filter_parse(const char *text, struct filter **ret_filter, struct err *err) MUST_CHECK;
void filter_free(struct filter *filter); /* NULL is fine */

bool filter_match(const struct filter *filter, const struct filter_subject *subject);

#endif /* SYMTOP_CORE_FILTER_H */
