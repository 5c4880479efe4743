/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof: profile.proto of https://github.com/google/pprof, gzip-compressed.
 *
 * A profile is one protobuf message. Its parts, which refer to one another by number, are
 * gathered side by side while the stacks are walked and put together at the end: samples
 * (locations innermost first, values, labels), locations, functions, mappings, strings,
 * of which the first is "". Only varints and length-delimited fields are needed.
 *
 * Each event has two values, the number of samples and the sum of periods; the first is
 * what pprof shows unless asked. Labels are comm, pid, tid, cpu, node.
 *
 * A location is a place of the snapshot: a function, not an address. Addresses stand only
 * where there is no symbol, and are offsets in the object then; a mapping says which object.
 */
#include "config.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#include "core/base/clock.h"
#include "top/interner.h"
#include "top/output_format.h"
#include "top/stacks.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_STRING = 2, LABEL_NUMBER = 3, LABEL_UNIT = 4 };
enum mapping_field { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum location_field {
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4
};
enum line_field { LINE_FUNCTION = 1 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2 };

struct pprof {
	struct report *report;
	struct textbuf profile; /* the message so far */
	struct interner strings;
	struct interner locations;	/* by pointer to the place */
	struct interner functions;	/* by name and mapping */
	struct interner mappings;	/* by string of the path */
	struct textbuf message, packed; /* scratch */
	double nr_samples, period;	/* of the first event */
};

/* ---- protobuf ---- */

static void add_varint(struct textbuf *buf, uint64_t value)
{
	char byte;

	for (; value >= 0x80; value >>= 7) {
		byte = (char)(value | 0x80);
		textbuf_add(buf, &byte, 1);
	}
	byte = (char)value;
	textbuf_add(buf, &byte, 1);
}

static void add_number(struct textbuf *buf, unsigned int field, uint64_t value)
{
	add_varint(buf, field << 3 | 0);
	add_varint(buf, value);
}

static void add_bytes(struct textbuf *buf, unsigned int field, const char *bytes, size_t len)
{
	add_varint(buf, field << 3 | 2);
	add_varint(buf, len);
	textbuf_add(buf, bytes ? bytes : "", len);
}

static void add_message(struct textbuf *buf, unsigned int field, struct textbuf *message)
{
	add_bytes(buf, field, message->text, message->len);
	textbuf_clear(message);
}

/* ---- tables: ids begin at 1 ---- */

static uint32_t string_id(struct pprof *out, const char *text)
{
	return interner_add_text(&out->strings, text);
}

static uint32_t mapping_id(struct pprof *out, const struct frame_place *place)
{
	uint32_t file = string_id(out, place->dso_path[0] ? place->dso_path : place->dso);
	size_t nr = out->mappings.nr;
	uint32_t id = interner_add(&out->mappings, &file, sizeof(file)) + 1;

	if (out->mappings.nr == nr)
		return id;
	add_number(&out->message, MAPPING_ID, id);
	add_number(&out->message, MAPPING_FILE, file);
	/* Names are final: nobody need look for the file. */
	add_number(&out->message, MAPPING_HAS_FUNCTIONS, 1);
	add_message(&out->profile, PROFILE_MAPPING, &out->message);
	return id;
}

static uint32_t function_id(struct pprof *out, const struct frame_place *place, uint32_t mapping)
{
	const uint32_t key[] = { string_id(out, place_name(place)), mapping };
	size_t nr = out->functions.nr;
	uint32_t id = interner_add(&out->functions, key, sizeof(key)) + 1;

	if (out->functions.nr == nr)
		return id;
	add_number(&out->message, FUNCTION_ID, id);
	add_number(&out->message, FUNCTION_NAME, key[0]);
	add_message(&out->profile, PROFILE_FUNCTION, &out->message);
	return id;
}

static uint32_t location_id(struct pprof *out, const struct frame_place *place)
{
	size_t nr = out->locations.nr;
	uintptr_t address = (uintptr_t)place;
	uint32_t id = interner_add(&out->locations, &address, sizeof(address)) + 1;
	uint32_t mapping, function;

	if (out->locations.nr == nr)
		return id;
	mapping = mapping_id(out, place);
	function = function_id(out, place, mapping);
	add_number(&out->packed, LINE_FUNCTION, function);
	add_number(&out->message, LOCATION_ID, id);
	add_number(&out->message, LOCATION_MAPPING, mapping);
	add_number(&out->message, LOCATION_ADDRESS, place->offset);
	add_message(&out->message, LOCATION_LINE, &out->packed);
	add_message(&out->profile, PROFILE_LOCATION, &out->message);
	return id;
}

/* ---- samples ---- */

/* 0: the only event, or one that nobody named. */
static size_t event_index(const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot_nr_events(snapshot); i++) {
		if (!strcmp(snapshot_event(snapshot, i)->name, name))
			return i;
	}
	return 0;
}

static size_t nr_events(const struct pprof *out)
{
	return MAX(snapshot_nr_events(out->report->snapshot), (size_t)1);
}

static void add_label(struct pprof *out, struct textbuf *sample, const char *key, const char *text)
{
	add_number(&out->packed, LABEL_KEY, string_id(out, key));
	add_number(&out->packed, LABEL_STRING, string_id(out, text));
	add_message(sample, SAMPLE_LABEL, &out->packed);
}

static void add_id_label(struct pprof *out, struct textbuf *sample, const char *key, int64_t id)
{
	if (id < 0)
		return;
	add_number(&out->packed, LABEL_KEY, string_id(out, key));
	add_number(&out->packed, LABEL_NUMBER, (uint64_t)id);
	/* Without a unit readers take 0 (a CPU, a node) for no number at all. */
	add_number(&out->packed, LABEL_UNIT, string_id(out, key));
	add_message(sample, SAMPLE_LABEL, &out->packed);
}

static void add_sample(struct pprof *out, const struct stack *stack, struct textbuf *sample)
{
	const struct row *row = stack->row;
	size_t event = event_index(out->report->snapshot, row->event);
	struct textbuf ids = { 0 };

	for (size_t i = 0; i < stack->nr_places; i++)
		add_varint(&ids, location_id(out, stack->places[i]));
	add_message(sample, SAMPLE_LOCATION, &ids);
	for (size_t i = 0; i < nr_events(out); i++) {
		add_varint(&ids, i == event ? stack->nr_samples : 0);
		add_varint(&ids, i == event ? (uint64_t)llround(stack->period) : 0);
	}
	add_message(sample, SAMPLE_VALUE, &ids);
	add_label(out, sample, "comm", stack_comm(stack));
	add_id_label(out, sample, "pid", row->pid);
	add_id_label(out, sample, "tid", row->tid);
	add_id_label(out, sample, "cpu", row->cpu);
	add_id_label(out, sample, "node", row->node);
	add_message(&out->profile, PROFILE_SAMPLE, sample);
	textbuf_release(&ids);
	if (event)
		return;
	out->nr_samples += (double)stack->nr_samples;
	out->period += stack->period;
}

/* ---- about all of it ---- */

/* With or without modifiers. */
static const char *event_unit(const char *event)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock" };

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		if (!strncmp(event, clocks[i], strlen(clocks[i])))
			return "nanoseconds";
	}
	return "count";
}

static void add_value_type(struct pprof *out, unsigned int field, const char *type,
			   const char *unit)
{
	add_number(&out->message, VALUE_TYPE, string_id(out, type));
	add_number(&out->message, VALUE_UNIT, string_id(out, unit));
	add_message(&out->profile, field, &out->message);
}

/* "samples" and the event; with several events "EVENT-samples". */
static void add_types(struct pprof *out)
{
	const struct snapshot *snapshot = out->report->snapshot;
	struct textbuf type = { 0 };

	for (size_t i = 0; i < nr_events(out); i++) {
		const char *name =
			snapshot_nr_events(snapshot) ? snapshot_event(snapshot, i)->name : "event";

		textbuf_clear(&type);
		if (nr_events(out) > 1)
			textbuf_printf(&type, "%s-", name);
		textbuf_puts(&type, "samples");
		add_value_type(out, PROFILE_SAMPLE_TYPE, type.text, "count");
		add_value_type(out, PROFILE_SAMPLE_TYPE, name, event_unit(name));
		if (i)
			continue;
		add_number(&out->profile, PROFILE_DEFAULT_TYPE, string_id(out, type.text));
		add_value_type(out, PROFILE_PERIOD_TYPE, name, event_unit(name));
	}
	textbuf_release(&type);
}

static void add_comments(struct pprof *out)
{
	struct textbuf facts = { 0 };

	report_add_facts(out->report, &facts, "", ": ");
	for (char *line = facts.text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		add_varint(&out->packed, string_id(out, line));
	}
	add_message(&out->profile, PROFILE_COMMENT, &out->packed);
	textbuf_release(&facts);
}

static void add_rest(struct pprof *out)
{
	const struct snapshot_header *header = snapshot_header(out->report->snapshot);
	uint64_t period = header->sample_period;

	if (!period && out->nr_samples > 0)
		period = (uint64_t)llround(out->period / out->nr_samples);
	add_number(&out->profile, PROFILE_PERIOD, period);
	add_number(&out->profile, PROFILE_TIME_NS, header->wall_time_ns - header->window_ns);
	add_number(&out->profile, PROFILE_DURATION_NS, header->window_ns);
	add_comments(out);
	for (size_t i = 0; i < out->strings.nr; i++) {
		size_t len;
		const char *text = interner_get(&out->strings, i, &len);

		add_bytes(&out->profile, PROFILE_STRING, text, len);
	}
}

/* Level and strategy are zlib's defaults; 16 asks for gzip's header, which has no time then. */
static void compress_into(struct textbuf *buf, const struct textbuf *from)
{
	z_stream stream = { 0 };
	char out[16384];
	int ret = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			       Z_DEFAULT_STRATEGY);
	size_t done = 0;

	if (ret != Z_OK)
		die("pprof: zlib: %s", zError(ret));
	do {
		size_t part = MIN(from->len - done, (size_t)1 << 30);

		stream.next_in = (Bytef *)from->text + done;
		stream.avail_in = (uInt)part;
		done += part;
		do {
			stream.next_out = (Bytef *)out;
			stream.avail_out = sizeof(out);
			/* Z_STREAM_ERROR alone is an error here, and that of the caller. */
			(void)deflate(&stream, done == from->len ? Z_FINISH : Z_NO_FLUSH);
			textbuf_add(buf, out, sizeof(out) - stream.avail_out);
		} while (!stream.avail_out);
	} while (done < from->len);
	deflateEnd(&stream);
}

void output_pprof(struct report *report)
{
	struct pprof out = { .report = report };
	struct textbuf sample = { 0 };
	struct stacks stacks;

	stacks_init(&stacks, report->snapshot);
	(void)string_id(&out, "");
	add_types(&out);
	for (size_t i = 0; i < stacks.nr; i++)
		add_sample(&out, &stacks.list[i], &sample);
	add_rest(&out);
	compress_into(&report->buf, &out.profile);
	interner_release(&out.strings);
	interner_release(&out.locations);
	interner_release(&out.functions);
	interner_release(&out.mappings);
	textbuf_release(&out.message);
	textbuf_release(&out.packed);
	textbuf_release(&out.profile);
	textbuf_release(&sample);
	stacks_release(&stacks);
}
