/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two arrays. The live maps are sorted by address and never overlap, so a look-up is
 * a binary search. A map that another covers goes to the ended ones, a plain list in
 * the order of ending: it is asked only for samples older than the covering map,
 * which are few, and trimmed.
 *
 * A forked space copies nothing: what it does not know itself it asks of its parent,
 * as of the fork. So a parent keeps its ended maps for as long as a child was forked
 * during their lifetime; for this it lists its children. Chains are short: a space
 * too many generations down copies what its ancestors know and needs no parent.
 * (Sharing one immutable array between parent and child was dropped: a child forked
 * before its parent's scan came in would not see it.)
 *
 * Locks: space.lock guards the maps and the list of children, links included. No two
 * spaces are locked at once, and parent pointers never change, so a chain is walked
 * one lock at a time. What a reader finds between two locks is right all the same:
 * facts about the time before a fork arrive at a parent late, they are never changed.
 * No dso is put under a lock, since the last put closes its file.
 */
#include "config.h"

#include "core/address_space.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/mutex.h"

#define MAX_DEPTH 8
#define MAX_LIVE 16384
#define MAX_ENDED 4096
#define ALIVE UINT64_MAX

struct map {
	uint64_t start, end, pgoff;
	struct dso *dso; /* a reference */
	uint64_t from_ns;
	uint64_t until_ns; /* ALIVE, or when another map covered it */
	uint64_t scan_ns;  /* start of the scan it is known from; 0: from a record */
};

struct map_list {
	struct map *maps;
	size_t nr, nr_allocated;
};

struct address_space {
	_Atomic uint32_t nr_refs;
	_Atomic bool complete; /* released after the maps that make it so */
	uint32_t depth;
	uint64_t from_ns;
	struct address_space *parent;	      /* a reference */
	struct mutex lock;		      /* a leaf */
	struct dso *program GUARDED_BY(lock); /* a reference; NULL: not known */
	struct map_list live GUARDED_BY(lock);
	struct map_list ended GUARDED_BY(lock);
	uint64_t ended_until_ns GUARDED_BY(lock); /* no ended map lived longer */
	struct address_space *first_child GUARDED_BY(lock);
	struct address_space *next_sibling GUARDED_BY(parent.lock);
	struct address_space *previous_sibling GUARDED_BY(parent.lock);
};

/* ---- lists of maps ---- */

/* Append [@start, @end) of @map, with a reference of its own. */
static void list_add(struct map_list *list, const struct map *map, uint64_t start, uint64_t end)
{
	struct map *added;

	mem_grow(list->maps, list->nr, list->nr_allocated);
	added = &list->maps[list->nr++];
	*added = *map;
	added->start = start;
	added->end = end;
	added->pgoff = map->pgoff + (start - map->start);
	dso_get(added->dso);
}

static void list_release(struct map_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		dso_put(list->maps[i].dso);
	free(list->maps);
}

/* Move the reference of @map, which stands in no list any more, to @garbage. */
static void list_move(struct map_list *garbage, const struct map *map)
{
	mem_grow(garbage->maps, garbage->nr, garbage->nr_allocated);
	garbage->maps[garbage->nr++] = *map;
}

/* ---- birth and end ---- */

static void link_child(struct address_space *parent, struct address_space *child)
{
	mutex_lock(&parent->lock);
	child->next_sibling = parent->first_child;
	if (child->next_sibling)
		child->next_sibling->previous_sibling = child;
	parent->first_child = child;
	mutex_unlock(&parent->lock);
}

static void unlink_child(struct address_space *parent, struct address_space *child)
{
	mutex_lock(&parent->lock);
	if (child->previous_sibling)
		child->previous_sibling->next_sibling = child->next_sibling;
	else
		parent->first_child = child->next_sibling;
	if (child->next_sibling)
		child->next_sibling->previous_sibling = child->previous_sibling;
	mutex_unlock(&parent->lock);
}

static bool is_alive_at(const struct map *map, uint64_t time_ns)
{
	return map->from_ns <= time_ns && time_ns < map->until_ns;
}

static void copy_alive_locked(const struct map_list *from, uint64_t time_ns, struct map_list *to)
{
	for (size_t i = 0; i < from->nr; i++) {
		if (is_alive_at(&from->maps[i], time_ns))
			list_add(to, &from->maps[i], from->maps[i].start, from->maps[i].end);
	}
}

static bool insert_locked(struct address_space *space, const struct map *new, bool only_gaps,
			  struct map_list *garbage) REQUIRES(space->lock);

/* What @ancestors know as of the fork of @space; the nearest wins. */
static void copy_ancestors(struct address_space *space, struct address_space *ancestors)
{
	struct map_list found = { 0 };
	struct map_list garbage = { 0 };
	uint64_t time_ns = space->from_ns;

	for (struct address_space *from = ancestors; from; from = from->parent) {
		mutex_lock(&from->lock);
		copy_alive_locked(&from->ended, time_ns, &found);
		copy_alive_locked(&from->live, time_ns, &found);
		mutex_unlock(&from->lock);
		time_ns = MIN(time_ns, from->from_ns);
	}
	mutex_lock(&space->lock);
	for (size_t i = 0; i < found.nr; i++) {
		found.maps[i].from_ns = space->from_ns;
		found.maps[i].until_ns = ALIVE;
		found.maps[i].scan_ns = 0;
		insert_locked(space, &found.maps[i], true, &garbage);
	}
	mutex_unlock(&space->lock);
	list_release(&found);
	list_release(&garbage);
}

struct address_space *address_space_new(uint64_t from_ns, struct address_space *parent)
{
	struct address_space *space = mem_zalloc(sizeof(*space));

	atomic_init(&space->nr_refs, 1);
	mutex_init(&space->lock);
	space->from_ns = from_ns;
	if (parent && parent->depth + 1 >= MAX_DEPTH) {
		atomic_init(&space->complete, address_space_is_complete(parent));
		copy_ancestors(space, parent);
	} else if (parent) {
		space->depth = parent->depth + 1;
		space->parent = address_space_get(parent);
		link_child(parent, space);
	}
	return space;
}

struct address_space *address_space_get(struct address_space *space)
{
	atomic_fetch_add_explicit(&space->nr_refs, 1, memory_order_relaxed);
	return space;
}

void address_space_put(struct address_space *space)
{
	/* Release and acquire: what others did with it comes before the free(). */
	while (space && atomic_fetch_sub_explicit(&space->nr_refs, 1, memory_order_acq_rel) == 1) {
		struct address_space *parent = space->parent;

		if (parent)
			unlink_child(parent, space);
		dso_put(space->program);
		list_release(&space->live);
		list_release(&space->ended);
		mutex_release(&space->lock);
		free(space);
		space = parent;
	}
}

uint64_t address_space_from(const struct address_space *space)
{
	return space->from_ns;
}

void address_space_set_complete(struct address_space *space)
{
	atomic_store_explicit(&space->complete, true, memory_order_release);
}

bool address_space_is_complete(const struct address_space *space)
{
	for (; space; space = space->parent) {
		if (atomic_load_explicit(&space->complete, memory_order_acquire))
			return true;
	}
	return false;
}

/* ---- maps come and go ---- */

/* The same place for every address that both cover. */
static bool is_same_place(const struct map *a, const struct map *b)
{
	return a->dso == b->dso && a->start - a->pgoff == b->start - b->pgoff;
}

static void end_locked(struct address_space *space, const struct map *map, uint64_t start,
		       uint64_t end, uint64_t until_ns, struct map_list *garbage)
	REQUIRES(space->lock)
{
	struct map_list *ended = &space->ended;

	if (ended->nr >= MAX_ENDED) {
		/* The oldest quarter at once, so that moving the rest stays cheap. */
		for (size_t i = 0; i < MAX_ENDED / 4; i++)
			list_move(garbage, &ended->maps[i]);
		ended->nr -= MAX_ENDED / 4;
		memmove(ended->maps, ended->maps + MAX_ENDED / 4, ended->nr * sizeof(*ended->maps));
	}
	list_add(ended, map, start, end);
	ended->maps[ended->nr - 1].until_ns = until_ns;
	space->ended_until_ns = MAX(space->ended_until_ns, until_ns);
}

/* First live map that ends after @addr. */
static size_t search_locked(const struct address_space *space, uint64_t addr) REQUIRES(space->lock)
{
	size_t low = 0;
	size_t high = space->live.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->live.maps[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Put @pieces, references and all, in the place of live maps [@first, @last). */
static void splice_locked(struct address_space *space, size_t first, size_t last,
			  const struct map_list *pieces, struct map_list *garbage)
	REQUIRES(space->lock)
{
	struct map_list *live = &space->live;
	size_t nr_after = live->nr - last;

	for (size_t i = first; i < last; i++)
		list_move(garbage, &live->maps[i]);
	while (live->nr_allocated < first + pieces->nr + nr_after)
		mem_grow(live->maps, live->nr_allocated, live->nr_allocated);
	memmove(live->maps + first + pieces->nr, live->maps + last, nr_after * sizeof(*live->maps));
	memcpy(live->maps + first, pieces->maps, pieces->nr * sizeof(*pieces->maps));
	live->nr = first + pieces->nr + nr_after;
}

/* Is @old to stay where @new covers it? */
static bool stays(const struct map *old, const struct map *new, bool only_gaps)
{
	if (only_gaps || is_same_place(old, new))
		return true;
	return !old->scan_ns && old->from_ns > new->from_ns;
}

/*
 * @new meets the live map @old: what becomes of @old goes to @pieces, but for what is
 * behind @new. *@cursor is how far @new is placed. True: @old is something else.
 */
static bool meet_locked(struct address_space *space, struct map *old, const struct map *new,
			bool only_gaps, uint64_t *cursor, struct map_list *pieces,
			struct map_list *garbage) REQUIRES(space->lock)
{
	uint64_t start = MAX(old->start, new->start);
	uint64_t end = MIN(old->end, new->end);

	if (stays(old, new, only_gaps)) {
		if (*cursor < start)
			list_add(pieces, new, *cursor, start);
		/* A record that comes late says what was there until the newer one. */
		if (!only_gaps && !is_same_place(old, new))
			end_locked(space, new, start, end, old->from_ns, garbage);
		if (is_same_place(old, new) && !new->scan_ns)
			old->scan_ns = 0;
		list_add(pieces, old, old->start, old->end);
		*cursor = end;
		return !only_gaps && !is_same_place(old, new);
	}
	if (old->start < start)
		list_add(pieces, old, old->start, start);
	/* A scan that began after @new came cannot tell what was there before. */
	if (old->from_ns < new->from_ns && old->scan_ns < new->from_ns)
		end_locked(space, old, start, end, new->from_ns, garbage);
	return true;
}

static bool insert_locked(struct address_space *space, const struct map *new, bool only_gaps,
			  struct map_list *garbage)
{
	size_t first = search_locked(space, new->start);
	struct map_list pieces = { 0 };
	uint64_t cursor = new->start;
	bool met_other = false;
	size_t last = first;

	if (space->live.nr >= MAX_LIVE)
		return false;
	while (last < space->live.nr && space->live.maps[last].start < new->end) {
		met_other |= meet_locked(space, &space->live.maps[last], new, only_gaps, &cursor,
					 &pieces, garbage);
		last++;
	}
	if (cursor < new->end)
		list_add(&pieces, new, cursor, new->end);
	/* Only the last one can reach beyond @new; one that stays was added whole. */
	if (last > first) {
		struct map *old = &space->live.maps[last - 1];

		if (old->end > new->end && !stays(old, new, only_gaps))
			list_add(&pieces, old, new->end, old->end);
	}
	splice_locked(space, first, last, &pieces, garbage);
	free(pieces.maps);
	return met_other;
}

bool address_space_map(struct address_space *space, uint64_t start, uint64_t end, uint64_t pgoff,
		       struct dso *dso, uint64_t time_ns, bool synthesized)
{
	struct map_list garbage = { 0 };
	struct map map = {
		.start = start,
		.end = end,
		.pgoff = pgoff,
		.dso = dso,
		.from_ns = synthesized ? space->from_ns : time_ns,
		.until_ns = ALIVE,
		.scan_ns = synthesized ? MAX(time_ns, 1) : 0,
	};
	bool met_other;

	if (start >= end)
		return false;
	mutex_lock(&space->lock);
	/* The first map of a space that is complete without any: of an exec. */
	if (!space->live.nr && !space->parent && dso_kind(dso) == DSO_FILE &&
	    address_space_is_complete(space) && !space->program)
		space->program = dso_get(dso);
	met_other = insert_locked(space, &map, synthesized, &garbage);
	mutex_unlock(&space->lock);
	list_release(&garbage);
	return met_other;
}

static void drop_synthesized_locked(struct map_list *list, struct map_list *garbage)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (list->maps[i].scan_ns)
			list_move(garbage, &list->maps[i]);
		else
			list->maps[nr++] = list->maps[i];
	}
	list->nr = nr;
}

void address_space_drop_synthesized(struct address_space *space)
{
	struct map_list garbage = { 0 };

	mutex_lock(&space->lock);
	atomic_store_explicit(&space->complete, false, memory_order_relaxed);
	drop_synthesized_locked(&space->live, &garbage);
	drop_synthesized_locked(&space->ended, &garbage);
	mutex_unlock(&space->lock);
	list_release(&garbage);
}

/* ---- questions ---- */

static const struct map *find_locked(const struct address_space *space, uint64_t ip,
				     uint64_t time_ns) REQUIRES(space->lock)
{
	size_t index = search_locked(space, ip);
	const struct map *best = NULL;

	if (index < space->live.nr) {
		const struct map *map = &space->live.maps[index];

		if (map->start <= ip && map->from_ns <= time_ns)
			return map;
	}
	if (time_ns >= space->ended_until_ns)
		return NULL;
	/* The youngest that fits: records that came late left the older ones as they were. */
	for (size_t i = 0; i < space->ended.nr; i++) {
		const struct map *map = &space->ended.maps[i];

		if (map->start <= ip && ip < map->end && is_alive_at(map, time_ns) &&
		    (!best || best->from_ns <= map->from_ns))
			best = map;
	}
	return best;
}

void address_space_locate_many(struct address_space *space, const uint64_t *ips, size_t nr_ips,
			       uint64_t time_ns, struct location *ret_locations, bool *ret_found)
{
	size_t nr_left = nr_ips;

	while (space && nr_left) {
		nr_left = 0;
		mutex_lock(&space->lock);
		for (size_t i = 0; i < nr_ips; i++) {
			const struct map *map;

			if (ret_found[i])
				continue;
			map = find_locked(space, ips[i], time_ns);
			if (!map) {
				nr_left++;
				continue;
			}
			ret_locations[i].dso = dso_get(map->dso);
			ret_locations[i].offset = ips[i] - map->start + map->pgoff;
			ret_found[i] = true;
		}
		mutex_unlock(&space->lock);
		time_ns = MIN(time_ns, space->from_ns);
		space = space->parent;
	}
}

bool address_space_locate(struct address_space *space, uint64_t ip, uint64_t time_ns,
			  struct location *ret_location)
{
	bool found = false;

	address_space_locate_many(space, &ip, 1, time_ns, ret_location, &found);
	return found;
}

/* ---- all of them ---- */

struct walked {
	struct map_view map; /* with a reference to its dso */
	size_t order;	     /* of those that came at the same time */
};

struct walk {
	struct walked *walked;
	size_t nr, nr_allocated;
};

static void walk_add(struct walk *walk, const struct map *map, uint64_t from_ns)
{
	mem_grow(walk->walked, walk->nr, walk->nr_allocated);
	walk->walked[walk->nr] = (struct walked){
		.map = { .start = map->start,
			 .end = map->end,
			 .pgoff = map->pgoff,
			 .dso = dso_get(map->dso),
			 .from_ns = from_ns },
		.order = walk->nr,
	};
	walk->nr++;
}

static void walk_own_locked(struct walk *walk, const struct map_list *list, uint64_t since_ns)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (list->maps[i].until_ns > since_ns)
			walk_add(walk, &list->maps[i], list->maps[i].from_ns);
	}
}

static void walk_inherited_locked(struct walk *walk, const struct map_list *list, uint64_t time_ns,
				  uint64_t born_ns)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (is_alive_at(&list->maps[i], time_ns))
			walk_add(walk, &list->maps[i], born_ns);
	}
}

/* As of the fork of each; the nearest last. */
static void walk_ancestors(struct walk *walk, const struct address_space *space)
{
	struct address_space *ancestors[MAX_DEPTH];
	uint64_t times_ns[MAX_DEPTH];
	uint64_t time_ns = space->from_ns;
	size_t nr = 0;

	for (struct address_space *from = space->parent; from; from = from->parent) {
		ancestors[nr] = from;
		times_ns[nr++] = time_ns;
		time_ns = MIN(time_ns, from->from_ns);
	}
	while (nr--) {
		struct address_space *from = ancestors[nr];

		mutex_lock(&from->lock);
		walk_inherited_locked(walk, &from->ended, times_ns[nr], space->from_ns);
		walk_inherited_locked(walk, &from->live, times_ns[nr], space->from_ns);
		mutex_unlock(&from->lock);
	}
}

static int compare_walked(const void *left_arg, const void *right_arg)
{
	const struct walked *left = left_arg, *right = right_arg;

	if (left->map.from_ns != right->map.from_ns)
		return left->map.from_ns < right->map.from_ns ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

void address_space_walk(struct address_space *space, uint64_t since_ns,
			void (*each)(void *arg, const struct map_view *map), void *arg)
{
	struct walk walk = { 0 };

	walk_ancestors(&walk, space);
	mutex_lock(&space->lock);
	walk_own_locked(&walk, &space->ended, since_ns);
	walk_own_locked(&walk, &space->live, since_ns);
	mutex_unlock(&space->lock);
	if (walk.nr)
		qsort(walk.walked, walk.nr, sizeof(*walk.walked), compare_walked);
	for (size_t i = 0; i < walk.nr; i++) {
		each(arg, &walk.walked[i].map);
		dso_put(walk.walked[i].map.dso);
	}
	free(walk.walked);
}

bool address_space_is_inside_program(struct address_space *space, uint64_t start, uint64_t end)
{
	bool is_inside = false;
	size_t index;

	mutex_lock(&space->lock);
	index = search_locked(space, start);
	if (index < space->live.nr && space->program) {
		const struct map *map = &space->live.maps[index];

		is_inside = map->dso == space->program && map->start <= start && end <= map->end;
	}
	mutex_unlock(&space->lock);
	return is_inside;
}

size_t address_space_nr_maps(struct address_space *space)
{
	size_t nr;

	mutex_lock(&space->lock);
	nr = space->live.nr + space->ended.nr;
	mutex_unlock(&space->lock);
	return nr;
}

/* Was a space forked during the lifetime of @map that may still ask for it? */
static bool is_inherited_locked(const struct address_space *space, const struct map *map)
	REQUIRES(space->lock)
{
	for (const struct address_space *child = space->first_child; child;
	     child = child->next_sibling) {
		if (is_alive_at(map, child->from_ns))
			return true;
	}
	return false;
}

bool address_space_trim(struct address_space *space, uint64_t time_ns)
{
	struct map_list garbage = { 0 };
	struct map_list *ended = &space->ended;
	size_t nr = 0;
	bool left;

	mutex_lock(&space->lock);
	for (size_t i = 0; i < ended->nr; i++) {
		const struct map *map = &ended->maps[i];

		if (map->until_ns < time_ns && !is_inherited_locked(space, map))
			list_move(&garbage, map);
		else
			ended->maps[nr++] = *map;
	}
	ended->nr = nr;
	left = nr > 0;
	mutex_unlock(&space->lock);
	list_release(&garbage);
	return left;
}

void address_space_check_invariants(struct address_space *space)
{
	uint64_t previous_end = 0;

	mutex_lock(&space->lock);
	assert(space->live.nr <= 2 * MAX_LIVE + 1); /* the last one had gaps to fill */
	for (size_t i = 0; i < space->live.nr; i++) {
		const struct map *map = &space->live.maps[i];

		assert(previous_end <= map->start && map->start < map->end);
		assert(map->dso && map->until_ns == ALIVE);
		previous_end = map->end;
	}
	assert(space->ended.nr <= MAX_ENDED);
	for (size_t i = 0; i < space->ended.nr; i++) {
		const struct map *map = &space->ended.maps[i];

		assert(map->start < map->end && map->dso);
		assert(map->from_ns < map->until_ns && map->until_ns <= space->ended_until_ns);
	}
	for (const struct address_space *child = space->first_child; child;
	     child = child->next_sibling) {
		assert(child->parent == space && child->depth == space->depth + 1);
		assert(!child->next_sibling || child->next_sibling->previous_sibling == child);
	}
	mutex_unlock(&space->lock);
	assert(space->depth < MAX_DEPTH && (space->parent || !space->depth));
}
