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
 * The metadata event is opened first: whatever is sampled was announced. It is opened on
 * CPUs that are not sampled too, since a process that execs or maps there may go on
 * elsewhere.
 *
 * To enable an event of a CPU the kernel takes all that run there out and puts them in
 * again: with 700 software events, one by one, that is 120 ms and more for each CPU.
 * Events of an enabled group go in together. So the first time many software events are
 * enabled as the members of groups, whose leader, a dummy event, is closed at once
 * after it: then the kernel makes each member an event of its own (perf_group_detach()),
 * which goes on running, and no event is bound to the fate of others (since Linux 6.16
 * groups are throttled as one). Groups are not larger than EVENT_MAX_STARTED because the
 * kernel walks over all members to add one. Measured in the table of event_setup.c.
 * Events of hardware are not grouped: such a group must fit into the counters.
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

/* What is known while events are opened on a CPU. */
struct opening {
	const struct event_set *set;
	struct event_cpu *cpu;
	struct event_findings *found;
	struct err *err;
	int starter_fd;	   /* of the group that has room; -1: none */
	size_t nr_started; /* members it has; EVENT_MAX_STARTED: no room */
	bool uses_starters;
};

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

static bool may_wait(const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return event->group < 0 && !attr->pinned && !attr->exclusive &&
	       (attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT);
}

size_t event_open_nr_starters(const struct event_set *set)
{
	size_t nr = 0;

	for (size_t i = 0; i < set->events->nr && !set->by_task; i++)
		nr += may_wait(&set->events->events[i]);
	return nr < EVENT_MIN_STARTED ? 0 : (nr + EVENT_MAX_STARTED - 1) / EVENT_MAX_STARTED;
}

/* The descriptor of the leader of event @use for @tid; -1: alone. */
static int group_fd(const struct opening *opening, int use, uint32_t tid)
{
	const struct event_cpu *cpu = opening->cpu;
	int leader = use >= 0 ? event_leader(opening->set, (size_t)use) : -1;

	if (leader < 0)
		return -1;
	/* The events of a task on a CPU are opened one after the other. */
	for (size_t i = cpu->nr_fds; i-- > 0 && cpu->fds[i].tid == tid;) {
		if (cpu->fds[i].use == leader)
			return cpu->fds[i].fd;
	}
	return -1;
}

static int add_fd(struct opening *opening, struct event_fd fd)
{
	struct event_cpu *cpu = opening->cpu;
	int ret = 0;

	/* One event needs no id: all samples are its own. */
	if ((fd.use >= 0 || fd.use == EVENT_FD_METADATA) && opening->set->events->nr > 1)
		ret = event_kernel->read_id(fd.fd, &fd.id);
	if (ret)
		return ret;
	mem_grow(cpu->fds, cpu->nr_fds, cpu->nr_allocated);
	cpu->fds[cpu->nr_fds++] = fd;
	if (cpu->sample_fd < 0 && (fd.use >= 0 || fd.use == EVENT_FD_SAMPLE_CARRIER))
		cpu->sample_fd = fd.fd;
	if (cpu->metadata_fd < 0 &&
	    (fd.use == EVENT_FD_METADATA || fd.use == EVENT_FD_METADATA_CARRIER))
		cpu->metadata_fd = fd.fd;
	return 0;
}

/* What an errno means for the whole: SKIPPED, or the errno. */
static int judge(struct opening *opening, uint32_t tid, int code)
{
	if (code == -ESRCH && tid)
		return SKIPPED;
	if ((code == -EACCES || code == -EPERM) && tid && opening->set->follows_processes) {
		opening->found->tasks_refused = true;
		return SKIPPED;
	}
	if ((code == -ENODEV || code == -ENXIO) && !opening->set->by_task) {
		cpuset_add(&opening->found->skipped_cpus, opening->cpu->rings.cpu);
		return SKIPPED;
	}
	return code;
}

static int fail(const struct opening *opening, int use, uint32_t tid,
		const struct perf_event_attr *attr, int code)
{
	const struct event_set *set = opening->set;
	struct event_failure failure = {
		.code = code,
		.event = use_name(set, use),
		.attr = attr,
		.cpu = (int)opening->cpu->rings.cpu,
		.machine = !set->by_task,
		.tid = tid,
		.proc = set->options.proc,
		.nr_fds_needed = event_mode_count_fds(set),
		.in_group = group_fd(opening, use, tid) >= 0,
	};

	return event_error_open(&failure, opening->err);
}

static bool is_own(int use)
{
	return use == EVENT_FD_SAMPLE_CARRIER || use == EVENT_FD_METADATA_CARRIER;
}

/* Open one event under @leader_fd (-1: alone). Returns 0, SKIPPED or a negative errno. */
static int open_under(struct opening *opening, int use, uint32_t tid, int leader_fd, bool waits)
{
	const struct event_set *set = opening->set;
	uint64_t *max_rate = &opening->found->max_rate;
	pid_t pid = is_own(use) ? getpid() : tid ? (pid_t)tid : -1;
	struct perf_event_attr attr;
	int fd;
	int ret;

	do {
		use_attr(set, use, &attr);
		if (attr.freq)
			attr.sample_freq = MIN(attr.sample_freq, *max_rate);
		attr.disabled = !waits;
		fd = event_kernel->open(&attr, pid, (int)opening->cpu->rings.cpu, leader_fd);
		/* The kernel lowers the limit by itself when sampling takes too long. */
	} while (fd == -EINVAL && event_settle_has_rate_sunk(set, &attr, max_rate));
	if (fd < 0) {
		ret = judge(opening, tid, fd);
		return ret < 0 ? fail(opening, use, tid, &attr, ret) : ret;
	}
	ret = add_fd(opening,
		     (struct event_fd){ .fd = fd, .use = use, .tid = tid, .waits = waits });
	if (ret) {
		close(fd);
		return err_set(opening->err, ret, "cannot read the id of event %s",
			       use_name(set, use));
	}
	return 0;
}

static int open_one(struct opening *opening, int use, uint32_t tid)
{
	return open_under(opening, use, tid, group_fd(opening, use, tid), false);
}

/* Open one event that will be started with others. */
static int open_waiting(struct opening *opening, int use)
{
	struct event_cpu *cpu = opening->cpu;
	int ret;

	if (opening->nr_started == EVENT_MAX_STARTED) {
		ret = open_under(opening, EVENT_FD_STARTER, 0, -1, false);
		if (ret)
			return ret;
		opening->starter_fd = cpu->fds[cpu->nr_fds - 1].fd;
		opening->nr_started = 0;
	}
	ret = open_under(opening, use, 0, opening->starter_fd, true);
	opening->nr_started += ret == 0;
	return ret;
}

/* The events of @tid, 0: of the CPU. Returns 0, SKIPPED or a negative errno. */
static int open_events(struct opening *opening, uint32_t tid)
{
	const struct event_set *set = opening->set;
	uint32_t cpu = opening->cpu->rings.cpu;
	int ret = open_one(opening, EVENT_FD_METADATA, tid);

	if (ret || !cpuset_has(&set->wanted, cpu))
		return ret;
	for (size_t i = 0; i < set->events->nr && ret == 0; i++) {
		const struct event *event = &set->events->events[i];

		if (!event_covers(event, cpu))
			continue;
		if (opening->uses_starters && may_wait(event))
			ret = open_waiting(opening, (int)i);
		else
			ret = open_one(opening, (int)i, tid);
		/* A PMU that this CPU does not have: the others may work. */
		if (ret == SKIPPED && !set->by_task)
			ret = 0;
	}
	return ret;
}

int event_open_task(const struct event_set *set, struct event_cpu *cpu, uint32_t tid,
		    struct event_findings *found, struct err *err)
{
	struct opening opening = { .set = set, .cpu = cpu, .found = found, .err = err };
	int ret = open_events(&opening, tid);

	return ret < 0 ? ret : 0;
}

static int open_tasks(struct opening *opening)
{
	const struct event_set *set = opening->set;
	int ret;

	ret = open_one(opening, EVENT_FD_METADATA_CARRIER, 0);
	if (!ret && cpuset_has(&set->wanted, opening->cpu->rings.cpu))
		ret = open_one(opening, EVENT_FD_SAMPLE_CARRIER, 0);
	for (size_t i = 0; i < set->tids.nr && ret >= 0; i++)
		ret = open_events(opening, set->tids.ids[i]);
	return ret;
}

int event_open_cpu(const struct event_set *set, struct event_cpu *cpu, struct event_findings *found,
		   struct err *err)
{
	struct opening opening = {
		.set = set,
		.cpu = cpu,
		.found = found,
		.err = err,
		.starter_fd = -1,
		.nr_started = EVENT_MAX_STARTED,
		.uses_starters = event_open_nr_starters(set) > 0,
	};
	int ret = set->by_task ? open_tasks(&opening) : open_events(&opening, 0);

	if (ret < 0)
		event_open_close_cpu(cpu);
	cpu->rings.metadata_fd = cpu->metadata_fd;
	return ret < 0 ? ret : 0;
}

/* They have done what they are for; what they led goes on without them. */
static void close_starters(struct event_cpu *cpu)
{
	size_t nr = 0;

	for (size_t i = 0; i < cpu->nr_fds; i++) {
		cpu->fds[i].waits = false;
		if (cpu->fds[i].use == EVENT_FD_STARTER)
			close(cpu->fds[i].fd);
		else
			cpu->fds[nr++] = cpu->fds[i];
	}
	cpu->nr_fds = nr;
}

int event_open_control(struct event_cpu *cpu, size_t first, unsigned long request, struct err *err)
{
	bool has_starters = false;

	for (size_t i = first; i < cpu->nr_fds; i++) {
		const struct event_fd *fd = &cpu->fds[i];
		int ret;

		if (is_own(fd->use) || fd->waits)
			continue;
		has_starters = has_starters || fd->use == EVENT_FD_STARTER;
		ret = event_kernel->control(fd->fd, request, 0);
		if (ret)
			return err_set(err, ret, "cannot %s an event on CPU %u",
				       request == PERF_EVENT_IOC_ENABLE ? "enable" : "disable",
				       cpu->rings.cpu);
	}
	if (has_starters && request == PERF_EVENT_IOC_ENABLE)
		close_starters(cpu);
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
	/* Leaders last: what one that was never enabled leaves behind would start. */
	for (size_t i = cpu->nr_fds; i-- > 0;)
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
