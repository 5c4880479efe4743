/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ladder: what to step down when the kernel refuses an event.
 *
 * Each event is tried once, on the first CPU that it covers, before any is opened
 * for good: so a step is taken once and holds for all CPUs, and the loop over CPUs
 * and tasks stays a plain loop. A trial for tasks is made on ourselves, who do not
 * vanish and whom we may watch. Software events that are alone have nothing that could
 * be stepped down (but the rate, which may sink at any time) and are not tried.
 *
 * A step is a row of a table: it looks at the errno and the event, changes one thing
 * and says true (try again), or says false. The first row that fits is taken; each
 * changes something that never changes back, so the ladder ends.
 *
 * What all events share (levels, rate, clock) is settled before, from probes and
 * sysctls, not from refusals: EACCES alone does not tell which right is missing.
 */
#include "config.h"

#include "core/event_set_private.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "core/event_kernel.h"
#include "core/procfs.h"

/* The highest precise_ip there is. */
#define MAX_PRECISE 3

struct trial {
	struct event_set *set;
	size_t index;
	struct event *event;
	struct perf_event_attr attr; /* as it was refused */
	int code;
	int cpu;
	int leader_fd; /* -1: alone */
	bool set_exclude_guest;
	bool cpu_gone; /* it is the CPU that is missing, not the event */
};

/* The open trial of a group's leader, which those of its members need. */
struct leader {
	int fd; /* -1: none */
	int cpu;
};

int event_leader(const struct event_set *set, size_t index)
{
	const struct event *events = set->events->events;

	if (events[index].group < 0)
		return -1;
	for (size_t i = 0; i < index; i++) {
		if (events[i].group == events[index].group)
			return (int)i;
	}
	return -1;
}

static bool is_hardware(const struct event *event)
{
	return event->attr.type != PERF_TYPE_SOFTWARE && event->attr.type != PERF_TYPE_TRACEPOINT &&
	       event->attr.type != PERF_TYPE_BREAKPOINT;
}

/* False when the limit is not known. */
static bool read_max_rate(const struct event_set *set, uint64_t *ret_rate)
{
	long limit;

	if (procfs_read_sysctl(set->options.proc, "kernel/perf_event_max_sample_rate", &limit) ||
	    limit < 1)
		return false;
	*ret_rate = (uint64_t)limit;
	return true;
}

static void lower_set_rate(struct event_set *set)
{
	if (set->info.freq <= set->max_rate)
		return;
	if (set->options.freq != UINT64_MAX)
		event_set_add_note(set,
				   "Sampling at %" PRIu64 " Hz instead of %" PRIu64
				   ": kernel.perf_event_max_sample_rate allows no more.",
				   set->max_rate, set->info.freq);
	set->info.freq = set->max_rate;
}

bool event_settle_has_rate_sunk(const struct event_set *set, const struct perf_event_attr *attr,
				uint64_t *max_rate)
{
	return attr->freq && read_max_rate(set, max_rate) && attr->sample_freq > *max_rate;
}

void event_settle_limit_rate(struct event_set *set, uint64_t max_rate)
{
	set->max_rate = MIN(set->max_rate, max_rate);
	lower_set_rate(set);
}

bool event_settle_lower_rate(struct event_set *set, const struct perf_event_attr *attr)
{
	if (!event_settle_has_rate_sunk(set, attr, &set->max_rate))
		return false;
	lower_set_rate(set);
	return true;
}

static int settle_rate(struct event_set *set, struct err *err)
{
	if (!set->options.freq && !set->options.period)
		return err_say(err, -EINVAL, "neither a sampling rate nor a period was given");
	set->info.freq = set->options.freq;
	set->info.period = set->options.freq ? 0 : set->options.period;
	if (!read_max_rate(set, &set->max_rate))
		set->max_rate = 100000; /* the kernel's default */
	lower_set_rate(set);
	return 0;
}

static void settle_stack(struct event_set *set)
{
	long limit;

	if (procfs_read_sysctl(set->options.proc, "kernel/perf_event_max_stack", &limit) ||
	    limit < 1 || (long)set->options.max_stack <= limit)
		return;
	event_set_add_note(set,
			   "Call chains are cut at %ld frames instead of %u: "
			   "kernel.perf_event_max_stack allows no more.",
			   limit, set->options.max_stack);
	set->options.max_stack = (unsigned int)limit;
}

int event_settle_format(struct event_set *set, struct err *err)
{
	uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			PERF_SAMPLE_PERIOD;

	if (set->events->nr > 1) {
		/* Old kernels: the same id, at another place. */
		type |= set->features.sample_identifier ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID;
	}
	if (set->options.callchain) {
		type |= PERF_SAMPLE_CALLCHAIN;
		settle_stack(set);
	}
	set->sample_format.sample_type = type;
	set->sample_format.sample_id_all = true;
	/* The id at the same place in all records: then they can stand in one file. */
	set->metadata_format.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
					   (type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID));
	set->metadata_format.sample_id_all = true;
	set->info.callchain = set->options.callchain;
	set->info.overwrite = set->options.overwrite && set->features.write_backward;
	if (set->options.overwrite && !set->info.overwrite)
		event_set_add_note(set, "This kernel has no backward rings (Linux 4.7): when we "
					"fall behind, new samples are lost, not old ones.");
	if (!set->features.clockid)
		event_set_add_note(set, "This kernel has no clock for events (Linux 4.1): names "
					"of processes that start or exec may be wrong.");
	return settle_rate(set, err);
}

/* What every event of the set has in common, the metadata events included. */
static void set_common(const struct event_set *set, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->sample_id_all = 1;
	attr->read_format = 0;
	attr->watermark = 1;
	attr->inherit = set->by_task && set->target->kind != TARGET_THREADS;
	attr->enable_on_exec = set->target->kind == TARGET_COMMAND;
	if (set->features.clockid) {
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
	}
}

static void set_rate(const struct event_set *set, struct perf_event_attr *attr)
{
	/* A period= or freq= term of the event itself goes first. */
	if (!attr->sample_period) {
		attr->freq = set->info.freq != 0;
		attr->sample_period = attr->freq ? set->info.freq : set->info.period;
	}
	if (attr->freq)
		attr->sample_freq = MIN(attr->sample_freq, set->max_rate);
}

void event_sample_attr(const struct event_set *set, size_t index, struct perf_event_attr *ret_attr)
{
	*ret_attr = set->events->events[index].attr;
	set_common(set, ret_attr);
	set_rate(set, ret_attr);
	ret_attr->sample_type = set->sample_format.sample_type;
	ret_attr->write_backward = set->info.overwrite;
	/* Nobody waits for samples: wake up as seldom as the kernel lets us. */
	ret_attr->wakeup_watermark = UINT32_MAX;
	if (!set->options.callchain)
		return;
	ret_attr->exclude_callchain_kernel = !set->options.callchain_kernel;
	ret_attr->exclude_callchain_user = !set->options.callchain_user;
	ret_attr->sample_max_stack = (uint16_t)MIN(set->options.max_stack, UINT16_MAX);
}

void event_metadata_attr(const struct event_set *set, struct perf_event_attr *ret_attr)
{
	event_dummy_attr(ret_attr);
	set_common(set, ret_attr);
	ret_attr->sample_type = set->metadata_format.sample_type;
	/* For event_open_is_stopped(); records do not change by it. */
	ret_attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	/* 0 bytes stand for half the ring, whatever its size will be. */
	ret_attr->wakeup_watermark = 0;
	ret_attr->mmap = 1;
	ret_attr->mmap2 = set->features.mmap2;
	ret_attr->comm = 1;
	ret_attr->comm_exec = set->features.comm_exec;
	ret_attr->task = 1;
	ret_attr->ksymbol = set->features.ksymbol;
	ret_attr->bpf_event = set->features.bpf_event;
}

void event_carrier_attr(const struct event_set *set, bool for_samples,
			struct perf_event_attr *ret_attr)
{
	event_dummy_attr(ret_attr);
	set_common(set, ret_attr);
	ret_attr->inherit = 0;
	ret_attr->enable_on_exec = 0;
	/* The ring wakes up as its own event says, not as those that are redirected. */
	ret_attr->wakeup_watermark = for_samples ? UINT32_MAX : 0;
	ret_attr->write_backward = for_samples && set->info.overwrite;
}

/* Errors by which kernels and PMU drivers say "not this event, not this way". */
static bool is_event_refusal(int code)
{
	return code == -ENOENT || code == -EOPNOTSUPP || code == -ENXIO || code == -ENODEV ||
	       code == -EINVAL;
}

static bool step_rate(struct trial *trial)
{
	return trial->code == -EINVAL && event_settle_lower_rate(trial->set, &trial->attr);
}

static bool step_precise(struct trial *trial)
{
	struct event *event = trial->event;

	if (!is_event_refusal(trial->code) || !event->precise_max || !event->attr.precise_ip)
		return false;
	event->attr.precise_ip--;
	return true;
}

/* Some PMUs (Apple's) cannot tell guests from the host and want that to be known. */
static bool step_exclude_guest(struct trial *trial)
{
	struct event *event = trial->event;

	if (trial->code != -EOPNOTSUPP || !is_hardware(event) || event->user_excludes ||
	    event->attr.exclude_guest)
		return false;
	event->attr.exclude_guest = 1;
	trial->set_exclude_guest = true;
	if (event->precise_max)
		event->attr.precise_ip = MAX_PRECISE;
	return true;
}

static bool step_break_group(struct trial *trial)
{
	struct event_list *events = trial->set->events;
	int group = trial->event->group;

	if (trial->code != -EINVAL || trial->leader_fd < 0 || !trial->event->weak)
		return false;
	event_set_add_note(trial->set,
			   "The group of event %s does not fit: its events are counted "
			   "one by one.",
			   trial->event->name);
	for (size_t i = 0; i < events->nr; i++) {
		if (events->events[i].group == group)
			events->events[i].group = -1;
	}
	trial->leader_fd = -1;
	return true;
}

static bool step_cpu_clock(struct trial *trial)
{
	struct event *event = trial->event;

	if (!is_event_refusal(trial->code) || event->named_by_user || !is_hardware(event))
		return false;
	event_set_add_note(trial->set, "Using cpu-clock: event %s does not work on this machine.",
			   event->name);
	if (trial->set_exclude_guest)
		event->attr.exclude_guest = 0;
	event_become_cpu_clock(event);
	event->precise_max = false;
	event->attr.precise_ip = 0;
	return true;
}

static bool (*const steps[])(struct trial *trial) = {
	step_rate, step_precise, step_exclude_guest, step_break_group, step_cpu_clock,
};

static bool step_down(struct trial *trial)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i](trial))
			return true;
	}
	return false;
}

static int fail(const struct trial *trial, struct err *err)
{
	struct event_failure failure = {
		.code = trial->code,
		.event = trial->event->name,
		.attr = &trial->attr,
		.cpu = trial->cpu,
		.machine = !trial->set->by_task,
		.proc = trial->set->options.proc,
		.nr_fds_needed = event_mode_count_fds(trial->set),
		.in_group = trial->leader_fd >= 0,
	};

	return event_error_open(&failure, err);
}

/*
 * Step down until the event opens on trial->cpu. Returns a descriptor, or a negative
 * errno: with trial->cpu_gone one without a message.
 */
static int settle_on_cpu(struct trial *trial, struct err *err)
{
	do {
		event_sample_attr(trial->set, trial->index, &trial->attr);
		trial->attr.enable_on_exec = 0; /* the trial is on ourselves */
		trial->code = event_kernel->open(&trial->attr, trial->set->by_task ? 0 : -1,
						 trial->cpu, trial->leader_fd);
		if (trial->code >= 0)
			return trial->code;
		trial->cpu_gone = !trial->set->by_task &&
				  (trial->code == -ENODEV || trial->code == -ENXIO) &&
				  !event_probe_cpu(trial->cpu);
		if (trial->cpu_gone)
			return trial->code;
	} while (step_down(trial));
	return fail(trial, err);
}

/* The trial is over: close it, but a leader's stays open for its members. */
static void end_trial(const struct trial *trial, int fd, struct leader *leader)
{
	if (trial->event->group >= 0 && event_leader(trial->set, trial->index) < 0) {
		leader->fd = fd;
		leader->cpu = trial->cpu;
	} else {
		close(fd);
	}
}

static bool needs_trial(const struct event *event)
{
	return is_hardware(event) || event->group >= 0;
}

static int settle_event(struct event_set *set, size_t index, struct leader *leader, struct err *err)
{
	struct trial trial = { .set = set, .index = index, .event = &set->events->events[index] };
	int cpu = cpuset_next(&set->online, 0);
	int fd;

	if (trial.event->precise_max)
		trial.event->attr.precise_ip = is_hardware(trial.event) ? MAX_PRECISE : 0;
	for (; cpu >= 0; cpu = cpuset_next(&set->online, (unsigned int)cpu + 1)) {
		if (!event_covers(trial.event, (uint32_t)cpu))
			continue;
		if (!needs_trial(trial.event))
			return 0;
		trial.cpu = cpu;
		trial.leader_fd = -1;
		if (event_leader(set, index) >= 0 && leader->cpu == cpu)
			trial.leader_fd = leader->fd;
		fd = settle_on_cpu(&trial, err);
		if (trial.cpu_gone)
			continue;
		if (fd < 0)
			return fd;
		end_trial(&trial, fd, leader);
		return 0;
	}
	event_set_add_note(set, "Event %s counts on none of the CPUs that are watched.",
			   trial.event->name);
	return 0;
}

static void note_no_kernel(struct event_set *set)
{
	char remedy[512];

	event_error_kernel_remedy(set->options.proc, remedy, sizeof(remedy));
	/* With that note the remedy was given already. */
	event_set_add_note(set, "No rights to sample the kernel: shares are of user code only.%s%s",
			   set->info.own_processes_only ? "" : " ",
			   set->info.own_processes_only ? "" : remedy);
}

/* Without the right to sample the kernel, do without it where the user did not insist. */
static void settle_levels(struct event_set *set)
{
	struct event_list *events = set->events;
	bool may_kernel = event_probe_kernel_rights(cpuset_next(&set->online, 0));
	bool all_excluded = true;

	for (size_t i = 0; i < events->nr; i++) {
		struct perf_event_attr *attr = &events->events[i].attr;

		if (!may_kernel && !events->events[i].user_excludes && !attr->exclude_kernel) {
			attr->exclude_kernel = 1;
			attr->exclude_hv = 1;
			note_no_kernel(set);
		}
		all_excluded = all_excluded && attr->exclude_kernel;
	}
	set->info.kernel_excluded = all_excluded;
}

int event_settle_all(struct event_set *set, struct err *err)
{
	struct leader leader = { .fd = -1 };
	int group = -1;
	int ret = 0;

	settle_levels(set);
	for (size_t i = 0; i < set->events->nr && !ret; i++) {
		if (leader.fd >= 0 && set->events->events[i].group != group) {
			close(leader.fd);
			leader.fd = -1;
		}
		group = set->events->events[i].group;
		ret = settle_event(set, i, &leader, err);
	}
	if (leader.fd >= 0)
		close(leader.fd);
	return ret;
}
