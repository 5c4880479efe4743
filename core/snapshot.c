/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot owns everything it shows. Strings and frames live in an arena that is
 * freed as a whole; each distinct text is made printable and stored once, found
 * again by the hash of its raw bytes. Rows, chains, notes and figures are plain
 * growing arrays, so building costs a handful of allocations however many rows.
 *
 * While it is built a snapshot belongs to one thread. After that only the reference
 * count changes, so readers need no lock; whoever hands a snapshot to another
 * thread does so through a mutex or a queue, which orders the building before the
 * reading.
 */
#include "config.h"

#include "core/snapshot.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/base/text.h"

#define CHUNK_BYTES ((size_t)64 * 1024)
#define DEFAULT_WINDOW_NS (UINT64_C(10) * 1000 * 1000 * 1000)

struct chunk {
	struct chunk *next;
	size_t nr_used, size;
	_Alignas(max_align_t) char bytes[];
};

/* A text as it came, and what stands for it. */
struct interned {
	uint64_t hash;
	const char *raw; /* NULL: the place is free */
	const char *printable;
};

struct cpu_figure {
	unsigned int cpu;
	double busy;
};

struct snapshot {
	_Atomic uint32_t nr_refs; /* acquire-release on the way to zero: frees after all reads */
	struct view_spec spec;
	struct snapshot_header header;

	struct row *rows;
	size_t nr_rows, nr_rows_allocated;
	struct row_chain *chains;
	size_t nr_chains, nr_chains_allocated;
	struct note *notes;
	size_t nr_notes, nr_notes_allocated;
	struct event_figures *events;
	size_t nr_events, nr_events_allocated;
	struct cpu_figure *cpus;
	size_t nr_cpus, nr_cpus_allocated;
	struct engine_figure *engine;
	size_t nr_engine, nr_engine_allocated;
	uint64_t *slots; /* their ends */
	size_t nr_slots, nr_slots_allocated;

	struct snapshot *origin; /* has all but the rows; NULL: it is all our own */
	struct chunk *chunks;
	struct interned *strings; /* open addressing, nr_places a power of two */
	size_t nr_strings, nr_places;
	struct textbuf scratch;
};

static const char *const key_names[NR_SORT_KEYS] = {
	[SORT_COMM] = "comm",	  [SORT_PID] = "pid", [SORT_TID] = "tid",   [SORT_DSO] = "dso",
	[SORT_SYMBOL] = "symbol", [SORT_CPU] = "cpu", [SORT_NODE] = "node", [SORT_EVENT] = "event",
};

const char *sort_key_name(enum sort_key key)
{
	return key < NR_SORT_KEYS ? key_names[key] : "";
}

const char *engine_unit_name(enum engine_unit unit)
{
	static const char *const names[NR_ENGINE_UNITS] = {
		[ENGINE_COUNT] = "",   [ENGINE_SECONDS] = "s",	 [ENGINE_BYTES] = "bytes",
		[ENGINE_RATE] = "1/s", [ENGINE_SHARE] = "share",
	};

	return unit < NR_ENGINE_UNITS ? names[unit] : "";
}

static int key_from_name(const char *name, size_t len, enum sort_key *ret_key)
{
	if (len == 3 && !memcmp(name, "sym", len)) {
		*ret_key = SORT_SYMBOL;
		return 0;
	}
	for (size_t i = 0; i < NR_SORT_KEYS; i++) {
		if (strlen(key_names[i]) == len && !memcmp(name, key_names[i], len)) {
			*ret_key = (enum sort_key)i;
			return 0;
		}
	}
	return -EINVAL;
}

int sort_keys_parse(const char *text, struct sort_keys *ret_keys, struct err *err)
{
	struct sort_keys keys = { .nr = 0 };

	for (;;) {
		enum sort_key key;
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, ", ");
		if (key_from_name(text, len, &key) < 0)
			return err_say(err, -EINVAL,
				       "sort key '%.*s' is not known; there are comm, pid, tid, "
				       "dso, symbol (sym), cpu, node, event",
				       (int)MIN(len, (size_t)64), text);
		for (size_t i = 0; i < keys.nr; i++) {
			if (keys.keys[i] == key)
				return err_say(err, -EINVAL, "sort key '%s' is named twice",
					       key_names[key]);
		}
		keys.keys[keys.nr++] = key;
		text += len;
		text += strspn(text, " ");
		if (!*text)
			break;
		if (*text != ',')
			return err_say(err, -EINVAL, "sort keys are separated by commas");
		text++;
	}
	*ret_keys = keys;
	return 0;
}

void view_spec_init(struct view_spec *spec)
{
	*spec = (struct view_spec){
		.keys = { .keys = { SORT_COMM, SORT_DSO, SORT_SYMBOL }, .nr = 3 },
		.order = ORDER_SELF,
		.window = VIEW_WINDOW_TIME,
		.window_ns = DEFAULT_WINDOW_NS,
		.event = -1,
	};
}

/* ---- memory ---- */

static void *arena_alloc(struct snapshot *snapshot, size_t size)
{
	struct chunk *chunk = snapshot->chunks;
	void *bytes;

	size = (size + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
	if (!chunk || chunk->size - chunk->nr_used < size) {
		size_t chunk_size = MAX(size, CHUNK_BYTES);

		chunk = mem_zalloc(sizeof(*chunk) + chunk_size);
		chunk->size = chunk_size;
		chunk->next = snapshot->chunks;
		snapshot->chunks = chunk;
	}
	bytes = chunk->bytes + chunk->nr_used;
	chunk->nr_used += size;
	return bytes;
}

static const char *arena_text(struct snapshot *snapshot, const char *text, size_t len)
{
	char *copy = arena_alloc(snapshot, len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static struct interned *find_place(struct interned *strings, size_t nr_places, uint64_t hash,
				   const char *text)
{
	size_t place = hash & (nr_places - 1);

	while (strings[place].raw &&
	       (strings[place].hash != hash || strcmp(strings[place].raw, text)))
		place = (place + 1) & (nr_places - 1);
	return &strings[place];
}

static void grow_strings(struct snapshot *snapshot)
{
	size_t nr_places = snapshot->nr_places ? 2 * snapshot->nr_places : 256;
	struct interned *strings = mem_calloc(nr_places, sizeof(*strings));

	for (size_t i = 0; i < snapshot->nr_places; i++) {
		const struct interned *old = &snapshot->strings[i];

		if (old->raw)
			*find_place(strings, nr_places, old->hash, old->raw) = *old;
	}
	free(snapshot->strings);
	snapshot->strings = strings;
	snapshot->nr_places = nr_places;
}

const char *snapshot_add_string(struct snapshot *snapshot, const char *text)
{
	struct interned *place;
	uint64_t hash;
	size_t len;

	if (!text || !*text)
		return "";
	len = strlen(text);
	hash = hash_bytes(text, len);
	if (4 * snapshot->nr_strings >= 3 * snapshot->nr_places)
		grow_strings(snapshot);
	place = find_place(snapshot->strings, snapshot->nr_places, hash, text);
	if (place->raw)
		return place->printable;

	textbuf_clear(&snapshot->scratch);
	text_add_printable(&snapshot->scratch, text, len);
	place->hash = hash;
	place->raw = arena_text(snapshot, text, len);
	if (snapshot->scratch.len == len && !memcmp(snapshot->scratch.text, text, len))
		place->printable = place->raw;
	else
		place->printable =
			arena_text(snapshot, snapshot->scratch.text, snapshot->scratch.len);
	snapshot->nr_strings++;
	return place->printable;
}

/* ---- life ---- */

struct snapshot *snapshot_new(const struct view_spec *spec)
{
	struct snapshot *snapshot = mem_zalloc(sizeof(*snapshot));

	atomic_init(&snapshot->nr_refs, 1);
	snapshot->spec = *spec;
	snapshot->header.host = "";
	snapshot->header.kernel = "";
	snapshot->header.event = "";
	snapshot->header.target = "";
	snapshot->header.filter = "";
	snapshot->header.recording.path = "";
	snapshot->header.recording.trouble = "";
	return snapshot;
}

struct snapshot *snapshot_get(struct snapshot *snapshot)
{
	atomic_fetch_add_explicit(&snapshot->nr_refs, 1, memory_order_relaxed);
	return snapshot;
}

void snapshot_put(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	if (atomic_fetch_sub_explicit(&snapshot->nr_refs, 1, memory_order_acq_rel) != 1)
		return;
	if (snapshot->origin) {
		snapshot_put(snapshot->origin);
		free(snapshot->rows);
		free(snapshot);
		return;
	}
	while (snapshot->chunks) {
		struct chunk *next = snapshot->chunks->next;

		free(snapshot->chunks);
		snapshot->chunks = next;
	}
	textbuf_release(&snapshot->scratch);
	free(snapshot->strings);
	free(snapshot->rows);
	free(snapshot->chains);
	free(snapshot->notes);
	free(snapshot->events);
	free(snapshot->cpus);
	free(snapshot->engine);
	free(snapshot->slots);
	free(snapshot);
}

/* ---- reading ---- */

const struct snapshot_header *snapshot_header(const struct snapshot *snapshot)
{
	return &snapshot->header;
}

const struct view_spec *snapshot_spec(const struct snapshot *snapshot)
{
	return &snapshot->spec;
}

size_t snapshot_nr_rows(const struct snapshot *snapshot)
{
	return snapshot->nr_rows;
}

const struct row *snapshot_row(const struct snapshot *snapshot, size_t index)
{
	assert(index < snapshot->nr_rows);
	return &snapshot->rows[index];
}

size_t snapshot_nr_chains(const struct snapshot *snapshot)
{
	return snapshot->nr_chains;
}

const struct row_chain *snapshot_chain(const struct snapshot *snapshot, size_t index)
{
	assert(index < snapshot->nr_chains);
	return &snapshot->chains[index];
}

size_t snapshot_nr_notes(const struct snapshot *snapshot)
{
	return snapshot->nr_notes;
}

const struct note *snapshot_note(const struct snapshot *snapshot, size_t index)
{
	assert(index < snapshot->nr_notes);
	return &snapshot->notes[index];
}

size_t snapshot_nr_events(const struct snapshot *snapshot)
{
	return snapshot->nr_events;
}

const struct event_figures *snapshot_event(const struct snapshot *snapshot, size_t index)
{
	assert(index < snapshot->nr_events);
	return &snapshot->events[index];
}

size_t snapshot_nr_cpus(const struct snapshot *snapshot)
{
	return snapshot->nr_cpus;
}

void snapshot_cpu(const struct snapshot *snapshot, size_t index, unsigned int *ret_cpu,
		  double *ret_busy)
{
	assert(index < snapshot->nr_cpus);
	*ret_cpu = snapshot->cpus[index].cpu;
	*ret_busy = snapshot->cpus[index].busy;
}

size_t snapshot_nr_engine(const struct snapshot *snapshot)
{
	return snapshot->nr_engine;
}

const struct engine_figure *snapshot_engine(const struct snapshot *snapshot, size_t index)
{
	assert(index < snapshot->nr_engine);
	return &snapshot->engine[index];
}

size_t snapshot_nr_slots(const struct snapshot *snapshot)
{
	return snapshot->nr_slots;
}

uint64_t snapshot_slot_end_ns(const struct snapshot *snapshot, size_t index)
{
	assert(index < snapshot->nr_slots);
	return snapshot->slots[index];
}

/* ---- building ---- */

struct snapshot_header *snapshot_edit_header(struct snapshot *snapshot)
{
	return &snapshot->header;
}

struct row *snapshot_add_row(struct snapshot *snapshot)
{
	struct row *row;

	mem_grow(snapshot->rows, snapshot->nr_rows, snapshot->nr_rows_allocated);
	row = &snapshot->rows[snapshot->nr_rows++];
	*row = (struct row){
		.comm = "",
		.dso = "",
		.dso_path = "",
		.symbol = "",
		.event = "",
		.pid = -1,
		.tid = -1,
		.cpu = -1,
		.node = -1,
	};
	return row;
}

void snapshot_add_chain(struct snapshot *snapshot, struct row *row, const char *const *frames,
			const bool *frames_kernel, size_t nr_frames, double nr_samples,
			double period)
{
	const char **texts = arena_alloc(snapshot, nr_frames * sizeof(*texts));
	bool *kernel = arena_alloc(snapshot, nr_frames * sizeof(*kernel));

	/* The chains of a row lie side by side, so they are added one after the other. */
	assert(!row->nr_chains || row->first_chain + row->nr_chains == snapshot->nr_chains);
	for (size_t i = 0; i < nr_frames; i++) {
		texts[i] = snapshot_add_string(snapshot, frames[i]);
		kernel[i] = frames_kernel[i];
	}
	mem_grow(snapshot->chains, snapshot->nr_chains, snapshot->nr_chains_allocated);
	if (!row->nr_chains)
		row->first_chain = snapshot->nr_chains;
	row->nr_chains++;
	snapshot->chains[snapshot->nr_chains++] = (struct row_chain){
		.frames = texts,
		.frames_kernel = kernel,
		.nr_frames = nr_frames,
		.nr_samples = nr_samples,
		.period = period,
	};
}

const struct frame_place *snapshot_add_place(struct snapshot *snapshot,
					     const struct frame_place *place)
{
	struct frame_place *copy = arena_alloc(snapshot, sizeof(*copy));

	*copy = *place;
	copy->name = snapshot_add_string(snapshot, place->name);
	copy->dso = snapshot_add_string(snapshot, place->dso);
	copy->dso_path = snapshot_add_string(snapshot, place->dso_path);
	return copy;
}

void snapshot_set_places(struct snapshot *snapshot, const struct frame_place *const *places)
{
	struct row_chain *chain = &snapshot->chains[snapshot->nr_chains - 1];
	const struct frame_place **copy = arena_alloc(snapshot, chain->nr_frames * sizeof(*copy));

	memcpy(copy, places, chain->nr_frames * sizeof(*copy));
	chain->places = copy;
}

void snapshot_add_note(struct snapshot *snapshot, enum note_level level, const char *text)
{
	mem_grow(snapshot->notes, snapshot->nr_notes, snapshot->nr_notes_allocated);
	snapshot->notes[snapshot->nr_notes++] =
		(struct note){ .level = level, .text = snapshot_add_string(snapshot, text) };
}

void snapshot_add_event(struct snapshot *snapshot, const char *name, uint64_t nr_samples)
{
	mem_grow(snapshot->events, snapshot->nr_events, snapshot->nr_events_allocated);
	snapshot->events[snapshot->nr_events++] = (struct event_figures){
		.name = snapshot_add_string(snapshot, name),
		.nr_samples = nr_samples,
	};
}

void snapshot_add_cpu(struct snapshot *snapshot, unsigned int cpu, double busy)
{
	mem_grow(snapshot->cpus, snapshot->nr_cpus, snapshot->nr_cpus_allocated);
	snapshot->cpus[snapshot->nr_cpus++] = (struct cpu_figure){ .cpu = cpu, .busy = busy };
}

void snapshot_add_engine(struct snapshot *snapshot, const struct engine_figure *figure)
{
	struct engine_figure *copy;

	mem_grow(snapshot->engine, snapshot->nr_engine, snapshot->nr_engine_allocated);
	copy = &snapshot->engine[snapshot->nr_engine++];
	*copy = *figure;
	copy->section = snapshot_add_string(snapshot, figure->section);
	copy->item = snapshot_add_string(snapshot, figure->item);
	copy->name = snapshot_add_string(snapshot, figure->name);
}

void snapshot_add_slot(struct snapshot *snapshot, uint64_t end_ns)
{
	mem_grow(snapshot->slots, snapshot->nr_slots, snapshot->nr_slots_allocated);
	snapshot->slots[snapshot->nr_slots++] = end_ns;
}

struct snapshot *snapshot_derive(struct snapshot *snapshot, const struct view_spec *spec)
{
	struct snapshot *copy = snapshot_new(spec);

	copy->origin = snapshot_get(snapshot->origin ? snapshot->origin : snapshot);
	copy->header = snapshot->header;
	copy->rows = mem_calloc(snapshot->nr_rows, sizeof(*copy->rows));
	copy->nr_rows = snapshot->nr_rows;
	if (copy->nr_rows)
		memcpy(copy->rows, snapshot->rows, copy->nr_rows * sizeof(*copy->rows));
	copy->chains = snapshot->chains;
	copy->nr_chains = snapshot->nr_chains;
	copy->notes = snapshot->notes;
	copy->nr_notes = snapshot->nr_notes;
	copy->events = snapshot->events;
	copy->nr_events = snapshot->nr_events;
	copy->cpus = snapshot->cpus;
	copy->nr_cpus = snapshot->nr_cpus;
	copy->engine = snapshot->engine;
	copy->nr_engine = snapshot->nr_engine;
	copy->slots = snapshot->slots;
	copy->nr_slots = snapshot->nr_slots;
	return copy;
}

struct row *snapshot_edit_row(struct snapshot *snapshot, size_t index)
{
	assert(index < snapshot->nr_rows);
	return &snapshot->rows[index];
}

/* ---- order ---- */

static int compare_double(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_int(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_key(const struct row *a, const struct row *b, enum sort_key key)
{
	switch (key) {
	case SORT_COMM:
		return strcmp(a->comm, b->comm);
	case SORT_PID:
		return compare_int(a->pid, b->pid);
	case SORT_TID:
		return compare_int(a->tid, b->tid);
	case SORT_DSO:
		return strcmp(a->dso, b->dso);
	case SORT_SYMBOL:
		return strcmp(a->symbol, b->symbol);
	case SORT_CPU:
		return compare_int(a->cpu, b->cpu);
	case SORT_NODE:
		return compare_int(a->node, b->node);
	case SORT_EVENT:
		return strcmp(a->event, b->event);
	case NR_SORT_KEYS:
		break;
	}
	return 0;
}

/* Weights run from large to small, keys from small to large: what is looked for stands on top. */
static int compare_by(const struct row *a, const struct row *b, const struct view_spec *spec)
{
	switch (spec->order) {
	case ORDER_SELF:
		return compare_double(b->self_share, a->self_share);
	case ORDER_CHILDREN:
		return compare_double(b->children_share, a->children_share);
	case ORDER_SAMPLES:
		return compare_double(b->nr_samples, a->nr_samples);
	case ORDER_PERIOD:
		return compare_double(b->period, a->period);
	case ORDER_KEY:
		return compare_key(a, b, spec->order_key);
	case ORDER_DELTA:
		return compare_double(fabs(b->delta), fabs(a->delta));
	}
	return 0;
}

static int compare_rows(const void *left, const void *right, void *arg)
{
	const struct view_spec *spec = arg;
	const struct row *a = left;
	const struct row *b = right;
	int order = compare_by(a, b, spec);

	if (order)
		return spec->inverted ? -order : order;
	/* Equals are not inverted, and have one order always: rows must not dance. */
	order = compare_double(b->self_share, a->self_share);
	if (!order)
		order = compare_double(b->children_share, a->children_share);
	for (size_t i = 0; !order && i < spec->keys.nr; i++)
		order = compare_key(a, b, spec->keys.keys[i]);
	if (!order)
		order = (a->id > b->id) - (a->id < b->id);
	return order;
}

void snapshot_sort(struct snapshot *snapshot)
{
	if (snapshot->nr_rows)
		qsort_r(snapshot->rows, snapshot->nr_rows, sizeof(*snapshot->rows), compare_rows,
			&snapshot->spec);
}
