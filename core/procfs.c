/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one process costs is what the start of symtop costs, times the number of
 * processes, so the common one (a single thread) is read with three opens: its
 * directory, stat and maps.
 *
 * - stat, not status: the kernel formats it in half the time, and it alone has the
 *   flags that tell a kernel thread from a process whose maps are empty. The
 *   effective uid is the owner of the directory, which unlike the owner of the
 *   files in it does not depend on whether the process may be dumped.
 * - A comm may hold anything, ") R 1" included, so it ends at the last ')'.
 * - Files are opened relative to the directory of the process: when the pid is
 *   used again in between, they are gone rather than somebody else's.
 * - The maps are most of the work: procfs_maps.c.
 *
 * Everything is opened O_NONBLOCK: in /proc it changes nothing, in a folder that
 * is not /proc a FIFO cannot hold us.
 */
#include "config.h"

#include "core/procfs_private.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"

/* PF_KTHREAD of the kernel's include/linux/sched.h; part of stat's flags since 2.6. */
#define STAT_KERNEL_THREAD 0x00200000U

/* stat has 52 numbers and a comm of up to 64 bytes (kernel workers); status under 2 kB. */
#define STAT_BYTES 2048
#define STATUS_BYTES 8192

struct proc_stat {
	char comm[16];
	char state;
	uint32_t ppid;
	uint64_t flags;
	uint64_t nr_threads;
};

int procfs_error(int code)
{
	if (code == ENOENT || code == ESRCH)
		return -ESRCH;
	if (code == EPERM)
		return -EACCES;
	return -code;
}

int procfs_open_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? procfs_error(errno) : fd;
}

static int open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_DIRECTORY);

	return fd < 0 ? procfs_error(errno) : fd;
}

/* Only a place to start from: its names are not listed. */
static int open_process(const char *proc, uint32_t pid)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%u", proc, pid);
	fd = open(path, O_PATH | O_CLOEXEC | O_DIRECTORY);
	return fd < 0 ? procfs_error(errno) : fd;
}

/*
 * A small file, which the kernel hands out in one read: no second one to see its
 * end. Returns the number of bytes (NUL-terminated, the rest is cut) or -errno.
 */
static ssize_t read_small(int dir, const char *name, char *ret_text, size_t size)
{
	int fd = procfs_open_file(dir, name);
	ssize_t len;

	if (fd < 0)
		return fd;
	len = read(fd, ret_text, size - 1);
	if (len < 0)
		len = procfs_error(errno);
	else
		ret_text[len] = '\0';
	close(fd);
	return len;
}

/* ---- numbers ---- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return 16;
}

bool procfs_take_number(const char **pos, const char *end, int base, uint64_t max,
			uint64_t *ret_value)
{
	const char *start = *pos;
	uint64_t value = 0;
	int digit;

	while (*pos < end && (digit = digit_of(**pos)) < base) {
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
		(*pos)++;
	}
	*ret_value = value;
	return *pos > start && value <= max;
}

bool procfs_take_char(const char **pos, const char *end, char c)
{
	if (*pos >= end || **pos != c)
		return false;
	(*pos)++;
	return true;
}

/* The name of a directory as a pid; false for "self", "sys", "0" and "007". */
static bool parse_id(const char *name, uint32_t *ret_id)
{
	const char *end = name + strlen(name);
	uint64_t value;

	if (*name == '0' || !procfs_take_number(&name, end, 10, INT32_MAX, &value) || name != end)
		return false;
	*ret_id = (uint32_t)value;
	return true;
}

/* ---- threads ---- */

static void set_comm(char ret_comm[static 16], const char *text, size_t len)
{
	memset(ret_comm, 0, 16);
	memcpy(ret_comm, text, MIN(len, 15));
}

/* "PID (COMM) STATE PPID PGRP SESSION TTY TPGID FLAGS ... NUM_THREADS ..." */
static bool parse_stat(const char *text, size_t len, struct proc_stat *ret_stat)
{
	const char *end = text + len;
	const char *open = memchr(text, '(', len);
	const char *close = memrchr(text, ')', len);
	uint64_t values[21] = { 0 }; /* by the field numbers of proc(5) */
	const char *pos;

	if (!open || !close || close < open || end - close < 4)
		return false;
	set_comm(ret_stat->comm, open + 1, (size_t)(close - open - 1));
	ret_stat->state = close[2];
	pos = close + 3;
	for (size_t i = 4; i < ARRAY_SIZE(values); i++) {
		if (!procfs_take_char(&pos, end, ' '))
			return false;
		/* Terminal, nice and priority may be negative; none of them matters. */
		if (pos < end && *pos == '-')
			pos++;
		if (!procfs_take_number(&pos, end, 10, UINT64_MAX, &values[i]))
			return false;
	}
	ret_stat->ppid = (uint32_t)MIN(values[4], UINT32_MAX);
	ret_stat->flags = values[9];
	ret_stat->nr_threads = values[20];
	return true;
}

static void add_thread(struct procfs_reader *reader, uint32_t tid, const char *comm, size_t len)
{
	struct synth_thread *thread;

	mem_grow(reader->threads, reader->nr_threads, reader->nr_threads_allocated);
	thread = &reader->threads[reader->nr_threads++];
	thread->tid = tid;
	set_comm(thread->comm, comm, len);
}

/* The threads of @pid but the main one. A thread that ends meanwhile is left out. */
static int read_other_threads(struct procfs_reader *reader, int process_dir, uint32_t pid)
{
	int fd = open_dir(process_dir, "task");
	struct dirent *entry;
	char name[64], comm[64];
	uint32_t tid;
	ssize_t len;
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	while ((entry = readdir(dir))) {
		if (!parse_id(entry->d_name, &tid) || tid == pid)
			continue;
		snprintf(name, sizeof(name), "%u/comm", tid);
		len = read_small(fd, name, comm, sizeof(comm));
		if (len <= 0)
			continue;
		if (comm[len - 1] == '\n')
			len--;
		add_thread(reader, tid, comm, (size_t)len);
	}
	closedir(dir);
	return 0;
}

/* ---- one process ---- */

struct procfs_reader *procfs_reader_new(const char *proc)
{
	struct procfs_reader *reader = mem_zalloc(sizeof(*reader));

	reader->proc = mem_strdup(proc);
	return reader;
}

void procfs_reader_free(struct procfs_reader *reader)
{
	if (!reader)
		return;
	free(reader->proc);
	free(reader->threads);
	procfs_release_maps(reader);
	free(reader);
}

void procfs_reader_set_max_threads(struct procfs_reader *reader, unsigned int nr)
{
	reader->max_threads = nr;
}

static int read_process(struct procfs_reader *reader, int dir, struct synth_process *process)
{
	struct proc_stat proc_stat;
	char text[STAT_BYTES];
	struct stat dir_stat;
	ssize_t len;
	int ret;

	if (fstat(dir, &dir_stat) < 0)
		return procfs_error(errno);
	process->uid = dir_stat.st_uid;
	len = read_small(dir, "stat", text, sizeof(text));
	if (len < 0)
		return (int)len;
	if (!parse_stat(text, (size_t)len, &proc_stat))
		return -ESRCH; /* what has no stat is no process */
	process->ppid = proc_stat.ppid;
	process->kernel_thread = proc_stat.flags & STAT_KERNEL_THREAD;
	add_thread(reader, process->pid, proc_stat.comm, strlen(proc_stat.comm));
	if (reader->max_threads && proc_stat.nr_threads > reader->max_threads)
		return -E2BIG;
	if (proc_stat.nr_threads > 1) {
		ret = read_other_threads(reader, dir, process->pid);
		if (ret < 0)
			return ret;
	}
	ret = process->kernel_thread ? 0 : procfs_read_maps(reader, dir);
	/* A process that waits for its parent has no address space: that is known. */
	if (ret == -ESRCH && proc_stat.state == 'Z')
		ret = 0;
	if (ret == -ESRCH)
		return -ESRCH;
	process->has_maps = ret >= 0;
	return 0;
}

int procfs_read_process(struct procfs_reader *reader, uint32_t pid,
			const struct synth_process **ret_process)
{
	struct synth_process *process = &reader->process;
	int dir, ret;

	procfs_forget_maps(reader);
	reader->nr_threads = 0;
	memset(process, 0, sizeof(*process));
	process->pid = pid;
	process->scan_start_ns = clock_now_ns();
	dir = open_process(reader->proc, pid);
	if (dir < 0)
		return dir;
	ret = read_process(reader, dir, process);
	close(dir);
	if (ret < 0)
		return ret;
	process->scan_end_ns = clock_now_ns();
	process->threads = reader->threads;
	process->nr_threads = reader->nr_threads;
	process->maps = reader->maps;
	process->nr_maps = reader->nr_maps;
	*ret_process = process;
	return 0;
}

/* ---- lists and single figures ---- */

/* The numbers among the names of a directory. @fd is taken. */
static int list_ids(int fd, uint32_t **ret_ids, size_t *ret_nr)
{
	DIR *dir = fdopendir(fd);
	uint32_t *ids = NULL;
	size_t nr = 0, nr_allocated = 0;
	struct dirent *entry;
	uint32_t id;

	if (!dir) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	while ((entry = readdir(dir))) {
		if (!parse_id(entry->d_name, &id))
			continue;
		mem_grow(ids, nr, nr_allocated);
		ids[nr++] = id;
	}
	closedir(dir);
	*ret_ids = ids;
	*ret_nr = nr;
	return 0;
}

int procfs_list_processes(const char *proc, uint32_t **ret_ids, size_t *ret_nr)
{
	int fd = openat(AT_FDCWD, proc, O_RDONLY | O_CLOEXEC | O_DIRECTORY);

	return fd < 0 ? -errno : list_ids(fd, ret_ids, ret_nr);
}

int procfs_list_threads(const char *proc, uint32_t pid, uint32_t **ret_ids, size_t *ret_nr)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%u/task", proc, pid);
	fd = open_dir(AT_FDCWD, path);
	return fd < 0 ? fd : list_ids(fd, ret_ids, ret_nr);
}

/* What follows @field at the start of a line of a status file, or NULL. */
static const char *find_field(const char *text, const char *field)
{
	size_t len = strlen(field);

	while (text) {
		if (!strncmp(text, field, len))
			return text + len;
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

/* The number after the blanks at *@pos, which moves behind it. */
static bool take_field_number(const char **pos, uint64_t max, uint64_t *ret_value)
{
	*pos += strspn(*pos, " \t");
	return procfs_take_number(pos, *pos + strlen(*pos), 10, max, ret_value);
}

int procfs_read_owner(const char *proc, uint32_t pid, uint32_t *ret_uid, uint32_t *ret_ppid)
{
	uint64_t real_uid, uid, ppid;
	char path[64], text[STATUS_BYTES];
	const char *pos;
	ssize_t len;
	int dir;

	dir = open_dir(AT_FDCWD, proc);
	if (dir < 0)
		return dir;
	snprintf(path, sizeof(path), "%u/status", pid);
	len = read_small(dir, path, text, sizeof(text));
	close(dir);
	if (len < 0)
		return (int)len;
	pos = find_field(text, "PPid:");
	if (!pos || !take_field_number(&pos, UINT32_MAX, &ppid))
		return -ESRCH;
	pos = find_field(text, "Uid:");
	if (!pos || !take_field_number(&pos, UINT32_MAX, &real_uid) ||
	    !take_field_number(&pos, UINT32_MAX, &uid))
		return -ESRCH;
	if (ret_uid)
		*ret_uid = (uint32_t)uid;
	if (ret_ppid)
		*ret_ppid = (uint32_t)ppid;
	return 0;
}

int procfs_read_sysctl(const char *proc, const char *name, long *ret_value)
{
	char path[PATH_MAX], text[64];
	ssize_t len;
	char *end;
	long value;

	snprintf(path, sizeof(path), "%s/sys/%s", proc, name);
	len = read_small(AT_FDCWD, path, text, sizeof(text));
	if (len < 0)
		return len == -ESRCH ? -ENOENT : (int)len;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || (*end && !isspace((unsigned char)*end)))
		return -EINVAL;
	*ret_value = value;
	return 0;
}

uint64_t procfs_self_kb(const char *proc, const char *field)
{
	char path[PATH_MAX], text[STATUS_BYTES];
	const char *pos;
	uint64_t kb;

	snprintf(path, sizeof(path), "%s/self/status", proc);
	if (read_small(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	pos = find_field(text, field);
	return pos && take_field_number(&pos, UINT64_MAX, &kb) ? kb : 0;
}
