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
 * - Maps are asked for with PROCMAP_QUERY where the kernel has it (6.11): only the
 *   executable ones are named and copied, which is three to four times as fast as
 *   the text of all. Otherwise the text is parsed where it lies.
 *
 * Everything is opened O_NONBLOCK: in /proc it changes nothing, in a folder that
 * is not /proc a FIFO cannot hold us.
 */
#include "config.h"

#include "core/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"

/* PF_KTHREAD of the kernel's include/linux/sched.h; part of stat's flags since 2.6. */
#define STAT_KERNEL_THREAD 0x00200000U

/* A maps file of a million lines has 100 MB; more is no maps file. */
#define MAX_FILE_BYTES ((size_t)256 << 20)
#define FIRST_FILE_BYTES ((size_t)64 << 10)
/* What one odd process made us allocate is not kept for the next thousand. */
#define KEEP_FILE_BYTES ((size_t)4 << 20)

/* stat has 52 numbers and a comm of up to 64 bytes (kernel workers); status under 2 kB. */
#define STAT_BYTES 2048
#define STATUS_BYTES 8192

struct procfs_reader {
	char *proc;
	unsigned int max_threads; /* 0: no limit */
	bool no_query;		  /* the kernel (or what plays /proc) has no PROCMAP_QUERY */
	char *text;		  /* maps file or names of the last process; its maps point here */
	size_t nr_text_allocated;
	struct synth_thread *threads;
	size_t nr_threads;
	size_t nr_threads_allocated;
	struct map_fact *maps;
	size_t nr_maps;
	size_t nr_maps_allocated;
	struct synth_process process;
};

struct proc_stat {
	char comm[16];
	char state;
	uint32_t ppid;
	uint64_t flags;
	uint64_t nr_threads;
};

/* "Gone" and "forbidden" have several errnos in /proc, depending on how far one came. */
static int proc_error(int code)
{
	if (code == ENOENT || code == ESRCH)
		return -ESRCH;
	if (code == EPERM)
		return -EACCES;
	return -code;
}

static int open_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? proc_error(errno) : fd;
}

static int open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_DIRECTORY);

	return fd < 0 ? proc_error(errno) : fd;
}

static int open_process(const char *proc, uint32_t pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%u", proc, pid);
	return open_dir(AT_FDCWD, path);
}

/*
 * A small file, which the kernel hands out in one read: no second one to see its
 * end. Returns the number of bytes (NUL-terminated, the rest is cut) or -errno.
 */
static ssize_t read_small(int dir, const char *name, char *ret_text, size_t size)
{
	int fd = open_file(dir, name);
	ssize_t len;

	if (fd < 0)
		return fd;
	len = read(fd, ret_text, size - 1);
	if (len < 0)
		len = proc_error(errno);
	else
		ret_text[len] = '\0';
	close(fd);
	return len;
}

static int grow_text(struct procfs_reader *reader)
{
	size_t size = reader->nr_text_allocated ? 2 * reader->nr_text_allocated : FIRST_FILE_BYTES;
	char *text;

	if (size > MAX_FILE_BYTES)
		return -EFBIG;
	text = realloc(reader->text, size);
	if (!text)
		return -ENOMEM;
	reader->text = text;
	reader->nr_text_allocated = size;
	return 0;
}

/* The whole file into reader->text. Returns its length or a negative errno. */
static ssize_t read_whole(struct procfs_reader *reader, int fd)
{
	size_t len = 0;

	for (;;) {
		ssize_t ret;

		if (len == reader->nr_text_allocated) {
			ret = grow_text(reader);
			if (ret < 0)
				return ret;
		}
		ret = read(fd, reader->text + len, reader->nr_text_allocated - len);
		if (ret < 0)
			return proc_error(errno);
		if (ret == 0)
			return (ssize_t)len;
		len += (size_t)ret;
	}
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

/* A number at *@pos, which moves behind it; false when there is none or it is too large. */
static bool take_number(const char **pos, const char *end, int base, uint64_t max,
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

static bool take_char(const char **pos, const char *end, char c)
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

	if (*name == '0' || !take_number(&name, end, 10, INT32_MAX, &value) || name != end)
		return false;
	*ret_id = (uint32_t)value;
	return true;
}

/* ---- maps ---- */

/*
 * The kernel writes a newline in a path as \012 and nothing else so (a backslash
 * stays one), while mmap records have the path as it is.
 */
static void unescape_newlines(char *path)
{
	char *from = strstr(path, "\\012");
	char *to = from;

	if (!from)
		return;
	while (*from) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* One line, [@line, @end), of an executable map; *@end is the newline. */
static bool parse_map(char *line, char *end, struct map_fact *ret_map)
{
	const char *pos = line;
	uint64_t major, minor;
	char *path;

	if (!take_number(&pos, end, 16, UINT64_MAX, &ret_map->start) ||
	    !take_char(&pos, end, '-') || !take_number(&pos, end, 16, UINT64_MAX, &ret_map->end) ||
	    !take_char(&pos, end, ' '))
		return false;
	pos += 4; /* the permissions, which is_executable() has seen */
	if (!take_char(&pos, end, ' ') ||
	    !take_number(&pos, end, 16, UINT64_MAX, &ret_map->pgoff) ||
	    !take_char(&pos, end, ' ') || !take_number(&pos, end, 16, UINT32_MAX, &major) ||
	    !take_char(&pos, end, ':') || !take_number(&pos, end, 16, UINT32_MAX, &minor) ||
	    !take_char(&pos, end, ' ') || !take_number(&pos, end, 10, UINT64_MAX, &ret_map->inode))
		return false;
	if (ret_map->start >= ret_map->end || (pos < end && *pos != ' '))
		return false;
	path = line + (pos - line);
	path += strspn(path, " ");
	if (memchr(path, '\0', (size_t)(end - path)))
		return false;
	*end = '\0';
	unescape_newlines(path);
	ret_map->dev_major = (uint32_t)major;
	ret_map->dev_minor = (uint32_t)minor;
	ret_map->path = path;
	return true;
}

/* Whether the line is of an executable map; *@ret_malformed when it is of none. */
static bool is_executable(const char *line, const char *end, bool *ret_malformed)
{
	const char *perms = memchr(line, ' ', (size_t)(end - line));

	*ret_malformed = !perms || end - perms < 6 || perms[5] != ' ';
	return !*ret_malformed && perms[3] == 'x';
}

size_t procfs_parse_maps(char *text, size_t len,
			 void (*each)(void *arg, const struct map_fact *map), void *arg)
{
	size_t nr_malformed = 0;
	char *line = text;
	char *text_end = text + len;

	while (line < text_end) {
		char *end = memchr(line, '\n', (size_t)(text_end - line));
		struct map_fact map = { 0 }; /* a line has no build id and no generation */
		bool malformed;

		if (!end) /* cut: half a path would be a wrong one */
			return nr_malformed + 1;
		if (is_executable(line, end, &malformed)) {
			malformed = !parse_map(line, end, &map);
			if (!malformed)
				each(arg, &map);
		}
		nr_malformed += malformed;
		line = end + 1;
	}
	return nr_malformed;
}

static void add_map(void *arg, const struct map_fact *map)
{
	struct procfs_reader *reader = arg;

	mem_grow(reader->maps, reader->nr_maps, reader->nr_maps_allocated);
	reader->maps[reader->nr_maps++] = *map;
}

/*
 * The argument of PROCMAP_QUERY (linux/fs.h since 6.11, newer than the headers that
 * we must build with). Sizes are set by us and, for the name, by the kernel.
 */
struct map_query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};

#define MAP_QUERY _IOWR('f', 17, struct map_query)
#define MAP_QUERY_EXECUTABLE 0x04
#define MAP_QUERY_COVERING_OR_NEXT 0x10

/* Room for one more path behind @len bytes of text; paths already there move along. */
static int make_room_for_path(struct procfs_reader *reader, size_t len)
{
	uintptr_t old_text = (uintptr_t)reader->text;
	int ret;

	while (reader->nr_text_allocated - len < PATH_MAX) {
		ret = grow_text(reader);
		if (ret < 0)
			return ret;
	}
	if ((uintptr_t)reader->text == old_text)
		return 0;
	for (size_t i = 0; i < reader->nr_maps; i++)
		reader->maps[i].path = reader->text + ((uintptr_t)reader->maps[i].path - old_text);
	return 0;
}

/* Returns 1 when all is there, -ESRCH when there is no address space, or -errno. */
static int query_maps(struct procfs_reader *reader, int fd)
{
	struct map_query query = {
		.size = sizeof(query),
		.query_flags = MAP_QUERY_EXECUTABLE | MAP_QUERY_COVERING_OR_NEXT,
	};
	size_t len = 0;
	int ret;

	for (;;) {
		ret = make_room_for_path(reader, len);
		if (ret < 0)
			return ret;
		query.vma_name_addr = (uintptr_t)(reader->text + len);
		query.vma_name_size = PATH_MAX;
		if (ioctl(fd, MAP_QUERY, &query) < 0)
			return errno == ENOENT ? 1 : -errno; /* ENOENT: no further one */
		if (!query.vma_name_size)
			reader->text[len] = '\0';
		add_map(reader, &(struct map_fact){
					.start = query.vma_start,
					.end = query.vma_end,
					.pgoff = query.vma_offset,
					.dev_major = query.dev_major,
					.dev_minor = query.dev_minor,
					.inode = query.inode,
					.path = reader->text + len,
				});
		len += strnlen(reader->text + len, PATH_MAX - 1) + 1;
		query.query_addr = query.vma_end;
	}
}

/* Returns 1 when all is there, 0 or -ESRCH when there is no address space, or -errno. */
static int read_maps_file(struct procfs_reader *reader, int dir, const char *name)
{
	int fd = open_file(dir, name);
	int ret = -ENOTTY;
	ssize_t len;

	if (fd < 0)
		return fd;
	if (!reader->no_query)
		ret = query_maps(reader, fd);
	if (ret < 0)
		reader->nr_maps = 0;
	if (ret < 0 && ret != -ESRCH) {
		/* A path too long for the query is only one reason; the text says all. */
		reader->no_query |= ret == -ENOTTY;
		len = read_whole(reader, fd);
		if (len > 0)
			procfs_parse_maps(reader->text, (size_t)len, add_map, reader);
		ret = (int)(len > 0 ? 1 : len);
	}
	close(fd);
	return ret;
}

/*
 * When the main thread has exited, the maps of the process read as empty or as
 * gone, and only those of a thread that lives show the address space.
 */
static int read_maps(struct procfs_reader *reader, int dir)
{
	int ret = read_maps_file(reader, dir, "maps");
	char name[64];

	for (size_t i = 1; i < reader->nr_threads && (ret == 0 || ret == -ESRCH); i++) {
		snprintf(name, sizeof(name), "task/%u/maps", reader->threads[i].tid);
		ret = read_maps_file(reader, dir, name);
	}
	return ret;
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
		if (!take_char(&pos, end, ' '))
			return false;
		/* Terminal, nice and priority may be negative; none of them matters. */
		if (pos < end && *pos == '-')
			pos++;
		if (!take_number(&pos, end, 10, UINT64_MAX, &values[i]))
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
	free(reader->text);
	free(reader->threads);
	free(reader->maps);
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
		return proc_error(errno);
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
	ret = process->kernel_thread ? 0 : read_maps(reader, dir);
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

	if (reader->nr_text_allocated > KEEP_FILE_BYTES) {
		free(reader->text);
		reader->text = NULL;
		reader->nr_text_allocated = 0;
	}
	reader->nr_threads = 0;
	reader->nr_maps = 0;
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
	return take_number(pos, *pos + strlen(*pos), 10, max, ret_value);
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
