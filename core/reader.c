/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two passes, so that the first, per sample, touches nothing shared, and the second,
 * which takes the thread table's locks, runs once per distinct tuple.
 *
 * Most tuples of a tick belong to few tasks: a small direct-mapped cache keeps the
 * last task of each slot, with its name, for the length of one reader_locate(). Tuples
 * that are kept separate (their task changed identity) go round it.
 */
#include "config.h"

#include "core/reader.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "core/affinity.h"
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/record.h"
#include "core/ring.h"
#include "core/tally.h"

/* Ticks a tuple waits for its task's maps: early ticks are short, later ones seconds. */
#define MAX_TRIES 8
#define NR_CACHED 256
#define MAX_FRAMES 1024

#define NOWHERE UINT32_MAX

struct cpu_share {
	size_t index;
	uint64_t nr_samples;
	uint64_t nr_busy;
};

struct cached_task {
	uint32_t pid, tid;
	struct task *task; /* a reference; NULL: free */
	struct str *comm;  /* a reference */
	bool wanted;	   /* its process is still being scanned */
};

struct reader {
	struct reader_options options;
	struct cpu_share *shares;
	size_t nr_shares, nr_shares_allocated;
	struct ring_buffer buffer;
	struct record_stream *stream; /* NULL: nobody records */
	uint32_t place;		      /* node or CPU we moved to; NOWHERE: not moved */
	struct cpuset home;	      /* where we may run, taken before the first move */
	struct tally *tally;	      /* what was read and is not placed yet */
	struct tally *deferred;	      /* what has to wait; swapped with tally at reader_clear() */
	uint8_t *tries;		      /* of each tuple of tally: how often it was put off */
	size_t nr_tries, nr_tries_allocated;
	uint8_t *next_tries; /* the same for deferred */
	size_t nr_next_tries, nr_next_tries_allocated;
	size_t nr_located; /* tuples of tally that reader_locate() is done with */
	struct placed *placed;
	size_t nr_placed, nr_placed_allocated;
	struct location *frames;
	size_t nr_frames, nr_frames_allocated;
	struct cached_task cache[NR_CACHED];
	uint64_t ips[MAX_FRAMES]; /* scratch of place_chain() */
	struct location locations[MAX_FRAMES];
	uint8_t results[MAX_FRAMES];
	struct reader_figures figures;
};

struct reader *reader_new(const struct reader_options *options)
{
	struct reader *reader = mem_zalloc(sizeof(*reader));

	reader->options = *options;
	reader->place = NOWHERE;
	reader->tally = tally_new();
	reader->deferred = tally_new();
	if (options->recorder)
		reader->stream = record_stream_new(options->recorder);
	return reader;
}

static void drop_placed(struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_placed; i++) {
		task_put(reader->placed[i].key.task);
		str_put(reader->placed[i].key.comm);
		dso_put(reader->placed[i].key.dso);
	}
	for (size_t i = 0; i < reader->nr_frames; i++)
		dso_put(reader->frames[i].dso);
	reader->nr_placed = 0;
	reader->nr_frames = 0;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	drop_placed(reader);
	ring_buffer_release(&reader->buffer);
	record_stream_free(reader->stream);
	tally_free(reader->tally);
	tally_free(reader->deferred);
	free(reader->shares);
	free(reader->tries);
	free(reader->next_tries);
	free(reader->placed);
	free(reader->frames);
	free(reader);
}

void reader_clear_cpus(struct reader *reader)
{
	reader->nr_shares = 0;
}

void reader_add_cpu(struct reader *reader, size_t index)
{
	mem_grow(reader->shares, reader->nr_shares, reader->nr_shares_allocated);
	reader->shares[reader->nr_shares++] = (struct cpu_share){ .index = index };
}

/* ---- reading ---- */

static void count_other(struct reader *reader, const struct record *record)
{
	if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_LOST_SAMPLES)
		reader->figures.nr_lost += record->lost.nr;
	else if (record->type == PERF_RECORD_THROTTLE)
		reader->figures.nr_throttled++;
}

/* False: of an event that is none of ours. The kernel lets that happen with page faults. */
static bool count_sample(struct reader *reader, struct cpu_share *share, uint32_t cpu,
			 const struct sample *sample, const uint64_t *changed)
{
	int event = event_set_index(reader->options.events, sample->id);
	uint32_t bit = sample->pid & 0xffff;
	struct tuple tuple = {
		.ip = sample->ip,
		.time = sample->time,
		.nr_chain = (uint32_t)MIN(sample->nr_chain, (size_t)MAX_FRAMES),
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu == UINT32_MAX ? cpu : sample->cpu,
		.cpumode = (uint8_t)sample->cpumode,
		.event = (uint16_t)event,
		.separate = changed[bit / 64] >> (bit % 64) & 1,
	};

	if (event < 0) {
		reader->figures.nr_unknown_id++;
		return false;
	}
	reader->figures.nr_samples++;
	share->nr_samples++;
	share->nr_busy += sample->pid != 0;
	tally_add(reader->tally, &tuple, sample->chain, sample->period);
	return true;
}

/* Records that lie one after the other, on their way into a recording. */
struct span {
	const struct perf_event_header *first; /* NULL: none */
	size_t len, nr;
	uint64_t newest_ns;
};

static void end_span(struct reader *reader, struct span *span)
{
	if (span->first)
		record_stream_add(reader->stream, span->first, span->len, span->nr,
				  span->newest_ns);
	*span = (struct span){ 0 };
}

static void extend_span(struct span *span, const struct perf_event_header *header, uint64_t time)
{
	if (!span->first)
		span->first = header;
	span->len += header->size;
	span->nr++;
	span->newest_ns = MAX(span->newest_ns, time);
}

/* What one record is. Only what its type has is set. */
struct decoded {
	bool is_sample;
	struct sample sample;
	struct record other;
	uint64_t time; /* 0: none */
};

static bool decode(const struct reader *reader, const struct perf_event_header *header,
		   struct decoded *ret)
{
	const struct record_format *format = event_set_sample_format(reader->options.events);

	ret->is_sample = header->type == PERF_RECORD_SAMPLE;
	if (ret->is_sample) {
		if (!record_decode_sample(format, header, &ret->sample))
			return false;
		ret->time = ret->sample.time;
		return true;
	}
	if (record_decode(format, header, &ret->other) != RECORD_OK)
		return false;
	ret->time = ret->other.id.time;
	return true;
}

static void read_cpu(struct reader *reader, struct cpu_share *share, uint64_t cut_ns,
		     const uint64_t *changed)
{
	const struct cpu_rings *cpu = event_set_cpu(reader->options.events, share->index);
	bool records = reader->stream && record_stream_is_on(reader->stream);
	const struct perf_event_header *header;
	uint64_t start_ns, copied_ns;
	struct span span = { 0 };
	struct decoded record;
	bool kept = false;

	share->nr_samples = 0;
	share->nr_busy = 0;
	if (!cpu->samples || !ring_available(cpu->samples))
		return;
	start_ns = clock_now_ns();
	ring_read(cpu->samples, &reader->buffer);
	copied_ns = clock_now_ns();
	while ((header = ring_next(cpu->samples))) {
		if (!decode(reader, header, &record)) {
			reader->figures.nr_malformed++;
			end_span(reader, &span);
			continue;
		}
		/* Once one was kept, an out-of-order younger one (an NMI's) is too. */
		if (!kept && record.time > cut_ns) {
			ring_unread(cpu->samples);
			continue;
		}
		kept = true;
		if (!record.is_sample) {
			count_other(reader, &record.other);
		} else if (!count_sample(reader, share, cpu->cpu, &record.sample, changed)) {
			end_span(reader, &span);
			continue;
		}
		if (records)
			extend_span(&span, header, record.time);
	}
	end_span(reader, &span);
	reader->figures.copy_ns += copied_ns - start_ns;
	reader->figures.decode_ns += clock_now_ns() - copied_ns;
}

/*
 * Be where the ring is. Where the system does not let us (a cpuset, a CPU that went),
 * we read from where we are: slower, and nothing else.
 */
static void go_to_ring(struct reader *reader, const struct cpu_rings *cpu)
{
	bool by_cpu = reader->options.affinity == AFFINITY_CPU;
	uint32_t place = by_cpu ? cpu->cpu : cpu->node;
	struct cpuset cpus = { 0 };

	if (reader->options.affinity == AFFINITY_SYS || reader->place == place)
		return;
	if (reader->place == NOWHERE && affinity_get(&reader->home) < 0)
		return;
	if (by_cpu)
		cpuset_add(&cpus, cpu->cpu);
	else
		cpumap_node_cpus(reader->options.cpumap, cpu->node, &cpus);
	reader->place = place;
	reader->figures.nr_moves++;
	if (affinity_set(&cpus) < 0)
		reader->figures.nr_moves_refused++;
	ring_buffer_set_node(&reader->buffer, cpu->node);
	if (reader->stream)
		record_stream_set_node(reader->stream, cpu->node);
}

/* Who has one node stays there; who went from place to place goes on anywhere. */
static void go_home(struct reader *reader, uint64_t nr_moves)
{
	bool stays = reader->options.affinity == AFFINITY_NODE && nr_moves <= 1;

	if (reader->place == NOWHERE || stays)
		return;
	reader->place = NOWHERE;
	if (affinity_set(&reader->home) < 0)
		reader->figures.nr_moves_refused++;
}

void reader_read(struct reader *reader, uint64_t cut_ns, const uint64_t *changed)
{
	uint64_t nr_moves = reader->figures.nr_moves;

	reader->figures.copy_ns = 0;
	reader->figures.decode_ns = 0;
	reader->figures.locate_ns = 0;
	for (size_t i = 0; i < reader->nr_shares; i++) {
		go_to_ring(reader, event_set_cpu(reader->options.events, reader->shares[i].index));
		read_cpu(reader, &reader->shares[i], cut_ns, changed);
	}
	if (reader->stream)
		record_stream_flush(reader->stream);
	go_home(reader, reader->figures.nr_moves - nr_moves);
}

void reader_add(struct reader *reader, const struct tuple *sample, const uint64_t *ips,
		uint64_t period)
{
	struct tuple tuple = *sample;

	tuple.nr_chain = MIN(tuple.nr_chain, (uint32_t)MAX_FRAMES);
	reader->figures.nr_samples++;
	tally_add(reader->tally, &tuple, ips, period);
}

/* ---- locating ---- */

/* Ask for @pid if nobody did; true while its scan is under way. */
static bool want_task(struct reader *reader, struct task *task, uint32_t pid, bool needs_scan)
{
	struct location location;

	if (!reader->options.synth)
		return false;
	if (needs_scan)
		synth_request(reader->options.synth, pid);
	/* No map is at address 0: what differs is whether the maps are known. */
	if (thread_table_locate(reader->options.table, task, 0, 0, &location) == LOCATE_NOT_YET)
		return true;
	return false;
}

static void find_task(struct reader *reader, const struct tuple *tuple, struct cached_task *ret)
{
	bool needs_scan = false;

	ret->pid = tuple->pid;
	ret->tid = tuple->tid;
	ret->task = thread_table_get(reader->options.table, tuple->pid, tuple->tid, tuple->time,
				     &needs_scan);
	ret->comm = task_comm(reader->options.table, ret->task, tuple->time);
	ret->wanted = false;
	if (needs_scan || !ret->comm->len)
		ret->wanted = want_task(reader, ret->task, tuple->pid, needs_scan);
}

static void forget_task(struct cached_task *cached)
{
	task_put(cached->task);
	str_put(cached->comm);
	cached->task = NULL;
	cached->comm = NULL;
}

static struct cached_task *lookup_task(struct reader *reader, const struct tuple *tuple,
				       struct cached_task *scratch)
{
	struct cached_task *cached = &reader->cache[tuple->tid % NR_CACHED];

	if (tuple->separate) {
		find_task(reader, tuple, scratch);
		return scratch;
	}
	if (cached->task && cached->tid == tuple->tid && cached->pid == tuple->pid)
		return cached;
	if (cached->task)
		forget_task(cached);
	find_task(reader, tuple, cached);
	return cached;
}

static void set_location(struct location *ret, struct dso *dso, uint64_t offset)
{
	ret->dso = dso_get(dso);
	ret->offset = offset;
}

/* False: not yet. @ret_location's reference is the caller's. */
static bool locate_ip(struct reader *reader, struct task *task, const struct tuple *tuple,
		      struct location *ret_location, uint8_t *ret_flags)
{
	switch (tuple->cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		set_location(ret_location, reader->options.kernel, tuple->ip);
		*ret_flags |= CELL_KERNEL;
		return true;
	case PERF_RECORD_MISC_USER:
		break;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_HYPERVISOR:
		*ret_flags |= CELL_KERNEL;
		/* fallthrough */
	case PERF_RECORD_MISC_GUEST_USER:
		*ret_flags |= CELL_GUEST;
		set_location(ret_location, reader->options.guest, tuple->ip);
		return true;
	default:
		*ret_flags |= CELL_UNRESOLVED;
		set_location(ret_location, reader->options.unknown, tuple->ip);
		return true;
	}
	switch (thread_table_locate(reader->options.table, task, tuple->ip, tuple->time,
				    ret_location)) {
	case LOCATE_FOUND:
		return true;
	case LOCATE_NOT_YET:
		if (reader->options.synth)
			return false;
		break;
	case LOCATE_NO_MAP:
		break;
	}
	*ret_flags |= CELL_UNRESOLVED;
	set_location(ret_location, reader->options.unknown, tuple->ip);
	return true;
}

static void add_frame(struct reader *reader, struct dso *dso, uint64_t offset)
{
	mem_grow(reader->frames, reader->nr_frames, reader->nr_frames_allocated);
	reader->frames[reader->nr_frames].dso = dso;
	reader->frames[reader->nr_frames].offset = offset;
	reader->nr_frames++;
}

/* User addresses of a chain, located together under one lock. */
static void place_user_frames(struct reader *reader, struct task *task, uint64_t time, size_t nr)
{
	thread_table_locate_many(reader->options.table, task, reader->ips, nr, time,
				 reader->locations, reader->results);
	for (size_t i = 0; i < nr; i++) {
		if (reader->results[i] == LOCATE_FOUND)
			add_frame(reader, reader->locations[i].dso, reader->locations[i].offset);
		else /* without an address: broken chains that are alike stay one */
			add_frame(reader, dso_get(reader->options.unknown), 0);
	}
}

/*
 * The callers of the sampled address. Marks in the chain say which part follows; the
 * first address after the first mark is the sampled one itself.
 */
static void place_chain(struct reader *reader, struct task *task, const struct tuple *tuple)
{
	const uint64_t *chain = tally_chain(reader->tally, tuple);
	uint64_t context =
		tuple->cpumode == PERF_RECORD_MISC_KERNEL ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
	bool is_first = true;
	size_t nr_user = 0;

	for (uint32_t i = 0; i < tuple->nr_chain; i++) {
		if (chain[i] >= PERF_CONTEXT_MAX) {
			context = chain[i];
			continue;
		}
		if (is_first) {
			is_first = false;
			if (chain[i] == tuple->ip)
				continue;
		}
		if (context == PERF_CONTEXT_KERNEL)
			add_frame(reader, dso_get(reader->options.kernel), chain[i]);
		else if (context == PERF_CONTEXT_USER)
			reader->ips[nr_user++] = chain[i];
		else
			add_frame(reader, dso_get(reader->options.guest), chain[i]);
	}
	if (nr_user)
		place_user_frames(reader, task, tuple->time, nr_user);
}

static void defer(struct reader *reader, const struct tuple *tuple, size_t index)
{
	uint8_t tries = index < reader->nr_tries ? reader->tries[index] : 0;
	size_t nr = tally_nr(reader->deferred);

	tally_add_tuple(reader->deferred, tuple, tally_chain(reader->tally, tuple));
	if (tally_nr(reader->deferred) == nr)
		return; /* merged with one that waits already */
	mem_grow(reader->next_tries, reader->nr_next_tries, reader->nr_next_tries_allocated);
	reader->next_tries[reader->nr_next_tries++] = tries;
}

static bool is_last_try(const struct reader *reader, size_t index)
{
	return index < reader->nr_tries && reader->tries[index] >= MAX_TRIES;
}

/* False: has to wait. */
static bool place(struct reader *reader, const struct tuple *tuple, size_t index)
{
	struct cached_task scratch = { 0 };
	struct cached_task *cached = lookup_task(reader, tuple, &scratch);
	bool last_try = is_last_try(reader, index);
	struct location location;
	struct placed *placed;
	uint8_t flags = 0;
	bool found;

	found = (last_try || !cached->wanted) &&
		locate_ip(reader, cached->task, tuple, &location, &flags);
	if (!found && last_try) {
		flags |= CELL_UNRESOLVED;
		set_location(&location, reader->options.unknown, tuple->ip);
		found = true;
	}
	if (found) {
		mem_grow(reader->placed, reader->nr_placed, reader->nr_placed_allocated);
		placed = &reader->placed[reader->nr_placed++];
		*placed = (struct placed){
			.key = { .task = task_get(cached->task),
				 .comm = str_get(cached->comm),
				 .dso = location.dso,
				 .offset = location.offset,
				 .chain = CHAIN_NONE,
				 .cpu = (uint16_t)tuple->cpu,
				 .event = tuple->event,
				 .flags = flags },
			.nr_samples = tuple->nr_samples,
			.period = tuple->period,
			.frame = reader->nr_frames,
		};
		if (!tuple->pid)
			placed->key.flags |= CELL_IDLE_TASK;
		if (tuple->nr_chain)
			place_chain(reader, cached->task, tuple);
		placed->nr_frames = reader->nr_frames - placed->frame;
	}
	if (cached == &scratch)
		forget_task(&scratch);
	return found;
}

static void forget_tasks(struct reader *reader)
{
	for (size_t i = 0; i < NR_CACHED; i++) {
		if (reader->cache[i].task)
			forget_task(&reader->cache[i]);
	}
}

/* Deferred tuples become the ones to place; the others' memory is used again. */
static void take_deferred(struct reader *reader)
{
	struct tally *tally = reader->tally;
	uint8_t *tries = reader->tries;
	size_t nr_tries_allocated = reader->nr_tries_allocated;

	tally_clear(tally);
	reader->tally = reader->deferred;
	reader->deferred = tally;
	reader->tries = reader->next_tries;
	reader->nr_tries = reader->nr_next_tries;
	reader->nr_tries_allocated = reader->nr_next_tries_allocated;
	reader->next_tries = tries;
	reader->nr_next_tries = 0;
	reader->nr_next_tries_allocated = nr_tries_allocated;
	reader->nr_located = 0;
}

size_t reader_locate(struct reader *reader)
{
	uint64_t start_ns = clock_now_ns();

	/* Called again in the same tick: try those that were put off a moment ago. */
	if (reader->nr_located)
		take_deferred(reader);
	reader->figures.nr_deferred = 0;
	for (size_t i = 0; i < tally_nr(reader->tally); i++) {
		const struct tuple *tuple = tally_at(reader->tally, i);

		if (place(reader, tuple, i))
			continue;
		defer(reader, tuple, i);
		reader->figures.nr_deferred += tuple->nr_samples;
	}
	reader->nr_located = tally_nr(reader->tally);
	forget_tasks(reader);
	reader->figures.locate_ns += clock_now_ns() - start_ns;
	return tally_nr(reader->deferred);
}

size_t reader_nr_placed(const struct reader *reader)
{
	return reader->nr_placed;
}

const struct placed *reader_placed(const struct reader *reader, size_t index)
{
	return &reader->placed[index];
}

const struct location *reader_frames(const struct reader *reader, const struct placed *placed)
{
	return reader->frames + placed->frame;
}

void reader_clear(struct reader *reader)
{
	drop_placed(reader);
	take_deferred(reader);
	for (size_t i = 0; i < reader->nr_tries; i++)
		reader->tries[i]++;
}

void reader_cpu_samples(const struct reader *reader, size_t index, uint64_t *ret_nr,
			uint64_t *ret_nr_busy)
{
	*ret_nr = 0;
	*ret_nr_busy = 0;
	for (size_t i = 0; i < reader->nr_shares; i++) {
		if (reader->shares[i].index != index)
			continue;
		*ret_nr = reader->shares[i].nr_samples;
		*ret_nr_busy = reader->shares[i].nr_busy;
	}
}

void reader_get_figures(const struct reader *reader, struct reader_figures *ret_figures)
{
	*ret_figures = reader->figures;
}
