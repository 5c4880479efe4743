/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel tells where its symbols start and nothing else. A symbol ends where
 * the next line of any type begins; but behind the last function of the kernel, of
 * a module, or before a gap, "next" may be gigabytes away, so what is too long or
 * is followed by another module is cut a page after the page it starts in.
 *
 * Padding (__pfx_, __cfi_: the bytes before a function that tracing and CFI patch)
 * and the marks at the ends of text sections end a symbol and name nothing: the
 * return address of a call that never returns may be there.
 *
 * The file is read whole into memory, since lines are not all in order (modules,
 * BPF): the names stay where they are while the lines are sorted. The kernel makes
 * the text for each read(), so the time is mostly its own.
 */
#include "config.h"

#include "symbols/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "symbols/symbol.h"

#define MAX_FILE_BYTES (256u << 20)
#define READ_BYTES (256u << 10)

/* The largest function of a usual kernel is 20 KiB long, of one with KASAN some 100 KiB. */
#define MAX_SYMBOL_BYTES (256u << 10)
#define PAGE_BYTES 4096u

struct line {
	uint64_t address;
	const char *name;   /* not terminated */
	const char *object; /* terminated; NULL: the kernel itself */
	uint32_t name_len;
	char type;
};

struct reader {
	char *text; /* the file, NUL-terminated */
	size_t text_len;
	struct line *lines;
	size_t nr_lines, nr_allocated;
	bool has_lines; /* also such with address 0 */
};

static int read_all(int fd, struct reader *reader)
{
	size_t nr_allocated = 0;

	for (;;) {
		ssize_t nr;

		if (nr_allocated - reader->text_len < READ_BYTES) {
			char *text;

			nr_allocated = MAX(2 * nr_allocated, 2 * READ_BYTES);
			text = realloc(reader->text, nr_allocated);
			if (!text)
				return -ENOMEM;
			reader->text = text;
		}
		nr = read(fd, reader->text + reader->text_len, READ_BYTES - 1);
		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		reader->text_len += (size_t)nr;
		if (reader->text_len > MAX_FILE_BYTES)
			return -EFBIG;
		if (nr == 0)
			break;
	}
	reader->text[reader->text_len] = '\0';
	return 0;
}

static int read_file(const char *path, struct reader *reader, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	int ret = 0;

	if (fd < 0)
		return err_set(err, -errno, "%s", path);
	if (fstat(fd, &status))
		ret = -errno;
	else if (!S_ISREG(status.st_mode))
		ret = -EINVAL;
	if (!ret)
		ret = read_all(fd, reader);
	close(fd);
	return ret ? err_set(err, ret, "%s", path) : 0;
}

/* Digits at *@pos, which moves behind them; false when there is none or more than 16. */
static bool parse_address(char **pos, uint64_t *ret_address)
{
	uint64_t address = 0;
	char *digit = *pos;

	for (;; digit++) {
		unsigned int value = (unsigned int)(unsigned char)*digit - '0';

		if (value > 9) {
			value = ((unsigned int)(unsigned char)*digit | 0x20) - 'a';
			if (value > 5)
				break;
			value += 10;
		}
		address = address << 4 | value;
	}
	if (digit == *pos || digit - *pos > 16)
		return false;
	*pos = digit;
	*ret_address = address;
	return true;
}

/* "ADDRESS TYPE NAME[\t[OBJECT]]" between @pos and @end, which is NUL; false when malformed. */
static bool parse_line(char *pos, char *end, struct line *ret_line)
{
	struct line line = { .object = NULL };
	char *tab;

	if (!parse_address(&pos, &line.address) || end - pos < 4 || pos[0] != ' ' || pos[2] != ' ')
		return false;
	line.type = pos[1];
	line.name = pos + 3;
	tab = memchr(line.name, '\t', (size_t)(end - line.name));
	line.name_len = (uint32_t)((tab ? tab : end) - line.name);
	if (tab && tab[1] == '[') {
		char *close = memchr(tab, ']', (size_t)(end - tab));

		if (!close)
			return false;
		*close = '\0';
		line.object = tab + 2;
	}
	*ret_line = line;
	return line.name_len > 0;
}

static void parse_lines(struct reader *reader)
{
	char *pos = reader->text, *text_end = reader->text + reader->text_len;
	struct line line;

	while (pos < text_end) {
		char *end = memchr(pos, '\n', (size_t)(text_end - pos));

		if (!end)
			end = text_end;
		*end = '\0';
		if (parse_line(pos, end, &line)) {
			reader->has_lines = true;
			if (line.address) {
				mem_grow(reader->lines, reader->nr_lines, reader->nr_allocated);
				reader->lines[reader->nr_lines++] = line;
			}
		}
		pos = end + 1;
	}
}

static int compare_lines(const void *left_arg, const void *right_arg)
{
	const struct line *left = left_arg, *right = right_arg;

	return (left->address > right->address) - (left->address < right->address);
}

static void sort_lines(struct reader *reader)
{
	for (size_t i = 1; i < reader->nr_lines; i++) {
		if (reader->lines[i - 1].address > reader->lines[i].address) {
			qsort(reader->lines, reader->nr_lines, sizeof(*reader->lines),
			      compare_lines);
			return;
		}
	}
}

static bool line_is(const struct line *line, const char *name)
{
	return line->name_len == strlen(name) && !memcmp(line->name, name, line->name_len);
}

static bool begins_with(const struct line *line, const char *prefix)
{
	size_t len = strlen(prefix);

	return line->name_len > len && !memcmp(line->name, prefix, len);
}

static bool ends_with(const struct line *line, const char *suffix)
{
	size_t len = strlen(suffix);

	return line->name_len > len && !memcmp(line->name + line->name_len - len, suffix, len);
}

static bool is_text(const struct line *line)
{
	return line->type && strchr("tTwWi", line->type);
}

/* Padding and marks, see above. */
static bool names_nothing(const struct line *line)
{
	return begins_with(line, "__pfx_") || begins_with(line, "__cfi_") ||
	       ends_with(line, "_text_end") || line_is(line, "_etext") ||
	       line_is(line, "_einittext");
}

static enum symbol_binding line_binding(const struct line *line)
{
	switch (line->type) {
	case 'T':
		return SYMBOL_GLOBAL;
	case 'W':
	case 'w':
		return SYMBOL_WEAK;
	default:
		return SYMBOL_LOCAL;
	}
}

static bool is_same_object(const struct line *left, const struct line *right)
{
	if (!left->object || !right->object)
		return left->object == right->object;
	return !strcmp(left->object, right->object);
}

/* Bytes of @line, when @next (NULL: none) is the first one at a higher address. */
static uint64_t line_size(const struct line *line, const struct line *next)
{
	uint64_t rest_of_page = PAGE_BYTES - line->address % PAGE_BYTES;
	uint64_t size = next ? next->address - line->address : UINT64_MAX;

	if (size <= MAX_SYMBOL_BYTES && is_text(next) && is_same_object(line, next))
		return size;
	return MIN(size, rest_of_page + PAGE_BYTES);
}

static void add_symbols(const struct reader *reader, struct symbol_table *table)
{
	const struct line *line = reader->lines, *end = reader->lines + reader->nr_lines;
	const struct line *next = line;

	for (; line < end; line++) {
		if (!is_text(line) || names_nothing(line))
			continue;
		next = MAX(next, line);
		while (next < end && next->address == line->address)
			next++;
		symbol_table_add(table, line->address, line_size(line, next < end ? next : NULL), 0,
				 line_binding(line), line->name, line->name_len, line->object);
	}
}

int kallsyms_read(const char *path, struct symbol_table **ret_table, struct err *err)
{
	struct reader reader = { .text = NULL };
	struct symbol_table *table;
	int ret = read_file(path, &reader, err);

	if (!ret)
		parse_lines(&reader);
	if (!ret && reader.has_lines && !reader.nr_lines) {
		ret = err_say(err, -EACCES, "%s: addresses are hidden (all zero)", path);
		err_hint(err, "Run as root, or set kernel.kptr_restrict to 0 (1: CAP_SYSLOG).");
	}
	if (!ret) {
		sort_lines(&reader);
		table = symbol_table_new();
		add_symbols(&reader, table);
		symbol_table_finish(table);
		*ret_table = table;
	}
	free(reader.lines);
	free(reader.text);
	return ret;
}

int kallsyms_addresses(const char *path, const char *const *names, size_t nr,
		       uint64_t *ret_addresses)
{
	struct reader reader = { .text = NULL };
	int ret = read_file(path, &reader, NULL);

	if (!ret)
		parse_lines(&reader);
	for (size_t i = 0; i < nr; i++)
		ret_addresses[i] = 0;
	for (size_t i = 0; i < reader.nr_lines; i++) {
		const struct line *line = &reader.lines[i];

		for (size_t j = 0; j < nr && !line->object; j++) {
			if (line_is(line, names[j]))
				ret_addresses[j] = line->address;
		}
	}
	free(reader.lines);
	free(reader.text);
	return ret;
}
