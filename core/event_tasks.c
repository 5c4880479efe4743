/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads a target has, and which processes came without being inherited.
 *
 * A thread or process that a watched one creates inherits the events inside the
 * kernel. To open events for it as well would count it twice, and the kernel does not
 * tell who has inherited. So for "all processes of this user" a newcomer is followed
 * up through its parents: when it descends from a process that was there at the last
 * look it has inherited; when the chain ends at a process of somebody else (sshd,
 * login, sudo, cron) it has not. When it ends at pid 1 the process may be a daemon
 * that lost its parent, which has inherited, or a service that init started; counting
 * twice is worse than missing a service, so it is taken for the former.
 */
#include "config.h"

#include "core/event_set_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/event_kernel.h"
#include "core/procfs.h"

struct process {
	uint32_t pid;
	uint32_t ppid;
};

struct process_list {
	struct process *processes; /* sorted by pid */
	size_t nr, nr_allocated;
};

void id_list_release(struct id_list *list)
{
	free(list->ids);
	memset(list, 0, sizeof(*list));
}

void id_list_add(struct id_list *list, uint32_t id)
{
	mem_grow(list->ids, list->nr, list->nr_allocated);
	list->ids[list->nr++] = id;
}

static int compare_ids(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left;
	uint32_t b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

void id_list_sort(struct id_list *list)
{
	size_t nr = 0;

	if (!list->nr)
		return;
	qsort(list->ids, list->nr, sizeof(*list->ids), compare_ids);
	for (size_t i = 0; i < list->nr; i++) {
		if (nr == 0 || list->ids[nr - 1] != list->ids[i])
			list->ids[nr++] = list->ids[i];
	}
	list->nr = nr;
}

bool id_list_has(const struct id_list *list, uint32_t id)
{
	return list->nr && bsearch(&id, list->ids, list->nr, sizeof(id), compare_ids);
}

/* It is we who lack something to read /proc with, not a process that is gone or hidden. */
static bool is_our_fault(int code)
{
	return code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

/* A process that is gone has no threads: not an error. */
static int add_threads(const char *proc, uint32_t pid, struct id_list *list)
{
	uint32_t *tids;
	size_t nr;
	int ret;

	ret = procfs_list_threads(proc, pid, &tids, &nr);
	if (ret)
		return is_our_fault(ret) ? ret : 0;
	for (size_t i = 0; i < nr; i++)
		id_list_add(list, tids[i]);
	free(tids);
	return 0;
}

static int compare_processes(const void *left, const void *right)
{
	return compare_ids(&((const struct process *)left)->pid,
			   &((const struct process *)right)->pid);
}

static const struct process *find_process(const struct process_list *list, uint32_t pid)
{
	struct process key = { .pid = pid };

	if (!list->nr)
		return NULL;
	return bsearch(&key, list->processes, list->nr, sizeof(key), compare_processes);
}

/* All processes of our effective user. */
static int list_own_processes(const char *proc, struct process_list *ret_list)
{
	uint32_t *pids;
	size_t nr;
	int ret;

	ret = procfs_list_processes(proc, &pids, &nr);
	if (ret)
		return ret;
	for (size_t i = 0; i < nr; i++) {
		uint32_t uid;
		uint32_t ppid;

		ret = procfs_read_owner(proc, pids[i], &uid, &ppid);
		if (is_our_fault(ret)) {
			free(pids);
			return ret;
		}
		if (ret || uid != event_kernel->euid())
			continue;
		mem_grow(ret_list->processes, ret_list->nr, ret_list->nr_allocated);
		ret_list->processes[ret_list->nr++] = (struct process){ pids[i], ppid };
	}
	free(pids);
	if (ret_list->nr)
		qsort(ret_list->processes, ret_list->nr, sizeof(*ret_list->processes),
		      compare_processes);
	return 0;
}

static void remember(struct id_list *known, const struct process_list *list)
{
	known->nr = 0;
	for (size_t i = 0; i < list->nr; i++)
		id_list_add(known, list->processes[i].pid);
}

static int collect_own(struct event_set *set, struct err *err)
{
	struct process_list list = { 0 };
	int ret;

	ret = list_own_processes(set->options.proc, &list);
	if (!ret)
		remember(&set->known, &list);
	for (size_t i = 0; i < list.nr && !ret; i++)
		ret = add_threads(set->options.proc, list.processes[i].pid, &set->tids);
	free(list.processes);
	if (ret)
		return err_set(err, ret, "cannot list the processes in %s", set->options.proc);
	return 0;
}

int event_tasks_collect(struct event_set *set, struct err *err)
{
	const struct target *target = set->target;
	int ret = 0;

	set->tids.nr = 0;
	if (set->follows_processes)
		ret = collect_own(set, err);
	if (ret)
		return ret;
	for (size_t i = 0; !set->follows_processes && i < target->nr_ids; i++) {
		if (target->kind == TARGET_PROCESSES)
			ret = add_threads(set->options.proc, target->ids[i], &set->tids);
		else
			id_list_add(&set->tids, target->ids[i]);
		if (ret)
			return err_set(err, ret, "cannot list the threads of process %u",
				       target->ids[i]);
	}
	id_list_sort(&set->tids);
	if (set->tids.nr)
		return 0;
	if (set->follows_processes || !target->nr_ids)
		return err_say(err, -ESRCH, "there is no process to watch");
	return err_say(err, -ESRCH, "process %u%s does not exist", target->ids[0],
		       target->nr_ids > 1 ? " (like the others named)" : "");
}

bool event_tasks_grew(const struct event_set *set)
{
	struct id_list now = { 0 };
	bool grew = false;

	/* One that cannot be read now is looked at again at the next tick. */
	for (size_t i = 0; i < set->target->nr_ids; i++)
		(void)add_threads(set->options.proc, set->target->ids[i], &now);
	for (size_t i = 0; i < now.nr && !grew; i++)
		grew = !id_list_has(&set->tids, now.ids[i]);
	id_list_release(&now);
	return grew;
}

size_t event_tasks_count_threads(const struct event_set *set, uint32_t pid)
{
	struct id_list threads = { 0 };
	size_t nr;

	(void)add_threads(set->options.proc, pid, &threads);
	nr = threads.nr;
	id_list_release(&threads);
	return nr;
}

/* Has @process inherited our events? See above. */
static bool is_inherited(const struct id_list *known, const struct process_list *now,
			 const struct process *process)
{
	/* Parents are read one after the other: a circle cannot be ruled out. */
	for (size_t depth = 0; depth <= now->nr; depth++) {
		const struct process *parent;

		if (id_list_has(known, process->pid))
			return true;
		parent = find_process(now, process->ppid);
		if (!parent)
			return process->ppid <= 1;
		process = parent;
	}
	return true;
}

int event_tasks_find_new(struct event_set *set, struct id_list *ret_tids)
{
	struct process_list now = { 0 };
	int ret;

	ret = list_own_processes(set->options.proc, &now);
	if (ret) {
		free(now.processes);
		return ret;
	}
	for (size_t i = 0; i < now.nr; i++) {
		if (!is_inherited(&set->known, &now, &now.processes[i]))
			(void)add_threads(set->options.proc, now.processes[i].pid, ret_tids);
	}
	id_list_sort(ret_tids);
	remember(&set->known, &now);
	free(now.processes);
	return 0;
}
