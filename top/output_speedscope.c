/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * https://www.speedscope.app/file-format-schema.json: frames are named once, a sampled
 * profile lists stacks (outermost first, by number of the frame) and beside them their
 * weights, here counts of samples.
 *
 * speedscope shows one profile at a time: the first has everything, with the comm as the
 * outermost frame (one for each event), then comes one for each thread. The format has no
 * place for what is to be said of the run but the name.
 */
#include "config.h"

#include <string.h>

#include "top/interner.h"
#include "top/output_format.h"
#include "top/stacks.h"

struct speedscope {
	struct report *report;
	struct stacks stacks;
	struct interner frames; /* name, NUL, path of the object */
	struct textbuf scratch;
	bool has_profiles; /* written already */
};

static uint32_t frame_id(struct speedscope *out, const char *name, const char *path)
{
	textbuf_clear(&out->scratch);
	textbuf_add(&out->scratch, name, strlen(name) + 1);
	textbuf_puts(&out->scratch, path);
	return interner_add(&out->frames, out->scratch.text, out->scratch.len);
}

static void add_stack(struct speedscope *out, const struct stack *stack, bool with_comm)
{
	struct textbuf *buf = &out->report->buf;

	textbuf_puts(buf, "[");
	if (with_comm)
		textbuf_printf(buf, "%u,", frame_id(out, stack_comm(stack), ""));
	for (size_t i = stack->nr_places; i--;)
		textbuf_printf(
			buf, "%u%s",
			frame_id(out, place_name(stack->places[i]), stack->places[i]->dso_path),
			i ? "," : "");
	textbuf_puts(buf, "]");
}

/* Stacks @first to @end; @name is what tells it apart. */
static void add_profile(struct speedscope *out, size_t first, size_t end, const char *name,
			bool with_comm)
{
	struct textbuf *buf = &out->report->buf;

	textbuf_puts(buf,
		     out->has_profiles ? ",\n{\"type\":\"sampled\"," : "{\"type\":\"sampled\",");
	out->has_profiles = true;
	report_add_json_text(buf, "name", name, true);
	textbuf_printf(buf, "\"unit\":\"none\",\"startValue\":0,\"endValue\":%llu,\"samples\":[",
		       (unsigned long long)stacks_nr_samples(&out->stacks, first, end));
	for (size_t i = first; i < end; i++) {
		if (i > first)
			textbuf_puts(buf, ",");
		add_stack(out, &out->stacks.list[i], with_comm);
		report_pump(out->report);
	}
	textbuf_puts(buf, "],\"weights\":[");
	for (size_t i = first; i < end; i++)
		textbuf_printf(buf, "%s%llu", i > first ? "," : "",
			       (unsigned long long)out->stacks.list[i].nr_samples);
	textbuf_puts(buf, "]}");
}

static size_t event_end(const struct stacks *stacks, size_t first)
{
	size_t end = first + 1;

	while (end < stacks->nr &&
	       !strcmp(stacks->list[first].row->event, stacks->list[end].row->event))
		end++;
	return end;
}

static void add_profiles(struct speedscope *out)
{
	struct stacks *stacks = &out->stacks;
	struct textbuf name = { 0 };
	size_t end;

	for (size_t first = 0; first < stacks->nr; first = end) {
		end = event_end(stacks, first);
		textbuf_clear(&name);
		textbuf_printf(&name, "all threads (%s)", stacks->list[first].row->event);
		add_profile(out, first, end, name.text, true);
	}
	for (size_t first = 0; first < stacks->nr; first = end) {
		end = stacks_thread_end(stacks, first);
		textbuf_clear(&name);
		stack_add_thread_name(&name, stacks, &stacks->list[first]);
		add_profile(out, first, end, name.text, false);
	}
	textbuf_release(&name);
	/* A file without a profile is refused. */
	if (!stacks->nr)
		add_profile(out, 0, 0, "no samples", false);
}

static void add_frames(struct speedscope *out)
{
	struct textbuf *buf = &out->report->buf;

	for (size_t i = 0; i < out->frames.nr; i++) {
		size_t len;
		const char *name = interner_get(&out->frames, i, &len);
		size_t name_len = strlen(name);

		/* What is behind the NUL ends where the next begins. */
		textbuf_clear(&out->scratch);
		textbuf_add(&out->scratch, name + name_len + 1, len - name_len - 1);
		textbuf_puts(buf, i ? ",\n{" : "{");
		report_add_json_text(buf, "name", name, out->scratch.len > 0);
		if (out->scratch.len)
			report_add_json_text(buf, "file", out->scratch.text, false);
		textbuf_puts(buf, "}");
		report_pump(out->report);
	}
}

void output_speedscope(struct report *report)
{
	struct speedscope out = { .report = report };
	struct textbuf title = { 0 };

	stacks_init(&out.stacks, report->snapshot);
	stacks_sort(&out.stacks);
	textbuf_printf(&title, "%s: ", report->command_line);
	report_add_title(report, &title);
	textbuf_puts(&report->buf,
		     "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",");
	report_add_json_text(&report->buf, "exporter", "symtop " PACKAGE_VERSION, true);
	report_add_json_text(&report->buf, "name", title.text, true);
	textbuf_puts(&report->buf, "\"activeProfileIndex\":0,\"profiles\":[\n");
	add_profiles(&out);
	textbuf_puts(&report->buf, "\n],\"shared\":{\"frames\":[\n");
	add_frames(&out);
	textbuf_puts(&report->buf, "\n]}}\n");
	textbuf_release(&title);
	textbuf_release(&out.scratch);
	interner_release(&out.frames);
	stacks_release(&out.stacks);
}
