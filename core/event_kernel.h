/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to core/event_*.c: the calls by which an event set reaches the kernel.
 *
 * They stand in one table so that a test can put a kernel in their place that has
 * no counters, no rights or no memory. Nobody else replaces them.
 */
#ifndef SYMTOP_CORE_EVENT_KERNEL_H
#define SYMTOP_CORE_EVENT_KERNEL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/ring.h"

struct event_kernel {
	/* perf_event_open(2), close-on-exec. Returns a descriptor or a negative errno. */
	int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd);

	/* ioctl(2) PERF_EVENT_IOC_* with a number. Returns 0 or a negative errno. */
	int (*control)(int fd, unsigned long request, unsigned long arg);

	/* PERF_EVENT_IOC_ID */
	int (*read_id)(int fd, uint64_t *ret_id);

	/* How long it was enabled, of an event that is read with that time. */
	int (*read_enabled_ns)(int fd, uint64_t *ret_ns);

	int (*ring_open)(int fd, enum ring_kind kind, size_t nr_pages, struct ring **ret_ring,
			 struct err *err);
	void (*ring_free)(struct ring *ring);

	/* Run the calling worker on @cpu from now on. Returns 0 or a negative errno. */
	int (*move)(unsigned int cpu);

	uid_t (*euid)(void);

	/* Is CAP_* number @capability in our effective set? */
	bool (*has_capability)(unsigned int capability);
};

extern const struct event_kernel event_kernel_real;

/* What is in use; &event_kernel_real unless a test says otherwise. */
extern const struct event_kernel *event_kernel;

/* Root, CAP_PERFMON or CAP_SYS_ADMIN: perf_event_paranoid does not bind us. */
bool event_kernel_is_privileged(void);

/* Neither perf_event_mlock_kb nor RLIMIT_MEMLOCK binds us. @proc: "/proc". */
bool event_kernel_ignores_mlock(const char *proc);

#endif /* SYMTOP_CORE_EVENT_KERNEL_H */
