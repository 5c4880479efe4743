/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to core/perf_data*.c: the parts of a perf.data file's reader. */
#ifndef SYMTOP_CORE_PERF_DATA_PRIVATE_H
#define SYMTOP_CORE_PERF_DATA_PRIVATE_H

#include "core/base/mutex.h"
#include "core/event_ids.h"
#include "core/perf_data.h"

/* Types of records that only perf(1) writes. */
enum perf_data_type {
	FILE_ATTR = 64,
	FILE_TRACING_DATA = 66,
	FILE_BUILD_ID = 67,
	FILE_FINISHED_ROUND = 68,
	FILE_AUXTRACE = 71,
	FILE_EVENT_UPDATE = 78,
	FILE_FEATURE = 80,
	FILE_COMPRESSED = 81,
	FILE_COMPRESSED2 = 83,
};

#define FIRST_FILE_TYPE 64

#define PERF_DATA_MAGIC UINT64_C(0x32454c4946524550) /* "PERFILE2" */

/* Newer than the headers we may be built with. */
#define MISC_BUILD_ID_SIZE (1 << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE */

/* ---- how a file is laid out, for who reads and who writes it ---- */

#define NR_FEATURES 256

struct file_section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t magic;
	uint64_t size; /* of this; 16: from a pipe, and nothing follows */
	uint64_t attr_size;
	struct file_section attrs, data, event_types;
	uint64_t features[NR_FEATURES / 64];
};

enum feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_NUMA_TOPOLOGY = 14,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_CLOCKID = 23,
};

/* ---- perf_data_zstd.c: libzstd, opened when it is needed ---- */

struct zstd_stream;

/* Returns 0, or -ENOTSUP with a message when there is no usable library. */
int zstd_stream_new(struct zstd_stream **ret_stream, struct err *err) MUST_CHECK;
void zstd_stream_free(struct zstd_stream *stream); /* NULL is fine */

/*
 * Decompress from @input on, up to @input_size bytes, into @output. Sets how many bytes
 * were taken and made. Returns NULL, or what is wrong with the input.
 */
const char *zstd_stream_read(struct zstd_stream *stream, const void *input, size_t input_size,
			     void *output, size_t output_size, size_t *ret_taken,
			     size_t *ret_made) MUST_CHECK;

/* ---- perf_data_input.c: the bytes of the data, cut into records ---- */

/* Bytes that records lie in: free with the last of them. */
struct chunk {
	size_t nr_refs;
	size_t size;
	struct chunk_pool *pool;
	struct chunk *next_free;
	uint64_t words[]; /* the bytes, aligned */
};

/* The chunks of an input. It must outlive them. */
struct chunk_pool {
	uint64_t live_bytes; /* in use */
	struct chunk *free;
	size_t nr_free;
};

struct chunk *chunk_get(struct chunk *chunk);
void chunk_put(struct chunk *chunk); /* NULL is fine */

/* Records are taken from @next on, up to @len. */
struct stream {
	struct chunk *chunk; /* a reference; NULL: none yet */
	size_t next, len;
};

struct file_input {
	int fd;
	uint64_t offset, end; /* in the file: what is read next, where the data ends */
	uint64_t start;
	struct stream raw;
	struct stream inflated;
	struct zstd_stream *zstd; /* NULL: nothing was compressed yet */
	struct chunk *compressed; /* what is being decompressed; a reference, NULL: nothing */
	const unsigned char *compressed_next, *compressed_end;
	struct chunk *aligned; /* the last record that had to be copied; a reference */
	struct chunk_pool chunks;
	char trouble[384]; /* "": none */
};

/* @fd stays the caller's. */
void file_input_init(struct file_input *input, int fd, uint64_t offset, uint64_t end);
void file_input_release(struct file_input *input);

/*
 * The next record, aligned, in *@ret_chunk; both are borrowed until the next call, but
 * for who takes a reference of the chunk. Compressed records are replaced by what is in
 * them, and bytes between records are skipped. False at the end, be it one that
 * input->trouble gives a reason for.
 */
bool file_input_next(struct file_input *input, const struct perf_event_header **ret_header,
		     struct chunk **ret_chunk);

/* ---- perf_data_order.c: the records that wait for their turn ---- */

struct item {
	uint64_t time;
	const struct perf_event_header *header;
	struct chunk *chunk; /* a reference */
	size_t event;
};

struct item_list {
	struct item *items;
	size_t nr, nr_allocated;
};

struct order {
	struct item_list waiting;
	struct item_list ready; /* in order, taken from ready_next on */
	size_t ready_next;
	struct item *scratch;
	size_t nr_scratch;
	uint64_t newest_ns;   /* of all so far */
	uint64_t round_ns;    /* the newest of the round before this one */
	uint64_t released_ns; /* nothing older can still be put in its place */
	uint64_t nr_unsorted;
};

void order_release(struct order *order);

/* @item's chunk reference is taken over. Without a time it is ready at once. */
void order_add(struct order *order, const struct item *item);

/* A round is over: what is not younger than the one before it is complete, hence ready. */
void order_finish_round(struct order *order);

/* Too many wait: the older half is ready, whatever may still come. */
void order_release_half(struct order *order);

/* Nothing more will come. */
void order_finish(struct order *order);

/* The next one, or NULL when none is ready. */
const struct item *order_peek(const struct order *order);
void order_pop(struct order *order);

/* ---- perf_data_feature.c: what the file says of itself ---- */

/* Bytes of a feature that are read from the front on. */
struct blob {
	const unsigned char *next, *end;
	bool is_bad; /* asked for more than there is */
};

struct build_id_entry {
	uint64_t path_hash;
	char *path;
	unsigned char id[20];
	uint8_t size;
};

struct node_entry {
	uint32_t id;
	struct cpuset cpus;
};

struct features {
	char *host, *release, *version, *arch, *command; /* NULL: not known */
	unsigned int nr_cpus, nr_cpus_online;
	uint64_t first_ns, last_ns;
	char **event_names; /* by index; NULL where there is none */
	size_t nr_event_names;
	struct node_entry *nodes;
	size_t nr_nodes;
	struct mutex lock; /* a leaf */
	struct build_id_entry *build_ids GUARDED_BY(lock);
	size_t nr_build_ids GUARDED_BY(lock);
	size_t nr_build_ids_allocated GUARDED_BY(lock);
	bool build_ids_sorted GUARDED_BY(lock);
};

void features_init(struct features *features);

/* Parse feature @number. What is malformed or unknown is ignored. */
void features_add(struct features *features, unsigned int number, const void *bytes, size_t size);

/* A record of type FILE_BUILD_ID, also the contents of that feature. */
void features_add_build_id(struct features *features, const struct perf_event_header *header);

/* What is told of @path; its size, 0: nothing. Any thread. */
size_t features_build_id(struct features *features, const char *path,
			 unsigned char ret_id[static 20]);

void features_release(struct features *features);

/* ---- perf_data_attr.c: events and whose record is whose ---- */

struct attr_entry {
	char *name; /* NULL: none so far */
	struct perf_event_attr attr;
	struct record_format format;
};

struct attr_table {
	struct attr_entry *entries;
	size_t nr, nr_allocated;
	struct event_ids ids;
	size_t nr_ids;
	bool same_format; /* of all events */
	/* Of the last record: the next one is mostly out of the same ring. */
	uint64_t last_id; /* 0: none */
	int last_index;
};

/* Returns 0, or -E2BIG when there are too many events or ids. */
int attr_table_add(struct attr_table *table, const void *attr, size_t size, const void *ids,
		   size_t nr_ids) MUST_CHECK;
int attr_table_add_ids(struct attr_table *table, size_t index, const void *ids,
		       size_t nr_ids) MUST_CHECK;

/* A record of type FILE_ATTR, FILE_EVENT_UPDATE. */
int attr_table_add_record(struct attr_table *table,
			  const struct perf_event_header *header) MUST_CHECK;
void attr_table_update(struct attr_table *table, const struct perf_event_header *header);

/* Whose record it is and when it was. False when it is malformed. */
bool attr_table_identify(struct attr_table *table, const struct perf_event_header *header,
			 uint64_t *ret_time, size_t *ret_event);

void attr_table_release(struct attr_table *table);

#endif /* SYMTOP_CORE_PERF_DATA_PRIVATE_H */
