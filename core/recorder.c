/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records flow: stream's block -> open block -> queue (or kept) -> worker -> file.
 *
 * Many CPUs are drained often and have little each time: what a stream has at the end of
 * its drain is moved to the one open block, which many share, and the stream's own goes
 * back to the pool. When much comes, a stream's full block is passed on as it is: there is
 * one copy more per drain, none per block. Blocks are dense either way, up to OPEN_ROOM,
 * and records are in the file in the order in which they were handed over.
 *
 * Marks: whoever reads the file, perf too, gives out at a mark everything up to the youngest
 * time that it had seen at the mark before. So a mark with a cut may stand where the cut
 * is not older than that. The worker decides it when it writes, for only then is known
 * what is before it in the file: records of a flight recorder come behind the facts that
 * are made when it is asked for its last seconds, which are as young as that.
 *
 * The worker writes blocks of 256 KiB with pwrite(2). Measured with tests/bench/writers.c,
 * `writers FILE HOW KIB 2048`: 2 GiB to ext4 on a virtual disk, 2 CPUs, Linux 6.18, each
 * right after a `writers FILE pwrite 1024 2048` (memory that the host has taken back costs
 * more than all else), medians of three:
 *
 *                    256 KiB                      1 MiB
 *                    MB/s synced  CPU s held ms   MB/s synced  CPU s held ms
 *     pwrite         4244   2100   0.40     8.1   6390   2462   0.33     2.4
 *     aio, 4         4419   2073   0.47     4.2   5868   2435   0.38     2.4
 *     io_uring, 8    4375   2124   0.49     4.5   2526   1567   0.45    17.5
 *     O_DIRECT:
 *     pwrite         1674   1670   0.33     5.8   2259   2253   0.18     5.0
 *     aio, 4         1667   1667   0.34     6.2   2542   2535   0.15     5.0
 *     io_uring, 8    2000   2000   0.47     3.5   2429   2429   0.21     9.2
 *
 * (MB/s until all is handed to the kernel, and until fdatasync() returned; held: the
 * longest time in one call.) Through the page cache all are as fast, and pwrite(2) is
 * cheapest and simplest; that it holds its thread does not matter to one that has nothing
 * else to do. O_DIRECT saves a copy, but wants aligned pieces, which records are not, and
 * takes what it writes at the disk's speed. Blocks of 1 MiB save little, and are four times
 * as much to be held by each drain and to be dropped at once by a flight recorder.
 */
#include "config.h"

#include "core/recorder.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/mutex.h"
#include "core/base/worker.h"
#include "core/record_write.h"
#include "core/recorder_private.h"

#define WRITE_MAX_BYTES (UINT64_C(64) << 20)
#define MIN_BLOCKS 16 /* a flight recorder's are of an eighth of its time, or full */

/* An open block with less room is closed rather than filled up from a stream's full one. */
#define OPEN_ROOM (BLOCK_BYTES / 8)

struct recorder {
	_Atomic bool is_wanted; /* relaxed: who sees it late loses or brings some records */
	struct record_format format;
	uint64_t keep_ns;
	size_t max_blocks;
	unsigned char round[MARK_BYTES]; /* the record of a mark */
	struct record_stream *own;	 /* of the worker that calls */
	struct worker *worker;		 /* NULL: not started yet */

	/* The worker's, while a file is written. */
	struct perf_data_writer *writer;
	struct mark_order order;

	struct mutex lock;
	struct cond has_work, has_ended;
	bool should_end GUARDED_BY(lock);
	struct block_pool pool GUARDED_BY(lock);
	struct block_list queue GUARDED_BY(lock); /* to be written */
	struct block_list kept GUARDED_BY(lock);
	struct block *open GUARDED_BY(lock); /* last in the queue, or of the kept ones */
	struct perf_data_tail *tail GUARDED_BY(lock);
	uint64_t bytes_writing GUARDED_BY(lock);  /* by the worker, now */
	uint64_t kept_newest_ns GUARDED_BY(lock); /* of what is kept */
	uint64_t cut_ns GUARDED_BY(lock);	  /* what is still to come is younger */
	uint64_t nr_lost GUARDED_BY(lock), lost_ns GUARDED_BY(lock); /* for the next LOST record */
	struct recorder_figures
		figures GUARDED_BY(lock); /* those of a recording, and kept_is_cut */
};

struct record_stream {
	struct recorder *recorder;
	unsigned int on_node; /* counted from 1; 0: none was said */
	struct block *block;  /* during a drain */
};

/* ---- what is where ---- */

static bool is_on_locked(const struct recorder *recorder) REQUIRES(recorder->lock)
{
	return recorder->figures.state == RECORDER_ON;
}

static bool is_keeping_locked(const struct recorder *recorder) REQUIRES(recorder->lock)
{
	return recorder->keep_ns && !is_on_locked(recorder);
}

static bool wants_records_locked(const struct recorder *recorder) REQUIRES(recorder->lock)
{
	return recorder->keep_ns || is_on_locked(recorder);
}

static void set_state_locked(struct recorder *recorder, enum recorder_state state)
	REQUIRES(recorder->lock)
{
	recorder->figures.state = state;
	atomic_store_explicit(&recorder->is_wanted, wants_records_locked(recorder),
			      memory_order_relaxed);
}

/* Those that are older than keep_ns as a whole go. */
static void trim_locked(struct recorder *recorder) REQUIRES(recorder->lock)
{
	struct block_list *kept = &recorder->kept;

	while (kept->first && kept->first->newest_ns < recorder->kept_newest_ns &&
	       recorder->kept_newest_ns - kept->first->newest_ns > recorder->keep_ns) {
		block_pool_put(&recorder->pool, block_list_pop(kept));
		recorder->figures.kept_is_cut = false;
	}
}

/* Behind everything that was handed over. */
static void push_locked(struct recorder *recorder, struct block *block) REQUIRES(recorder->lock)
{
	if (is_on_locked(recorder)) {
		block_list_add(&recorder->queue, block);
		cond_signal(&recorder->has_work);
		return;
	}
	block_list_add(&recorder->kept, block);
	trim_locked(recorder);
}

static void close_open_locked(struct recorder *recorder) REQUIRES(recorder->lock)
{
	if (recorder->open)
		push_locked(recorder, recorder->open);
	recorder->open = NULL;
}

/* A flight recorder begins anew with what comes now. */
static void keep_anew_locked(struct recorder *recorder) REQUIRES(recorder->lock)
{
	recorder->kept_newest_ns = 0;
	recorder->figures.kept_is_cut = false;
}

/*
 * A LOST record for those that are not told of yet, into the open block. Only a round's
 * end makes a block for it (@is_due): a disk that stands still shall not make many.
 */
static void tell_lost_locked(struct recorder *recorder, bool is_due) REQUIRES(recorder->lock)
{
	uint64_t time_ns = MAX(recorder->lost_ns, recorder->cut_ns + 1);
	struct record_buffer buffer = { 0 };

	if (!recorder->nr_lost || !(recorder->open || is_due))
		return;
	record_write_lost(&buffer, &recorder->format, 0, recorder->nr_lost, time_ns);
	if (recorder->open && block_room(recorder->open) >= buffer.len) {
		block_add(recorder->open, buffer.bytes, buffer.len, 1, time_ns, NULL);
	} else if (is_due) {
		close_open_locked(recorder);
		push_locked(recorder, block_new_given(buffer.bytes, buffer.len, time_ns));
		buffer.bytes = NULL;
	} else {
		goto out;
	}
	recorder->kept_newest_ns = MAX(recorder->kept_newest_ns, time_ns);
	recorder->nr_lost = 0;
	recorder->lost_ns = 0;
out:
	record_buffer_release(&buffer);
}

static void count_lost_locked(struct recorder *recorder, uint64_t nr, uint64_t time_ns)
	REQUIRES(recorder->lock)
{
	if (!wants_records_locked(recorder))
		return;
	recorder->nr_lost += nr;
	recorder->lost_ns = MAX(recorder->lost_ns, time_ns);
}

static void count_dropped_locked(struct recorder *recorder, uint64_t nr, uint64_t time_ns)
	REQUIRES(recorder->lock)
{
	count_lost_locked(recorder, nr, time_ns);
	if (is_on_locked(recorder))
		recorder->figures.nr_dropped += nr;
}

/* ---- streams ---- */

struct record_stream *record_stream_new(struct recorder *recorder)
{
	struct record_stream *stream = mem_zalloc(sizeof(*stream));

	stream->recorder = recorder;
	return stream;
}

void record_stream_free(struct record_stream *stream)
{
	if (!stream)
		return;
	record_stream_flush(stream);
	free(stream);
}

void record_stream_set_node(struct record_stream *stream, unsigned int node)
{
	stream->on_node = node + 1;
}

bool record_stream_is_on(const struct record_stream *stream)
{
	return atomic_load_explicit(&stream->recorder->is_wanted, memory_order_relaxed);
}

/*
 * An empty block, or one that the caller may make; neither: all are in use. A flight
 * recorder leaves some for what comes while the first of the kept ones are written, and
 * takes the oldest of these when it has no more.
 */
static struct block *find_block_locked(struct recorder *recorder, unsigned int on_node,
				       bool *ret_may_grow) REQUIRES(recorder->lock)
{
	bool is_keeping = is_keeping_locked(recorder);
	size_t max = recorder->max_blocks - (is_keeping ? recorder->max_blocks / 8 : 0);
	struct block *block = block_pool_get(&recorder->pool, on_node, max, ret_may_grow);

	if (block || *ret_may_grow || !is_keeping || !recorder->kept.first)
		return block;
	block_pool_put(&recorder->pool, block_list_pop(&recorder->kept));
	recorder->figures.kept_is_cut = true;
	return block_pool_get(&recorder->pool, on_node, max, ret_may_grow);
}

/* False: none, and the @nr records for it count as dropped, if somebody wanted them. */
static bool take_block(struct record_stream *stream, size_t nr, uint64_t newest_ns)
{
	struct recorder *recorder = stream->recorder;
	bool may_grow = false;

	mutex_lock(&recorder->lock);
	if (wants_records_locked(recorder)) {
		stream->block = find_block_locked(recorder, stream->on_node, &may_grow);
		if (!stream->block && !may_grow)
			count_dropped_locked(recorder, nr, newest_ns);
	}
	mutex_unlock(&recorder->lock);
	if (!may_grow)
		return stream->block;
	stream->block = block_new(stream->on_node);
	if (stream->block)
		return true;
	mutex_lock(&recorder->lock);
	recorder->pool.nr--;
	count_dropped_locked(recorder, nr, newest_ns);
	mutex_unlock(&recorder->lock);
	return false;
}

/* Returns the block when it is the stream's still: there is room in it. */
static struct block *hand_over_locked(struct recorder *recorder, struct block *block, bool is_end)
	REQUIRES(recorder->lock)
{
	struct block *open = recorder->open;
	size_t len = block->len;

	recorder->kept_newest_ns = MAX(recorder->kept_newest_ns, block->newest_ns);
	if (open && block_room(open) >= MIN(len, OPEN_ROOM))
		block_move(open, block);
	if (!is_end && block->len < len)
		return block;
	if (!block->len) {
		block_pool_put(&recorder->pool, block);
		return NULL;
	}
	close_open_locked(recorder);
	block->oldest_ns = recorder->cut_ns;
	if (is_end)
		recorder->open = block;
	else
		push_locked(recorder, block);
	return NULL;
}

static void hand_over(struct record_stream *stream, bool is_end)
{
	struct recorder *recorder = stream->recorder;

	mutex_lock(&recorder->lock);
	if (wants_records_locked(recorder)) {
		stream->block = hand_over_locked(recorder, stream->block, is_end);
		tell_lost_locked(recorder, false);
	} else {
		block_pool_put(&recorder->pool, stream->block);
		stream->block = NULL;
	}
	mutex_unlock(&recorder->lock);
}

static void drop(struct record_stream *stream, size_t nr, uint64_t newest_ns)
{
	mutex_lock(&stream->recorder->lock);
	count_dropped_locked(stream->recorder, nr, newest_ns);
	mutex_unlock(&stream->recorder->lock);
}

void record_stream_add(struct record_stream *stream, const void *records, size_t len, size_t nr,
		       uint64_t newest_ns)
{
	const unsigned char *next = records;

	if (!record_stream_is_on(stream))
		return;
	while (len) {
		bool is_fresh = !stream->block;
		size_t nr_added, added;

		if (is_fresh && !take_block(stream, nr, newest_ns))
			return;
		added = block_add(stream->block, next, len, nr, newest_ns, &nr_added);
		next += added;
		len -= added;
		nr -= nr_added;
		/* A record fits in an empty block, so this is none. */
		if (!added && is_fresh) {
			drop(stream, nr, newest_ns);
			return;
		}
		if (len)
			hand_over(stream, false);
	}
}

void record_stream_flush(struct record_stream *stream)
{
	if (stream->block)
		hand_over(stream, true);
}

/* ---- the worker ---- */

static void discard_locked(struct recorder *recorder) REQUIRES(recorder->lock)
{
	struct block *block;

	while ((block = block_list_pop(&recorder->queue)))
		block_pool_put(&recorder->pool, block);
	if (!is_on_locked(recorder))
		return;
	if (recorder->open)
		block_pool_put(&recorder->pool, recorder->open);
	recorder->open = NULL;
	recorder->nr_lost = 0;
	recorder->lost_ns = 0;
	keep_anew_locked(recorder);
}

/* @failed: nothing more can be written, and that is why; NULL: all was written but the tail. */
static void end_file(struct recorder *recorder, const struct err *failed)
{
	struct perf_data_tail *tail = NULL;
	struct block *idle = NULL;
	struct err err = { 0 };

	if (!failed) {
		mutex_lock(&recorder->lock);
		tail = recorder->tail;
		mutex_unlock(&recorder->lock);
	}
	if (perf_data_writer_finish(recorder->writer, tail, &err) < 0 && !failed)
		failed = &err;
	recorder->writer = NULL;

	mutex_lock(&recorder->lock);
	discard_locked(recorder);
	tail = recorder->tail;
	recorder->tail = NULL;
	if (failed)
		snprintf(recorder->figures.trouble, sizeof(recorder->figures.trouble), "%.*s",
			 (int)sizeof(recorder->figures.trouble) - 1, failed->text);
	recorder->figures.nr_finished++;
	set_state_locked(recorder, RECORDER_OFF);
	if (!recorder->keep_ns)
		idle = block_pool_take_idle(&recorder->pool);
	cond_broadcast(&recorder->has_ended);
	mutex_unlock(&recorder->lock);
	perf_data_tail_free(tail);
	block_chain_free(idle);
}

static void write_block(struct recorder *recorder, struct block *block)
{
	bool is_given = block->is_given;
	struct err err = { 0 };
	int ret = 0;

	block_settle_marks(block, &recorder->order);
	if (block->len)
		ret = perf_data_writer_append(recorder->writer, block->bytes, block->len, &err);
	mutex_lock(&recorder->lock);
	recorder->bytes_writing = 0;
	recorder->figures.bytes_written = perf_data_writer_bytes(recorder->writer);
	if (!is_given)
		block_pool_put(&recorder->pool, block);
	mutex_unlock(&recorder->lock);
	/* What the caller made may be a hundred megabytes, which take their time to go. */
	if (is_given)
		block_free(block);
	if (ret < 0)
		end_file(recorder, &err);
}

/* Wait for something to do: a block to write, or (NULL) to end the file. False: end. */
static bool wait_for_work(struct recorder *recorder, struct block **ret_block)
{
	bool has_work;

	mutex_lock(&recorder->lock);
	while (!recorder->queue.first && recorder->figures.state != RECORDER_FINISHING &&
	       !recorder->should_end)
		cond_wait(&recorder->has_work, &recorder->lock);
	*ret_block = block_list_pop(&recorder->queue);
	recorder->bytes_writing = *ret_block ? (*ret_block)->len : 0;
	has_work = *ret_block || recorder->figures.state == RECORDER_FINISHING;
	mutex_unlock(&recorder->lock);
	return has_work;
}

static void run(void *arg)
{
	struct recorder *recorder = arg;
	struct block *block;

	while (wait_for_work(recorder, &block)) {
		if (block)
			write_block(recorder, block);
		else
			end_file(recorder, NULL);
	}
}

static int start_worker(struct recorder *recorder, struct err *err)
{
	if (recorder->worker)
		return 0;
	return worker_start("symtop/record", run, recorder, &recorder->worker, err);
}

/* ---- making ---- */

static size_t max_blocks(const struct recorder_options *options)
{
	uint64_t bytes = options->max_bytes;

	if (!bytes && options->keep_ns)
		bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 8;
	else if (!bytes)
		bytes = WRITE_MAX_BYTES;
	return MAX(bytes / BLOCK_BYTES, MIN_BLOCKS);
}

static void make_round(struct recorder *recorder)
{
	struct record_buffer buffer = { 0 };

	record_write_finished_round(&buffer);
	memcpy(recorder->round, buffer.bytes, MARK_BYTES);
	record_buffer_release(&buffer);
}

int recorder_new(const struct recorder_options *options, struct recorder **ret_recorder,
		 struct err *err)
{
	struct recorder *recorder = mem_zalloc(sizeof(*recorder));
	int ret = 0;

	recorder->format = options->format;
	recorder->keep_ns = options->keep_ns;
	recorder->max_blocks = max_blocks(options);
	make_round(recorder);
	mutex_init(&recorder->lock);
	cond_init(&recorder->has_work);
	cond_init(&recorder->has_ended);
	recorder->own = record_stream_new(recorder);
	atomic_init(&recorder->is_wanted, recorder->keep_ns > 0);
	if (recorder->keep_ns)
		ret = start_worker(recorder, err);
	if (ret < 0) {
		recorder_free(recorder);
		return ret;
	}
	*ret_recorder = recorder;
	return 0;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	record_stream_free(recorder->own);
	recorder_stop(recorder, NULL);
	mutex_lock(&recorder->lock);
	recorder->should_end = true;
	cond_signal(&recorder->has_work);
	mutex_unlock(&recorder->lock);
	worker_join(recorder->worker);
	block_chain_free(recorder->kept.first);
	block_free(recorder->open);
	block_chain_free(block_pool_take_idle(&recorder->pool));
	cond_release(&recorder->has_work);
	cond_release(&recorder->has_ended);
	mutex_release(&recorder->lock);
	free(recorder);
}

/* ---- recordings ---- */

/* How many records, and the youngest time in them. */
static size_t look_at_records(const struct record_format *format, const unsigned char *records,
			      size_t len, uint64_t *ret_newest_ns)
{
	size_t nr = 0;

	*ret_newest_ns = 0;
	for (size_t at = 0; len - at >= sizeof(struct perf_event_header); nr++) {
		const struct perf_event_header *header = (const void *)(records + at);
		struct record_id id;

		if (header->size < sizeof(*header) || header->size > len - at)
			break;
		if (record_decode_id(format, header, &id) && id.time != UINT64_MAX)
			*ret_newest_ns = MAX(*ret_newest_ns, id.time);
		at += header->size;
	}
	return nr;
}

static void start_locked(struct recorder *recorder, struct perf_data_writer *writer,
			 struct block *first) REQUIRES(recorder->lock)
{
	struct recorder_figures *figures = &recorder->figures;

	close_open_locked(recorder);
	recorder->writer = writer;
	recorder->order = (struct mark_order){ 0 };
	if (first)
		block_list_add(&recorder->queue, first);
	block_list_append(&recorder->queue, &recorder->kept);
	*figures = (struct recorder_figures){
		.nr_finished = figures->nr_finished,
		.kept_is_cut = figures->kept_is_cut,
		.bytes_written = perf_data_writer_bytes(writer),
	};
	set_state_locked(recorder, RECORDER_ON);
	cond_signal(&recorder->has_work);
}

int recorder_start(struct recorder *recorder, struct perf_data_writer *writer, void *records,
		   size_t len, struct err *err)
{
	struct block *first = NULL;
	uint64_t newest_ns;
	bool is_busy;
	int ret;

	mutex_lock(&recorder->lock);
	is_busy = recorder->figures.state != RECORDER_OFF;
	mutex_unlock(&recorder->lock);
	if (is_busy)
		return err_say(err, -EBUSY, "a recording is under way");
	ret = start_worker(recorder, err);
	if (ret < 0)
		return ret;
	if (records) {
		look_at_records(&recorder->format, records, len, &newest_ns);
		first = block_new_given(records, len, newest_ns);
	}
	mutex_lock(&recorder->lock);
	start_locked(recorder, writer, first);
	mutex_unlock(&recorder->lock);
	return 0;
}

/* Whatever the disk does: into the open block or as a block of its own. */
static bool add_to_file(struct recorder *recorder, void *records, size_t len, size_t nr,
			uint64_t newest_ns)
{
	bool is_on;

	mutex_lock(&recorder->lock);
	is_on = is_on_locked(recorder);
	if (is_on && recorder->open && block_room(recorder->open) >= len) {
		block_add(recorder->open, records, len, nr, newest_ns, NULL);
		free(records);
	} else if (is_on) {
		close_open_locked(recorder);
		push_locked(recorder, block_new_given(records, len, newest_ns));
	}
	mutex_unlock(&recorder->lock);
	return is_on;
}

void recorder_add(struct recorder *recorder, void *records, size_t len)
{
	uint64_t newest_ns;
	size_t nr;

	nr = look_at_records(&recorder->format, records, len, &newest_ns);
	if (add_to_file(recorder, records, len, nr, newest_ns))
		return;
	record_stream_add(recorder->own, records, len, nr, newest_ns);
	record_stream_flush(recorder->own);
	free(records);
}

void recorder_add_lost(struct recorder *recorder, uint64_t nr, uint64_t time_ns)
{
	mutex_lock(&recorder->lock);
	count_lost_locked(recorder, nr, time_ns);
	mutex_unlock(&recorder->lock);
}

/* In the last block, or in one of its own. */
static void mark_file_locked(struct recorder *recorder) REQUIRES(recorder->lock)
{
	struct block *last;
	size_t len;
	void *round;

	close_open_locked(recorder);
	last = recorder->queue.last;
	len = last ? last->len : 0;
	if (last && block_add_mark(last, recorder->round, recorder->cut_ns)) {
		recorder->queue.bytes += last->len - len;
		return;
	}
	round = mem_zalloc(MARK_BYTES);
	last = block_new_given(round, 0, 0);
	last->size = MARK_BYTES;
	block_add_mark(last, recorder->round, recorder->cut_ns);
	push_locked(recorder, last);
}

/*
 * A block that spans much time would keep more alive than is asked for; so would one of the
 * first round, of which nobody knows how old it is.
 */
static bool is_long_locked(const struct recorder *recorder, const struct block *block)
	REQUIRES(recorder->lock)
{
	if (!block->oldest_ns)
		return recorder->cut_ns > 0;
	return block->newest_ns > block->oldest_ns &&
	       block->newest_ns - block->oldest_ns > recorder->keep_ns / 8;
}

static void mark_kept_locked(struct recorder *recorder) REQUIRES(recorder->lock)
{
	if (!recorder->open)
		return;
	block_add_mark(recorder->open, recorder->round, recorder->cut_ns);
	if (is_long_locked(recorder, recorder->open))
		close_open_locked(recorder);
}

void recorder_end_round(struct recorder *recorder, uint64_t cut_ns)
{
	mutex_lock(&recorder->lock);
	if (is_on_locked(recorder)) {
		tell_lost_locked(recorder, true);
		recorder->cut_ns = MAX(recorder->cut_ns, cut_ns);
		mark_file_locked(recorder);
	} else {
		tell_lost_locked(recorder, false);
		recorder->cut_ns = MAX(recorder->cut_ns, cut_ns);
		mark_kept_locked(recorder);
	}
	mutex_unlock(&recorder->lock);
}

void recorder_stop(struct recorder *recorder, struct perf_data_tail *tail)
{
	mutex_lock(&recorder->lock);
	if (is_on_locked(recorder)) {
		tell_lost_locked(recorder, true);
		close_open_locked(recorder);
		recorder->tail = tail;
		tail = NULL;
		keep_anew_locked(recorder);
		set_state_locked(recorder, RECORDER_FINISHING);
		cond_signal(&recorder->has_work);
	}
	mutex_unlock(&recorder->lock);
	/* It has ended by itself. */
	perf_data_tail_free(tail);
}

void recorder_wait(struct recorder *recorder)
{
	mutex_lock(&recorder->lock);
	while (recorder->figures.state == RECORDER_FINISHING)
		cond_wait(&recorder->has_ended, &recorder->lock);
	mutex_unlock(&recorder->lock);
}

static const struct block *oldest_kept_locked(const struct recorder *recorder)
	REQUIRES(recorder->lock)
{
	if (!is_keeping_locked(recorder))
		return NULL;
	return recorder->kept.first ? recorder->kept.first : recorder->open;
}

uint64_t recorder_oldest_ns(struct recorder *recorder)
{
	const struct block *oldest;
	uint64_t oldest_ns;

	if (!recorder->keep_ns)
		return UINT64_MAX;
	mutex_lock(&recorder->lock);
	oldest = oldest_kept_locked(recorder);
	oldest_ns = oldest ? oldest->oldest_ns : recorder->cut_ns;
	mutex_unlock(&recorder->lock);
	return oldest_ns;
}

/* In the first round nobody knows how old records may be: then the block's youngest counts. */
static uint64_t kept_ns_locked(const struct recorder *recorder, const struct block *oldest)
	REQUIRES(recorder->lock)
{
	uint64_t oldest_ns = oldest->oldest_ns ? oldest->oldest_ns : oldest->newest_ns;

	return recorder->kept_newest_ns > oldest_ns ? recorder->kept_newest_ns - oldest_ns : 0;
}

void recorder_get_figures(struct recorder *recorder, struct recorder_figures *ret_figures)
{
	const struct block *oldest;
	uint64_t open_bytes;

	mutex_lock(&recorder->lock);
	*ret_figures = recorder->figures;
	open_bytes = recorder->open ? recorder->open->len : 0;
	ret_figures->bytes_waiting = recorder->queue.bytes + recorder->bytes_writing;
	if (is_on_locked(recorder))
		ret_figures->bytes_waiting += open_bytes;
	oldest = oldest_kept_locked(recorder);
	if (oldest) {
		ret_figures->kept_ns = kept_ns_locked(recorder, oldest);
		ret_figures->kept_bytes = recorder->kept.bytes + open_bytes;
	}
	mutex_unlock(&recorder->lock);
}
