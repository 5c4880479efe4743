/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel for tests of core/event_*.c: it has the counters, features, rights and
 * limits that a test gives it, and writes down what it was asked.
 *
 * Descriptors are real ones (ends of pipes), so that leaks can be counted and a test
 * can hang one up. Also here: a /proc of files, and events made by hand.
 */
#ifndef SYMTOP_TESTS_EVENT_KERNEL_FAKE_H
#define SYMTOP_TESTS_EVENT_KERNEL_FAKE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/mutex.h"
#include "core/event_kernel.h"
#include "core/event_set.h"

#define FAKE_MAX_OPENS 20000
#define FAKE_MAX_CALLS 100000
#define FAKE_PAGE ((size_t)sysconf(_SC_PAGESIZE))

struct fake_open {
	struct perf_event_attr attr;
	pid_t pid;
	int cpu, group_fd;
	int fd;	    /* negative: the errno that was answered */
	int writer; /* the pipe's other end: closing it hangs fd up */
	ino_t inode;
	uint64_t id;
	int output; /* fd it was redirected to, -1 */
	unsigned int nr_enabled, nr_disabled;
};

/* Any call, in the order of coming. */
struct fake_call {
	char what;    /* 'm' move, 'o' open, 'i' id, 'r' ring, 's' set output, 'e', 'd' */
	int cpu;      /* of the event; the one to move to */
	int place;    /* where the worker had moved to, -1: nowhere */
	pid_t worker; /* thread id */
};

static _Thread_local int fake_place = -1;

/* What it is like. Zeroes are a modern machine, all rights, no limits. */
static struct fake_kernel {
	int refuse_all;		  /* R1: this negative errno for everything */
	int hardware_code;	  /* negative errno for events of hardware; 0: they work */
	unsigned int max_precise; /* when has_precise_limit */
	bool has_precise_limit;
	int precise_code;
	uint64_t max_rate; /* 0: any */
	int guest_code;	   /* for hardware events without exclude_guest */
	int group_code;	   /* for members of groups */
	int software_code; /* for software events that are not dummies */
	bool no_machine_rights, no_kernel_rights;
	int refusal;		  /* the errno for that; 0: EACCES */
	uint32_t foreign_tid;	  /* EACCES */
	uint32_t dead_tid;	  /* ESRCH */
	int offline_cpu;	  /* -1: none */
	int cpu_without_hardware; /* -1: none */
	size_t max_open;	  /* EMFILE from there on; 0: no limit */
	bool old;		  /* no feature that has to be probed */
	bool no_ksymbol;
	size_t max_locked_pages; /* of all rings; 0: no limit */
	int ring_code;		 /* the errno for that; 0: EPERM */
	uid_t euid;
	bool has_capabilities;
	int stopped_cpu;	/* it went and returned: its events are dead; -1: none */
	bool hangs_up;		/* at once; saves the other end of the pipe */
	struct cpuset bad_cpus; /* EBUSY for events that are not dummies */
	int move_code;		/* the errno for moves */

	struct fake_open *opens;
	size_t nr_opens, nr_open_calls;
	size_t nr_locked_pages, nr_rings, max_pages_asked;
	uint64_t next_id;
	struct fake_call *calls;
	size_t nr_calls, nr_moves;
} fake;

/* Set-up workers are several. */
static struct mutex fake_lock;

static inline void fake_note_locked(char what, int cpu) REQUIRES(fake_lock)
{
	if (fake.nr_calls == FAKE_MAX_CALLS)
		abort();
	fake.calls[fake.nr_calls++] = (struct fake_call){ what, cpu, fake_place, gettid() };
}

struct fake_ring {
	int fd;
	enum ring_kind kind;
	size_t nr_pages;
};

static inline bool fake_is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT;
}

static inline int fake_check_features(const struct perf_event_attr *attr)
{
	bool new_bits = attr->use_clockid || attr->write_backward || attr->mmap2 ||
			attr->comm_exec || attr->bpf_event ||
			(attr->sample_type & PERF_SAMPLE_IDENTIFIER);

	if (fake.old && (new_bits || attr->ksymbol))
		return -EINVAL;
	return fake.no_ksymbol && attr->ksymbol ? -EINVAL : 0;
}

static inline int fake_check_rights(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int refusal = fake.refusal ? fake.refusal : -EACCES;

	if (fake.no_kernel_rights && !attr->exclude_kernel)
		return refusal;
	if (fake.no_machine_rights && pid == -1)
		return refusal;
	if (fake.dead_tid && pid == (pid_t)fake.dead_tid)
		return -ESRCH;
	if (fake.foreign_tid && pid == (pid_t)fake.foreign_tid)
		return -EACCES;
	return pid == -1 && cpu == fake.offline_cpu ? -ENODEV : 0;
}

static inline int fake_check_hardware(const struct perf_event_attr *attr, int cpu, int group_fd)
{
	if (!fake_is_hardware(attr))
		return 0;
	if (fake.hardware_code)
		return fake.hardware_code;
	if (cpu == fake.cpu_without_hardware)
		return -ENXIO;
	if (fake.guest_code && !attr->exclude_guest)
		return fake.guest_code;
	if (fake.has_precise_limit && attr->precise_ip > fake.max_precise)
		return fake.precise_code;
	return group_fd >= 0 ? fake.group_code : 0;
}

static inline int fake_check(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
	int ret = fake.refuse_all;

	if (!ret && attr->size != sizeof(*attr))
		ret = -E2BIG;
	if (!ret)
		ret = fake_check_features(attr);
	if (!ret && fake.max_rate && attr->freq && attr->sample_freq > fake.max_rate)
		ret = -EINVAL;
	if (!ret)
		ret = fake_check_rights(attr, pid, cpu);
	if (!ret)
		ret = fake_check_hardware(attr, cpu, group_fd);
	if (!ret && attr->type == PERF_TYPE_SOFTWARE && attr->config != PERF_COUNT_SW_DUMMY)
		ret = fake.software_code;
	if (!ret && cpuset_has(&fake.bad_cpus, (unsigned int)cpu) &&
	    !(attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY))
		ret = -EBUSY;
	return ret;
}

static inline int fake_open_locked(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
	REQUIRES(fake_lock)
{
	struct fake_open *call;
	struct stat status;
	int fds[2];
	int ret;

	fake.nr_open_calls++;
	fake_note_locked('o', cpu);
	ret = fake_check(attr, pid, cpu, group_fd);
	if (ret)
		return ret;
	if (fake.nr_opens == FAKE_MAX_OPENS || (fake.max_open && fake.nr_opens >= fake.max_open))
		return -EMFILE;
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	call = &fake.opens[fake.nr_opens++];
	if (fstat(fds[0], &status))
		return -errno;
	if (fake.hangs_up) {
		close(fds[1]);
		fds[1] = -1;
	}
	*call = (struct fake_open){ .attr = *attr,
				    .pid = pid,
				    .cpu = cpu,
				    .group_fd = group_fd,
				    .fd = fds[0],
				    .writer = fds[1],
				    .output = -1,
				    .inode = status.st_ino,
				    .id = ++fake.next_id };
	return fds[0];
}

static inline int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
	int fd;

	mutex_lock(&fake_lock);
	fd = fake_open_locked(attr, pid, cpu, group_fd);
	mutex_unlock(&fake_lock);
	return fd;
}

/* Numbers of descriptors are used again, pipes are not. */
static inline bool fake_is_open(const struct fake_open *call)
{
	struct stat status;

	return !fstat(call->fd, &status) && status.st_ino == call->inode;
}

static inline struct fake_open *fake_find(int fd)
{
	for (size_t i = fake.nr_opens; i-- > 0;) {
		if (fake.opens[i].fd == fd && fake_is_open(&fake.opens[i]))
			return &fake.opens[i];
	}
	return NULL;
}

/* The same for one that must be there. */
static inline struct fake_open *fake_get(int fd)
{
	struct fake_open *call = fake_find(fd);

	if (!call)
		abort();
	return call;
}

/* The same, with a note that it was asked for @what. */
static inline struct fake_open *fake_use_locked(int fd, char what) REQUIRES(fake_lock)
{
	struct fake_open *call = fake_find(fd);

	if (call)
		fake_note_locked(what, call->cpu);
	return call;
}

static inline int fake_control_locked(int fd, unsigned long request, unsigned long arg)
	REQUIRES(fake_lock)
{
	char what = request == PERF_EVENT_IOC_SET_OUTPUT ? 's'
		    : request == PERF_EVENT_IOC_ENABLE	 ? 'e'
							 : 'd';
	struct fake_open *call = fake_use_locked(fd, what);

	if (!call)
		return -EBADF;
	if (request == PERF_EVENT_IOC_SET_OUTPUT)
		call->output = (int)arg;
	else if (request == PERF_EVENT_IOC_ENABLE)
		call->nr_enabled++;
	else if (request == PERF_EVENT_IOC_DISABLE)
		call->nr_disabled++;
	return 0;
}

static inline int fake_control(int fd, unsigned long request, unsigned long arg)
{
	int ret;

	mutex_lock(&fake_lock);
	ret = fake_control_locked(fd, request, arg);
	mutex_unlock(&fake_lock);
	return ret;
}

static inline int fake_read_id(int fd, uint64_t *ret_id)
{
	const struct fake_open *call;

	mutex_lock(&fake_lock);
	call = fake_use_locked(fd, 'i');
	if (call)
		*ret_id = call->id;
	mutex_unlock(&fake_lock);
	return call ? 0 : -EBADF;
}

static inline int fake_read_enabled_ns(int fd, uint64_t *ret_ns)
{
	const struct fake_open *call = fake_find(fd);

	if (!call)
		return -EBADF;
	*ret_ns = call->cpu == fake.stopped_cpu ? 1 : clock_now_ns();
	return 0;
}

static inline int fake_ring_open_locked(int fd, enum ring_kind kind, size_t nr_pages,
					struct ring **ret_ring, struct err *err) REQUIRES(fake_lock)
{
	int code = fake.ring_code ? fake.ring_code : -EPERM;
	struct fake_ring *ring;

	if (!fake_use_locked(fd, 'r'))
		return err_set(err, -EBADF, "ring");
	fake.max_pages_asked = MAX(fake.max_pages_asked, nr_pages);
	if (fake.max_locked_pages && fake.nr_locked_pages + nr_pages + 1 > fake.max_locked_pages)
		return err_set(err, code, "ring");
	ring = mem_zalloc(sizeof(*ring));
	*ring = (struct fake_ring){ fd, kind, nr_pages };
	fake.nr_locked_pages += nr_pages + 1;
	fake.nr_rings++;
	*ret_ring = (struct ring *)ring;
	return 0;
}

static inline int fake_ring_open(int fd, enum ring_kind kind, size_t nr_pages,
				 struct ring **ret_ring, struct err *err)
{
	int ret;

	mutex_lock(&fake_lock);
	ret = fake_ring_open_locked(fd, kind, nr_pages, ret_ring, err);
	mutex_unlock(&fake_lock);
	return ret;
}

static inline void fake_ring_free(struct ring *ring)
{
	struct fake_ring *mine = (struct fake_ring *)(void *)ring;

	if (!ring)
		return;
	mutex_lock(&fake_lock);
	fake.nr_locked_pages -= mine->nr_pages + 1;
	fake.nr_rings--;
	mutex_unlock(&fake_lock);
	free(ring);
}

static inline int fake_move(unsigned int cpu)
{
	mutex_lock(&fake_lock);
	fake.nr_moves++;
	fake_note_locked('m', (int)cpu);
	mutex_unlock(&fake_lock);
	if (fake.move_code)
		return fake.move_code;
	fake_place = (int)cpu;
	return 0;
}

static inline const struct fake_ring *fake_ring(const struct ring *ring)
{
	return (const struct fake_ring *)(const void *)ring;
}

static inline uid_t fake_euid(void)
{
	return fake.euid;
}

static inline bool fake_has_capability(unsigned int capability)
{
	(void)capability;
	return fake.has_capabilities;
}

static const struct event_kernel fake_kernel = {
	.open = fake_open,
	.control = fake_control,
	.read_id = fake_read_id,
	.read_enabled_ns = fake_read_enabled_ns,
	.ring_open = fake_ring_open,
	.ring_free = fake_ring_free,
	.move = fake_move,
	.euid = fake_euid,
	.has_capability = fake_has_capability,
};

/* In force from here on: root on a modern machine with everything. */
static inline void fake_start(void)
{
	fake = (struct fake_kernel){ .offline_cpu = -1,
				     .cpu_without_hardware = -1,
				     .stopped_cpu = -1,
				     .has_capabilities = true };
	fake.opens = mem_calloc(FAKE_MAX_OPENS, sizeof(*fake.opens));
	fake.calls = mem_calloc(FAKE_MAX_CALLS, sizeof(*fake.calls));
	mutex_init(&fake_lock);
	event_kernel = &fake_kernel;
}

static inline void fake_hang_up(int fd)
{
	struct fake_open *call = fake_get(fd);

	close(call->writer);
	call->writer = -1;
}

static inline void fake_stop(void)
{
	for (size_t i = 0; i < fake.nr_opens; i++) {
		if (fake.opens[i].writer >= 0)
			close(fake.opens[i].writer);
	}
	free(fake.opens);
	free(fake.calls);
	fake.opens = NULL;
	fake.calls = NULL;
	mutex_release(&fake_lock);
	event_kernel = &event_kernel_real;
}

/* Descriptors of this process, those of the fake's pipes' other ends left out. */
static inline size_t fake_count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	for (size_t i = 0; i < fake.nr_opens && fake.opens; i++)
		nr -= fake.opens[i].writer >= 0;
	return nr;
}

/* A /proc of files. */
static char fixture_proc[64];

static inline void fixture_write(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fixture_proc, name);
	for (char *slash = path + strlen(fixture_proc) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "we");
	fputs(text, file);
	fclose(file);
}

static inline void fixture_sysctl(const char *name, long value)
{
	char path[128];
	char text[32];

	snprintf(path, sizeof(path), "sys/kernel/%s", name);
	snprintf(text, sizeof(text), "%ld\n", value);
	fixture_write(path, text);
}

/* Process @pid of @uid with the threads @pid ... @pid + @nr_threads - 1. */
static inline void fixture_process(uint32_t pid, uint32_t ppid, uint32_t uid, uint32_t nr_threads)
{
	char path[128];
	char text[256];

	snprintf(path, sizeof(path), "%u/status", pid);
	snprintf(text, sizeof(text),
		 "Name:\tx\nTgid:\t%u\nPid:\t%u\nPPid:\t%u\nUid:\t%u\t%u\t%u\t%u\n", pid, pid, ppid,
		 uid, uid, uid, uid);
	fixture_write(path, text);
	for (uint32_t i = 0; i < nr_threads; i++) {
		snprintf(path, sizeof(path), "%u/task/%u/comm", pid, pid + i);
		fixture_write(path, "x\n");
	}
}

static inline void fixture_start(void)
{
	snprintf(fixture_proc, sizeof(fixture_proc), "/tmp/symtop-test-XXXXXX");
	if (!mkdtemp(fixture_proc))
		abort();
	fixture_sysctl("perf_event_paranoid", 2);
	fixture_sysctl("perf_event_max_sample_rate", 100000);
	fixture_sysctl("perf_event_max_stack", 127);
	fixture_sysctl("perf_event_mlock_kb", 516);
}

static inline void fixture_remove(const char *name)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s/%s'", fixture_proc, name);
	if (system(command))
		abort();
}

static inline void fixture_stop(void)
{
	fixture_remove("");
}

/* core/event.c does the same; weak, so that a test can be linked with or without it. */
void event_become_cpu_clock(struct event *event) __attribute__((weak));
void event_become_cpu_clock(struct event *event)
{
	free(event->name);
	event->name = mem_strdup("cpu-clock");
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
}

static inline void fixture_event(struct event *event, const char *name, uint32_t type,
				 uint64_t config)
{
	memset(event, 0, sizeof(*event));
	event->name = mem_strdup(name);
	event->attr.type = type;
	event->attr.config = config;
	event->group = -1;
	event->scale = 1.0;
}

#endif /* SYMTOP_TESTS_EVENT_KERNEL_FAKE_H */
