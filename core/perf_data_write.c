/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file in its order: header, ids and events as they are known at the start, data,
 * features and, if they have changed, ids and events as they are known at the end. The
 * header is what makes things count: it is written after what it tells of, so whenever
 * writing ends, by a signal or a full disk, the file is whole up to there, and what came
 * half is behind its end.
 *
 * Where ids came later the header then points to the second ids and events. Room could have
 * been left in the first ones, but nobody knows how many CPUs will be plugged in.
 */
#include "config.h"

#include "core/perf_data_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/perf_data_write_private.h"

struct file_attr {
	struct perf_event_attr attr;
	struct file_section ids;
};

struct event_table {
	struct file_attr *attrs; /* offsets of ids: from the first one on */
	size_t nr;
	uint64_t *ids;
	size_t nr_ids;
};

struct perf_data_writer {
	int fd;
	char *path;
	struct file_header header; /* as it is in the file */
	struct event_table events; /* as they stand at the front */
};

struct perf_data_tail {
	struct event_table events;
	struct feature_list features;
};

/* ---- events ---- */

static void event_table_init(struct event_table *table, const struct perf_data_write_event *events,
			     size_t nr_events)
{
	size_t at = 0;

	*table = (struct event_table){ .nr = nr_events };
	for (size_t i = 0; i < nr_events; i++)
		table->nr_ids += events[i].nr_ids;
	table->attrs = mem_calloc(nr_events, sizeof(*table->attrs));
	table->ids = mem_calloc(table->nr_ids, sizeof(*table->ids));
	for (size_t i = 0; i < nr_events; i++) {
		table->attrs[i] = (struct file_attr){
			.attr = attr_for_file(&events[i]),
			.ids.offset = at * sizeof(*table->ids),
			.ids.size = events[i].nr_ids * sizeof(*table->ids),
		};
		if (events[i].nr_ids)
			memcpy(table->ids + at, events[i].ids, table->attrs[i].ids.size);
		at += events[i].nr_ids;
	}
}

static void event_table_release(struct event_table *table)
{
	free(table->attrs);
	free(table->ids);
}

static bool is_same_table(const struct event_table *a, const struct event_table *b)
{
	return a->nr == b->nr && a->nr_ids == b->nr_ids &&
	       !memcmp(a->attrs, b->attrs, a->nr * sizeof(*a->attrs)) &&
	       (!a->nr_ids || !memcmp(a->ids, b->ids, a->nr_ids * sizeof(*a->ids)));
}

/* Append it to @buf, which begins at @offset in the file. Returns where the events are. */
static struct file_section put_event_table(struct textbuf *buf, const struct event_table *table,
					   uint64_t offset)
{
	uint64_t ids_at = offset + buf->len;
	struct file_section attrs = { .size = table->nr * sizeof(*table->attrs) };

	put_bytes(buf, table->ids, table->nr_ids * sizeof(*table->ids));
	attrs.offset = offset + buf->len;
	for (size_t i = 0; i < table->nr; i++) {
		struct file_attr attr = table->attrs[i];

		attr.ids.offset += ids_at;
		put_bytes(buf, &attr, sizeof(attr));
	}
	return attrs;
}

/* ---- writing ---- */

static uint64_t data_end(const struct perf_data_writer *writer)
{
	return writer->header.data.offset + writer->header.data.size;
}

static int write_bytes(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const char *next = bytes;

	while (size) {
		ssize_t nr = pwrite(fd, next, size, (off_t)offset);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		if (!nr)
			return -EIO;
		next += nr;
		size -= (size_t)nr;
		offset += (uint64_t)nr;
	}
	return 0;
}

/*
 * Write what @header tells of, then the header. When that fails the file is as it was;
 * the half that was written is given back to a disk that may be full.
 */
static int write_step(struct perf_data_writer *writer, const void *bytes, size_t size,
		      const struct file_header *header, struct err *err)
{
	uint64_t end = data_end(writer);
	int ret;

	ret = write_bytes(writer->fd, bytes, size, end);
	if (ret == 0)
		ret = write_bytes(writer->fd, header, sizeof(*header), 0);
	if (ret == 0) {
		writer->header = *header;
		return 0;
	}
	if (ftruncate(writer->fd, (off_t)end) < 0)
		return err_set(err, ret, "%s: cannot be written nor cut back", writer->path);
	return err_set(err, ret, "%s: cannot be written", writer->path);
}

/* ---- creating ---- */

static int check_type(const struct stat *st, const char *path, struct err *err)
{
	if (S_ISDIR(st->st_mode))
		return err_say(err, -EISDIR, "%s: is a folder; a recording goes to a file", path);
	if (!S_ISREG(st->st_mode))
		return err_say(err, -EINVAL, "%s: is no regular file; a recording needs one", path);
	return 0;
}

/* Another recording is kept. Nothing is opened: to open a device can do things. */
static int make_way(const char *path, struct err *err)
{
	struct stat st;
	char *old;
	int ret;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_set(err, -errno, "%s", path);
	ret = check_type(&st, path, err);
	if (ret < 0 || !st.st_size)
		return ret;
	old = mem_printf("%s.old", path);
	if (rename(path, old) < 0)
		ret = err_set(err, -errno, "%s: is there already and cannot be renamed to %s", path,
			      old);
	free(old);
	return ret;
}

/* What was there a moment ago can be another thing now, hence the checks again. */
static int open_file(struct perf_data_writer *writer, struct err *err)
{
	const char *path = writer->path;
	struct stat st;
	int ret;

	/* Recordings tell of other users' programs. */
	writer->fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
			  S_IRUSR | S_IWUSR);
	if (writer->fd < 0)
		return err_set(err, -errno, "%s: cannot be created", path);
	if (fstat(writer->fd, &st) < 0)
		return err_set(err, -errno, "%s", path);
	ret = check_type(&st, path, err);
	if (ret == 0 && st.st_size)
		ret = err_say(err, -EBUSY, "%s: somebody else is writing it", path);
	return ret;
}

static int write_front(struct perf_data_writer *writer, const struct perf_data_write_event *events,
		       size_t nr_events, struct err *err)
{
	struct file_header header = {
		.magic = PERF_DATA_MAGIC,
		.size = sizeof(header),
		.attr_size = sizeof(struct file_attr),
	};
	/* Without any data a file counts as broken, and nobody reads what it says of itself. */
	const struct perf_event_header round = {
		.type = FILE_FINISHED_ROUND,
		.size = sizeof(round),
	};
	struct textbuf buf = { 0 };
	int ret;

	event_table_init(&writer->events, events, nr_events);
	put_bytes(&buf, &header, sizeof(header));
	header.attrs = put_event_table(&buf, &writer->events, 0);
	header.data = (struct file_section){ .offset = buf.len, .size = sizeof(round) };
	put_bytes(&buf, &round, sizeof(round));
	ret = write_step(writer, buf.text, buf.len, &header, err);
	textbuf_release(&buf);
	return ret;
}

static void writer_free(struct perf_data_writer *writer)
{
	if (writer->fd >= 0)
		close(writer->fd);
	event_table_release(&writer->events);
	free(writer->path);
	free(writer);
}

int perf_data_writer_create(const char *path, const struct perf_data_write_event *events,
			    size_t nr_events, struct perf_data_writer **ret_writer, struct err *err)
{
	struct perf_data_writer *writer;
	int ret;

	ret = make_way(path, err);
	if (ret < 0)
		return ret;
	writer = mem_zalloc(sizeof(*writer));
	writer->path = mem_strdup(path);
	ret = open_file(writer, err);
	if (ret == 0)
		ret = write_front(writer, events, nr_events, err);
	if (ret < 0)
		goto err_free;
	*ret_writer = writer;
	return 0;

err_free:
	writer_free(writer);
	return ret;
}

/* ---- data and end ---- */

int perf_data_writer_append(struct perf_data_writer *writer, const void *records, size_t len,
			    struct err *err)
{
	struct file_header header = writer->header;

	header.data.size += len;
	return write_step(writer, records, len, &header, err);
}

uint64_t perf_data_writer_bytes(const struct perf_data_writer *writer)
{
	return data_end(writer);
}

struct perf_data_tail *perf_data_tail_new(const struct perf_data_write_event *events,
					  size_t nr_events,
					  const struct perf_data_write_facts *facts)
{
	struct perf_data_tail *tail = mem_zalloc(sizeof(*tail));

	event_table_init(&tail->events, events, nr_events);
	feature_list_init(&tail->features, events, nr_events, facts);
	return tail;
}

void perf_data_tail_free(struct perf_data_tail *tail)
{
	if (!tail)
		return;
	event_table_release(&tail->events);
	feature_list_release(&tail->features);
	free(tail);
}

/* Features follow the data at once: where each of them is, and then they themselves. */
static int write_tail(struct perf_data_writer *writer, const struct perf_data_tail *tail,
		      struct err *err)
{
	const struct feature_list *features = &tail->features;
	struct file_header header = writer->header;
	uint64_t end = data_end(writer);
	struct textbuf buf = { 0 };
	uint64_t start;
	int ret;

	start = end + features->nr * sizeof(features->sections[0]);
	for (size_t i = 0; i < features->nr; i++) {
		struct file_section section = features->sections[i];

		section.offset += start;
		put_bytes(&buf, &section, sizeof(section));
	}
	put_bytes(&buf, features->bytes.text, features->bytes.len);
	header.features[0] = features->mask;
	/* Those at the front are there, too, when the end is cut off. */
	if (!is_same_table(&tail->events, &writer->events))
		header.attrs = put_event_table(&buf, &tail->events, end);
	ret = write_step(writer, buf.text, buf.len, &header, err);
	textbuf_release(&buf);
	return ret;
}

int perf_data_writer_finish(struct perf_data_writer *writer, const struct perf_data_tail *tail,
			    struct err *err)
{
	int ret = tail ? write_tail(writer, tail, err) : 0;
	int fd = writer->fd;

	/* A file server may tell only here that its disk is full; closed it is in any case. */
	writer->fd = -1;
	if (close(fd) < 0 && errno != EINTR && ret == 0)
		ret = err_set(err, -errno, "%s: cannot be written", writer->path);
	writer_free(writer);
	return ret;
}
