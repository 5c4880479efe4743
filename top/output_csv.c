/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comma-separated values, quoted as RFC 4180 says; lines end in a line feed. One line of
 * names, then a line for each row of each report. The columns are the members of a JSON
 * row and, since the format has no place for comments, what is to be said of the run:
 * time, window, event, rate, losses in every line, the command line in the first of a report.
 * What is not known or not told apart is empty.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "top/output_format.h"

struct line {
	const struct report *report;
	const struct row *row;
	struct textbuf *buf;
	bool is_first; /* of the report */
};

static void add_text(struct textbuf *buf, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		textbuf_puts(buf, text);
		return;
	}
	textbuf_puts(buf, "\"");
	for (; *text; text++)
		textbuf_add(buf, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	textbuf_puts(buf, "\"");
}

static void add_real(struct textbuf *buf, double value)
{
	/* Adding 0 turns -0.0 into 0. */
	if (isfinite(value))
		textbuf_printf(buf, "%.9g", value + 0.0);
}

static void add_count(struct textbuf *buf, uint64_t value)
{
	textbuf_printf(buf, "%llu", (unsigned long long)value);
}

/* -1 is "many" or "not told apart by it". */
static void add_id(struct textbuf *buf, int64_t value)
{
	if (value >= 0)
		textbuf_printf(buf, "%lld", (long long)value);
}

static void add_bool(struct textbuf *buf, bool value)
{
	textbuf_puts(buf, value ? "true" : "false");
}

static const struct snapshot_header *line_header(const struct line *line)
{
	return snapshot_header(line->report->snapshot);
}

static void time_column(const struct line *line)
{
	textbuf_printf(line->buf, "%.3f", (double)line_header(line)->wall_time_ns / 1e9);
}

static void window_column(const struct line *line)
{
	add_real(line->buf, (double)line_header(line)->window_ns / 1e9);
}

static void freq_column(const struct line *line)
{
	if (line_header(line)->freq)
		add_count(line->buf, line_header(line)->freq);
}

static void sample_period_column(const struct line *line)
{
	if (line_header(line)->sample_period)
		add_count(line->buf, line_header(line)->sample_period);
}

static void lost_column(const struct line *line)
{
	add_count(line->buf, line_header(line)->nr_lost);
}

static void overwritten_column(const struct line *line)
{
	add_count(line->buf, line_header(line)->nr_overwritten);
}

static void overhead_column(const struct line *line)
{
	add_real(line->buf, line->row->self_share);
}

static void children_column(const struct line *line)
{
	if (snapshot_spec(line->report->snapshot)->children && line_header(line)->has_chains)
		add_real(line->buf, line->row->children_share);
}

static void samples_column(const struct line *line)
{
	add_real(line->buf, line->row->nr_samples);
}

static void period_column(const struct line *line)
{
	if (isfinite(line->row->period))
		textbuf_printf(line->buf, "%.15g", line->row->period + 0.0);
}

static void comm_column(const struct line *line)
{
	add_text(line->buf, line->row->comm);
}

static void pid_column(const struct line *line)
{
	add_id(line->buf, line->row->pid);
}

static void tid_column(const struct line *line)
{
	add_id(line->buf, line->row->tid);
}

static void cpu_column(const struct line *line)
{
	add_id(line->buf, line->row->cpu);
}

static void node_column(const struct line *line)
{
	add_id(line->buf, line->row->node);
}

/* Of all events together when the rows are not told apart by it. */
static void event_column(const struct line *line)
{
	add_text(line->buf, line->row->event[0] ? line->row->event : line_header(line)->event);
}

static void object_column(const struct line *line)
{
	add_text(line->buf, line->row->dso);
}

static void path_column(const struct line *line)
{
	add_text(line->buf, line->row->dso_path);
}

static void symbol_column(const struct line *line)
{
	add_text(line->buf, line->row->symbol);
}

static void level_column(const struct line *line)
{
	static const char *const levels[] = { "user", "kernel", "guest_user", "guest_kernel",
					      "hypervisor" };

	textbuf_puts(line->buf, levels[line->row->level]);
}

static void unresolved_column(const struct line *line)
{
	add_bool(line->buf, line->row->unresolved);
}

static void pending_column(const struct line *line)
{
	add_bool(line->buf, line->row->symbol_pending);
}

static void command_column(const struct line *line)
{
	if (line->is_first)
		add_text(line->buf, line->report->command_line);
}

static const struct {
	const char *name;
	void (*add)(const struct line *line);
} columns[] = {
	{ "time", time_column },
	{ "window_s", window_column },
	{ "freq_hz", freq_column },
	{ "sample_period", sample_period_column },
	{ "lost", lost_column },
	{ "overwritten", overwritten_column },
	{ "overhead", overhead_column },
	{ "children", children_column },
	{ "samples", samples_column },
	{ "period", period_column },
	{ "comm", comm_column },
	{ "pid", pid_column },
	{ "tid", tid_column },
	{ "cpu", cpu_column },
	{ "node", node_column },
	{ "event", event_column },
	{ "object", object_column },
	{ "path", path_column },
	{ "symbol", symbol_column },
	{ "level", level_column },
	{ "unresolved", unresolved_column },
	{ "pending", pending_column },
	{ "command", command_column },
};

static void add_names(struct textbuf *buf)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		textbuf_printf(buf, "%s%s", i ? "," : "", columns[i].name);
	textbuf_puts(buf, "\n");
}

void output_csv(struct report *report)
{
	size_t nr_rows = report_nr_rows(report, SIZE_MAX);

	if (report->is_first)
		add_names(&report->buf);
	for (size_t i = 0; i < nr_rows; i++) {
		const struct line line = {
			.report = report,
			.row = snapshot_row(report->snapshot, i),
			.buf = &report->buf,
			.is_first = i == 0,
		};

		for (size_t j = 0; j < ARRAY_SIZE(columns); j++) {
			if (j)
				textbuf_puts(&report->buf, ",");
			columns[j].add(&line);
		}
		textbuf_puts(&report->buf, "\n");
		report_pump(report);
	}
}
