/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a record says of tasks, maps and kernel symbols goes into the tables: for
 * records from rings as from a file. Any worker.
 */
#ifndef SYMTOP_CORE_RECORD_APPLY_H
#define SYMTOP_CORE_RECORD_APPLY_H

#include "core/base/compiler.h"
#include "core/record.h"
#include "core/thread_table.h"
#include "symbols/symbolizer.h"

struct record_sink {
	struct thread_table *table; /* all borrowed */
	struct symbolizer *symbolizer;
	struct dso *kernel;
};

/* Records that tell nothing of these are ignored. */
void record_apply(const struct record_sink *sink, const struct record *record);

#endif /* SYMTOP_CORE_RECORD_APPLY_H */
