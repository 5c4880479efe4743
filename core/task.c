/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks and processes, and the hash tables of a shard that hold them.
 *
 * Pids come again, so a key may have several entries, one a generation; each is asked
 * for with a time and the youngest born by then answers. Generations are few, the old
 * ones being trimmed, so they just share a bucket.
 *
 * Who was born before we came, or is known by a sample alone, was born at 0: there is
 * no time at which it was not the one. seen_ns, the earliest sign of it, tells later
 * whether a fork record that comes late is about it or about its successor.
 */
#include "config.h"

#include "core/thread_table_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"

/* ---- hash tables ---- */

static void node_table_grow(struct node_table *table)
{
	size_t nr_buckets = MAX((size_t)16, 2 * table->nr_buckets);
	struct node **buckets = mem_calloc(nr_buckets, sizeof(*buckets));

	for (size_t i = 0; i < table->nr_buckets; i++) {
		struct node *node = table->buckets[i];

		while (node) {
			struct node *next = node->next;
			struct node **bucket = &buckets[node->hash & (nr_buckets - 1)];

			node->next = *bucket;
			*bucket = node;
			node = next;
		}
	}
	free(table->buckets);
	table->buckets = buckets;
	table->nr_buckets = nr_buckets;
}

static void node_table_insert(struct node_table *table, struct node *node)
{
	struct node **bucket;

	if (table->nr >= table->nr_buckets)
		node_table_grow(table);
	bucket = &table->buckets[node->hash & (table->nr_buckets - 1)];
	node->next = *bucket;
	*bucket = node;
	table->nr++;
}

static void node_table_remove(struct node_table *table, struct node *node)
{
	struct node **link = &table->buckets[node->hash & (table->nr_buckets - 1)];

	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	table->nr--;
}

static struct node *node_table_bucket(const struct node_table *table, uint64_t hash)
{
	return table->nr ? table->buckets[hash & (table->nr_buckets - 1)] : NULL;
}

/* Both hashes are one to one: equal hashes are equal keys. */
static uint64_t process_hash(uint32_t pid)
{
	return hash_u64(pid);
}

static uint64_t task_hash(uint32_t pid, uint32_t tid)
{
	return hash_u64((uint64_t)pid << 32 | tid);
}

struct shard *shard_of(struct thread_table *table, uint32_t pid)
{
	return &table->shards[process_hash(pid) >> 58];
}

void table_note_changed(struct thread_table *table, uint32_t pid)
{
	uint32_t bit = pid & 0xffff;

	atomic_fetch_or_explicit(&table->changed[bit / 64], UINT64_C(1) << (bit % 64),
				 memory_order_relaxed);
}

/* ---- what is freed without a lock ---- */

void garbage_add_space(struct garbage *garbage, struct address_space *space)
{
	mem_grow(garbage->spaces, garbage->nr_spaces, garbage->nr_spaces_allocated);
	garbage->spaces[garbage->nr_spaces++] = space;
}

void garbage_release(struct garbage *garbage)
{
	while (garbage->tasks) {
		struct task *task = garbage->tasks;

		garbage->tasks = task->next_dead;
		task_put(task);
	}
	for (size_t i = 0; i < garbage->nr_spaces; i++)
		address_space_put(garbage->spaces[i]);
	free(garbage->spaces);
}

/* ---- processes ---- */

struct process *process_new(struct thread_table *table, uint32_t pid, uint64_t born_ns,
			    struct address_space *space)
{
	struct process *process = mem_zalloc(sizeof(*process));

	atomic_init(&process->nr_refs, 1);
	process->node.hash = process_hash(pid);
	process->table = table;
	process->pid = pid;
	process->uid = UINT32_MAX;
	process->born_ns = born_ns;
	process->seen_ns = UINT64_MAX;
	process->died_ns = ALIVE;
	process->comm = str_from("");
	if (!space)
		return process;
	process->epochs = mem_calloc(1, sizeof(*process->epochs));
	process->epochs[0] = (struct epoch){ .from_ns = born_ns, .space = space };
	process->nr_epochs = 1;
	process->nr_epochs_allocated = 1;
	atomic_fetch_add_explicit(&table->nr_spaces, 1, memory_order_relaxed);
	return process;
}

struct process *process_get(struct process *process)
{
	atomic_fetch_add_explicit(&process->nr_refs, 1, memory_order_relaxed);
	return process;
}

void process_put(struct process *process)
{
	/* Release and acquire: what others did with it comes before the free(). */
	if (atomic_fetch_sub_explicit(&process->nr_refs, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < process->nr_epochs; i++)
		address_space_put(process->epochs[i].space);
	atomic_fetch_sub_explicit(&process->table->nr_spaces, process->nr_epochs,
				  memory_order_relaxed);
	free(process->epochs);
	str_put(process->comm);
	free(process);
}

struct process *process_find_locked(struct shard *shard, uint32_t pid, uint64_t time_ns)
{
	uint64_t hash = process_hash(pid);
	struct node *node = node_table_bucket(&shard->processes, hash);
	struct process *best = NULL;

	for (; node; node = node->next) {
		struct process *process = container_of(node, struct process, node);

		if (node->hash == hash && process->born_ns <= time_ns &&
		    (!best || process->born_ns > best->born_ns))
			best = process;
	}
	return best;
}

/* When the pid went over to somebody after @time_ns; ALIVE: it did not. */
static uint64_t process_successor_locked(struct shard *shard, uint32_t pid, uint64_t time_ns)
	REQUIRES(shard->lock)
{
	uint64_t hash = process_hash(pid);
	struct node *node = node_table_bucket(&shard->processes, hash);
	uint64_t born_ns = ALIVE;

	for (; node; node = node->next) {
		struct process *process = container_of(node, struct process, node);

		if (node->hash == hash && process->born_ns > time_ns)
			born_ns = MIN(born_ns, process->born_ns);
	}
	return born_ns;
}

static size_t process_epoch_index(const struct process *process, uint64_t time_ns)
{
	size_t index = process->nr_epochs - 1;

	while (index && process->epochs[index].from_ns > time_ns)
		index--;
	return index;
}

struct address_space *process_space_locked(struct shard *shard, const struct process *process,
					   uint64_t time_ns)
{
	(void)shard;
	if (!process->nr_epochs)
		return NULL;
	return process->epochs[process_epoch_index(process, time_ns)].space;
}

void process_add_epoch_locked(struct shard *shard, struct process *process, uint64_t from_ns,
			      struct address_space *space)
{
	size_t index = process_epoch_index(process, from_ns) + 1;

	mem_grow(process->epochs, process->nr_epochs, process->nr_epochs_allocated);
	memmove(&process->epochs[index + 1], &process->epochs[index],
		(process->nr_epochs - index) * sizeof(*process->epochs));
	process->epochs[index] = (struct epoch){ .from_ns = from_ns, .space = space };
	process->nr_epochs++;
	atomic_fetch_add_explicit(&process->table->nr_spaces, 1, memory_order_relaxed);
	process_note_trim_locked(shard, process);
}

void process_note_trim_locked(struct shard *shard, struct process *process)
{
	if (process->to_trim || !process->first_task)
		return;
	process->to_trim = true;
	process->next_to_trim = shard->to_trim;
	shard->to_trim = process_get(process);
}

void process_end_tasks_locked(struct shard *shard, struct process *process, const struct task *but,
			      uint64_t time_ns)
{
	for (struct task *task = process->first_task; task; task = task->next_sibling) {
		if (task != but)
			task_end_locked(shard, task, time_ns);
	}
}

/* Its last task was forgotten: who still has a reference asks for no maps. */
static void process_forget_locked(struct shard *shard, struct process *process,
				  struct garbage *garbage) REQUIRES(shard->lock)
{
	struct thread_table *table = process->table;

	node_table_remove(&shard->processes, &process->node);
	for (size_t i = 0; i < process->nr_epochs; i++)
		garbage_add_space(garbage, process->epochs[i].space);
	atomic_fetch_sub_explicit(&table->nr_spaces, process->nr_epochs, memory_order_relaxed);
	process->nr_epochs = 0;
	atomic_fetch_sub_explicit(&table->nr_processes, 1, memory_order_relaxed);
}

/* ---- tasks ---- */

struct task *task_find_locked(struct shard *shard, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint64_t hash = task_hash(pid, tid);
	struct node *node = node_table_bucket(&shard->tasks, hash);
	struct task *best = NULL;

	for (; node; node = node->next) {
		struct task *task = container_of(node, struct task, node);

		if (node->hash == hash && task->born_ns <= time_ns &&
		    (!best || task->born_ns > best->born_ns))
			best = task;
	}
	return best;
}

/* When the id went over to somebody after @time_ns; ALIVE: it did not. */
static uint64_t task_successor_locked(struct shard *shard, uint32_t pid, uint32_t tid,
				      uint64_t time_ns) REQUIRES(shard->lock)
{
	uint64_t hash = task_hash(pid, tid);
	struct node *node = node_table_bucket(&shard->tasks, hash);
	uint64_t born_ns = ALIVE;

	for (; node; node = node->next) {
		struct task *task = container_of(node, struct task, node);

		if (node->hash == hash && task->born_ns > time_ns)
			born_ns = MIN(born_ns, task->born_ns);
	}
	return born_ns;
}

void shard_evict_locked(struct thread_table *table, struct shard *shard, size_t nr,
			struct garbage *garbage)
{
	while (nr-- && shard->oldest_dead &&
	       atomic_load_explicit(&table->nr_tasks, memory_order_relaxed) >=
		       table->options.max_tasks) {
		task_forget_locked(shard, shard->oldest_dead, garbage);
		atomic_fetch_add_explicit(&table->nr_evicted, 1, memory_order_relaxed);
	}
}

struct task *task_new_locked(struct shard *shard, struct process *process, uint32_t tid,
			     uint64_t born_ns, uint64_t seen_ns)
{
	struct thread_table *table = process->table;
	struct task *task;

	/* The dead ones of other shards may stand in the way until the next trim. */
	if (atomic_load_explicit(&table->nr_tasks, memory_order_relaxed) >=
	    2 * table->options.max_tasks)
		return NULL;
	task = mem_zalloc(sizeof(*task));
	atomic_init(&task->nr_refs, 1);
	task->node.hash = task_hash(process->pid, tid);
	task->pid = process->pid;
	task->tid = tid;
	task->born_ns = born_ns;
	task->seen_ns = seen_ns;
	task->died_ns = ALIVE;
	task->in_table = true;
	task->process = process_get(process);
	node_table_insert(&shard->tasks, &task->node);
	if (!process->first_task) {
		node_table_insert(&shard->processes, &process->node);
		atomic_fetch_add_explicit(&table->nr_processes, 1, memory_order_relaxed);
	}
	task->next_sibling = process->first_task;
	if (task->next_sibling)
		task->next_sibling->previous_sibling = task;
	process->first_task = task;
	process->nr_live++;
	process->died_ns = ALIVE;
	process->seen_ns = MIN(process->seen_ns, seen_ns);
	atomic_fetch_add_explicit(&table->nr_tasks, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&table->nr_live, 1, memory_order_relaxed);
	return task;
}

void task_end_locked(struct shard *shard, struct task *task, uint64_t time_ns)
{
	struct process *process = task->process;

	if (task->died_ns != ALIVE)
		return;
	task->died_ns = MAX(time_ns, task->born_ns);
	task->previous_dead = shard->newest_dead;
	if (task->previous_dead)
		task->previous_dead->next_dead = task;
	else
		shard->oldest_dead = task;
	shard->newest_dead = task;
	atomic_fetch_sub_explicit(&process->table->nr_live, 1, memory_order_relaxed);
	process->nr_live--;
	/* Where threads may be missing, only the end of the main one tells something. */
	if (process->nr_live || (!process->threads_known && task->tid != task->pid))
		return;
	process->died_ns = task->died_ns;
	table_note_changed(process->table, process->pid);
}

static void unlink_dead_locked(struct shard *shard, struct task *task) REQUIRES(shard->lock)
{
	if (task->previous_dead)
		task->previous_dead->next_dead = task->next_dead;
	else
		shard->oldest_dead = task->next_dead;
	if (task->next_dead)
		task->next_dead->previous_dead = task->previous_dead;
	else
		shard->newest_dead = task->previous_dead;
}

void task_forget_locked(struct shard *shard, struct task *task, struct garbage *garbage)
{
	struct process *process = task->process;

	unlink_dead_locked(shard, task);
	node_table_remove(&shard->tasks, &task->node);
	if (task->previous_sibling)
		task->previous_sibling->next_sibling = task->next_sibling;
	else
		process->first_task = task->next_sibling;
	if (task->next_sibling)
		task->next_sibling->previous_sibling = task->previous_sibling;
	if (!process->first_task)
		process_forget_locked(shard, process, garbage);
	task->in_table = false;
	atomic_fetch_sub_explicit(&process->table->nr_tasks, 1, memory_order_relaxed);
	task->next_dead = garbage->tasks;
	garbage->tasks = task;
}

/* Dead for so long that it is no longer it. */
static bool is_over(uint64_t died_ns, uint64_t time_ns)
{
	return died_ns != ALIVE && time_ns > died_ns && time_ns - died_ns > EXIT_GRACE_NS;
}

/* The process was @known until it died, or not known at all at @time_ns. */
static struct process *process_make(struct thread_table *table, const struct process *known,
				    uint32_t pid)
{
	uint64_t born_ns = known ? known->died_ns + EXIT_GRACE_NS + 1 : 0;
	struct process *process;

	process = process_new(table, pid, born_ns, address_space_new(born_ns, NULL));
	if (!pid) {
		str_put(process->comm);
		process->comm = str_from("swapper");
		process->kernel_thread = true;
	}
	return process;
}

/* Somebody else had the id soon after @time_ns, when @task is first heard of: it ended by then. */
void task_end_for_successor_locked(struct shard *shard, struct task *task, uint64_t time_ns)
{
	uint64_t ended_ns =
		MIN(process_successor_locked(shard, task->pid, time_ns),
		    task_successor_locked(shard, task->pid, task->tid, time_ns));

	if (ended_ns != ALIVE)
		task_end_locked(shard, task, ended_ns);
}

/* @tid of @process, of whom an earlier one may be @known to have died. */
static struct task *task_make_locked(struct shard *shard, struct process *process, uint32_t tid,
				     const struct task *known, uint64_t time_ns)
	REQUIRES(shard->lock)
{
	uint64_t ended_ns = process->threads_known ? process->died_ns : ALIVE;
	uint64_t born_ns = process->born_ns;
	struct task *task;

	if (known && known->process == process)
		born_ns = MAX(born_ns, known->died_ns + EXIT_GRACE_NS + 1);
	ended_ns = MIN(ended_ns, process_successor_locked(shard, process->pid, time_ns));
	ended_ns = MIN(ended_ns, task_successor_locked(shard, process->pid, tid, time_ns));
	task = task_new_locked(shard, process, tid, born_ns, time_ns);
	if (!task)
		return NULL;
	if (!process->pid)
		task_add_comm_locked(shard, task, process->comm, 0);
	if (ended_ns != ALIVE)
		task_end_locked(shard, task, ended_ns);
	return task;
}

struct task *task_obtain_locked(struct thread_table *table, struct shard *shard, uint32_t pid,
				uint32_t tid, uint64_t time_ns)
{
	struct process *process = process_find_locked(shard, pid, time_ns);
	struct task *task = task_find_locked(shard, pid, tid, time_ns);
	struct process *made = NULL;

	if (process && process->threads_known && is_over(process->died_ns, time_ns)) {
		made = process_make(table, process, pid);
	} else if (!process) {
		made = process_make(table, NULL, pid);
	} else if (task && task->process == process && !is_over(task->died_ns, time_ns)) {
		if (time_ns < task->seen_ns)
			task->seen_ns = time_ns;
		if (time_ns < process->seen_ns)
			process->seen_ns = time_ns;
		return task;
	}
	task = task_make_locked(shard, made ? made : process, tid, task, time_ns);
	if (made)
		process_put(made);
	return task;
}

struct task *task_get(struct task *task)
{
	atomic_fetch_add_explicit(&task->nr_refs, 1, memory_order_relaxed);
	return task;
}

void task_put(struct task *task)
{
	/* Release and acquire: what others did with it comes before the free(). */
	if (!task || atomic_fetch_sub_explicit(&task->nr_refs, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < task->nr_comms; i++)
		str_put(task->comms[i].comm);
	process_put(task->process);
	free(task);
}

/* ---- names ---- */

/* Index of the name at @time_ns; the first one answers for the time before it. */
static size_t comm_index(const struct task *task, uint64_t time_ns)
{
	size_t index = task->nr_comms - 1u;

	while (index && task->comms[index].time_ns > time_ns)
		index--;
	return index;
}

struct str *task_comm_locked(struct shard *shard, const struct task *task, uint64_t time_ns)
{
	(void)shard;
	return task->nr_comms ? task->comms[comm_index(task, time_ns)].comm : NULL;
}

bool task_add_comm_locked(struct shard *shard, struct task *task, struct str *comm,
			  uint64_t time_ns)
{
	struct str *old = task_comm_locked(shard, task, time_ns);
	size_t index = 0;

	while (index < task->nr_comms && task->comms[index].time_ns <= time_ns)
		index++;
	if (index && task->comms[index - 1].comm == comm)
		return false;
	if (task->nr_comms == NR_COMMS) {
		if (!index)
			return false; /* older than all that is kept */
		index--;
		str_put(task->comms[0].comm);
		memmove(&task->comms[0], &task->comms[1], (NR_COMMS - 1) * sizeof(*task->comms));
		task->nr_comms--;
	}
	memmove(&task->comms[index + 1], &task->comms[index],
		(task->nr_comms - index) * sizeof(*task->comms));
	task->comms[index] = (struct comm_entry){ .time_ns = time_ns, .comm = str_get(comm) };
	task->nr_comms++;
	if (task->tid == task->pid && index == task->nr_comms - 1u) {
		str_put(task->process->comm);
		task->process->comm = str_get(comm);
	}
	return old && old != comm;
}

/* ---- shards ---- */

void shard_init(struct shard *shard)
{
	mutex_init(&shard->lock);
}

void shard_release(struct shard *shard)
{
	struct garbage garbage = { 0 };

	mutex_lock(&shard->lock);
	while (shard->to_trim) {
		struct process *process = shard->to_trim;

		shard->to_trim = process->next_to_trim;
		process_put(process);
	}
	for (size_t i = 0; i < shard->tasks.nr_buckets; i++) {
		while (shard->tasks.buckets[i]) {
			struct task *task =
				container_of(shard->tasks.buckets[i], struct task, node);

			task_end_locked(shard, task, task->born_ns);
			task_forget_locked(shard, task, &garbage);
		}
	}
	mutex_unlock(&shard->lock);
	garbage_release(&garbage);
	free(shard->tasks.buckets);
	free(shard->processes.buckets);
	mutex_release(&shard->lock);
}

static void process_check_invariants_locked(struct shard *shard, const struct process *process)
	REQUIRES(shard->lock)
{
	size_t nr_live = 0;

	assert(shard_of(process->table, process->pid) == shard);
	assert(process->first_task && process->nr_epochs);
	assert(process->died_ns == ALIVE || !process->nr_live);
	assert(!process->first_task->previous_sibling);
	for (const struct task *task = process->first_task; task; task = task->next_sibling) {
		assert(task->process == process && task->pid == process->pid && task->in_table);
		assert(!task->next_sibling || task->next_sibling->previous_sibling == task);
		nr_live += task->died_ns == ALIVE;
	}
	assert(nr_live == process->nr_live);
	for (size_t i = 0; i < process->nr_epochs; i++) {
		assert(!i || process->epochs[i - 1].from_ns <= process->epochs[i].from_ns);
		address_space_check_invariants(process->epochs[i].space);
	}
}

static void task_check_invariants_locked(struct shard *shard, const struct task *task)
	REQUIRES(shard->lock)
{
	assert(shard_of(task->process->table, task->pid) == shard);
	assert(task->in_table && task->born_ns <= task->died_ns);
	for (size_t i = 1; i < task->nr_comms; i++)
		assert(task->comms[i - 1].time_ns <= task->comms[i].time_ns);
}

void shard_check_invariants_locked(struct shard *shard)
{
	size_t nr_tasks = 0, nr_processes = 0, nr_dead = 0;

	for (size_t i = 0; i < shard->tasks.nr_buckets; i++) {
		for (struct node *node = shard->tasks.buckets[i]; node; node = node->next) {
			const struct task *task = container_of(node, struct task, node);

			task_check_invariants_locked(shard, task);
			nr_dead += task->died_ns != ALIVE;
			nr_tasks++;
		}
	}
	for (size_t i = 0; i < shard->processes.nr_buckets; i++) {
		for (struct node *node = shard->processes.buckets[i]; node; node = node->next) {
			process_check_invariants_locked(shard,
							container_of(node, struct process, node));
			nr_processes++;
		}
	}
	assert(nr_tasks == shard->tasks.nr && nr_processes == shard->processes.nr);
	for (const struct task *task = shard->oldest_dead; task; task = task->next_dead) {
		assert(task->died_ns != ALIVE);
		assert(task->next_dead ? task->next_dead->previous_dead == task
				       : shard->newest_dead == task);
		nr_dead--;
	}
	assert(!nr_dead);
}
