/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the thread table is made of: shared by thread_table.c (questions, trimming),
 * thread_facts.c (what records and scans say) and task.c (tasks, processes, their
 * tables), nobody else.
 *
 * A shard owns the processes of its pids and their tasks. A task is in the shard's
 * table until it is forgotten; whoever has a reference keeps the task itself, and
 * through it its process, for longer. A process is in the table as long as one of its
 * tasks is.
 *
 * Lock order: shard.lock, then an address space's. Two shards are never locked at once.
 */
#ifndef SYMTOP_CORE_THREAD_TABLE_INTERNAL_H
#define SYMTOP_CORE_THREAD_TABLE_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/address_space.h"
#include "core/base/compiler.h"
#include "core/base/mutex.h"
#include "core/base/str.h"
#include "core/thread_table.h"

#define NR_SHARDS 64
#define NR_COMMS 4
#define ALIVE UINT64_MAX

/*
 * A task still runs for a moment after its exit record. What is seen of it later than
 * this is another one, whose fork was lost.
 */
#define EXIT_GRACE_NS UINT64_C(1000000000)

/* A chained hash table of what has a node in it. Several may have the same hash. */
struct node {
	struct node *next;
	uint64_t hash;
};

struct node_table {
	struct node **buckets;
	size_t nr_buckets;
	size_t nr;
};

struct epoch {
	uint64_t from_ns;
	struct address_space *space; /* a reference */
};

enum scan_state {
	SCAN_NONE,
	SCAN_ASKED,
	SCAN_DONE,
	SCAN_FAILED,
};

/* A process: what its tasks share. All but nr_refs, table and pid: guarded by its shard's lock. */
struct process {
	struct node node;	  /* in shard.processes */
	_Atomic uint32_t nr_refs; /* its tasks, also those that are forgotten */
	struct thread_table *table;
	uint32_t pid;
	uint32_t uid;
	bool kernel_thread;
	bool is_target;
	bool threads_known;   /* forked, exec'ed or scanned in our sight: no thread is missing */
	bool to_trim;	      /* in shard.to_trim */
	uint8_t scan_state;   /* enum scan_state; without meaning after an exec */
	uint64_t scan_end_ns; /* of the scan that the newest epoch was read by; 0: none */
	uint64_t born_ns;     /* 0: before we came */
	uint64_t seen_ns;     /* earliest fact or question about it */
	uint64_t died_ns;     /* ALIVE */
	struct str *comm;     /* of its main thread, a reference */
	struct epoch *epochs; /* by time; none if it is in no shard */
	size_t nr_epochs, nr_epochs_allocated;
	struct task *first_task; /* those in the table */
	uint32_t nr_live;
	struct process *next_to_trim;
};

struct comm_entry {
	uint64_t time_ns;
	struct str *comm; /* a reference */
};

/* A thread. All but nr_refs, process, pid and tid: guarded by its shard's lock. */
struct task {
	struct node node;	  /* in shard.tasks */
	_Atomic uint32_t nr_refs; /* the table's included */
	uint32_t pid, tid;
	bool in_table;
	uint8_t nr_comms;
	uint64_t born_ns;
	uint64_t seen_ns;
	uint64_t died_ns;
	struct process *process;		      /* a reference */
	struct comm_entry comms[NR_COMMS];	      /* by time */
	struct task *next_sibling, *previous_sibling; /* of the process, in the table */
	struct task *next_dead, *previous_dead;
};

struct shard {
	struct mutex lock;
	struct node_table tasks GUARDED_BY(lock);
	struct node_table processes GUARDED_BY(lock);
	struct task *oldest_dead GUARDED_BY(lock); /* in the order in which they were found dead */
	struct task *newest_dead GUARDED_BY(lock);
	struct process *to_trim GUARDED_BY(lock); /* have epochs or maps that ended */
};

struct thread_table {
	struct thread_table_options options;
	struct shard shards[NR_SHARDS];
	struct task *exited; /* stands for all tasks of pid UINT32_MAX; in no shard */

	/* Statistics and, for nr_tasks, a limit: all relaxed. */
	_Atomic uint64_t nr_tasks;
	_Atomic uint64_t nr_live;
	_Atomic uint64_t nr_processes;
	_Atomic uint64_t nr_spaces;
	_Atomic uint64_t nr_evicted;
	_Atomic uint64_t nr_scanned;

	/* thread_table_take_changed(). Relaxed: the caller orders records and the question. */
	_Atomic uint64_t changed[1024];
};

/* What is to be put once the shard is unlocked: freeing may close files. */
struct garbage {
	struct task *tasks; /* linked by next_dead; the table's references */
	struct address_space **spaces;
	size_t nr_spaces, nr_spaces_allocated;
};

void garbage_add_space(struct garbage *garbage, struct address_space *space);
void garbage_release(struct garbage *garbage);

struct shard *shard_of(struct thread_table *table, uint32_t pid);

void table_note_changed(struct thread_table *table, uint32_t pid);

/* ---- tasks ---- */

/*
 * Forget up to @nr dead tasks, oldest first, while the table is full. Before a look-up:
 * what it found might go otherwise.
 */
void shard_evict_locked(struct thread_table *table, struct shard *shard, size_t nr,
			struct garbage *garbage) REQUIRES(shard->lock);

/*
 * Who was it at @time_ns? Made, without a name, when nobody is known: the one known died
 * too long before, or only younger ones are. NULL when the table is full.
 */
struct task *task_obtain_locked(struct thread_table *table, struct shard *shard, uint32_t pid,
				uint32_t tid, uint64_t time_ns) REQUIRES(shard->lock);

/* The youngest in the table born at or before @time_ns, dead or not, or NULL. */
struct task *task_find_locked(struct shard *shard, uint32_t pid, uint32_t tid, uint64_t time_ns)
	REQUIRES(shard->lock);

/* A live task of @process, which is in the table or gets there; NULL when that is full. */
struct task *task_new_locked(struct shard *shard, struct process *process, uint32_t tid,
			     uint64_t born_ns, uint64_t seen_ns) REQUIRES(shard->lock);

/* @task ends at @time_ns, and its process with its last task. Nothing if it is dead. */
void task_end_locked(struct shard *shard, struct task *task, uint64_t time_ns)
	REQUIRES(shard->lock);

/* @task, first heard of as of @time_ns, ends where another has its id already. */
void task_end_for_successor_locked(struct shard *shard, struct task *task, uint64_t time_ns)
	REQUIRES(shard->lock);

/* Take @task, which is dead, out of the table. */
void task_forget_locked(struct shard *shard, struct task *task, struct garbage *garbage)
	REQUIRES(shard->lock);

/* @task is called @comm from @time_ns on. True: it had another name until then. */
bool task_add_comm_locked(struct shard *shard, struct task *task, struct str *comm,
			  uint64_t time_ns) REQUIRES(shard->lock);

/* The name at @time_ns, borrowed; NULL: none known. */
struct str *task_comm_locked(struct shard *shard, const struct task *task, uint64_t time_ns)
	REQUIRES(shard->lock);

/* ---- processes ---- */

/*
 * A process with @space (the reference is taken over; NULL: none) from @born_ns on. It
 * is not in the table before task_new_locked() gave it a task; if that fails: process_put().
 */
struct process *process_new(struct thread_table *table, uint32_t pid, uint64_t born_ns,
			    struct address_space *space);

struct process *process_get(struct process *process);
void process_put(struct process *process);

struct process *process_find_locked(struct shard *shard, uint32_t pid, uint64_t time_ns)
	REQUIRES(shard->lock);

/* All its tasks but @but (may be NULL) end at @time_ns. */
void process_end_tasks_locked(struct shard *shard, struct process *process, const struct task *but,
			      uint64_t time_ns) REQUIRES(shard->lock);

/* Its space at @time_ns, borrowed; NULL when it is forgotten. */
struct address_space *process_space_locked(struct shard *shard, const struct process *process,
					   uint64_t time_ns) REQUIRES(shard->lock);

/* Another space (the reference is taken over) from @from_ns on. */
void process_add_epoch_locked(struct shard *shard, struct process *process, uint64_t from_ns,
			      struct address_space *space) REQUIRES(shard->lock);

/* Have thread_table_trim() look at it: an epoch or a map has ended. */
void process_note_trim_locked(struct shard *shard, struct process *process) REQUIRES(shard->lock);

void shard_init(struct shard *shard);

/* Forget everything, live or not: the end of the table. */
void shard_release(struct shard *shard);

void shard_check_invariants_locked(struct shard *shard) REQUIRES(shard->lock);

#endif /* SYMTOP_CORE_THREAD_TABLE_INTERNAL_H */
