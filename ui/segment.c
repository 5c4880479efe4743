/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts have fixed buffers: a line is made anew at each draw, and a part that does not
 * fit its buffer would not fit the screen either.
 */
#include "config.h"

#include "ui/segment.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void segments_add(struct segments *segments, int importance, unsigned int style, const char *fmt,
		  ...)
{
	struct segment *part;
	va_list args;

	if (segments->nr >= MAX_SEGMENTS)
		return;
	part = &segments->parts[segments->nr++];
	part->importance = importance;
	part->style = style;
	va_start(args, fmt);
	vsnprintf(part->text, sizeof(part->text), fmt, args);
	va_end(args);
}

static int total_width(const struct segments *segments, const struct screen *screen, int gap)
{
	int total = 0;

	for (size_t i = 0; i < segments->nr; i++)
		total += (i ? gap : 0) + screen_width(screen, segments->parts[i].text, 10000);
	return total;
}

void segments_fit(struct segments *segments, const struct screen *screen, int width, int gap)
{
	while (segments->nr > 1 && total_width(segments, screen, gap) > width) {
		size_t least = 0;

		for (size_t i = 1; i < segments->nr; i++)
			if (segments->parts[i].importance <= segments->parts[least].importance)
				least = i;
		segments->nr--;
		memmove(&segments->parts[least], &segments->parts[least + 1],
			(segments->nr - least) * sizeof(segments->parts[0]));
	}
}

int segments_draw(const struct segments *segments, struct screen *screen, int y, int gap)
{
	int width = screen_nr_columns(screen);
	int x = 0;

	screen_fill(screen, y, 0, width, STYLE_NORMAL);
	for (size_t i = 0; i < segments->nr && x < width; i++) {
		const struct segment *part = &segments->parts[i];

		x += i ? gap : 0;
		x += screen_put(screen, y, x, width - x, part->text, part->style);
	}
	return x;
}
