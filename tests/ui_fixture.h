/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fixed snapshots and a screen without a terminal, for the tests of ui/.
 */
#ifndef SYMTOP_TESTS_UI_FIXTURE_H
#define SYMTOP_TESTS_UI_FIXTURE_H

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/snapshot.h"
#include "ui/screen.h"
#include "ui/state.h"

struct fixture_row {
	uint64_t id;
	double share;
	const char *comm, *dso, *symbol;
	enum row_level level;
};

static const struct fixture_row fixture_rows[] = {
	{ 1, 0.2672, "crowd", "crowd", "main", LEVEL_USER },
	{ 2, 0.1210, "crowd", "[kernel]", "copy_page_range", LEVEL_KERNEL },
	{ 3, 0.0604, "cc1plus", "cc1plus", "ggc_internal_alloc", LEVEL_USER },
	{ 4, 0.0399, "postgres", "postgres", "ExecInterpExpr", LEVEL_USER },
	{ 5, 0.0311, "java", "libjvm.so", "PhaseIdealLoop::build_loop_late_post(Node*, bool)",
	  LEVEL_USER },
	{ 6, 0.0100, "swapper/0", "[kernel]", "__update_load_avg_cfs_rq", LEVEL_KERNEL },
	{ 7, 0.0049, "qemu-system-x86", "[guest.kernel]", "native_write_msr", LEVEL_GUEST_KERNEL },
	{ 8, 0.0003, "node", "node", "0x5d1a40", LEVEL_USER },
};

/* UTF-8 widths need a UTF-8 locale; false: this machine has none. */
static inline bool fixture_locale(void)
{
	return setlocale(LC_CTYPE, "C.UTF-8") || setlocale(LC_CTYPE, "C.utf8") ||
	       setlocale(LC_CTYPE, "en_US.UTF-8");
}

static inline struct row *fixture_add_row(struct snapshot *snapshot, const struct fixture_row *from)
{
	struct row *row = snapshot_add_row(snapshot);

	row->id = from->id;
	row->self_share = from->share;
	row->children_share = from->share;
	row->period = from->share * 1e9;
	row->children_period = row->period;
	row->nr_samples = from->share * 20000;
	row->comm = snapshot_add_string(snapshot, from->comm);
	row->dso = snapshot_add_string(snapshot, from->dso);
	row->dso_path = snapshot_add_string(snapshot, from->dso);
	row->symbol = snapshot_add_string(snapshot, from->symbol);
	row->event = "";
	row->pid = row->tid = -1;
	row->cpu = row->node = -1;
	row->level = from->level;
	return row;
}

static inline void fixture_fill_header(struct snapshot *snapshot)
{
	struct snapshot_header *header = snapshot_edit_header(snapshot);

	header->host = snapshot_add_string(snapshot, "node07");
	header->kernel = snapshot_add_string(snapshot, "6.18");
	header->event = snapshot_add_string(snapshot, "cycles:P");
	header->target = snapshot_add_string(snapshot, "all processes");
	header->sequence = 7;
	header->freq = 4000;
	header->nr_cpus = header->nr_cpus_online = header->nr_cpus_open = 272;
	header->nr_nodes = 8;
	header->has_nodes = true;
	header->refresh_ns = 2 * NSEC_PER_SEC;
	header->effective_refresh_ns = 2 * NSEC_PER_SEC;
	header->window = snapshot_spec(snapshot)->window;
	header->window_ns = 10 * NSEC_PER_SEC;
	header->samples_per_sec = 1.09e6;
	header->nr_samples = 10900000;
	header->shown_samples = 1e7;
	header->base_period = 1e9;
	header->idle_share = 0.31;
	header->unresolved_share = 0.004;
	header->read_ns = 210 * NSEC_PER_MSEC;
	header->read_share = 0.105;
	header->self_cpu = 0.012;
	header->self_rss_bytes = UINT64_C(84) << 20;
	header->scan_done = header->scan_total = 5083;
	header->scan_finished = true;
	header->overwrite = true;
}

/* All rows of fixture_rows; the caller's to put. @spec may be NULL: the defaults. */
static inline struct snapshot *fixture_snapshot(const struct view_spec *spec)
{
	struct view_spec defaults;
	struct snapshot *snapshot;

	view_spec_init(&defaults);
	snapshot = snapshot_new(spec ? spec : &defaults);
	fixture_fill_header(snapshot);
	for (size_t i = 0; i < ARRAY_SIZE(fixture_rows); i++)
		fixture_add_row(snapshot, &fixture_rows[i]);
	snapshot_sort(snapshot);
	return snapshot;
}

/* @nr rows with ids from 1, hottest first unless @reversed. */
static inline struct snapshot *fixture_many(size_t nr, bool reversed)
{
	struct snapshot *snapshot;
	struct view_spec spec;

	view_spec_init(&spec);
	snapshot = snapshot_new(&spec);
	fixture_fill_header(snapshot);
	for (size_t i = 0; i < nr; i++) {
		struct fixture_row row = { i + 1, 0, "comm", "libx.so", "symbol", LEVEL_USER };

		row.share = (double)(reversed ? i + 1 : nr - i) / (double)(nr * nr);
		fixture_add_row(snapshot, &row);
	}
	snapshot_sort(snapshot);
	return snapshot;
}

/* A state with the default options. */
static inline void fixture_state(struct state *state)
{
	struct ui_options options = { .refresh_ns = 2 * NSEC_PER_SEC };

	view_spec_init(&options.spec);
	state_init(state, &options);
}

/* One key; returns what it wishes for. */
static inline enum ui_action fixture_key(struct state *state, uint32_t key)
{
	struct ui_wish wish;

	state_key(state, key, 1, &wish);
	return wish.action;
}

static inline void fixture_type(struct state *state, const char *text)
{
	for (; *text; text++)
		fixture_key(state, (uint32_t)(unsigned char)*text);
}

/* The text of the screen, the caller's to free. */
static inline char *fixture_dump(const struct screen *screen)
{
	struct textbuf buf = { 0 };

	screen_dump(screen, &buf);
	return buf.text;
}

/* Draw and return the text, the caller's to free. */
static inline char *fixture_draw(struct state *state, int nr_rows, int nr_columns, bool utf8)
{
	struct screen *screen = screen_new(nr_rows, nr_columns, utf8);
	char *text;

	state_draw(state, screen);
	text = fixture_dump(screen);
	screen_free(screen);
	return text;
}

/* Line @y of a dump, the caller's to free. */
static inline char *fixture_line(const char *dump, int y)
{
	for (; y > 0 && strchr(dump, '\n'); y--)
		dump = strchr(dump, '\n') + 1;
	return strndup(dump, strcspn(dump, "\n"));
}

#endif /* SYMTOP_TESTS_UI_FIXTURE_H */
