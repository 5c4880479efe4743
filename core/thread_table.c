/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table itself: its questions and what it forgets. The facts are in
 * thread_facts.c, tasks and processes in task.c.
 *
 * 64 shards by process id, so that readers seldom meet: a question costs one short
 * lock, and the walk through the maps happens under the address space's own. Tasks
 * are told apart by reference, so a question about a task needs no look-up.
 *
 * Forgetting walks nothing that stays: the dead stand in a list in the order of their
 * end, and a process whose epoch or map has ended is noted once.
 */
#include "config.h"

#include "core/thread_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/thread_table_internal.h"

#define DEFAULT_MAX_TASKS ((size_t)1 << 20)
#define CHAIN_BATCH 128

/* One for all tasks that were gone before the kernel could say who they were. */
static struct task *exited_new(struct thread_table *table)
{
	struct task *task = mem_zalloc(sizeof(*task));

	atomic_init(&task->nr_refs, 1);
	task->pid = UINT32_MAX;
	task->tid = UINT32_MAX;
	task->died_ns = ALIVE;
	task->process = process_new(table, UINT32_MAX, 0, NULL);
	str_put(task->process->comm);
	task->process->comm = str_from("[exited]");
	task->comms[0].comm = str_get(task->process->comm);
	task->nr_comms = 1;
	return task;
}

struct thread_table *thread_table_new(const struct thread_table_options *options)
{
	struct thread_table *table = mem_zalloc(sizeof(*table));

	table->options = *options;
	if (!table->options.max_tasks)
		table->options.max_tasks = DEFAULT_MAX_TASKS;
	for (size_t i = 0; i < NR_SHARDS; i++)
		shard_init(&table->shards[i]);
	table->exited = exited_new(table);
	return table;
}

void thread_table_free(struct thread_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < NR_SHARDS; i++)
		shard_release(&table->shards[i]);
	task_put(table->exited);
	free(table);
}

/* ---- who ---- */

/* Is a scan worth asking for? Only once for each image. */
static bool ask_for_scan_locked(struct shard *shard, struct process *process) REQUIRES(shard->lock)
{
	if (process->scan_state != SCAN_NONE || process->kernel_thread || process->died_ns != ALIVE)
		return false;
	if (address_space_is_complete(process_space_locked(shard, process, ALIVE)))
		return false;
	process->scan_state = SCAN_ASKED;
	return true;
}

struct task *thread_table_get(struct thread_table *table, uint32_t pid, uint32_t tid,
			      uint64_t time_ns, bool *ret_needs_scan)
{
	struct shard *shard = shard_of(table, pid);
	struct garbage garbage = { 0 };
	bool needs_scan = false;
	struct task *task = NULL;

	if (pid != UINT32_MAX && tid != UINT32_MAX) {
		mutex_lock(&shard->lock);
		shard_evict_locked(table, shard, 1, &garbage);
		task = task_obtain_locked(table, shard, pid, tid, MIN(time_ns, ALIVE - 1));
		if (task) {
			task_get(task);
			if (ret_needs_scan)
				needs_scan = ask_for_scan_locked(shard, task->process);
		}
		mutex_unlock(&shard->lock);
		garbage_release(&garbage);
	}
	if (!task)
		task = task_get(table->exited);
	if (ret_needs_scan)
		*ret_needs_scan = needs_scan;
	return task;
}

/* ---- where ---- */

/* The space of @task at @time_ns, a reference, or NULL. */
static struct address_space *space_at(struct thread_table *table, struct task *task,
				      uint64_t time_ns, bool *ret_pending)
{
	struct shard *shard = shard_of(table, task->pid);
	struct process *process = task->process;
	struct address_space *space;

	mutex_lock(&shard->lock);
	space = process_space_locked(shard, process, time_ns);
	*ret_pending = space && process->scan_state == SCAN_ASKED &&
		       !address_space_is_complete(process_space_locked(shard, process, ALIVE));
	if (space)
		address_space_get(space);
	mutex_unlock(&shard->lock);
	return space;
}

enum locate_result thread_table_locate(struct thread_table *table, struct task *task, uint64_t ip,
				       uint64_t time_ns, struct location *ret_location)
{
	uint8_t result;

	thread_table_locate_many(table, task, &ip, 1, time_ns, ret_location, &result);
	return (enum locate_result)result;
}

void thread_table_locate_many(struct thread_table *table, struct task *task, const uint64_t *ips,
			      size_t nr_ips, uint64_t time_ns, struct location *ret_locations,
			      uint8_t *ret_results)
{
	bool found[CHAIN_BATCH];
	struct address_space *space;
	bool is_pending;
	uint8_t missing;

	space = space_at(table, task, time_ns, &is_pending);
	missing = is_pending ? LOCATE_NOT_YET : LOCATE_NO_MAP;
	for (size_t first = 0; first < nr_ips; first += CHAIN_BATCH) {
		size_t nr = MIN(nr_ips - first, (size_t)CHAIN_BATCH);

		memset(found, 0, nr * sizeof(*found));
		address_space_locate_many(space, ips + first, nr, time_ns, ret_locations + first,
					  found);
		for (size_t i = 0; i < nr; i++)
			ret_results[first + i] = found[i] ? LOCATE_FOUND : missing;
	}
	address_space_put(space);
}

/* ---- what changed, who is wanted ---- */

void thread_table_take_changed(struct thread_table *table, uint64_t ret_bits[static 1024])
{
	for (size_t i = 0; i < ARRAY_SIZE(table->changed); i++) {
		ret_bits[i] = atomic_load_explicit(&table->changed[i], memory_order_relaxed);
		if (ret_bits[i])
			ret_bits[i] = atomic_exchange_explicit(&table->changed[i], 0,
							       memory_order_relaxed);
	}
}

void thread_table_add_target(struct thread_table *table, uint32_t pid)
{
	struct shard *shard = shard_of(table, pid);
	struct process *process;
	struct task *task;

	if (pid == UINT32_MAX)
		return;
	mutex_lock(&shard->lock);
	process = process_find_locked(shard, pid, ALIVE);
	if (!process) {
		task = task_obtain_locked(table, shard, pid, pid, 0);
		process = task ? task->process : NULL;
	}
	if (process)
		process->is_target = true;
	mutex_unlock(&shard->lock);
}

/* ---- forgetting ---- */

static void forget_dead(struct thread_table *table, struct shard *shard, uint64_t time_ns)
{
	struct garbage garbage = { 0 };
	size_t nr;

	mutex_lock(&shard->lock);
	while (shard->oldest_dead && shard->oldest_dead->died_ns < time_ns)
		task_forget_locked(shard, shard->oldest_dead, &garbage);
	/* Too many even so: each shard gives its share. */
	nr = atomic_load_explicit(&table->nr_tasks, memory_order_relaxed);
	if (nr > table->options.max_tasks)
		shard_evict_locked(table, shard, (nr - table->options.max_tasks) / NR_SHARDS + 1,
				   &garbage);
	mutex_unlock(&shard->lock);
	garbage_release(&garbage);
}

/* Finished epochs go to @garbage, the others' spaces, as references, to @spaces. */
static void trim_epochs_locked(struct shard *shard, struct process *process, uint64_t time_ns,
			       struct garbage *garbage, struct garbage *spaces)
	REQUIRES(shard->lock)
{
	struct epoch *epochs = process->epochs;
	size_t nr_old = 0;

	(void)shard;
	while (nr_old + 1 < process->nr_epochs && epochs[nr_old + 1].from_ns < time_ns)
		garbage_add_space(garbage, epochs[nr_old++].space);
	process->nr_epochs -= nr_old;
	memmove(epochs, epochs + nr_old, process->nr_epochs * sizeof(*epochs));
	atomic_fetch_sub_explicit(&process->table->nr_spaces, nr_old, memory_order_relaxed);
	for (size_t i = 0; i < process->nr_epochs; i++)
		garbage_add_space(spaces, address_space_get(epochs[i].space));
}

static void trim_process(struct shard *shard, struct process *process, uint64_t time_ns)
{
	struct garbage garbage = { 0 };
	struct garbage spaces = { 0 };
	bool is_left;

	mutex_lock(&shard->lock);
	process->to_trim = false;
	trim_epochs_locked(shard, process, time_ns, &garbage, &spaces);
	is_left = process->nr_epochs > 1;
	mutex_unlock(&shard->lock);
	for (size_t i = 0; i < spaces.nr_spaces; i++)
		is_left |= address_space_trim(spaces.spaces[i], time_ns);
	garbage_release(&spaces);
	garbage_release(&garbage);
	if (!is_left)
		return;
	mutex_lock(&shard->lock);
	process_note_trim_locked(shard, process);
	mutex_unlock(&shard->lock);
}

static void trim_processes(struct shard *shard, uint64_t time_ns)
{
	struct process *process;

	mutex_lock(&shard->lock);
	process = shard->to_trim;
	shard->to_trim = NULL;
	mutex_unlock(&shard->lock);
	while (process) {
		/* Ours until to_trim is false: nobody links it again before. */
		struct process *next = process->next_to_trim;

		trim_process(shard, process, time_ns);
		process_put(process);
		process = next;
	}
}

void thread_table_trim(struct thread_table *table, uint64_t time_ns)
{
	for (size_t i = 0; i < NR_SHARDS; i++) {
		forget_dead(table, &table->shards[i], time_ns);
		trim_processes(&table->shards[i], time_ns);
	}
}

void thread_table_get_stats(struct thread_table *table, struct thread_table_stats *ret_stats)
{
	*ret_stats = (struct thread_table_stats){
		.nr_tasks = atomic_load_explicit(&table->nr_tasks, memory_order_relaxed),
		.nr_live = atomic_load_explicit(&table->nr_live, memory_order_relaxed),
		.nr_processes = atomic_load_explicit(&table->nr_processes, memory_order_relaxed),
		.nr_spaces = atomic_load_explicit(&table->nr_spaces, memory_order_relaxed),
		.nr_evicted = atomic_load_explicit(&table->nr_evicted, memory_order_relaxed),
		.nr_scanned = atomic_load_explicit(&table->nr_scanned, memory_order_relaxed),
	};
}

void thread_table_check_invariants(struct thread_table *table)
{
	struct thread_table_stats stats;
	uint64_t nr_tasks = 0, nr_processes = 0;

	for (size_t i = 0; i < NR_SHARDS; i++) {
		struct shard *shard = &table->shards[i];

		mutex_lock(&shard->lock);
		shard_check_invariants_locked(shard);
		nr_tasks += shard->tasks.nr;
		nr_processes += shard->processes.nr;
		mutex_unlock(&shard->lock);
	}
	/* Exact while nobody else calls. */
	thread_table_get_stats(table, &stats);
	assert(nr_tasks == stats.nr_tasks && nr_processes == stats.nr_processes);
	assert(stats.nr_live <= stats.nr_tasks && stats.nr_spaces >= stats.nr_processes);
}

/* ---- a task ---- */

uint32_t task_pid(const struct task *task)
{
	return task->pid;
}

uint32_t task_tid(const struct task *task)
{
	return task->tid;
}

struct str *task_comm(struct thread_table *table, struct task *task, uint64_t time_ns)
{
	struct shard *shard = shard_of(table, task->pid);
	struct str *comm;

	mutex_lock(&shard->lock);
	comm = task_comm_locked(shard, task, time_ns);
	if (comm)
		str_get(comm);
	mutex_unlock(&shard->lock);
	return comm ? comm : str_from("");
}

struct str *task_process_comm(struct thread_table *table, struct task *task)
{
	struct shard *shard = shard_of(table, task->pid);
	struct str *comm;

	mutex_lock(&shard->lock);
	comm = str_get(task->process->comm);
	mutex_unlock(&shard->lock);
	return comm;
}

uint32_t task_uid(struct thread_table *table, struct task *task)
{
	struct shard *shard = shard_of(table, task->pid);
	uint32_t uid;

	mutex_lock(&shard->lock);
	uid = task->process->uid;
	mutex_unlock(&shard->lock);
	return uid;
}

bool task_is_target(struct thread_table *table, struct task *task)
{
	struct shard *shard = shard_of(table, task->pid);
	bool is_target;

	mutex_lock(&shard->lock);
	is_target = task->process->is_target;
	mutex_unlock(&shard->lock);
	return is_target;
}

bool task_is_kernel_thread(struct thread_table *table, struct task *task)
{
	struct shard *shard = shard_of(table, task->pid);
	bool is_kernel_thread;

	mutex_lock(&shard->lock);
	is_kernel_thread = task->process->kernel_thread;
	mutex_unlock(&shard->lock);
	return is_kernel_thread;
}
