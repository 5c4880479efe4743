/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen's loop: keys, signals and snapshots are waited for together; nothing in
 * it takes longer than drawing.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/collector.h"
#include "top/output.h"
#include "top/output_format.h"
#include "top/session.h"
#include "top/signals.h"
#include "ui/ui.h"

struct screen_loop {
	struct session *session;
	struct ui *ui;
	struct view_spec spec; /* the last one that was accepted */
	bool done;
	int signal_number;		/* that ends us; 0: a key did */
	enum recording_state recording; /* in the newest snapshot */
};

static void say(struct screen_loop *loop, enum note_level level, const char *text)
{
	ui_message(loop->ui, level, text);
}

/* Opening a FIFO or a device could hold the screen, with every signal blocked. */
static bool is_writable_place(const char *path)
{
	struct stat stat;

	return lstat(path, &stat) < 0 || S_ISREG(stat.st_mode);
}

static void write_view(struct screen_loop *loop, const char *path)
{
	const struct output_format *format = output_format_of_path(path);
	struct report report = {
		.snapshot = ui_snapshot(loop->ui),
		.command_line = loop->session->options->command_line,
		.verbose = true,
		.is_first = true,
	};
	struct output *output = NULL;
	struct err err = { 0 };
	char *text;
	int ret;

	if (!is_writable_place(path)) {
		say(loop, NOTE_WARN, "that is no regular file");
		return;
	}
	if (!report.snapshot) {
		say(loop, NOTE_WARN, "nothing to write yet");
		return;
	}
	if (format && format->stack_keys) {
		/* The view's rows and chains are not all there is. */
		say(loop, NOTE_WARN,
		    "a view is a table: .txt, .json, .csv or .prom; stacks: symtop -b");
		return;
	}
	(format ? format : output_format_at(0))->write(&report);
	ret = output_open(path, &output, &err);
	if (ret == 0) {
		struct err close_err = { 0 };
		int close_ret;

		ret = output_write(output, report.buf.text, report.buf.len, &err);
		close_ret = output_close(output, ret == 0, &close_err);
		if (ret == 0 && close_ret < 0) {
			ret = close_ret;
			err = close_err;
		}
	}
	textbuf_release(&report.buf);
	if (ret < 0) {
		say(loop, NOTE_WARN, err.text);
		return;
	}
	text = mem_printf("written to %s", path);
	say(loop, NOTE_INFO, text);
	free(text);
}

static void record(struct screen_loop *loop, const char *path)
{
	struct err err = { 0 };

	if (collector_record(loop->session->collector, path, &err) < 0)
		say(loop, NOTE_WARN, err.text);
}

/* What the key W does, without a prompt. */
static void on_record_signal(struct screen_loop *loop)
{
	const char *path = loop->session->options->record;

	if (!path)
		say(loop, NOTE_WARN,
		    "SIGUSR2 writes to the FILE of -w, and none was given: press W");
	else if (loop->recording == RECORDING_ON)
		collector_end_record(loop->session->collector);
	else
		record(loop, path);
}

static void suspend(struct screen_loop *loop)
{
	signals_stop();
	ui_resume(loop->ui);
}

static void carry_out(struct screen_loop *loop, const struct ui_wish *wish)
{
	struct collector *collector = loop->session->collector;
	struct err err = { 0 };

	switch (wish->action) {
	case UI_NONE:
		break;
	case UI_QUIT:
		loop->done = true;
		break;
	case UI_SPEC:
		if (collector_set_spec(collector, &wish->spec, &err) < 0) {
			ui_set_spec(loop->ui, &loop->spec);
			say(loop, NOTE_WARN, err.text);
			break;
		}
		loop->spec = wish->spec;
		break;
	case UI_REFRESH:
		collector_set_refresh(collector, wish->refresh_ns);
		break;
	case UI_ZERO:
		collector_zero(collector);
		break;
	case UI_ZERO_EACH:
		collector_set_zero_each(collector, wish->zero_each);
		break;
	case UI_SUSPEND:
		suspend(loop);
		break;
	case UI_WRITE:
		write_view(loop, wish->path);
		break;
	case UI_READERS:
		if (collector_set_readers(collector, wish->nr_readers, &err) < 0)
			say(loop, NOTE_WARN, err.text);
		break;
	case UI_RESCAN:
		if (collector_rescan(collector, wish->nr_scan_workers, &err) < 0)
			say(loop, NOTE_WARN, err.text);
		break;
	case UI_RECORD:
		record(loop, wish->path);
		break;
	case UI_RECORD_END:
		collector_end_record(collector);
		break;
	}
}

static void take_keys(struct screen_loop *loop)
{
	struct ui_wish wish;

	do {
		ui_next(loop->ui, &wish);
		carry_out(loop, &wish);
	} while (wish.action != UI_NONE && !loop->done);
}

static void on_child(struct screen_loop *loop)
{
	struct session *session = loop->session;

	if (!session->command || session->command_ended ||
	    !command_has_ended(session->command, &session->command_status))
		return;
	session->command_ended = true;
	if (!session->options->stay)
		loop->done = true;
	else
		say(loop, NOTE_INFO, "the command has ended");
}

static void on_signal(struct screen_loop *loop, int number)
{
	switch (number) {
	case SIGWINCH:
		ui_resize(loop->ui);
		break;
	case SIGTSTP:
		ui_suspend(loop->ui);
		suspend(loop);
		break;
	case SIGCONT:
		ui_resize(loop->ui);
		break;
	case SIGCHLD:
		on_child(loop);
		break;
	case SIGUSR2:
		on_record_signal(loop);
		break;
	default:
		loop->signal_number = number;
		loop->done = true;
	}
}

static void take_snapshot(struct screen_loop *loop)
{
	struct snapshot *snapshot = collector_take(loop->session->collector);
	uint64_t start_ns = clock_now_ns();

	if (!snapshot)
		return;
	loop->recording = snapshot_header(snapshot)->recording.state;
	ui_show(loop->ui, snapshot);
	session_note_rows(loop->session, snapshot);
	snapshot_put(snapshot);
	latency_tick(loop->session->latency, TICK_DRAW, clock_now_ns() - start_ns);
}

static int timeout_ms(const struct ui *ui)
{
	uint64_t due_ns = ui_deadline_ns(ui);
	uint64_t now_ns = clock_now_ns();

	if (!due_ns)
		return -1;
	return due_ns <= now_ns ? 0 : (int)MIN((due_ns - now_ns) / NSEC_PER_MSEC + 1, 60000);
}

static void loop_run(struct screen_loop *loop)
{
	struct session *session = loop->session;
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = session->signal_fd, .events = POLLIN },
		{ .fd = collector_fd(session->collector), .events = POLLIN },
	};

	while (!loop->done) {
		int nr = poll(fds, ARRAY_SIZE(fds), timeout_ms(loop->ui));
		int number;

		while ((number = signals_next(session->signal_fd)))
			on_signal(loop, number);
		if (loop->done)
			break;
		/* Also when a deadline passed: a message goes, an Esc was just an Esc. */
		if (nr <= 0 || fds[0].revents)
			take_keys(loop);
		if (nr > 0 && (fds[2].revents & POLLIN))
			take_snapshot(loop);
	}
}

static int open_screen(struct screen_loop *loop, struct err *err)
{
	const struct options *options = loop->session->options;
	const struct ui_options ui_options = {
		.ascii = options->ascii,
		.color = options->color == COLOR_ALWAYS	 ? UI_COLOR_ALWAYS
			 : options->color == COLOR_NEVER ? UI_COLOR_NEVER
							 : UI_COLOR_AUTO,
		.refresh_ns = options->refresh_ns,
		.zero_each = options->zero_each,
		.spec = options->spec,
		.nr_scan_workers = options->nr_synth_workers,
		.record_path = options->record,
	};
	uint64_t start_ns = clock_now_ns();
	int ret = ui_open(&ui_options, &loop->ui, err);

	if (ret < 0)
		return ret;
	loop->spec = options->spec;
	die_set_hook(ui_restore_terminal);
	latency_start(loop->session->latency, START_SCREEN, clock_now_ns() - start_ns);
	return 0;
}

int interactive_run(struct session *session)
{
	struct screen_loop loop = { .session = session };
	struct err err = { 0 };
	int ret;

	ret = session_start(session, &err);
	if (ret == 0)
		ret = open_screen(&loop, &err);
	if (ret == 0)
		ret = session_go(session, &err);
	if (ret == 0)
		loop_run(&loop);
	ui_close(loop.ui);
	if (ret < 0) {
		session_complain(&err);
		return 1;
	}
	if (loop.signal_number)
		return 128 + loop.signal_number;
	return 0;
}
