/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large the rings are, and mapping them.
 *
 * All CPUs get rings of the same size. When the kernel refuses one, all that are
 * mapped are unmapped and mapped again at half the size: a first CPU that keeps a
 * large ring could use up what the others need. That costs a few passes over the
 * CPUs, and only where another profiler of the same user already holds memory that
 * our own estimate of the limits cannot see.
 *
 * The limits (kernel/events/core.c, perf_mmap): every user may lock
 * perf_event_mlock_kb times the online CPUs in rings, what is more counts against the
 * process's RLIMIT_MEMLOCK; CAP_IPC_LOCK and perf_event_paranoid -1 lift both.
 */
#include "config.h"

#include "core/event_set_private.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/event_kernel.h"
#include "core/procfs.h"

#define MIN_SAMPLE_PAGES 16
#define MAX_SAMPLE_BYTES ((size_t)8 << 20)
#define METADATA_BYTES ((size_t)512 << 10)
#define METADATA_BUDGET_BYTES ((size_t)32 << 20)
#define METADATA_MIN_BYTES ((size_t)64 << 10)

/* Assumed where nothing is known: frames of a call chain; Hz of events with a fixed period. */
#define MEAN_FRAMES 40
#define UNKNOWN_RATE 10000

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_down_power(size_t value)
{
	size_t power = 1;

	while (power <= value / 2)
		power *= 2;
	return power;
}

/* Pages that all rings together may lock; SIZE_MAX: no limit. */
static size_t pages_allowed(const struct event_set *set)
{
	struct rlimit limit;
	long kb;
	size_t pages;

	if (event_kernel_ignores_mlock(set->options.proc) ||
	    procfs_read_sysctl(set->options.proc, "kernel/perf_event_mlock_kb", &kb) ||
	    getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	pages = (size_t)MAX(kb, 0) * 1024 / page_size() * cpuset_nr(&set->machine);
	return pages + (size_t)limit.rlim_cur / page_size();
}

/* Data pages for the samples of one and a half drains. */
static size_t pages_by_rate(const struct event_set *set)
{
	uint64_t rate = set->info.freq ? set->info.freq : UNKNOWN_RATE;
	/* A header and one word for each bit of the sample type but the chain. */
	size_t bytes = sizeof(struct perf_event_header) +
		       8 * (size_t)__builtin_popcountll(set->sample_format.sample_type);
	double total;

	if (set->sample_format.sample_type & PERF_SAMPLE_CALLCHAIN)
		bytes += 8 * MEAN_FRAMES;
	total = 1.5 * (double)bytes * (double)rate * (double)set->events->nr *
		(double)set->options.drain_ns / (double)NSEC_PER_SEC;
	if (total >= (double)MAX_SAMPLE_BYTES)
		return MAX_SAMPLE_BYTES / page_size();
	/* Up to a power of two. */
	return 2 * round_down_power(MAX((size_t)total / page_size(), 1));
}

static int check_power(size_t pages, struct err *err)
{
	if (pages & (pages - 1))
		return err_say(err, -EINVAL, "a ring of %zu pages: it must be a power of two",
			       pages);
	return 0;
}

/*
 * The kernel fills every page with zeros when a ring is mapped: with 272 CPUs of half a MiB
 * that was most of the start. So many CPUs share a budget; the worker that reads them
 * comes by at half a ring, and at least every tenth of a second.
 */
size_t event_rings_metadata_pages(size_t nr_cpus)
{
	size_t bytes = MIN((size_t)METADATA_BYTES, METADATA_BUDGET_BYTES / nr_cpus);

	return round_down_power(MAX(MAX(bytes, METADATA_MIN_BYTES) / page_size(), 1));
}

int event_rings_size(struct event_set *set, struct err *err)
{
	size_t nr_metadata = MAX(cpuset_nr(&set->machine), 1);
	size_t nr_samples = MAX(cpuset_nr(&set->online), 1);
	size_t allowed = pages_allowed(set);
	size_t metadata = set->options.metadata_pages;
	size_t samples = set->options.sample_pages;
	size_t rest;

	if (check_power(metadata, err) || check_power(samples, err))
		return -EINVAL;
	if (set->options.sample_pages_rounded)
		event_set_add_note(set,
				   "Rings of %zu KiB (%zu pages): -m was rounded up to a power "
				   "of two pages.",
				   samples * page_size() / 1024, samples);
	if (!metadata)
		metadata = event_rings_metadata_pages(nr_metadata);
	/* At most half for metadata. Each ring has a page of its own besides the data. */
	if (!set->options.metadata_pages && allowed / nr_metadata / 2 < metadata + 1)
		metadata = round_down_power(MAX(allowed / nr_metadata / 2, 2) - 1);
	if (!samples) {
		rest = allowed - MIN(allowed, nr_metadata * (metadata + 1));
		rest = MAX(rest / nr_samples, 2) - 1;
		samples = MAX(pages_by_rate(set), MIN_SAMPLE_PAGES);
		samples = MIN(samples, MAX(MAX_SAMPLE_BYTES / page_size(), 1));
		samples = MIN(samples, round_down_power(rest));
	}
	set->metadata_pages = metadata;
	set->sample_pages = samples;
	return 0;
}

static bool halve(size_t *sample_pages, size_t *metadata_pages)
{
	if (*sample_pages > 1 && *sample_pages >= *metadata_pages)
		*sample_pages /= 2;
	else if (*metadata_pages > 1)
		*metadata_pages /= 2;
	else
		return false;
	return true;
}

static bool is_refusal(int code)
{
	return code == -EPERM || code == -ENOMEM;
}

void event_rings_unmap(struct event_cpu *cpu)
{
	event_kernel->ring_free(cpu->rings.samples);
	event_kernel->ring_free(cpu->rings.metadata);
	cpu->rings.samples = NULL;
	cpu->rings.metadata = NULL;
}

int event_rings_redirect(struct event_cpu *cpu, size_t first, struct err *err)
{
	for (size_t i = first; i < cpu->nr_fds; i++) {
		const struct event_fd *fd = &cpu->fds[i];
		int into = fd->use >= 0 ? cpu->sample_fd : cpu->metadata_fd;
		int ret;

		if (fd->fd == cpu->sample_fd || fd->fd == cpu->metadata_fd ||
		    fd->use == EVENT_FD_STARTER)
			continue;
		ret = event_kernel->control(fd->fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)into);
		if (ret)
			return err_set(err, ret, "cannot redirect an event into the ring of CPU %u",
				       cpu->rings.cpu);
	}
	return 0;
}

/* Map both rings or none; only metadata where there are no samples. */
static int map_rings(const struct event_set *set, struct event_cpu *cpu, size_t sample_pages,
		     size_t metadata_pages, struct err *err)
{
	enum ring_kind kind = set->info.overwrite ? RING_OVERWRITE : RING_FORWARD;
	int ret = 0;

	if (cpu->metadata_fd >= 0)
		ret = event_kernel->ring_open(cpu->metadata_fd, RING_FORWARD, metadata_pages,
					      &cpu->rings.metadata, err);
	if (!ret && cpu->sample_fd >= 0)
		ret = event_kernel->ring_open(cpu->sample_fd, kind, sample_pages,
					      &cpu->rings.samples, err);
	if (!ret)
		ret = event_rings_redirect(cpu, 0, err);
	if (ret)
		event_rings_unmap(cpu);
	return ret;
}

/* Nothing helped: say so. @last is what was said where it failed. */
static int fail(const struct event_set *set, const struct event_cpu *cpu, size_t sample_pages,
		size_t metadata_pages, const struct err *last, struct err *err)
{
	struct ring_failure failure = {
		.code = last->code,
		.cpu = cpu->rings.cpu,
		.sample_bytes = sample_pages * page_size(),
		.metadata_bytes = metadata_pages * page_size(),
		.proc = set->options.proc,
	};

	if (is_refusal(last->code))
		return event_error_ring(&failure, err);
	if (err)
		*err = *last;
	return last->code;
}

static int map_cpu(const struct event_set *set, struct event_cpu *cpu, struct event_findings *found,
		   struct err *err)
{
	struct err last;
	int ret;

	(void)found;
	ret = map_rings(set, cpu, set->sample_pages, set->metadata_pages, &last);
	return ret ? fail(set, cpu, set->sample_pages, set->metadata_pages, &last, err) : 0;
}

static const struct event_pass map_pass = { .wants = event_setup_is_open, .visit = map_cpu };

static void note_smaller(struct event_set *set, size_t wanted_bytes, int code)
{
	char limits[160];

	event_error_mlock_limits(set->options.proc, limits, sizeof(limits));
	event_set_add_note(set, "Rings of %zu + %zu KiB per CPU instead of %zu KiB: %s. %s.",
			   set->sample_pages * page_size() / 1024,
			   set->metadata_pages * page_size() / 1024, wanted_bytes / 1024,
			   code == -EPERM ? "the kernel lets us lock no more memory"
					  : "the kernel had no more memory",
			   limits);
}

int event_rings_map_all(struct event_set *set, struct err *err)
{
	size_t wanted_bytes = (set->sample_pages + set->metadata_pages) * page_size();
	struct err last; /* refusals that were got round are no failure of ours */
	int refusal = 0;
	int ret;

	for (;;) {
		ret = event_setup_run(set, &map_pass, NULL, &last);
		if (!is_refusal(ret))
			break;
		refusal = ret;
		if (!halve(&set->sample_pages, &set->metadata_pages))
			break;
		for (size_t i = 0; i < set->nr_cpus; i++)
			event_rings_unmap(set->cpus[i]);
	}
	if (ret && err)
		*err = last;
	if (ret)
		return ret;
	if (refusal)
		note_smaller(set, wanted_bytes, refusal);
	set->info.sample_ring_bytes = set->sample_pages * page_size();
	set->info.metadata_ring_bytes = set->metadata_pages * page_size();
	return 0;
}

int event_rings_map_cpu(const struct event_set *set, struct event_cpu *cpu, struct err *err)
{
	size_t sample_pages = set->sample_pages;
	size_t metadata_pages = set->metadata_pages;
	struct err last;
	int ret;

	do
		ret = map_rings(set, cpu, sample_pages, metadata_pages, &last);
	while (is_refusal(ret) && halve(&sample_pages, &metadata_pages));
	return ret ? fail(set, cpu, sample_pages, metadata_pages, &last, err) : 0;
}
