/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way back from tables to records: what core/record_apply.c and the thread table make
 * of a record is here turned into a record of which they make the same.
 *
 * Most facts are older than the recording and get its start as their time. Those that are
 * younger (a flight recorder has been keeping for a while) are put aside and sorted:
 * readers sort by time, but some of them by inserting into a list.
 */
#include "config.h"

#include "core/record_state.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/kernel_map.h"
#include "symbols/dso.h"

struct younger {
	uint64_t time_ns;
	size_t offset; /* in the buffer of the younger ones */
};

struct state {
	struct record_buffer *buffer;
	const struct record_format *format;
	uint64_t start_ns;
	struct record_buffer younger_records;
	struct younger *younger;
	size_t nr_younger, nr_younger_allocated;
};

/* ---- the kernel ---- */

static void write_part(void *arg, const struct kernel_part *part)
{
	const struct state *state = arg;

	record_write_kernel_mmap(state->buffer, state->format, part->start, part->len, part->pgoff,
				 part->name, state->start_ns);
}

void record_state_kernel(struct record_buffer *buffer, const struct record_format *format,
			 const char *proc, uint64_t time_ns)
{
	struct state state = { .buffer = buffer, .format = format, .start_ns = time_ns };

	kernel_map_read(proc, "/lib/modules", write_part, &state);
}

/* ---- tasks ---- */

/* Where a record of @time_ns goes. */
static struct record_buffer *buffer_at(struct state *state, uint64_t time_ns)
{
	if (time_ns <= state->start_ns)
		return state->buffer;
	mem_grow(state->younger, state->nr_younger, state->nr_younger_allocated);
	state->younger[state->nr_younger++] = (struct younger){
		.time_ns = time_ns,
		.offset = state->younger_records.len,
	};
	return &state->younger_records;
}

static void write_comm(void *arg, uint32_t pid, uint32_t tid, const char *comm, bool exec,
		       uint64_t time_ns)
{
	struct state *state = arg;

	record_write_comm(buffer_at(state, time_ns), state->format, pid, tid, comm, exec, time_ns);
}

static void describe_file(const struct dso *dso, unsigned char id[static 20],
			  struct map_fact *ret_map)
{
	const struct dso_key *key = dso_key(dso);
	const struct str *path = dso_path(dso);

	ret_map->build_id_size = (uint8_t)dso_key_build_id(key, id);
	ret_map->build_id = id;
	/* What was not identified has the hash of its path for an inode. */
	if (ret_map->build_id_size ||
	    (!key->dev_major && !key->dev_minor && key->inode == hash_bytes(path->text, path->len)))
		return;
	ret_map->dev_major = key->dev_major;
	ret_map->dev_minor = key->dev_minor;
	ret_map->inode = key->inode;
	ret_map->inode_generation = key->generation;
}

static void write_map(void *arg, uint32_t pid, const struct map_view *map, uint64_t time_ns)
{
	struct state *state = arg;
	unsigned char id[20] = { 0 };
	struct map_fact fact = {
		.start = map->start,
		.end = map->end,
		.path = dso_path(map->dso)->text,
	};

	switch (dso_kind(map->dso)) {
	case DSO_FILE:
		fact.pgoff = map->pgoff;
		describe_file(map->dso, id, &fact);
		break;
	case DSO_GENERATED:
		/* Another's: the record of the fork is there, and tells whose. */
		if (dso_key(map->dso)->owner != pid && time_ns > state->start_ns)
			return;
		fact.path = "//anon";
		break;
	case DSO_VDSO:
	case DSO_UNKNOWN:
		break;
	case DSO_KERNEL:
	case NR_DSO_KINDS:
		return;
	}
	record_write_mmap(buffer_at(state, time_ns), state->format, pid, &fact, time_ns);
}

/* ---- in the order of time ---- */

static int compare_younger(const void *left_arg, const void *right_arg)
{
	const struct younger *left = left_arg, *right = right_arg;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->offset > right->offset) - (left->offset < right->offset);
}

static void append_younger(struct state *state)
{
	struct record_buffer *from = &state->younger_records;
	struct record_buffer *to = state->buffer;

	if (!state->nr_younger)
		return;
	qsort(state->younger, state->nr_younger, sizeof(*state->younger), compare_younger);
	to->nr_allocated = MAX(to->nr_allocated, to->len + from->len);
	to->bytes = mem_resize(to->bytes, to->nr_allocated, 1);
	for (size_t i = 0; i < state->nr_younger; i++) {
		const unsigned char *record = from->bytes + state->younger[i].offset;
		struct perf_event_header header;

		memcpy(&header, record, sizeof(header));
		memcpy(to->bytes + to->len, record, header.size);
		to->len += header.size;
	}
}

void record_state_tasks(struct record_buffer *buffer, const struct record_format *format,
			struct thread_table *table, uint64_t start_ns)
{
	struct state state = { .buffer = buffer, .format = format, .start_ns = start_ns };
	const struct thread_table_visitor visitor = {
		.on_comm = write_comm,
		.on_map = write_map,
		.arg = &state,
	};

	thread_table_walk(table, &visitor, start_ns);
	append_younger(&state);
	record_buffer_release(&state.younger_records);
	free(state.younger);
}
