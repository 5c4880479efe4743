/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row an errno; a row's function adds the remedy. perf_event_paranoid in
 * Linux: 2 forbids kernel samples, 1 and more forbid events of a whole CPU, and
 * events of one's own tasks without the kernel are always allowed. 3 and more
 * exist in some distributions' kernels, where they forbid everything. None of it
 * binds who has CAP_PERFMON: a refusal then has another author, and to lower the
 * setting would only make the machine less safe.
 */
#include "config.h"

#include "core/event_error.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "core/base/compiler.h"
#include "core/event_kernel.h"
#include "core/procfs.h"

#define PARANOID_UNKNOWN (-100L)

#define SANDBOX                                                                             \
	"a seccomp filter (container, sandbox, systemd unit), a security module or kernel " \
	"lockdown"

static long read_paranoid(const char *proc)
{
	long paranoid;

	if (procfs_read_sysctl(proc, "kernel/perf_event_paranoid", &paranoid))
		return PARANOID_UNKNOWN;
	return paranoid;
}

/* perf_event_paranoid from which on what was asked for is forbidden. */
static long paranoid_that_forbids(const struct event_failure *failure)
{
	if (failure->machine)
		return 1;
	return failure->attr->exclude_kernel ? 3 : 2;
}

static void add_paranoid(char *ret_text, size_t size, long paranoid, long allows)
{
	snprintf(ret_text, size,
		 "kernel.perf_event_paranoid is %ld here: start symtop as root, give it the "
		 "capabilities (setcap cap_perfmon,cap_sys_ptrace,cap_syslog+ep on the program "
		 "file), or set the value to %ld (sysctl kernel.perf_event_paranoid=%ld).",
		 paranoid, allows, allows);
}

void event_error_machine_remedy(const char *proc, char *ret_text, size_t size)
{
	long paranoid = read_paranoid(proc);

	if (paranoid >= 1)
		add_paranoid(ret_text, size, paranoid, 0);
	else
		snprintf(ret_text, size,
			 "perf_event_paranoid does not forbid it; " SANDBOX " may.");
}

void event_error_kernel_remedy(const char *proc, char *ret_text, size_t size)
{
	long paranoid = read_paranoid(proc);

	if (paranoid >= 2)
		add_paranoid(ret_text, size, paranoid, 1);
	else
		snprintf(ret_text, size,
			 "perf_event_paranoid does not forbid it; " SANDBOX " may.");
}

static void hint_refused(const struct event_failure *failure, struct err *err)
{
	long paranoid = read_paranoid(failure->proc);
	char remedy[512];

	if (event_kernel_is_privileged()) {
		err_hint(err, "You have the rights for this, so perf_event_open(2) is forbidden by "
			      "something else: " SANDBOX ".");
		if (event_kernel->euid() == 0)
			err_hint(err, "Inside a container, root needs the host's permission: a "
				      "seccomp profile that allows the call, and CAP_PERFMON.");
		return;
	}
	if (paranoid >= paranoid_that_forbids(failure)) {
		add_paranoid(remedy, sizeof(remedy), paranoid, paranoid_that_forbids(failure) - 1);
		err_hint(err, "%s", remedy);
		return;
	}
	if (failure->attr->type == PERF_TYPE_TRACEPOINT)
		err_hint(err, "Tracepoints need root, CAP_PERFMON or perf_event_paranoid -1.");
	else if (failure->tid && failure->code == -EACCES)
		err_hint(err,
			 "Thread %u is of another user or may not be traced: root or "
			 "CAP_PERFMON can watch it.",
			 failure->tid);
	else
		err_hint(err, "perf_event_paranoid does not explain it; " SANDBOX " may.");
}

static void hint_no_syscall(const struct event_failure *failure UNUSED, struct err *err)
{
	err_hint(err, "perf_event_open(2) is missing: " SANDBOX " hides it, or the kernel was "
		      "built without CONFIG_PERF_EVENTS.");
}

static void hint_no_fds(const struct event_failure *failure, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		limit.rlim_cur = 0;
	err_hint(err,
		 "About %zu descriptors are needed, %llu are allowed: raise the limit "
		 "(ulimit -n) or watch fewer CPUs (-C), threads or events.",
		 failure->nr_fds_needed, (unsigned long long)limit.rlim_cur);
}

static void hint_no_system_fds(const struct event_failure *failure, struct err *err)
{
	err_hint(err,
		 "About %zu descriptors are needed and the whole machine has none left: raise "
		 "sysctl fs.file-max or watch fewer CPUs (-C), threads or events.",
		 failure->nr_fds_needed);
}

static void hint_no_memory(const struct event_failure *failure, struct err *err)
{
	if (failure->attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		err_hint(err, "The kernel has no memory for the event or for call chain buffers: a "
			      "smaller --max-stack (or sysctl kernel.perf_event_max_stack), or no "
			      "-g, needs less.");
	else
		err_hint(err, "The kernel has no memory for the event: watch fewer CPUs (-C), "
			      "threads or events.");
}

static void hint_no_counter(const struct event_failure *failure UNUSED, struct err *err)
{
	err_hint(err, "The hardware has not enough counters or breakpoints for all events: name "
		      "fewer of them, or :W after a group.");
}

static void hint_busy(const struct event_failure *failure UNUSED, struct err *err)
{
	err_hint(err, "Another profiler or the NMI watchdog has the counter: end the other one, "
		      "sysctl kernel.nmi_watchdog=0 frees the watchdog's; or use -e cpu-clock.");
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT;
}

static void hint_unknown_event(const struct event_failure *failure, struct err *err)
{
	if (is_hardware(failure->attr))
		err_hint(err, "This machine does not have this hardware event; virtual machines "
			      "often have none. -e cpu-clock works everywhere.");
	else
		err_hint(err, "The kernel does not know this event.");
}

static void hint_no_device(const struct event_failure *failure, struct err *err)
{
	if (is_hardware(failure->attr))
		hint_unknown_event(failure, err);
	else
		err_hint(err, "The CPU is offline.");
}

static void hint_unsupported(const struct event_failure *failure, struct err *err)
{
	if (failure->attr->precise_ip)
		err_hint(err, "The event cannot be as precise as asked for (:%.*s).",
			 (int)failure->attr->precise_ip, "ppp");
	else if (is_hardware(failure->attr))
		err_hint(err, "The hardware cannot sample this event, or has no counters (a "
			      "virtual machine?). -e cpu-clock works everywhere.");
	else
		err_hint(err, "The kernel cannot sample this event.");
}

static void hint_invalid(const struct event_failure *failure, struct err *err)
{
	if (failure->in_group)
		err_hint(err, "It may not fit in its group: :W after the } breaks the group up "
			      "when it must.");
	else if (failure->attr->precise_ip)
		hint_unsupported(failure, err);
	else if (is_hardware(failure->attr))
		err_hint(err,
			 "The PMU does not accept this event or its terms on this CPU (%d). "
			 "-e cpu-clock works everywhere.",
			 failure->cpu);
	else
		err_hint(err, "The kernel does not accept the event with these modifiers.");
}

static void hint_gone(const struct event_failure *failure UNUSED, struct err *err)
{
	err_hint(err, "The process or thread has ended.");
}

static void hint_depth(const struct event_failure *failure, struct err *err)
{
	err_hint(err,
		 "Call chains of %u frames are more than sysctl kernel.perf_event_max_stack "
		 "allows: use a smaller --max-stack.",
		 (unsigned int)failure->attr->sample_max_stack);
}

static const struct hint {
	int code;
	void (*add)(const struct event_failure *failure, struct err *err);
} hints[] = {
	{ -EACCES, hint_refused },	 { -EPERM, hint_refused },
	{ -ENOSYS, hint_no_syscall },	 { -EMFILE, hint_no_fds },
	{ -ENFILE, hint_no_system_fds }, { -ENOMEM, hint_no_memory },
	{ -ENOSPC, hint_no_counter },	 { -EBUSY, hint_busy },
	{ -ENOENT, hint_unknown_event }, { -ENODEV, hint_no_device },
	{ -ENXIO, hint_no_device },	 { -EOPNOTSUPP, hint_unsupported },
	{ -EINVAL, hint_invalid },	 { -ESRCH, hint_gone },
	{ -EOVERFLOW, hint_depth },
};

int event_error_open(const struct event_failure *failure, struct err *err)
{
	char where[64] = "";
	size_t len = 0;

	if (failure->cpu >= 0)
		len = (size_t)snprintf(where, sizeof(where), " on CPU %d", failure->cpu);
	if (failure->tid)
		snprintf(where + len, sizeof(where) - len, " for thread %u", failure->tid);
	err_set(err, failure->code, "cannot open event %s%s: perf_event_open", failure->event,
		where);
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		if (hints[i].code == failure->code)
			hints[i].add(failure, err);
	}
	return failure->code;
}

void event_error_mlock_limits(const char *proc, char *ret_text, size_t size)
{
	struct rlimit limit;
	char memlock[32] = "unlimited";
	char sysctl[32] = "unknown";
	long kb;

	if (!procfs_read_sysctl(proc, "kernel/perf_event_mlock_kb", &kb))
		snprintf(sysctl, sizeof(sysctl), "%ld", kb);
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		snprintf(memlock, sizeof(memlock), "%llu KiB",
			 (unsigned long long)limit.rlim_cur / 1024);
	snprintf(ret_text, size,
		 "kernel.perf_event_mlock_kb is %s and RLIMIT_MEMLOCK (ulimit -l) is %s", sysctl,
		 memlock);
}

int event_error_ring(const struct ring_failure *failure, struct err *err)
{
	char limits[160];

	err_set(err, failure->code, "cannot map rings of %zu + %zu KiB of CPU %u: mmap",
		failure->sample_bytes / 1024, failure->metadata_bytes / 1024, failure->cpu);
	event_error_mlock_limits(failure->proc, limits, sizeof(limits));
	if (failure->code == -EPERM)
		err_hint(err,
			 "%s. Other profilers of this user count too: end them, raise one of "
			 "the limits, or give symtop CAP_IPC_LOCK.",
			 limits);
	else if (failure->code == -ENOMEM)
		err_hint(err, "The kernel has no memory for them. Fewer CPUs (-C) need less.");
	return failure->code;
}
