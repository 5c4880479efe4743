/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open-addressing index of 32-bit ranks into an array of tuples; chains lie in
 * one arena. Cleared by a memset of the index, or entry by entry when few are in it: a
 * recording's tally is cleared often. Chains are compared by their hash first and in full
 * then, so that two chains are never taken for one.
 */
#include "config.h"

#include "core/tally.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"

#define NO_TUPLE UINT32_MAX

struct tally {
	struct tuple *tuples;
	size_t nr;
	size_t nr_allocated;
	uint64_t *ips;
	size_t nr_ips;
	size_t nr_ips_allocated;
	uint32_t *index;
	size_t nr_index; /* a power of two, at least twice nr */
};

static void clear_index(struct tally *tally)
{
	memset(tally->index, 0xff, tally->nr_index * sizeof(*tally->index));
}

struct tally *tally_new(void)
{
	struct tally *tally = mem_zalloc(sizeof(*tally));

	tally->nr_index = 4096;
	tally->index = mem_calloc(tally->nr_index, sizeof(*tally->index));
	clear_index(tally);
	return tally;
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	free(tally->tuples);
	free(tally->ips);
	free(tally->index);
	free(tally);
}

static void clear_slot_of(struct tally *tally, size_t index)
{
	size_t slot = tally->tuples[index].hash & (tally->nr_index - 1);

	/* Past free slots too: those before it may have been cleared. */
	while (tally->index[slot] != index)
		slot = (slot + 1) & (tally->nr_index - 1);
	tally->index[slot] = NO_TUPLE;
}

void tally_clear(struct tally *tally)
{
	if (tally->nr > tally->nr_index / 64) {
		clear_index(tally);
	} else {
		for (size_t i = 0; i < tally->nr; i++)
			clear_slot_of(tally, i);
	}
	tally->nr = 0;
	tally->nr_ips = 0;
}

static uint64_t hash_sample(const struct tuple *sample, const uint64_t *ips)
{
	uint64_t hash = hash_combine(sample->ip, (uint64_t)sample->tid << 32 | sample->cpu);

	hash ^= (uint64_t)sample->event << 48 | (uint64_t)sample->cpumode << 40;
	for (uint32_t i = 0; i < sample->nr_chain; i++)
		hash = (hash ^ ips[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return hash_u64(hash);
}

static bool is_same(const struct tally *tally, const struct tuple *a, const struct tuple *b,
		    uint64_t hash, const uint64_t *b_ips)
{
	return a->hash == hash && a->ip == b->ip && a->tid == b->tid && a->pid == b->pid &&
	       a->cpu == b->cpu && a->event == b->event && a->cpumode == b->cpumode &&
	       a->nr_chain == b->nr_chain && !a->separate &&
	       (!b->nr_chain ||
		!memcmp(tally->ips + a->chain, b_ips, b->nr_chain * sizeof(*b_ips)));
}

static void grow_index(struct tally *tally)
{
	tally->nr_index *= 2;
	tally->index = mem_resize(tally->index, tally->nr_index, sizeof(*tally->index));
	clear_index(tally);
	for (size_t i = 0; i < tally->nr; i++) {
		size_t slot = tally->tuples[i].hash & (tally->nr_index - 1);

		while (tally->index[slot] != NO_TUPLE)
			slot = (slot + 1) & (tally->nr_index - 1);
		tally->index[slot] = (uint32_t)i;
	}
}

static struct tuple *append(struct tally *tally, const struct tuple *sample, uint64_t hash,
			    const uint64_t *ips)
{
	struct tuple *tuple;

	mem_grow(tally->tuples, tally->nr, tally->nr_allocated);
	while (tally->nr_ips + sample->nr_chain > tally->nr_ips_allocated) {
		tally->nr_ips_allocated = MAX((size_t)8192, 2 * tally->nr_ips_allocated);
		tally->ips = mem_resize(tally->ips, tally->nr_ips_allocated, sizeof(*ips));
	}
	tuple = &tally->tuples[tally->nr++];
	*tuple = *sample;
	tuple->hash = hash;
	tuple->chain = tally->nr_ips;
	tuple->nr_samples = 0;
	tuple->period = 0;
	if (sample->nr_chain)
		memcpy(tally->ips + tally->nr_ips, ips, sample->nr_chain * sizeof(*ips));
	tally->nr_ips += sample->nr_chain;
	return tuple;
}

static struct tuple *find_or_append(struct tally *tally, const struct tuple *sample,
				    const uint64_t *ips)
{
	uint64_t hash = hash_sample(sample, ips);
	size_t slot = hash & (tally->nr_index - 1);
	struct tuple *tuple;

	for (; tally->index[slot] != NO_TUPLE; slot = (slot + 1) & (tally->nr_index - 1)) {
		tuple = &tally->tuples[tally->index[slot]];
		if (!sample->separate && is_same(tally, tuple, sample, hash, ips))
			return tuple;
	}
	tally->index[slot] = (uint32_t)tally->nr;
	tuple = append(tally, sample, hash, ips);
	if (tally->nr * 2 > tally->nr_index)
		grow_index(tally);
	return tuple;
}

void tally_add(struct tally *tally, const struct tuple *sample, const uint64_t *ips,
	       uint64_t period)
{
	struct tuple *tuple = find_or_append(tally, sample, ips);

	tuple->nr_samples++;
	tuple->period += period;
}

void tally_add_tuple(struct tally *tally, const struct tuple *other, const uint64_t *ips)
{
	struct tuple *tuple = find_or_append(tally, other, ips);

	tuple->nr_samples += other->nr_samples;
	tuple->period += other->period;
}

size_t tally_nr(const struct tally *tally)
{
	return tally->nr;
}

const struct tuple *tally_at(const struct tally *tally, size_t index)
{
	return &tally->tuples[index];
}

const uint64_t *tally_chain(const struct tally *tally, const struct tuple *tuple)
{
	return tally->ips + tuple->chain;
}
