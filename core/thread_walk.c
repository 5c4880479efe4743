/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk over the thread table: all of it, for who writes it down.
 *
 * A shard is locked to note its processes, as references, and then once for each of them
 * to note its names and its spaces, again as references. Everything else, the maps
 * included, happens with no shard's lock. So what is held in memory is one process with
 * its maps, and the processes of one shard by pointers alone. Who comes to a shard after
 * it was noted is missed: of those there are records.
 */
#include "config.h"

#include "core/thread_table.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/thread_table_internal.h"

struct name {
	uint32_t tid;
	bool is_main; /* the main thread's */
	bool is_exec;
	uint64_t time_ns;
	struct str *comm; /* a reference */
	size_t order;	  /* of those at the same time */
};

struct image {
	struct address_space *space; /* a reference */
	uint64_t born_ns;
	uint64_t until_ns; /* the next exec; ALIVE */
};

/* What is to be told of one process. */
struct notes {
	uint32_t pid;
	uint64_t since_ns;
	struct name *names;
	size_t nr_names, nr_names_allocated;
	struct image *images;
	size_t nr_images, nr_images_allocated;
};

/* ---- noting ---- */

static void note_name(struct notes *notes, uint32_t tid, struct str *comm, bool is_exec,
		      uint64_t time_ns)
{
	mem_grow(notes->names, notes->nr_names, notes->nr_names_allocated);
	notes->names[notes->nr_names] = (struct name){
		.tid = tid,
		.is_main = tid == notes->pid,
		.is_exec = is_exec,
		.time_ns = MAX(time_ns, notes->since_ns),
		.comm = str_get(comm),
		.order = notes->nr_names,
	};
	notes->nr_names++;
}

static uint64_t epoch_end(const struct process *process, size_t index)
{
	return index + 1 < process->nr_epochs ? process->epochs[index + 1].from_ns : ALIVE;
}

/* Did the epoch begin with an exec that is to be told? */
static bool is_told_exec(const struct process *process, size_t index, uint64_t since_ns)
{
	uint64_t from_ns = process->epochs[index].from_ns;

	return from_ns > since_ns && from_ns > process->born_ns &&
	       epoch_end(process, index) > from_ns;
}

static bool has_told_exec_at(const struct process *process, uint64_t time_ns, uint64_t since_ns)
{
	for (size_t i = 0; i < process->nr_epochs; i++) {
		if (process->epochs[i].from_ns == time_ns && is_told_exec(process, i, since_ns))
			return true;
	}
	return false;
}

static void note_names_locked(struct shard *shard, struct notes *notes, const struct task *task)
	REQUIRES(shard->lock)
{
	(void)shard;
	for (size_t i = 0; i < task->nr_comms; i++) {
		const struct comm_entry *entry = &task->comms[i];
		/* The first one answers for the time before it, too. */
		uint64_t from_ns = MAX(i ? entry->time_ns : 0, task->born_ns + 1);

		if (i + 1u < task->nr_comms && task->comms[i + 1].time_ns <= notes->since_ns)
			continue;
		if (task->tid == task->pid && from_ns >= entry->time_ns &&
		    has_told_exec_at(task->process, entry->time_ns, notes->since_ns))
			continue;
		note_name(notes, task->tid, entry->comm, false, from_ns);
	}
}

/* The name that the exec at @time_ns gave. */
static struct str *exec_comm_locked(struct shard *shard, const struct process *process,
				    uint64_t time_ns) REQUIRES(shard->lock)
{
	struct task *task = task_find_locked(shard, process->pid, process->pid, time_ns);
	struct str *comm = NULL;

	if (task && task->process == process)
		comm = task_comm_locked(shard, task, time_ns);
	return comm ? comm : process->comm;
}

static void note_image(struct notes *notes, const struct process *process, size_t index)
{
	const struct epoch *epoch = &process->epochs[index];
	uint64_t until_ns = epoch_end(process, index);

	if (until_ns <= notes->since_ns || until_ns <= epoch->from_ns)
		return;
	mem_grow(notes->images, notes->nr_images, notes->nr_images_allocated);
	notes->images[notes->nr_images++] = (struct image){
		.space = address_space_get(epoch->space),
		.born_ns = MAX(epoch->from_ns, process->born_ns),
		.until_ns = until_ns,
	};
}

static void note_process_locked(struct shard *shard, const struct process *process,
				struct notes *notes) REQUIRES(shard->lock)
{
	bool has_main = false;

	/* Dead, or forgotten since it was noted. */
	if (process->died_ns < notes->since_ns || !process->first_task)
		return;
	for (const struct task *task = process->first_task; task; task = task->next_sibling) {
		if (task->died_ns < notes->since_ns)
			continue;
		note_names_locked(shard, notes, task);
		has_main |= task->tid == task->pid;
	}
	/* The main thread is gone; the others are still called after it. */
	if (!has_main && process->comm->len)
		note_name(notes, process->pid, process->comm, false, process->born_ns + 1);
	for (size_t i = 0; i < process->nr_epochs; i++) {
		if (is_told_exec(process, i, notes->since_ns))
			note_name(notes, process->pid,
				  exec_comm_locked(shard, process, process->epochs[i].from_ns),
				  true, process->epochs[i].from_ns);
		if (!process->kernel_thread)
			note_image(notes, process, i);
	}
}

/* ---- telling ---- */

static int compare_names(const void *left_arg, const void *right_arg)
{
	const struct name *left = left_arg, *right = right_arg;

	if (left->is_main != right->is_main)
		return left->is_main ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

static void tell_names(struct notes *notes, const struct thread_table_visitor *visitor)
{
	if (notes->nr_names)
		qsort(notes->names, notes->nr_names, sizeof(*notes->names), compare_names);
	for (size_t i = 0; i < notes->nr_names; i++) {
		const struct name *name = &notes->names[i];

		visitor->on_comm(visitor->arg, notes->pid, name->tid, name->comm->text,
				 name->is_exec, name->time_ns);
		str_put(name->comm);
	}
}

struct telling {
	const struct thread_table_visitor *visitor;
	const struct image *image;
	uint32_t pid;
	uint64_t since_ns;
};

static void tell_map(void *arg, const struct map_view *map)
{
	const struct telling *telling = arg;
	const struct image *image = telling->image;
	uint64_t time_ns = MAX(map->from_ns, image->born_ns + 1);

	/* From when another image was there already: no look-up ever found it. */
	if (map->from_ns >= image->until_ns)
		return;
	telling->visitor->on_map(telling->visitor->arg, telling->pid, map,
				 MAX(time_ns, telling->since_ns));
}

static void tell_images(struct notes *notes, const struct thread_table_visitor *visitor)
{
	for (size_t i = 0; i < notes->nr_images; i++) {
		struct telling telling = { .visitor = visitor,
					   .image = &notes->images[i],
					   .pid = notes->pid,
					   .since_ns = notes->since_ns };

		address_space_walk(notes->images[i].space, notes->since_ns, tell_map, &telling);
		address_space_put(notes->images[i].space);
	}
}

static void walk_process(struct shard *shard, const struct process *process,
			 const struct thread_table_visitor *visitor, uint64_t since_ns)
{
	struct notes notes = { .pid = process->pid, .since_ns = since_ns };

	mutex_lock(&shard->lock);
	note_process_locked(shard, process, &notes);
	mutex_unlock(&shard->lock);
	tell_names(&notes, visitor);
	tell_images(&notes, visitor);
	free(notes.names);
	free(notes.images);
}

static size_t take_processes(struct shard *shard, struct process ***ret_processes)
{
	struct process **processes;
	size_t nr = 0;

	mutex_lock(&shard->lock);
	processes = mem_calloc(shard->processes.nr + 1, sizeof(struct process *));
	for (size_t i = 0; i < shard->processes.nr_buckets; i++) {
		for (struct node *node = shard->processes.buckets[i]; node; node = node->next)
			processes[nr++] = process_get(container_of(node, struct process, node));
	}
	mutex_unlock(&shard->lock);
	*ret_processes = processes;
	return nr;
}

void thread_table_walk(struct thread_table *table, const struct thread_table_visitor *visitor,
		       uint64_t since_ns)
{
	for (size_t i = 0; i < NR_SHARDS; i++) {
		struct process **processes;
		size_t nr = take_processes(&table->shards[i], &processes);

		for (size_t j = 0; j < nr; j++) {
			walk_process(&table->shards[i], processes[j], visitor, since_ns);
			process_put(processes[j]);
		}
		free(processes);
	}
}
