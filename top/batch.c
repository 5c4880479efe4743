/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports without a screen. The collector ticks at the delay; each tick is one report.
 * Names that are still being looked up at the tick are waited for a moment: a report is
 * read once and cannot be redrawn.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/collector.h"
#include "top/output.h"
#include "top/output_format.h"
#include "top/recording.h"
#include "top/session.h"
#include "top/signals.h"

#define NAMES_WAIT_NS (500 * NSEC_PER_MSEC)
/* A file of all of a run is worth more: the symbols of a large program take a second. */
#define ONCE_NAMES_WAIT_NS (5 * NSEC_PER_SEC)
#define EXIT_BROKEN_PIPE 141

struct batch {
	struct session *session;
	struct output *output;
	struct report report;
	struct snapshot *held; /* waits for its names; a reference, NULL: none */
	uint64_t held_until_ns;
	uint64_t nr_reports;
	uint64_t last_sequence; /* of the report printed last */
	bool target_gone;	/* ... and there is nothing after it */
	uint64_t end_ns;	/* 0: none */
	int signal_number;	/* that ended us; 0: none */
	bool too_early;		/* ... and there was no report yet */
	bool done;
	int ret; /* negative errno of the output */
	struct err err;
};

/* It is told how that ends when a snapshot says so. */
static void write_kept(struct batch *batch)
{
	struct session *session = batch->session;
	struct err err = { 0 };

	if (collector_record(session->collector, session->options->record, &err) < 0)
		session_complain(&err);
}

static void on_signal(struct batch *batch, int number)
{
	struct session *session = batch->session;

	if (number == SIGUSR2) {
		if (!batch->done)
			write_kept(batch);
		return;
	}
	if (number != SIGCHLD) {
		batch->signal_number = number;
		batch->too_early = !batch->nr_reports && !batch->held;
		batch->done = true;
		return;
	}
	if (session->command && command_has_ended(session->command, &session->command_status)) {
		session->command_ended = true;
		batch->done |= !session->options->stay;
	}
}

/* What ends us without a report of the rest. */
static bool is_cut_short(const struct batch *batch)
{
	return batch->signal_number && batch->signal_number != SIGINT;
}

static void take_signals(struct batch *batch)
{
	int number;

	while ((number = signals_next(batch->session->signal_fd)))
		on_signal(batch, number);
}

/*
 * Signals are blocked, so a pipe that nobody reads would hold us in write(2) whatever we
 * are told. A pipe that has room takes up to PIPE_BUF without waiting. Only SIGINT waits
 * for the reader: a report of what there is was asked for.
 */
static void write_out(struct batch *batch, const char *text, size_t len)
{
	struct pollfd fds[] = {
		{ .fd = output_fd(batch->output), .events = POLLOUT },
		{ .fd = batch->session->signal_fd, .events = POLLIN },
	};

	while (len && batch->ret == 0) {
		size_t nr = MIN(len, (size_t)PIPE_BUF);

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue;
		if (fds[0].revents) {
			batch->ret = output_write(batch->output, text, nr, &batch->err);
			text += nr;
			len -= nr;
			continue;
		}
		take_signals(batch);
		if (is_cut_short(batch))
			batch->ret = -EINTR;
	}
}

/* What cannot be written is thrown away; the first fault is the one that is told. */
static void flush_report(struct report *report)
{
	struct batch *batch = container_of(report, struct batch, report);

	write_out(batch, report->buf.text, report->buf.len);
	textbuf_clear(&report->buf);
}

static void print(struct batch *batch, const struct snapshot *snapshot)
{
	const struct options *options = batch->session->options;

	batch->report.snapshot = snapshot;
	batch->report.is_first = !batch->nr_reports;
	batch->nr_reports++;
	options->format->write(&batch->report);
	flush_report(&batch->report);
	session_note_rows(batch->session, snapshot);
	batch->last_sequence = snapshot_header(snapshot)->sequence;
	batch->target_gone = snapshot_header(snapshot)->target_gone;
	if (batch->ret < 0 || (options->nr_reports && batch->nr_reports >= options->nr_reports) ||
	    batch->target_gone)
		batch->done = true;
}

static void print_held(struct batch *batch)
{
	struct snapshot *snapshot = batch->held;

	batch->held = NULL;
	if (!snapshot)
		return;
	print(batch, snapshot);
	snapshot_put(snapshot);
}

static void take(struct batch *batch)
{
	struct snapshot *snapshot = collector_take(batch->session->collector);

	if (!snapshot)
		return;
	recording_tell(batch->session, &snapshot_header(snapshot)->recording);
	/* A tick's snapshot again with more names replaces the one that waits for them. */
	if (batch->held &&
	    snapshot_header(batch->held)->sequence != snapshot_header(snapshot)->sequence)
		print_held(batch);
	if (batch->done || snapshot_header(snapshot)->sequence <= batch->last_sequence ||
	    (session_reports_once(batch->session) && !snapshot_header(snapshot)->target_gone)) {
		snapshot_put(snapshot);
		return;
	}
	if (!batch->held)
		batch->held_until_ns = clock_now_ns() + NAMES_WAIT_NS;
	snapshot_put(batch->held);
	batch->held = snapshot;
	if (!(snapshot_header(snapshot)->pending_share > 0))
		print_held(batch);
}

static int timeout_ms(const struct batch *batch)
{
	uint64_t due_ns = batch->end_ns;
	uint64_t now_ns = clock_now_ns();

	if (batch->held && (!due_ns || batch->held_until_ns < due_ns))
		due_ns = batch->held_until_ns;
	if (!due_ns)
		return -1;
	return due_ns <= now_ns ? 0 : (int)MIN((due_ns - now_ns) / NSEC_PER_MSEC + 1, 60000);
}

static void loop(struct batch *batch)
{
	struct session *session = batch->session;
	struct pollfd fds[] = {
		{ .fd = collector_fd(session->collector), .events = POLLIN },
		{ .fd = session->signal_fd, .events = POLLIN },
		{ .fd = output_fd(batch->output), .events = 0 }, /* POLLERR: no reader */
	};

	while (!batch->done) {
		int nr = poll(fds, ARRAY_SIZE(fds), timeout_ms(batch));

		if (nr < 0 && errno != EINTR) {
			batch->ret = err_set(&batch->err, -errno, "poll");
			return;
		}
		if (nr > 0)
			take_signals(batch);
		if (nr > 0 && (fds[2].revents & (POLLERR | POLLNVAL))) {
			batch->ret = -EPIPE;
			return;
		}
		if (nr > 0 && (fds[0].revents & POLLIN))
			take(batch);
		if (batch->held && clock_now_ns() >= batch->held_until_ns)
			print_held(batch);
		if (batch->end_ns && clock_now_ns() >= batch->end_ns)
			batch->done = true;
	}
}

static bool is_enough(const struct batch *batch)
{
	uint64_t wanted = batch->session->options->nr_reports;

	return batch->ret < 0 || batch->target_gone || (wanted && batch->nr_reports >= wanted);
}

/* A tick that ended while the end of the run was decided. */
static void print_missed(struct batch *batch)
{
	struct snapshot *snapshot = collector_take(batch->session->collector);

	if (snapshot && snapshot_header(snapshot)->sequence > batch->last_sequence &&
	    !session_reports_once(batch->session))
		print(batch, snapshot);
	snapshot_put(snapshot);
}

/*
 * @snapshot, or the same again with more names: until all are there, it takes too long, or
 * somebody does not want to wait.
 */
static struct snapshot *wait_for_names(struct batch *batch, struct snapshot *snapshot)
{
	struct session *session = batch->session;
	uint64_t until_ns = clock_now_ns() +
			    (session_reports_once(session) ? ONCE_NAMES_WAIT_NS : NAMES_WAIT_NS);

	while (snapshot && snapshot_header(snapshot)->pending_share > 0 &&
	       clock_now_ns() < until_ns) {
		struct pollfd fds[] = {
			{ .fd = collector_fd(session->collector), .events = POLLIN },
			{ .fd = session->signal_fd, .events = POLLIN },
		};
		struct snapshot *newer;
		int number;

		if (poll(fds, ARRAY_SIZE(fds), 50) <= 0)
			continue;
		do
			number = signals_next(session->signal_fd);
		while (number == SIGCHLD || number == SIGUSR2);
		if (number) {
			on_signal(batch, number);
			break;
		}
		newer = collector_take(session->collector);
		if (!newer)
			continue;
		snapshot_put(snapshot);
		snapshot = newer;
	}
	return snapshot;
}

/* What was sampled since the last report, unless enough were asked for. */
static void print_rest(struct batch *batch)
{
	struct snapshot *snapshot;

	if (batch->ret < 0)
		return;
	print_held(batch);
	if (is_enough(batch) || is_cut_short(batch))
		return;
	snapshot = collector_finish(batch->session->collector);
	print_missed(batch);
	snapshot = wait_for_names(batch, snapshot);
	if (snapshot && !is_enough(batch) && !is_cut_short(batch) &&
	    (snapshot_header(snapshot)->nr_samples || !batch->nr_reports))
		print(batch, snapshot);
	snapshot_put(snapshot);
}

static int exit_status(const struct batch *batch)
{
	if (batch->ret == -EPIPE)
		return EXIT_BROKEN_PIPE;
	if (batch->ret == -EINTR && batch->signal_number)
		return 128 + batch->signal_number;
	if (batch->ret < 0) {
		session_complain(&batch->err);
		return 1;
	}
	if (batch->signal_number == SIGINT && !batch->too_early)
		return 0;
	return batch->signal_number ? 128 + batch->signal_number : 0;
}

/* Bytes that a terminal would obey. */
static bool would_spoil_terminal(const struct options *options)
{
	return options->format->is_binary && !options->output && isatty(STDOUT_FILENO);
}

int batch_run(struct session *session)
{
	const struct options *options = session->options;
	struct batch batch = {
		.session = session,
		.report = {
			.command_line = options->command_line,
			.max_rows = options->max_rows,
			.verbose = options->verbose,
			.flush = flush_report,
		},
	};
	struct err err = { 0 };
	int status;

	if (options->keep_ns && !options->record) {
		(void)err_say(&err, -EINVAL,
			      "--flight without a screen: give -w FILE, to which SIGUSR2 writes");
		session_complain(&err);
		return 2;
	}
	if (would_spoil_terminal(options)) {
		(void)err_say(&err, -EINVAL, "format %s is not for a terminal; give -o FILE",
			      options->format->name);
		session_complain(&err);
		return 2;
	}
	batch.ret = output_open(options->output, &batch.output, &batch.err);
	if (batch.ret == 0)
		batch.ret = session_start(session, &batch.err);
	if (batch.ret == 0)
		batch.ret = session_go(session, &batch.err);
	if (batch.ret == 0) {
		if (options->duration_ns)
			batch.end_ns = clock_now_ns() + options->duration_ns;
		loop(&batch);
		print_rest(&batch);
	}
	status = exit_status(&batch);
	snapshot_put(batch.held);
	textbuf_release(&batch.report.buf);
	if (output_close(batch.output, batch.ret == 0 && batch.nr_reports, &err) < 0) {
		session_complain(&err);
		status = 1;
	}
	return status;
}
