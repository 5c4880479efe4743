/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps of a process: asked for one by one with PROCMAP_QUERY where the kernel has it
 * (6.11), or else the text, parsed where it lies.
 *
 * A query for an executable map costs 0.5 us, and 0.3 us more with its name, which the
 * kernel puts together from the directories; a line of the text costs 0.6 us, and there is
 * one for each map that is not executable, too (measured with 6.18 on a virtual machine).
 * So queries win even where two thirds of the lines are of executable maps, and they win
 * more without names: programs share their libraries, so a reader remembers the names of
 * files by device and inode and asks for those only that it has not met lately. Not for
 * long, as a file that goes leaves its inode to another.
 *
 * A name that is known for the wrong reason would do no harm that is not there already:
 * the dso table knows files by device and inode alone and keeps their first name, too.
 *
 * One sweep into an empty thread table, one worker: CPU time (and wall clock), medians of
 * 3 to 5 rounds of three sweeps in turns with "perf bench internals synthesize -t -m 1 -M 1":
 *
 *                                    each with its name   now            perf bench 6.1
 *   tests/bench/crowd 5000 0 35 0    406 ms (429 ms)      283 (323)      470 (435)
 *   tests/bench/crowd 5000 0 5 0     204 ms (212 ms)      163 (164)      333 (255)
 *   tests/bench/crowd 1 19999 2 0    147 ms (171 ms)      153 (167)      387 (323)
 *
 * The first column also has what the synthesizer then read per process in vain, a tenth.
 */
#include "config.h"

#include "core/procfs_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "core/base/mem.h"

/* A maps file of a million lines has 100 MB; more is no maps file. */
#define MAX_FILE_BYTES ((size_t)256 << 20)
#define FIRST_FILE_BYTES ((size_t)64 << 10)
/* What one odd process made us allocate is not kept for the next thousand. */
#define KEEP_FILE_BYTES ((size_t)4 << 20)

/* How long a name is believed. */
#define FILE_NAME_NS UINT64_C(100000000)

/* ---- the text ---- */

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
			return procfs_error(errno);
		if (ret == 0)
			return (ssize_t)len;
		len += (size_t)ret;
	}
}

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

	if (!procfs_take_number(&pos, end, 16, UINT64_MAX, &ret_map->start) ||
	    !procfs_take_char(&pos, end, '-') ||
	    !procfs_take_number(&pos, end, 16, UINT64_MAX, &ret_map->end) ||
	    !procfs_take_char(&pos, end, ' '))
		return false;
	pos += 4; /* the permissions, which is_executable() has seen */
	if (!procfs_take_char(&pos, end, ' ') ||
	    !procfs_take_number(&pos, end, 16, UINT64_MAX, &ret_map->pgoff) ||
	    !procfs_take_char(&pos, end, ' ') ||
	    !procfs_take_number(&pos, end, 16, UINT32_MAX, &major) ||
	    !procfs_take_char(&pos, end, ':') ||
	    !procfs_take_number(&pos, end, 16, UINT32_MAX, &minor) ||
	    !procfs_take_char(&pos, end, ' ') ||
	    !procfs_take_number(&pos, end, 10, UINT64_MAX, &ret_map->inode))
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

/* ---- asked for ---- */

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

/* ---- names of files ---- */

/* The place of the file that @query found. */
static struct file_name *file_name_of(struct procfs_reader *reader, const struct map_query *query)
{
	uint64_t device = (uint64_t)query->dev_major << 32 | query->dev_minor;

	return &reader->names[hash_combine(device, query->inode) % NR_FILE_NAMES];
}

/* Copy the name to @text when it is known; its size, or 0. */
static size_t copy_file_name(const struct procfs_reader *reader, const struct file_name *name,
			     const struct map_query *query, char *text)
{
	if (!name->size || name->inode != query->inode || name->dev_major != query->dev_major ||
	    name->dev_minor != query->dev_minor ||
	    reader->process.scan_start_ns - name->read_ns >= FILE_NAME_NS)
		return 0;
	memcpy(text, name->path, name->size);
	return name->size;
}

static void remember_file_name(const struct procfs_reader *reader, struct file_name *name,
			       const struct map_query *query, const char *path, size_t size)
{
	static const char deleted[] = " (deleted)";

	/* Shared memory looks like deleted files of any inode, 0 is no file at all. */
	if (!query->inode ||
	    (size >= sizeof(deleted) && !strcmp(path + size - sizeof(deleted), deleted)))
		return;
	free(name->path);
	*name = (struct file_name){
		.inode = query->inode,
		.dev_major = query->dev_major,
		.dev_minor = query->dev_minor,
		.read_ns = reader->process.scan_start_ns,
		.size = size,
		.path = mem_strndup(path, size),
	};
}

/*
 * The name of the map that @query found goes to @text, of PATH_MAX bytes; @query is made
 * again for it where the file is not known. Returns the size with the NUL, or -errno.
 */
static ssize_t name_map(struct procfs_reader *reader, int fd, struct map_query *query, char *text)
{
	struct file_name *name = file_name_of(reader, query);
	size_t size = copy_file_name(reader, name, query, text);

	if (size)
		return (ssize_t)size;
	/* Never back, or a process that splits and merges its maps could hold us. */
	query->query_addr = MAX(query->query_addr, query->vma_start);
	query->vma_name_addr = (uintptr_t)text;
	query->vma_name_size = PATH_MAX;
	if (ioctl(fd, MAP_QUERY, query) < 0)
		return -errno;
	if (!query->vma_name_size)
		text[0] = '\0';
	size = strnlen(text, PATH_MAX - 1) + 1;
	text[size - 1] = '\0';
	/* Another file may be there by now. */
	remember_file_name(reader, file_name_of(reader, query), query, text, size);
	return (ssize_t)size;
}

/* ---- all maps of a process ---- */

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
	ssize_t ret;

	for (;;) {
		ret = make_room_for_path(reader, len);
		if (ret < 0)
			return (int)ret;
		query.vma_name_addr = 0;
		query.vma_name_size = 0;
		ret = ioctl(fd, MAP_QUERY, &query) < 0 ? -errno : 0;
		if (ret == 0)
			ret = name_map(reader, fd, &query, reader->text + len);
		if (ret < 0)
			return ret == -ENOENT ? 1 : (int)ret; /* ENOENT: no further one */
		add_map(reader, &(struct map_fact){
					.start = query.vma_start,
					.end = query.vma_end,
					.pgoff = query.vma_offset,
					.dev_major = query.dev_major,
					.dev_minor = query.dev_minor,
					.inode = query.inode,
					.path = reader->text + len,
				});
		len += (size_t)ret;
		query.query_addr = query.vma_end;
	}
}

/* Returns 1 when all is there, 0 or -ESRCH when there is no address space, or -errno. */
static int read_maps_file(struct procfs_reader *reader, int dir, const char *name)
{
	int fd = procfs_open_file(dir, name);
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

int procfs_read_maps(struct procfs_reader *reader, int dir)
{
	int ret = read_maps_file(reader, dir, "maps");
	char name[64];

	for (size_t i = 1; i < reader->nr_threads && (ret == 0 || ret == -ESRCH); i++) {
		snprintf(name, sizeof(name), "task/%u/maps", reader->threads[i].tid);
		ret = read_maps_file(reader, dir, name);
	}
	return ret;
}

void procfs_forget_maps(struct procfs_reader *reader)
{
	if (reader->nr_text_allocated > KEEP_FILE_BYTES) {
		free(reader->text);
		reader->text = NULL;
		reader->nr_text_allocated = 0;
	}
	reader->nr_maps = 0;
}

void procfs_release_maps(struct procfs_reader *reader)
{
	free(reader->text);
	free(reader->maps);
	for (size_t i = 0; i < NR_FILE_NAMES; i++)
		free(reader->names[i].path);
}
