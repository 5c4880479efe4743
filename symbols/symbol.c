/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table is two blocks: entries of 24 bytes sorted by start, and one arena with
 * all names. A library has a hundred thousand symbols and a profile looks at a few
 * hundred of them, so a struct symbol (and a demangled name) is made only for an
 * entry that was found, and published in a third array of pointers, most of whose
 * pages are never touched.
 *
 * Several threads may find the same entry for the first time at once: each makes
 * its struct symbol, one wins the compare-exchange, the others free theirs.
 *
 * symbol_table_finish() sweeps over the starts with a stack of the symbols that are
 * open there, the innermost on top. It writes new entries and copies the names
 * that won into a new arena: losing aliases and the slack of growing go away.
 */
#include "config.h"

#include "symbols/symbol.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "symbols/demangle.h"

/* A named range; while building, @end of a sizeless one is its limit (start: no bytes). */
struct entry {
	uint64_t start;
	uint64_t end;
	uint32_t name;	 /* offset in the arena */
	uint16_t object; /* index of table->objects */
	uint8_t binding; /* enum symbol_binding */
	bool is_sizeless;
};

struct arena {
	char *text;
	size_t len;
	size_t nr_allocated;
};

struct known_symbol {
	struct symbol symbol;
	char *demangled; /* NULL: symbol.name is raw */
};

struct symbol_table {
	struct entry *entries;
	size_t nr_entries, nr_allocated;
	struct arena names;
	char **objects; /* [0] is NULL: the dso itself */
	size_t nr_objects, nr_objects_allocated;
	bool is_finished;
	_Atomic(struct known_symbol *) *known; /* by index of entries; NULL: not yet found */
	_Atomic uint64_t known_bytes;	       /* relaxed: a statistic, it orders nothing */
};

struct symbol_table *symbol_table_new(void)
{
	struct symbol_table *table = mem_zalloc(sizeof(*table));

	mem_grow(table->objects, 0, table->nr_objects_allocated);
	table->objects[0] = NULL;
	table->nr_objects = 1;
	return table;
}

void symbol_table_free(struct symbol_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; table->known && i < table->nr_entries; i++) {
		struct known_symbol *known =
			atomic_load_explicit(&table->known[i], memory_order_relaxed);

		if (known)
			free(known->demangled);
		free(known);
	}
	for (size_t i = 1; i < table->nr_objects; i++)
		free(table->objects[i]);
	free(table->objects);
	free(table->known);
	free(table->names.text);
	free(table->entries);
	free(table);
}

static bool arena_add(struct arena *arena, const char *text, size_t len, uint32_t *ret_offset)
{
	size_t need = arena->len + len + 1;

	if (need > UINT32_MAX)
		return false;
	if (need > arena->nr_allocated) {
		arena->nr_allocated = MAX(need, MAX(2 * arena->nr_allocated, 4096));
		arena->text = mem_resize(arena->text, arena->nr_allocated, 1);
	}
	memcpy(arena->text + arena->len, text, len);
	arena->text[need - 1] = '\0';
	*ret_offset = (uint32_t)arena->len;
	arena->len = need;
	return true;
}

/* There are few objects, and symbols come object by object: the last one is tried first. */
static bool intern_object(struct symbol_table *table, const char *object, uint16_t *ret_index)
{
	*ret_index = 0;
	if (!object)
		return true;
	for (size_t i = table->nr_objects - 1; i > 0; i--) {
		if (!strcmp(table->objects[i], object)) {
			*ret_index = (uint16_t)i;
			return true;
		}
	}
	if (table->nr_objects > UINT16_MAX)
		return false;
	mem_grow(table->objects, table->nr_objects, table->nr_objects_allocated);
	*ret_index = (uint16_t)table->nr_objects;
	table->objects[table->nr_objects++] = mem_strdup(object);
	return true;
}

void symbol_table_add(struct symbol_table *table, uint64_t start, uint64_t size, uint64_t limit,
		      enum symbol_binding binding, const char *name, size_t name_len,
		      const char *object)
{
	struct entry entry = { .start = start, .binding = (uint8_t)binding };

	assert(!table->is_finished);
	if (size) {
		if (__builtin_add_overflow(start, size, &entry.end))
			entry.end = UINT64_MAX;
		if (entry.end == start)
			return;
	} else {
		entry.is_sizeless = true;
		entry.end = MAX(start, limit);
	}
	if (!intern_object(table, object, &entry.object) ||
	    !arena_add(&table->names, name, MIN(name_len, SYMBOL_MAX_NAME), &entry.name))
		return;
	mem_grow(table->entries, table->nr_entries, table->nr_allocated);
	table->entries[table->nr_entries++] = entry;
}

static int compare_u64(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static bool has_bytes(const struct entry *entry)
{
	return entry->end > entry->start;
}

/* Aliases: the stronger name first, see enum symbol_binding. */
static int compare_names(const struct entry *left, const struct entry *right, const char *names)
{
	const char *left_name = names + left->name, *right_name = names + right->name;
	int order = compare_u64(right->binding, left->binding);

	if (!order)
		order = compare_u64(strspn(left_name, "_"), strspn(right_name, "_"));
	if (!order)
		order = compare_u64(left->is_sizeless, right->is_sizeless);
	if (!order)
		order = compare_u64(strlen(left_name), strlen(right_name));
	if (!order)
		order = strcmp(left_name, right_name);
	return order;
}

/* By address; at one address what gets no bytes is last. Total, so the order of adding is gone. */
static int compare_entries(const void *left_arg, const void *right_arg, void *arg)
{
	const struct entry *left = left_arg, *right = right_arg;
	int order = compare_u64(left->start, right->start);

	if (!order)
		order = compare_u64(!has_bytes(left), !has_bytes(right));
	if (!order)
		order = compare_names(left, right, arg);
	if (!order)
		order = compare_u64(right->end, left->end);
	if (!order)
		order = compare_u64(left->object, right->object);
	return order;
}

static void sort_entries(struct symbol_table *table)
{
	const struct entry *entries = table->entries;
	size_t i = 1;

	/* kallsyms come in order. */
	while (i < table->nr_entries &&
	       compare_entries(&entries[i - 1], &entries[i], table->names.text) <= 0)
		i++;
	if (i < table->nr_entries)
		qsort_r(table->entries, table->nr_entries, sizeof(*table->entries), compare_entries,
			table->names.text);
}

struct sweep {
	struct entry *in; /* sorted; ends of sizeless ones become real while sweeping */
	const char *in_names;
	struct entry *out;
	size_t nr_out, nr_out_allocated;
	struct arena names;
	uint32_t *moved; /* by index of in: offset in names + 1, 0: not there yet */
	size_t *open;	 /* indices of in, the innermost last */
	size_t nr_open, nr_open_allocated;
	uint64_t cursor; /* everything before it has been written */
};

/* Give [cursor, @end) to the entry at @index, if that is not empty. */
static void sweep_write(struct sweep *sweep, size_t index, uint64_t end)
{
	const struct entry *in = &sweep->in[index];
	const char *name = sweep->in_names + in->name;
	struct entry *out;
	uint32_t offset;

	if (end <= sweep->cursor)
		return;
	if (!sweep->moved[index]) {
		/* The new arena cannot be full: it holds a part of the old one. */
		if (!arena_add(&sweep->names, name, strlen(name), &offset))
			return;
		sweep->moved[index] = offset + 1;
	}
	mem_grow(sweep->out, sweep->nr_out, sweep->nr_out_allocated);
	out = &sweep->out[sweep->nr_out++];
	*out = *in;
	out->start = sweep->cursor;
	out->end = end;
	out->name = sweep->moved[index] - 1;
	sweep->cursor = end;
}

/* Write what ends at or before @start, and leave open what goes on. */
static void sweep_close(struct sweep *sweep, uint64_t start)
{
	while (sweep->nr_open) {
		size_t top = sweep->open[sweep->nr_open - 1];

		if (sweep->in[top].end > start)
			break;
		sweep_write(sweep, top, sweep->in[top].end);
		sweep->nr_open--;
	}
}

static void sweep_open(struct sweep *sweep, size_t index)
{
	mem_grow(sweep->open, sweep->nr_open, sweep->nr_open_allocated);
	sweep->open[sweep->nr_open++] = index;
}

/* The strongest sized entry of a group, or @end. */
static size_t find_sized(const struct sweep *sweep, size_t begin, size_t end)
{
	while (begin < end && sweep->in[begin].is_sizeless)
		begin++;
	return begin;
}

/*
 * Aliases that start where in[@begin] does, up to in[@end]; @next is the start after
 * them. The first one is the name. Others that reach further keep what is behind it.
 */
static void sweep_group(struct sweep *sweep, size_t begin, size_t end, uint64_t next)
{
	struct entry *winner = &sweep->in[begin];
	size_t sized = find_sized(sweep, begin, end);

	sweep_close(sweep, winner->start);
	if (!has_bytes(winner))
		return;
	if (sized == end) {
		if (sweep->nr_open)
			return; /* a label inside a sized symbol */
		winner->end = MIN(winner->end, next);
	} else if (winner->is_sizeless) {
		winner->end = sweep->in[sized].end;
	}

	if (sweep->nr_open)
		sweep_write(sweep, sweep->open[sweep->nr_open - 1], winner->start);
	sweep->cursor = winner->start;
	for (size_t i = end - 1; i > begin; i--) {
		if (!sweep->in[i].is_sizeless && sweep->in[i].end > winner->end)
			sweep_open(sweep, i);
	}
	sweep_open(sweep, begin);
}

static void sweep_all(struct sweep *sweep, size_t nr_in)
{
	size_t end;

	for (size_t begin = 0; begin < nr_in; begin = end) {
		uint64_t start = sweep->in[begin].start;

		for (end = begin + 1; end < nr_in && sweep->in[end].start == start; end++)
			;
		sweep_group(sweep, begin, end, end < nr_in ? sweep->in[end].start : UINT64_MAX);
	}
	sweep_close(sweep, UINT64_MAX);
}

void symbol_table_finish(struct symbol_table *table)
{
	struct sweep sweep = { .in = table->entries, .in_names = table->names.text };

	assert(!table->is_finished);
	sort_entries(table);
	sweep.moved = mem_calloc(table->nr_entries, sizeof(*sweep.moved));
	sweep_all(&sweep, table->nr_entries);
	free(sweep.moved);
	free(sweep.open);
	free(table->entries);
	free(table->names.text);

	table->entries = mem_resize(sweep.out, sweep.nr_out, sizeof(*sweep.out));
	table->nr_entries = table->nr_allocated = sweep.nr_out;
	table->names = sweep.names;
	table->names.text = mem_resize(table->names.text, table->names.len, 1);
	table->names.nr_allocated = table->names.len;
	table->known = mem_calloc(table->nr_entries, sizeof(*table->known));
	table->is_finished = true;
}

size_t symbol_table_nr(const struct symbol_table *table)
{
	return table->nr_entries;
}

uint64_t symbol_table_bytes(const struct symbol_table *table)
{
	uint64_t bytes = sizeof(*table) + table->nr_allocated * sizeof(*table->entries) +
			 table->names.nr_allocated +
			 table->nr_objects_allocated * sizeof(*table->objects);

	if (table->known)
		bytes += table->nr_entries * sizeof(*table->known);
	return bytes + atomic_load_explicit(&table->known_bytes, memory_order_relaxed);
}

static struct known_symbol *make_known(const struct symbol_table *table, size_t index)
{
	const struct entry *entry = &table->entries[index];
	struct known_symbol *known = mem_zalloc(sizeof(*known));

	known->symbol.start = entry->start;
	known->symbol.end = entry->end;
	known->symbol.raw = table->names.text + entry->name;
	known->symbol.object = table->objects[entry->object];
	known->demangled = demangle(known->symbol.raw);
	known->symbol.name = known->demangled ? known->demangled : known->symbol.raw;
	return known;
}

const struct symbol *symbol_table_at(struct symbol_table *table, size_t index)
{
	struct known_symbol *known, *expected = NULL;
	uint64_t bytes = sizeof(*known);

	assert(table->is_finished && index < table->nr_entries);
	known = atomic_load_explicit(&table->known[index], memory_order_acquire);
	if (known)
		return &known->symbol;

	known = make_known(table, index);
	/* Release: who sees the pointer sees the symbol. Acquire: the same, of the winner's. */
	if (!atomic_compare_exchange_strong_explicit(&table->known[index], &expected, known,
						     memory_order_acq_rel, memory_order_acquire)) {
		free(known->demangled);
		free(known);
		return &expected->symbol;
	}
	if (known->demangled)
		bytes += strlen(known->demangled) + 1;
	atomic_fetch_add_explicit(&table->known_bytes, bytes, memory_order_relaxed);
	return &known->symbol;
}

const struct symbol *symbol_table_find(struct symbol_table *table, uint64_t offset)
{
	size_t low = 0, high = table->nr_entries;

	assert(table->is_finished);
	/* The first entry that ends behind @offset; it covers it unless it starts behind too. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (table->entries[mid].end <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == table->nr_entries || table->entries[low].start > offset)
		return NULL;
	return symbol_table_at(table, low);
}

void symbol_table_check_invariants(const struct symbol_table *table)
{
	uint64_t previous_end = 0;

	assert(table->is_finished);
	assert(!table->names.len || !table->names.text[table->names.len - 1]);
	for (size_t i = 0; i < table->nr_entries; i++) {
		const struct entry *entry = &table->entries[i];

		assert(entry->start < entry->end);
		assert(entry->start >= previous_end);
		assert(entry->name < table->names.len);
		assert(entry->object < table->nr_objects);
		previous_end = entry->end;
	}
}
