/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record is appended field by field, then its trailer, and its size is set last. Text
 * is cut where the kernel cuts it: readers, perf(1) among them, have room for so much
 * only, and no record comes near the 64 KiB that its size can tell.
 */
#include "config.h"

#include "core/record_write.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/mem.h"
#include "core/perf_data_private.h"

#define MAX_COMM_BYTES 15
#define MAX_PATH_BYTES (PATH_MAX - 1)

/* Of a build id in MMAP2: a byte for its size, three reserved ones, and the id. */
#define BUILD_ID_FIELD_BYTES 24

void record_buffer_release(struct record_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct record_buffer){ 0 };
}

/* @size zeroed bytes more. */
static unsigned char *extend(struct record_buffer *buffer, size_t size)
{
	size_t need = buffer->len + size;
	unsigned char *bytes;

	if (need > buffer->nr_allocated) {
		buffer->nr_allocated = MAX(need, MAX(2 * buffer->nr_allocated, (size_t)4096));
		buffer->bytes = mem_resize(buffer->bytes, buffer->nr_allocated, 1);
	}
	bytes = buffer->bytes + buffer->len;
	memset(bytes, 0, size);
	buffer->len = need;
	return bytes;
}

void record_buffer_add(struct record_buffer *buffer, const void *records, size_t len)
{
	if (len)
		memcpy(extend(buffer, len), records, len);
}

static void put_u32(struct record_buffer *buffer, uint32_t value)
{
	memcpy(extend(buffer, sizeof(value)), &value, sizeof(value));
}

static void put_u64(struct record_buffer *buffer, uint64_t value)
{
	memcpy(extend(buffer, sizeof(value)), &value, sizeof(value));
}

static void put_pair(struct record_buffer *buffer, uint32_t first, uint32_t second)
{
	put_u32(buffer, first);
	put_u32(buffer, second);
}

/* With a NUL, and padded to words. */
static void put_text(struct record_buffer *buffer, const char *text, size_t max_len)
{
	size_t len = strnlen(text, max_len);

	memcpy(extend(buffer, (len / 8 + 1) * 8), text, len);
}

/* ---- the frame ---- */

/* Where the record begins, for end(). */
static size_t begin(struct record_buffer *buffer, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { .type = type, .misc = misc };
	size_t start = buffer->len;

	memcpy(extend(buffer, sizeof(header)), &header, sizeof(header));
	return start;
}

static void set_size(struct record_buffer *buffer, size_t start)
{
	uint16_t size = (uint16_t)(buffer->len - start);

	memcpy(buffer->bytes + start + offsetof(struct perf_event_header, size), &size,
	       sizeof(size));
}

static void end(struct record_buffer *buffer, size_t start, const struct record_format *format,
		uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint64_t type = format->sample_id_all ? format->sample_type : 0;

	if (type & PERF_SAMPLE_TID)
		put_pair(buffer, pid, tid);
	if (type & PERF_SAMPLE_TIME)
		put_u64(buffer, time_ns);
	if (type & PERF_SAMPLE_ID)
		put_u64(buffer, 0);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_u64(buffer, 0);
	if (type & PERF_SAMPLE_CPU)
		put_pair(buffer, 0, 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put_u64(buffer, 0);
	set_size(buffer, start);
}

/* ---- records ---- */

void record_write_comm(struct record_buffer *buffer, const struct record_format *format,
		       uint32_t pid, uint32_t tid, const char *comm, bool exec, uint64_t time_ns)
{
	size_t start = begin(buffer, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

	put_pair(buffer, pid, tid);
	put_text(buffer, comm, MAX_COMM_BYTES);
	end(buffer, start, format, pid, tid, time_ns);
}

static void put_build_id(struct record_buffer *buffer, const struct map_fact *map)
{
	unsigned char *field = extend(buffer, BUILD_ID_FIELD_BYTES);

	field[0] = (unsigned char)MIN(map->build_id_size, BUILD_ID_FIELD_BYTES - 4);
	memcpy(field + 4, map->build_id, field[0]);
}

void record_write_mmap(struct record_buffer *buffer, const struct record_format *format,
		       uint32_t pid, const struct map_fact *map, uint64_t time_ns)
{
	uint16_t misc = PERF_RECORD_MISC_USER;
	size_t start;

	if (map->build_id_size)
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	start = begin(buffer, PERF_RECORD_MMAP2, misc);
	put_pair(buffer, pid, pid);
	put_u64(buffer, map->start);
	put_u64(buffer, map->end - map->start);
	put_u64(buffer, map->pgoff);
	if (map->build_id_size) {
		put_build_id(buffer, map);
	} else {
		put_pair(buffer, map->dev_major, map->dev_minor);
		put_u64(buffer, map->inode);
		put_u64(buffer, map->inode_generation);
	}
	put_pair(buffer, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	/* What has no name in /proc has this one in the kernel's records. */
	put_text(buffer, map->path[0] ? map->path : "//anon", MAX_PATH_BYTES);
	end(buffer, start, format, pid, pid, time_ns);
}

void record_write_kernel_mmap(struct record_buffer *buffer, const struct record_format *format,
			      uint64_t start, uint64_t len, uint64_t pgoff, const char *name,
			      uint64_t time_ns)
{
	size_t record = begin(buffer, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);

	put_pair(buffer, UINT32_MAX, 0);
	put_u64(buffer, start);
	put_u64(buffer, len);
	put_u64(buffer, pgoff);
	put_text(buffer, name, MAX_PATH_BYTES);
	end(buffer, record, format, UINT32_MAX, 0, time_ns);
}

void record_write_lost(struct record_buffer *buffer, const struct record_format *format,
		       uint64_t id, uint64_t nr, uint64_t time_ns)
{
	size_t start = begin(buffer, PERF_RECORD_LOST, 0);

	put_u64(buffer, id);
	put_u64(buffer, nr);
	end(buffer, start, format, 0, 0, time_ns);
}

/* Without a trailer: the kernel knows no such record. */
void record_write_finished_round(struct record_buffer *buffer)
{
	size_t start = begin(buffer, FILE_FINISHED_ROUND, 0);

	set_size(buffer, start);
}
