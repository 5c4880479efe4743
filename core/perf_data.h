/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf.data file (kernel: tools/perf/Documentation/perf.data-file-format.txt), as
 * perf record, perf inject and symtop write it: what it says of itself, and its
 * kernel records in the order of time.
 *
 * Both forms are read, the one for files and the one for pipes, and compressed
 * records (zstd). The file is hostile: whatever is in it costs at most some hundred
 * MiB of memory and ends; what is unusable is counted or said by perf_data_trouble().
 *
 * Threads: one at a time, but for perf_data_build_id().
 */
#ifndef SYMTOP_CORE_PERF_DATA_H
#define SYMTOP_CORE_PERF_DATA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/cpumap.h"
#include "core/record.h"

struct perf_data;

struct perf_data_event {
	const char *name; /* as the file has it, or made from attr */
	struct perf_event_attr attr;
	struct record_format format;
};

/* What the file says of where it was recorded; "" or 0: nothing. Lives as long as the file. */
struct perf_data_info {
	const char *host, *release, *version, *arch, *command; /* version: of perf */
	unsigned int nr_cpus, nr_cpus_online;
	uint64_t size;		    /* of the file */
	uint64_t first_ns, last_ns; /* times of the first and last sample */
	bool is_pipe;
	bool has_callchains; /* an event asked for them */
};

struct perf_data_figures {
	uint64_t nr_records;		  /* kernel records so far */
	uint64_t nr_malformed;		  /* ... that could not be decoded */
	uint64_t nr_unsorted;		  /* ... that came later than the order of time allows */
	uint64_t nr_skipped;		  /* records of perf's own that are not used */
	uint64_t bytes_read, bytes_total; /* of the data */
};

/* One kernel record. Everything is borrowed until perf_data_pop(). */
struct perf_data_record {
	const struct perf_event_header *header; /* 8-byte aligned */
	const struct record_format *format;
	uint64_t time; /* 0: none */
	size_t event;  /* whose record it is; 0 when it does not say */
};

/*
 * Open @path, a regular file, and read up to the first sample. On success *@ret_data
 * is the caller's. Returns 0 or a negative errno with a message: no perf.data file, of
 * the other byte order, without events, ...
 */
int perf_data_open(const char *path, struct perf_data **ret_data, struct err *err) MUST_CHECK;
void perf_data_close(struct perf_data *data); /* NULL is fine */

void perf_data_get_info(const struct perf_data *data, struct perf_data_info *ret_info);
size_t perf_data_nr_events(const struct perf_data *data); /* at least 1 */
void perf_data_get_event(const struct perf_data *data, size_t index,
			 struct perf_data_event *ret_event);

/*
 * The machine's CPUs and nodes into *@ret_map, the caller's to cpumap_release(); as far
 * as the file tells.
 */
void perf_data_get_cpumap(const struct perf_data *data, struct cpumap *ret_map);

/*
 * The build id of the file that was mapped as @path ("[kernel.kallsyms]", "[vdso]"
 * too) into @ret_id. Returns its size, 0 when the file tells none (yet). Any thread.
 */
size_t perf_data_build_id(struct perf_data *data, const char *path,
			  unsigned char ret_id[static 20]);

/* The next record, which stays the next one. False at the end. */
bool perf_data_peek(struct perf_data *data, struct perf_data_record *ret_record);

/* Done with the record that perf_data_peek() gave. */
void perf_data_pop(struct perf_data *data);

void perf_data_get_figures(const struct perf_data *data, struct perf_data_figures *ret_figures);

/* Why the file could not be read to its end, a sentence; NULL: (so far) it can. */
const char *perf_data_trouble(const struct perf_data *data);

#endif /* SYMTOP_CORE_PERF_DATA_H */
