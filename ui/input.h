/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes from the terminal become keys.
 *
 * A key is a code point (control characters as they are, 0x0c is ^L) or an input_key. An
 * escape sequence nobody knows is one INPUT_UNKNOWN, never Esc and letters. A lone
 * Esc is one when nothing followed it for INPUT_ESCAPE_NS: see input_deadline_ns().
 */
#ifndef SYMTOP_UI_INPUT_H
#define SYMTOP_UI_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"

#define INPUT_ESCAPE_NS (50 * NSEC_PER_MSEC)

enum input_key {
	INPUT_NONE = 0x110000, /* no complete key now */
	INPUT_UNKNOWN,	       /* a key without a name here */
	INPUT_ESCAPE,
	INPUT_ENTER,
	INPUT_BACKSPACE,
	INPUT_UP,
	INPUT_DOWN,
	INPUT_LEFT,
	INPUT_RIGHT,
	INPUT_HOME,
	INPUT_END,
	INPUT_PAGE_UP,
	INPUT_PAGE_DOWN,
	INPUT_INSERT,
	INPUT_DELETE,
	INPUT_BACK_TAB,
	INPUT_PASTE_BEGIN, /* what follows until INPUT_PASTE_END was pasted */
	INPUT_PASTE_END,
	INPUT_F1, /* F2 and so on follow */
	INPUT_F12 = INPUT_F1 + 11,
};

/* ^L is INPUT_CTRL('L') */
#define INPUT_CTRL(letter) ((uint32_t)(letter)&0x1f)

struct input;

/* Knows the usual sequences of ANSI terminals. The caller's, ends with input_free(). */
struct input *input_new(void) MUST_CHECK;
void input_free(struct input *input); /* NULL is fine */

/* One more sequence, from terminfo; such that do not start with Esc are ignored. */
void input_add_sequence(struct input *input, const char *sequence, enum input_key key);

/* How many bytes input_feed() takes now; never 0 after input_next() said INPUT_NONE. */
size_t input_room(const struct input *input);

/* Take bytes as they were read at @now_ns; what there is no room for is lost. */
void input_feed(struct input *input, const char *bytes, size_t len, uint64_t now_ns);

/* The next key, or INPUT_NONE. */
uint32_t input_next(struct input *input, uint64_t now_ns);

/* When an incomplete sequence becomes a key by itself; 0: there is none. */
uint64_t input_deadline_ns(const struct input *input);

/* "F1" "^L" "Space" "x" as a person calls it; INPUT_UNKNOWN is "that key". */
void input_key_name(uint32_t key, char ret_name[static 16]);

#endif /* SYMTOP_UI_INPUT_H */
