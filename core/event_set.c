/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of opening: what the kernel knows (probe), what we may (mode), what each
 * event can be (settle), then CPU by CPU all events there, then all rings. The last
 * two are passes of event_setup.c, by one or several workers; the rings come after the
 * events because their size is only sure when the last one is mapped (event_rings.c).
 *
 * A task target is a race: a thread that is created while its creator's events are
 * being opened inherits some of them. Whether it did cannot be seen, and opening the
 * rest would count it twice on some CPUs. So the threads are listed again at the end;
 * if there are new ones everything is closed and opened once more, and if that never
 * settles the machine is watched, or, without the rights for it, what was opened last
 * is kept: nearly all that came since have inherited everything.
 *
 * Every CPU that there may be has its struct event_cpu from the start: indexes stay the
 * same over hotplug. Those that are not to be sampled have a ring for metadata only.
 * What the kernel does to events of a CPU that goes away cannot be undone: they are
 * closed and opened again. Events of tasks survive it.
 */
#include "config.h"

#include "core/event_set_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/affinity.h"
#include "core/base/clock.h"
#include "core/base/mem.h"

/* How often a task target is opened before new threads are let be. */
#define MAX_ATTEMPTS 3

void event_set_add_note(struct event_set *set, const char *fmt, ...)
{
	size_t nr = atomic_load_explicit(&set->nr_notes, memory_order_relaxed);
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(set->notes[i], text))
			return;
	}
	if (nr == EVENT_SET_MAX_NOTES)
		return;
	set->notes[nr] = mem_strdup(text);
	atomic_store_explicit(&set->nr_notes, nr + 1, memory_order_release);
}

const char *event_set_note(const struct event_set *set, size_t index)
{
	if (index >= atomic_load_explicit(&set->nr_notes, memory_order_acquire))
		return NULL;
	return set->notes[index];
}

static bool is_covered(const struct event_set *set, uint32_t cpu)
{
	for (size_t i = 0; i < set->events->nr; i++) {
		if (event_covers(&set->events->events[i], cpu))
			return true;
	}
	return false;
}

/* CPUs that are online now, and those of interest. */
static void set_online(struct event_set *set, const struct cpumap *cpumap)
{
	set->machine = cpumap->online;
	for (size_t i = 0; i < ARRAY_SIZE(set->online.bits); i++)
		set->online.bits[i] = set->wanted.bits[i] & cpumap->online.bits[i];
}

static void add_cpu(struct event_set *set, const struct cpumap *cpumap, uint32_t id)
{
	struct event_cpu *cpu = mem_zalloc(sizeof(*cpu));

	cpu->rings.cpu = id;
	cpu->rings.node = cpumap_node(cpumap, id);
	cpu->rings.metadata_fd = -1;
	cpu->sample_fd = -1;
	cpu->metadata_fd = -1;
	set->cpus = mem_resize(set->cpus, set->nr_cpus + 1, sizeof(*set->cpus));
	set->cpus[set->nr_cpus++] = cpu;
}

static int choose_cpus(struct event_set *set, const struct cpumap *cpumap, struct err *err)
{
	char wanted[128];
	char online[128];

	for (uint32_t id = 0; id < CPUMAP_MAX_CPUS; id++) {
		if (!cpuset_has(&cpumap->possible, id) && !cpuset_has(&cpumap->online, id))
			continue;
		add_cpu(set, cpumap, id);
		if (set->target->has_cpus && !cpuset_has(&set->target->cpus, id))
			continue;
		if (is_covered(set, id))
			cpuset_add(&set->wanted, id);
	}
	set_online(set, cpumap);
	if (cpuset_nr(&set->online))
		return 0;
	cpuset_format(&cpumap->online, online, sizeof(online));
	if (!set->target->has_cpus)
		return err_say(err, -ENODEV,
			       "the event counts on none of the CPUs that are online "
			       "(%s)",
			       online);
	cpuset_format(&set->target->cpus, wanted, sizeof(wanted));
	return err_say(err, -ENODEV, "none of the CPUs %s can be watched; online are %s", wanted,
		       online);
}

static void note_missing_cpus(struct event_set *set)
{
	struct cpuset missing = set->skipped_cpus;
	char text[128];

	for (size_t i = 0; i < ARRAY_SIZE(missing.bits) && set->target->has_cpus; i++)
		missing.bits[i] |= set->target->cpus.bits[i] & ~set->online.bits[i];
	if (!cpuset_nr(&missing))
		return;
	cpuset_format(&missing, text, sizeof(text));
	event_set_add_note(set, "Not watched, offline or without the event: CPU %s.", text);
}

static int close_cpu(const struct event_set *set, struct event_cpu *cpu,
		     struct event_findings *found, struct err *err)
{
	(void)set;
	(void)found;
	(void)err;
	event_open_close_cpu(cpu);
	return 0;
}

static void close_all(struct event_set *set)
{
	static const struct event_pass pass = {
		.interrupts = true,
		.wants = event_setup_is_open,
		.visit = close_cpu,
	};

	/* Nothing in it fails. */
	(void)!event_setup_run(set, &pass, NULL, NULL);
	event_ids_clear(&set->ids);
	memset(&set->skipped_cpus, 0, sizeof(set->skipped_cpus));
}

static bool has_events(const struct event_cpu *cpu)
{
	for (size_t i = 0; i < cpu->nr_fds; i++) {
		if (cpu->fds[i].use >= 0)
			return true;
	}
	return false;
}

static int check_something_open(const struct event_set *set, struct err *err)
{
	char text[128];

	for (size_t i = 0; i < set->nr_cpus; i++) {
		if (has_events(set->cpus[i]))
			return 0;
	}
	if (set->by_task)
		return err_say(err, -ESRCH,
			       "the processes or threads to watch do not exist or "
			       "have ended");
	cpuset_format(&set->online, text, sizeof(text));
	return err_set(err, -ENODEV, "cannot open event %s on any of the CPUs %s: perf_event_open",
		       set->events->events[0].name, text);
}

static void add_ids(struct event_set *set, const struct event_cpu *cpu, size_t first)
{
	for (size_t i = first; i < cpu->nr_fds; i++) {
		if (cpu->fds[i].use >= 0)
			event_ids_add(&set->ids, cpu->fds[i].id, cpu->fds[i].use);
	}
}

/* Ids of events that were closed go, so that the table does not grow with each hotplug. */
static void rebuild_ids(struct event_set *set)
{
	event_ids_clear(&set->ids);
	for (size_t i = 0; i < set->nr_cpus; i++)
		add_ids(set, set->cpus[i], 0);
}

static bool is_to_open(const struct event_set *set, const struct event_cpu *cpu)
{
	return !cpu->nr_fds && cpuset_has(&set->machine, cpu->rings.cpu);
}

static int open_all(struct event_set *set, struct err *err)
{
	static const struct event_pass pass = { .wants = is_to_open, .visit = event_open_cpu };
	int ret;

	event_setup_reserve_fds(set);
	ret = event_setup_run(set, &pass, NULL, err);
	if (ret)
		return ret;
	set->info.nr_setup_workers = set->plan.nr_workers;
	set->info.setup_moves = set->plan.moves;
	rebuild_ids(set);
	return check_something_open(set, err);
}

/* See above: until no thread came meanwhile. */
static int open_all_stable(struct event_set *set, struct err *err)
{
	int ret = open_all(set, err);

	for (int attempt = 1; !ret; attempt++) {
		if (set->target->kind != TARGET_PROCESSES || !set->by_task ||
		    !event_tasks_grew(set))
			break;
		if (attempt < MAX_ATTEMPTS) {
			close_all(set);
			ret = event_mode_list_again(set, err);
		} else if (event_mode_switch_to_machine(set, "its threads come and go too fast")) {
			close_all(set);
		} else {
			event_set_add_note(set, "Threads that were created while the events were "
						"opened may be missing.");
			break;
		}
		if (!ret)
			ret = open_all(set, err);
	}
	if (!ret)
		note_missing_cpus(set);
	return ret;
}

/* Everything before a ring exists. */
static int prepare(struct event_set *set, const struct cpumap *cpumap, struct err *err)
{
	uint64_t start_ns;
	int ret;

	if (!set->events->nr)
		return err_say(err, -EINVAL, "no event was given");
	ret = choose_cpus(set, cpumap, err);
	if (ret)
		return ret;
	start_ns = clock_now_ns();
	event_probe_features(cpuset_next(&set->online, 0), &set->features);
	ret = event_settle_format(set, err);
	if (!ret)
		ret = event_mode_choose(set, err);
	if (!ret)
		ret = event_settle_all(set, err);
	set->info.probe_ns = clock_now_ns() - start_ns;
	if (ret)
		return ret;
	start_ns = clock_now_ns();
	ret = open_all_stable(set, err);
	set->info.open_ns = clock_now_ns() - start_ns;
	return ret;
}

int event_set_open(struct event_list *events, struct target *target, const struct cpumap *cpumap,
		   const struct event_set_options *options, struct event_set **ret_set,
		   struct err *err)
{
	struct event_set *set = mem_zalloc(sizeof(*set));
	struct cpuset own_cpus;
	uint64_t start_ns;
	int ret;

	set->events = events;
	set->target = target;
	set->options = *options;
	set->proc = mem_strdup(options->proc);
	set->options.proc = set->proc;
	set->nr_own_cpus = affinity_get(&own_cpus) ? 1 : cpuset_nr(&own_cpus);
	ret = prepare(set, cpumap, err);
	if (ret)
		goto err_close;
	start_ns = clock_now_ns();
	ret = event_rings_size(set, err);
	if (!ret)
		ret = event_rings_map_all(set, err);
	if (ret)
		goto err_close;
	set->info.mmap_ns = clock_now_ns() - start_ns;
	*ret_set = set;
	return 0;

err_close:
	event_set_close(set);
	return ret;
}

void event_set_close(struct event_set *set)
{
	if (!set)
		return;
	close_all(set);
	for (size_t i = 0; i < set->nr_cpus; i++)
		free(set->cpus[i]);
	free(set->cpus);
	id_list_release(&set->tids);
	id_list_release(&set->known);
	for (size_t i = 0; i < set->nr_notes; i++)
		free(set->notes[i]);
	free(set->proc);
	free(set);
}

static int enable_cpu(const struct event_set *set, struct event_cpu *cpu,
		      struct event_findings *found, struct err *err)
{
	(void)set;
	(void)found;
	return event_open_control(cpu, 0, PERF_EVENT_IOC_ENABLE, err);
}

static int disable_cpu(const struct event_set *set, struct event_cpu *cpu,
		       struct event_findings *found, struct err *err)
{
	(void)set;
	(void)found;
	return event_open_control(cpu, 0, PERF_EVENT_IOC_DISABLE, err);
}

int event_set_enable(struct event_set *set, struct err *err)
{
	static const struct event_pass pass = {
		.interrupts = true,
		.wants = event_setup_is_open,
		.visit = enable_cpu,
	};
	uint64_t start_ns = clock_now_ns();
	int ret = 0;

	/* Enabled now, the child's steps before its exec would be counted. */
	if (set->target->kind != TARGET_COMMAND || set->was_disabled)
		ret = event_setup_run(set, &pass, NULL, err);
	if (ret)
		return ret;
	set->enabled = true;
	set->info.enable_ns = clock_now_ns() - start_ns;
	return 0;
}

int event_set_disable(struct event_set *set, struct err *err)
{
	static const struct event_pass pass = {
		.interrupts = true,
		.wants = event_setup_is_open,
		.visit = disable_cpu,
	};

	set->enabled = false;
	set->was_disabled = true;
	for (size_t i = 0; i < set->nr_cpus; i++)
		set->cpus[i]->checked_ns = 0; /* time that stands still is right now */
	return event_setup_run(set, &pass, NULL, err);
}

size_t event_set_nr_cpus(const struct event_set *set)
{
	return set->nr_cpus;
}

struct cpu_rings *event_set_cpu(struct event_set *set, size_t index)
{
	return &set->cpus[index]->rings;
}

const struct record_format *event_set_sample_format(const struct event_set *set)
{
	return &set->sample_format;
}

const struct record_format *event_set_metadata_format(const struct event_set *set)
{
	return &set->metadata_format;
}

int event_set_index(const struct event_set *set, uint64_t id)
{
	return set->events->nr == 1 ? 0 : event_ids_find(&set->ids, id);
}

static bool is_dead(const struct event_set *set, const struct event_cpu *cpu)
{
	if (set->by_task || !cpu->nr_fds)
		return false;
	return cpu->is_dead || !cpuset_has(&set->machine, cpu->rings.cpu);
}

bool event_set_has_dead_cpus(struct event_set *set)
{
	bool has_dead = false;

	if (set->by_task || !set->enabled)
		return false;
	for (size_t i = 0; i < set->nr_cpus; i++) {
		struct event_cpu *cpu = set->cpus[i];

		if (cpu->nr_fds && event_open_is_stopped(cpu))
			cpu->is_dead = true;
		has_dead = has_dead || cpu->is_dead;
	}
	return has_dead;
}

/* Nobody has events on a CPU that was never open, new threads neither: list them all. */
static int list_for_new_cpu(struct event_set *set, struct err *err)
{
	if (!set->by_task || set->target->kind == TARGET_COMMAND)
		return 0;
	return event_tasks_collect(set, err);
}

static bool is_to_refresh(const struct event_set *set, const struct event_cpu *cpu)
{
	return is_dead(set, cpu) || is_to_open(set, cpu);
}

/* Close what went, open what is there as the others are. */
static int refresh_cpu(const struct event_set *set, struct event_cpu *cpu,
		       struct event_findings *found, struct err *err)
{
	int ret;

	if (is_dead(set, cpu)) {
		event_open_close_cpu(cpu);
		found->nr_closed++;
	}
	if (!is_to_open(set, cpu))
		return 0;
	ret = event_open_cpu(set, cpu, found, err);
	if (!ret)
		ret = event_rings_map_cpu(set, cpu, err);
	if (!ret && set->enabled)
		ret = event_open_control(cpu, 0, PERF_EVENT_IOC_ENABLE, err);
	if (ret)
		event_open_close_cpu(cpu);
	found->nr_opened += cpu->nr_fds > 0;
	return ret;
}

int event_set_refresh_cpus(struct event_set *set, const struct cpumap *cpumap,
			   unsigned int *ret_nr_opened, unsigned int *ret_nr_closed,
			   struct err *err)
{
	static const struct event_pass pass = {
		.interrupts = true,
		.wants = is_to_refresh,
		.visit = refresh_cpu,
	};
	struct event_findings found = { 0 };
	bool comes = false;
	int ret = 0;

	set_online(set, cpumap);
	for (size_t i = 0; i < set->nr_cpus; i++)
		comes = comes || is_to_open(set, set->cpus[i]);
	if (comes)
		ret = list_for_new_cpu(set, err);
	if (!ret)
		ret = event_setup_run(set, &pass, &found, err);
	rebuild_ids(set);
	*ret_nr_opened = found.nr_opened;
	*ret_nr_closed = found.nr_closed;
	return ret;
}

/*
 * Close the events of tasks that are gone with all that inherited from them: users
 * start and end programs all day, and descriptors are what we have least of.
 */
static void reap_tasks(struct event_set *set)
{
	size_t nr = 0;

	for (size_t i = 0; i < set->tids.nr; i++) {
		uint32_t tid = set->tids.ids[i];
		int fd = -1;

		if (!kill((pid_t)tid, 0) || errno != ESRCH) {
			set->tids.ids[nr++] = tid;
			continue;
		}
		for (size_t k = 0; k < set->nr_cpus && fd < 0; k++)
			fd = event_open_find_task(set->cpus[k], tid);
		if (fd >= 0 && !event_open_is_hung_up(fd)) {
			set->tids.ids[nr++] = tid;
			continue;
		}
		for (size_t k = 0; k < set->nr_cpus; k++)
			event_open_close_task(set->cpus[k], tid);
	}
	set->tids.nr = nr;
}

static int adopt_task(struct event_set *set, uint32_t tid, struct err *err)
{
	struct event_findings found;
	int ret = 0;

	event_findings_init(&found, set);
	for (size_t i = 0; i < set->nr_cpus && !ret; i++) {
		struct event_cpu *cpu = set->cpus[i];
		size_t first = cpu->nr_fds;

		if (!first)
			continue;
		ret = event_open_task(set, cpu, tid, &found, err);
		add_ids(set, cpu, first);
		if (!ret)
			ret = event_rings_redirect(cpu, first, err);
		if (!ret && set->enabled)
			ret = event_open_control(cpu, first, PERF_EVENT_IOC_ENABLE, err);
	}
	event_findings_merge(set, &found);
	return ret;
}

int event_set_adopt_tasks(struct event_set *set, struct err *err)
{
	struct id_list tids = { 0 };
	int nr = 0;
	int ret;

	/* Everybody else has inherited: threads have their creator's events. */
	if (!set->follows_processes)
		return 0;
	reap_tasks(set);
	ret = event_tasks_find_new(set, &tids);
	if (ret) {
		err_set(err, ret, "cannot list the processes in %s", set->options.proc);
		goto out;
	}
	for (size_t i = 0; i < tids.nr && !ret; i++) {
		ret = adopt_task(set, tids.ids[i], err);
		id_list_add(&set->tids, tids.ids[i]);
		nr++;
	}
	id_list_sort(&set->tids);
out:
	id_list_release(&tids);
	return ret ? ret : nr;
}

/* A process that has ended but was not waited for is still there for kill(2). */
static bool is_zombie(const char *proc, uint32_t id)
{
	char path[128];
	char text[512];
	const char *end;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%u/stat", proc, id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[MAX(len, 0)] = '\0';
	/* The name before may hold anything, even ") Z". */
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'Z';
}

static bool is_gone(const struct event_set *set, uint32_t id)
{
	size_t nr_live = 0;

	if (kill((pid_t)id, 0) && errno == ESRCH)
		return true;
	if (!is_zombie(set->options.proc, id))
		return false;
	/* The main thread may have ended before the others. */
	if (set->target->kind != TARGET_THREADS)
		nr_live = event_tasks_count_threads(set, id);
	return nr_live <= 1;
}

/* An event hangs up when its task is gone and all that inherited it. */
static bool has_heirs(const struct event_set *set)
{
	if (!set->by_task)
		return false;
	for (size_t i = 0; i < set->tids.nr; i++) {
		int fd = -1;

		for (size_t k = 0; k < set->nr_cpus && fd < 0; k++)
			fd = event_open_find_task(set->cpus[k], set->tids.ids[i]);
		if (fd >= 0 && !event_open_is_hung_up(fd))
			return true;
	}
	return false;
}

bool event_set_target_gone(struct event_set *set)
{
	if (set->target->kind == TARGET_MACHINE || set->target->kind == TARGET_USER)
		return false;
	for (size_t i = 0; i < set->target->nr_ids; i++) {
		if (!is_gone(set, set->target->ids[i]))
			return false;
	}
	return !has_heirs(set);
}

void event_set_get_info(const struct event_set *set, struct event_set_info *ret_info)
{
	*ret_info = set->info;
	ret_info->nr_fds = 0;
	ret_info->nr_cpus_open = 0;
	for (size_t i = 0; i < set->nr_cpus; i++) {
		ret_info->nr_fds += set->cpus[i]->nr_fds;
		ret_info->nr_cpus_open += set->cpus[i]->sample_fd >= 0;
	}
}
