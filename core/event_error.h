/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to core/event_*.c: from an errno of perf_event_open(2) or of a ring's
 * mmap(2) to a sentence with the event, the CPU or thread, the errno as it was, and
 * a remedy that fits this machine and this user.
 *
 * Nothing is guessed from the errno alone: permission messages look at the
 * capabilities, at perf_event_paranoid and at what was asked for.
 */
#ifndef SYMTOP_CORE_EVENT_ERROR_H
#define SYMTOP_CORE_EVENT_ERROR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

struct event_failure {
	int code;			    /* negative errno */
	const char *event;		    /* its name */
	const struct perf_event_attr *attr; /* as it was refused */
	int cpu;			    /* -1: any */
	bool machine;			    /* all tasks of the CPU were asked for */
	uint32_t tid;			    /* whose thread; 0: none in particular */
	const char *proc;		    /* "/proc" */
	size_t nr_fds_needed;		    /* in all, for EMFILE */
	bool in_group;			    /* a leader was given */
};

/* Fill @err (NULL is fine). Returns @failure->code. */
int event_error_open(const struct event_failure *failure, struct err *err);

struct ring_failure {
	int code; /* negative errno */
	uint32_t cpu;
	size_t sample_bytes, metadata_bytes; /* the smallest that were tried */
	const char *proc;
};

int event_error_ring(const struct ring_failure *failure, struct err *err);

/*
 * "kernel.perf_event_mlock_kb is 516 and RLIMIT_MEMLOCK (ulimit -l) is 64 KiB", the
 * limits that a refused ring ran into.
 */
void event_error_mlock_limits(const char *proc, char *ret_text, size_t size);

/* What to do to get the rights for the whole machine, one sentence. */
void event_error_machine_remedy(const char *proc, char *ret_text, size_t size);

/* The same for samples of the kernel. */
void event_error_kernel_remedy(const char *proc, char *ret_text, size_t size);

#endif /* SYMTOP_CORE_EVENT_ERROR_H */
