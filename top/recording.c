/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that ends while reports are made is told of at once. The screen has a line of
 * its own for that; the last one is told of again when the terminal is ours no more.
 *
 * The end of a recording waits for the disk, which may be a mount that hangs: a second ^C
 * is not kept from ending us then. The file can be read up to there.
 */
#include "config.h"

#include "top/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "top/signals.h"
#include "ui/format.h"

bool recording_wants_signal(const struct session *session)
{
	const struct options *options = session->options;

	return options->keep_ns || (session->interactive && options->record);
}

/* What perf(1) wants to be told of them is not in our files. */
static bool has_tracepoints(const struct session *session)
{
	for (size_t i = 0; i < session->event_list.nr; i++) {
		if (session->event_list.events[i].attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	}
	return false;
}

static void say(const struct session *session, const struct recording_figures *figures)
{
	struct textbuf text = { 0 };
	char bytes[FORMAT_SIZE];
	char *printable;

	format_bytes(figures->bytes, bytes);
	if (!*figures->trouble)
		textbuf_printf(&text, "recorded %s to %s", bytes, figures->path);
	else if (strncmp(figures->trouble, figures->path, strlen(figures->path)) != 0)
		textbuf_printf(&text, "%s: %s", figures->path, figures->trouble);
	else /* it names the file itself */
		textbuf_puts(&text, figures->trouble);
	if (figures->nr_dropped && !*figures->trouble)
		textbuf_printf(&text, ", %" PRIu64 " records dropped: the disk was too slow",
			       figures->nr_dropped);
	if (has_tracepoints(session) && !*figures->trouble)
		textbuf_puts(&text, ", for symtop -i only: perf reads no tracepoints of ours");
	printable = text_printable(text.text);
	fprintf(stderr, "symtop: %s\n", printable);
	free(printable);
	textbuf_release(&text);
}

void recording_tell(struct session *session, const struct recording_figures *figures)
{
	if (figures->nr_ended <= session->nr_recordings_told)
		return;
	session->nr_recordings_told = figures->nr_ended;
	session->recording_failed |= *figures->trouble != '\0';
	say(session, figures);
}

int recording_finish(struct session *session, int status)
{
	struct recording_figures figures;

	if (!session->collector)
		return status;
	signals_let_through(session->signal_fd);
	if (collector_finish_record(session->collector, &figures))
		recording_tell(session, &figures);
	signals_hold();
	return status || !session->recording_failed ? status : 1;
}
