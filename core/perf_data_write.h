/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf.data file being written (kernel: tools/perf/Documentation/
 * perf.data-file-format.txt), in the form for files.
 *
 * Events stand at its front, and again at its end if ids came later; there is also
 * everything that the file says of itself. The header tells after each append how much
 * data there is, to the record: who is killed leaves a file that can be read up to there.
 *
 * perf(1) wants of several events that all have ids, and the id and sample_id_all at the
 * same place (PERF_SAMPLE_IDENTIFIER sees to it).
 *
 * Threads: one at a time.
 */
#ifndef SYMTOP_CORE_PERF_DATA_WRITE_H
#define SYMTOP_CORE_PERF_DATA_WRITE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/cpumap.h"

struct perf_data_writer;
struct perf_data_tail;

/* All borrowed during the call. */
struct perf_data_write_event {
	const char *name;
	struct perf_event_attr attr; /* as it was opened */
	const uint64_t *ids;	     /* PERF_EVENT_IOC_ID; may be none when there is one event */
	size_t nr_ids;
};

struct perf_data_write_build_id {
	const char *path; /* as in the records of its maps; "[kernel.kallsyms]" */
	unsigned char id[20];
	uint8_t size; /* up to 20 */
	bool is_kernel;
};

/* What the file says of itself; NULL or 0: that is left out. All borrowed during the call. */
struct perf_data_write_facts {
	const char *host, *release, *version, *arch;
	const char *const *arguments; /* the command line */
	size_t nr_arguments;
	unsigned int nr_cpus, nr_cpus_online; /* nr_cpus: the largest id and 1 */
	const struct cpumap *cpumap;	      /* its nodes */
	uint64_t first_ns, last_ns;	      /* times of the first and last sample */
	uint64_t clock_resolution_ns;	      /* of attr.clockid; 0: not by a clock id */
	const struct perf_data_write_build_id *build_ids;
	size_t nr_build_ids;
};

/*
 * Create @path, a regular file. One that is there already and not empty is renamed to
 * PATH.old first, in the place of what was called that. Never waits: what is there and no
 * regular file is refused with a message. On success *@ret_writer is the caller's, and
 * ended by perf_data_writer_finish().
 */
int perf_data_writer_create(const char *path, const struct perf_data_write_event *events,
			    size_t nr_events, struct perf_data_writer **ret_writer,
			    struct err *err) MUST_CHECK;

/*
 * Append @len bytes of whole records. Returns 0 or what writing reported (ENOSPC, EIO,
 * EFBIG ...), with a message: then the file holds what was appended before.
 */
int perf_data_writer_append(struct perf_data_writer *writer, const void *records, size_t len,
			    struct err *err) MUST_CHECK;

uint64_t perf_data_writer_bytes(const struct perf_data_writer *writer); /* of the file, so far */

/* The end of a file, made by who knows the facts; written later. Never NULL. */
struct perf_data_tail *perf_data_tail_new(const struct perf_data_write_event *events,
					  size_t nr_events,
					  const struct perf_data_write_facts *facts);
void perf_data_tail_free(struct perf_data_tail *tail); /* NULL is fine */

/*
 * Write the end and close; @tail (borrowed) NULL: only close, as after an error. Frees
 * @writer in any case. Returns 0 or the first error, with a message.
 */
int perf_data_writer_finish(struct perf_data_writer *writer, const struct perf_data_tail *tail,
			    struct err *err) MUST_CHECK;

#endif /* SYMTOP_CORE_PERF_DATA_WRITE_H */
