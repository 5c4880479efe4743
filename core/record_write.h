/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that we make ourselves, for a perf.data file: perf_event_open(2) gives the
 * layouts, sample_id included, and the kernel's perf.data-file-format.txt those that only
 * files have.
 *
 * Text is cut where the kernel cuts it: comms after 15 bytes, paths after 4,095. So
 * records stay far below their limit of 64 KiB; their sizes are multiples of 8.
 *
 * Any thread; a buffer is one thread's.
 */
#ifndef SYMTOP_CORE_RECORD_WRITE_H
#define SYMTOP_CORE_RECORD_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/record.h"
#include "core/thread_table.h"

/* Records one after the other. Zero-initialised it is empty. */
struct record_buffer {
	unsigned char *bytes;
	size_t len, nr_allocated;
};

void record_buffer_release(struct record_buffer *buffer);

/* Append a copy of @len bytes of whole records. */
void record_buffer_add(struct record_buffer *buffer, const void *records, size_t len);

/*
 * @format says which fields the sample_id at the end of a record has; ids in it are 0 and
 * the CPU is 0: the record is of no event. Readers take such a record to be of the first
 * event in the file, so its format is the one to give.
 */
void record_write_comm(struct record_buffer *buffer, const struct record_format *format,
		       uint32_t pid, uint32_t tid, const char *comm, bool exec, uint64_t time_ns);

/* An executable, private map: MMAP2, with the build id when @map has one. */
void record_write_mmap(struct record_buffer *buffer, const struct record_format *format,
		       uint32_t pid, const struct map_fact *map, uint64_t time_ns);

/* A part of the kernel, or a module: MMAP of pid -1. */
void record_write_kernel_mmap(struct record_buffer *buffer, const struct record_format *format,
			      uint64_t start, uint64_t len, uint64_t pgoff, const char *name,
			      uint64_t time_ns);

/* @nr samples are missing from about @time_ns; @id of the event, 0: not known. */
void record_write_lost(struct record_buffer *buffer, const struct record_format *format,
		       uint64_t id, uint64_t nr, uint64_t time_ns);

/* Everything before it in the file is older than what comes after the next one. */
void record_write_finished_round(struct record_buffer *buffer);

#endif /* SYMTOP_CORE_RECORD_WRITE_H */
