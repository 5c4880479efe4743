/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of the table says everything about an option: its names, what it takes, its
 * help and what it does. getopt_long(3) is fed from it.
 */
#include "config.h"

#include "top/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/text.h"

#define MAX_KEEP_NS (3600 * NSEC_PER_SEC)

struct option_row {
	char letter;	   /* 0: none */
	const char *name;  /* NULL: none */
	const char *takes; /* NULL: nothing */
	const char *help;  /* NULL: another spelling of the row above */
	int (*set)(struct options *options, const char *value);
};

/* ---- what each option does ---- */

static int set_all(struct options *options, const char *value UNUSED)
{
	options->all = true;
	return 0;
}

static int set_pids(struct options *options, const char *value)
{
	options->pids = value;
	return 0;
}

static int set_tids(struct options *options, const char *value)
{
	options->tids = value;
	return 0;
}

static int set_user(struct options *options, const char *value)
{
	options->user = value;
	return 0;
}

static int set_cpus(struct options *options, const char *value)
{
	options->cpus = value;
	return 0;
}

static int set_nodes(struct options *options, const char *value)
{
	options->nodes = value;
	return 0;
}

static int set_stay(struct options *options, const char *value UNUSED)
{
	options->stay = true;
	return 0;
}

static int set_input(struct options *options, const char *value)
{
	options->input = value;
	return *value ? 0 : -EINVAL;
}

static int set_speed(struct options *options, const char *value)
{
	char *end;

	options->speed_named = true;
	options->speed = 0;
	if (!strcmp(value, "max"))
		return 0;
	if ((*value < '0' || *value > '9') && *value != '.')
		return -EINVAL;
	options->speed = strtod(value, &end);
	return *end || !(options->speed >= 0.001 && options->speed <= 1e6) ? -EINVAL : 0;
}

static int set_event(struct options *options, const char *value)
{
	mem_grow(options->events, options->nr_events, options->nr_events_allocated);
	options->events[options->nr_events++] = value;
	return 0;
}

static int set_freq(struct options *options, const char *value)
{
	options->freq_named = true;
	options->period = 0;
	if (!strcmp(value, "max")) {
		options->freq = UINT64_MAX;
		return 0;
	}
	return options_parse_number(value, 1, 10000000, &options->freq);
}

static int set_period(struct options *options, const char *value)
{
	options->freq = 0;
	return options_parse_number(value, 1, INT64_MAX, &options->period);
}

static int set_callchain(struct options *options, const char *value UNUSED)
{
	options->callchain = true;
	return 0;
}

static int set_call_graph(struct options *options, const char *value)
{
	options->callchain = true;
	return strcmp(value, "fp") ? -EINVAL : 0;
}

static int set_max_stack(struct options *options, const char *value)
{
	uint64_t frames;
	int ret = options_parse_number(value, 1, 65535, &frames);

	if (ret == 0)
		options->max_stack = (unsigned int)frames;
	return ret;
}

static int set_no_children(struct options *options, const char *value UNUSED)
{
	options->no_children = true;
	return 0;
}

static int set_children(struct options *options, const char *value UNUSED)
{
	options->no_children = false;
	options->callchain = true;
	return 0;
}

static int set_hide_kernel(struct options *options, const char *value UNUSED)
{
	options->spec.hide_kernel = true;
	return 0;
}

static int set_hide_user(struct options *options, const char *value UNUSED)
{
	options->spec.hide_user = true;
	return 0;
}

static int set_idle(struct options *options, const char *value UNUSED)
{
	options->spec.show_idle = true;
	return 0;
}

static int set_sort(struct options *options, const char *value)
{
	options->sort_named = true;
	return sort_keys_parse(value, &options->spec.keys, NULL);
}

static int copy_text(char *to, size_t size, const char *value)
{
	if (strlen(value) >= size)
		return -EINVAL;
	snprintf(to, size, "%s", value);
	return 0;
}

static int set_comms(struct options *options, const char *value)
{
	return copy_text(options->spec.comms, sizeof(options->spec.comms), value);
}

static int set_dsos(struct options *options, const char *value)
{
	return copy_text(options->spec.dsos, sizeof(options->spec.dsos), value);
}

static int set_symbols(struct options *options, const char *value)
{
	return copy_text(options->spec.symbols, sizeof(options->spec.symbols), value);
}

static int set_filter(struct options *options, const char *value)
{
	return copy_text(options->spec.filter, sizeof(options->spec.filter), value);
}

static int set_percent_limit(struct options *options, const char *value)
{
	char *end;

	if ((*value < '0' || *value > '9') && *value != '.')
		return -EINVAL;
	options->spec.percent_limit = strtod(value, &end);
	return *end || !(options->spec.percent_limit <= 100) ? -EINVAL : 0;
}

static int set_percentage(struct options *options, const char *value)
{
	options->spec.relative = !strcmp(value, "relative");
	return options->spec.relative || !strcmp(value, "absolute") ? 0 : -EINVAL;
}

static int set_delay(struct options *options, const char *value)
{
	options->refresh_named = true;
	return options_parse_time(value, 100 * NSEC_PER_MSEC, &options->refresh_ns);
}

static int set_zero(struct options *options, const char *value UNUSED)
{
	options->zero_each = true;
	return 0;
}

static int set_window(struct options *options, const char *value)
{
	options->window_named = true;
	if (!strcmp(value, "tick"))
		options->spec.window = VIEW_WINDOW_TICK;
	else if (!strcmp(value, "decay"))
		options->spec.window = VIEW_WINDOW_DECAY;
	else if (!strcmp(value, "all"))
		options->spec.window = VIEW_WINDOW_ALL;
	else {
		options->spec.window = VIEW_WINDOW_TIME;
		return options_parse_time(value, 100 * NSEC_PER_MSEC, &options->spec.window_ns);
	}
	return 0;
}

static int set_record(struct options *options, const char *value)
{
	options->record = value;
	return *value ? 0 : -EINVAL;
}

static int set_flight(struct options *options, const char *value)
{
	int ret = options_parse_time(value, NSEC_PER_SEC, &options->keep_ns);

	return options->keep_ns > MAX_KEEP_NS ? -EINVAL : ret;
}

static int set_pages(struct options *options, const char *value)
{
	int ret = options_parse_pages(value, (size_t)sysconf(_SC_PAGESIZE), &options->ring_bytes);

	options->ring_rounded = ret > 0;
	return MIN(ret, 0);
}

static int set_no_overwrite(struct options *options, const char *value UNUSED)
{
	options->no_overwrite = true;
	return 0;
}

static int set_no_adapt(struct options *options, const char *value UNUSED)
{
	options->no_adapt = true;
	return 0;
}

static int set_readers(struct options *options, const char *value)
{
	uint64_t nr;
	int ret = options_parse_number(value, 1, 1024, &nr);

	if (ret == 0)
		options->nr_readers = (unsigned int)nr;
	return ret;
}

static int set_synth(struct options *options, const char *value)
{
	uint64_t nr;
	int ret = options_parse_number(value, 1, 1024, &nr);

	if (ret == 0)
		options->nr_synth_workers = (unsigned int)nr;
	return ret;
}

static int set_affinity(struct options *options, const char *value)
{
	static const char *const names[] = { "sys", "node", "cpu" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(value, names[i]))
			continue;
		options->affinity = (enum reader_affinity)i;
		options->affinity_named = true;
		return 0;
	}
	return -EINVAL;
}

static int set_setup(struct options *options, const char *value)
{
	uint64_t nr;
	int ret = options_parse_number(value, 1, 1024, &nr);

	if (ret == 0)
		options->nr_setup_workers = (unsigned int)nr;
	return ret;
}

static int set_batch(struct options *options, const char *value UNUSED)
{
	options->batch = true;
	return 0;
}

static int set_reports(struct options *options, const char *value)
{
	return options_parse_number(value, 1, INT64_MAX, &options->nr_reports);
}

static int set_duration(struct options *options, const char *value)
{
	return options_parse_time(value, 100 * NSEC_PER_MSEC, &options->duration_ns);
}

static int set_format(struct options *options, const char *value)
{
	options->format = output_format_find(value);
	return options->format ? 0 : -EINVAL;
}

static int set_output(struct options *options, const char *value)
{
	options->output = value;
	return *value ? 0 : -EINVAL;
}

static int set_rows(struct options *options, const char *value)
{
	return options_parse_number(value, 1, INT32_MAX, &options->max_rows);
}

static int set_color(struct options *options, const char *value)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(value, names[i]))
			continue;
		options->color = (enum color_mode)i;
		return 0;
	}
	return -EINVAL;
}

static int set_ascii(struct options *options, const char *value UNUSED)
{
	options->ascii = true;
	return 0;
}

static int set_latency(struct options *options, const char *value UNUSED)
{
	options->latency = true;
	return 0;
}

static int set_verbose(struct options *options, const char *value UNUSED)
{
	options->verbose = true;
	return 0;
}

static int set_list(struct options *options, const char *value UNUSED)
{
	options->list = true;
	return 0;
}

static int set_tune(struct options *options, const char *value UNUSED)
{
	options->tune = true;
	return 0;
}

static int set_version(struct options *options, const char *value UNUSED)
{
	options->version = true;
	return 0;
}

static int set_help(struct options *options, const char *value UNUSED)
{
	options->help = true;
	return 0;
}

static const struct option_row rows[] = {
	{ 'a', "all-cpus", NULL, "the whole machine (default)", set_all },
	{ 'p', "pid", "PIDS", "these processes, with threads and children they start", set_pids },
	{ 't', "tid", "TIDS", "these threads alone", set_tids },
	{ 'u', "user", "USER", "processes of this user (name or number)", set_user },
	{ 'C', "cpu", "CPUS", "only these CPUs, e.g. 0-3,8", set_cpus },
	{ 0, "node", "NODES", "only the CPUs of these NUMA nodes", set_nodes },
	{ 0, "stay", NULL, "go on when COMMAND has ended", set_stay },
	{ 'i', "input", "FILE", "show a recording (perf.data) instead of the machine", set_input },
	{ 0, "speed", "N|max", "how fast the time of a recording goes (default max)", set_speed },
	{ 'e', "event", "EVENT", "what to count; may be repeated (see --list)", set_event },
	{ 'F', "freq", "HZ|max", "samples a second and CPU (default 4000)", set_freq },
	{ 'c', "count", "N", "a sample every N events instead", set_period },
	{ 'g', NULL, NULL, "record call chains (frame pointers)", set_callchain },
	{ 0, "call-graph", "fp", "the same; how chains are found", set_call_graph },
	{ 0, "max-stack", "N", "frames of a chain at most", set_max_stack },
	{ 0, "children", NULL, "-g and a column for time in callees too (default with -g)",
	  set_children },
	{ 0, "no-children", NULL, "no such column", set_no_children },
	{ 'K', "hide_kernel_symbols", NULL, "hide the kernel's part", set_hide_kernel },
	{ 'U', "hide_user_symbols", NULL, "hide the programs' part", set_hide_user },
	{ 0, "idle", NULL, "show the idle task too", set_idle },
	{ 's', "sort", "KEYS", "rows by comm,pid,tid,dso,symbol,cpu,node,event", set_sort },
	{ 0, "comms", "NAMES", "only programs of these names (comma list)", set_comms },
	{ 0, "dsos", "NAMES", "only these objects", set_dsos },
	{ 0, "symbols", "NAMES", "only these symbols", set_symbols },
	{ 0, "filter", "EXPR", "only what matches, e.g. 'comm=gcc !dso~libc'", set_filter },
	{ 0, "percent-limit", "P", "hide rows below P percent", set_percent_limit },
	{ 0, "percentage", "absolute|relative", "shares of all, or of what filters leave",
	  set_percentage },
	{ 'd', "delay", "SECONDS", "refresh, from 0.1 (default 2)", set_delay },
	{ 'z', "zero", NULL, "forget all samples at each refresh", set_zero },
	{ 0, "window", "SECONDS|tick|decay|all", "what is summed (default 10; in batch mode tick)",
	  set_window },
	{ 'w', "record", "FILE", "record to FILE (perf.data) while looking", set_record },
	{ 0, "flight", "SECONDS", "keep the last 1 s to 1 h; W or SIGUSR2 writes them",
	  set_flight },
	{ 'm', "mmap-pages", "PAGES|SIZE", "data pages of each sample ring", set_pages },
	{ 0, "no-overwrite", NULL, "forward rings, for comparison", set_no_overwrite },
	{ 0, "no-adapt", NULL, "keep the refresh even when reading takes longer", set_no_adapt },
	{ 0, "readers", "N", "workers that read the rings", set_readers },
	{ 0, "affinity", "sys|node|cpu", "where readers run (default node, if there are several)",
	  set_affinity },
	{ 0, "setup-threads", "N", "workers that open the events", set_setup },
	{ 0, "synth-threads", "N", "workers that read /proc at the start", set_synth },
	{ 0, "num-thread-synthesize", "N", NULL, set_synth },
	{ 'b', "batch", NULL, "no screen: reports on stdout (automatic in a pipe)", set_batch },
	{ 'n', "reports", "N", "end after N reports", set_reports },
	{ 0, "duration", "SECONDS", "end after this time", set_duration },
	{ 0, "format", "FORMAT", "of reports, see below (default: by the suffix of FILE)",
	  set_format },
	{ 'o', "output", "FILE", "reports to FILE; it appears when complete", set_output },
	{ 0, "rows", "N", "rows of a report at most", set_rows },
	{ 0, "color", "auto|always|never", "colours on the screen", set_color },
	{ 0, "ascii", NULL, "no characters but ASCII", set_ascii },
	{ 0, "latency", NULL, "at the end, say where the time went", set_latency },
	{ 0, "list", NULL, "list the events of this machine", set_list },
	{ 0, "tune", NULL, "measure this machine for some seconds and recommend options",
	  set_tune },
	{ 'v', "verbose", NULL, "say what was stepped down or skipped", set_verbose },
	{ 'V', "version", NULL, "print the version", set_version },
	{ 'h', "help", NULL, "print this help", set_help },
};

/* About sampling: of no use with a recording. */
static int (*const live_setters[])(struct options *options, const char *value) = {
	set_all,       set_pids,   set_tids,	     set_user,	   set_cpus,	  set_nodes,
	set_stay,      set_event,  set_freq,	     set_period,   set_callchain, set_call_graph,
	set_max_stack, set_pages,  set_no_overwrite, set_no_adapt, set_readers,	  set_affinity,
	set_synth,     set_record, set_flight,
};

static bool is_live(const struct option_row *row)
{
	for (size_t i = 0; i < ARRAY_SIZE(live_setters); i++) {
		if (row->set == live_setters[i])
			return true;
	}
	return false;
}

void options_init(struct options *options)
{
	memset(options, 0, sizeof(*options));
	view_spec_init(&options->spec);
	options->freq = 4000;
	options->refresh_ns = 2 * NSEC_PER_SEC;
}

void options_release(struct options *options)
{
	free(options->events);
	options->events = NULL;
	free(options->command_line);
	options->command_line = NULL;
}

const char *options_name(size_t index, char *ret_short)
{
	if (index >= ARRAY_SIZE(rows))
		return NULL;
	*ret_short = rows[index].letter;
	return rows[index].name ? rows[index].name : "";
}

/* ---- getopt ---- */

static void fill_getopt(struct option longs[static ARRAY_SIZE(rows) + 1],
			char shorts[static 2 * ARRAY_SIZE(rows) + 3])
{
	size_t nr_longs = 0;
	size_t len = 0;

	shorts[len++] = '+'; /* the first word that is no option begins COMMAND */
	shorts[len++] = ':';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].letter) {
			shorts[len++] = rows[i].letter;
			if (rows[i].takes)
				shorts[len++] = ':';
		}
		if (rows[i].name)
			longs[nr_longs++] = (struct option){
				.name = rows[i].name,
				.has_arg = rows[i].takes ? required_argument : no_argument,
				.val = (int)(256 + i),
			};
	}
	shorts[len] = '\0';
	longs[nr_longs] = (struct option){ 0 };
}

static const struct option_row *find_row(int result)
{
	if (result >= 256)
		return &rows[result - 256];
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].letter == result)
			return &rows[i];
	}
	return NULL;
}

static int say_formats(const char *value, struct err *err)
{
	struct textbuf names = { 0 };
	int ret;

	for (size_t i = 0; output_format_at(i); i++)
		textbuf_printf(&names, "%s%s", i ? ", " : "", output_format_at(i)->name);
	ret = err_say(err, -EINVAL, "--format %s: there are %s", value, names.text);
	textbuf_release(&names);
	return ret;
}

static int say_invalid(const struct option_row *row, const char *value, struct err *err)
{
	struct err detail = { 0 };
	struct sort_keys keys;

	if (row->set == set_sort && sort_keys_parse(value, &keys, &detail) < 0)
		return err_say(err, -EINVAL, "-s %s: %s", value, detail.text);
	if (row->set == set_call_graph)
		return err_say(err, -EINVAL, "--call-graph %s: only fp is supported", value);
	if (row->set == set_format)
		return say_formats(value, err);
	if (row->set == set_flight)
		return err_say(err, -EINVAL, "--flight %s: 1 second to 1 hour can be kept", value);
	if (row->name)
		return err_say(err, -EINVAL, "--%s: '%s' is no valid %s", row->name, value,
			       row->takes ? row->takes : "value");
	return err_say(err, -EINVAL, "-%c: '%s' is no valid %s", row->letter, value,
		       row->takes ? row->takes : "value");
}

static int check_together(const struct options *options, struct err *err)
{
	int nr = (options->pids != NULL) + (options->tids != NULL) + (options->user != NULL) +
		 (options->command != NULL) + options->all;

	if (nr > 1)
		return err_say(err, -EINVAL,
			       "only one of -a, -p, -t, -u and a command can be watched");
	if (options->cpus && options->nodes)
		return err_say(err, -EINVAL, "-C and --node exclude each other");
	if (options->stay && !options->command)
		return err_say(err, -EINVAL, "--stay goes with a command");
	if (options->input && options->command)
		return err_say(err, -EINVAL, "-i shows a recording: a command cannot be run");
	if (options->input && options->live)
		return err_say(err, -EINVAL, "-i shows a recording: %s has no meaning there",
			       options->live);
	if (options->speed_named && !options->input)
		return err_say(err, -EINVAL, "--speed goes with -i");
	if (options->spec.hide_kernel && options->spec.hide_user)
		return err_say(err, -EINVAL, "-K and -U together hide everything");
	return 0;
}

/* Without a name the suffix of the file says it. */
static void choose_format(struct options *options)
{
	if (!options->format && options->output)
		options->format = output_format_of_path(options->output);
	if (!options->format)
		options->format = output_format_at(0);
	/* Without chains a stack is a single frame. */
	if (options->format->stack_keys)
		options->callchain = true;
}

static int check_format(const struct options *options, struct err *err)
{
	const struct output_format *format = options->format;
	const char *option = NULL;

	if (options->record && options->output && !strcmp(options->record, options->output))
		return err_say(err, -EINVAL, "-w and -o name the same file");

	if (format->is_document && !options_report_once(options) && options->nr_reports != 1)
		return err_say(err, -EINVAL,
			       "format %s: a file of it is one report; give -n 1, or without -d "
			       "and -n a --duration, a recording or a command",
			       format->name);
	if (options->sort_named)
		option = "-s";
	else if (options->max_rows)
		option = "--rows";
	else if (options->spec.percent_limit > 0)
		option = "--percent-limit";
	if (format->stack_keys && option)
		return err_say(err, -EINVAL, "format %s has all stacks: %s has no meaning there",
			       format->name, option);
	return 0;
}

bool options_report_once(const struct options *options)
{
	return !options->refresh_named && !options->nr_reports &&
	       (options->command || options->duration_ns || options->input);
}

/* As a shell would take it. */
static void add_word(struct textbuf *buf, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_@%+=:,./-";

	if (*word && !word[strspn(word, plain)]) {
		textbuf_puts(buf, word);
		return;
	}
	textbuf_puts(buf, "'");
	for (; *word; word++)
		textbuf_add(buf, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
	textbuf_puts(buf, "'");
}

static char *describe(int argc, char **argv)
{
	struct textbuf buf = { 0 };
	char *printable;

	textbuf_puts(&buf, "symtop");
	for (int i = 1; i < argc; i++) {
		textbuf_puts(&buf, " ");
		add_word(&buf, argv[i]);
	}
	printable = text_printable(buf.text);
	textbuf_release(&buf);
	return printable;
}

int options_parse(struct options *options, int argc, char **argv, struct err *err)
{
	struct option longs[ARRAY_SIZE(rows) + 1];
	char shorts[2 * ARRAY_SIZE(rows) + 3];
	int result;

	options->command_line = describe(argc, argv);
	options->arguments = argv;
	options->nr_arguments = (size_t)argc;
	fill_getopt(longs, shorts);
	optind = 0; /* start over: tests parse more than once */
	opterr = 0;
	while ((result = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row =
			result == '?' || result == ':' ? NULL : find_row(result);

		if (result == ':')
			return err_say(err, -EINVAL, "%s needs a value", argv[optind - 1]);
		if (!row)
			return err_say(err, -EINVAL, "unknown or ambiguous option %s",
				       argv[optind - 1]);
		if (row->set(options, optarg) < 0)
			return say_invalid(row, optarg, err);
		if (!options->live && is_live(row))
			options->live =
				argv[optind - 1] == optarg ? argv[optind - 2] : argv[optind - 1];
	}
	if (optind < argc)
		options->command = argv + optind;
	choose_format(options);
	result = check_together(options, err);
	return result < 0 ? result : check_format(options, err);
}

static void print_formats(FILE *file)
{
	fprintf(file, "\nFormats, and suffixes of FILE that choose them:\n");
	for (size_t i = 0; output_format_at(i); i++) {
		const struct output_format *format = output_format_at(i);

		fprintf(file, "  %-12s", format->name);
		for (size_t j = 0; j < MAX_SUFFIXES && format->suffixes[j]; j++)
			fprintf(file, " %s", format->suffixes[j]);
		fprintf(file, "\n");
	}
}

void options_print_help(FILE *file)
{
	fprintf(file, "usage: symtop [options] [--] [COMMAND [ARGS]]\n\n"
		      "Show which functions use the CPUs now.\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct option_row *row = &rows[i];
		char names[64];
		int len;

		if (!row->help)
			continue;
		if (row->letter && row->name)
			len = snprintf(names, sizeof(names), "-%c, --%s", row->letter, row->name);
		else if (row->letter)
			len = snprintf(names, sizeof(names), "-%c", row->letter);
		else
			len = snprintf(names, sizeof(names), "    --%s", row->name);
		if (row->takes)
			len += snprintf(names + len, sizeof(names) - (size_t)len, " %s",
					row->takes);
		if (len > 30)
			fprintf(file, "  %s\n  %-30s  %s\n", names, "", row->help);
		else
			fprintf(file, "  %-30s  %s\n", names, row->help);
	}
	print_formats(file);
	fprintf(file, "\nKeys: press ? on the screen. More: man symtop\n");
}
