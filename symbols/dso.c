/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 16 shards by key, each a chained hash table under its own mutex. References are
 * taken with an atomic add by whoever has one already; the step from one to none
 * is made under the shard's lock, so that a look-up can never revive a dso that
 * is being freed.
 *
 * Held files stand in one list of the table, in the order they were opened. When
 * there are too many, the oldest goes first; one whose dso was mapped again since
 * goes to the end instead, once (second chance): new processes keep the files they
 * use in the list without a lock on the path of each map.
 *
 * Lock order: a shard's lock and files_lock are never held together.
 */
#include "config.h"

#include "symbols/dso.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/base/mutex.h"
#include "symbols/dso_internal.h"

#define NR_SHARDS 16

struct shard {
	struct mutex lock;
	struct dso **buckets GUARDED_BY(lock);
	size_t nr_buckets GUARDED_BY(lock);
	size_t nr_dsos GUARDED_BY(lock);
};

struct dso_table {
	struct shard shards[NR_SHARDS];
	struct mutex files_lock;
	struct dso *oldest_file GUARDED_BY(files_lock);
	struct dso *newest_file GUARDED_BY(files_lock);
	uint64_t nr_files GUARDED_BY(files_lock);
};

/* No device has this number: the kernel's have 12 bits. */
#define BUILD_ID_DEVICE UINT32_MAX

void dso_key_set_build_id(struct dso_key *key, const unsigned char *id, size_t size)
{
	unsigned char padded[20] = { 0 };

	memcpy(padded, id, MIN(size, sizeof(padded)));
	*key = (struct dso_key){
		.kind = DSO_FILE,
		.dev_major = BUILD_ID_DEVICE,
		.owner = (uint32_t)MIN(size, sizeof(padded)),
	};
	memcpy(&key->inode, padded, 8);
	memcpy(&key->generation, padded + 8, 8);
	memcpy(&key->dev_minor, padded + 16, 4);
}

size_t dso_key_build_id(const struct dso_key *key, unsigned char ret_id[static 20])
{
	if (key->kind != DSO_FILE || key->dev_major != BUILD_ID_DEVICE)
		return 0;
	memcpy(ret_id, &key->inode, 8);
	memcpy(ret_id + 8, &key->generation, 8);
	memcpy(ret_id + 16, &key->dev_minor, 4);
	return key->owner;
}

struct dso_table *dso_table_new(void)
{
	struct dso_table *table = mem_zalloc(sizeof(*table));

	for (size_t i = 0; i < NR_SHARDS; i++) {
		struct shard *shard = &table->shards[i];

		mutex_init(&shard->lock);
		shard->nr_buckets = 64;
		shard->buckets = mem_calloc(shard->nr_buckets, sizeof(struct dso *));
	}
	mutex_init(&table->files_lock);
	return table;
}

void dso_table_free(struct dso_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < NR_SHARDS; i++) {
		free(table->shards[i].buckets);
		mutex_release(&table->shards[i].lock);
	}
	mutex_release(&table->files_lock);
	free(table);
}

/* Field by field: a key is made by hand, and padding need not be equal. */
static uint64_t key_hash(const struct dso_key *key)
{
	uint64_t hash = key->kind;

	hash = hash_combine(hash, (uint64_t)key->dev_major << 32 | key->dev_minor);
	hash = hash_combine(hash, key->owner);
	hash = hash_combine(hash, key->inode);
	return hash_combine(hash, key->generation);
}

static bool key_equal(const struct dso_key *a, const struct dso_key *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->generation == b->generation &&
	       a->kind == b->kind && a->owner == b->owner;
}

static struct shard *shard_of(struct dso_table *table, uint64_t hash)
{
	return &table->shards[hash >> 60];
}

static void shard_grow_locked(struct shard *shard) REQUIRES(shard->lock)
{
	size_t nr_buckets = 2 * shard->nr_buckets;
	struct dso **buckets = mem_calloc(nr_buckets, sizeof(*buckets));

	for (size_t i = 0; i < shard->nr_buckets; i++) {
		struct dso *dso = shard->buckets[i];

		while (dso) {
			struct dso *next = dso->next;
			struct dso **bucket = &buckets[dso->hash & (nr_buckets - 1)];

			dso->next = *bucket;
			*bucket = dso;
			dso = next;
		}
	}
	free(shard->buckets);
	shard->buckets = buckets;
	shard->nr_buckets = nr_buckets;
}

static struct dso *shard_find_locked(struct shard *shard, const struct dso_key *key, uint64_t hash)
	REQUIRES(shard->lock)
{
	struct dso *dso = shard->buckets[hash & (shard->nr_buckets - 1)];

	while (dso && (dso->hash != hash || !key_equal(&dso->key, key)))
		dso = dso->next;
	return dso;
}

/*
 * The kernel's " (deleted)" is left in the name: it is the mark the user needs,
 * and a file that is really called so keeps its name too.
 */
static struct str *name_new(const struct dso_key *key, const char *path)
{
	const char *slash;
	struct str *name;
	char *text;

	switch ((enum dso_kind)key->kind) {
	case DSO_KERNEL:
		return str_from("[kernel]");
	case DSO_VDSO:
		return str_from("[vdso]");
	case DSO_GENERATED:
		text = mem_printf("[JIT] %u", key->owner);
		name = str_from(text);
		free(text);
		return name;
	case DSO_FILE:
		slash = strrchr(path, '/');
		return str_from(slash && slash[1] ? slash + 1 : path);
	case DSO_UNKNOWN:
	case NR_DSO_KINDS:
		break;
	}
	return str_from("[unknown]");
}

static struct dso *shard_add_locked(struct dso_table *table, struct shard *shard,
				    const struct dso_key *key, uint64_t hash, const char *path,
				    uint32_t pid) REQUIRES(shard->lock)
{
	struct dso *dso = mem_zalloc(sizeof(*dso));
	struct dso **bucket;

	if (shard->nr_dsos >= shard->nr_buckets)
		shard_grow_locked(shard);
	bucket = &shard->buckets[hash & (shard->nr_buckets - 1)];
	dso->table = table;
	dso->hash = hash;
	dso->key = *key;
	dso->path = str_from(path);
	dso->name = name_new(key, path);
	dso->fd = -1;
	atomic_store_explicit(&dso->users[0], pid, memory_order_relaxed);
	dso->next = *bucket;
	*bucket = dso;
	shard->nr_dsos++;
	return dso;
}

struct dso *dso_table_get(struct dso_table *table, const struct dso_key *key, const char *path,
			  uint32_t pid, bool *ret_is_new)
{
	uint64_t hash = key_hash(key);
	struct shard *shard = shard_of(table, hash);
	struct dso *dso;
	bool is_new;

	mutex_lock(&shard->lock);
	dso = shard_find_locked(shard, key, hash);
	is_new = !dso;
	if (is_new)
		dso = shard_add_locked(table, shard, key, hash, path ? path : "", pid);
	else
		atomic_store_explicit(&dso->seen, true, memory_order_relaxed);
	atomic_fetch_add_explicit(&dso->nr_refs, 1, memory_order_relaxed);
	mutex_unlock(&shard->lock);
	if (ret_is_new)
		*ret_is_new = is_new;
	return dso;
}

struct dso *dso_get(struct dso *dso)
{
	atomic_fetch_add_explicit(&dso->nr_refs, 1, memory_order_relaxed);
	return dso;
}

static void shard_remove_locked(struct shard *shard, struct dso *dso) REQUIRES(shard->lock)
{
	struct dso **link = &shard->buckets[dso->hash & (shard->nr_buckets - 1)];

	while (*link != dso)
		link = &(*link)->next;
	*link = dso->next;
	shard->nr_dsos--;
}

static void dso_free(struct dso *dso)
{
	int fd = dso_steal_file(dso);

	if (fd >= 0)
		close(fd);
	if (dso->symbols.release)
		dso->symbols.release(dso);
	str_put(dso->path);
	str_put(dso->name);
	free(dso);
}

void dso_put(struct dso *dso)
{
	struct shard *shard;
	uint32_t nr_refs;
	bool last;

	if (!dso)
		return;
	nr_refs = atomic_load_explicit(&dso->nr_refs, memory_order_relaxed);
	while (nr_refs > 1) {
		/* Release: what was done through this reference came before. */
		if (atomic_compare_exchange_weak_explicit(&dso->nr_refs, &nr_refs, nr_refs - 1,
							  memory_order_release,
							  memory_order_relaxed))
			return;
	}
	shard = shard_of(dso->table, dso->hash);
	mutex_lock(&shard->lock);
	last = atomic_fetch_sub_explicit(&dso->nr_refs, 1, memory_order_acq_rel) == 1;
	if (last)
		shard_remove_locked(shard, dso);
	mutex_unlock(&shard->lock);
	if (last)
		dso_free(dso);
}

const struct dso_key *dso_key(const struct dso *dso)
{
	return &dso->key;
}

enum dso_kind dso_kind(const struct dso *dso)
{
	return (enum dso_kind)dso->key.kind;
}

struct str *dso_path(const struct dso *dso)
{
	return dso->path;
}

struct str *dso_name(const struct dso *dso)
{
	return dso->name;
}

void dso_note_user(struct dso *dso, uint32_t pid)
{
	uint32_t next;

	atomic_store_explicit(&dso->seen, true, memory_order_relaxed);
	for (size_t i = 0; i < NR_DSO_USERS; i++) {
		if (atomic_load_explicit(&dso->users[i], memory_order_relaxed) == pid)
			return;
	}
	next = atomic_fetch_add_explicit(&dso->next_user, 1, memory_order_relaxed);
	next = 1 + next % (NR_DSO_USERS - 1);
	atomic_store_explicit(&dso->users[next], pid, memory_order_relaxed);
}

size_t dso_users(const struct dso *dso, uint32_t ret_users[static NR_DSO_USERS])
{
	size_t nr = 0;

	for (size_t i = 0; i < NR_DSO_USERS; i++) {
		uint32_t pid = atomic_load_explicit(&dso->users[i], memory_order_relaxed);

		if (pid)
			ret_users[nr++] = pid;
	}
	return nr;
}

static void files_remove_locked(struct dso_table *table, struct dso *dso)
	REQUIRES(table->files_lock)
{
	struct dso **from_older =
		dso->older_file ? &dso->older_file->newer_file : &table->oldest_file;
	struct dso **from_newer =
		dso->newer_file ? &dso->newer_file->older_file : &table->newest_file;

	*from_older = dso->newer_file;
	*from_newer = dso->older_file;
	dso->older_file = NULL;
	dso->newer_file = NULL;
	table->nr_files--;
}

static void files_append_locked(struct dso_table *table, struct dso *dso)
	REQUIRES(table->files_lock)
{
	dso->older_file = table->newest_file;
	if (dso->older_file)
		dso->older_file->newer_file = dso;
	else
		table->oldest_file = dso;
	table->newest_file = dso;
	table->nr_files++;
}

/* The fd of the coldest, taken out of the list. There must be one. */
static int files_evict_locked(struct dso_table *table) REQUIRES(table->files_lock)
{
	struct dso *dso = table->oldest_file;
	int fd;

	for (uint64_t nr = table->nr_files; nr > 1; nr--) {
		if (!atomic_exchange_explicit(&dso->seen, false, memory_order_relaxed))
			break;
		files_remove_locked(table, dso);
		files_append_locked(table, dso);
		dso = table->oldest_file;
	}
	files_remove_locked(table, dso);
	fd = dso->fd;
	dso->fd = -1;
	return fd;
}

void dso_keep_file(struct dso *dso, int fd, unsigned int max)
{
	struct dso_table *table = dso->table;
	int evicted = -1;

	/* One more came, so one goes; @max does not change from call to call. */
	mutex_lock(&table->files_lock);
	if (table->nr_files >= max && table->nr_files)
		evicted = files_evict_locked(table);
	atomic_store_explicit(&dso->seen, false, memory_order_relaxed);
	dso->fd = fd;
	files_append_locked(table, dso);
	mutex_unlock(&table->files_lock);
	if (evicted >= 0)
		close(evicted);
}

int dso_steal_file(struct dso *dso)
{
	struct dso_table *table = dso->table;
	int fd;

	mutex_lock(&table->files_lock);
	fd = dso->fd;
	if (fd >= 0) {
		files_remove_locked(table, dso);
		dso->fd = -1;
	}
	mutex_unlock(&table->files_lock);
	return fd;
}

void dso_table_stats(struct dso_table *table, uint64_t *ret_nr_dsos, uint64_t *ret_nr_files)
{
	uint64_t nr_dsos = 0;

	for (size_t i = 0; i < NR_SHARDS; i++) {
		struct shard *shard = &table->shards[i];

		mutex_lock(&shard->lock);
		nr_dsos += shard->nr_dsos;
		mutex_unlock(&shard->lock);
	}
	mutex_lock(&table->files_lock);
	*ret_nr_files = table->nr_files;
	mutex_unlock(&table->files_lock);
	*ret_nr_dsos = nr_dsos;
}
