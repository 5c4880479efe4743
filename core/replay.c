/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nothing on this machine is asked about tasks: what the file does not tell is not known.
 * About objects it is, and every answer is checked against what the file says of them.
 *
 * Which processes have samples in the reader is a bit a process (pid & 0xffff): two that
 * share a bit only cost placing earlier than needed.
 */
#include "config.h"

#include "core/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/mutex.h"
#include "core/replay_kernel.h"
#include "symbols/dso.h"

#define MAX_EVENTS 4096
#define NO_RANK SIZE_MAX

/* Records between two looks at the clock. */
#define RECORDS_A_LOOK 256

#define KERNEL_MAP "[kernel.kallsyms]"

enum kernel_state { KERNEL_UNCHECKED, KERNEL_OURS, KERNEL_FOREIGN };

struct cpu_count {
	uint64_t nr, nr_busy;
};

struct replay {
	char *name;
	struct perf_data *data;
	size_t *ranks;	   /* by index of the file's events; NO_RANK: one without samples */
	uint64_t *periods; /* the same: of all its samples; 0: each says its own */
	size_t nr_ranks;
	struct symbol_origin origin;
	struct replay_sink sink;
	bool has_samples;	/* in the reader */
	uint64_t sampled[1024]; /* bit pid & 0xffff: has samples in the reader */
	struct cpu_count *cpus;
	size_t nr_cpus;
	struct replay_figures figures;
	char note[1200];
	struct mutex lock; /* a leaf */
	struct kernel_facts kernel GUARDED_BY(lock);
	enum kernel_state kernel_state GUARDED_BY(lock);
};

/* ---- what symbol workers ask ---- */

static size_t origin_build_id(void *arg, const struct dso *dso, unsigned char ret_id[static 20])
{
	struct replay *replay = arg;
	size_t size = dso_key_build_id(dso_key(dso), ret_id);

	return size ? size : perf_data_build_id(replay->data, dso_path(dso)->text, ret_id);
}

static bool origin_has_our_kernel(void *arg)
{
	struct replay *replay = arg;
	enum kernel_state state;
	struct kernel_facts facts;

	mutex_lock(&replay->lock);
	state = replay->kernel_state;
	facts = replay->kernel;
	mutex_unlock(&replay->lock);
	if (state != KERNEL_UNCHECKED)
		return state == KERNEL_OURS;
	/* Not said yet, perhaps. */
	if (!facts.symbol[0])
		return false;
	facts.build_id_size = perf_data_build_id(replay->data, KERNEL_MAP, facts.build_id);
	state = kernel_facts_match(&facts, "/proc", "/sys") ? KERNEL_OURS : KERNEL_FOREIGN;
	mutex_lock(&replay->lock);
	replay->kernel_state = state;
	mutex_unlock(&replay->lock);
	return state == KERNEL_OURS;
}

/* ---- opening ---- */

static bool is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

/* Events that only carry records of tasks and maps are not shown. */
static void rank_events(struct replay *replay)
{
	size_t nr = perf_data_nr_events(replay->data);
	size_t rank = 0;

	replay->ranks = mem_calloc(nr, sizeof(*replay->ranks));
	replay->periods = mem_calloc(nr, sizeof(*replay->periods));
	replay->nr_ranks = nr;
	for (size_t i = 0; i < nr; i++) {
		struct perf_data_event event;

		perf_data_get_event(replay->data, i, &event);
		replay->ranks[i] = is_dummy(&event.attr) && nr > 1 ? NO_RANK : rank++;
		if (!(event.format.sample_type & PERF_SAMPLE_PERIOD) && !event.attr.freq)
			replay->periods[i] = event.attr.sample_period;
	}
	/* Somebody recorded dummies alone. */
	if (!rank)
		replay->ranks[0] = 0;
}

static void note_release(struct replay *replay)
{
	struct perf_data_info info;

	perf_data_get_info(replay->data, &info);
	snprintf(replay->kernel.release, sizeof(replay->kernel.release), "%s", info.release);
	replay->nr_cpus = info.nr_cpus;
	replay->cpus = mem_calloc(MAX(replay->nr_cpus, (size_t)1), sizeof(*replay->cpus));
}

int replay_open(const char *path, struct replay **ret_replay, struct err *err)
{
	struct replay *replay = mem_zalloc(sizeof(*replay));
	const char *slash = strrchr(path, '/');
	struct stat st = { 0 };
	int ret;

	mutex_init(&replay->lock);
	replay->name = mem_strdup(slash && slash[1] ? slash + 1 : path);
	ret = perf_data_open(path, &replay->data, err);
	if (ret < 0) {
		replay_close(replay);
		return ret;
	}
	/* Somebody may have moved it just now: then files are not taken for older than it. */
	if (stat(path, &st) < 0)
		st.st_mtim.tv_sec = 0;
	replay->origin = (struct symbol_origin){
		.arg = replay,
		.recorded_ns = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC,
		.build_id = origin_build_id,
		.has_our_kernel = origin_has_our_kernel,
	};
	rank_events(replay);
	note_release(replay);
	*ret_replay = replay;
	return 0;
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	perf_data_close(replay->data);
	mutex_release(&replay->lock);
	free(replay->ranks);
	free(replay->periods);
	free(replay->cpus);
	free(replay->name);
	free(replay);
}

/* ---- records ---- */

static void place(struct replay *replay)
{
	if (!replay->has_samples)
		return;
	replay->sink.place(replay->sink.arg);
	memset(replay->sampled, 0, sizeof(replay->sampled));
	replay->has_samples = false;
}

/* Before something about @pid changes. */
static void place_samples_of(struct replay *replay, uint32_t pid)
{
	uint32_t bit = pid & 0xffff;

	if (replay->sampled[bit / 64] >> (bit % 64) & 1)
		place(replay);
}

/* "[kernel.kallsyms]_text": where that function was, and where the kernel's code ends. */
static void note_kernel_map(struct replay *replay, const struct record *record)
{
	const char *name = record->mmap.filename;
	struct kernel_facts *facts = &replay->kernel;

	if (strncmp(name, KERNEL_MAP, strlen(KERNEL_MAP)))
		return;
	mutex_lock(&replay->lock);
	if (!facts->symbol[0]) {
		snprintf(facts->symbol, sizeof(facts->symbol), "%s", name + strlen(KERNEL_MAP));
		facts->address = record->mmap.pgoff;
		facts->text_end = record->mmap.addr + record->mmap.len;
	}
	mutex_unlock(&replay->lock);
}

static void take_mmap(struct replay *replay, const struct record *record)
{
	if (record->mmap.pid == UINT32_MAX)
		note_kernel_map(replay, record);
	else
		place_samples_of(replay, record->mmap.pid);
}

static void take_other(struct replay *replay, const struct perf_data_record *file_record)
{
	struct record record;

	switch (record_decode(file_record->format, file_record->header, &record)) {
	case RECORD_OK:
		break;
	case RECORD_UNKNOWN:
		return;
	case RECORD_MALFORMED:
		replay->figures.nr_malformed++;
		return;
	}
	switch (record.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		take_mmap(replay, &record);
		break;
	case PERF_RECORD_COMM:
		place_samples_of(replay, record.comm.pid);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		place_samples_of(replay, record.task.pid);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		replay->figures.nr_lost += record.lost.nr;
		break;
	case PERF_RECORD_THROTTLE:
		replay->figures.nr_throttled++;
		break;
	default:
		break;
	}
	record_apply(&replay->sink.records, &record);
}

static void count_sample(struct replay *replay, const struct sample *sample)
{
	struct replay_figures *figures = &replay->figures;

	figures->nr_samples++;
	if (!figures->first_ns)
		figures->first_ns = sample->time;
	figures->last_ns = MAX(figures->last_ns, sample->time);
	if (sample->cpu >= replay->nr_cpus)
		return;
	replay->cpus[sample->cpu].nr++;
	replay->cpus[sample->cpu].nr_busy += sample->pid != 0;
}

static void take_sample(struct replay *replay, const struct perf_data_record *record)
{
	struct sample sample;
	struct tuple tuple;
	uint32_t bit;

	if (record->event >= replay->nr_ranks || replay->ranks[record->event] == NO_RANK ||
	    !record_decode_sample(record->format, record->header, &sample)) {
		replay->figures.nr_malformed++;
		return;
	}
	if (replay->periods[record->event])
		sample.period = replay->periods[record->event];
	tuple = (struct tuple){
		.ip = sample.ip,
		.time = sample.time,
		.nr_chain = (uint32_t)MIN(sample.nr_chain, (size_t)UINT32_MAX),
		.pid = sample.pid,
		.tid = sample.tid,
		.cpu = sample.cpu,
		.cpumode = (uint8_t)sample.cpumode,
		.event = (uint16_t)replay->ranks[record->event],
	};
	bit = sample.pid & 0xffff;
	replay->sampled[bit / 64] |= UINT64_C(1) << (bit % 64);
	replay->has_samples = true;
	count_sample(replay, &sample);
	reader_add(replay->sink.reader, &tuple, sample.chain, sample.period);
}

enum replay_result replay_run(struct replay *replay, uint64_t until_ns, uint64_t deadline_ns)
{
	enum replay_result result = REPLAY_ENDED;
	struct perf_data_record record;
	unsigned int nr = 0;

	while (perf_data_peek(replay->data, &record)) {
		if (record.time >= until_ns) {
			result = REPLAY_REACHED;
			break;
		}
		if (++nr % RECORDS_A_LOOK == 0 && clock_now_ns() >= deadline_ns) {
			result = REPLAY_PAUSED;
			break;
		}
		if (record.header->type == PERF_RECORD_SAMPLE)
			take_sample(replay, &record);
		else
			take_other(replay, &record);
		perf_data_pop(replay->data);
	}
	place(replay);
	return result;
}

uint64_t replay_next_ns(struct replay *replay)
{
	struct perf_data_record record;

	/* What has no time is from before everything else. */
	while (perf_data_peek(replay->data, &record)) {
		if (record.time)
			return record.time;
		if (record.header->type == PERF_RECORD_SAMPLE)
			return 0;
		take_other(replay, &record);
		perf_data_pop(replay->data);
	}
	return 0;
}

void replay_set_sink(struct replay *replay, const struct replay_sink *sink)
{
	replay->sink = *sink;
}

/* ---- questions ---- */

const char *replay_name(const struct replay *replay)
{
	return replay->name;
}

void replay_get_info(const struct replay *replay, struct perf_data_info *ret_info)
{
	perf_data_get_info(replay->data, ret_info);
}

void replay_get_cpumap(const struct replay *replay, struct cpumap *ret_map)
{
	perf_data_get_cpumap(replay->data, ret_map);
}

int replay_get_events(const struct replay *replay, struct event_list *list, struct err *err)
{
	for (size_t i = 0; i < replay->nr_ranks; i++) {
		struct perf_data_event event;

		if (replay->ranks[i] == NO_RANK)
			continue;
		if (list->nr == MAX_EVENTS)
			return err_say(err, -E2BIG, "%s: has more than %d events", replay->name,
				       MAX_EVENTS);
		perf_data_get_event(replay->data, i, &event);
		list->events = mem_resize(list->events, list->nr + 1, sizeof(*list->events));
		list->events[list->nr++] = (struct event){
			.name = mem_strdup(event.name),
			.attr = event.attr,
			.named_by_user = true,
			.group = -1,
			.scale = 1,
		};
	}
	return 0;
}

void replay_get_set_info(const struct replay *replay, struct event_set_info *ret_info)
{
	struct perf_data_event event;
	struct perf_data_info info;

	perf_data_get_info(replay->data, &info);
	*ret_info = (struct event_set_info){
		.nr_cpus_open = info.nr_cpus_online,
		.callchain = info.has_callchains,
	};
	for (size_t i = replay->nr_ranks; i-- > 0;) {
		if (replay->ranks[i] == NO_RANK)
			continue;
		perf_data_get_event(replay->data, i, &event);
		ret_info->freq = event.attr.freq ? event.attr.sample_freq : 0;
		ret_info->period = event.attr.freq ? 0 : event.attr.sample_period;
	}
}

const struct symbol_origin *replay_origin(const struct replay *replay)
{
	return &replay->origin;
}

void replay_take_cpu_samples(struct replay *replay, size_t cpu, uint64_t *ret_nr,
			     uint64_t *ret_nr_busy)
{
	*ret_nr = replay->cpus[cpu].nr;
	*ret_nr_busy = replay->cpus[cpu].nr_busy;
	replay->cpus[cpu] = (struct cpu_count){ 0 };
}

void replay_get_figures(const struct replay *replay, struct replay_figures *ret_figures)
{
	*ret_figures = replay->figures;
	perf_data_get_figures(replay->data, &ret_figures->file);
	ret_figures->nr_malformed += ret_figures->file.nr_malformed;
}

const char *replay_note(struct replay *replay, size_t index)
{
	struct perf_data_figures figures;
	const char *trouble = perf_data_trouble(replay->data);

	perf_data_get_figures(replay->data, &figures);
	if (trouble && index-- == 0) {
		snprintf(replay->note, sizeof(replay->note), "%s: %s", replay->name, trouble);
		return replay->note;
	}
	if (figures.nr_unsorted && index-- == 0) {
		snprintf(replay->note, sizeof(replay->note),
			 "%s: %" PRIu64 " records are not in the order of time", replay->name,
			 figures.nr_unsorted);
		return replay->note;
	}
	return NULL;
}
