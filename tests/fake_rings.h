/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings without a kernel: the functions of core/ring.h and core/event_set.h that readers
 * and the metadata worker use, over records that a test puts there. An overwrite ring
 * hands the newest out first and takes back what was unread; a forward ring the oldest.
 */
#ifndef SYMTOP_TESTS_FAKE_RINGS_H
#define SYMTOP_TESTS_FAKE_RINGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/event_set.h"
#include "core/ring.h"
#include "record_build.h"

#define NR_FAKE_CPUS 2
#define MAX_FAKE_RECORDS 64

struct ring {
	struct build records[MAX_FAKE_RECORDS]; /* oldest first */
	size_t nr;
	size_t walk; /* handed out in this read */
	bool forward;
	size_t nr_unread;
};

static struct ring fake_samples[NR_FAKE_CPUS];
static struct ring fake_metadata[NR_FAKE_CPUS];
static struct cpu_rings fake_cpus[NR_FAKE_CPUS];
static struct record_format fake_sample_format = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		       PERF_SAMPLE_PERIOD,
};
static struct record_format fake_metadata_format = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	.sample_id_all = true,
};

static UNUSED void fake_rings_init(void)
{
	memset(fake_samples, 0, sizeof(fake_samples));
	memset(fake_metadata, 0, sizeof(fake_metadata));
	for (uint32_t i = 0; i < NR_FAKE_CPUS; i++) {
		fake_metadata[i].forward = true;
		fake_cpus[i] = (struct cpu_rings){ .cpu = i,
						   .samples = &fake_samples[i],
						   .metadata = &fake_metadata[i],
						   .metadata_fd = -1 };
	}
}

static UNUSED struct build *fake_put(struct ring *ring)
{
	assert_true(ring->nr < MAX_FAKE_RECORDS);
	return &ring->records[ring->nr++];
}

static UNUSED void fake_sample(unsigned int cpu, uint32_t pid, uint32_t tid, uint64_t ip,
			       uint64_t time, uint16_t cpumode)
{
	struct build *build = fake_put(&fake_samples[cpu]);

	begin(build, PERF_RECORD_SAMPLE, cpumode);
	put(build, ip);
	put_pair(build, pid, tid);
	put(build, time);
	put_pair(build, cpu, 0);
	put(build, 250000);
	end(build);
}

/* ---- core/ring.h ---- */

size_t ring_available(const struct ring *ring)
{
	return ring->nr * sizeof(ring->records[0]);
}

size_t ring_read(struct ring *ring, struct ring_buffer *buffer)
{
	(void)buffer;
	ring->walk = 0;
	ring->nr_unread = 0;
	return ring_available(ring);
}

const struct perf_event_header *ring_next(struct ring *ring)
{
	size_t index;

	if (ring->walk == ring->nr) {
		size_t kept = ring->nr_unread;

		/* Read: only what was taken back is there the next time. */
		memmove(ring->records, ring->records + ring->nr - kept,
			kept * sizeof(ring->records[0]));
		ring->nr = kept;
		ring->walk = kept;
		ring->nr_unread = 0;
		return NULL;
	}
	index = ring->forward ? ring->walk : ring->nr - 1 - ring->walk;
	ring->walk++;
	return &ring->records[index].header;
}

void ring_unread(struct ring *ring)
{
	assert_false(ring->forward);
	ring->nr_unread = ring->walk;
}

void ring_buffer_release(struct ring_buffer *buffer)
{
	(void)buffer;
}

void ring_buffer_set_node(struct ring_buffer *buffer, unsigned int node)
{
	buffer->on_node = node + 1;
}

void ring_get_stats(const struct ring *ring, struct ring_stats *ret_stats)
{
	(void)ring;
	memset(ret_stats, 0, sizeof(*ret_stats));
}

/* ---- core/event_set.h ---- */

size_t event_set_nr_cpus(const struct event_set *set)
{
	(void)set;
	return NR_FAKE_CPUS;
}

struct cpu_rings *event_set_cpu(struct event_set *set, size_t index)
{
	(void)set;
	return &fake_cpus[index];
}

const struct record_format *event_set_sample_format(const struct event_set *set)
{
	(void)set;
	return &fake_sample_format;
}

const struct record_format *event_set_metadata_format(const struct event_set *set)
{
	(void)set;
	return &fake_metadata_format;
}

int event_set_index(const struct event_set *set, uint64_t id)
{
	(void)set;
	return id == 666 ? -1 : 0;
}

#endif /* SYMTOP_TESTS_FAKE_RINGS_H */
