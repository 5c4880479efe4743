/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine view: the figures of symtop itself, section by section.
 *
 * Sections with items are tables, a line an item; the others stand in columns, as many
 * as fit. What does not fit below is scrolled to.
 */
#ifndef SYMTOP_UI_ENGINE_VIEW_H
#define SYMTOP_UI_ENGINE_VIEW_H

#include <stddef.h>

#include "core/snapshot.h"
#include "ui/screen.h"

/* A plain value, zero-initialised. */
struct engine_view {
	size_t top;	/* first line on the screen */
	int nr_visible; /* lines at the last draw */
};

/* Scroll by @by lines; the next draw stops at the end. */
void engine_view_move(struct engine_view *view, long by);

/* Draw on @height lines from @y on. @nr_scan_workers: of the next scan, 0: adaptive. */
void engine_view_draw(struct engine_view *view, const struct snapshot *snapshot,
		      unsigned int nr_scan_workers, struct screen *screen, int y, int height);

#endif /* SYMTOP_UI_ENGINE_VIEW_H */
