/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to core/perf_data_write*.c: the parts of a perf.data file's writer. */
#ifndef SYMTOP_CORE_PERF_DATA_WRITE_PRIVATE_H
#define SYMTOP_CORE_PERF_DATA_WRITE_PRIVATE_H

#include "core/base/text.h"
#include "core/perf_data_private.h"
#include "core/perf_data_write.h"

/* ---- perf_data_write_feature.c: what the file says of itself ---- */

#define MAX_WRITTEN_FEATURES 16

/* Zero-initialised it is empty. */
struct feature_list {
	uint64_t mask; /* 1 << number */
	size_t nr;
	struct file_section sections[MAX_WRITTEN_FEATURES]; /* within bytes */
	struct textbuf bytes;
};

void feature_list_init(struct feature_list *list, const struct perf_data_write_event *events,
		       size_t nr_events, const struct perf_data_write_facts *facts);
void feature_list_release(struct feature_list *list);

/* Append bytes to @buf, whatever they are. */
void put_bytes(struct textbuf *buf, const void *bytes, size_t size);

/* As it stands in a file: of the size that each of them has there. */
struct perf_event_attr attr_for_file(const struct perf_data_write_event *event);

#endif /* SYMTOP_CORE_PERF_DATA_WRITE_PRIVATE_H */
