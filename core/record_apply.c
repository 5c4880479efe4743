/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files begin with records that perf record made from /proc, for what existed before.
 * Their forks must not be taken for forks: who has all maps of its own must not fall
 * back on those of its parent. A comm record follows, which makes the task known.
 */
#include "config.h"

#include "core/record_apply.h"

#include <sys/mman.h>

#include "core/base/compiler.h"

static void apply_mmap(const struct record_sink *sink, const struct record *record)
{
	struct map_fact map = {
		.start = record->mmap.addr,
		.pgoff = record->mmap.pgoff,
		.dev_major = record->mmap.maj,
		.dev_minor = record->mmap.min,
		.inode = record->mmap.ino,
		.inode_generation = record->mmap.ino_generation,
		.build_id = record->mmap.build_id,
		.build_id_size = record->mmap.build_id_size,
		.path = record->mmap.filename,
	};

	if (!(record->mmap.prot & PROT_EXEC) || record->mmap.pid == UINT32_MAX)
		return;
	if (__builtin_add_overflow(record->mmap.addr, record->mmap.len, &map.end))
		return;
	thread_table_mmap(sink->table, record->mmap.pid, &map, record->id.time);
}

static void apply_fork(const struct record_sink *sink, const struct record *record)
{
	if (!record->task.time || record->misc & PERF_RECORD_MISC_FORK_EXEC)
		return;
	thread_table_fork(sink->table, record->task.pid, record->task.tid, record->task.ppid,
			  record->task.ptid, record->task.time);
}

void record_apply(const struct record_sink *sink, const struct record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		apply_mmap(sink, record);
		break;
	case PERF_RECORD_COMM:
		thread_table_comm(sink->table, record->comm.pid, record->comm.tid,
				  record->comm.comm, record->comm.exec, record->id.time);
		break;
	case PERF_RECORD_FORK:
		apply_fork(sink, record);
		break;
	case PERF_RECORD_EXIT:
		thread_table_exit(sink->table, record->task.pid, record->task.tid,
				  record->task.time);
		break;
	case PERF_RECORD_KSYMBOL:
		symbolizer_ksymbol(sink->symbolizer, sink->kernel, record->ksymbol.addr,
				   record->ksymbol.len, record->ksymbol.name,
				   record->ksymbol.unregister);
		break;
	default:
		break; /* decoded for others: BPF_EVENT, CGROUP, SWITCH */
	}
}
