/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order is DESIGN section 4: machine, events open, enabled, then everything that
 * reads or draws.
 */
#include "config.h"

#include "top/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/text.h"
#include "core/replay.h"
#include "top/recording.h"
#include "top/signals.h"
#include "top/target.h"

/* Each is open on every CPU, and what is sampled knows its event in 16 bits. */
#define MAX_EVENTS 4096

/* What is open at a time besides events: files of /proc, objects, descriptors to wait on. */
#define SPARE_DESCRIPTORS 32

void session_complain(const struct err *err)
{
	struct textbuf text = { 0 };
	const char *line = err->text;

	/* Names of files, terminals and programs in it may hold anything. */
	do {
		size_t len = strcspn(line, "\n");

		text_add_printable(&text, line, len);
		textbuf_puts(&text, "\n");
		line += len;
	} while (*line++);
	fprintf(stderr, "symtop: %s", text.text);
	textbuf_release(&text);
}

/* The parser knows how many kinds of cores there are; each has cycles of its own. */
static void add_default_event(struct event_parser *parser, struct event_list *list)
{
	if (event_parser_add(parser, "cycles:P", list, NULL) < 0)
		event_list_add_default(list);
	for (size_t i = 0; i < list->nr; i++)
		list->events[i].named_by_user = false;
}

static int parse_events(struct session *session, struct err *err)
{
	const struct options *options = session->options;
	struct event_parser *parser = event_parser_new("/sys", "/sys/kernel/tracing");
	int ret = 0;

	for (size_t i = 0; i < options->nr_events && ret == 0; i++)
		ret = event_parser_add(parser, options->events[i], &session->event_list, err);
	if (!options->nr_events)
		add_default_event(parser, &session->event_list);
	event_parser_free(parser);
	if (ret < 0)
		return ret;
	if (session->event_list.nr > MAX_EVENTS)
		return err_say(err, -E2BIG, "-e: %zu events; %d can be shown at once",
			       session->event_list.nr, MAX_EVENTS);
	return 0;
}

static int open_events(struct session *session, struct err *err)
{
	const struct options *options = session->options;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	const struct event_set_options event_options = {
		.freq = options->freq,
		.freq_named = options->freq_named,
		.period = options->period,
		.callchain = options->callchain,
		.callchain_kernel = true,
		.callchain_user = true,
		.max_stack = options->max_stack,
		.overwrite = !options->no_overwrite,
		.sample_pages = options->ring_bytes / page_size,
		.sample_pages_rounded = options->ring_rounded,
		.drain_ns = options->refresh_ns,
		.nr_setup_workers = options->nr_setup_workers,
		.proc = "/proc",
		.sysfs = "/sys",
	};
	struct event_set_info info;
	int ret;

	ret = event_set_open(&session->event_list, &session->target, &session->cpumap,
			     &event_options, &session->events, err);
	if (ret < 0)
		return ret;
	event_set_get_info(session->events, &info);
	latency_start(session->latency, START_PROBE, info.probe_ns);
	latency_start(session->latency, START_OPEN, info.open_ns);
	latency_start(session->latency, START_MMAP, info.mmap_ns);
	return 0;
}

static int prepare_command(struct session *session, struct err *err)
{
	int ret;

	if (session->target.kind != TARGET_COMMAND)
		return 0;
	ret = command_prepare(session->options->command, session->interactive, &session->command,
			      err);
	if (ret < 0)
		return ret;
	session->target.ids = mem_calloc(1, sizeof(*session->target.ids));
	session->target.ids[0] = command_pid(session->command);
	session->target.nr_ids = 1;
	return 0;
}

static void read_names(struct session *session)
{
	struct utsname name;

	if (uname(&name) < 0)
		return; /* the header goes without */
	snprintf(session->host, sizeof(session->host), "%s", name.nodename);
	snprintf(session->kernel, sizeof(session->kernel), "%s", name.release);
}

bool session_reports_once(const struct session *session)
{
	return !session->interactive && options_report_once(session->options);
}

/* Every sample of the window, with its whole chain. */
static void ask_for_stacks(struct view_spec *spec, const char *keys)
{
	int ignored = sort_keys_parse(keys, &spec->keys, NULL);

	(void)ignored; /* the keys are ours */
	spec->children = false;
	spec->chains = true;
	spec->max_chains = SIZE_MAX;
}

/* Chains and a children column go together, and batch reports carry the chains. */
static void complete_spec(struct session *session)
{
	struct options *options = session->options;

	options->spec.children = options->callchain && !options->no_children;
	options->spec.chains = options->callchain;
	/* A screen ends somewhere; a report has all rows, or as many as were asked for. */
	if (!session->interactive)
		options->spec.max_rows = SIZE_MAX;
	if (options->format->stack_keys)
		ask_for_stacks(&options->spec, options->format->stack_keys);
	if (options->spec.children)
		options->spec.order = ORDER_CHILDREN;
	if (session->interactive || options->window_named)
		return;
	/* A report covers its own time; a single one at the end all of it. */
	options->spec.window = session_reports_once(session) ? VIEW_WINDOW_ALL : VIEW_WINDOW_TICK;
}

static int start_collector(struct session *session, struct err *err)
{
	const struct options *options = session->options;
	const struct collector_options collector_options = {
		.events = session->events,
		.replay = session->replay,
		.replay_speed = options->speed,
		.replay_waits = !session->interactive,
		.replay_shows_end = session_reports_once(session),
		.event_list = &session->event_list,
		.target = &session->target,
		.cpumap = &session->cpumap,
		.latency = session->latency,
		.refresh_ns = options->refresh_ns,
		.early_frames = session->interactive,
		.adapt = !options->no_adapt,
		.zero_each = options->zero_each,
		.nr_readers = options->nr_readers,
		.affinity = options->affinity_named	   ? options->affinity
			    : session->cpumap.nr_nodes > 1 ? AFFINITY_NODE
							   : AFFINITY_SYS,
		.nr_synth_workers = options->nr_synth_workers,
		.host = session->host,
		.kernel = session->kernel,
		.target_text = session->target_text,
		.exec_ns = session->exec_ns,
		.record_path = options->keep_ns ? NULL : options->record,
		.keep_ns = options->keep_ns,
		.version = "symtop " PACKAGE_VERSION,
		.arguments = (const char *const *)options->arguments,
		.nr_arguments = options->nr_arguments,
	};

	return collector_start(&collector_options, &options->spec, &session->collector, err);
}

/* A recording: of the machine that it tells of. */
static int start_replay(struct session *session, struct err *err)
{
	struct perf_data_info info;
	int ret = replay_open(session->options->input, &session->replay, err);

	if (ret < 0)
		return ret;
	replay_get_info(session->replay, &info);
	snprintf(session->host, sizeof(session->host), "%s", info.host);
	snprintf(session->kernel, sizeof(session->kernel), "%s", info.release);
	replay_get_cpumap(session->replay, &session->cpumap);
	session->target_text = mem_strdup(replay_name(session->replay));
	ret = replay_get_events(session->replay, &session->event_list, err);
	if (ret < 0)
		return ret;
	session->options->callchain |= info.has_callchains;
	complete_spec(session);
	latency_start(session->latency, START_OPTIONS, clock_now_ns() - session->exec_ns);
	return start_collector(session, err);
}

static int start(struct session *session, struct err *err)
{
	int ret;

	session->signal_fd = -1;
	session->latency = latency_new();
	ret = signals_init(session->interactive, recording_wants_signal(session),
			   &session->signal_fd, err);
	if (ret < 0)
		return ret;
	if (session->options->input)
		return start_replay(session, err);
	read_names(session);
	ret = cpumap_init(&session->cpumap, "/sys", err);
	if (ret < 0)
		return ret;
	ret = target_init(session->options, &session->cpumap, "/proc", &session->target, err);
	if (ret < 0)
		return ret;
	session->target_text = target_describe(&session->target, session->options);
	ret = parse_events(session, err);
	if (ret < 0)
		return ret;
	ret = prepare_command(session, err);
	if (ret < 0)
		return ret;
	complete_spec(session);
	latency_start(session->latency, START_OPTIONS, clock_now_ns() - session->exec_ns);
	ret = open_events(session, err);
	if (ret < 0)
		return ret;
	return start_collector(session, err);
}

int session_start(struct session *session, struct err *err)
{
	struct rlimit limit;
	int ret = start(session, err);

	/* An event that is refused says so itself, with a better number. */
	if (ret == -EMFILE && !strstr(err->text, "ulimit -n") &&
	    getrlimit(RLIMIT_NOFILE, &limit) == 0)
		err_hint(err,
			 "%llu descriptors are allowed; about %d more are needed: raise the "
			 "limit (ulimit -n).",
			 (unsigned long long)limit.rlim_cur, SPARE_DESCRIPTORS);
	return ret;
}

int session_go(struct session *session, struct err *err)
{
	return session->command ? command_go(session->command, err) : 0;
}

void session_release(struct session *session)
{
	collector_stop(session->collector);
	event_set_close(session->events);
	replay_close(session->replay);
	command_free(session->command);
	latency_free(session->latency);
	event_list_release(&session->event_list);
	target_release(&session->target);
	free(session->target_text);
	cpumap_release(&session->cpumap);
	if (session->signal_fd >= 0)
		close(session->signal_fd);
}

void session_note_rows(struct session *session, const struct snapshot *snapshot)
{
	if (session->row_seen || !snapshot_nr_rows(snapshot))
		return;
	session->row_seen = true;
	latency_start(session->latency, START_FIRST_ROW, clock_now_ns() - session->exec_ns);
}

void session_print_latency(const struct session *session)
{
	struct latency_figures figures;

	latency_get(session->latency, &figures);
	fprintf(stderr, "%-24s %10s\n", "start", "ms");
	for (size_t i = 0; i < NR_START_STAGES; i++) {
		const struct stage_figures *stage = &figures.start[i];

		if (stage->nr)
			fprintf(stderr, "%-24s %10.2f\n", start_stage_name((enum start_stage)i),
				(double)stage->total_ns / 1e6);
	}
	fprintf(stderr, "\n%-24s %10s %10s %10s %10s\n", "tick stage", "times", "mean ms", "max ms",
		"total ms");
	for (size_t i = 0; i < NR_TICK_STAGES; i++) {
		const struct stage_figures *stage = &figures.tick[i];

		if (stage->nr)
			fprintf(stderr, "%-24s %10llu %10.3f %10.3f %10.1f\n",
				tick_stage_name((enum tick_stage)i), (unsigned long long)stage->nr,
				(double)stage->total_ns / (double)stage->nr / 1e6,
				(double)stage->max_ns / 1e6, (double)stage->total_ns / 1e6);
	}
	fprintf(stderr, "ticks late (reading over half the refresh): %llu\n",
		(unsigned long long)figures.nr_ticks_late);
}
