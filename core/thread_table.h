/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every known thread of the machine: who it was, when, and what it had mapped.
 *
 * A struct task is one thread from birth to exit: a reused pid is a new task. Tasks
 * of one process share its address spaces (one per exec). The table is sharded by
 * process id; each shard has its mutex, held for short and never across I/O.
 *
 * Facts arrive from two sides, in any order: records (metadata worker, event time)
 * and synthesis (/proc scans). A synthesized fact never replaces a newer one.
 *
 * Threads: everything may be called from any worker.
 */
#ifndef SYMTOP_CORE_THREAD_TABLE_H
#define SYMTOP_CORE_THREAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/address_space.h"
#include "core/base/compiler.h"
#include "core/base/str.h"
#include "symbols/dso.h"

struct task;
struct thread_table;

struct thread_table_options {
	struct dso_table *dsos; /* borrowed, must outlive the table */
	size_t max_tasks;	/* 0: default (1 << 20); oldest dead ones go first */
	/* Called for each dso seen for the first time, outside all locks; may be NULL. */
	void (*on_new_dso)(void *arg, struct dso *dso);
	void *arg;
};

struct thread_table_stats {
	uint64_t nr_tasks; /* in the table, dead ones included */
	uint64_t nr_live;
	uint64_t nr_processes;
	uint64_t nr_spaces;
	uint64_t nr_evicted; /* dead tasks forgotten although referenced facts might be asked for */
	uint64_t nr_scanned; /* processes that synthesis delivered */
};

/* @options is copied. Never NULL. */
struct thread_table *thread_table_new(const struct thread_table_options *options);
void thread_table_free(
	struct thread_table *table); /* NULL is fine; task references must be put before */

/* ---- facts from records; @time_ns is the record's ---- */

void thread_table_fork(struct thread_table *table, uint32_t pid, uint32_t tid, uint32_t ppid,
		       uint32_t ptid, uint64_t time_ns);
void thread_table_comm(struct thread_table *table, uint32_t pid, uint32_t tid, const char *comm,
		       bool exec, uint64_t time_ns);
void thread_table_exit(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* An executable map, from a record or from a line of /proc/PID/maps. */
struct map_fact {
	uint64_t start, end, pgoff;
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation; /* generation 0: not known */
	const unsigned char *build_id;	  /* of the file, instead of device and inode */
	uint8_t build_id_size;		  /* up to 20; 0: none */
	const char *path; /* "/usr/lib/x.so", "[vdso]", "//anon", "[heap]", "" ... */
};

void thread_table_mmap(struct thread_table *table, uint32_t pid, const struct map_fact *map,
		       uint64_t time_ns);

/* ---- facts from /proc ---- */

struct synth_thread {
	uint32_t tid;
	char comm[16]; /* up to 15 bytes, any */
};

/* What one scan of /proc/PID found. Plain data, borrowed during the call. */
struct synth_process {
	uint32_t pid, ppid;
	uint32_t uid; /* effective; UINT32_MAX: not known */
	bool kernel_thread;
	bool has_maps;		/* the maps could be read (empty counts) */
	uint64_t scan_start_ns; /* clock before the first file was opened */
	uint64_t scan_end_ns;
	const struct synth_thread *threads;
	size_t nr_threads;
	const struct map_fact *maps; /* executable ones */
	size_t nr_maps;
};

void thread_table_synthesize(struct thread_table *table, const struct synth_process *process);

/* A scan found no such process (any more): do not ask again. */
void thread_table_scan_failed(struct thread_table *table, uint32_t pid, uint64_t scan_start_ns);

/* ---- questions ---- */

/*
 * The task that was @tid of process @pid at @time_ns; a reference, the caller's to
 * put. A task not known is made, without a name. *@ret_needs_scan (may be NULL):
 * synthesis of @pid would help, and no scan was asked for yet; asked once per
 * process image.
 */
struct task *thread_table_get(struct thread_table *table, uint32_t pid, uint32_t tid,
			      uint64_t time_ns, bool *ret_needs_scan);

enum locate_result {
	LOCATE_FOUND,
	LOCATE_NO_MAP,	/* the process is known, nothing is mapped there as far as we know */
	LOCATE_NOT_YET, /* its maps are not known yet: a scan is under way */
};

/* Where was @ip of @task at @time_ns? User addresses only. */
enum locate_result thread_table_locate(struct thread_table *table, struct task *task, uint64_t ip,
				       uint64_t time_ns, struct location *ret_location);

/* The same for a whole chain with one lock: results[i], and locations[i] where found. */
void thread_table_locate_many(struct thread_table *table, struct task *task, const uint64_t *ips,
			      size_t nr_ips, uint64_t time_ns, struct location *ret_locations,
			      uint8_t *ret_results);

/*
 * Tell which processes changed identity (fork, exec, exit, a map over a map) since
 * the last call: samples of these must not be merged across the change. Sets a bit
 * for each in the 65536-bit set (bit: pid & 0xffff), after clearing it.
 */
void thread_table_take_changed(struct thread_table *table, uint64_t ret_bits[static 1024]);

/* Mark @pid, its threads and later children as wanted (target filter in user space). */
void thread_table_add_target(struct thread_table *table, uint32_t pid);

/*
 * Who walks over the table. Both are called without a lock, for one process after the
 * other: its names first, those of its main thread before all others. Texts and maps are
 * borrowed during the call.
 */
struct thread_table_visitor {
	/* @exec: a new image began then; with the name it began with. */
	void (*on_comm)(void *arg, uint32_t pid, uint32_t tid, const char *comm, bool exec,
			uint64_t time_ns);
	/* In the order in which they came: one replaces what was there (address_space_walk()). */
	void (*on_map)(void *arg, uint32_t pid, const struct map_view *map, uint64_t time_ns);
	void *arg;
};

/*
 * All that is known of the tasks that lived at @since_ns or later and held at some time
 * from then on; what is older is told with the time @since_ns. What a fork or an exec brought
 * is told a nanosecond after it: so it comes second where that is told, too. Kernel threads
 * have names only, tasks without a name are left out.
 */
void thread_table_walk(struct thread_table *table, const struct thread_table_visitor *visitor,
		       uint64_t since_ns);

/*
 * Forget tasks that died before @time_ns, and epochs and maps that ended before it.
 * A reference keeps the task and its names, but not its place in the table, nor the
 * maps of a process that is forgotten. Called once a second or so with the start of
 * the oldest window.
 */
void thread_table_trim(struct thread_table *table, uint64_t time_ns);

void thread_table_get_stats(struct thread_table *table, struct thread_table_stats *ret_stats);

void thread_table_check_invariants(struct thread_table *table);

/* ---- a task ---- */

struct task *task_get(struct task *task);
void task_put(struct task *task); /* NULL is fine */

uint32_t task_pid(const struct task *
			  task); /* thread group id; 0: idle; UINT32_MAX: exited, not known which */
uint32_t task_tid(const struct task *task);

/* Name of the thread at @time_ns / of its process's main thread now; references, never NULL (""
 * unknown). */
struct str *task_comm(struct thread_table *table, struct task *task, uint64_t time_ns);
struct str *task_process_comm(struct thread_table *table, struct task *task);

uint32_t task_uid(struct thread_table *table, struct task *task); /* UINT32_MAX: not known (yet) */
bool task_is_target(struct thread_table *table, struct task *task);
bool task_is_kernel_thread(struct thread_table *table, struct task *task);

#endif /* SYMTOP_CORE_THREAD_TABLE_H */
