/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to core/event_*.c: the inside of an event set.
 *
 * event_set.c: the public functions, the order of opening, hotplug
 * event_mode.c: by CPU or by task, with which rights, with how many descriptors
 * event_settle.c: what each event can have here, before any is opened
 * event_setup.c: who goes to which CPU, to open, map, enable, disable or close there
 * event_open.c: opening, enabling and closing on one CPU
 * event_tasks.c: target -> thread ids; who appeared since
 * event_rings.c: how large the rings are; mapping and redirecting
 */
#ifndef SYMTOP_CORE_EVENT_SET_PRIVATE_H
#define SYMTOP_CORE_EVENT_SET_PRIVATE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/event_error.h"
#include "core/event_ids.h"
#include "core/event_probe.h"
#include "core/event_set.h"

/* Notes past this number are not kept: one for each kind of trouble is what they are for. */
#define EVENT_SET_MAX_NOTES 32

/* What a descriptor is for, besides ranks of events (>= 0). */
enum event_fd_use {
	EVENT_FD_METADATA = -1,
	EVENT_FD_SAMPLE_CARRIER = -2, /* has a ring, counts nothing; see event_open.c */
	EVENT_FD_METADATA_CARRIER = -3,
	EVENT_FD_STARTER = -4, /* leads a group until it is enabled; see event_open.c */
};

/* So many events are started together, if there are that many that can be. */
#define EVENT_MIN_STARTED 16
#define EVENT_MAX_STARTED 128

struct event_fd {
	int fd;
	int use;      /* rank of the event, or enum event_fd_use */
	uint32_t tid; /* 0: all tasks of the CPU, or a carrier */
	bool waits;   /* for the starter before it to be enabled */
	uint64_t id;  /* PERF_EVENT_IOC_ID, only with several events; 0: none */
};

struct event_cpu {
	struct cpu_rings rings;
	struct event_fd *fds; /* in the order of opening */
	size_t nr_fds, nr_allocated;
	int sample_fd; /* the ones of fds that have the rings; -1: none (yet) */
	int metadata_fd;
	uint64_t checked_ns; /* of the last event_open_is_stopped(); 0: none */
	uint64_t enabled_ns; /* what the metadata event had been enabled by then */
	bool is_dead;	     /* the CPU went and returned */
};

/* Ids, sorted. Zero-initialised it is empty. */
struct id_list {
	uint32_t *ids;
	size_t nr, nr_allocated;
};

/* What the rule in event_setup.c looks at. */
struct event_setup_load {
	size_t nr_cpus;	    /* to visit */
	size_t nr_fds;	    /* of events on all of them */
	size_t nr_own_cpus; /* to run on */
	bool by_task;
	bool interrupts; /* see struct event_pass */
};

struct event_setup_plan {
	unsigned int nr_workers; /* 1 without moves: no worker, the caller does it */
	bool moves;		 /* each goes to the CPUs that it visits */
};

struct event_set {
	struct event_list *events;	  /* borrowed */
	struct target *target;		  /* borrowed */
	struct event_set_options options; /* proc is set->proc */
	char *proc;
	struct cpuset machine;	 /* all CPUs that are online now: these have metadata */
	struct cpuset wanted;	 /* CPUs to sample, online or not */
	struct cpuset online;	 /* of those, now */
	struct event_cpu **cpus; /* one for each CPU there may be, by id */
	size_t nr_cpus;
	size_t nr_own_cpus;	      /* that we may run on ourselves */
	struct event_setup_plan plan; /* of the last pass */

	struct event_features features;
	struct record_format sample_format, metadata_format;
	uint64_t max_rate; /* perf_event_max_sample_rate as last read */
	size_t sample_pages, metadata_pages;

	bool by_task;		/* events belong to tasks, else to CPUs */
	bool follows_processes; /* tasks are all of this user's processes */
	struct id_list tids;	/* by_task: threads that have events of their own */
	struct id_list known;	/* follows_processes: processes of the last look */

	bool enabled;
	bool was_disabled; /* TARGET_COMMAND: its exec will not enable any more */
	struct event_ids ids;
	struct event_set_info info;
	struct cpuset skipped_cpus; /* said to be online, but an event does not open there */
	char *notes[EVENT_SET_MAX_NOTES];
	_Atomic size_t nr_notes; /* release after the note: event_set_note() runs anywhere */
};

/*
 * What a set-up worker comes across on its CPUs. It is the worker's own until its end,
 * and then merged into the set: on the way nothing is shared but what nobody changes.
 */
struct event_findings {
	struct cpuset skipped_cpus;
	uint64_t max_rate;		   /* perf_event_max_sample_rate sank to that */
	bool tasks_refused;		   /* some of the user's own may not be watched */
	unsigned int nr_opened, nr_closed; /* CPUs, by event_set_refresh_cpus() */
};

/* A round over CPUs. */
struct event_pass {
	bool interrupts; /* for each descriptor the kernel interrupts the CPU it is of */

	bool (*wants)(const struct event_set *set, const struct event_cpu *cpu);

	/* What is to be done for a CPU. Returns 0 or a negative errno, which ends the pass. */
	int (*visit)(const struct event_set *set, struct event_cpu *cpu,
		     struct event_findings *found, struct err *err);
};

/* Append a note; the same text only once. */
void event_set_add_note(struct event_set *set, const char *fmt, ...) PRINTF(2, 3);

/* Does @event count on @cpu? */
static inline bool event_covers(const struct event *event, uint32_t cpu)
{
	return !event->has_cpus || cpuset_has(&event->cpus, cpu);
}

/* event_mode.c */

/*
 * By CPU or by task? Also lists the tasks and raises the limit of descriptors.
 * Fails when the target has no task, or when it is another user's without rights.
 */
int event_mode_choose(struct event_set *set, struct err *err) MUST_CHECK;

/* List the tasks again after the first attempt was undone. */
int event_mode_list_again(struct event_set *set, struct err *err) MUST_CHECK;

/* Watch the whole machine instead of tasks, because @why; false without the rights. */
bool event_mode_switch_to_machine(struct event_set *set, const char *why);

/* How many descriptors a CPU needs, and the whole process. */
size_t event_mode_count_cpu_fds(const struct event_set *set, uint32_t cpu);
size_t event_mode_count_fds(const struct event_set *set);

/* event_setup.c */

struct event_setup_plan event_setup_plan(const struct event_set_options *options,
					 const struct event_setup_load *load);

/* Room for all descriptors in the process's table, before there are workers. */
void event_setup_reserve_fds(const struct event_set *set);

/*
 * Visit all CPUs that @pass wants, each once, and merge what was found into @set.
 *
 * Returns 0 or the error of the lowest CPU that had one: CPUs below it were all
 * visited, others may have been.
 */
int event_setup_run(struct event_set *set, const struct event_pass *pass,
		    struct event_findings *ret_found, struct err *err) MUST_CHECK;

/* For passes over all that is open. */
bool event_setup_is_open(const struct event_set *set, const struct event_cpu *cpu);

void event_findings_init(struct event_findings *found, const struct event_set *set);
void event_findings_merge(struct event_set *set, const struct event_findings *found);

/* event_open.c */

/*
 * Open all events of @cpu: for all tasks, or for each of set->tids; only metadata on a
 * CPU that is not to be sampled. Tasks that have gone are left out; when the CPU has,
 * it stays closed, and so do events that it does not have: then it is in
 * @found->skipped_cpus, and 0 is returned.
 */
int event_open_cpu(const struct event_set *set, struct event_cpu *cpu, struct event_findings *found,
		   struct err *err) MUST_CHECK;

/* One more task on an open CPU. */
int event_open_task(const struct event_set *set, struct event_cpu *cpu, uint32_t tid,
		    struct event_findings *found, struct err *err) MUST_CHECK;

/* How many starters a CPU has at first. */
size_t event_open_nr_starters(const struct event_set *set);

/* Enable or disable (PERF_EVENT_IOC_*) the descriptors from @first on. */
int event_open_control(struct event_cpu *cpu, size_t first, unsigned long request,
		       struct err *err) MUST_CHECK;

/* A descriptor of the task, -1: none. */
int event_open_find_task(const struct event_cpu *cpu, uint32_t tid);

/* Close what belongs to a task. */
void event_open_close_task(struct event_cpu *cpu, uint32_t tid);

/* Unmap and close everything; usable again. */
void event_open_close_cpu(struct event_cpu *cpu);

/*
 * Has the metadata event stopped counting time since the last call? For by-CPU
 * events that are enabled; two calls that follow each other closely tell nothing.
 */
bool event_open_is_stopped(struct event_cpu *cpu);

/* Nothing will come from @fd any more: its task is gone, with all who inherited. */
bool event_open_is_hung_up(int fd);

/* event_settle.c */

/* Sample type, clock and rate for all events; -EINVAL for options that contradict. */
int event_settle_format(struct event_set *set, struct err *err) MUST_CHECK;

/*
 * Make each event one that opens here (precision, rate, levels, cpu-clock instead
 * of a default event that is missing), noting what was stepped down.
 */
int event_settle_all(struct event_set *set, struct err *err) MUST_CHECK;

/* The attr of event @index as it is opened, of the metadata event, of a ring's carrier. */
void event_sample_attr(const struct event_set *set, size_t index, struct perf_event_attr *ret_attr);
void event_metadata_attr(const struct event_set *set, struct perf_event_attr *ret_attr);
void event_carrier_attr(const struct event_set *set, bool for_samples,
			struct perf_event_attr *ret_attr);

/*
 * After @attr was refused with EINVAL: did perf_event_max_sample_rate sink below
 * its rate? Then the set's rate is lowered and to try again makes sense.
 */
bool event_settle_lower_rate(struct event_set *set, const struct perf_event_attr *attr);

/* The same for a worker: *@max_rate becomes what the sysctl says now. */
bool event_settle_has_rate_sunk(const struct event_set *set, const struct perf_event_attr *attr,
				uint64_t *max_rate);

/* The set's rate is at most @max_rate, with a note if that lowers it. */
void event_settle_limit_rate(struct event_set *set, uint64_t max_rate);

/* Rank of the leader of event @index, -1 when it is alone or the leader. */
int event_leader(const struct event_set *set, size_t index);

/* event_tasks.c */

void id_list_release(struct id_list *list);
void id_list_add(struct id_list *list, uint32_t id);
void id_list_sort(struct id_list *list); /* and drop doubles */
bool id_list_has(const struct id_list *list, uint32_t id);

/*
 * Threads of the target that exist now, into set->tids (and set->known).
 * -ESRCH with a message when none does.
 */
int event_tasks_collect(struct event_set *set, struct err *err) MUST_CHECK;

/* TARGET_PROCESSES: did threads appear that are not in set->tids? */
bool event_tasks_grew(const struct event_set *set);

/* Threads of process @pid that /proc shows, a dead main one included. */
size_t event_tasks_count_threads(const struct event_set *set, uint32_t pid);

/*
 * Processes of our user that no process known before has forked; their threads into
 * *@ret_tids, which is empty. set->known becomes what there is now.
 */
int event_tasks_find_new(struct event_set *set, struct id_list *ret_tids) MUST_CHECK;

/* event_rings.c */

/* Data pages of a metadata ring on a machine of @nr_cpus, before any limit. */
size_t event_rings_metadata_pages(size_t nr_cpus);

/* Choose set->sample_pages and metadata_pages for the CPUs that are online. */
int event_rings_size(struct event_set *set, struct err *err) MUST_CHECK;

/* Map the rings of all open CPUs, smaller ones (and a note) when they are refused. */
int event_rings_map_all(struct event_set *set, struct err *err) MUST_CHECK;

/* The same for one CPU that came later; other CPUs keep what they have. */
int event_rings_map_cpu(const struct event_set *set, struct event_cpu *cpu,
			struct err *err) MUST_CHECK;

/* Send what the descriptors from @first on write into the CPU's rings. */
int event_rings_redirect(struct event_cpu *cpu, size_t first, struct err *err) MUST_CHECK;

void event_rings_unmap(struct event_cpu *cpu);

#endif /* SYMTOP_CORE_EVENT_SET_PRIVATE_H */
