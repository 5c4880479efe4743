/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of formats share: a reader of JSON, and snapshots to write. */
#ifndef SYMTOP_TESTS_TOP_FIXTURE_H
#define SYMTOP_TESTS_TOP_FIXTURE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/snapshot.h"
#include "top/output_format.h"

/* ---- a JSON reader that only says yes or no (RFC 8259) ---- */

static inline const char *skip_value(const char *p, int depth);

static inline const char *skip_string(const char *p)
{
	for (p++; *p != '"'; p++) {
		uint32_t code;
		size_t nr = text_utf8_len(p, strlen(p), &code);

		if (!nr || code < 0x20)
			return NULL;
		if (*p == '\\') {
			p++;
			if (*p == 'u') {
				for (int i = 1; i <= 4; i++) {
					if (!strchr("0123456789abcdefABCDEF", p[i]) || !p[i])
						return NULL;
				}
				p += 4;
			} else if (!*p || !strchr("\"\\/bfnrt", *p)) {
				return NULL;
			}
			continue;
		}
		p += nr - 1;
	}
	return p + 1;
}

static inline const char *skip_list(const char *p, char end, bool named, int depth)
{
	p++;
	if (*p == end)
		return p + 1;
	for (;;) {
		if (named) {
			p = *p == '"' ? skip_string(p) : NULL;
			if (!p || *p++ != ':')
				return NULL;
		}
		p = skip_value(p, depth + 1);
		if (!p || (*p != ',' && *p != end))
			return NULL;
		if (*p++ == end)
			return p;
	}
}

static inline const char *skip_value(const char *p, int depth)
{
	static const char *const words[] = { "true", "false", "null" };
	char *end;

	if (depth > 20)
		return NULL;
	if (*p == '"')
		return skip_string(p);
	if (*p == '{')
		return skip_list(p, '}', true, depth);
	if (*p == '[')
		return skip_list(p, ']', false, depth);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strncmp(p, words[i], strlen(words[i])))
			return p + strlen(words[i]);
	}
	if (*p != '-' && (*p < '0' || *p > '9'))
		return NULL;
	(void)strtod(p, &end);
	return end;
}

static inline bool is_json_line(const char *text)
{
	const char *end = skip_value(text, 0);

	return end && !strcmp(end, "\n");
}

/* ---- snapshots ---- */

static inline struct snapshot *begin_snapshot(const struct view_spec *spec)
{
	struct snapshot *snapshot = snapshot_new(spec);
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	header->event = snapshot_add_string(snapshot, "cpu-clock");
	header->host = snapshot_add_string(snapshot, "h\x1b]0;x\a");
	header->kernel = "6.1";
	header->target = "all";
	header->filter = "";
	header->freq = 4000;
	header->wall_time_ns = UINT64_C(1700000000000000000);
	header->window_ns = UINT64_C(2000000000);
	header->elapsed_ns = UINT64_C(5000000000);
	header->read_share = INFINITY;
	return snapshot;
}

/* A row of one stack, @frames innermost first. */
static inline struct row *add_stack_row(struct snapshot *snapshot, const char *comm, int64_t tid,
					const char *event, const char *const *frames,
					size_t nr_frames, const char *dso, double nr_samples)
{
	const struct frame_place *places[64];
	bool kernel[64];
	struct row *row = snapshot_add_row(snapshot);

	row->self_share = row->children_share = 0.25;
	row->nr_samples = nr_samples;
	row->period = nr_samples * 250000;
	row->pid = tid < 0 ? -1 : tid;
	row->tid = tid;
	row->cpu = 0;
	row->comm = snapshot_add_string(snapshot, comm);
	row->event = snapshot_add_string(snapshot, event);
	row->dso = snapshot_add_string(snapshot, dso);
	row->dso_path = row->dso;
	row->symbol = snapshot_add_string(snapshot, frames[0]);
	for (size_t i = 0; i < nr_frames; i++) {
		const struct frame_place place = {
			.name = frames[i],
			.dso = dso,
			.dso_path = dso,
			.has_symbol = true,
			.kernel = i == 0,
		};

		kernel[i] = i == 0;
		places[i] = snapshot_add_place(snapshot, &place);
	}
	snapshot_add_chain(snapshot, row, frames, kernel, nr_frames, nr_samples, row->period);
	snapshot_set_places(snapshot, places);
	return row;
}

/* Names from hell; one row each. */
static const char *const hostile_names[] = {
	"plain",
	"a;b c 12",
	"Lfoo;::bar",
	"#comment",
	" lead 3/4 [000] 1.0: 1 x:",
	"<&>\"']]>--",
	"x,\"y\"\nz\r",
	"\xef\xbf\xbe\xef\xbf\xbf\xe2\x80\xa8\xff",
	"evil (in a) (b:c)",
	"std::map<a, b>",
	"\\n\"}",
	"{\"a\":1}",
	"symbol 7",
	"",
};
#define NR_HOSTILE (sizeof(hostile_names) / sizeof(hostile_names[0]))

static inline struct snapshot *hostile_snapshot(void)
{
	struct view_spec spec;
	struct snapshot *snapshot;
	struct row *row;
	char all[256];

	view_spec_init(&spec);
	spec.chains = true;
	snapshot = begin_snapshot(&spec);
	for (int i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = '\0';
	for (size_t i = 0; i < NR_HOSTILE; i++) {
		const char *name = hostile_names[i];
		const char *const frames[] = { name, "middle", i % 2 ? name : all };

		add_stack_row(snapshot, name, (int64_t)i, "cpu-clock", frames, 3, name,
			      (double)(i + 1));
	}
	row = add_stack_row(snapshot, all, -1, "cpu-clock", (const char *const[]){ all }, 1, all,
			    1);
	row->self_share = -0.0;
	row->period = NAN;
	snapshot_edit_header(snapshot)->nr_samples = NR_HOSTILE * (NR_HOSTILE + 1) / 2 + 1;
	snapshot_edit_header(snapshot)->shown_samples =
		(double)snapshot_header(snapshot)->nr_samples;
	snapshot_add_note(snapshot, NOTE_WARN, "mind\nthe \"gap\"");
	snapshot_add_event(snapshot, "cpu-clock", 12);
	snapshot_add_cpu(snapshot, 0, 0.5);
	snapshot_sort(snapshot);
	return snapshot;
}

static inline struct snapshot *two_events_snapshot(void)
{
	static const char *const frames[] = { "leaf", "main" };
	struct view_spec spec;
	struct snapshot *snapshot;

	view_spec_init(&spec);
	spec.chains = true;
	snapshot = begin_snapshot(&spec);
	add_stack_row(snapshot, "app", 7, "cycles", frames, 2, "app", 30);
	add_stack_row(snapshot, "app", 7, "faults:u", frames, 2, "app", 5);
	add_stack_row(snapshot, "app", 8, "cycles", frames, 2, "app", 2);
	snapshot_add_event(snapshot, "cycles", 32);
	snapshot_add_event(snapshot, "faults:u", 5);
	snapshot_sort(snapshot);
	return snapshot;
}

/* Many rows, many samples. */
static inline struct snapshot *large_snapshot(void)
{
	struct view_spec spec;
	struct snapshot *snapshot;

	view_spec_init(&spec);
	spec.chains = true;
	snapshot = begin_snapshot(&spec);
	for (int i = 0; i < 20000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		add_stack_row(snapshot, i % 2 ? "a" : "b", i % 10, "cpu-clock",
			      (const char *const[]){ name, "main" }, 2, "app", 1 + i % 3);
	}
	return snapshot;
}

/* Without its line feed; moves *@text behind it. Returns NULL at the end. */
static inline char *next_line(char **text)
{
	return **text ? strsep(text, "\n") : NULL;
}

/* The report of @snapshot; textbuf_release() it. */
static inline struct textbuf write_report(const struct output_format *format,
					  const struct snapshot *snapshot, uint64_t max_rows)
{
	struct report report = {
		.snapshot = snapshot,
		.command_line = "symtop -d 5 --filter 'a \"b\" <c> & 7'",
		.max_rows = max_rows,
		.verbose = true,
		.is_first = true,
	};

	format->write(&report);
	return report.buf;
}

static inline struct textbuf write_as(const char *format, const struct snapshot *snapshot)
{
	return write_report(output_format_find(format), snapshot, 0);
}

#endif /* SYMTOP_TESTS_TOP_FIXTURE_H */
