/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file begins with a header that tells where events, data and features are; what came
 * out of a pipe begins with a short one, and all that is in records. A recorder that
 * was killed has left the size of the data at 0: they end with the file then, and there
 * are no features, whatever the header says.
 *
 * Everything up to the first sample is read when the file is opened, so that events and
 * their names are known in either form.
 */
#include "config.h"

#include "core/perf_data.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/event.h"
#include "core/perf_data_private.h"

#define MAGIC_SWAPPED UINT64_C(0x50455246494c4532) /* of the other byte order */
#define MAGIC_OLD "PERFFILE"

#define MAX_FEATURE_BYTES ((uint64_t)64 << 20)
#define MAX_ATTR_BYTES 4096

/* How much may wait to be put in order. */
#define MAX_WAITING_BYTES ((uint64_t)256 << 20)
#define MAX_WAITING_RECORDS ((size_t)4 << 20)

/* Bytes read in search of the first sample. */
#define MAX_PREFACE_BYTES ((uint64_t)64 << 20)

struct perf_data {
	int fd;
	uint64_t size; /* of the file */
	bool is_pipe;
	bool seen_sample;
	bool ended; /* nothing more comes out of the input */
	struct attr_table attrs;
	struct features features;
	struct file_input input;
	struct order order;
	struct perf_data_figures figures;
	char trouble[1024]; /* "": none */
};

static void add_trouble(struct perf_data *data, const char *text)
{
	size_t len = strlen(data->trouble);

	if (*text)
		snprintf(data->trouble + len, sizeof(data->trouble) - len, "%s%s", len ? "; " : "",
			 text);
}

/* ---- records ---- */

static void end_input(struct perf_data *data, const char *reason)
{
	data->ended = true;
	order_finish(&data->order);
	add_trouble(data, reason);
}

static void add_feature_record(struct perf_data *data, const struct perf_event_header *header)
{
	const uint64_t *words = (const void *)(header + 1);

	if (header->size >= 16 && words[0] < NR_FEATURES)
		features_add(&data->features, (unsigned int)words[0], words + 1,
			     header->size - 16U);
}

static void take_file_record(struct perf_data *data, const struct perf_event_header *header)
{
	switch (header->type) {
	case FILE_ATTR:
		/* Too many events or ids: their records cannot be told apart. */
		if (data->is_pipe && attr_table_add_record(&data->attrs, header) < 0)
			end_input(data, "it has too many events");
		break;
	case FILE_EVENT_UPDATE:
		attr_table_update(&data->attrs, header);
		break;
	case FILE_FEATURE:
		add_feature_record(data, header);
		break;
	case FILE_BUILD_ID:
		features_add_build_id(&data->features, header);
		break;
	case FILE_FINISHED_ROUND:
		order_finish_round(&data->order);
		break;
	default:
		data->figures.nr_skipped++;
	}
}

static void take_kernel_record(struct perf_data *data, const struct perf_event_header *header,
			       struct chunk *chunk)
{
	struct item item = { .header = header };

	data->figures.nr_records++;
	if (!attr_table_identify(&data->attrs, header, &item.time, &item.event)) {
		data->figures.nr_malformed++;
		return;
	}
	data->seen_sample |= header->type == PERF_RECORD_SAMPLE;
	item.chunk = chunk_get(chunk);
	order_add(&data->order, &item);
	if (data->input.chunks.live_bytes > MAX_WAITING_BYTES ||
	    data->order.waiting.nr > MAX_WAITING_RECORDS)
		order_release_half(&data->order);
}

/* One record more out of the input; false at its end. */
static bool read_record(struct perf_data *data)
{
	const struct perf_event_header *header;
	struct chunk *chunk;

	if (data->ended)
		return false;
	if (!file_input_next(&data->input, &header, &chunk)) {
		end_input(data, data->input.trouble);
		return false;
	}
	if (header->type >= FIRST_FILE_TYPE)
		take_file_record(data, header);
	else
		take_kernel_record(data, header, chunk);
	return true;
}

bool perf_data_peek(struct perf_data *data, struct perf_data_record *ret_record)
{
	const struct item *item;

	while (!(item = order_peek(&data->order))) {
		if (!read_record(data) && !order_peek(&data->order))
			return false;
	}
	*ret_record = (struct perf_data_record){
		.header = item->header,
		.format = &data->attrs.entries[item->event].format,
		.time = item->time == UINT64_MAX ? 0 : item->time,
		.event = item->event,
	};
	return true;
}

void perf_data_pop(struct perf_data *data)
{
	order_pop(&data->order);
}

/* ---- opening ---- */

static int read_bytes(int fd, uint64_t offset, void *bytes, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t nr = pread(fd, (char *)bytes + len, size - len, (off_t)(offset + len));

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		if (!nr)
			return -ENODATA;
		len += (size_t)nr;
	}
	return 0;
}

static bool is_inside(const struct file_section *section, uint64_t size)
{
	return section->offset <= size && section->size <= size - section->offset;
}

/* The bytes of @section, the caller's; NULL when there are none or too many. */
static void *read_section(const struct perf_data *data, const struct file_section *section,
			  uint64_t max_bytes)
{
	void *bytes;

	if (!section->size || section->size > max_bytes || !is_inside(section, data->size))
		return NULL;
	bytes = malloc((size_t)section->size);
	if (bytes && read_bytes(data->fd, section->offset, bytes, (size_t)section->size) < 0) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

static int open_file(struct perf_data *data, const char *path, struct err *err)
{
	struct stat st;

	data->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (data->fd < 0)
		return err_set(err, -errno, "%s", path);
	if (fstat(data->fd, &st) < 0)
		return err_set(err, -errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return err_say(err, -EISDIR,
			       "%s: is a folder, as perf record --threads makes it; only files can "
			       "be replayed",
			       path);
	if (!S_ISREG(st.st_mode))
		return err_say(err, -EINVAL, "%s: is no regular file", path);
	data->size = (uint64_t)st.st_size;
	/* Once, from the front to the end; a file system may not care. */
	(void)posix_fadvise(data->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

static int check_magic(const struct perf_data *data, const struct file_header *header,
		       const char *path, struct err *err)
{
	if (data->size < 16)
		return err_say(err, -EINVAL, "%s: is no perf.data file: only %" PRIu64 " bytes",
			       path, data->size);
	if (header->magic == MAGIC_SWAPPED)
		return err_say(err, -ENOTSUP,
			       "%s: was recorded on a machine of the other byte order; replay it "
			       "on one like that",
			       path);
	if (!memcmp(&header->magic, MAGIC_OLD, sizeof(header->magic)))
		return err_say(err, -ENOTSUP,
			       "%s: is a perf.data file of the old format, which Linux 3.7 left",
			       path);
	if (header->magic != PERF_DATA_MAGIC)
		return err_say(err, -EINVAL, "%s: is no perf.data file", path);
	if (header->size != 16 && (header->size < sizeof(*header) || data->size < sizeof(*header)))
		return err_say(err, -EINVAL, "%s: is cut within its header", path);
	return 0;
}

static int add_attr(struct perf_data *data, const unsigned char *bytes, size_t size)
{
	struct file_section ids;
	uint32_t attr_size;
	void *id_bytes;
	int ret;

	memcpy(&ids, bytes + size - sizeof(ids), sizeof(ids));
	size -= sizeof(ids);
	memcpy(&attr_size, bytes + 4, sizeof(attr_size));
	if (!attr_size)
		attr_size = PERF_ATTR_SIZE_VER0;
	/* Without its ids an event can still be the only one. */
	id_bytes = read_section(data, &ids, MAX_FEATURE_BYTES);
	ret = attr_table_add(&data->attrs, bytes, MIN(size, attr_size), id_bytes,
			     id_bytes ? (size_t)(ids.size / 8) : 0);
	free(id_bytes);
	return ret;
}

static int read_attrs(struct perf_data *data, const struct file_header *header, const char *path,
		      struct err *err)
{
	uint64_t size = header->attr_size;
	unsigned char *bytes;
	int ret = 0;

	if (size < PERF_ATTR_SIZE_VER0 + sizeof(struct file_section) || size > MAX_ATTR_BYTES)
		return err_say(err, -EINVAL,
			       "%s: is corrupt: its events have %" PRIu64 " bytes each", path,
			       size);
	bytes = read_section(data, &header->attrs, MAX_FEATURE_BYTES);
	if (!bytes)
		return err_say(err, -EINVAL, "%s: the description of its events cannot be read",
			       path);
	for (uint64_t at = 0; at + size <= header->attrs.size && ret == 0; at += size)
		ret = add_attr(data, bytes + at, (size_t)size);
	free(bytes);
	return ret < 0 ? err_say(err, ret, "%s: has too many events", path) : 0;
}

static void read_features(struct perf_data *data, const struct file_header *header)
{
	uint64_t offset = header->data.offset + header->data.size;

	for (unsigned int i = 0; i < NR_FEATURES; i++) {
		struct file_section section;
		void *bytes;

		if (!(header->features[i / 64] >> (i % 64) & 1))
			continue;
		if (offset > data->size - sizeof(section) ||
		    read_bytes(data->fd, offset, &section, sizeof(section)) < 0)
			return;
		offset += sizeof(section);
		bytes = read_section(data, &section, MAX_FEATURE_BYTES);
		if (bytes)
			features_add(&data->features, i, bytes, (size_t)section.size);
		free(bytes);
	}
}

static int read_file_header(struct perf_data *data, const struct file_header *header,
			    const char *path, struct err *err)
{
	uint64_t start = header->data.offset;
	uint64_t end = data->size;
	int ret;

	ret = read_attrs(data, header, path, err);
	if (ret < 0)
		return ret;
	if (start > data->size)
		return err_say(err, -EINVAL, "%s: is cut: it ends before its data begin", path);
	if (!header->data.size) {
		add_trouble(data,
			    "its recorder did not end properly: host and kernel are not known");
	} else if (!is_inside(&header->data, data->size)) {
		snprintf(data->trouble, sizeof(data->trouble),
			 "the file is cut: %.4g%% of the data are there",
			 100 * (double)(end - start) / (double)header->data.size);
	} else {
		end = start + header->data.size;
		read_features(data, header);
	}
	file_input_init(&data->input, data->fd, start, end);
	return 0;
}

static int read_header(struct perf_data *data, const char *path, struct err *err)
{
	struct file_header header = { 0 };
	int ret;

	ret = read_bytes(data->fd, 0, &header, (size_t)MIN(data->size, sizeof(header)));
	if (ret < 0)
		return err_set(err, ret, "%s", path);
	ret = check_magic(data, &header, path, err);
	if (ret < 0)
		return ret;
	data->is_pipe = header.size == 16;
	if (!data->is_pipe)
		return read_file_header(data, &header, path, err);
	file_input_init(&data->input, data->fd, 16, data->size);
	return 0;
}

static void read_preface(struct perf_data *data)
{
	while (!data->seen_sample && data->input.offset - data->input.start < MAX_PREFACE_BYTES) {
		if (!read_record(data))
			return;
	}
}

int perf_data_open(const char *path, struct perf_data **ret_data, struct err *err)
{
	struct perf_data *data = mem_zalloc(sizeof(*data));
	int ret;

	data->fd = -1;
	features_init(&data->features);
	ret = open_file(data, path, err);
	if (ret == 0)
		ret = read_header(data, path, err);
	if (ret < 0)
		goto err_close;
	read_preface(data);
	if (!data->attrs.nr) {
		ret = err_say(err, -EINVAL, "%s: tells of no events%s%s", path,
			      data->trouble[0] ? ": " : "", data->trouble);
		goto err_close;
	}
	*ret_data = data;
	return 0;

err_close:
	perf_data_close(data);
	return ret;
}

void perf_data_close(struct perf_data *data)
{
	if (!data)
		return;
	order_release(&data->order);
	file_input_release(&data->input);
	attr_table_release(&data->attrs);
	features_release(&data->features);
	if (data->fd >= 0)
		close(data->fd);
	free(data);
}

/* ---- questions ---- */

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

void perf_data_get_info(const struct perf_data *data, struct perf_data_info *ret_info)
{
	const struct features *features = &data->features;

	*ret_info = (struct perf_data_info){
		.host = text_or_empty(features->host),
		.release = text_or_empty(features->release),
		.version = text_or_empty(features->version),
		.arch = text_or_empty(features->arch),
		.command = text_or_empty(features->command),
		.nr_cpus = features->nr_cpus,
		.nr_cpus_online = features->nr_cpus_online,
		.size = data->size,
		.first_ns = features->first_ns,
		.last_ns = features->last_ns,
		.is_pipe = data->is_pipe,
	};
	for (size_t i = 0; i < data->attrs.nr; i++)
		ret_info->has_callchains |=
			!!(data->attrs.entries[i].format.sample_type & PERF_SAMPLE_CALLCHAIN);
}

size_t perf_data_nr_events(const struct perf_data *data)
{
	return data->attrs.nr;
}

void perf_data_get_event(const struct perf_data *data, size_t index,
			 struct perf_data_event *ret_event)
{
	const struct attr_entry *entry = &data->attrs.entries[index];

	*ret_event = (struct perf_data_event){
		.name = entry->name,
		.attr = entry->attr,
		.format = entry->format,
	};
	if (!ret_event->name && index < data->features.nr_event_names)
		ret_event->name = data->features.event_names[index];
	if (!ret_event->name)
		ret_event->name = event_generic_name(&entry->attr);
	if (!ret_event->name)
		ret_event->name = "unnamed";
}

void perf_data_get_cpumap(const struct perf_data *data, struct cpumap *ret_map)
{
	const struct features *features = &data->features;
	unsigned int nr = features->nr_cpus;

	*ret_map = (struct cpumap){ .nr_possible = nr, .nr_online = features->nr_cpus_online };
	for (unsigned int i = 0; i < nr; i++)
		cpuset_add(&ret_map->possible, i);
	/* Which ones were online is not said. */
	ret_map->online = ret_map->possible;
	ret_map->node_of_cpu = mem_calloc(MAX(nr, 1U), sizeof(uint16_t));
	ret_map->nr_node_of_cpu = nr;
	for (size_t i = 0; i < features->nr_nodes; i++) {
		const struct node_entry *node = &features->nodes[i];

		cpuset_add(&ret_map->nodes, node->id);
		for (unsigned int cpu = 0; cpu < nr; cpu++) {
			if (cpuset_has(&node->cpus, cpu))
				ret_map->node_of_cpu[cpu] = (uint16_t)node->id;
		}
	}
	ret_map->has_nodes = features->nr_nodes != 0;
	if (!ret_map->has_nodes)
		cpuset_add(&ret_map->nodes, 0);
	ret_map->nr_nodes = cpuset_nr(&ret_map->nodes);
}

size_t perf_data_build_id(struct perf_data *data, const char *path, unsigned char ret_id[static 20])
{
	return features_build_id(&data->features, path, ret_id);
}

void perf_data_get_figures(const struct perf_data *data, struct perf_data_figures *ret_figures)
{
	const struct file_input *input = &data->input;

	*ret_figures = data->figures;
	ret_figures->nr_unsorted = data->order.nr_unsorted;
	ret_figures->bytes_read = input->offset - input->start;
	ret_figures->bytes_total = input->end - input->start;
}

const char *perf_data_trouble(const struct perf_data *data)
{
	return data->trouble[0] ? data->trouble : NULL;
}
