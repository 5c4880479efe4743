/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library to preload (LD_PRELOAD) into a profiler: when it opened, mapped, enabled and
 * closed its perf events. The same clock and the same calls for every program.
 *
 * Every perf_event_open(2), and every ioctl(2), mmap(2), munmap(2) and close(2) of what it
 * returned, is noted with its begin and end. Events that are closed before the last
 * enable are probes and do not count. At exit lines "metric;value;unit" go to the file
 * $EVENT_TIMER:
 *
 *   open_and_map  from the first open to the last call before the first enable
 *   enable        first to last
 *   set_up        both of them: not what a program does between
 *   disable       first to last
 *   close         the first unmap or close after that to the last close; nothing when
 *                 events are left to the kernel
 *
 * Nothing is written by a process that opened no event. With $EVENT_TIMER_NO_MOVES
 * sched_setaffinity(2) is refused, as in a container's cpuset: nobody goes to the CPUs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CALLS = 1 << 18, MAX_FDS = 1 << 16, MAX_RINGS = 1 << 12 };

enum kind { OPEN, PREPARE, MAP, ENABLE, DISABLE, UNMAP, CLOSE };

struct call {
	enum kind kind;
	int fd;
	double begin, end; /* ms */
	bool is_probe;	   /* of an OPEN: closed again before the last enable */
};

static struct call calls[MAX_CALLS];
static atomic_size_t nr_calls;
static atomic_bool is_event[MAX_FDS];
static _Atomic(void *) rings[MAX_RINGS];
static atomic_size_t nr_rings;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void note(enum kind kind, int fd, double begin)
{
	size_t index = atomic_fetch_add(&nr_calls, 1);

	if (index < MAX_CALLS)
		calls[index] = (struct call){ kind, fd, begin, now(), false };
}

static bool is_ours(int fd)
{
	return fd >= 0 && fd < MAX_FDS && atomic_load(&is_event[fd]);
}

/* ---- the calls ---- */

/* The next definition of the function that this one stands before. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

long syscall(long number, ...)
{
	static __typeof__(&syscall) real;
	long arg[6];
	double begin;
	va_list args;
	long ret;

	if (!real)
		real = REAL(syscall);
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	begin = now();
	ret = real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (number == SYS_perf_event_open && ret >= 0 && ret < MAX_FDS) {
		note(OPEN, (int)ret, begin);
		atomic_store(&is_event[ret], true);
	}
	return ret;
}

int ioctl(int fd, unsigned long request, ...)
{
	static __typeof__(&ioctl) real;
	double begin;
	va_list args;
	void *arg;
	int ret;

	if (!real)
		real = REAL(ioctl);
	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (!is_ours(fd))
		return real(fd, request, arg);
	begin = now();
	ret = real(fd, request, arg);
	note(request == PERF_EVENT_IOC_ENABLE	 ? ENABLE
	     : request == PERF_EVENT_IOC_DISABLE ? DISABLE
						 : PREPARE,
	     fd, begin);
	return ret;
}

static void *map(void *(*real)(void *, size_t, int, int, int, off_t), void *addr, size_t len,
		 int prot, int flags, int fd, off_t offset)
{
	double begin = now();
	void *ret = real(addr, len, prot, flags, fd, offset);
	size_t index;

	if (ret == MAP_FAILED || !is_ours(fd))
		return ret;
	note(MAP, fd, begin);
	index = atomic_fetch_add(&nr_rings, 1);
	if (index < MAX_RINGS)
		atomic_store(&rings[index], ret);
	return ret;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	static __typeof__(&mmap) real;

	if (!real)
		real = REAL(mmap);
	return map(real, addr, len, prot, flags, fd, offset);
}

/* off_t has 64 bits where this is built. */
void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	static __typeof__(&mmap) real;

	if (!real)
		real = (__typeof__(&mmap))dlsym(RTLD_NEXT, "mmap64");
	return map(real, addr, len, prot, flags, fd, (off_t)offset);
}

int munmap(void *addr, size_t len)
{
	static __typeof__(&munmap) real;
	double begin;
	int ret;

	if (!real)
		real = REAL(munmap);
	begin = now();
	ret = real(addr, len);
	for (size_t i = 0; i < MAX_RINGS && i < atomic_load(&nr_rings); i++) {
		if (atomic_load(&rings[i]) != addr)
			continue;
		atomic_store(&rings[i], NULL);
		note(UNMAP, -1, begin);
		break;
	}
	return ret;
}

int close(int fd)
{
	static __typeof__(&close) real;
	bool ours = is_ours(fd);
	double begin;
	int ret;

	if (!real)
		real = REAL(close);
	/* Before: its number may be another's at once. */
	if (ours)
		atomic_store(&is_event[fd], false);
	begin = now();
	ret = real(fd);
	if (ours)
		note(CLOSE, fd, begin);
	return ret;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *cpus)
{
	static __typeof__(&sched_setaffinity) real;

	if (getenv("EVENT_TIMER_NO_MOVES")) {
		errno = EINVAL;
		return -1;
	}
	if (!real)
		real = REAL(sched_setaffinity);
	return real(pid, size, cpus);
}

/* ---- the figures ---- */

struct span {
	double begin, end;
	size_t nr;
};

static void span_add(struct span *span, const struct call *call)
{
	if (!span->nr || call->begin < span->begin)
		span->begin = call->begin;
	if (!span->nr || call->end > span->end)
		span->end = call->end;
	span->nr++;
}

static void find_probes(size_t nr, double last_enable)
{
	static struct call *open_of[MAX_FDS];

	for (size_t i = 0; i < nr; i++) {
		if (calls[i].kind == OPEN) {
			open_of[calls[i].fd] = &calls[i];
		} else if (calls[i].kind == CLOSE && open_of[calls[i].fd]) {
			open_of[calls[i].fd]->is_probe = calls[i].begin < last_enable;
			open_of[calls[i].fd] = NULL;
		}
	}
}

static void print_span(FILE *file, const char *name, const struct span *span)
{
	if (span->nr)
		fprintf(file, "%s;%.4f;ms\n", name, span->end - span->begin);
}

/* Redirecting and mapping: what is done for the events between open and enable. */
static void add_preparing(struct span *open, size_t nr, double first_enable)
{
	double begin = open->begin;

	for (size_t i = 0; i < nr; i++) {
		if ((calls[i].kind == PREPARE || calls[i].kind == MAP) && calls[i].begin > begin &&
		    calls[i].end < first_enable)
			span_add(open, &calls[i]);
	}
}

static void report(FILE *file, size_t nr)
{
	struct span open = { 0 }, enable = { 0 }, disable = { 0 }, end = { 0 };
	size_t nr_probes = 0, nr_maps = 0, nr_ioctls = 0, nr_closed = 0, nr_opened;

	for (size_t i = 0; i < nr; i++) {
		if (calls[i].kind == ENABLE)
			span_add(&enable, &calls[i]);
	}
	find_probes(nr, enable.end);
	for (size_t i = 0; i < nr; i++) {
		if (calls[i].kind == OPEN && calls[i].is_probe)
			nr_probes++;
		else if (calls[i].kind == OPEN)
			span_add(&open, &calls[i]);
		else if (calls[i].kind == DISABLE && calls[i].begin > enable.end)
			span_add(&disable, &calls[i]);
	}
	nr_opened = open.nr;
	add_preparing(&open, nr, enable.begin);
	for (size_t i = 0; i < nr; i++) {
		nr_maps += calls[i].kind == MAP;
		nr_ioctls += calls[i].kind == PREPARE || calls[i].kind == ENABLE;
		if (calls[i].begin < enable.end)
			continue;
		nr_closed += calls[i].kind == CLOSE;
		/* symtop closes the last of its starters before. */
		if (calls[i].begin < disable.end)
			continue;
		if (calls[i].kind == UNMAP || calls[i].kind == CLOSE)
			span_add(&end, &calls[i]);
	}
	fprintf(file, "descriptors;%zu;\nprobes;%zu;\nrings;%zu;\nioctls;%zu;\n", nr_opened,
		nr_probes, nr_maps, nr_ioctls);
	print_span(file, "open_and_map", &open);
	print_span(file, "enable", &enable);
	fprintf(file, "set_up;%.4f;ms\n", open.end - open.begin + enable.end - enable.begin);
	print_span(file, "disable", &disable);
	if (nr_closed >= nr_opened)
		print_span(file, "close", &end);
}

__attribute__((destructor)) static void at_exit(void)
{
	const char *path = getenv("EVENT_TIMER");
	size_t nr = atomic_load(&nr_calls);
	FILE *file;

	if (!path || !nr)
		return;
	file = fopen(path, "we");
	if (!file) {
		perror(path);
		return;
	}
	if (nr > MAX_CALLS)
		fputs("event_timer: too many calls\n", stderr);
	else
		report(file, nr);
	fclose(file);
}
