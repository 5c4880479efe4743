/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two callers drain: the worker, when a ring is half full or a short while has
 * passed, and the collector, which needs everything up to a tick's cut. Both go
 * through one mutex that guards rings, buffers and the records held back; no file is
 * touched under it.
 *
 * Rings are read one after the other, so the records of a drain are copied together
 * and sorted; each ring is in order by itself and few CPUs have any, so this is cheap.
 */
#include "config.h"

#include "core/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/mutex.h"
#include "core/base/worker.h"
#include "core/record.h"
#include "core/record_apply.h"
#include "core/ring.h"

/*
 * How long a record may lie when no ring is half full: long enough to cost nothing,
 * short enough that the file of a short-lived program is still there to be opened.
 */
#define IDLE_WAIT_MS 100
#define BUSY_WAIT_MS 20

#define STOP_FD UINT64_MAX

struct held {
	uint64_t time;
	uint64_t sequence; /* arrival: keeps the order of one ring among equal times */
	size_t offset;	   /* into bytes */
};

struct metadata {
	struct metadata_options options;
	struct worker *worker;
	int epoll_fd;
	int stop_fd;
	atomic_bool stop;
	struct mutex lock; /* before the thread table's locks */
	struct ring_buffer buffer GUARDED_BY(lock);
	struct record_stream *stream GUARDED_BY(lock); /* NULL: nobody records */
	unsigned char *bytes GUARDED_BY(lock);	       /* records read and not yet applied */
	size_t nr_bytes GUARDED_BY(lock);
	size_t nr_bytes_allocated GUARDED_BY(lock);
	struct held *held GUARDED_BY(lock);
	size_t nr_held GUARDED_BY(lock);
	size_t nr_held_allocated GUARDED_BY(lock);
	uint64_t sequence GUARDED_BY(lock);
	uint32_t *execs GUARDED_BY(lock); /* to be looked at, once the lock is released */
	size_t nr_execs GUARDED_BY(lock);
	size_t nr_execs_allocated GUARDED_BY(lock);
	struct metadata_figures figures GUARDED_BY(lock);
};

static void apply_locked(struct metadata *metadata, const struct record *record)
	REQUIRES(metadata->lock)
{
	const struct record_sink sink = {
		.table = metadata->options.table,
		.symbolizer = metadata->options.symbolizer,
		.kernel = metadata->options.kernel,
	};

	record_apply(&sink, record);
	if (record->type == PERF_RECORD_LOST)
		metadata->figures.nr_lost += record->lost.nr;
	if (record->type == PERF_RECORD_COMM && record->comm.exec && metadata->options.synth) {
		mem_grow(metadata->execs, metadata->nr_execs, metadata->nr_execs_allocated);
		metadata->execs[metadata->nr_execs++] = record->comm.pid;
	}
}

static void keep_locked(struct metadata *metadata, const struct perf_event_header *header,
			uint64_t time) REQUIRES(metadata->lock)
{
	struct held *held;

	while (metadata->nr_bytes + header->size > metadata->nr_bytes_allocated) {
		metadata->nr_bytes_allocated = MAX((size_t)65536, 2 * metadata->nr_bytes_allocated);
		metadata->bytes = mem_resize(metadata->bytes, metadata->nr_bytes_allocated, 1);
	}
	mem_grow(metadata->held, metadata->nr_held, metadata->nr_held_allocated);
	held = &metadata->held[metadata->nr_held++];
	held->time = time;
	held->sequence = metadata->sequence++;
	held->offset = metadata->nr_bytes;
	memcpy(metadata->bytes + metadata->nr_bytes, header, header->size);
	metadata->nr_bytes += header->size;
}

/*
 * We never ask for build ids; but while somebody else does, the kernel says that our records
 * have them, too (see core/record.c). Who reads a recording of ours must not believe it.
 */
static void correct(const struct perf_event_header *header)
{
	/* It lies in our own copy of the ring. */
	struct perf_event_header *own = (void *)(uintptr_t)header;

	if (own->type == PERF_RECORD_MMAP2)
		own->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
}

static void read_ring_locked(struct metadata *metadata, struct ring *ring) REQUIRES(metadata->lock)
{
	const struct record_format *format = event_set_metadata_format(metadata->options.events);
	const struct perf_event_header *header;
	bool records = metadata->stream && record_stream_is_on(metadata->stream);

	if (!ring_available(ring))
		return;
	ring_read(ring, &metadata->buffer);
	while ((header = ring_next(ring))) {
		struct record_id id;

		metadata->figures.nr_records++;
		if (!record_decode_id(format, header, &id)) {
			metadata->figures.nr_malformed++;
			continue;
		}
		correct(header);
		keep_locked(metadata, header, id.time);
		if (records)
			record_stream_add(metadata->stream, header, header->size, 1, id.time);
	}
}

static int compare_held(const void *a, const void *b)
{
	const struct held *left = a;
	const struct held *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->sequence < right->sequence ? -1 : 1;
}

static void apply_held_locked(struct metadata *metadata, size_t index) REQUIRES(metadata->lock)
{
	const struct record_format *format = event_set_metadata_format(metadata->options.events);
	const void *header = metadata->bytes + metadata->held[index].offset;
	struct record record;

	switch (record_decode(format, header, &record)) {
	case RECORD_OK:
		apply_locked(metadata, &record);
		break;
	case RECORD_UNKNOWN:
		metadata->figures.nr_unknown++;
		break;
	case RECORD_MALFORMED:
		metadata->figures.nr_malformed++;
		break;
	}
}

/* Move the records that were too young to the front. */
static void compact_locked(struct metadata *metadata, size_t nr_applied) REQUIRES(metadata->lock)
{
	size_t nr_left = metadata->nr_held - nr_applied;
	unsigned char *bytes;
	size_t nr_bytes = 0;

	if (!nr_applied)
		return;
	if (!nr_left) {
		metadata->nr_held = 0;
		metadata->nr_bytes = 0;
		return;
	}
	bytes = mem_calloc(metadata->nr_bytes_allocated, 1);
	for (size_t i = 0; i < nr_left; i++) {
		struct held *held = &metadata->held[i];
		const struct perf_event_header *header;

		*held = metadata->held[nr_applied + i];
		header = (const void *)(metadata->bytes + held->offset);
		memcpy(bytes + nr_bytes, header, header->size);
		held->offset = nr_bytes;
		nr_bytes += header->size;
	}
	free(metadata->bytes);
	metadata->bytes = bytes;
	metadata->nr_bytes = nr_bytes;
	metadata->nr_held = nr_left;
}

static size_t drain_locked(struct metadata *metadata, uint64_t cut_ns) REQUIRES(metadata->lock)
{
	struct event_set *events = metadata->options.events;
	size_t nr_applied = 0;

	for (size_t i = 0; i < event_set_nr_cpus(events); i++) {
		struct cpu_rings *cpu = event_set_cpu(events, i);

		if (cpu->metadata)
			read_ring_locked(metadata, cpu->metadata);
	}
	if (metadata->stream)
		record_stream_flush(metadata->stream);
	if (!metadata->nr_held)
		return 0;
	qsort(metadata->held, metadata->nr_held, sizeof(*metadata->held), compare_held);
	while (nr_applied < metadata->nr_held && metadata->held[nr_applied].time <= cut_ns)
		apply_held_locked(metadata, nr_applied++);
	compact_locked(metadata, nr_applied);
	return nr_applied;
}

/* Drain, and ask for what is to be looked at without the lock. Returns the records applied. */
static size_t drain(struct metadata *metadata, uint64_t cut_ns)
{
	uint32_t *execs;
	size_t nr_applied, nr_execs;

	mutex_lock(&metadata->lock);
	nr_applied = drain_locked(metadata, cut_ns) + metadata->nr_held;
	execs = metadata->execs;
	nr_execs = metadata->nr_execs;
	metadata->execs = NULL;
	metadata->nr_execs = 0;
	metadata->nr_execs_allocated = 0;
	mutex_unlock(&metadata->lock);
	for (size_t i = 0; i < nr_execs; i++)
		synth_request(metadata->options.synth, execs[i]);
	free(execs);
	return nr_applied;
}

void metadata_drain(struct metadata *metadata, uint64_t cut_ns)
{
	drain(metadata, cut_ns);
}

/*
 * A ring whose event is dead stays readable to poll(2) for ever: stop asking. Another
 * may have got its descriptor since the worker was told, so look again.
 */
static void forget_hung_up(struct metadata *metadata, const struct epoll_event *events, int nr)
{
	mutex_lock(&metadata->lock);
	for (int i = 0; i < nr; i++) {
		struct pollfd pollfd = { .fd = (int)events[i].data.u64 };

		if (events[i].data.u64 == STOP_FD || !(events[i].events & (EPOLLHUP | EPOLLERR)))
			continue;
		if (poll(&pollfd, 1, 0) > 0 && pollfd.revents & (POLLHUP | POLLERR))
			epoll_ctl(metadata->epoll_fd, EPOLL_CTL_DEL, pollfd.fd, NULL);
	}
	mutex_unlock(&metadata->lock);
}

static void run(void *arg)
{
	struct metadata *metadata = arg;
	int wait_ms = BUSY_WAIT_MS;

	while (!atomic_load(&metadata->stop)) {
		struct epoll_event events[16];
		int nr;

		nr = epoll_wait(metadata->epoll_fd, events, ARRAY_SIZE(events), wait_ms);
		if (nr > 0)
			forget_hung_up(metadata, events, nr);
		wait_ms = drain(metadata, clock_now_ns() - METADATA_HOLDBACK_NS) ? BUSY_WAIT_MS
										 : IDLE_WAIT_MS;
	}
}

static int watch_rings(struct metadata *metadata)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = STOP_FD };
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	int ret;

	if (epoll_fd < 0)
		return -errno;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, metadata->stop_fd, &event) < 0)
		goto err_close;
	for (size_t i = 0; i < event_set_nr_cpus(metadata->options.events); i++) {
		struct cpu_rings *cpu = event_set_cpu(metadata->options.events, i);

		if (!cpu->metadata || cpu->metadata_fd < 0)
			continue;
		event.data.u64 = (uint64_t)cpu->metadata_fd;
		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, cpu->metadata_fd, &event) < 0)
			goto err_close;
	}
	/* Replaces the old set under the worker's feet, which epoll_wait() survives. */
	if (metadata->epoll_fd < 0) {
		metadata->epoll_fd = epoll_fd;
		return 0;
	}
	if (dup3(epoll_fd, metadata->epoll_fd, O_CLOEXEC) < 0)
		goto err_close;
	close(epoll_fd);
	return 0;

err_close:
	ret = -errno;
	close(epoll_fd);
	return ret;
}

int metadata_start(const struct metadata_options *options, struct metadata **ret_metadata,
		   struct err *err)
{
	struct metadata *metadata = mem_zalloc(sizeof(*metadata));
	int ret;

	metadata->options = *options;
	metadata->epoll_fd = -1;
	mutex_init(&metadata->lock);
	if (options->recorder)
		metadata->stream = record_stream_new(options->recorder);
	metadata->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (metadata->stop_fd < 0) {
		ret = err_set(err, -errno, "metadata worker: eventfd");
		goto err_free;
	}
	ret = watch_rings(metadata);
	if (ret < 0) {
		err_set(err, ret, "metadata worker: cannot watch the rings");
		goto err_free;
	}
	ret = worker_start("symtop/meta", run, metadata, &metadata->worker, err);
	if (ret < 0)
		goto err_free;
	*ret_metadata = metadata;
	return 0;

err_free:
	metadata_stop(metadata);
	return ret;
}

void metadata_stop(struct metadata *metadata)
{
	uint64_t one = 1;

	if (!metadata)
		return;
	if (metadata->worker) {
		atomic_store(&metadata->stop, true);
		if (write(metadata->stop_fd, &one, sizeof(one)) != sizeof(one))
			die("metadata worker: cannot be woken");
		worker_join(metadata->worker);
	}
	if (metadata->epoll_fd >= 0)
		close(metadata->epoll_fd);
	if (metadata->stop_fd >= 0)
		close(metadata->stop_fd);
	ring_buffer_release(&metadata->buffer);
	record_stream_free(metadata->stream);
	free(metadata->bytes);
	free(metadata->held);
	free(metadata->execs);
	mutex_release(&metadata->lock);
	free(metadata);
}

void metadata_pause(struct metadata *metadata) NO_THREAD_SAFETY
{
	mutex_lock(&metadata->lock);
}

void metadata_resume(struct metadata *metadata) NO_THREAD_SAFETY
{
	/* Without a watch the worker still drains by time: slower, nothing is lost. */
	(void)watch_rings(metadata);
	mutex_unlock(&metadata->lock);
}

void metadata_get_figures(struct metadata *metadata, struct metadata_figures *ret_figures)
{
	struct ring_stats stats;

	mutex_lock(&metadata->lock);
	*ret_figures = metadata->figures;
	for (size_t i = 0; i < event_set_nr_cpus(metadata->options.events); i++) {
		struct cpu_rings *cpu = event_set_cpu(metadata->options.events, i);

		if (!cpu->metadata)
			continue;
		ring_get_stats(cpu->metadata, &stats);
		ret_figures->nr_malformed += stats.nr_corrupt;
	}
	mutex_unlock(&metadata->lock);
}
