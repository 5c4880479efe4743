/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report on its way out: a snapshot, what is to be said of the run, and the text of
 * it. One function a format (top/output_format.h) makes the text.
 */
#ifndef SYMTOP_TOP_REPORT_H
#define SYMTOP_TOP_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/text.h"
#include "core/snapshot.h"

struct report {
	const struct snapshot *snapshot;
	const char *command_line;	      /* printable */
	uint64_t max_rows;		      /* 0: as many as the format has without being asked */
	bool verbose;			      /* with every note */
	bool is_first;			      /* in its file */
	struct textbuf buf;		      /* what is written so far, or since the last flush */
	void (*flush)(struct report *report); /* takes @buf and clears it; NULL: all stays there */
};

/* To be called between rows, stacks, samples: what a report needs of memory stays bounded. */
void report_pump(struct report *report);

/* Rows to be written: all, max_rows at most. */
size_t report_nr_rows(const struct report *report, size_t default_max);

/*
 * What a reader must know of the run (command line, host, event, rate, window, samples,
 * losses, ...) as lines of @prefix, a name in lower case, @between, a value.
 */
void report_add_facts(const struct report *report, struct textbuf *buf, const char *prefix,
		      const char *between);

/* Whether one is under way, was there or is kept. */
bool report_has_recording(const struct recording_figures *recording);

/* In one line for titles: "cpu-clock, 4000 Hz, 10.0 s, 1234 samples", and losses. */
void report_add_title(const struct report *report, struct textbuf *buf);

/* ---- values as JSON has them; after each a comma if @more ---- */

void report_add_json_text(struct textbuf *buf, const char *name, const char *text, bool more);

#endif /* SYMTOP_TOP_REPORT_H */
