/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of one CPU: what a set-up worker does while it is there.
 *
 * By CPU, the metadata event and the first event have the rings, and the other
 * events are redirected. By task there are carriers: two dummy events of our own
 * main thread, bound to the CPU, that count nothing and have the rings. A task's own
 * event could have them, but then its end would hang the ring's descriptor up
 * (POLLHUP) while other tasks go on writing, and its descriptor could never be closed.
 *
 * The metadata event is opened first: whatever is sampled was announced.
 */
#include "config.h"

#include "core/event_set_private.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/event_kernel.h"

/* Not opened, and no reason to give up: the task or CPU is gone or may not be watched. */
#define SKIPPED 1

/* Shorter than that, no time that stands still can be told from one that runs. */
#define MIN_CHECK_NS (20 * NSEC_PER_MSEC)

static void use_attr(const struct event_set *set, int use, struct perf_event_attr *ret_attr)
{
	if (use >= 0)
		event_sample_attr(set, (size_t)use, ret_attr);
	else if (use == EVENT_FD_METADATA)
		event_metadata_attr(set, ret_attr);
	else
		event_carrier_attr(set, use == EVENT_FD_SAMPLE_CARRIER, ret_attr);
}

/* Of the events that nobody asked for, the one that needs them is named. */
static const char *use_name(const struct event_set *set, int use)
{
	return set->events->events[MAX(use, 0)].name;
}

/* The descriptor of the leader of event @use for @tid on @cpu; -1: alone. */
static int group_fd(const struct event_set *set, const struct event_cpu *cpu, int use, uint32_t tid)
{
	int leader = use >= 0 ? event_leader(set, (size_t)use) : -1;

	if (leader < 0)
		return -1;
	/* The events of a task on a CPU are opened one after the other. */
	for (size_t i = cpu->nr_fds; i-- > 0 && cpu->fds[i].tid == tid;) {
		if (cpu->fds[i].use == leader)
			return cpu->fds[i].fd;
	}
	return -1;
}

static int add_fd(struct event_set *set, struct event_cpu *cpu, int fd, int use, uint32_t tid)
{
	uint64_t id = 0;
	int ret = 0;

	/* One event needs no id: all samples are its own. */
	if (use >= 0 && set->events->nr > 1)
		ret = event_kernel->read_id(fd, &id);
	if (ret)
		return ret;
	event_ids_add(&set->ids, id, use);
	mem_grow(cpu->fds, cpu->nr_fds, cpu->nr_allocated);
	cpu->fds[cpu->nr_fds++] = (struct event_fd){ fd, use, tid, id };
	if (cpu->sample_fd < 0 && (use >= 0 || use == EVENT_FD_SAMPLE_CARRIER))
		cpu->sample_fd = fd;
	if (cpu->metadata_fd < 0 && (use == EVENT_FD_METADATA || use == EVENT_FD_METADATA_CARRIER))
		cpu->metadata_fd = fd;
	return 0;
}

/* What an errno means for the whole: SKIPPED, or the errno. */
static int judge(struct event_set *set, const struct event_cpu *cpu, uint32_t tid, int code)
{
	if (code == -ESRCH && tid)
		return SKIPPED;
	if ((code == -EACCES || code == -EPERM) && tid && set->follows_processes) {
		event_set_add_note(set, "Some of your processes may not be watched (they have or "
					"had other rights) and are left out.");
		return SKIPPED;
	}
	if ((code == -ENODEV || code == -ENXIO) && !set->by_task) {
		cpuset_add(&set->skipped_cpus, cpu->rings.cpu);
		return SKIPPED;
	}
	return code;
}

static int fail(const struct event_set *set, const struct event_cpu *cpu, int use, uint32_t tid,
		const struct perf_event_attr *attr, int code, struct err *err)
{
	struct event_failure failure = {
		.code = code,
		.event = use_name(set, use),
		.attr = attr,
		.cpu = (int)cpu->rings.cpu,
		.machine = !set->by_task,
		.tid = tid,
		.proc = set->options.proc,
		.nr_fds_needed = event_mode_count_fds(set),
		.in_group = group_fd(set, cpu, use, tid) >= 0,
	};

	return event_error_open(&failure, err);
}

/* Open one event. Returns 0, SKIPPED or a negative errno. */
static int open_one(struct event_set *set, struct event_cpu *cpu, int use, uint32_t tid,
		    struct err *err)
{
	bool is_carrier = use == EVENT_FD_SAMPLE_CARRIER || use == EVENT_FD_METADATA_CARRIER;
	pid_t pid = is_carrier ? getpid() : tid ? (pid_t)tid : -1;
	struct perf_event_attr attr;
	int fd;
	int ret;

	do {
		use_attr(set, use, &attr);
		fd = event_kernel->open(&attr, pid, (int)cpu->rings.cpu,
					group_fd(set, cpu, use, tid));
		/* The kernel lowers the limit by itself when sampling takes too long. */
	} while (fd == -EINVAL && event_settle_lower_rate(set, &attr));
	if (fd < 0) {
		ret = judge(set, cpu, tid, fd);
		return ret < 0 ? fail(set, cpu, use, tid, &attr, ret, err) : ret;
	}
	ret = add_fd(set, cpu, fd, use, tid);
	if (ret) {
		close(fd);
		return err_set(err, ret, "cannot read the id of event %s", use_name(set, use));
	}
	return 0;
}

int event_open_task(struct event_set *set, struct event_cpu *cpu, uint32_t tid, struct err *err)
{
	int ret = open_one(set, cpu, EVENT_FD_METADATA, tid, err);

	for (size_t i = 0; i < set->events->nr && ret == 0; i++) {
		if (!event_covers(&set->events->events[i], cpu->rings.cpu))
			continue;
		ret = open_one(set, cpu, (int)i, tid, err);
		/* A PMU that this CPU does not have: the others may work. */
		if (ret == SKIPPED && !set->by_task)
			ret = 0;
	}
	return ret < 0 ? ret : 0;
}

static int open_tasks(struct event_set *set, struct event_cpu *cpu, struct err *err)
{
	int ret;

	ret = open_one(set, cpu, EVENT_FD_METADATA_CARRIER, 0, err);
	if (!ret)
		ret = open_one(set, cpu, EVENT_FD_SAMPLE_CARRIER, 0, err);
	for (size_t i = 0; i < set->tids.nr && !ret; i++)
		ret = event_open_task(set, cpu, set->tids.ids[i], err);
	return ret;
}

int event_open_cpu(struct event_set *set, struct event_cpu *cpu, struct err *err)
{
	int ret = set->by_task ? open_tasks(set, cpu, err) : event_open_task(set, cpu, 0, err);

	if (ret || cpu->sample_fd < 0)
		event_open_close_cpu(cpu);
	cpu->rings.metadata_fd = cpu->metadata_fd;
	return ret;
}

int event_open_control(struct event_cpu *cpu, size_t first, unsigned long request, struct err *err)
{
	for (size_t i = first; i < cpu->nr_fds; i++) {
		int ret;

		if (cpu->fds[i].use < EVENT_FD_METADATA)
			continue;
		ret = event_kernel->control(cpu->fds[i].fd, request, 0);
		if (ret)
			return err_set(err, ret, "cannot %s an event on CPU %u",
				       request == PERF_EVENT_IOC_ENABLE ? "enable" : "disable",
				       cpu->rings.cpu);
	}
	return 0;
}

int event_open_find_task(const struct event_cpu *cpu, uint32_t tid)
{
	for (size_t i = 0; i < cpu->nr_fds; i++) {
		if (cpu->fds[i].tid == tid)
			return cpu->fds[i].fd;
	}
	return -1;
}

void event_open_close_task(struct event_cpu *cpu, uint32_t tid)
{
	size_t nr = 0;

	for (size_t i = 0; i < cpu->nr_fds; i++) {
		if (cpu->fds[i].tid == tid)
			close(cpu->fds[i].fd);
		else
			cpu->fds[nr++] = cpu->fds[i];
	}
	cpu->nr_fds = nr;
}

void event_open_close_cpu(struct event_cpu *cpu)
{
	event_rings_unmap(cpu);
	for (size_t i = 0; i < cpu->nr_fds; i++)
		close(cpu->fds[i].fd);
	free(cpu->fds);
	cpu->fds = NULL;
	cpu->nr_fds = 0;
	cpu->nr_allocated = 0;
	cpu->sample_fd = -1;
	cpu->metadata_fd = -1;
	cpu->rings.metadata_fd = -1;
	cpu->checked_ns = 0;
	cpu->is_dead = false;
}

/*
 * The kernel takes the events of a CPU that goes away out of it and forgets to say
 * so: no POLLHUP, and ioctl(2) succeeds. But their time stands still.
 */
bool event_open_is_stopped(struct event_cpu *cpu)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t last_ns = cpu->checked_ns;
	uint64_t enabled_ns;
	bool stopped;

	if (last_ns && now_ns - last_ns < MIN_CHECK_NS)
		return false;
	if (event_kernel->read_enabled_ns(cpu->metadata_fd, &enabled_ns))
		return true;
	/* Half: the two clocks differ a little, and the CPU may have gone just now. */
	stopped = last_ns && enabled_ns - cpu->enabled_ns < (now_ns - last_ns) / 2;
	cpu->checked_ns = now_ns;
	cpu->enabled_ns = enabled_ns;
	return stopped;
}

bool event_open_is_hung_up(int fd)
{
	struct pollfd pollfd = { .fd = fd };

	return poll(&pollfd, 1, 0) > 0 && pollfd.revents & POLLHUP;
}
