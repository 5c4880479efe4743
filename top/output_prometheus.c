/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Prometheus text format (version 0.0.4), for the textfile collector of node_exporter:
 * the hottest rows as gauges, what happened to samples as counters, and our own cost.
 *
 * Labels are what makes a time series, so their number is bounded: max_rows rows, 50
 * without being asked, and values are cut. Rows whose labels are the same then (two
 * objects of one name) are one series with their sum: a series may stand here only once.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "top/output_format.h"

#define DEFAULT_ROWS 50
#define MAX_LABEL 256

struct series {
	char *labels;
	double share, nr_samples;
};

static void add_value(struct textbuf *buf, double value)
{
	/* NaN is a value here: nothing is known. */
	if (isfinite(value))
		textbuf_printf(buf, " %.15g\n", value + 0.0);
	else
		textbuf_puts(buf, " NaN\n");
}

static void add_label(struct textbuf *buf, const char *name, const char *text)
{
	size_t len = strlen(text);

	if (len > MAX_LABEL) {
		len = MAX_LABEL;
		while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	if (buf->len)
		textbuf_puts(buf, ",");
	textbuf_printf(buf, "%s=\"", name);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n') {
			textbuf_puts(buf, "\\n");
			continue;
		}
		if (text[i] == '\\' || text[i] == '"')
			textbuf_puts(buf, "\\");
		textbuf_add(buf, text + i, 1);
	}
	textbuf_puts(buf, "\"");
}

static void add_id_label(struct textbuf *buf, const char *name, int64_t id)
{
	char text[24] = "";

	if (id >= 0)
		snprintf(text, sizeof(text), "%lld", (long long)id);
	add_label(buf, name, text);
}

static void add_key_label(struct textbuf *buf, const struct row *row, enum sort_key key)
{
	switch (key) {
	case SORT_COMM:
		add_label(buf, "comm", row->comm);
		break;
	case SORT_DSO:
		add_label(buf, "object", row->dso);
		break;
	case SORT_SYMBOL:
		add_label(buf, "symbol", row->symbol);
		break;
	case SORT_EVENT:
		add_label(buf, "event", row->event);
		break;
	case SORT_PID:
		add_id_label(buf, "pid", row->pid);
		break;
	case SORT_TID:
		add_id_label(buf, "tid", row->tid);
		break;
	case SORT_CPU:
		add_id_label(buf, "cpu", row->cpu);
		break;
	case SORT_NODE:
		add_id_label(buf, "node", row->node);
		break;
	case NR_SORT_KEYS:
		break;
	}
}

static int compare_series(const void *left, const void *right)
{
	const struct series *a = left;
	const struct series *b = right;

	return strcmp(a->labels, b->labels);
}

/* Returns how many are left of @nr. */
static size_t merge_equal(struct series *series, size_t nr)
{
	size_t nr_kept = 0;

	if (nr)
		qsort(series, nr, sizeof(*series), compare_series);
	for (size_t i = 0; i < nr; i++) {
		if (nr_kept && !compare_series(&series[nr_kept - 1], &series[i])) {
			series[nr_kept - 1].share += series[i].share;
			series[nr_kept - 1].nr_samples += series[i].nr_samples;
			free(series[i].labels);
			continue;
		}
		series[nr_kept++] = series[i];
	}
	return nr_kept;
}

static size_t make_series(const struct report *report, struct series **ret_series)
{
	size_t nr = report_nr_rows(report, DEFAULT_ROWS);
	const struct view_spec *spec = snapshot_spec(report->snapshot);
	struct series *series = mem_calloc(nr, sizeof(*series));

	for (size_t i = 0; i < nr; i++) {
		const struct row *row = snapshot_row(report->snapshot, i);
		struct textbuf labels = { 0 };

		for (size_t j = 0; j < spec->keys.nr; j++)
			add_key_label(&labels, row, spec->keys.keys[j]);
		series[i] = (struct series){
			.labels = labels.text,
			.share = row->self_share,
			.nr_samples = row->nr_samples,
		};
	}
	*ret_series = series;
	return merge_equal(series, nr);
}

static void add_type(struct textbuf *buf, const char *name, const char *type, const char *help)
{
	textbuf_printf(buf, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_rows(struct report *report)
{
	struct textbuf *buf = &report->buf;
	struct series *series;
	size_t nr = make_series(report, &series);

	add_type(buf, "symtop_overhead_ratio", "gauge",
		 "Share of the samples in the window, of the hottest rows.");
	for (size_t i = 0; i < nr; i++) {
		textbuf_printf(buf, "symtop_overhead_ratio{%s}", series[i].labels);
		add_value(buf, series[i].share);
	}
	add_type(buf, "symtop_row_samples", "gauge", "Samples in the window, of the hottest rows.");
	for (size_t i = 0; i < nr; i++) {
		textbuf_printf(buf, "symtop_row_samples{%s}", series[i].labels);
		add_value(buf, series[i].nr_samples);
		free(series[i].labels);
	}
	free(series);
}

static void add_figure(struct textbuf *buf, const char *name, const char *type, const char *help,
		       double value)
{
	add_type(buf, name, type, help);
	textbuf_puts(buf, name);
	add_value(buf, value);
}

static void add_figures(struct textbuf *buf, const struct snapshot_header *header)
{
	const struct {
		const char *name, *type, *help;
		double value;
	} figures[] = {
		{ "symtop_samples", "gauge", "Samples in the window, before filters.",
		  (double)header->nr_samples },
		{ "symtop_lost_samples_total", "counter",
		  "Samples that the kernel could not write.", (double)header->nr_lost },
		{ "symtop_lost_metadata_total", "counter",
		  "Records of tasks and maps that were lost.", (double)header->nr_lost_metadata },
		{ "symtop_overwritten_samples_total", "counter",
		  "Samples that were overwritten before they were read.",
		  (double)header->nr_overwritten },
		{ "symtop_throttled_total", "counter", "Times the kernel throttled an event.",
		  (double)header->nr_throttled },
		{ "symtop_corrupt_records_total", "counter", "Records that made no sense.",
		  (double)header->nr_corrupt },
		{ "symtop_idle_ratio", "gauge", "Share of the idle task in all samples.",
		  header->idle_share },
		{ "symtop_kernel_ratio", "gauge", "Share of the kernel in the shown samples.",
		  header->kernel_share },
		{ "symtop_unresolved_ratio", "gauge",
		  "Share of shown samples at addresses where no map is known.",
		  header->unresolved_share },
		{ "symtop_unnamed_ratio", "gauge", "Share of shown samples without a symbol.",
		  header->unnamed_share },
		{ "symtop_window_seconds", "gauge", "What the window covers.",
		  (double)header->window_ns / 1e9 },
		{ "symtop_self_cpu_ratio", "gauge", "CPUs that symtop itself uses.",
		  header->self_cpu },
		{ "symtop_self_resident_bytes", "gauge", "Resident memory of symtop itself.",
		  (double)header->self_rss_bytes },
		{ "symtop_report_timestamp_seconds", "gauge", "When this report was made.",
		  (double)header->wall_time_ns / 1e9 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		add_figure(buf, figures[i].name, figures[i].type, figures[i].help,
			   figures[i].value);
}

static void add_recording(struct textbuf *buf, const struct recording_figures *recording)
{
	if (!report_has_recording(recording))
		return;
	add_figure(buf, "symtop_recording_bytes", "gauge",
		   "Size of the recording that is written, or was last.", (double)recording->bytes);
	add_figure(buf, "symtop_recording_dropped_records_total", "counter",
		   "Records that the disk was too slow for, in that recording.",
		   (double)recording->nr_dropped);
}

static void add_info(struct report *report)
{
	const struct snapshot_header *header = snapshot_header(report->snapshot);
	struct textbuf labels = { 0 };

	add_label(&labels, "version", PACKAGE_VERSION);
	add_label(&labels, "command", report->command_line);
	add_label(&labels, "event", header->event);
	add_label(&labels, "target", header->target);
	if (header->freq)
		add_id_label(&labels, "rate_hz", (int64_t)header->freq);
	else
		add_id_label(&labels, "sample_period", (int64_t)header->sample_period);
	add_type(&report->buf, "symtop_info", "gauge", "What was run, always 1.");
	textbuf_printf(&report->buf, "symtop_info{%s} 1\n", labels.text);
	textbuf_release(&labels);
}

void output_prometheus(struct report *report)
{
	add_info(report);
	add_figures(&report->buf, snapshot_header(report->snapshot));
	add_recording(&report->buf, &snapshot_header(report->snapshot)->recording);
	add_rows(report);
}
