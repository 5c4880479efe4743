/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings: when one begins, what is told in it besides the rings' records, and its end.
 *
 * A recording begins and ends between two drains. Which tasks there are is known once /proc
 * has been read: until then nothing in the file is said to be in order ("rounds"), so that
 * what is told of them late still comes before their first sample. What a flight recorder
 * has kept is told of when it is written.
 */
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/collector_internal.h"
#include "core/perf_data_write.h"
#include "core/record_state.h"
#include "core/replay_kernel.h"

#define KERNEL_PATH "[kernel.kallsyms]"

static bool is_state(struct collector *collector, enum recorder_state state)
{
	struct recorder_figures figures;

	recorder_get_figures(collector->recorder, &figures);
	return figures.state == state;
}

/* ---- what there was before ---- */

static const struct record_format *get_format(const struct collector *collector)
{
	return event_set_metadata_format(collector->options.events);
}

static bool is_kernel_known(const struct recording *recording)
{
	return atomic_load_explicit(&recording->kernel_known, memory_order_acquire);
}

/* Where the kernel is stands in a long file, which a tick must not wait for. */
static void read_kernel(void *arg)
{
	struct collector *collector = arg;
	struct recording *recording = &collector->recording;

	/* Without a time it counts from the begin on, in any file. */
	record_state_kernel(&recording->kernel, get_format(collector), "/proc", 0);
	atomic_store_explicit(&recording->kernel_known, true, memory_order_release);
}

/* Once: of a module that comes later nothing is told. */
static int ask_for_kernel(struct collector *collector, struct err *err)
{
	struct recording *recording = &collector->recording;

	if (recording->kernel_worker || is_kernel_known(recording))
		return 0;
	return worker_start("symtop/kernel", read_kernel, collector, &recording->kernel_worker,
			    err);
}

/* Tell of the kernel and all tasks, in @buffer; waits for the kernel's part. */
static void tell(struct collector *collector, struct record_buffer *buffer)
{
	struct recording *recording = &collector->recording;

	worker_join(recording->kernel_worker);
	recording->kernel_worker = NULL;
	record_buffer_add(buffer, recording->kernel.bytes, recording->kernel.len);
	record_state_tasks(buffer, get_format(collector), collector->table, recording->start_ns);
	recording->state_wanted = false;
}

static void tell_now(struct collector *collector)
{
	struct record_buffer buffer = { 0 };

	tell(collector, &buffer);
	recorder_add(collector->recorder, buffer.bytes, buffer.len);
}

/* ---- the begin ---- */

static int create_file(struct collector *collector, struct perf_data_writer **ret_writer,
		       struct err *err)
{
	struct perf_data_write_event *events;
	size_t nr = event_set_describe(collector->options.events, &events);
	int ret = perf_data_writer_create(collector->recording.path, events, nr, ret_writer, err);

	event_set_describe_free(events, nr);
	return ret;
}

static int begin(struct collector *collector, struct err *err)
{
	struct recording *recording = &collector->recording;
	bool kept = collector->options.keep_ns != 0;
	struct perf_data_writer *writer;
	struct record_buffer buffer = { 0 };
	int ret;

	snprintf(recording->path, sizeof(recording->path), "%s", recording->wanted);
	recording->trouble[0] = '\0';
	if (kept)
		recording->start_ns =
			MAX(recorder_oldest_ns(collector->recorder), collector->enabled_ns);
	else
		recording->start_ns = collector->cut_ns ? collector->cut_ns : clock_now_ns();
	ret = create_file(collector, &writer, err);
	if (ret < 0)
		return ret;
	ret = ask_for_kernel(collector, err);
	if (ret == 0 && kept)
		tell(collector, &buffer);
	if (ret == 0)
		ret = recorder_start(collector->recorder, writer, buffer.bytes, buffer.len, err);
	if (ret < 0) {
		record_buffer_release(&buffer);
		/* It is as good as empty; the message that counts is the one above. */
		(void)!perf_data_writer_finish(writer, NULL, NULL);
		return ret;
	}
	recording->state_wanted = !kept;
	return 0;
}

void collector_begin_recording(struct collector *collector)
{
	struct recording *recording = &collector->recording;
	struct err err = { 0 };

	if (!is_state(collector, RECORDER_OFF)) {
		snprintf(collector->trouble, sizeof(collector->trouble),
			 "%.900s is not recorded to: another file is still being written",
			 recording->wanted);
		return;
	}
	if (collector->next_tick_ns != UINT64_MAX)
		tick_drain(collector);
	if (begin(collector, &err) < 0) {
		snprintf(recording->trouble, sizeof(recording->trouble), "%s", err.text);
		recording->nr_refused++;
	} else if (collector->options.keep_ns) {
		collector_end_recording(collector);
	}
}

int collector_start_recorder(struct collector *collector, struct err *err)
{
	const struct collector_options *options = &collector->options;
	const struct recorder_options recorder_options = {
		.format = *get_format(collector),
		.keep_ns = options->keep_ns,
	};
	int ret = recorder_new(&recorder_options, &collector->recorder, err);

	if (ret < 0)
		return ret;
	if (options->keep_ns)
		return ask_for_kernel(collector, err);
	if (!options->record_path)
		return 0;
	if (strlen(options->record_path) >= sizeof(collector->recording.wanted))
		return err_say(err, -ENAMETOOLONG, "-w: the name of the file is too long");
	snprintf(collector->recording.wanted, sizeof(collector->recording.wanted), "%s",
		 options->record_path);
	return begin(collector, err);
}

void collector_free_recorder(struct collector *collector)
{
	recorder_free(collector->recorder);
	worker_join(collector->recording.kernel_worker);
	record_buffer_release(&collector->recording.kernel);
}

/* ---- the end ---- */

struct build_ids {
	struct perf_data_write_build_id *ids;
	size_t nr, nr_allocated;
};

static void add_build_id(void *arg, const char *path, const unsigned char *id, size_t size)
{
	struct build_ids *build_ids = arg;
	struct perf_data_write_build_id *added;

	mem_grow(build_ids->ids, build_ids->nr, build_ids->nr_allocated);
	added = &build_ids->ids[build_ids->nr++];
	*added = (struct perf_data_write_build_id){
		.path = mem_strdup(path),
		.size = (uint8_t)size,
	};
	memcpy(added->id, id, size);
}

static void list_build_ids(struct collector *collector, struct build_ids *ret)
{
	unsigned char id[20];
	size_t size = kernel_build_id("/sys", id);

	if (size) {
		add_build_id(ret, KERNEL_PATH, id, size);
		ret->ids[0].is_kernel = true;
	}
	symbolizer_build_ids(collector->symbolizer, add_build_id, ret);
}

static void release_build_ids(struct build_ids *build_ids)
{
	for (size_t i = 0; i < build_ids->nr; i++)
		free((char *)(uintptr_t)build_ids->ids[i].path);
	free(build_ids->ids);
}

/* The highest there may be, and one. */
static unsigned int nr_cpu_ids(const struct cpumap *cpumap)
{
	unsigned int nr = 0;

	for (int cpu = cpuset_next(&cpumap->possible, 0); cpu >= 0;
	     cpu = cpuset_next(&cpumap->possible, nr))
		nr = (unsigned int)cpu + 1;
	return nr;
}

static struct perf_data_tail *make_tail(struct collector *collector)
{
	const struct collector_options *options = &collector->options;
	struct perf_data_write_event *events;
	size_t nr_events = event_set_describe(options->events, &events);
	struct build_ids build_ids = { 0 };
	struct timespec resolution = { 0 };
	struct utsname machine = { .machine = "" };
	struct perf_data_write_facts facts = {
		.host = options->host,
		.release = options->kernel,
		.version = options->version,
		.arguments = options->arguments,
		.nr_arguments = options->nr_arguments,
		.nr_cpus = nr_cpu_ids(options->cpumap),
		.nr_cpus_online = options->cpumap->nr_online,
		.cpumap = options->cpumap,
		.first_ns = collector->recording.start_ns,
		.last_ns = collector->cut_ns,
	};
	struct perf_data_tail *tail;

	if (uname(&machine) == 0)
		facts.arch = machine.machine;
	if (events[0].attr.use_clockid && clock_getres(CLOCK_MONOTONIC, &resolution) == 0)
		facts.clock_resolution_ns = (uint64_t)resolution.tv_nsec;
	list_build_ids(collector, &build_ids);
	facts.build_ids = build_ids.ids;
	facts.nr_build_ids = build_ids.nr;
	tail = perf_data_tail_new(events, nr_events, &facts);
	release_build_ids(&build_ids);
	event_set_describe_free(events, nr_events);
	return tail;
}

void collector_end_recording(struct collector *collector)
{
	if (!collector->recorder || !is_state(collector, RECORDER_ON))
		return;
	if (!collector->options.keep_ns && collector->next_tick_ns != UINT64_MAX)
		tick_drain(collector);
	if (collector->recording.state_wanted)
		tell_now(collector);
	recorder_stop(collector->recorder, make_tail(collector));
}

/* ---- meanwhile ---- */

/*
 * Are there tasks to be told of now? Those that /proc is searched for, once; and, where
 * only the watched ones are read, again when another one was.
 */
static bool has_news(struct collector *collector)
{
	struct recording *recording = &collector->recording;
	struct synth_progress progress;

	synth_get_progress(collector->synth, &progress);
	if (!recording->state_wanted && !progress.nr_sweeps &&
	    progress.nr_on_demand != recording->nr_on_demand) {
		/* What is in order by now stays so: from the last drain on. */
		recording->start_ns = recording->told_ns;
		recording->state_wanted = true;
	}
	if (!recording->state_wanted || !progress.sweep_done || progress.nr_waiting ||
	    !is_kernel_known(recording))
		return false;
	recording->nr_on_demand = progress.nr_on_demand;
	return true;
}

void collector_note_recording(struct collector *collector)
{
	struct recording *recording = &collector->recording;

	if (!collector->recorder)
		return;
	if (collector->nr_overwritten > recording->nr_overwritten)
		recorder_add_lost(collector->recorder,
				  collector->nr_overwritten - recording->nr_overwritten,
				  collector->cut_ns);
	recording->nr_overwritten = collector->nr_overwritten;
	if (!collector->options.keep_ns && is_state(collector, RECORDER_ON) && has_news(collector))
		tell_now(collector);
	if (!recording->state_wanted)
		recorder_end_round(collector->recorder, collector->cut_ns);
	recording->told_ns = collector->cut_ns;
}

void collector_get_recording(const struct collector *collector,
			     struct recording_figures *ret_figures, char trouble[static 1024])
{
	static const enum recording_state states[] = {
		[RECORDER_OFF] = RECORDING_NONE,
		[RECORDER_ON] = RECORDING_ON,
		[RECORDER_FINISHING] = RECORDING_FINISHING,
	};
	const struct recording *recording = &collector->recording;
	struct recorder_figures figures = { 0 };

	if (collector->recorder)
		recorder_get_figures(collector->recorder, &figures);
	snprintf(trouble, 1024, "%s", recording->trouble[0] ? recording->trouble : figures.trouble);
	*ret_figures = (struct recording_figures){
		.state = states[figures.state],
		.path = recording->path,
		.nr_ended = figures.nr_finished + recording->nr_refused,
		.trouble = trouble,
		.bytes = figures.bytes_written,
		.bytes_waiting = figures.bytes_waiting,
		.nr_dropped = figures.nr_dropped,
		.keep_ns = collector->options.keep_ns,
		.kept_ns = figures.kept_ns,
		.kept_bytes = figures.kept_bytes,
		.kept_is_cut = figures.kept_is_cut,
	};
	if (ret_figures->state == RECORDING_NONE && collector->options.keep_ns)
		ret_figures->state = RECORDING_KEPT;
}

/* ---- wishes of the front end ---- */

int collector_record(struct collector *collector, const char *path, struct err *err)
{
	int ret = 0;

	if (collector->options.replay)
		return err_say(err, -ENOTSUP, "what is shown is a recording already");
	mutex_lock(&collector->lock);
	if (collector->record_wanted) {
		ret = err_say(err, -EBUSY, "another recording is about to begin");
	} else if (strlen(path) >= sizeof(collector->record_path)) {
		ret = err_say(err, -ENAMETOOLONG, "the name of the file is too long");
	} else {
		snprintf(collector->record_path, sizeof(collector->record_path), "%s", path);
		collector->record_wanted = true;
		cond_signal(&collector->wake);
	}
	mutex_unlock(&collector->lock);
	return ret;
}

void collector_end_record(struct collector *collector)
{
	mutex_lock(&collector->lock);
	collector->record_end_wanted = true;
	cond_signal(&collector->wake);
	mutex_unlock(&collector->lock);
}

bool collector_finish_record(struct collector *collector, struct recording_figures *ret_figures)
{
	if (!collector->recorder)
		return false;
	mutex_lock(&collector->lock);
	collector->record_end_wanted = true;
	collector->record_ended = false;
	cond_signal(&collector->wake);
	while (!collector->record_ended)
		cond_wait(&collector->readers_done, &collector->lock);
	mutex_unlock(&collector->lock);
	recorder_wait(collector->recorder);
	collector_get_recording(collector, ret_figures, collector->recording.last_trouble);
	return ret_figures->path[0] != '\0';
}
