/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What formats have in common. Names in snapshots are printable already. */
#include "config.h"

#include "top/report.h"

/* Large enough for few write(2) calls, small beside what a snapshot needs. */
#define PUMP_BYTES ((size_t)256 * 1024)

void report_pump(struct report *report)
{
	if (report->flush && report->buf.len >= PUMP_BYTES)
		report->flush(report);
}

size_t report_nr_rows(const struct report *report, size_t default_max)
{
	uint64_t max = report->max_rows ? report->max_rows : default_max;

	return (size_t)MIN(max, (uint64_t)snapshot_nr_rows(report->snapshot));
}

struct fact_list {
	struct textbuf *buf;
	const char *prefix, *between;
};

static void add_fact(const struct fact_list *list, const char *name, const char *value)
{
	textbuf_printf(list->buf, "%s%s%s%s\n", list->prefix, name, list->between, value);
}

static void add_number(const struct fact_list *list, const char *name, uint64_t value)
{
	textbuf_printf(list->buf, "%s%s%s%llu\n", list->prefix, name, list->between,
		       (unsigned long long)value);
}

static void add_seconds(const struct fact_list *list, const char *name, uint64_t ns)
{
	textbuf_printf(list->buf, "%s%s%s%.3f\n", list->prefix, name, list->between,
		       (double)ns / 1e9);
}

void report_add_facts(const struct report *report, struct textbuf *buf, const char *prefix,
		      const char *between)
{
	const struct snapshot_header *header = snapshot_header(report->snapshot);
	const struct fact_list list = { .buf = buf, .prefix = prefix, .between = between };

	add_fact(&list, "command", report->command_line);
	add_fact(&list, "host", header->host);
	add_fact(&list, "kernel", header->kernel);
	add_fact(&list, "event", header->event);
	if (header->freq)
		add_number(&list, "rate_hz", header->freq);
	else
		add_number(&list, "sample_period", header->sample_period);
	add_fact(&list, "target", header->target);
	if (header->filter[0])
		add_fact(&list, "filter", header->filter);
	add_seconds(&list, "time", header->wall_time_ns);
	add_seconds(&list, "window_s", header->window_ns);
	add_number(&list, "samples", header->nr_samples);
	add_number(&list, "shown_samples", (uint64_t)(header->shown_samples + 0.5));
	add_number(&list, "lost", header->nr_lost);
	add_number(&list, "overwritten", header->nr_overwritten);
}

bool report_has_recording(const struct recording_figures *recording)
{
	return recording->state != RECORDING_NONE || recording->nr_ended;
}

void report_add_title(const struct report *report, struct textbuf *buf)
{
	const struct snapshot_header *header = snapshot_header(report->snapshot);

	textbuf_printf(buf, "%s, ", header->event);
	if (header->freq)
		textbuf_printf(buf, "%llu Hz", (unsigned long long)header->freq);
	else
		textbuf_printf(buf, "every %llu", (unsigned long long)header->sample_period);
	textbuf_printf(buf, ", %.1f s, %.0f samples", (double)header->window_ns / 1e9,
		       header->shown_samples);
	if (header->nr_lost)
		textbuf_printf(buf, ", %llu lost", (unsigned long long)header->nr_lost);
	if (header->nr_overwritten)
		textbuf_printf(buf, ", %llu overwritten",
			       (unsigned long long)header->nr_overwritten);
}

void report_add_json_text(struct textbuf *buf, const char *name, const char *text, bool more)
{
	text_add_json(buf, name);
	textbuf_puts(buf, ":");
	text_add_json(buf, text);
	if (more)
		textbuf_puts(buf, ",");
}
