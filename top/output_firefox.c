/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The "gecko" form of Firefox Profiler, version 24: an old one on purpose, since the
 * profiler brings every older version up to date and the newest changes often.
 *
 * A thread has tables of columns: samples (stack, time), stacks (the caller's stack, a
 * frame), frames (a string, a category), strings. The string is "function (in object)",
 * which the profiler takes apart again.
 *
 * A sample has no count in this form, so each stands by itself. When it was taken is not
 * known: samples of a thread follow one another at the sampling rate, times are made up.
 */
#include "config.h"

#include <string.h>

#include "core/base/clock.h"
#include "top/interner.h"
#include "top/output_format.h"
#include "top/stacks.h"

#define NO_STACK UINT32_MAX

struct stack_key {
	uint32_t prefix; /* NO_STACK: none */
	uint32_t frame;
};

struct frame_key {
	uint32_t string;
	uint32_t category; /* 0: user, 1: kernel */
};

struct firefox {
	struct report *report;
	struct stacks stacks;
	double interval_ms;
	/* of the thread */
	struct interner strings, frames, keys;
	struct textbuf scratch;
};

/* What would be taken for the object's parentheses gets an escape instead. */
static uint32_t string_id(struct firefox *out, const struct frame_place *place)
{
	static const char mark[] = " (in ";
	struct textbuf *text = &out->scratch;
	const char *name = place_name(place);
	const char *dso = place->dso;

	textbuf_clear(text);
	for (const char *found; (found = strstr(name, mark)); name = found + 2) {
		textbuf_add(text, name, (size_t)(found - name) + 1);
		textbuf_puts(text, "\\x28");
	}
	textbuf_puts(text, name);
	textbuf_puts(text, mark);
	for (; *dso; dso++) {
		if (*dso == '(' || *dso == ')')
			textbuf_printf(text, "\\x%02x", (unsigned char)*dso);
		else
			textbuf_add(text, dso, 1);
	}
	textbuf_puts(text, ")");
	return interner_add(&out->strings, text->text, text->len);
}

static uint32_t stack_id(struct firefox *out, const struct stack *stack)
{
	struct stack_key key = { .prefix = NO_STACK };

	for (size_t i = stack->nr_places; i--;) {
		const struct frame_key frame = {
			.string = string_id(out, stack->places[i]),
			.category = stack->places[i]->kernel,
		};

		key.frame = interner_add(&out->frames, &frame, sizeof(frame));
		key.prefix = interner_add(&out->keys, &key, sizeof(key));
	}
	return key.prefix;
}

static void add_samples(struct firefox *out, size_t first, size_t end)
{
	struct textbuf *buf = &out->report->buf;
	uint64_t nr = 0;

	textbuf_puts(buf, "\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"responsiveness\":2},"
			  "\"data\":[");
	for (size_t i = first; i < end; i++) {
		uint32_t id = stack_id(out, &out->stacks.list[i]);

		for (uint64_t j = 0; j < out->stacks.list[i].nr_samples; j++, nr++) {
			textbuf_printf(buf, "%s[%u,%.6g,0]", nr ? "," : "", id,
				       out->interval_ms * (double)nr);
			report_pump(out->report);
		}
	}
	textbuf_puts(buf, "]},\n");
}

static void add_frame_table(struct firefox *out)
{
	struct textbuf *buf = &out->report->buf;

	textbuf_puts(buf, "\"frameTable\":{\"schema\":{\"location\":0,\"relevantForJS\":1,"
			  "\"innerWindowID\":2,\"implementation\":3,\"optimizations\":4,"
			  "\"line\":5,\"column\":6,\"category\":7,\"subcategory\":8},\"data\":[");
	for (size_t i = 0; i < out->frames.nr; i++) {
		struct frame_key frame;
		size_t len;

		memcpy(&frame, interner_get(&out->frames, i, &len), sizeof(frame));
		textbuf_printf(buf, "%s[%u,false,0,null,null,null,null,%u,0]", i ? "," : "",
			       frame.string, frame.category);
	}
	textbuf_puts(buf, "]},\n");
}

static void add_stack_table(struct firefox *out)
{
	struct textbuf *buf = &out->report->buf;

	textbuf_puts(buf, "\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[");
	for (size_t i = 0; i < out->keys.nr; i++) {
		struct stack_key key;
		size_t len;

		memcpy(&key, interner_get(&out->keys, i, &len), sizeof(key));
		if (key.prefix == NO_STACK)
			textbuf_printf(buf, "%s[null,%u]", i ? "," : "", key.frame);
		else
			textbuf_printf(buf, "%s[%u,%u]", i ? "," : "", key.prefix, key.frame);
		report_pump(out->report);
	}
	textbuf_puts(buf, "]},\n");
}

static void add_string_table(struct firefox *out)
{
	struct textbuf *buf = &out->report->buf;

	textbuf_puts(buf, "\"stringTable\":[");
	for (size_t i = 0; i < out->strings.nr; i++) {
		size_t len;
		const char *text = interner_get(&out->strings, i, &len);

		textbuf_clear(&out->scratch);
		textbuf_add(&out->scratch, text, len);
		if (i)
			textbuf_puts(buf, ",");
		text_add_json(buf, out->scratch.text);
		report_pump(out->report);
	}
	textbuf_puts(buf, "]}");
}

static void add_thread(struct firefox *out, size_t first, size_t end, const char *name)
{
	struct textbuf *buf = &out->report->buf;
	int64_t pid = first < end ? out->stacks.list[first].row->pid : 0;
	int64_t tid = first < end ? out->stacks.list[first].row->tid : 0;

	interner_clear(&out->strings);
	interner_clear(&out->frames);
	interner_clear(&out->keys);
	textbuf_puts(buf, first ? ",\n{" : "{");
	report_add_json_text(buf, "name", name, true);
	report_add_json_text(buf, "processName", name, true);
	textbuf_printf(buf,
		       "\"pid\":%lld,\"tid\":%lld,\"processType\":\"default\",\"registerTime\":0,"
		       "\"unregisterTime\":null,\n\"markers\":{\"schema\":{\"name\":0,"
		       "\"startTime\":1,\"endTime\":2,\"phase\":3,\"category\":4,\"data\":5},"
		       "\"data\":[]},\n",
		       (long long)MAX(pid, 0), (long long)MAX(tid, 0));
	add_samples(out, first, end);
	add_frame_table(out);
	add_stack_table(out);
	add_string_table(out);
}

static void add_threads(struct firefox *out)
{
	const struct stacks *stacks = &out->stacks;
	struct textbuf name = { 0 };
	size_t end;

	for (size_t first = 0; first < stacks->nr; first = end) {
		const struct stack *stack = &stacks->list[first];

		end = stacks_thread_end(stacks, first);
		textbuf_clear(&name);
		textbuf_puts(&name, stack_comm(stack));
		if (stacks->has_events)
			textbuf_printf(&name, " (%s)", stack->row->event);
		add_thread(out, first, end, name.text);
	}
	textbuf_release(&name);
	/* A profile without a thread is refused. */
	if (!stacks->nr)
		add_thread(out, 0, 0, "no samples");
}

static void add_meta(struct firefox *out)
{
	const struct snapshot_header *header = snapshot_header(out->report->snapshot);
	struct textbuf *buf = &out->report->buf;
	struct textbuf text = { 0 };

	textbuf_printf(buf,
		       "{\"meta\":{\"version\":24,\"interval\":%.9g,\"startTime\":%.3f,"
		       "\"shutdownTime\":null,\"processType\":0,\"stackwalk\":1,\"debug\":0,"
		       "\"gcpoison\":0,\"asyncstack\":1,\"presymbolicated\":true,",
		       out->interval_ms,
		       ((double)header->wall_time_ns - (double)header->window_ns) / 1e6);
	textbuf_puts(&text, "symtop: ");
	report_add_title(out->report, &text);
	report_add_json_text(buf, "product", text.text, true);
	textbuf_clear(&text);
	textbuf_printf(&text, "%s, Linux %s", header->host, header->kernel);
	report_add_json_text(buf, "oscpu", text.text, true);
	textbuf_clear(&text);
	report_add_facts(out->report, &text, "", ": ");
	report_add_json_text(buf, "misc", text.text, true);
	textbuf_puts(buf, "\"categories\":[{\"name\":\"User\",\"color\":\"yellow\","
			  "\"subcategories\":[\"Other\"]},{\"name\":\"Kernel\","
			  "\"color\":\"orange\",\"subcategories\":[\"Other\"]}],"
			  "\"markerSchema\":[]},\n");
	textbuf_release(&text);
}

void output_firefox(struct report *report)
{
	struct firefox out = { .report = report };

	stacks_init(&out.stacks, report->snapshot);
	stacks_sort(&out.stacks);
	out.interval_ms = stacks_interval_ns(&out.stacks, snapshot_header(report->snapshot)) /
			  (double)NSEC_PER_MSEC;
	add_meta(&out);
	textbuf_puts(&report->buf,
		     "\"libs\":[],\"processes\":[],\"pausedRanges\":[],\"threads\":[\n");
	add_threads(&out);
	textbuf_puts(&report->buf, "\n]}\n");
	interner_release(&out.strings);
	interner_release(&out.frames);
	interner_release(&out.keys);
	textbuf_release(&out.scratch);
	stacks_release(&out.stacks);
}
