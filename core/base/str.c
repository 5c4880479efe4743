/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 64 shards, each a chained hash table under its own mutex. A reference is taken
 * with an atomic add by whoever has one already; the step from one to none is
 * made under the shard's lock, so that a look-up can never revive a string that
 * is being freed.
 */
#include "config.h"

#include "core/base/str.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/base/mutex.h"

#define NR_SHARDS 64

struct shard {
	struct mutex lock;
	struct str **buckets GUARDED_BY(lock);
	size_t nr_buckets GUARDED_BY(lock);
	size_t nr_strings GUARDED_BY(lock);
	uint64_t nr_bytes GUARDED_BY(lock);
};

static struct shard shards[NR_SHARDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_shards(void)
{
	for (size_t i = 0; i < NR_SHARDS; i++) {
		mutex_init(&shards[i].lock);
		shards[i].nr_buckets = 64;
		shards[i].buckets = mem_calloc(shards[i].nr_buckets, sizeof(struct str *));
	}
}

static struct shard *shard_of(uint64_t hash)
{
	return &shards[hash >> 58];
}

static void shard_grow_locked(struct shard *shard) REQUIRES(shard->lock)
{
	size_t nr_buckets = 2 * shard->nr_buckets;
	struct str **buckets = mem_calloc(nr_buckets, sizeof(*buckets));

	for (size_t i = 0; i < shard->nr_buckets; i++) {
		struct str *str = shard->buckets[i];

		while (str) {
			struct str *next = str->next;
			struct str **bucket = &buckets[str->hash & (nr_buckets - 1)];

			str->next = *bucket;
			*bucket = str;
			str = next;
		}
	}
	free(shard->buckets);
	shard->buckets = buckets;
	shard->nr_buckets = nr_buckets;
}

static struct str *shard_find_locked(struct shard *shard, const char *text, size_t len,
				     uint64_t hash) REQUIRES(shard->lock)
{
	struct str *str = shard->buckets[hash & (shard->nr_buckets - 1)];

	while (str && (str->hash != hash || str->len != len || memcmp(str->text, text, len)))
		str = str->next;
	return str;
}

static struct str *shard_add_locked(struct shard *shard, const char *text, size_t len,
				    uint64_t hash) REQUIRES(shard->lock)
{
	struct str *str = mem_zalloc(sizeof(*str) + len + 1);
	struct str **bucket;

	if (shard->nr_strings >= shard->nr_buckets)
		shard_grow_locked(shard);
	bucket = &shard->buckets[hash & (shard->nr_buckets - 1)];
	memcpy(str->text, text, len);
	str->len = (uint32_t)len;
	str->hash = hash;
	str->next = *bucket;
	*bucket = str;
	shard->nr_strings++;
	shard->nr_bytes += len;
	return str;
}

struct str *str_new(const char *text, size_t len)
{
	struct shard *shard;
	struct str *str;
	uint64_t hash;

	len = strnlen(text, len);
	hash = hash_bytes(text, len);
	pthread_once(&once, init_shards);
	shard = shard_of(hash);
	mutex_lock(&shard->lock);
	str = shard_find_locked(shard, text, len, hash);
	if (!str)
		str = shard_add_locked(shard, text, len, hash);
	atomic_fetch_add_explicit(&str->nr_refs, 1, memory_order_relaxed);
	mutex_unlock(&shard->lock);
	return str;
}

struct str *str_from(const char *text)
{
	return str_new(text, strlen(text));
}

struct str *str_get(struct str *str)
{
	atomic_fetch_add_explicit(&str->nr_refs, 1, memory_order_relaxed);
	return str;
}

static void shard_remove_locked(struct shard *shard, struct str *str) REQUIRES(shard->lock)
{
	struct str **link = &shard->buckets[str->hash & (shard->nr_buckets - 1)];

	while (*link != str)
		link = &(*link)->next;
	*link = str->next;
	shard->nr_strings--;
	shard->nr_bytes -= str->len;
}

void str_put(struct str *str)
{
	struct shard *shard;
	uint32_t nr_refs;
	bool last;

	if (!str)
		return;
	nr_refs = atomic_load_explicit(&str->nr_refs, memory_order_relaxed);
	while (nr_refs > 1) {
		/* Release: what was read through this reference came before. */
		if (atomic_compare_exchange_weak_explicit(&str->nr_refs, &nr_refs, nr_refs - 1,
							  memory_order_release,
							  memory_order_relaxed))
			return;
	}
	shard = shard_of(str->hash);
	mutex_lock(&shard->lock);
	last = atomic_fetch_sub_explicit(&str->nr_refs, 1, memory_order_acq_rel) == 1;
	if (last)
		shard_remove_locked(shard, str);
	mutex_unlock(&shard->lock);
	if (last)
		free(str);
}

void str_stats(uint64_t *ret_nr, uint64_t *ret_bytes)
{
	uint64_t nr = 0;
	uint64_t bytes = 0;

	pthread_once(&once, init_shards);
	for (size_t i = 0; i < NR_SHARDS; i++) {
		mutex_lock(&shards[i].lock);
		nr += shards[i].nr_strings;
		bytes += shards[i].nr_bytes;
		mutex_unlock(&shards[i].lock);
	}
	*ret_nr = nr;
	*ret_bytes = bytes;
}
