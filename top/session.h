/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that is open during a run, wired together: machine, target, events,
 * command, collector. Main thread only.
 */
#ifndef SYMTOP_TOP_SESSION_H
#define SYMTOP_TOP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "core/collector.h"
#include "core/cpumap.h"
#include "core/event.h"
#include "core/event_set.h"
#include "core/latency.h"
#include "top/command.h"
#include "top/options.h"

struct session {
	struct options *options;
	bool interactive;
	uint64_t exec_ns;
	int signal_fd;
	struct cpumap cpumap;
	struct target target;
	char *target_text;
	char host[65], kernel[65];
	struct event_list event_list;
	struct event_set *events;
	struct replay *replay; /* in their place; NULL: live */
	struct latency *latency;
	struct command *command;
	struct collector *collector;
	int command_status; /* wait(2) status once it has ended */
	bool command_ended;
	bool row_seen;
	uint64_t nr_recordings_told; /* that ended, see top/recording.h */
	bool recording_failed;
};

/*
 * Fill *@session (zeroed but for options, interactive, exec_ns) up to running
 * events. Whatever it returns, session_release() ends it.
 */
int session_start(struct session *session, struct err *err) MUST_CHECK;
void session_release(struct session *session);

/* Let the command go, if there is one. Call when everything else runs. */
int session_go(struct session *session, struct err *err) MUST_CHECK;

/* A batch run that prints one report at its end, of all of it. */
bool session_reports_once(const struct session *session);

/* Note that the first row was shown now, for --latency. */
void session_note_rows(struct session *session, const struct snapshot *snapshot);

/* The table of --latency, on stderr. */
void session_print_latency(const struct session *session);

/* Both front ends: run until the end; returns the exit status. */
int batch_run(struct session *session);
int interactive_run(struct session *session);

/* "symtop: TEXT" on stderr, each line of it. */
void session_complain(const struct err *err);

#endif /* SYMTOP_TOP_SESSION_H */
