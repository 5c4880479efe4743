/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording may begin and end between two snapshots, by a key, a signal or a full disk:
 * what is told goes by the number of those that ended, and not by what was asked.
 */
#include "config.h"

#include "ui/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "ui/actions.h"
#include "ui/format.h"

static bool is_busy(enum recording_state recording)
{
	return recording == RECORDING_ON || recording == RECORDING_FINISHING;
}

/* What went wrong stands ahead of the path, which may be long. */
static void tell_end(struct state *state, const struct snapshot_header *header)
{
	const struct recording_figures *recording = &header->recording;
	enum note_level level = NOTE_WARN;
	char text[sizeof(state->message)];
	char bytes[FORMAT_SIZE];

	format_bytes(recording->bytes, bytes);
	if (*recording->trouble) {
		snprintf(text, sizeof(text), "recording: %s", recording->trouble);
	} else if (recording->nr_dropped) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " records dropped, the disk was too slow: recorded %s to %s",
			 recording->nr_dropped, bytes, recording->path);
	} else {
		snprintf(text, sizeof(text), "recorded %s to %s", bytes, recording->path);
		level = NOTE_INFO;
	}
	state_message(state, level, text, header->time_ns);
}

static void tell_begin(struct state *state, const struct snapshot_header *header)
{
	char text[sizeof(state->message)];

	snprintf(text, sizeof(text), "%s to %s",
		 header->recording.keep_ns ? "writing what was kept" : "recording",
		 header->recording.path);
	state_message(state, NOTE_INFO, text, header->time_ns);
}

void recording_tell_state(struct state *state, const struct snapshot *snapshot)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	const struct recording_figures *recording = &header->recording;
	bool begins = !is_busy(state->recording) && is_busy(recording->state);
	bool ended = recording->nr_ended > state->nr_recorded;

	/* A prompt stands where the message would: it comes with the next snapshot. */
	if (state->mode == MODE_PROMPT)
		return;
	state->recording = recording->state;
	state->nr_recorded = recording->nr_ended;
	/* The figures are of the next one already, but for what went wrong. */
	if (ended && (!is_busy(recording->state) || *recording->trouble))
		tell_end(state, header);
	else if (begins || ended)
		tell_begin(state, header);
}

/* ---- the key ---- */

static void record_done(struct state *state, const char *text)
{
	if (!text || !*text)
		return;
	state->wish.action = UI_RECORD;
	snprintf(state->wish.path, sizeof(state->wish.path), "%s", text);
}

/* By the clock of the newest snapshot. */
static void propose(const struct state *state, char *ret_name, size_t size)
{
	const struct snapshot *newest = state->waiting ? state->waiting : state->shown;
	struct tm tm;
	time_t now;

	snprintf(ret_name, size, "symtop.data");
	if (!newest)
		return;
	now = (time_t)(snapshot_header(newest)->wall_time_ns / NSEC_PER_SEC);
	if (localtime_r(&now, &tm))
		strftime(ret_name, size, "symtop-%Y%m%d-%H%M%S.data", &tm);
}

static void ask(struct state *state)
{
	static const struct prompt_use use = { .label = "Record to: ", .done = record_done };
	static const struct prompt_use kept = {
		.label = "Write what was kept to: ",
		.done = record_done,
	};
	char name[PROMPT_BYTES];

	/* A name that the prompt cuts would be that of another file. */
	if (state->record_path && strlen(state->record_path) < sizeof(name))
		snprintf(name, sizeof(name), "%s", state->record_path);
	else
		propose(state, name, sizeof(name));
	state_ask(state, state->recording == RECORDING_KEPT ? &kept : &use, name);
}

void action_record(struct state *state)
{
	switch (state->recording) {
	case RECORDING_NONE:
	case RECORDING_KEPT:
		ask(state);
		break;
	case RECORDING_ON:
		state->wish.action = UI_RECORD_END;
		state_say(state, "ending the recording...");
		break;
	case RECORDING_FINISHING:
		state_say(state, "the last recording is still on its way to the disk");
		break;
	}
}
