/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data are read in large pieces and not mapped: a mapped file that is truncated by
 * somebody is a SIGBUS. A record points into its chunk and keeps it alive, so nothing is
 * copied but what lies across the end of a chunk, and what is not aligned: compressed
 * records (of perf before 6.16) have sizes that are no multiples of 8.
 *
 * Compressed records are pieces of one zstd stream; what they contain is a stream of
 * records that do not end where the pieces do.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/perf_data_private.h"

/*
 * A round of a recorder is one or a few of these. They are used again and again, so
 * that they stay in the cache and need no new pages.
 */
#define CHUNK_BYTES ((size_t)256 << 10)
#define MAX_FREE_CHUNKS 16
/* With less room than this decompressed bytes go to a new chunk. */
#define MIN_ROOM_BYTES ((size_t)16 << 10)

/* ---- chunks ---- */

/* NULL: no memory. */
static struct chunk *chunk_new(struct file_input *input, size_t size)
{
	struct chunk_pool *pool = &input->chunks;
	struct chunk *chunk = pool->free;

	if (chunk && size == CHUNK_BYTES) {
		pool->free = chunk->next_free;
		pool->nr_free--;
	} else {
		chunk = malloc(sizeof(*chunk) + size);
	}
	if (!chunk)
		return NULL;
	chunk->nr_refs = 1;
	chunk->size = size;
	chunk->pool = pool;
	pool->live_bytes += size;
	return chunk;
}

struct chunk *chunk_get(struct chunk *chunk)
{
	chunk->nr_refs++;
	return chunk;
}

void chunk_put(struct chunk *chunk)
{
	struct chunk_pool *pool;

	if (!chunk || --chunk->nr_refs)
		return;
	pool = chunk->pool;
	pool->live_bytes -= chunk->size;
	if (chunk->size != CHUNK_BYTES || pool->nr_free == MAX_FREE_CHUNKS) {
		free(chunk);
		return;
	}
	chunk->next_free = pool->free;
	pool->free = chunk;
	pool->nr_free++;
}

static void chunk_pool_release(struct chunk_pool *pool)
{
	while (pool->free) {
		struct chunk *chunk = pool->free;

		pool->free = chunk->next_free;
		free(chunk);
	}
}

static unsigned char *chunk_bytes(struct chunk *chunk)
{
	return (unsigned char *)chunk->words;
}

/* ---- streams ---- */

enum take { TAKE_RECORD, TAKE_MORE, TAKE_BAD };

static size_t stream_left(const struct stream *stream)
{
	return stream->len - stream->next;
}

static enum take stream_take(struct stream *stream, struct perf_event_header *ret_header,
			     const unsigned char **ret_bytes)
{
	size_t left = stream_left(stream);

	if (left < sizeof(*ret_header))
		return TAKE_MORE;
	*ret_bytes = chunk_bytes(stream->chunk) + stream->next;
	memcpy(ret_header, *ret_bytes, sizeof(*ret_header));
	if (ret_header->size < sizeof(*ret_header))
		return TAKE_BAD;
	if (left < ret_header->size)
		return TAKE_MORE;
	stream->next += ret_header->size;
	return TAKE_RECORD;
}

/* Room for more: what is left goes to the front of a new chunk. False: no memory. */
static bool stream_renew(struct file_input *input, struct stream *stream)
{
	struct chunk *chunk = chunk_new(input, CHUNK_BYTES);
	size_t left = stream_left(stream);

	if (!chunk)
		return false;
	if (left)
		memcpy(chunk->words, chunk_bytes(stream->chunk) + stream->next, left);
	chunk_put(stream->chunk);
	*stream = (struct stream){ .chunk = chunk, .len = left };
	return true;
}

/* ---- input ---- */

void file_input_init(struct file_input *input, int fd, uint64_t offset, uint64_t end)
{
	*input = (struct file_input){ .fd = fd, .start = offset, .offset = offset, .end = end };
}

void file_input_release(struct file_input *input)
{
	chunk_put(input->raw.chunk);
	chunk_put(input->inflated.chunk);
	chunk_put(input->compressed);
	chunk_put(input->aligned);
	zstd_stream_free(input->zstd);
	chunk_pool_release(&input->chunks);
	*input = (struct file_input){ .fd = -1 };
}

/* Where in the file the raw stream is. */
static uint64_t raw_offset(const struct file_input *input)
{
	return input->offset - stream_left(&input->raw);
}

/* There is no way to find the next record: the end. */
static bool stop(struct file_input *input, const char *what)
{
	uint64_t offset = raw_offset(input);
	uint64_t size = input->end - input->start;
	double share = size ? (double)(offset - input->start) / (double)size : 0;

	snprintf(input->trouble, sizeof(input->trouble),
		 "%s at byte %" PRIu64 ": the first %.4g%% of the data were used", what, offset,
		 100 * share);
	input->offset = input->end;
	input->raw.next = input->raw.len;
	input->inflated.next = input->inflated.len;
	input->compressed_next = input->compressed_end;
	return false;
}

/* True when there is more; false at the end, or for the reason in trouble. */
static bool refill_raw(struct file_input *input)
{
	struct stream *raw = &input->raw;
	size_t left = stream_left(raw);
	size_t wanted;
	ssize_t nr;

	if (input->offset >= input->end)
		return left ? stop(input, "the file ends within a record") : false;
	if (!stream_renew(input, raw))
		return stop(input, "no memory to read on");
	wanted = (size_t)MIN((uint64_t)(CHUNK_BYTES - left), input->end - input->offset);
	do
		nr = pread(input->fd, chunk_bytes(raw->chunk) + left, wanted, (off_t)input->offset);
	while (nr < 0 && errno == EINTR);
	if (nr < 0) {
		char what[128];
		struct err err = { 0 };

		err_set(&err, -errno, "reading failed");
		snprintf(what, sizeof(what), "%.127s", err.text);
		return stop(input, what);
	}
	/* It was longer when it was opened. */
	if (!nr)
		return stop(input, "the file was truncated");
	input->offset += (uint64_t)nr;
	raw->len += (size_t)nr;
	return true;
}

/* Bytes that follow a record and are none. */
static void skip_raw(struct file_input *input, uint64_t size)
{
	uint64_t left = stream_left(&input->raw);

	if (size <= left) {
		input->raw.next += (size_t)size;
		return;
	}
	input->raw.next = input->raw.len;
	size -= left;
	if (size > input->end - input->offset)
		stop(input, "the file ends within a record");
	else
		input->offset += size;
}

/* Auxiliary traces and formats of tracepoints follow their record. */
static uint64_t trailing_bytes(const struct perf_event_header *header, const unsigned char *bytes)
{
	uint64_t size = 0;
	uint32_t half;

	if (header->type == FILE_AUXTRACE && header->size >= sizeof(*header) + sizeof(size)) {
		memcpy(&size, bytes + sizeof(*header), sizeof(size));
	} else if (header->type == FILE_TRACING_DATA &&
		   header->size >= sizeof(*header) + sizeof(half)) {
		memcpy(&half, bytes + sizeof(*header), sizeof(half));
		size = ((uint64_t)half + 7) / 8 * 8;
	}
	return size;
}

/* Begin with the piece of the stream in a record. */
static bool start_inflating(struct file_input *input, const struct perf_event_header *header,
			    const unsigned char *bytes)
{
	const unsigned char *end = bytes + header->size;
	struct err err = { 0 };
	uint64_t size;

	bytes += sizeof(*header);
	if (header->type == FILE_COMPRESSED2) {
		if ((size_t)(end - bytes) < sizeof(size))
			return stop(input, "corrupt");
		memcpy(&size, bytes, sizeof(size));
		bytes += sizeof(size);
		if (size > (size_t)(end - bytes))
			return stop(input, "corrupt");
		end = bytes + size;
	}
	if (!input->zstd && zstd_stream_new(&input->zstd, &err) < 0)
		return stop(input, err.text);
	input->compressed = chunk_get(input->raw.chunk);
	input->compressed_next = bytes;
	input->compressed_end = end;
	return true;
}

/* Some more of it. Done with the piece when its bytes are used and there was room left. */
static bool inflate(struct file_input *input)
{
	struct stream *inflated = &input->inflated;
	struct chunk *chunk = inflated->chunk;
	size_t room, taken, made;
	const char *wrong;

	if ((!chunk || chunk->size - inflated->len < MIN_ROOM_BYTES) &&
	    !stream_renew(input, inflated))
		return stop(input, "no memory to read on");
	chunk = inflated->chunk;
	room = chunk->size - inflated->len;
	wrong = zstd_stream_read(input->zstd, input->compressed_next,
				 (size_t)(input->compressed_end - input->compressed_next),
				 chunk_bytes(chunk) + inflated->len, room, &taken, &made);
	if (wrong) {
		char what[128];

		snprintf(what, sizeof(what), "cannot be decompressed (%.80s)", wrong);
		return stop(input, what);
	}
	input->compressed_next += taken;
	inflated->len += made;
	if (made < room && (input->compressed_next == input->compressed_end || (!taken && !made))) {
		chunk_put(input->compressed);
		input->compressed = NULL;
	}
	return true;
}

/* A record out of what was decompressed. TAKE_MORE: nothing more is in there now. */
static enum take take_inflated(struct file_input *input, struct perf_event_header *header,
			       const unsigned char **ret_bytes)
{
	enum take take;

	for (;;) {
		take = stream_take(&input->inflated, header, ret_bytes);
		if (take != TAKE_MORE || !input->compressed)
			break;
		if (!inflate(input))
			return TAKE_BAD;
	}
	/* Neither is compressed twice, nor do other bytes stand between records. */
	if (take == TAKE_RECORD &&
	    (header->type == FILE_COMPRESSED || header->type == FILE_COMPRESSED2 ||
	     trailing_bytes(header, *ret_bytes)))
		take = TAKE_BAD;
	return take;
}

static enum take take_raw(struct file_input *input, struct perf_event_header *header,
			  const unsigned char **ret_bytes)
{
	enum take take;

	do
		take = stream_take(&input->raw, header, ret_bytes);
	while (take == TAKE_MORE && refill_raw(input));
	return take;
}

/* As the decoders want it. NULL: no memory. */
static const struct perf_event_header *align(struct file_input *input, const unsigned char *bytes,
					     size_t size, struct chunk **chunk)
{
	struct chunk *copy;

	if ((uintptr_t)bytes % 8 == 0)
		return (const void *)bytes;
	copy = chunk_new(input, size);
	if (!copy)
		return NULL;
	memcpy(copy->words, bytes, size);
	/* Borrowed until the next call, like the others. */
	chunk_put(input->aligned);
	input->aligned = copy;
	*chunk = copy;
	return (const void *)copy->words;
}

bool file_input_next(struct file_input *input, const struct perf_event_header **ret_header,
		     struct chunk **ret_chunk)
{
	struct perf_event_header header;
	const unsigned char *bytes = NULL;
	uint64_t trailing;
	enum take take;

	for (;;) {
		take = take_inflated(input, &header, &bytes);
		*ret_chunk = input->inflated.chunk;
		if (take == TAKE_MORE) {
			take = take_raw(input, &header, &bytes);
			*ret_chunk = input->raw.chunk;
		}
		if (take == TAKE_BAD && !input->trouble[0])
			stop(input, "corrupt");
		if (take != TAKE_RECORD)
			return false;
		if (header.type != FILE_COMPRESSED && header.type != FILE_COMPRESSED2)
			break;
		if (!start_inflating(input, &header, bytes))
			return false;
	}
	*ret_header = align(input, bytes, header.size, ret_chunk);
	if (!*ret_header)
		return stop(input, "no memory to read on");
	/* The record stays where it is: to skip moves no bytes. */
	trailing = trailing_bytes(&header, bytes);
	if (trailing)
		skip_raw(input, trailing);
	return true;
}
