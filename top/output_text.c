/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines for people: figures on lines that begin with '#', then a table. Names are
 * printable already (snapshot.h); nothing here may add an escape byte.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "top/output_format.h"

static const char *level_mark(enum row_level level)
{
	switch (level) {
	case LEVEL_KERNEL:
		return "[k]";
	case LEVEL_GUEST_KERNEL:
		return "[g]";
	case LEVEL_GUEST_USER:
		return "[u]";
	case LEVEL_HYPERVISOR:
		return "[H]";
	case LEVEL_USER:
		break;
	}
	return "[.]";
}

static double percent(double share)
{
	return share > 0 ? share * 100 : 0;
}

static void add_window(struct textbuf *buf, const struct snapshot_header *header)
{
	static const char *const names[] = { "last tick", "last", "decaying", "all" };

	textbuf_printf(buf, "window %s (%.1f s)", names[header->window],
		       (double)header->window_ns / 1e9);
}

static void add_header(struct textbuf *buf, const struct snapshot *snapshot)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	char rate[16];

	textbuf_printf(buf, "# symtop  %s %s  %s", header->host, header->kernel, header->event);
	if (header->freq)
		textbuf_printf(buf, " %llu Hz", (unsigned long long)header->freq);
	else
		textbuf_printf(buf, " every %llu", (unsigned long long)header->sample_period);
	textbuf_printf(buf, "  %u of %u CPUs", header->nr_cpus_open, header->nr_cpus);
	if (header->has_nodes && header->nr_nodes > 1)
		textbuf_printf(buf, ", %u nodes", header->nr_nodes);
	textbuf_printf(buf, "  %s  refresh %.1f s  ", header->target,
		       (double)header->refresh_ns / 1e9);
	add_window(buf, header);
	text_si(header->samples_per_sec, rate);
	textbuf_printf(buf,
		       "\n# %s samples/s  lost %llu  metadata lost %llu  overwritten %llu  "
		       "throttled %llu  corrupt %llu  unresolved %.2f%%  unnamed %.2f%%  "
		       "pending %.2f%%  idle %.2f%%\n",
		       rate, (unsigned long long)header->nr_lost,
		       (unsigned long long)header->nr_lost_metadata,
		       (unsigned long long)header->nr_overwritten,
		       (unsigned long long)header->nr_throttled,
		       (unsigned long long)header->nr_corrupt, percent(header->unresolved_share),
		       percent(header->unnamed_share), percent(header->pending_share),
		       percent(header->idle_share));
	textbuf_printf(buf, "# read %.1f ms (%.2f%%)  self %.2f%% CPU, %.1f MB  ",
		       (double)header->read_ns / 1e6, percent(header->read_share),
		       percent(header->self_cpu), (double)header->self_rss_bytes / 1e6);
	if (header->scan_total)
		textbuf_printf(buf, "scan %llu/%llu%s  ", (unsigned long long)header->scan_done,
			       (unsigned long long)header->scan_total,
			       header->scan_finished ? "" : " running");
	textbuf_printf(buf, "shown %.0f of %llu samples; %s shares\n", header->shown_samples,
		       (unsigned long long)header->nr_samples,
		       header->relative ? "relative" : "absolute");
}

static void add_recording(struct textbuf *buf, const struct recording_figures *recording)
{
	static const char *const states[] = { "ended", "kept", "on", "finishing" };

	textbuf_printf(buf, "# recording %s", states[recording->state]);
	if (recording->keep_ns)
		textbuf_printf(buf, "  kept %.1f of %.1f s%s", (double)recording->kept_ns / 1e9,
			       (double)recording->keep_ns / 1e9,
			       recording->kept_is_cut ? " (memory is used up)" : "");
	if (*recording->path)
		textbuf_printf(buf, "  %.1f MB  dropped %llu  %s", (double)recording->bytes / 1e6,
			       (unsigned long long)recording->nr_dropped, recording->path);
	if (*recording->trouble)
		textbuf_printf(buf, ": %s", recording->trouble);
	textbuf_puts(buf, "\n");
}

static void add_notes(struct report *report)
{
	const struct snapshot *snapshot = report->snapshot;
	const struct snapshot_header *header = snapshot_header(snapshot);
	struct textbuf *buf = &report->buf;

	if (report->is_first)
		textbuf_printf(buf, "# command: %s\n", report->command_line);
	if (header->filter[0])
		textbuf_printf(buf, "# filter: %s\n", header->filter);
	if (header->kernel_excluded)
		textbuf_puts(buf, "# user samples only: the kernel part is excluded, "
				  "shares are of user samples\n");
	if (report->verbose && report_has_recording(&header->recording))
		add_recording(buf, &header->recording);
	for (size_t i = 0; i < snapshot_nr_notes(snapshot); i++) {
		const struct note *note = snapshot_note(snapshot, i);

		if (report->verbose || note->level == NOTE_WARN || header->sequence <= 1)
			textbuf_printf(buf, "# %s: %s\n",
				       note->level == NOTE_WARN ? "warning" : "note", note->text);
	}
	for (size_t i = 0; snapshot_nr_events(snapshot) > 1 && i < snapshot_nr_events(snapshot);
	     i++)
		textbuf_printf(buf, "# event %s: %llu samples\n", snapshot_event(snapshot, i)->name,
			       (unsigned long long)snapshot_event(snapshot, i)->nr_samples);
}

/* A column is as wide as its widest cell, which one pass over the rows tells. */
struct columns {
	bool children;
	bool has[NR_SORT_KEYS];
	int width[NR_SORT_KEYS];
};

static const char *key_text(const struct row *row, enum sort_key key, char scratch[static 24])
{
	int64_t number = -1;

	switch (key) {
	case SORT_COMM:
		return row->comm;
	case SORT_DSO:
		return row->dso;
	case SORT_SYMBOL:
		return row->symbol;
	case SORT_EVENT:
		return row->event;
	case SORT_PID:
		number = row->pid;
		break;
	case SORT_TID:
		number = row->tid;
		break;
	case SORT_CPU:
		number = row->cpu;
		break;
	case SORT_NODE:
		number = row->node;
		break;
	case NR_SORT_KEYS:
		break;
	}
	if (number < 0)
		return "-";
	snprintf(scratch, 24, "%lld", (long long)number);
	return scratch;
}

static const char *const titles[NR_SORT_KEYS] = {
	[SORT_COMM] = "COMM",	  [SORT_PID] = "PID", [SORT_TID] = "TID",   [SORT_DSO] = "OBJECT",
	[SORT_SYMBOL] = "SYMBOL", [SORT_CPU] = "CPU", [SORT_NODE] = "NODE", [SORT_EVENT] = "EVENT",
};

static void measure(struct columns *columns, const struct snapshot *snapshot, size_t nr_rows)
{
	const struct view_spec *spec = snapshot_spec(snapshot);
	char scratch[24];

	memset(columns, 0, sizeof(*columns));
	columns->children = spec->children && snapshot_header(snapshot)->has_chains;
	for (size_t i = 0; i < spec->keys.nr; i++) {
		enum sort_key key = spec->keys.keys[i];
		size_t width = strlen(titles[key]);

		columns->has[key] = true;
		for (size_t j = 0; j < nr_rows; j++) {
			const char *text = key_text(snapshot_row(snapshot, j), key, scratch);

			width = MAX(width, strlen(text));
		}
		columns->width[key] = (int)MIN(width, (size_t)60);
	}
}

static void add_titles(struct textbuf *buf, const struct columns *columns)
{
	textbuf_puts(buf, columns->children ? "CHILDREN      SELF" : "OVERHEAD");
	for (size_t key = 0; key < NR_SORT_KEYS; key++) {
		if (columns->has[key] && key != SORT_SYMBOL)
			textbuf_printf(buf, "  %-*s", columns->width[key], titles[key]);
	}
	textbuf_puts(buf, columns->has[SORT_SYMBOL] ? "       SYMBOL\n" : "\n");
}

static void add_row(struct textbuf *buf, const struct columns *columns, const struct row *row)
{
	char scratch[24];

	if (columns->children)
		textbuf_printf(buf, "%7.2f%%  ", percent(row->children_share));
	textbuf_printf(buf, "%7.2f%%", percent(row->self_share));
	for (size_t key = 0; key < NR_SORT_KEYS; key++) {
		if (columns->has[key] && key != SORT_SYMBOL)
			textbuf_printf(buf, "  %-*s", columns->width[key],
				       key_text(row, (enum sort_key)key, scratch));
	}
	if (columns->has[SORT_SYMBOL])
		textbuf_printf(buf, "  %s  %s", level_mark(row->level), row->symbol);
	textbuf_puts(buf, "\n");
}

static void add_chains(struct textbuf *buf, const struct snapshot *snapshot, const struct row *row)
{
	for (size_t i = 0; i < row->nr_chains; i++) {
		const struct row_chain *chain = snapshot_chain(snapshot, row->first_chain + i);

		textbuf_printf(buf, "    %10.0f ", chain->nr_samples);
		for (size_t j = 0; j < chain->nr_frames; j++)
			textbuf_printf(buf, "%s%s", j ? " < " : " ", chain->frames[j]);
		textbuf_puts(buf, "\n");
	}
}

void output_text(struct report *report)
{
	const struct snapshot *snapshot = report->snapshot;
	size_t nr_rows = report_nr_rows(report, SIZE_MAX);
	struct textbuf *buf = &report->buf;
	struct columns columns;

	add_header(buf, snapshot);
	add_notes(report);
	measure(&columns, snapshot, nr_rows);
	add_titles(buf, &columns);
	for (size_t i = 0; i < nr_rows; i++) {
		const struct row *row = snapshot_row(snapshot, i);

		add_row(buf, &columns, row);
		if (report->verbose)
			add_chains(buf, snapshot, row);
		report_pump(report);
	}
	if (nr_rows < snapshot_nr_rows(snapshot) || snapshot_header(snapshot)->nr_rows_hidden)
		textbuf_printf(buf, "# %zu more rows\n",
			       snapshot_nr_rows(snapshot) - nr_rows +
				       snapshot_header(snapshot)->nr_rows_hidden);
	textbuf_puts(buf, "\n");
}
