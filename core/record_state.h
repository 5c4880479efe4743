/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording has to tell of what was there before its first record: the kernel and
 * its modules, the names of all tasks, and what their processes had mapped.
 */
#ifndef SYMTOP_CORE_RECORD_STATE_H
#define SYMTOP_CORE_RECORD_STATE_H

#include <stdint.h>

#include "core/base/compiler.h"
#include "core/record_write.h"
#include "core/thread_table.h"

/*
 * The kernel's code and its modules, from @proc ("/proc"): kallsyms and modules. Nothing
 * where their addresses are hidden.
 */
void record_state_kernel(struct record_buffer *buffer, const struct record_format *format,
			 const char *proc, uint64_t time_ns);

/*
 * All tasks of @table that lived at @start_ns or later. Facts have their own times, and
 * older ones @start_ns, so that who sorts by time has them before the first sample.
 */
void record_state_tasks(struct record_buffer *buffer, const struct record_format *format,
			struct thread_table *table, uint64_t start_ns);

#endif /* SYMTOP_CORE_RECORD_STATE_H */
