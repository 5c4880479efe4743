/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of text to scroll through: the help page, the detail of a row.
 *
 * The owner clears and fills it before each draw; only the position stays.
 */
#ifndef SYMTOP_UI_PAGER_H
#define SYMTOP_UI_PAGER_H

#include <stddef.h>
#include <stdint.h>

#include "ui/screen.h"

struct pager_line {
	char *text;
	unsigned int style;
	int indent;
};

/* Zero-initialised it is empty. */
struct pager {
	struct pager_line *lines;
	size_t nr, nr_allocated;
	size_t top;	/* first line on the screen */
	int nr_visible; /* lines at the last draw */
};

enum pager_result { PAGER_IGNORED, PAGER_MOVED, PAGER_LEFT };

void pager_release(struct pager *pager);

/* Forget the lines, not the position. */
void pager_clear(struct pager *pager);

/*
 * Add @text, broken into as many lines as it takes on @screen; those after the first
 * are indented by @indent cells.
 */
void pager_add(struct pager *pager, const struct screen *screen, int indent, unsigned int style,
	       const char *fmt, ...) PRINTF(5, 6);

enum pager_result pager_key(struct pager *pager, uint32_t key);

/* Draw on @height lines from @y on. */
void pager_draw(struct pager *pager, struct screen *screen, int y, int height);

#endif /* SYMTOP_UI_PAGER_H */
