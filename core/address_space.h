/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one process had mapped, and when.
 *
 * An address space begins with fork or exec and never changes identity. Its maps
 * have a lifetime [from, until) in event time; the kernel tells of new executable
 * maps but not of unmapped ones, so a map ends when another covers it. A forked
 * space falls back on its parent's as of the fork. Facts that came through a ring
 * win over synthesized ones, which say only what /proc looked like at one moment.
 *
 * Threads: any worker. Each space has a lock of its own, a leaf: it is taken after a
 * thread table's shard lock if at all, and never together with another space's.
 */
#ifndef SYMTOP_CORE_ADDRESS_SPACE_H
#define SYMTOP_CORE_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "symbols/dso.h"

struct address_space;

/* Where an address is: what symbols are looked up by. */
struct location {
	struct dso *dso; /* a reference, the caller's to put */
	uint64_t offset;
};

/* Born at @from_ns (0: before we came). @parent may be NULL; a reference is taken. */
struct address_space *address_space_new(uint64_t from_ns, struct address_space *parent);
struct address_space *address_space_get(struct address_space *space);
void address_space_put(struct address_space *space); /* NULL is fine */

uint64_t address_space_from(const struct address_space *space); /* when it was born */

/*
 * Complete: everything mapped before the space was made known is in it, because it
 * began with an exec or was scanned. A forked space is complete with its parent.
 */
void address_space_set_complete(struct address_space *space);
bool address_space_is_complete(const struct address_space *space);

/*
 * [@start, @end) maps @dso at file offset @pgoff from @time_ns on. Takes its own
 * reference. @synthesized: read from /proc by a scan that began at @time_ns; then
 * the map counts from the birth of the space on, and only where no other fact is.
 * True: something else was mapped there before. A space holds a limited number of
 * maps; what is too many is ignored.
 */
bool address_space_map(struct address_space *space, uint64_t start, uint64_t end, uint64_t pgoff,
		       struct dso *dso, uint64_t time_ns, bool synthesized);

/*
 * Forget the synthesized maps: the scan may have seen another image (exec in between).
 * The space is not complete any more.
 */
void address_space_drop_synthesized(struct address_space *space);

/* Where was @ip at @time_ns? False: no map known there. */
bool address_space_locate(struct address_space *space, uint64_t ip, uint64_t time_ns,
			  struct location *ret_location);

/*
 * The same for many. Looks only for those whose @ret_found is false, and sets it with
 * the location where it finds them.
 */
void address_space_locate_many(struct address_space *space, const uint64_t *ips, size_t nr_ips,
			       uint64_t time_ns, struct location *ret_locations, bool *ret_found);

/* One map, as who walks over them sees it. */
struct map_view {
	uint64_t start, end, pgoff;
	struct dso *dso;  /* borrowed during the call */
	uint64_t from_ns; /* a scanned or inherited one: the birth of the space */
};

/*
 * All maps that were there at @since_ns or later, in the order in which they came, so that
 * who puts each over what it has ends up with what a look-up finds. What is inherited
 * comes first. @each is called without a lock.
 */
void address_space_walk(struct address_space *space, uint64_t since_ns,
			void (*each)(void *arg, const struct map_view *map), void *arg);

/*
 * Is [@start, @end) inside a map of the program itself, the first thing mapped in a
 * space that began with an exec? It cannot be unmapped, so what comes to lie there
 * is a copy of its code.
 */
bool address_space_is_inside_program(struct address_space *space, uint64_t start, uint64_t end);

/* Number of maps, dead ones included. */
size_t address_space_nr_maps(struct address_space *space);

/*
 * Ended maps whose lifetime ended before @time_ns are forgotten, but for those that a
 * forked space still falls back on. True: ended maps are left.
 */
bool address_space_trim(struct address_space *space, uint64_t time_ns);

void address_space_check_invariants(struct address_space *space);

#endif /* SYMTOP_CORE_ADDRESS_SPACE_H */
