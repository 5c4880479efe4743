/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options, then one of the two front ends. Exit status: see the man page. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/event.h"
#include "top/options.h"
#include "top/output_format.h"
#include "top/recording.h"
#include "top/session.h"
#include "top/signals.h"
#include "top/tune.h"

/*
 * A standard descriptor that is closed would become a perf event's or a file's, and
 * what is printed would go there. Returns false when stdout was.
 */
static bool open_standard_fds(void)
{
	bool has_stdout = true;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", O_RDWR) != fd)
			return false;
		has_stdout &= fd != STDOUT_FILENO;
	}
	return has_stdout;
}

static void print_event(void *arg, const char *name, const char *kind)
{
	fprintf(arg, "%-50s %s\n", name, kind);
}

static int finish_stdout(int status)
{
	if (fflush(stdout) == EOF || ferror(stdout)) {
		fprintf(stderr, "symtop: stdout: cannot be written\n");
		return 1;
	}
	return status;
}

static int list_events(void)
{
	struct event_parser *parser = event_parser_new("/sys", "/sys/kernel/tracing");

	event_parser_list(parser, print_event, stdout);
	event_parser_free(parser);
	return finish_stdout(0);
}

static int run(struct options *options, uint64_t exec_ns)
{
	struct session session = { .options = options, .exec_ns = exec_ns };
	int status;

	session.interactive = !options->batch && !options->output && isatty(STDOUT_FILENO) &&
			      options->format == output_format_at(0);
	status = session.interactive ? interactive_run(&session) : batch_run(&session);
	status = recording_finish(&session, status);
	if (options->latency && session.collector)
		session_print_latency(&session);
	session_release(&session);
	return status;
}

/*
 * Many workers allocate what others free, so an arena for each would keep much that is
 * free; and a growing threshold would keep the large tables that come and go. See the
 * resident size with and without: tests/bench/churn 300 300 beside symtop -b --format json.
 */
static void tune_malloc(void)
{
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
}

int main(int argc, char **argv)
{
	uint64_t exec_ns = clock_now_ns();
	bool has_stdout = open_standard_fds();
	struct options options;
	struct err err = { 0 };
	int status;

	tune_malloc();
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	options_init(&options);
	if (options_parse(&options, argc, argv, &err) < 0) {
		session_complain(&err);
		fprintf(stderr, "Try 'symtop --help'.\n");
		status = 2;
	} else if (!has_stdout && !options.output) {
		fprintf(stderr, "symtop: stdout is closed\n");
		status = 1;
	} else if (options.help) {
		options_print_help(stdout);
		status = finish_stdout(0);
	} else if (options.version) {
		printf("symtop %s\n", PACKAGE_VERSION);
		status = finish_stdout(0);
	} else if (options.list) {
		status = list_events();
	} else if (options.tune) {
		status = tune_run(&options);
	} else {
		status = run(&options, exec_ns);
	}
	options_release(&options);
	/* What a signal asked for is told by dying of it. */
	if (status > 128 && status != 141 && status < 128 + 32)
		signals_die_of(status - 128);
	return status;
}
