/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to core/event_*.c: the inside of an event set.
 *
 * event_set.c: the public functions, the order of opening, hotplug
 * event_mode.c: by CPU or by task, with which rights, with how many descriptors
 * event_settle.c: what each event can have here, before any is opened
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
	EVENT_FD_SAMPLE_CARRIER = -2,	/* has a ring, counts nothing; see event_open.c */
	EVENT_FD_METADATA_CARRIER = -3,
};

struct event_fd {
	int fd;
	int use;      /* rank of the event, or enum event_fd_use */
	uint32_t tid; /* 0: all tasks of the CPU, or a carrier */
	uint64_t id;  /* PERF_EVENT_IOC_ID, only with several events */
};

struct event_cpu {
	struct cpu_rings rings;
	struct event_fd *fds; /* in the order of opening */
	size_t nr_fds, nr_allocated;
	int sample_fd;	      /* the ones of fds that have the rings; -1: none */
	int metadata_fd;
	uint64_t checked_ns;  /* of the last event_open_is_stopped(); 0: none */
	uint64_t enabled_ns;  /* what the metadata event had been enabled by then */
	bool is_dead;	      /* the CPU went and returned */
};

/* Ids, sorted. Zero-initialised it is empty. */
struct id_list {
	uint32_t *ids;
	size_t nr, nr_allocated;
};

struct event_set {
	struct event_list *events;	 /* borrowed */
	struct target *target;		 /* borrowed */
	struct event_set_options options; /* proc is set->proc */
	char *proc;
	struct cpuset wanted;		 /* CPUs of the target, online or not */
	struct cpuset online;		 /* of those, now */
	size_t nr_machine_cpus;		 /* online, watched or not */
	struct event_cpu **cpus;	 /* one for each CPU in wanted, by id */
	size_t nr_cpus;

	struct event_features features;
	struct record_format sample_format, metadata_format;
	uint64_t max_rate;	 /* perf_event_max_sample_rate as last read */
	size_t sample_pages, metadata_pages;

	bool by_task;		 /* events belong to tasks, else to CPUs */
	bool follows_processes;	 /* tasks are all of this user's processes */
	struct id_list tids;	 /* by_task: threads that have events of their own */
	struct id_list known;	 /* follows_processes: processes of the last look */

	bool enabled;
	bool was_disabled;	 /* TARGET_COMMAND: its exec will not enable any more */
	struct event_ids ids;
	struct event_set_info info;
	struct cpuset skipped_cpus; /* said to be online, but an event does not open there */
	char *notes[EVENT_SET_MAX_NOTES];
	_Atomic size_t nr_notes; /* release after the note: event_set_note() runs anywhere */
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

/* How many descriptors the whole set needs. */
size_t event_mode_count_fds(const struct event_set *set);

/* event_open.c */

/*
 * Open all events of @cpu: for all tasks, or for each of set->tids. Tasks that have
 * gone are left out; when the CPU has, or when none of the events works on it, it
 * stays closed, is in set->skipped_cpus, and 0 is returned.
 */
int event_open_cpu(struct event_set *set, struct event_cpu *cpu, struct err *err) MUST_CHECK;

/* One more task on an open CPU. */
int event_open_task(struct event_set *set, struct event_cpu *cpu, uint32_t tid,
		    struct err *err) MUST_CHECK;

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
void event_sample_attr(const struct event_set *set, size_t index,
		       struct perf_event_attr *ret_attr);
void event_metadata_attr(const struct event_set *set, struct perf_event_attr *ret_attr);
void event_carrier_attr(const struct event_set *set, bool for_samples,
			struct perf_event_attr *ret_attr);

/*
 * After @attr was refused with EINVAL: did perf_event_max_sample_rate sink below
 * its rate? Then the set's rate is lowered and to try again makes sense.
 */
bool event_settle_lower_rate(struct event_set *set, const struct perf_event_attr *attr);

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

/* Choose set->sample_pages and metadata_pages for @nr_cpus CPUs. */
int event_rings_size(struct event_set *set, size_t nr_cpus, struct err *err) MUST_CHECK;

/* Map the rings of all open CPUs, smaller ones (and a note) when they are refused. */
int event_rings_map_all(struct event_set *set, struct err *err) MUST_CHECK;

/* The same for one CPU that came later; other CPUs keep what they have. */
int event_rings_map_cpu(struct event_set *set, struct event_cpu *cpu, struct err *err) MUST_CHECK;

/* Send what the descriptors from @first on write into the CPU's rings. */
int event_rings_redirect(struct event_cpu *cpu, size_t first, struct err *err) MUST_CHECK;

void event_rings_unmap(struct event_cpu *cpu);

#endif /* SYMTOP_CORE_EVENT_SET_PRIVATE_H */
