/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of loss are always there, also as zero: a person must be able to see that
 * nothing was lost. Others appear when there is something to say.
 */
#include "config.h"

#include "ui/header.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "ui/baseline.h"
#include "ui/format.h"
#include "ui/segment.h"

/* What time is shown is the more important when it is not now. */
enum { PACE_IMPORTANCE = 6, MOMENT_IMPORTANCE = 9 };

/* Parts stand closer where there is little room. */
static int gap(const struct screen *screen)
{
	return screen_nr_columns(screen) < 100 ? 2 : 3;
}

static void add_event(struct segments *segments, const struct snapshot_header *header)
{
	char text[FORMAT_SIZE];

	if (header->freq) {
		segments_add(segments, 8, STYLE_NORMAL, "%s %" PRIu64 " Hz", header->event,
			     header->freq);
		return;
	}
	format_count((double)header->sample_period, text);
	segments_add(segments, 8, STYLE_NORMAL, "%s 1/%s", header->event, text);
}

static void add_cpus(struct segments *segments, const struct snapshot_header *header,
		     const struct screen *screen)
{
	unsigned int style = STYLE_NORMAL;
	char cpus[48];

	if (header->nr_cpus_open && header->nr_cpus_open < header->nr_cpus) {
		snprintf(cpus, sizeof(cpus), "%u of %u CPUs", header->nr_cpus_open,
			 header->nr_cpus);
		style = STYLE_BOLD;
	} else {
		snprintf(cpus, sizeof(cpus), "%u CPU%s", header->nr_cpus,
			 header->nr_cpus == 1 ? "" : "s");
	}
	if (header->has_nodes && header->nr_nodes > 1)
		segments_add(segments, 4, style, "%s%s%u nodes", cpus,
			     screen_mark(screen, " \u00b7 ", ", "), header->nr_nodes);
	else
		segments_add(segments, 4, style, "%s", cpus);
}

/* An event time as a person finds it: in the file's time, or by how long ago it was. */
static void moment_text(const struct snapshot_header *header, uint64_t time_ns, char *ret_text,
			size_t size)
{
	uint64_t since_ns = time_ns - MIN(header->start_ns, time_ns);
	char text[FORMAT_SIZE];

	if (header->is_replay) {
		snprintf(ret_text, size, "at %.1f s of %.1f s",
			 (double)since_ns / (double)NSEC_PER_SEC,
			 (double)header->elapsed_ns / (double)NSEC_PER_SEC);
		return;
	}
	format_duration(header->time_ns - MIN(time_ns, header->time_ns), text);
	snprintf(ret_text, size, "%s ago", text);
}

static void window_text(const struct snapshot_header *header, const struct view_spec *spec,
			char *ret_text, size_t size)
{
	char covered[FORMAT_SIZE];
	char asked[FORMAT_SIZE];

	format_duration(header->window_ns, covered);
	format_duration(spec->window_ns, asked);
	switch (header->window) {
	case VIEW_WINDOW_TICK:
		snprintf(ret_text, size, "last %s", covered);
		break;
	case VIEW_WINDOW_TIME:
		/* Right after the start it cannot cover what was asked for. */
		if (header->window_ns && header->window_ns + header->refresh_ns < spec->window_ns)
			snprintf(ret_text, size, "window %s of %s", covered, asked);
		else
			snprintf(ret_text, size, "window %s", asked);
		break;
	case VIEW_WINDOW_DECAY:
		snprintf(ret_text, size, "decaying");
		break;
	case VIEW_WINDOW_ALL:
		snprintf(ret_text, size, "all %s", covered);
		break;
	}
}

/* A window that ends in the past; when the next refresh comes is of no interest then. */
static void add_moment(struct segments *segments, const struct snapshot *snapshot)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	char moment[80];
	char window[80] = "";

	window_text(header, snapshot_spec(snapshot), window, sizeof(window));
	moment_text(header, header->window_end_ns, moment, sizeof(moment));
	segments_add(segments, MOMENT_IMPORTANCE, STYLE_STATE, "%s%s %s", window,
		     header->is_replay ? "" : " ending", moment);
}

static void add_time(struct segments *segments, const struct snapshot *snapshot,
		     const struct header_state *state, const struct screen *screen)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	char window[80] = "";
	char refresh[FORMAT_SIZE];
	char asked[FORMAT_SIZE + 16] = "";
	bool slower = header->effective_refresh_ns > header->refresh_ns + header->refresh_ns / 16;

	/* Early frames come faster than asked for; only a slower pace is news. */
	format_duration(slower ? header->effective_refresh_ns : header->refresh_ns, refresh);
	if (slower) {
		char text[FORMAT_SIZE];

		format_duration(header->refresh_ns, text);
		snprintf(asked, sizeof(asked), " (not %s)", text);
	}
	window_text(header, snapshot_spec(snapshot), window, sizeof(window));
	segments_add(segments, PACE_IMPORTANCE, slower ? STYLE_WARN : STYLE_NORMAL,
		     "refresh %s%s%s%s%s", refresh, asked, screen_mark(screen, " \u00b7 ", ", "),
		     window, state->zero_each ? ", zeroed each time" : "");
}

/* Draw the parts, the pace (if it is still there) at the right edge. */
static void draw_identity(struct segments *segments, struct screen *screen, int y)
{
	const struct segment *last;
	int width = screen_nr_columns(screen);
	int used, x;

	segments_fit(segments, screen, width, gap(screen));
	last = &segments->parts[segments->nr - 1];
	if (segments->nr < 2 ||
	    (last->importance != PACE_IMPORTANCE && last->importance != MOMENT_IMPORTANCE)) {
		segments_draw(segments, screen, y, gap(screen));
		return;
	}
	segments->nr--;
	used = segments_draw(segments, screen, y, gap(screen));
	x = MAX(width - screen_width(screen, last->text, width), used + gap(screen));
	screen_put(screen, y, x, width - x, last->text, last->style);
}

void header_draw_identity(const struct snapshot *snapshot, const struct header_state *state,
			  struct screen *screen, int y)
{
	struct segments segments = { 0 };
	const struct snapshot_header *header;

	segments_add(&segments, 3, STYLE_BOLD, "symtop");
	if (!snapshot) {
		segments_add(&segments, 8, STYLE_NORMAL, "starting");
		draw_identity(&segments, screen, y);
		return;
	}
	header = snapshot_header(snapshot);
	segments_add(&segments, 5, STYLE_NORMAL, "%s %s", header->host, header->kernel);
	add_event(&segments, header);
	add_cpus(&segments, header, screen);
	segments_add(&segments, 7, header->target_gone ? STYLE_WARN : STYLE_NORMAL, "%s%s",
		     header->target, header->target_gone ? " (ended)" : "");
	if (snapshot_spec(snapshot)->end_ns)
		add_moment(&segments, snapshot);
	else
		add_time(&segments, snapshot, state, screen);
	draw_identity(&segments, screen, y);
}

static void add_count(struct segments *segments, int importance, const char *name, uint64_t count,
		      bool always)
{
	char text[FORMAT_SIZE];

	if (!count && !always)
		return;
	format_count((double)count, text);
	segments_add(segments, importance, count ? STYLE_WARN : STYLE_NORMAL, "%s %s", name, text);
}

static void add_share(struct segments *segments, int importance, const char *name, double share,
		      unsigned int style, bool always)
{
	char text[FORMAT_SIZE];

	/* What would print as 0.0% is not worth a part of the line. */
	if (!always && !(share >= 0.0005))
		return;
	format_share(share, 1, text);
	segments_add(segments, importance, style, "%s %s", name, text);
}

static void add_cost(struct segments *segments, const struct snapshot_header *header,
		     const struct screen *screen)
{
	char share[FORMAT_SIZE];
	char text[FORMAT_SIZE];

	format_duration(header->read_ns, text);
	format_share(header->read_share, 0, share);
	segments_add(segments, 5, header->read_share > 0.5 ? STYLE_WARN : STYLE_NORMAL,
		     "read %s (%s)", text, share);
	format_share(header->self_cpu, 1, share);
	format_bytes(header->self_rss_bytes, text);
	segments_add(segments, 6, STYLE_NORMAL, "self %s%s%s", share,
		     screen_mark(screen, " \u00b7 ", ", "), text);
}

static void add_recording(struct segments *segments, const struct recording_figures *recording)
{
	double asked = (double)recording->keep_ns / 1e9;
	uint64_t kept_ns = MIN(recording->kept_ns, recording->keep_ns);
	char text[FORMAT_SIZE];

	format_bytes(recording->bytes, text);
	switch (recording->state) {
	case RECORDING_NONE:
		return;
	case RECORDING_KEPT:
		segments_add(segments, 9, recording->kept_is_cut ? STYLE_WARN : STYLE_NORMAL,
			     "flight %" PRIu64 "/%g s%s", kept_ns / NSEC_PER_SEC, asked,
			     recording->kept_is_cut ? ", cut" : "");
		return;
	case RECORDING_ON:
		segments_add(segments, 9, STYLE_STATE, "rec %s", text);
		break;
	case RECORDING_FINISHING:
		segments_add(segments, 9, STYLE_STATE, "rec %s..", text);
		break;
	}
	add_count(segments, 11, "dropped", recording->nr_dropped, false);
}

static void add_scan(struct segments *segments, const struct snapshot_header *header)
{
	if (header->scan_finished)
		segments_add(segments, 1, STYLE_DIM, "scan %" PRIu64 "/%" PRIu64, header->scan_done,
			     header->scan_total);
	else
		segments_add(segments, 9, STYLE_BOLD, "scanning %" PRIu64 "/%" PRIu64,
			     header->scan_done, header->scan_total);
}

void header_draw_figures(const struct snapshot *snapshot, struct screen *screen, int y)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	const struct view_spec *spec = snapshot_spec(snapshot);
	struct segments segments = { 0 };
	char text[FORMAT_SIZE];

	format_count(header->samples_per_sec, text);
	if (header->samples_per_sec >= 10000)
		text_si(header->samples_per_sec, text);
	segments_add(&segments, 7, STYLE_NORMAL, "%s samples/s", text);
	add_count(&segments, 12, "lost", header->nr_lost, true);
	if (header->overwrite)
		add_count(&segments, header->nr_overwritten ? 11 : 6, "overwritten",
			  header->nr_overwritten, true);
	add_count(&segments, 10, "metadata lost", header->nr_lost_metadata, false);
	add_count(&segments, 10, "throttled", header->nr_throttled, false);
	add_count(&segments, 10, "corrupt", header->nr_corrupt, false);
	add_recording(&segments, &header->recording);
	add_share(&segments, 8, "unresolved", header->unresolved_share, STYLE_NORMAL, true);
	add_share(&segments, 3, "unnamed", header->unnamed_share, STYLE_NORMAL, false);
	add_share(&segments, 2, "naming", header->pending_share, STYLE_DIM, false);
	add_cost(&segments, header, screen);
	add_scan(&segments, header);
	if (!spec->show_idle)
		add_share(&segments, 4, "idle hidden", header->idle_share, STYLE_DIM, false);
	add_share(&segments, 2, "others", header->outside_share, STYLE_DIM, false);
	if (header->nr_coarsened) {
		format_count((double)header->nr_coarsened, text);
		segments_add(&segments, 3, STYLE_NORMAL, "coarsened %s", text);
	}
	segments_fit(&segments, screen, screen_nr_columns(screen), gap(screen));
	segments_draw(&segments, screen, y, gap(screen));
}

static void add_lists(struct segments *segments, const struct view_spec *spec)
{
	if (*spec->comms)
		segments_add(segments, 5, STYLE_STATE, "comms %s", spec->comms);
	if (*spec->dsos)
		segments_add(segments, 5, STYLE_STATE, "objects %s", spec->dsos);
	if (*spec->symbols)
		segments_add(segments, 5, STYLE_STATE, "symbols %s", spec->symbols);
}

static void add_hidden(struct segments *segments, const struct snapshot *snapshot)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	const struct view_spec *spec = snapshot_spec(snapshot);

	if (spec->hide_kernel)
		segments_add(segments, 7, STYLE_STATE, "kernel hidden");
	if (spec->hide_user)
		segments_add(segments, 7, STYLE_STATE, "user hidden");
	if (spec->show_idle)
		segments_add(segments, 4, STYLE_STATE, "idle shown");
	if (spec->event >= 0 && (size_t)spec->event < snapshot_nr_events(snapshot))
		segments_add(segments, 6, STYLE_STATE, "event %s (%d of %zu)",
			     snapshot_event(snapshot, (size_t)spec->event)->name, spec->event + 1,
			     snapshot_nr_events(snapshot));
	if (spec->relative)
		segments_add(segments, 3, STYLE_STATE, "shares of what is shown");
	if (spec->percent_limit > 0)
		segments_add(segments, 3, STYLE_STATE, "limit %g%%: %zu rows hidden",
			     spec->percent_limit, header->nr_rows_hidden);
	else if (header->nr_rows_hidden)
		segments_add(segments, 3, STYLE_STATE, "%zu rows hidden", header->nr_rows_hidden);
}

static void add_baseline(struct segments *segments, const struct snapshot *snapshot,
			 const struct header_state *state)
{
	char moment[80];
	char gone[48] = "";

	if (!state->has_baseline)
		return;
	moment_text(snapshot_header(snapshot), state->baseline_end_ns, moment, sizeof(moment));
	if (state->nr_gone && state->nr_gone != BASELINE_GONE_UNKNOWN)
		snprintf(gone, sizeof(gone), ", %zu row%s of it gone", state->nr_gone,
			 state->nr_gone == 1 ? "" : "s");
	segments_add(segments, 5, STYLE_STATE, "baseline %s%s", moment, gone);
}

static void collect_state(struct segments *segments, const struct snapshot *snapshot,
			  const struct header_state *state)
{
	const struct snapshot_header *header;
	const struct view_spec *spec;

	if (state->paused)
		segments_add(segments, 10, STYLE_STATE, "PAUSED");
	if (!snapshot)
		return;
	header = snapshot_header(snapshot);
	spec = snapshot_spec(snapshot);
	/* These change what every share means, so they come first. */
	if (header->kernel_excluded)
		segments_add(segments, 9, STYLE_WARN,
			     "no kernel samples: shares are of user samples");
	if (header->own_processes_only)
		segments_add(segments, 9, STYLE_WARN, "own processes only");
	add_baseline(segments, snapshot, state);
	add_hidden(segments, snapshot);
	/* Last because it may be long, and is cut where the screen ends. */
	if (*spec->filter)
		segments_add(segments, 8, STYLE_STATE, "filter: %s  (Esc clears)", spec->filter);
	add_lists(segments, spec);
}

bool header_has_state(const struct snapshot *snapshot, const struct header_state *state)
{
	struct segments segments = { 0 };

	collect_state(&segments, snapshot, state);
	return segments.nr > 0;
}

void header_draw_state(const struct snapshot *snapshot, const struct header_state *state,
		       struct screen *screen, int y)
{
	struct segments segments = { 0 };

	/* Cut at the right rather than dropped: each part tells that rows are missing. */
	collect_state(&segments, snapshot, state);
	segments_draw(&segments, screen, y, gap(screen));
}

static const struct note *nth_note(const struct snapshot *snapshot, size_t index)
{
	static const enum note_level levels[] = { NOTE_WARN, NOTE_INFO };

	for (size_t l = 0; l < ARRAY_SIZE(levels); l++) {
		for (size_t i = 0; i < snapshot_nr_notes(snapshot); i++) {
			const struct note *note = snapshot_note(snapshot, i);

			if (note->level == levels[l] && !index--)
				return note;
		}
	}
	return NULL;
}

void header_draw_notes(const struct snapshot *snapshot, struct screen *screen, int y, int height)
{
	size_t nr = snapshot_nr_notes(snapshot);
	int width = screen_nr_columns(screen);
	char more[32] = "";
	int room;

	for (int i = 0; i < height; i++) {
		const struct note *note = nth_note(snapshot, (size_t)i);

		screen_fill(screen, y + i, 0, width, STYLE_NORMAL);
		if (!note)
			continue;
		if (i + 1 == height && nr > (size_t)height)
			snprintf(more, sizeof(more), " +%zu more: ?", nr - (size_t)height);
		room = width - (int)screen_width(screen, more, width);
		if (note->level == NOTE_WARN) {
			screen_put(screen, y + i, 0, room, "! ", STYLE_WARN);
			screen_put(screen, y + i, 2, room - 2, note->text, STYLE_WARN);
		} else {
			screen_put(screen, y + i, 0, room, note->text, STYLE_DIM);
		}
		screen_put(screen, y + i, room, width - room, more, STYLE_KEY);
	}
}

void header_draw_empty(const struct snapshot *snapshot, struct screen *screen, int y)
{
	const struct snapshot_header *header = snapshot ? snapshot_header(snapshot) : NULL;
	int width = screen_nr_columns(screen);
	char text[128];

	if (!header)
		snprintf(text, sizeof(text), "opening events...");
	else if (header->target_gone)
		snprintf(text, sizeof(text), "the target has ended");
	else if (!header->nr_samples && !header->scan_finished)
		snprintf(text, sizeof(text),
			 "collecting samples, scanning processes: %" PRIu64 " of %" PRIu64 "...",
			 header->scan_done, header->scan_total);
	else if (!header->nr_samples)
		snprintf(text, sizeof(text), "collecting samples...");
	else if (header->nr_rows_hidden)
		snprintf(text, sizeof(text), "all rows are below the limit (L)");
	else if (!snapshot_spec(snapshot)->show_idle && header->idle_share > 0.999)
		snprintf(text, sizeof(text), "the machine is idle (i shows idle samples)");
	else
		snprintf(text, sizeof(text), "no samples in the window match what is asked for");
	screen_put(screen, y, 1, width - 1, text, STYLE_BOLD);
}
