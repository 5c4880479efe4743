/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All features are asked for at once; only when the kernel says EINVAL is each
 * asked alone. Dropping them newest first until an attr opens would be as many
 * calls at worst and goes wrong on distribution kernels that have a new feature
 * without an older one.
 *
 * namespaces, cgroup and PERF_FORMAT_LOST are not asked for: nothing here uses
 * them, and namespaces needs CAP_PERFMON.
 */
#include "config.h"

#include "core/event_probe.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/event_kernel.h"

static void ask_sample_identifier(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
}

static void ask_comm_exec(struct perf_event_attr *attr)
{
	attr->comm = 1;
	attr->comm_exec = 1;
}

static void ask_mmap2(struct perf_event_attr *attr)
{
	attr->mmap = 1;
	attr->mmap2 = 1;
}

static void ask_clockid(struct perf_event_attr *attr)
{
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

static void ask_write_backward(struct perf_event_attr *attr)
{
	attr->write_backward = 1;
}

static void ask_ksymbol(struct perf_event_attr *attr)
{
	attr->ksymbol = 1;
}

static void ask_bpf_event(struct perf_event_attr *attr)
{
	attr->bpf_event = 1;
}

static const struct feature {
	size_t offset; /* of its bool in struct event_features */
	void (*ask)(struct perf_event_attr *attr);
} features[] = {
	{ offsetof(struct event_features, sample_identifier), ask_sample_identifier },
	{ offsetof(struct event_features, comm_exec), ask_comm_exec },
	{ offsetof(struct event_features, mmap2), ask_mmap2 },
	{ offsetof(struct event_features, clockid), ask_clockid },
	{ offsetof(struct event_features, write_backward), ask_write_backward },
	{ offsetof(struct event_features, ksymbol), ask_ksymbol },
	{ offsetof(struct event_features, bpf_event), ask_bpf_event },
};

void event_dummy_attr(struct perf_event_attr *ret_attr)
{
	memset(ret_attr, 0, sizeof(*ret_attr));
	ret_attr->size = sizeof(*ret_attr);
	ret_attr->type = PERF_TYPE_SOFTWARE;
	ret_attr->config = PERF_COUNT_SW_DUMMY;
	ret_attr->sample_period = 1;
	ret_attr->disabled = 1;
	/* It counts nothing, but without these it needs the right to sample the kernel. */
	ret_attr->exclude_kernel = 1;
	ret_attr->exclude_hv = 1;
}

/* Open and close again. Returns 0 or a negative errno. */
static int try_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = event_kernel->open(attr, pid, cpu, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static bool is_refusal(int code)
{
	return code == -EACCES || code == -EPERM;
}

static int try_somewhere(struct perf_event_attr *attr, int cpu)
{
	int ret = try_open(attr, -1, cpu);

	return is_refusal(ret) || ret == -ENODEV ? try_open(attr, 0, -1) : ret;
}

static void set_feature(struct event_features *known, const struct feature *feature, bool value)
{
	*(bool *)((char *)known + feature->offset) = value;
}

void event_probe_features(int cpu, struct event_features *ret_features)
{
	struct perf_event_attr attr;
	bool all;

	event_dummy_attr(&attr);
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		features[i].ask(&attr);
	all = try_somewhere(&attr, cpu) != -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		if (!all) {
			event_dummy_attr(&attr);
			features[i].ask(&attr);
		}
		set_feature(ret_features, &features[i], all || !try_somewhere(&attr, cpu));
	}
}

bool event_probe_kernel_rights(int cpu)
{
	struct perf_event_attr attr;

	event_dummy_attr(&attr);
	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	return !is_refusal(try_somewhere(&attr, cpu));
}

bool event_probe_machine_rights(int cpu)
{
	struct perf_event_attr attr;

	event_dummy_attr(&attr);
	return !is_refusal(try_open(&attr, -1, cpu));
}

bool event_probe_cpu(int cpu)
{
	struct perf_event_attr attr;
	int ret;

	event_dummy_attr(&attr);
	ret = try_open(&attr, -1, cpu);
	return ret != -ENODEV && ret != -ENXIO;
}
