/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast one thread gets blocks into a file, at what cost, and for how long it is held.
 *
 * usage: writers FILE HOW BLOCK_KIB TOTAL_MIB
 *
 * HOW: pwrite, aio (aio_write(3), 4 in flight) or uring (io_uring by raw system calls, 8
 * in flight); with "-direct" after it O_DIRECT. FILE is overwritten from nothing, and
 * removed at the end. Prints one row: HOW, KiB, MB/s until all is written, MB/s until it
 * is on the disk (fdatasync), CPU seconds of the process, then the longest time in ms
 * that the thread was held by one submission and by one wait for a free block.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { AIO_DEPTH = 4, URING_DEPTH = 8 };

struct bench {
	int fd;
	size_t block_bytes, total_bytes;
	unsigned char *blocks; /* URING_DEPTH of them */
	double longest_submit, longest_wait;
};

struct uring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void stop(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void note(double *longest, double start)
{
	double spent = now() - start;

	if (spent > *longest)
		*longest = spent;
}

static unsigned char *block_of(const struct bench *bench, size_t index)
{
	return bench->blocks + index * bench->block_bytes;
}

static void run_pwrite(struct bench *bench)
{
	for (size_t at = 0; at < bench->total_bytes; at += bench->block_bytes) {
		double start = now();

		if (pwrite(bench->fd, block_of(bench, 0), bench->block_bytes, (off_t)at) !=
		    (ssize_t)bench->block_bytes)
			stop("pwrite");
		note(&bench->longest_submit, start);
	}
}

static void aio_finish(struct bench *bench, struct aiocb *request)
{
	const struct aiocb *const list[] = { request };
	double start = now();

	while (aio_error(request) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	note(&bench->longest_wait, start);
	if (aio_return(request) != (ssize_t)bench->block_bytes)
		stop("aio_write");
}

static void run_aio(struct bench *bench)
{
	struct aiocb requests[AIO_DEPTH];
	size_t nr = bench->total_bytes / bench->block_bytes;

	for (size_t i = 0; i < nr; i++) {
		struct aiocb *request = &requests[i % AIO_DEPTH];
		double start;

		if (i >= AIO_DEPTH)
			aio_finish(bench, request);
		memset(request, 0, sizeof(*request));
		request->aio_fildes = bench->fd;
		request->aio_buf = block_of(bench, i % AIO_DEPTH);
		request->aio_nbytes = bench->block_bytes;
		request->aio_offset = (off_t)(i * bench->block_bytes);
		request->aio_sigevent.sigev_notify = SIGEV_NONE;
		start = now();
		if (aio_write(request) < 0)
			stop("aio_write");
		note(&bench->longest_submit, start);
	}
	for (size_t i = nr > AIO_DEPTH ? nr - AIO_DEPTH : 0; i < nr; i++)
		aio_finish(bench, &requests[i % AIO_DEPTH]);
}

static void *uring_map(int fd, size_t size, uint64_t offset)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
			 (off_t)offset);

	if (map == MAP_FAILED)
		stop("io_uring: mmap");
	return map;
}

static void uring_open(struct uring *ring)
{
	struct io_uring_params params = { 0 };
	unsigned char *sq, *cq;

	ring->fd = (int)syscall(SYS_io_uring_setup, URING_DEPTH, &params);
	if (ring->fd < 0)
		stop("io_uring_setup");
	sq = uring_map(ring->fd, params.sq_off.array + params.sq_entries * sizeof(unsigned int),
		       IORING_OFF_SQ_RING);
	cq = uring_map(ring->fd,
		       params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		       IORING_OFF_CQ_RING);
	ring->sqes = uring_map(ring->fd, params.sq_entries * sizeof(struct io_uring_sqe),
			       IORING_OFF_SQES);
	ring->sq_tail = (void *)(sq + params.sq_off.tail);
	ring->sq_mask = (void *)(sq + params.sq_off.ring_mask);
	ring->sq_array = (void *)(sq + params.sq_off.array);
	ring->cq_head = (void *)(cq + params.cq_off.head);
	ring->cq_tail = (void *)(cq + params.cq_off.tail);
	ring->cq_mask = (void *)(cq + params.cq_off.ring_mask);
	ring->cqes = (void *)(cq + params.cq_off.cqes);
}

/* The block that was finished. */
static size_t uring_wait(struct bench *bench, struct uring *ring)
{
	unsigned int head = *ring->cq_head;
	const struct io_uring_cqe *cqe;
	double start = now();
	size_t index;

	while (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE)) {
		if (syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) <
			    0 &&
		    errno != EINTR)
			stop("io_uring_enter");
	}
	note(&bench->longest_wait, start);
	cqe = &ring->cqes[head & *ring->cq_mask];
	if (cqe->res != (int)bench->block_bytes) {
		errno = cqe->res < 0 ? -cqe->res : EIO;
		stop("io_uring: write");
	}
	index = (size_t)cqe->user_data;
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return index;
}

static void uring_submit(struct bench *bench, struct uring *ring, size_t index, size_t at)
{
	unsigned int tail = *ring->sq_tail;
	struct io_uring_sqe *sqe = &ring->sqes[tail & *ring->sq_mask];
	double start = now();

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_WRITE;
	sqe->fd = bench->fd;
	sqe->addr = (uint64_t)(uintptr_t)block_of(bench, index);
	sqe->len = (uint32_t)bench->block_bytes;
	sqe->off = at;
	sqe->user_data = index;
	ring->sq_array[tail & *ring->sq_mask] = tail & *ring->sq_mask;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) != 1)
		stop("io_uring_enter");
	note(&bench->longest_submit, start);
}

static void run_uring(struct bench *bench)
{
	size_t nr = bench->total_bytes / bench->block_bytes;
	size_t nr_flying = 0;
	struct uring ring;

	uring_open(&ring);
	for (size_t i = 0; i < nr; i++) {
		size_t index = i;

		if (i >= URING_DEPTH)
			index = uring_wait(bench, &ring);
		else
			nr_flying++;
		uring_submit(bench, &ring, index, i * bench->block_bytes);
	}
	while (nr_flying--)
		uring_wait(bench, &ring);
	close(ring.fd);
}

static const struct {
	const char *name;
	void (*run)(struct bench *bench);
	bool is_direct;
} ways[] = {
	{ "pwrite", run_pwrite, false }, { "aio", run_aio, false },
	{ "uring", run_uring, false },	 { "pwrite-direct", run_pwrite, true },
	{ "aio-direct", run_aio, true }, { "uring-direct", run_uring, true },
};

int main(int argc, char **argv)
{
	struct bench bench = { .fd = -1 };
	double start, cpu, written, synced;
	size_t way = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: writers FILE HOW BLOCK_KIB TOTAL_MIB\n");
		return 2;
	}
	while (way < sizeof(ways) / sizeof(ways[0]) && strcmp(argv[2], ways[way].name) != 0)
		way++;
	bench.block_bytes = strtoul(argv[3], NULL, 10) << 10;
	bench.total_bytes = strtoul(argv[4], NULL, 10) << 20;
	if (way == sizeof(ways) / sizeof(ways[0]) || !bench.block_bytes || !bench.total_bytes ||
	    bench.total_bytes % bench.block_bytes) {
		fprintf(stderr, "writers: no such way, or blocks that do not add up\n");
		return 2;
	}
	bench.fd = open(argv[1],
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
				(ways[way].is_direct ? O_DIRECT : 0),
			0600);
	if (bench.fd < 0)
		stop(argv[1]);
	bench.blocks = mmap(NULL, URING_DEPTH * bench.block_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bench.blocks == MAP_FAILED)
		stop("mmap");
	memset(bench.blocks, 0x5a, URING_DEPTH * bench.block_bytes);
	cpu = cpu_seconds();
	start = now();
	ways[way].run(&bench);
	written = now() - start;
	cpu = cpu_seconds() - cpu;
	if (fdatasync(bench.fd) < 0)
		stop("fdatasync");
	synced = now() - start;
	printf("%-14s %5s %8.0f %8.0f %8.2f %8.1f %8.1f\n", argv[2], argv[3],
	       (double)bench.total_bytes / 1e6 / written, (double)bench.total_bytes / 1e6 / synced,
	       cpu, bench.longest_submit * 1e3, bench.longest_wait * 1e3);
	close(bench.fd);
	unlink(argv[1]);
	return 0;
}
