/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line made of parts: what does not fit goes part by part, the least important first.
 */
#ifndef SYMTOP_UI_SEGMENT_H
#define SYMTOP_UI_SEGMENT_H

#include <stddef.h>

#include "core/base/compiler.h"
#include "ui/screen.h"

enum { SEGMENT_BYTES = 320, MAX_SEGMENTS = 24 };

struct segment {
	char text[SEGMENT_BYTES];
	unsigned int style;
	int importance; /* higher stays longer */
};

/* A plain value, zero-initialised; parts beyond MAX_SEGMENTS are ignored. */
struct segments {
	struct segment parts[MAX_SEGMENTS];
	size_t nr;
};

void segments_add(struct segments *segments, int importance, unsigned int style, const char *fmt,
		  ...) PRINTF(4, 5);

/* Drop parts until they fit in @width cells with @gap cells between, or one is left. */
void segments_fit(struct segments *segments, const struct screen *screen, int width, int gap);

/* Write the parts over a blank line @y; what still does not fit is cut. Returns the end. */
int segments_draw(const struct segments *segments, struct screen *screen, int y, int gap);

#endif /* SYMTOP_UI_SEGMENT_H */
