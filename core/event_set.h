/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All events of a session, open on all their CPUs (or threads), with their rings.
 *
 * Every CPU has two rings: samples (overwrite, of the first event; the others are
 * redirected into it) and metadata (forward, of a dummy event that asks for mmap, comm,
 * task, ksymbol and bpf records). CPUs that are not sampled (-C, --node, events of some
 * CPUs only) have metadata all the same: what starts there can move. What the kernel or
 * our rights do not allow is stepped down once, by a probe, and said in a note; DESIGN
 * and perf_event_open(2) name the cases.
 *
 * Threads: opened, enabled and closed by one thread, which starts workers for the time
 * of the call where that pays, and stays on its own CPUs. After that each ring is used by
 * the one reader (sample ring) or metadata worker that has the CPU.
 * event_set_refresh_cpus() must not run while readers do.
 */
#ifndef SYMTOP_CORE_EVENT_SET_H
#define SYMTOP_CORE_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/cpumap.h"
#include "core/event.h"
#include "core/record.h"
#include "core/ring.h"

/* Do set-up workers go to the CPU whose events they open, map, enable, disable or close? */
enum setup_moves {
	SETUP_MOVES_AUTO, /* where it pays */
	SETUP_MOVES_NEVER,
	SETUP_MOVES_ALWAYS,
};

enum target_kind {
	TARGET_MACHINE,	  /* every task on the CPUs */
	TARGET_PROCESSES, /* ids are process ids: all their threads, new ones and children too */
	TARGET_THREADS,	  /* ids are thread ids: just these */
	TARGET_USER,	  /* every process of uid */
	TARGET_COMMAND,	  /* ids[0] is our child, not yet exec'ed; counts from its exec */
};

struct target {
	enum target_kind kind;
	uint32_t *ids;
	size_t nr_ids;
	uid_t uid;
	bool has_cpus; /* -C, --node: only these */
	struct cpuset cpus;
};

struct event_set_options {
	uint64_t freq;	 /* Hz; UINT64_MAX: what the kernel lets us; 0: use period */
	bool freq_named; /* the user asked for this rate */
	uint64_t period; /* used when freq is 0 */
	bool callchain;
	bool callchain_kernel, callchain_user; /* which parts; both true by default */
	unsigned int max_stack;		       /* frames; 0: the kernel's limit */
	bool overwrite;			       /* false: forward sample rings, for comparison */
	size_t sample_pages;	       /* data pages of a sample ring, a power of two; 0: by rate */
	bool sample_pages_rounded;     /* the user named fewer */
	size_t metadata_pages;	       /* 0: default */
	uint64_t drain_ns;	       /* how often readers come by: sizes the rings */
	unsigned int nr_setup_workers; /* 0: by CPUs and events */
	enum setup_moves setup_moves;
	const char *proc;  /* "/proc"; for tests */
	const char *sysfs; /* "/sys" */
};

struct event_set;
struct perf_data_write_event;

/* A CPU's rings, as readers see them. */
struct cpu_rings {
	uint32_t cpu;
	uint32_t node;
	struct ring *samples;  /* NULL: not open (offline), or not to be sampled */
	struct ring *metadata; /* NULL: not open */
	int metadata_fd;       /* poll(2) it; POLLHUP: nothing more will come. -1: not open */
};

/* What was settled, for the header. Strings are borrowed, live as long as the set. */
struct event_set_info {
	uint64_t freq; /* Hz really asked for; 0: by period */
	uint64_t period;
	size_t sample_ring_bytes;
	size_t metadata_ring_bytes;
	unsigned int nr_cpus_open;     /* with samples */
	unsigned int nr_setup_workers; /* that opened the events; 1: the caller or one */
	bool setup_moves;	       /* they went to the CPU for it */
	size_t nr_fds;
	bool kernel_excluded;	   /* the profile has no kernel samples */
	bool own_processes_only;   /* no rights for the machine: only this user's processes */
	bool filter_in_user_space; /* opened machine-wide; the collector must filter by target */
	bool overwrite;
	bool callchain;
	uint64_t probe_ns, open_ns, mmap_ns, enable_ns; /* time spent, for --latency */
};

/*
 * Open @events (borrowed, may be changed: fallbacks rename them) for @target
 * (borrowed; ids may grow) on the CPUs of @cpumap. Nothing is enabled yet. On
 * success *@ret_set is the caller's.
 *
 * Returns 0, or a negative errno with a message that names event, CPU or thread,
 * the real errno and the remedy that fits it.
 */
int event_set_open(struct event_list *events, struct target *target, const struct cpumap *cpumap,
		   const struct event_set_options *options, struct event_set **ret_set,
		   struct err *err) MUST_CHECK;
void event_set_close(struct event_set *set); /* NULL is fine */

/* TARGET_COMMAND needs no enable: the exec does it. */
int event_set_enable(struct event_set *set, struct err *err) MUST_CHECK;
int event_set_disable(struct event_set *set, struct err *err) MUST_CHECK;

size_t event_set_nr_cpus(const struct event_set *set);
struct cpu_rings *event_set_cpu(struct event_set *set, size_t index);

const struct record_format *event_set_sample_format(const struct event_set *set);
const struct record_format *event_set_metadata_format(const struct event_set *set);

/*
 * Rank of the event whose sample has @id, or -1 for an id that is none of ours.
 * With one event always 0. Any thread; no lock.
 */
int event_set_index(const struct event_set *set, uint64_t id);

/*
 * After hotplug: close what went, open (and enable, if the others are) what came.
 * @cpumap has the new online set. Sets *@ret_nr_opened, *@ret_nr_closed.
 */
int event_set_refresh_cpus(struct event_set *set, const struct cpumap *cpumap,
			   unsigned int *ret_nr_opened, unsigned int *ret_nr_closed,
			   struct err *err) MUST_CHECK;

/*
 * Did a CPU go and return unseen, between two looks at the online set? Suspend does
 * that to all but one; its events are dead, and nothing but this tells. Then
 * event_set_refresh_cpus() opens it again. To be called about once a second, by the
 * same thread; costs a read(2) for each CPU.
 */
bool event_set_has_dead_cpus(struct event_set *set);

/*
 * TARGET_PROCESSES, TARGET_USER and own processes: look for tasks that appeared
 * without being inherited (a new login) and open them. Returns how many were
 * opened, or a negative errno.
 */
int event_set_adopt_tasks(struct event_set *set, struct err *err) MUST_CHECK;

/*
 * True when every task of a task target is gone, and what they started as well, where
 * events are by task. Costs a kill(pid, 0) per id, and a poll(2) when all are gone.
 */
bool event_set_target_gone(struct event_set *set);

void event_set_get_info(const struct event_set *set, struct event_set_info *ret_info);

/*
 * The events as a perf.data file describes them, for both kinds of rings; names are
 * borrowed from the set. Returns how many; they are the caller's to free.
 */
size_t event_set_describe(const struct event_set *set, struct perf_data_write_event **ret_events);
void event_set_describe_free(struct perf_data_write_event *events, size_t nr);

/* What was stepped down or skipped, one sentence each, in order. NULL past the last. */
const char *event_set_note(const struct event_set *set, size_t index);

#endif /* SYMTOP_CORE_EVENT_SET_H */
