/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One object a line (JSON lines). Numbers are finite; a figure that is not known is
 * null; strings are UTF-8 with control characters escaped (text_add_json()).
 */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "top/output_format.h"

/* Raised when a member changes its meaning or goes. */
#define SCHEMA 1

static void add_name(struct textbuf *buf, const char *name)
{
	size_t len = buf->len;

	if (len && buf->text[len - 1] != '{' && buf->text[len - 1] != '[')
		textbuf_puts(buf, ",");
	if (!name)
		return;
	text_add_json(buf, name);
	textbuf_puts(buf, ":");
}

static void add_text(struct textbuf *buf, const char *name, const char *text)
{
	add_name(buf, name);
	text_add_json(buf, text);
}

static void add_count(struct textbuf *buf, const char *name, uint64_t value)
{
	add_name(buf, name);
	textbuf_printf(buf, "%llu", (unsigned long long)value);
}

static void add_real(struct textbuf *buf, const char *name, double value)
{
	add_name(buf, name);
	/* Adding 0 turns -0.0 into 0. */
	if (isfinite(value))
		textbuf_printf(buf, "%.9g", value + 0.0);
	else
		textbuf_puts(buf, "null");
}

static void add_bool(struct textbuf *buf, const char *name, bool value)
{
	add_name(buf, name);
	textbuf_puts(buf, value ? "true" : "false");
}

/* -1 is "many" or "not told apart by it". */
static void add_id(struct textbuf *buf, const char *name, int64_t value)
{
	add_name(buf, name);
	if (value < 0)
		textbuf_puts(buf, "null");
	else
		textbuf_printf(buf, "%lld", (long long)value);
}

static void add_settings(struct textbuf *buf, const struct report *report)
{
	static const char *const windows[] = { "tick", "time", "decay", "all" };
	const struct snapshot_header *header = snapshot_header(report->snapshot);

	add_count(buf, "schema", SCHEMA);
	add_text(buf, "command", report->command_line);
	add_text(buf, "host", header->host);
	add_text(buf, "kernel", header->kernel);
	add_text(buf, "event", header->event);
	add_text(buf, "target", header->target);
	add_text(buf, "filter", header->filter);
	add_name(buf, "time"); /* more digits than add_real() has */
	textbuf_printf(buf, "%.3f", (double)header->wall_time_ns / 1e9);
	add_real(buf, "elapsed_s", (double)header->elapsed_ns / 1e9);
	add_count(buf, "sequence", header->sequence);
	add_count(buf, "freq_hz", header->freq);
	add_count(buf, "sample_period", header->sample_period);
	add_count(buf, "cpus", header->nr_cpus);
	add_count(buf, "cpus_online", header->nr_cpus_online);
	add_count(buf, "cpus_open", header->nr_cpus_open);
	add_count(buf, "nodes", header->nr_nodes);
	add_real(buf, "refresh_s", (double)header->refresh_ns / 1e9);
	add_real(buf, "effective_refresh_s", (double)header->effective_refresh_ns / 1e9);
	add_text(buf, "window", windows[header->window]);
	add_real(buf, "window_s", (double)header->window_ns / 1e9);
	add_bool(buf, "overwrite", header->overwrite);
	add_bool(buf, "kernel_excluded", header->kernel_excluded);
	add_bool(buf, "kernel_hidden", header->kernel_hidden);
	add_bool(buf, "own_processes_only", header->own_processes_only);
	add_bool(buf, "target_gone", header->target_gone);
	add_bool(buf, "relative", header->relative);
}

static void add_figures(struct textbuf *buf, const struct snapshot_header *header)
{
	add_real(buf, "samples_per_s", header->samples_per_sec);
	add_count(buf, "samples", header->nr_samples);
	add_real(buf, "shown_samples", header->shown_samples);
	add_real(buf, "base_period", header->base_period);
	add_count(buf, "lost", header->nr_lost);
	add_count(buf, "lost_metadata", header->nr_lost_metadata);
	add_count(buf, "overwritten", header->nr_overwritten);
	add_count(buf, "throttled", header->nr_throttled);
	add_count(buf, "corrupt", header->nr_corrupt);
	add_real(buf, "idle", header->idle_share);
	add_real(buf, "kernel_share", header->kernel_share);
	add_real(buf, "unresolved", header->unresolved_share);
	add_real(buf, "unnamed", header->unnamed_share);
	add_real(buf, "pending", header->pending_share);
	add_real(buf, "outside", header->outside_share);
	add_real(buf, "read_s", (double)header->read_ns / 1e9);
	add_real(buf, "read_share", header->read_share);
	add_real(buf, "tick_s", (double)header->tick_ns / 1e9);
	add_real(buf, "self_cpu", header->self_cpu);
	add_count(buf, "self_rss_bytes", header->self_rss_bytes);
	add_count(buf, "scan_done", header->scan_done);
	add_count(buf, "scan_total", header->scan_total);
	add_bool(buf, "scan_finished", header->scan_finished);
	add_real(buf, "scan_s", (double)header->scan_ns / 1e9);
	add_count(buf, "synth_threads", header->nr_synth_workers);
	add_count(buf, "readers", header->nr_readers);
	add_count(buf, "tasks", header->nr_tasks);
	add_count(buf, "cells", header->nr_cells);
	add_count(buf, "coarsened", header->nr_coarsened);
}

static void add_recording(struct textbuf *buf, const struct recording_figures *recording)
{
	static const char *const states[] = { "none", "kept", "on", "finishing" };

	if (!report_has_recording(recording))
		return;
	add_name(buf, "recording");
	textbuf_puts(buf, "{");
	add_text(buf, "state", states[recording->state]);
	add_text(buf, "path", recording->path);
	add_text(buf, "trouble", recording->trouble);
	add_count(buf, "ended", recording->nr_ended);
	add_count(buf, "bytes", recording->bytes);
	add_count(buf, "waiting_bytes", recording->bytes_waiting);
	add_count(buf, "dropped", recording->nr_dropped);
	add_real(buf, "keep_s", (double)recording->keep_ns / 1e9);
	add_real(buf, "kept_s", (double)recording->kept_ns / 1e9);
	add_count(buf, "kept_bytes", recording->kept_bytes);
	add_bool(buf, "kept_is_cut", recording->kept_is_cut);
	textbuf_puts(buf, "}");
}

static void add_chain(struct textbuf *buf, const struct row_chain *chain)
{
	add_name(buf, NULL);
	textbuf_puts(buf, "{");
	add_real(buf, "samples", chain->nr_samples);
	add_real(buf, "period", chain->period);
	add_name(buf, "frames");
	textbuf_puts(buf, "[");
	for (size_t i = 0; i < chain->nr_frames; i++) {
		add_name(buf, NULL);
		text_add_json(buf, chain->frames[i]);
	}
	textbuf_puts(buf, "]}");
}

static void add_row(struct textbuf *buf, const struct snapshot *snapshot, const struct row *row)
{
	static const char *const levels[] = { "user", "kernel", "guest_user", "guest_kernel",
					      "hypervisor" };

	add_name(buf, NULL);
	textbuf_puts(buf, "{");
	add_real(buf, "overhead", row->self_share);
	if (snapshot_spec(snapshot)->children && snapshot_header(snapshot)->has_chains)
		add_real(buf, "children", row->children_share);
	add_real(buf, "samples", row->nr_samples);
	add_real(buf, "period", row->period);
	add_text(buf, "comm", row->comm);
	add_id(buf, "pid", row->pid);
	add_id(buf, "tid", row->tid);
	add_id(buf, "cpu", row->cpu);
	add_id(buf, "node", row->node);
	add_text(buf, "event", row->event);
	add_text(buf, "object", row->dso);
	add_text(buf, "path", row->dso_path);
	add_text(buf, "symbol", row->symbol);
	add_text(buf, "level", levels[row->level]);
	add_bool(buf, "unresolved", row->unresolved);
	add_bool(buf, "pending", row->symbol_pending);
	if (snapshot_spec(snapshot)->chains) {
		add_name(buf, "chains");
		textbuf_puts(buf, "[");
		for (size_t i = 0; i < row->nr_chains; i++)
			add_chain(buf, snapshot_chain(snapshot, row->first_chain + i));
		textbuf_puts(buf, "]");
	}
	textbuf_puts(buf, "}");
}

static void add_lists(struct textbuf *buf, const struct snapshot *snapshot)
{
	add_name(buf, "notes");
	textbuf_puts(buf, "[");
	for (size_t i = 0; i < snapshot_nr_notes(snapshot); i++) {
		add_name(buf, NULL);
		text_add_json(buf, snapshot_note(snapshot, i)->text);
	}
	textbuf_puts(buf, "]");
	add_name(buf, "events");
	textbuf_puts(buf, "[");
	for (size_t i = 0; i < snapshot_nr_events(snapshot); i++) {
		add_name(buf, NULL);
		textbuf_puts(buf, "{");
		add_text(buf, "name", snapshot_event(snapshot, i)->name);
		add_count(buf, "samples", snapshot_event(snapshot, i)->nr_samples);
		textbuf_puts(buf, "}");
	}
	textbuf_puts(buf, "]");
	add_name(buf, "busy_cpus");
	textbuf_puts(buf, "{");
	for (size_t i = 0; i < snapshot_nr_cpus(snapshot); i++) {
		unsigned int cpu;
		double busy;
		char name[16];

		snapshot_cpu(snapshot, i, &cpu, &busy);
		snprintf(name, sizeof(name), "%u", cpu);
		add_real(buf, name, busy);
	}
	textbuf_puts(buf, "}");
}

static void add_engine(struct textbuf *buf, const struct snapshot *snapshot)
{
	add_name(buf, "engine");
	textbuf_puts(buf, "[");
	for (size_t i = 0; i < snapshot_nr_engine(snapshot); i++) {
		const struct engine_figure *figure = snapshot_engine(snapshot, i);

		add_name(buf, NULL);
		textbuf_puts(buf, "{");
		add_text(buf, "section", figure->section);
		add_text(buf, "item", figure->item);
		add_text(buf, "name", figure->name);
		add_real(buf, "value", figure->value);
		add_text(buf, "unit", engine_unit_name(figure->unit));
		textbuf_puts(buf, "}");
	}
	textbuf_puts(buf, "]");
}

void output_json(struct report *report)
{
	const struct snapshot *snapshot = report->snapshot;
	size_t nr_rows = report_nr_rows(report, SIZE_MAX);
	struct textbuf *buf = &report->buf;

	textbuf_puts(buf, "{");
	add_settings(buf, report);
	add_figures(buf, snapshot_header(snapshot));
	add_recording(buf, &snapshot_header(snapshot)->recording);
	add_lists(buf, snapshot);
	add_engine(buf, snapshot);
	add_count(buf, "rows_hidden",
		  snapshot_nr_rows(snapshot) - nr_rows + snapshot_header(snapshot)->nr_rows_hidden);
	add_name(buf, "rows");
	textbuf_puts(buf, "[");
	for (size_t i = 0; i < nr_rows; i++)
		add_row(buf, snapshot, snapshot_row(snapshot, i));
	textbuf_puts(buf, "]}\n");
}
