/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forms of reports: a table. A format is a function that writes a report, in a file
 * of its own, and what it needs of the run.
 */
#ifndef SYMTOP_TOP_OUTPUT_FORMAT_H
#define SYMTOP_TOP_OUTPUT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "top/report.h"

#define MAX_SUFFIXES 2

struct output_format {
	const char *name;		    /* of --format */
	const char *suffixes[MAX_SUFFIXES]; /* of -o; NULL: no more */
	void (*write)(struct report *report);
	/*
	 * A format of stacks has every sample of the window with its whole call chain, in
	 * rows of these keys; NULL: a table of the rows that were asked for.
	 */
	const char *stack_keys;
	bool is_document; /* one report is a file; another behind it would spoil it */
	bool is_binary;
};

/* NULL past the last. The first is the default. */
const struct output_format *output_format_at(size_t index);

/* By name, by the suffix of a file name. NULL: there is none. */
const struct output_format *output_format_find(const char *name);
const struct output_format *output_format_of_path(const char *path);

/* ---- writers: what they write is at the top of their files ---- */

void output_csv(struct report *report);
void output_firefox(struct report *report);
void output_folded(struct report *report);
void output_json(struct report *report);
void output_pprof(struct report *report);
void output_prometheus(struct report *report);
void output_script(struct report *report);
void output_speedscope(struct report *report);
void output_svg(struct report *report);
void output_text(struct report *report);

#endif /* SYMTOP_TOP_OUTPUT_FORMAT_H */
