/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: one table of options that parsing, --help and the tests of man
 * page and completions go by.
 */
#ifndef SYMTOP_TOP_OPTIONS_H
#define SYMTOP_TOP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/reader.h"
#include "core/snapshot.h"
#include "top/output_format.h"

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct options {
	/* what to watch */
	bool all;
	const char *pids, *tids, *user, *cpus, *nodes; /* as written; NULL: not given */
	char **command;				       /* after --; NULL: none */
	bool stay;				       /* do not end with the command */
	const char *input;			       /* a recording; NULL: the machine */
	bool speed_named;
	double speed;	  /* of its time; 0: as fast as it can be read */
	const char *live; /* the first option that makes no sense with one; NULL: none */
	/* what to count */
	const char **events; /* each -e */
	size_t nr_events, nr_events_allocated;
	uint64_t freq; /* Hz; UINT64_MAX: max; 0: by period */
	bool freq_named;
	uint64_t period;
	bool callchain;
	bool no_children;
	unsigned int max_stack;
	/* what to show */
	struct view_spec spec;
	bool sort_named;
	bool window_named;
	uint64_t refresh_ns;
	bool refresh_named;
	bool zero_each;
	/* recording */
	const char *record; /* file; NULL: not named */
	uint64_t keep_ns;   /* flight recorder; 0: none */
	/* the engine */
	size_t ring_bytes; /* data bytes of a sample ring; 0: by rate */
	bool ring_rounded; /* ... are more than was named */
	bool no_overwrite;
	bool no_adapt;
	unsigned int nr_readers, nr_synth_workers, nr_setup_workers;
	enum reader_affinity affinity;
	bool affinity_named;
	/* output */
	bool batch;
	uint64_t nr_reports;		    /* 0: no limit */
	uint64_t duration_ns;		    /* 0: no limit */
	const struct output_format *format; /* after parsing: never NULL */
	const char *output;		    /* file; NULL: stdout */
	char *command_line;		    /* all of it as text, printable; owned */
	char **arguments;		    /* ... and as given, with the program's name */
	size_t nr_arguments;
	uint64_t max_rows; /* 0: all */
	enum color_mode color;
	bool ascii;
	bool latency;
	bool verbose;
	bool help, version, list, tune;
};

/* Defaults. What is parsed is borrowed from argv. */
void options_init(struct options *options);
void options_release(struct options *options);

/* Returns 0 or -EINVAL with a message that names the option and what it takes. */
int options_parse(struct options *options, int argc, char **argv, struct err *err) MUST_CHECK;

void options_print_help(FILE *file);

/* In batch mode: one report at the end, of all of it. */
bool options_report_once(const struct options *options);

/* ---- parts, for tests ---- */

/* "2", "0.5", "100ms", "1m": at least @min_ns. Returns 0 or -EINVAL. */
int options_parse_time(const char *text, uint64_t min_ns, uint64_t *ret_ns) MUST_CHECK;

/* A decimal number from @min to @max. Returns 0 or -EINVAL. */
int options_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret) MUST_CHECK;

/*
 * Data pages of a ring: "128" pages, or a size with B, K, M, G; a number that is no
 * power of two pages is rounded up. Returns 0, 1 when it was rounded, or -EINVAL;
 * *@ret_bytes is the size.
 */
int options_parse_pages(const char *text, size_t page_size, size_t *ret_bytes) MUST_CHECK;

/* Names of all options as they are written, for completions and tests. NULL past the last. */
const char *options_name(size_t index, char *ret_short);

#endif /* SYMTOP_TOP_OPTIONS_H */
