/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One worker owns the profile and does everything that needs it: ticks and queries.
 * So the profile needs no lock, and a key that asks for another view waits for a
 * tick at most, never the other way round.
 *
 * The order of the start matters: events are enabled before the first look at /proc,
 * so that nothing born in between is missed, and the sweep starts after that.
 */
#include "config.h"

#include "core/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/collector_internal.h"
#include "core/filter.h"

#define FIRST_TICK_NS (50 * NSEC_PER_MSEC)
/* Names that arrive between ticks are shown this long after the first of them came. */
#define NAMES_DELAY_NS (100 * NSEC_PER_MSEC)
/* Whether a scan that was asked for has ended is looked at so often. */
#define SCAN_LOOK_NS (50 * NSEC_PER_MSEC)
/* A report of a recording is made without the names that take longer. */
#define MAX_NAMES_WAIT_NS (30 * NSEC_PER_SEC)

/* ---- snapshots out ---- */

static void publish(struct collector *collector, struct snapshot *snapshot)
{
	uint64_t one = 1;
	struct snapshot *old;

	mutex_lock(&collector->lock);
	old = collector->newest;
	collector->newest = snapshot;
	mutex_unlock(&collector->lock);
	snapshot_put(old);
	/* EAGAIN would mean that 2^64 wake-ups are pending: it is readable, that is enough. */
	if (write(collector->fd, &one, sizeof(one)) != sizeof(one) && errno != EAGAIN)
		die("collector: eventfd: errno %d", errno);
}

struct snapshot *collector_take(struct collector *collector)
{
	struct snapshot *snapshot;
	uint64_t count;

	/* Nothing to read is fine: then nothing is new. */
	if (read(collector->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		die("collector: eventfd: errno %d", errno);
	mutex_lock(&collector->lock);
	snapshot = collector->newest;
	collector->newest = NULL;
	if (collector->options.replay_waits)
		cond_signal(&collector->wake);
	mutex_unlock(&collector->lock);
	return snapshot;
}

int collector_fd(const struct collector *collector)
{
	return collector->fd;
}

/* ---- the loop ---- */

static void answer(struct collector *collector, uint64_t refresh_ns)
{
	struct snapshot *snapshot;

	/* The filter was parsed before the spec was accepted: it cannot fail here. */
	if (tick_snapshot(collector, &collector->running_spec, refresh_ns, &snapshot, NULL) == 0)
		publish(collector, snapshot);
}

static uint64_t next_interval(struct collector *collector, uint64_t refresh_ns)
{
	uint64_t interval = refresh_ns;

	if (collector->early_ns && collector->early_ns < refresh_ns) {
		interval = collector->early_ns;
		collector->early_ns *= 2;
	} else {
		collector->early_ns = 0;
		interval = MAX(interval, collector->stretched_ns);
	}
	return interval;
}

/* From now on only names and views change. */
static void rest(struct collector *collector)
{
	collector->next_tick_ns = UINT64_MAX;
	collector->next_drain_ns = UINT64_MAX;
	collector->next_housekeeping_ns = UINT64_MAX;
}

/* ---- recordings ---- */

static bool is_wanted_elsewhere(struct collector *collector)
{
	bool wanted;

	mutex_lock(&collector->lock);
	wanted = collector->stop || collector->finish_wanted;
	mutex_unlock(&collector->lock);
	return wanted;
}

/* A snapshot with all its names; they come in no time that anybody has to wait for. */
static struct snapshot *complete_snapshot(struct collector *collector, uint64_t refresh_ns)
{
	uint64_t give_up_ns = clock_now_ns() + MAX_NAMES_WAIT_NS;
	struct snapshot *snapshot;

	for (;;) {
		/* The filter was parsed before the spec was accepted: it cannot fail here. */
		if (tick_snapshot(collector, &collector->running_spec, refresh_ns, &snapshot,
				  NULL) < 0)
			return NULL;
		if (!(snapshot_header(snapshot)->pending_share > 0) ||
		    clock_now_ns() >= give_up_ns || is_wanted_elsewhere(collector))
			return snapshot;
		snapshot_put(snapshot);
		while (!symbolizer_wait_idle(collector->symbolizer, NAMES_DELAY_NS) &&
		       clock_now_ns() < give_up_ns && !is_wanted_elsewhere(collector))
			;
	}
}

static void answer_and_wait(struct collector *collector, uint64_t refresh_ns)
{
	struct snapshot *snapshot = complete_snapshot(collector, refresh_ns);

	if (!snapshot)
		return;
	publish(collector, snapshot);
	mutex_lock(&collector->lock);
	while (collector->newest && !collector->stop && !collector->finish_wanted)
		cond_wait(&collector->wake, &collector->lock);
	mutex_unlock(&collector->lock);
}

static void show_replay(struct collector *collector, uint64_t refresh_ns, bool slot_over)
{
	bool ended = collector->figures.target_gone;

	if (collector->options.replay_shows_end && !ended)
		return;
	if (collector->options.replay_waits) {
		if (slot_over)
			answer_and_wait(collector, refresh_ns);
		return;
	}
	if (!ended && clock_now_ns() < collector->next_show_ns)
		return;
	answer(collector, refresh_ns);
	collector->next_show_ns = clock_now_ns() + NAMES_DELAY_NS;
}

/* The next slot and when it is due: it has been recorded by then, at the speed asked for. */
static void plan_slot(struct collector *collector, uint64_t refresh_ns)
{
	double speed = collector->options.replay_speed;
	uint64_t interval;

	collector->slot_length_ns = refresh_ns;
	collector->next_tick_ns = clock_now_ns();
	collector->figures.effective_refresh_ns = refresh_ns;
	if (!(speed > 0))
		return;
	interval = next_interval(collector, refresh_ns);
	collector->slot_length_ns = MAX((uint64_t)((double)interval * speed), NSEC_PER_MSEC);
	collector->next_tick_ns += interval;
	collector->figures.effective_refresh_ns = interval;
}

static void do_replay(struct collector *collector, uint64_t refresh_ns, bool zero_each)
{
	enum replay_result result;

	if (!collector->slot_open) {
		if (zero_each)
			profile_clear(collector->profile);
		tick_replay_begin(collector, collector->slot_length_ns);
	}
	result = tick_replay(collector);
	if (result == REPLAY_PAUSED) {
		collector->next_tick_ns = clock_now_ns();
		show_replay(collector, refresh_ns, false);
		return;
	}
	tick_replay_end(collector, refresh_ns);
	plan_slot(collector, refresh_ns);
	if (result == REPLAY_ENDED) {
		collector->figures.target_gone = true;
		rest(collector);
	}
	show_replay(collector, refresh_ns, true);
}

static void do_tick(struct collector *collector, uint64_t refresh_ns, bool zero_each)
{
	uint64_t interval;

	if (collector->options.replay) {
		do_replay(collector, refresh_ns, zero_each);
		return;
	}
	if (zero_each && !collector->slot_open)
		profile_clear(collector->profile);
	tick_drain(collector);
	tick_end(collector, refresh_ns);
	answer(collector, refresh_ns);
	interval = next_interval(collector, refresh_ns);
	collector->next_tick_ns = clock_now_ns() + interval;
	collector->drain_interval_ns = tick_drain_interval(collector, interval);
	/* From the begin of the last one: rings fill while they are read, too. */
	collector->next_drain_ns = collector->drained_ns + collector->drain_interval_ns;
	collector->figures.effective_refresh_ns = interval;
	if (collector->figures.target_gone)
		rest(collector);
}

/* What the front end asked for since the last look. */
struct wishes {
	bool stop, zero, spec, finish, zero_each, names, refresh, scan;
	bool record, record_end;
	unsigned int nr_readers; /* 0: as they are */
	uint64_t refresh_ns;
};

static void take_wishes_locked(struct collector *collector, struct wishes *ret)
	REQUIRES(collector->lock)
{
	*ret = (struct wishes){
		.stop = collector->stop,
		.zero = collector->zero_wanted,
		.spec = collector->spec_changed,
		.finish = collector->finish_wanted,
		.names = collector->names_arrived,
		.refresh = collector->refresh_changed,
		.scan = collector->scan_begun,
		.record = collector->record_wanted,
		.record_end = collector->record_end_wanted,
		.nr_readers = collector->readers_wanted,
		.zero_each = collector->zero_each,
		.refresh_ns = collector->refresh_ns,
	};
	if (collector->spec_changed)
		collector->running_spec = collector->spec;
	if (collector->record_wanted)
		snprintf(collector->recording.wanted, sizeof(collector->recording.wanted), "%s",
			 collector->record_path);
	collector->record_wanted = false;
	collector->record_end_wanted = false;
	collector->zero_wanted = false;
	collector->spec_changed = false;
	collector->finish_wanted = false;
	collector->names_arrived = false;
	collector->refresh_changed = false;
	collector->scan_begun = false;
	collector->readers_wanted = 0;
}

static bool has_wish_locked(struct collector *collector) REQUIRES(collector->lock)
{
	return collector->stop || collector->zero_wanted || collector->spec_changed ||
	       collector->finish_wanted || collector->refresh_changed || collector->scan_begun ||
	       collector->readers_wanted || collector->record_wanted ||
	       collector->record_end_wanted;
}

/* Until something is due; returns with the lock held. */
static void wait_locked(struct collector *collector, uint64_t names_due_ns)
	REQUIRES(collector->lock)
{
	while (!has_wish_locked(collector)) {
		uint64_t due_ns = MIN(collector->next_tick_ns, collector->next_drain_ns);

		due_ns = MIN(due_ns, collector->next_housekeeping_ns);
		due_ns = MIN(due_ns, collector->next_scan_look_ns);
		due_ns = MIN(due_ns, collector->next_record_look_ns);
		if (collector->names_arrived && !names_due_ns)
			names_due_ns = clock_now_ns() + NAMES_DELAY_NS;
		if (names_due_ns)
			due_ns = MIN(due_ns, names_due_ns);
		if (clock_now_ns() >= due_ns)
			break;
		cond_wait_until(&collector->wake, &collector->lock, due_ns);
	}
}

static void finish(struct collector *collector, uint64_t refresh_ns)
{
	struct snapshot *snapshot;

	if (collector->options.replay) {
		tick_replay_end(collector, refresh_ns);
	} else {
		if (!collector->figures.target_gone)
			tick_drain(collector);
		tick_end(collector, refresh_ns);
	}
	/* The filter was parsed before the spec was accepted: it cannot fail here. */
	if (tick_snapshot(collector, &collector->running_spec, refresh_ns, &snapshot, NULL) < 0)
		snapshot = NULL;
	rest(collector);
	mutex_lock(&collector->lock);
	collector->last = snapshot;
	collector->finished = true;
	cond_broadcast(&collector->readers_done);
	mutex_unlock(&collector->lock);
}

/* A new refresh counts from now on, not after the old, longer one. */
static void apply_refresh(struct collector *collector, uint64_t refresh_ns)
{
	collector->early_ns = 0;
	collector->stretched_ns = 0;
	if (collector->figures.target_gone)
		return;
	collector->next_tick_ns = MIN(collector->next_tick_ns, clock_now_ns() + refresh_ns);
}

/* True once when a scan that was asked for has ended, so that its time is shown at once. */
static bool scan_has_ended(struct collector *collector)
{
	struct synth_progress progress;

	if (clock_now_ns() < collector->next_scan_look_ns)
		return false;
	synth_get_progress(collector->synth, &progress);
	collector->next_scan_look_ns =
		progress.sweep_done ? UINT64_MAX : clock_now_ns() + SCAN_LOOK_NS;
	return progress.sweep_done;
}

static void carry_out_recording(struct collector *collector, const struct wishes *wishes)
{
	if (wishes->record)
		collector_begin_recording(collector);
	if (wishes->record || wishes->record_end)
		collector->next_record_look_ns = clock_now_ns();
	if (!wishes->record_end)
		return;
	collector_end_recording(collector);
	mutex_lock(&collector->lock);
	collector->record_ended = true;
	cond_broadcast(&collector->readers_done);
	mutex_unlock(&collector->lock);
}

/* True once when a file that was stopped is on the disk, so that it is told at once. */
static bool recording_has_ended(struct collector *collector)
{
	struct recorder_figures figures;

	if (clock_now_ns() < collector->next_record_look_ns)
		return false;
	recorder_get_figures(collector->recorder, &figures);
	collector->next_record_look_ns =
		figures.state == RECORDER_FINISHING ? clock_now_ns() + SCAN_LOOK_NS : UINT64_MAX;
	return figures.state != RECORDER_FINISHING;
}

static void carry_out(struct collector *collector, const struct wishes *wishes)
{
	bool scan_ended, recording_ended;
	uint64_t now_ns;

	if (wishes->zero)
		profile_clear(collector->profile);
	if (wishes->refresh)
		apply_refresh(collector, wishes->refresh_ns);
	if (wishes->nr_readers)
		collector_change_readers(collector, wishes->nr_readers);
	if (wishes->scan)
		collector->next_scan_look_ns = clock_now_ns();
	carry_out_recording(collector, wishes);
	if (wishes->finish) {
		finish(collector, wishes->refresh_ns);
		return;
	}
	scan_ended = scan_has_ended(collector);
	recording_ended = recording_has_ended(collector);
	now_ns = clock_now_ns();
	if (now_ns >= collector->next_housekeeping_ns)
		tick_housekeeping(collector);
	if (now_ns >= collector->next_tick_ns) {
		do_tick(collector, wishes->refresh_ns, wishes->zero_each);
		return;
	}
	if (now_ns >= collector->next_drain_ns) {
		if (wishes->zero_each && !collector->slot_open)
			profile_clear(collector->profile);
		tick_drain(collector);
		collector->drain_interval_ns =
			tick_drain_interval(collector, collector->figures.effective_refresh_ns);
		collector->next_drain_ns = collector->drained_ns + collector->drain_interval_ns;
	}
	if (wishes->spec || wishes->zero || wishes->names || wishes->nr_readers || scan_ended ||
	    recording_ended || wishes->record || wishes->record_end)
		answer(collector, wishes->refresh_ns);
}

static void run(void *arg)
{
	struct collector *collector = arg;
	struct wishes wishes;

	for (;;) {
		mutex_lock(&collector->lock);
		wait_locked(collector, 0);
		take_wishes_locked(collector, &wishes);
		mutex_unlock(&collector->lock);
		if (wishes.stop)
			return;
		carry_out(collector, &wishes);
	}
}

/* ---- start and stop ---- */

static void on_names(void *arg)
{
	struct collector *collector = arg;

	mutex_lock(&collector->lock);
	collector->names_arrived = true;
	cond_signal(&collector->wake);
	mutex_unlock(&collector->lock);
}

static void on_new_dso(void *arg, struct dso *dso)
{
	struct collector *collector = arg;

	if (dso_kind(dso) == DSO_FILE && !collector->options.replay)
		symbolizer_hold(collector->symbolizer, dso);
}

static struct dso *special_dso(struct collector *collector, enum dso_kind kind, uint64_t inode,
			       const char *path)
{
	const struct dso_key key = { .kind = kind, .inode = inode };

	return dso_table_get(collector->dsos, &key, path, 0, NULL);
}

static void make_tables(struct collector *collector)
{
	struct symbolizer_options symbolizer_options = {
		.on_loaded = on_names,
		.arg = collector,
	};
	struct thread_table_options table_options = {
		.on_new_dso = on_new_dso,
		.arg = collector,
	};

	collector->dsos = dso_table_new();
	collector->kernel = special_dso(collector, DSO_KERNEL, 0, "[kernel.kallsyms]");
	collector->unknown = special_dso(collector, DSO_UNKNOWN, 0, "[unknown]");
	collector->guest = special_dso(collector, DSO_UNKNOWN, 1, "[guest]");
	if (collector->options.replay)
		symbolizer_options.origin = replay_origin(collector->options.replay);
	collector->symbolizer = symbolizer_new(&symbolizer_options);
	table_options.dsos = collector->dsos;
	collector->table = thread_table_new(&table_options);
	collector->profile = profile_new(&(struct profile_limits){ 0 }, collector->symbolizer);
	collector->event_names = mem_calloc(collector->options.event_list->nr, sizeof(char *));
	for (size_t i = 0; i < collector->options.event_list->nr; i++)
		collector->event_names[i] = collector->options.event_list->events[i].name;
	collector->nr_cpu_figures = collector->options.replay
					    ? collector->options.cpumap->nr_possible
					    : event_set_nr_cpus(collector->options.events);
	collector->cpu_samples = mem_calloc(collector->nr_cpu_figures, sizeof(uint64_t));
	collector->cpu_busy = mem_calloc(collector->nr_cpu_figures, sizeof(uint64_t));
	collector->cpu_overwritten = mem_calloc(collector->nr_cpu_figures, sizeof(uint64_t));
	collector->cpu_shares = mem_calloc(collector->nr_cpu_figures, sizeof(double));
	collector->rings_seen =
		mem_calloc(collector->nr_cpu_figures, sizeof(*collector->rings_seen));
}

/* Targets are read first, by name; the rest of the machine when it can be sampled too. */
static int start_synth(struct collector *collector, struct err *err)
{
	const struct target *target = collector->options.target;
	struct event_set_info info;
	struct synth_options options = {
		.nr_workers = collector->options.nr_synth_workers,
		.table = collector->table,
		.starts_alone = true, /* until the first drain has had its turn */
	};
	int ret;

	event_set_get_info(collector->options.events, &info);
	options.sweep = !info.own_processes_only &&
			(target->kind == TARGET_MACHINE || target->kind == TARGET_USER ||
			 info.filter_in_user_space);
	ret = synth_start(&options, &collector->synth, err);
	if (ret < 0)
		return ret;
	if (target->kind != TARGET_PROCESSES && target->kind != TARGET_COMMAND)
		return 0;
	for (size_t i = 0; i < target->nr_ids; i++) {
		if (info.filter_in_user_space)
			thread_table_add_target(collector->table, target->ids[i]);
		if (target->kind == TARGET_PROCESSES)
			synth_request(collector->synth, target->ids[i]);
	}
	return 0;
}

static void start_replay(struct collector *collector)
{
	const struct reader_options reader_options = {
		.table = collector->table,
		.kernel = collector->kernel,
		.unknown = collector->unknown,
		.guest = collector->guest,
	};
	const struct replay_sink sink = {
		.records = { .table = collector->table,
			     .symbolizer = collector->symbolizer,
			     .kernel = collector->kernel },
		.place = tick_replay_place,
		.arg = collector,
	};
	struct replay_sink own = sink;

	collector->readers = mem_calloc(1, sizeof(*collector->readers));
	collector->readers[0].collector = collector;
	collector->readers[0].reader = reader_new(&reader_options);
	collector->nr_readers = 1;
	own.reader = collector->readers[0].reader;
	replay_set_sink(collector->options.replay, &own);
	collector->enabled_ns = clock_now_ns();
	collector->figures.scan_finished = true;
	collector->next_drain_ns = UINT64_MAX;
	collector->next_housekeeping_ns = UINT64_MAX;
}

static int start_workers(struct collector *collector, struct err *err)
{
	struct metadata_options metadata_options = {
		.events = collector->options.events,
		.table = collector->table,
		.symbolizer = collector->symbolizer,
		.kernel = collector->kernel,
	};
	struct event_set_info info;
	int ret;

	ret = collector_start_recorder(collector, err);
	if (ret < 0)
		return ret;
	metadata_options.recorder = collector->recorder;
	/* Before the first look at /proc, so that nothing born in between is missed. */
	ret = event_set_enable(collector->options.events, err);
	if (ret < 0)
		return ret;
	collector->enabled_ns = clock_now_ns();
	collector->cut_ns = collector->enabled_ns;
	collector->tick_cut_ns = collector->enabled_ns;
	collector->tick_start_ns = collector->enabled_ns;
	event_set_get_info(collector->options.events, &info);
	latency_start(collector->options.latency, START_ENABLE, info.enable_ns);
	ret = start_synth(collector, err);
	if (ret < 0)
		return ret;
	if (collector->options.target->kind == TARGET_USER)
		metadata_options.synth = collector->synth;
	ret = metadata_start(&metadata_options, &collector->metadata, err);
	if (ret < 0)
		return ret;
	if (!info.kernel_excluded)
		symbolizer_preload_kernel(collector->symbolizer, collector->kernel);
	return collector_start_readers(collector, err);
}

static void plan_first_tick(struct collector *collector, uint64_t refresh_ns)
{
	uint64_t now_ns = clock_now_ns();

	collector->figures.effective_refresh_ns = next_interval(collector, refresh_ns);
	collector->next_tick_ns = now_ns + collector->figures.effective_refresh_ns;
	collector->drain_interval_ns = tick_drain_interval(collector, refresh_ns);
	collector->next_drain_ns = now_ns + collector->drain_interval_ns;
	collector->next_housekeeping_ns = now_ns + NSEC_PER_SEC;
}

int collector_start(const struct collector_options *options, const struct view_spec *spec,
		    struct collector **ret_collector, struct err *err)
{
	struct collector *collector = mem_zalloc(sizeof(*collector));
	int ret = 0;

	collector->options = *options;
	collector->spec = *spec;
	collector->running_spec = *spec;
	collector->refresh_ns = options->refresh_ns;
	collector->zero_each = options->zero_each;
	collector->next_scan_look_ns = UINT64_MAX;
	collector->next_record_look_ns = UINT64_MAX;
	mutex_init(&collector->lock);
	cond_init(&collector->wake);
	cond_init(&collector->readers_wake);
	cond_init(&collector->readers_done);
	collector->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	make_tables(collector);
	if (collector->fd < 0) {
		ret = err_set(err, -errno, "collector: eventfd");
		goto err_stop;
	}
	if (options->replay)
		start_replay(collector);
	else
		ret = start_workers(collector, err);
	if (ret < 0)
		goto err_stop;
	collector->early_ns = options->early_frames ? FIRST_TICK_NS : 0;
	collector->self_wall_ns = options->exec_ns;
	if (options->replay)
		plan_slot(collector, options->refresh_ns);
	else
		plan_first_tick(collector, options->refresh_ns);
	ret = worker_start("symtop/collect", run, collector, &collector->worker, err);
	if (ret < 0)
		goto err_stop;
	*ret_collector = collector;
	return 0;

err_stop:
	collector_stop(collector);
	return ret;
}

static void stop_workers(struct collector *collector)
{
	mutex_lock(&collector->lock);
	collector->stop = true;
	cond_broadcast(&collector->wake);
	cond_broadcast(&collector->readers_wake);
	mutex_unlock(&collector->lock);
	worker_join(collector->worker);
	collector_stop_readers(collector);
	metadata_stop(collector->metadata);
	synth_stop(collector->synth);
}

void collector_stop(struct collector *collector)
{
	if (!collector)
		return;
	stop_workers(collector);
	/* Events end with their descriptors; a failure to pause them changes nothing. */
	if (collector->options.events && event_set_disable(collector->options.events, NULL) < 0)
		collector->enabled_ns = 0;
	collector_free_readers(collector);
	collector_free_recorder(collector);
	snapshot_put(collector->newest);
	profile_free(collector->profile);
	thread_table_free(collector->table);
	dso_put(collector->kernel);
	dso_put(collector->unknown);
	dso_put(collector->guest);
	symbolizer_free(collector->symbolizer);
	dso_table_free(collector->dsos);
	free(collector->event_names);
	free(collector->cpu_samples);
	free(collector->cpu_busy);
	free(collector->cpu_overwritten);
	free(collector->cpu_shares);
	free(collector->rings_seen);
	if (collector->fd >= 0)
		close(collector->fd);
	cond_release(&collector->wake);
	cond_release(&collector->readers_wake);
	cond_release(&collector->readers_done);
	mutex_release(&collector->lock);
	free(collector);
}

/* ---- wishes ---- */

int collector_set_spec(struct collector *collector, const struct view_spec *spec, struct err *err)
{
	struct filter *filter;
	int ret;

	ret = filter_parse(spec->filter, &filter, err);
	if (ret < 0)
		return ret;
	filter_free(filter);
	mutex_lock(&collector->lock);
	collector->spec = *spec;
	collector->spec_changed = true;
	cond_signal(&collector->wake);
	mutex_unlock(&collector->lock);
	return 0;
}

void collector_set_refresh(struct collector *collector, uint64_t refresh_ns)
{
	mutex_lock(&collector->lock);
	collector->refresh_ns = refresh_ns;
	collector->refresh_changed = true;
	cond_signal(&collector->wake);
	mutex_unlock(&collector->lock);
}

void collector_set_zero_each(struct collector *collector, bool zero_each)
{
	mutex_lock(&collector->lock);
	collector->zero_each = zero_each;
	mutex_unlock(&collector->lock);
}

int collector_set_readers(struct collector *collector, unsigned int nr_readers, struct err *err)
{
	if (collector->options.replay)
		return err_say(err, -ENOTSUP, "a recording has no rings to read");
	mutex_lock(&collector->lock);
	collector->readers_wanted = MAX(nr_readers, 1U);
	cond_signal(&collector->wake);
	mutex_unlock(&collector->lock);
	return 0;
}

int collector_rescan(struct collector *collector, unsigned int nr_workers, struct err *err)
{
	if (collector->options.replay)
		return err_say(err, -ENOTSUP, "a recording is of other processes than run now");
	synth_rescan(collector->synth, nr_workers);
	mutex_lock(&collector->lock);
	collector->scan_begun = true;
	cond_signal(&collector->wake);
	mutex_unlock(&collector->lock);
	return 0;
}

void collector_zero(struct collector *collector)
{
	mutex_lock(&collector->lock);
	collector->zero_wanted = true;
	cond_signal(&collector->wake);
	mutex_unlock(&collector->lock);
}

struct snapshot *collector_finish(struct collector *collector)
{
	struct snapshot *snapshot;

	mutex_lock(&collector->lock);
	collector->finish_wanted = true;
	collector->finished = false;
	cond_signal(&collector->wake);
	while (!collector->finished)
		cond_wait(&collector->readers_done, &collector->lock);
	snapshot = collector->last;
	collector->last = NULL;
	mutex_unlock(&collector->lock);
	return snapshot;
}
