/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line to type in, on the last line of the screen.
 *
 * The text is UTF-8; the cursor stands between characters. Pasted text is only ever
 * text: its line ends become blanks, its other control characters are dropped.
 */
#ifndef SYMTOP_UI_PROMPT_H
#define SYMTOP_UI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/screen.h"

enum { PROMPT_BYTES = 256 };

/* A plain value. */
struct prompt {
	const char *label; /* borrowed: a literal */
	char text[PROMPT_BYTES];
	size_t len;
	size_t cursor; /* byte offset */
	bool pasting;
};

enum prompt_result { PROMPT_IGNORED, PROMPT_MOVED, PROMPT_CHANGED, PROMPT_ACCEPTED, PROMPT_LEFT };

/* Start with @text (cut to what fits), cursor at its end. */
void prompt_init(struct prompt *prompt, const char *label, const char *text);

/* PROMPT_LEFT: given up with Esc, ^C or ^G. */
enum prompt_result prompt_key(struct prompt *prompt, uint32_t key);

/* Draw on line @y and set the screen's cursor. */
void prompt_draw(const struct prompt *prompt, struct screen *screen, int y);

#endif /* SYMTOP_UI_PROMPT_H */
