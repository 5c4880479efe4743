/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events belong to CPUs (every task that runs there) or to tasks.
 *
 * By task costs one event for each thread, CPU and event of the user: the kernel
 * refuses to map a ring for an inherited event that is not bound to a CPU, and
 * without inheritance new threads would be missed. So 100 threads on 64 CPUs are
 * 12,800 descriptors (each is also an object in the kernel, and switched with the
 * task). Where that gets out of hand and we have the rights, the machine is watched
 * and the collector leaves out what is not the target: two descriptors a CPU, nothing
 * missed, at the price of samples that are thrown away.
 *
 * By task is also what an ordinary user gets who asked for the machine: with
 * perf_event_paranoid 1 or 2, one's own tasks are what one may watch.
 */
#include "config.h"

#include "core/event_set_private.h"

#include <errno.h>
#include <sys/resource.h>

#include "core/event_kernel.h"

/* Beyond this many descriptors of tasks the machine is watched instead. */
#define MAX_TASK_FDS 4096

/* For everything that is not an event: rings have none, files and terminals do. */
#define OTHER_FDS 128

size_t event_mode_count_cpu_fds(const struct event_set *set, uint32_t cpu)
{
	size_t nr_tasks = set->by_task ? set->tids.nr : 1;
	size_t nr = nr_tasks + set->by_task; /* metadata */

	if (cpuset_has(&set->wanted, cpu))
		nr += nr_tasks * set->events->nr + set->by_task + event_open_nr_starters(set);
	return nr;
}

size_t event_mode_count_fds(const struct event_set *set)
{
	size_t nr = OTHER_FDS;

	for (int cpu = cpuset_next(&set->machine, 0); cpu >= 0;
	     cpu = cpuset_next(&set->machine, (unsigned int)cpu + 1))
		nr += event_mode_count_cpu_fds(set, (uint32_t)cpu);
	return nr;
}

static bool may_watch_machine(const struct event_set *set)
{
	return event_probe_machine_rights(cpuset_next(&set->online, 0));
}

/* The soft limit to the hard one; the hard one too, where it is too low and we may. */
static void raise_fd_limit(const struct event_set *set)
{
	struct rlimit limit;
	rlim_t needed = event_mode_count_fds(set);

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit))
			return;
	}
	if (limit.rlim_max >= needed)
		return;
	limit.rlim_cur = needed;
	limit.rlim_max = needed;
	/* Refused without CAP_SYS_RESOURCE: then opening says how many are missing. */
	(void)!setrlimit(RLIMIT_NOFILE, &limit);
}

/* Own processes are what was left, not what was asked for: take as many as there is room for. */
static void cut_own_tasks(struct event_set *set)
{
	/* Its metadata on all CPUs, its events on those that are watched. */
	size_t per_task = cpuset_nr(&set->machine) + cpuset_nr(&set->online) * set->events->nr;
	struct rlimit limit;
	size_t room;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= event_mode_count_fds(set))
		return;
	room = (size_t)limit.rlim_cur > OTHER_FDS ? (size_t)limit.rlim_cur - OTHER_FDS : 0;
	room = MAX(room / per_task, 1);
	if (set->tids.nr <= room)
		return;
	event_set_add_note(set,
			   "Only %zu of your %zu threads are watched: they would need %zu file "
			   "descriptors, and %zu are allowed (ulimit -n).",
			   room, set->tids.nr, event_mode_count_fds(set), (size_t)limit.rlim_cur);
	set->tids.nr = room;
}

static void use_own_processes(struct event_set *set)
{
	char remedy[512];

	set->by_task = true;
	set->follows_processes = true;
	set->info.own_processes_only = set->target->kind == TARGET_MACHINE;
	event_error_machine_remedy(set->options.proc, remedy, sizeof(remedy));
	if (set->info.own_processes_only)
		event_set_add_note(set,
				   "No rights for the whole machine: showing your own "
				   "processes only. %s",
				   remedy);
}

static int choose_user(struct event_set *set, struct err *err)
{
	char remedy[512];

	if (event_kernel_is_privileged() || may_watch_machine(set)) {
		set->info.filter_in_user_space = true;
		return 0;
	}
	if (set->target->uid == event_kernel->euid()) {
		use_own_processes(set);
		return 0;
	}
	err_say(err, -EACCES, "no rights to watch the processes of user %u",
		(unsigned int)set->target->uid);
	event_error_machine_remedy(set->options.proc, remedy, sizeof(remedy));
	err_hint(err, "%s", remedy);
	return -EACCES;
}

bool event_mode_switch_to_machine(struct event_set *set, const char *why)
{
	if (!may_watch_machine(set))
		return false;
	set->by_task = false;
	set->info.filter_in_user_space = true;
	event_set_add_note(set, "Watching the whole machine and showing the target only: %s.", why);
	return true;
}

int event_mode_list_again(struct event_set *set, struct err *err)
{
	int ret;

	if (!set->by_task)
		return 0;
	ret = event_tasks_collect(set, err);
	if (ret)
		return ret;
	if (set->target->kind != TARGET_COMMAND && !set->follows_processes &&
	    event_mode_count_fds(set) > MAX_TASK_FDS)
		event_mode_switch_to_machine(set, "it has very many threads");
	raise_fd_limit(set);
	if (set->follows_processes)
		cut_own_tasks(set);
	return 0;
}

int event_mode_choose(struct event_set *set, struct err *err)
{
	int ret = 0;

	switch (set->target->kind) {
	case TARGET_MACHINE:
		/* With privileges there is nothing to fall back from: opening tells why. */
		if (!event_kernel_is_privileged() && !may_watch_machine(set))
			use_own_processes(set);
		break;
	case TARGET_USER:
		ret = choose_user(set, err);
		break;
	case TARGET_PROCESSES:
	case TARGET_THREADS:
	case TARGET_COMMAND:
		set->by_task = true;
		break;
	}
	raise_fd_limit(set);
	return ret ? ret : event_mode_list_again(set, err);
}
