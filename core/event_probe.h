/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to core/event_*.c: what this kernel knows and what it lets us do.
 *
 * Asked once, with disabled events of PERF_COUNT_SW_DUMMY, which every machine has
 * and which count nothing; never by trial and error on each CPU.
 */
#ifndef SYMTOP_CORE_EVENT_PROBE_H
#define SYMTOP_CORE_EVENT_PROBE_H

#include <linux/perf_event.h>
#include <stdbool.h>

/* Kernel that brought it */
struct event_features {
	bool sample_identifier; /* 3.12 */
	bool comm_exec;		/* 3.16 */
	bool mmap2;		/* 3.16 */
	bool clockid;		/* 4.1, CLOCK_MONOTONIC */
	bool write_backward;	/* 4.7 */
	bool ksymbol;		/* 5.1 */
	bool bpf_event;		/* 5.1 */
};

/* A disabled dummy event without any kernel rights needed. */
void event_dummy_attr(struct perf_event_attr *ret_attr);

/*
 * The probes below are made on @cpu for all tasks, and on ourselves only where that is
 * refused: the first event of a task makes the kernel patch its scheduler and wait
 * for all CPUs, 10 ms here.
 *
 * One call when the kernel knows everything. A kernel that refuses all events (no
 * rights, a sandbox) is taken to know everything: opening the user's event then
 * fails the same way, and that failure has a name to report.
 */
void event_probe_features(int cpu, struct event_features *ret_features);

/* May we sample the kernel? False only for EACCES and EPERM. */
bool event_probe_kernel_rights(int cpu);

/* May we watch all tasks of @cpu? False only for EACCES and EPERM. */
bool event_probe_machine_rights(int cpu);

/* Is @cpu there? False only for ENODEV and ENXIO. Needs rights for the machine. */
bool event_probe_cpu(int cpu);

#endif /* SYMTOP_CORE_EVENT_PROBE_H */
