/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each refresh opens the file anew: a held descriptor for each process with a JIT
 * would eat the limit of open files, and a replaced file would go unnoticed. What is
 * remembered is device, inode, how far it was read and the last bytes before that
 * point, which tell a file that was truncated and written again from one that grew.
 *
 * A refresh gives a table of the new lines only. A table of everything would cost
 * the whole file again for each new function, while old tables have to stay as long
 * as somebody may hold their symbols.
 *
 * Lines of one table may overlap, when code was replaced (V8 writes "~f", then "*f").
 * A symbol table chooses among names by their looks; here the later line must win.
 * So the ranges are swept in address order with a heap of those open, latest on top,
 * and each address goes to the latest line that covers it.
 *
 * The owner is checked on the open descriptor. Only the target's root is looked at:
 * a file of the same name on our side of a container's wall is another file.
 */
#include "config.h"

#include "symbols/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "symbols/dso_file.h"
#include "symbols/symbol.h"

/* One table's worth of text; also the longest line. */
#define CHUNK_BYTES (4 * 1024 * 1024)

#define TAIL_BYTES 64

struct perf_map {
	char *proc; /* NULL: of a recording */
	uint32_t pid;
	uint64_t start_ticks; /* of the process that had @pid at the first refresh; 0: not yet */

	/* The file as it was read, nothing when offset is 0. */
	uint64_t device, inode;
	uint64_t offset;       /* everything before it was read */
	bool in_long_line;     /* offset is within a line that is too long */
	char tail[TAIL_BYTES]; /* the bytes just before offset */
	size_t tail_len;
};

/* What /proc/PID says about the owner of the file. */
struct target {
	uint32_t uid;	/* effective */
	uint32_t nspid; /* its pid as it sees it */
	uint64_t start_ticks;
};

struct line {
	uint64_t start, end;
	uint32_t order; /* in the file */
	uint32_t name_len;
	const char *name;
};

struct lines {
	struct line *lines;
	size_t nr;
	size_t nr_allocated;
};

struct perf_map *perf_map_new(const char *proc, uint32_t pid)
{
	struct perf_map *map = mem_zalloc(sizeof(*map));

	map->proc = proc ? mem_strdup(proc) : NULL;
	map->pid = pid;
	return map;
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	free(map->proc);
	free(map);
}

static FILE *open_proc(const struct perf_map *map, const char *file)
{
	char *path = mem_printf("%s/%u/%s", map->proc, map->pid, file);
	FILE *stream = fopen(path, "re");

	free(path);
	return stream;
}

static int read_status(const struct perf_map *map, struct target *target)
{
	FILE *status = open_proc(map, "status");
	char *line = NULL;
	size_t nr_allocated = 0;
	bool has_uid = false;
	const char *last;

	target->nspid = map->pid; /* before Linux 4.1 there is no NSpid */
	while (status && getline(&line, &nr_allocated, status) > 0) {
		if (sscanf(line, "Uid: %*u %u", &target->uid) == 1)
			has_uid = true;
		if (strncmp(line, "NSpid:", 6))
			continue;
		line[strcspn(line, "\n")] = '\0';
		last = strrchr(line, '\t');
		if (last)
			target->nspid = (uint32_t)strtoul(last, NULL, 10);
	}
	free(line);
	if (status)
		fclose(status);
	return has_uid ? 0 : -ENOENT;
}

/* Start time, field 22 of stat; the name before may hold anything, even ")". */
static int read_start(const struct perf_map *map, struct target *target)
{
	FILE *stat = open_proc(map, "stat");
	char text[1024];
	size_t len = 0;
	const char *field;

	if (stat) {
		len = fread(text, 1, sizeof(text) - 1, stat);
		fclose(stat);
	}
	text[len] = '\0';
	field = strrchr(text, ')');
	for (int number = 2; field && number < 22; number++)
		field = strchr(field + 1, ' ');
	target->start_ticks = field ? strtoull(field, NULL, 10) : 0;
	return target->start_ticks ? 0 : -ENOENT;
}

static int check_trust(int fd, const struct target *target, const char *name, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_set(err, -errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_say(err, -EPERM, "%s: not used, it is no regular file", name);
	if (st.st_uid && st.st_uid != target->uid)
		return err_say(err, -EPERM,
			       "%s: not used, it belongs to user %u, the process to user %u", name,
			       st.st_uid, target->uid);
	if (st.st_mode & S_IWOTH)
		return err_say(err, -EPERM, "%s: not used, everybody may write to it", name);
	if (st.st_nlink > 1)
		return err_say(err, -EPERM, "%s: not used, it has several hard links", name);
	return 0;
}

/* No component below the target's root is followed when it is a link. */
static int open_path(const char *root, const char *file)
{
	int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int tmp_fd = -1;
	int fd = -1;
	int ret;

	if (root_fd >= 0)
		tmp_fd = openat(root_fd, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tmp_fd >= 0)
		fd = openat(tmp_fd, file, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	ret = fd >= 0 ? fd : -errno;
	if (tmp_fd >= 0)
		close(tmp_fd);
	if (root_fd >= 0)
		close(root_fd);
	return ret;
}

static int open_map(const struct perf_map *map, const struct target *target, struct err *err)
{
	char *root = map->proc ? mem_printf("%s/%u/root", map->proc, map->pid) : mem_strdup("/");
	char *file = mem_printf("perf-%u.map", target->nspid);
	char *name = mem_printf("%s/tmp/%s", root, file);
	int fd = open_path(root, file);
	int ret;

	if (fd < 0) {
		/* A link in place of the folder: to us there is no map. */
		ret = err_set(err, fd == -ENOTDIR ? -ENOENT : fd, "%s", name);
	} else {
		ret = check_trust(fd, target, name, err);
		if (!ret)
			ret = dso_file_reopen(fd);
		close(fd);
	}
	free(name);
	free(file);
	free(root);
	return ret;
}

static ssize_t read_at(int fd, char *text, size_t size, uint64_t offset)
{
	size_t len = 0;

	while (len < size) {
		ssize_t nr = pread(fd, text + len, size - len, (off_t)(offset + len));

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		if (!nr)
			break;
		len += (size_t)nr;
	}
	return (ssize_t)len;
}

/* Start again when it is not the file that was read so far, or no longer its text. */
static void check_replaced(struct perf_map *map, int fd, const struct stat *st)
{
	char tail[TAIL_BYTES];
	bool same = map->device == st->st_dev && map->inode == st->st_ino &&
		    (uint64_t)st->st_size >= map->offset;

	if (same && map->tail_len)
		same = read_at(fd, tail, map->tail_len, map->offset - map->tail_len) ==
			       (ssize_t)map->tail_len &&
		       !memcmp(tail, map->tail, map->tail_len);
	if (same)
		return;
	map->device = st->st_dev;
	map->inode = st->st_ino;
	map->offset = 0;
	map->in_long_line = false;
	map->tail_len = 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Hex digits with or without 0x, then a blank. Returns what follows, or NULL. */
static const char *parse_hex(const char *text, const char *end, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t nr_digits = 0;

	while (text < end && is_blank(*text))
		text++;
	if (end - text > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	for (; text < end && !is_blank(*text); text++) {
		int digit = *text;

		if (digit >= '0' && digit <= '9')
			digit -= '0';
		else if (digit >= 'a' && digit <= 'f')
			digit -= 'a' - 10;
		else if (digit >= 'A' && digit <= 'F')
			digit -= 'A' - 10;
		else
			return NULL;
		if (value >> 60)
			return NULL;
		value = value << 4 | (uint64_t)digit;
		nr_digits++;
	}
	*ret_value = value;
	return nr_digits && text < end ? text : NULL;
}

/* A line that names nothing is skipped: these files are written by anybody. */
static void parse_line(struct lines *lines, const char *text, const char *end)
{
	struct line *line;
	uint64_t start, size;
	size_t len;

	text = parse_hex(text, end, &start);
	if (text)
		text = parse_hex(text, end, &size);
	if (!text || !size || start + size < start)
		return;
	while (text < end && is_blank(*text))
		text++;
	len = strnlen(text, (size_t)(end - text));
	while (len && is_blank(text[len - 1]))
		len--;
	if (!len)
		return;
	if (len > PERF_MAP_MAX_NAME) {
		len = PERF_MAP_MAX_NAME;
		while (len > PERF_MAP_MAX_NAME - 4 && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--; /* not in the middle of a character */
	}
	mem_grow(lines->lines, lines->nr, lines->nr_allocated);
	line = &lines->lines[lines->nr];
	line->start = start;
	line->end = start + size;
	line->order = (uint32_t)lines->nr++;
	line->name = text;
	line->name_len = (uint32_t)len;
}

/* Parse the complete lines of @text. Returns how many bytes those are. */
static size_t parse_lines(struct perf_map *map, struct lines *lines, const char *text, size_t len)
{
	const char *next = text;
	const char *end = text + len;

	while (next < end) {
		const char *newline = memchr(next, '\n', (size_t)(end - next));

		if (!newline)
			break;
		if (!map->in_long_line)
			parse_line(lines, next, newline);
		map->in_long_line = false;
		next = newline + 1;
	}
	if (next == text && len == CHUNK_BYTES) {
		map->in_long_line = true;
		next = end;
	}
	return (size_t)(next - text);
}

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left;
	const struct line *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* A heap of lines, the latest on top. */
struct heap {
	const struct line **lines;
	size_t nr;
};

static void heap_push(struct heap *heap, const struct line *line)
{
	size_t i = heap->nr++;

	while (i && heap->lines[(i - 1) / 2]->order < line->order) {
		heap->lines[i] = heap->lines[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap->lines[i] = line;
}

static void heap_pop(struct heap *heap)
{
	const struct line *last = heap->lines[--heap->nr];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= heap->nr)
			break;
		if (child + 1 < heap->nr &&
		    heap->lines[child + 1]->order > heap->lines[child]->order)
			child++;
		if (heap->lines[child]->order <= last->order)
			break;
		heap->lines[i] = heap->lines[child];
		i = child;
	}
	heap->lines[i] = last;
}

/* What @line covers from @start on, joined to the piece before when that touches. */
static void add_piece(struct symbol_table *table, struct line *piece, const struct line *line,
		      uint64_t start, uint64_t end)
{
	if (line && piece->name == line->name && piece->end == start) {
		piece->end = end;
		return;
	}
	if (piece->name)
		symbol_table_add(table, piece->start, piece->end - piece->start, 0, SYMBOL_GLOBAL,
				 piece->name, piece->name_len, NULL);
	if (line) {
		*piece = *line;
		piece->start = start;
		piece->end = end;
	}
}

/* Each address goes to the latest line that covers it. */
static struct symbol_table *build_table(struct lines *lines)
{
	struct symbol_table *table = symbol_table_new();
	struct heap heap = { .lines = mem_calloc(lines->nr, sizeof(*heap.lines)) };
	struct line piece = { 0 };
	uint64_t start = 0;
	size_t next = 0;

	qsort(lines->lines, lines->nr, sizeof(*lines->lines), compare_lines);
	for (;;) {
		uint64_t end;

		while (heap.nr && heap.lines[0]->end <= start)
			heap_pop(&heap);
		if (!heap.nr && next == lines->nr)
			break;
		if (!heap.nr)
			start = lines->lines[next].start;
		while (next < lines->nr && lines->lines[next].start == start)
			heap_push(&heap, &lines->lines[next++]);
		end = heap.lines[0]->end;
		if (next < lines->nr)
			end = MIN(end, lines->lines[next].start);
		add_piece(table, &piece, heap.lines[0], start, end);
		start = end;
	}
	add_piece(table, &piece, NULL, 0, 0);
	symbol_table_finish(table);
	free(heap.lines);
	return table;
}

static void remember(struct perf_map *map, const char *text, size_t len)
{
	if (!len)
		return;
	map->offset += len;
	map->tail_len = MIN(len, (size_t)TAIL_BYTES);
	memcpy(map->tail, text + len - map->tail_len, map->tail_len);
}

/*
 * Read on into @text (CHUNK_BYTES) until some line names something. Returns how many
 * bytes the last step took: 0 at the end of what is complete.
 */
static ssize_t read_chunks(struct perf_map *map, int fd, uint64_t end, char *text,
			   struct lines *lines)
{
	ssize_t len;

	do {
		size_t size = MIN(end - map->offset, (uint64_t)CHUNK_BYTES);

		len = read_at(fd, text, size, map->offset);
		if (len <= 0)
			break;
		len = (ssize_t)parse_lines(map, lines, text, (size_t)len);
		remember(map, text, (size_t)len);
	} while (len && !lines->nr && map->offset < end);
	return len;
}

/* The next lines of @fd that are complete. */
static int read_lines(struct perf_map *map, int fd, const char *name,
		      struct symbol_table **ret_table, struct err *err)
{
	struct lines lines = { 0 };
	struct stat st;
	uint64_t end;
	char *text;
	ssize_t len = 0;

	if (fstat(fd, &st))
		return err_set(err, -errno, "%s", name);
	check_replaced(map, fd, &st);
	end = MIN((uint64_t)st.st_size, (uint64_t)PERF_MAP_MAX_BYTES);
	if (map->offset < end) {
		text = malloc(CHUNK_BYTES);
		if (!text)
			return err_set(err, -ENOMEM, "%s", name);
		len = read_chunks(map, fd, end, text, &lines);
		if (lines.nr)
			*ret_table = build_table(&lines);
		free(lines.lines);
		free(text);
	}
	if (len < 0)
		return err_set(err, (int)len, "%s", name);
	if (!len && st.st_size > PERF_MAP_MAX_BYTES)
		return err_set(err, -EFBIG, "%s: only the first %d MiB are read", name,
			       PERF_MAP_MAX_BYTES >> 20);
	return 0;
}

int perf_map_refresh(struct perf_map *map, struct symbol_table **ret_table, struct err *err)
{
	struct target target = { .uid = geteuid(), .nspid = map->pid };
	char name[64];
	int fd, ret = 0;

	*ret_table = NULL;
	snprintf(name, sizeof(name), "the perf map of process %u", map->pid);
	if (map->proc)
		ret = read_status(map, &target);
	if (!ret && map->proc)
		ret = read_start(map, &target);
	if (ret)
		return err_set(err, ret, "%s", name);
	/* Another process by now: its map names other code. */
	if (map->start_ticks && map->start_ticks != target.start_ticks)
		return err_set(err, -ENOENT, "%s", name);
	map->start_ticks = target.start_ticks;
	fd = open_map(map, &target, err);
	if (fd < 0)
		return fd;
	ret = read_lines(map, fd, name, ret_table, err);
	close(fd);
	return ret;
}
