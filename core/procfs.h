/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading /proc (proc(5)): one process at a time, whole files, no time limits.
 *
 * A process may vanish at any step: that is a result (-ESRCH), not an error.
 * Threads: a procfs_reader is used by one thread at a time.
 */
#ifndef SYMTOP_CORE_PROCFS_H
#define SYMTOP_CORE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/thread_table.h"

struct procfs_reader;

/* @proc ("/proc"; tests pass a folder) is copied. Never NULL. */
struct procfs_reader *procfs_reader_new(const char *proc);
void procfs_reader_free(struct procfs_reader *reader); /* NULL is fine */

/* Refuse processes of more than @nr threads with -E2BIG, before the work. 0: no limit. */
void procfs_reader_set_max_threads(struct procfs_reader *reader, unsigned int nr);

/*
 * Read process @pid: stat, its threads' names, executable maps (through a live
 * thread when the main one is gone). *@ret_process points into the reader and is
 * valid until the next call.
 *
 * Returns 0, -ESRCH (gone), -EACCES (nothing of it may be read), -E2BIG (see above)
 * or what open(2) and read(2) reported (-EMFILE); unreadable maps alone give 0 with
 * has_maps false. The maps of a kernel thread and of a zombie are known to be none. A
 * file (device and inode) of several names may be called by the one read a moment ago.
 */
int procfs_read_process(struct procfs_reader *reader, uint32_t pid,
			const struct synth_process **ret_process) MUST_CHECK;

/*
 * Parse the text of a maps file: calls @each for executable maps. Malformed lines
 * are skipped and counted (the result), and so is a last line without its newline:
 * it may be cut. The text is changed in place; paths are borrowed from it.
 */
size_t procfs_parse_maps(char *text, size_t len,
			 void (*each)(void *arg, const struct map_fact *map), void *arg);

/*
 * Ids of all processes (or threads of @pid) into *@ret_ids, the caller's to free().
 * Returns 0 or a negative errno.
 */
int procfs_list_processes(const char *proc, uint32_t **ret_ids, size_t *ret_nr) MUST_CHECK;
int procfs_list_threads(const char *proc, uint32_t pid, uint32_t **ret_ids,
			size_t *ret_nr) MUST_CHECK;

/* Effective uid and parent of @pid; -ESRCH when it is gone. Either output may be NULL. */
int procfs_read_owner(const char *proc, uint32_t pid, uint32_t *ret_uid,
		      uint32_t *ret_ppid) MUST_CHECK;

/* An integer sysctl, e.g. "kernel/perf_event_paranoid", below PROC/sys. */
int procfs_read_sysctl(const char *proc, const char *name, long *ret_value) MUST_CHECK;

/* A field of our own /proc/self/status in kB (e.g. "VmRSS:"), 0 when not there. */
uint64_t procfs_self_kb(const char *proc, const char *field);

#endif /* SYMTOP_CORE_PROCFS_H */
