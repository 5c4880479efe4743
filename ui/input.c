/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curses could decode keys too, but it hands out an unknown sequence as Esc and letters,
 * waits in getch() for what may follow an Esc, and cannot tell "nothing yet" from "the
 * terminal is gone". So bytes are read by terminal.c and decoded here: by a table of
 * sequences first, then by the grammar of control sequences (ECMA-48), which is enough
 * to find the end of one that is not in the table.
 */
#include "config.h"

#include "ui/input.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/text.h"

enum { MAX_BYTES = 256, MAX_SEQUENCES = 96, SEQUENCE_BYTES = 16, ESC = 0x1b };

struct sequence {
	char bytes[SEQUENCE_BYTES]; /* NUL-terminated */
	uint32_t key;
};

struct input {
	char bytes[MAX_BYTES];
	size_t len;
	uint64_t fed_ns; /* when the last byte came */
	struct sequence sequences[MAX_SEQUENCES];
	size_t nr_sequences;
};

static const struct sequence common_sequences[] = {
	{ "\033[A", INPUT_UP },
	{ "\033OA", INPUT_UP },
	{ "\033[B", INPUT_DOWN },
	{ "\033OB", INPUT_DOWN },
	{ "\033[C", INPUT_RIGHT },
	{ "\033OC", INPUT_RIGHT },
	{ "\033[D", INPUT_LEFT },
	{ "\033OD", INPUT_LEFT },
	{ "\033[H", INPUT_HOME },
	{ "\033OH", INPUT_HOME },
	{ "\033[F", INPUT_END },
	{ "\033OF", INPUT_END },
	{ "\033[1~", INPUT_HOME },
	{ "\033[7~", INPUT_HOME },
	{ "\033[4~", INPUT_END },
	{ "\033[8~", INPUT_END },
	{ "\033[2~", INPUT_INSERT },
	{ "\033[3~", INPUT_DELETE },
	{ "\033[5~", INPUT_PAGE_UP },
	{ "\033[6~", INPUT_PAGE_DOWN },
	{ "\033[Z", INPUT_BACK_TAB },
	{ "\033OM", INPUT_ENTER },
	{ "\033[200~", INPUT_PASTE_BEGIN },
	{ "\033[201~", INPUT_PASTE_END },
	{ "\033OP", INPUT_F1 },
	{ "\033[11~", INPUT_F1 },
	{ "\033OQ", INPUT_F1 + 1 },
	{ "\033[12~", INPUT_F1 + 1 },
	{ "\033OR", INPUT_F1 + 2 },
	{ "\033[13~", INPUT_F1 + 2 },
	{ "\033OS", INPUT_F1 + 3 },
	{ "\033[14~", INPUT_F1 + 3 },
	{ "\033[15~", INPUT_F1 + 4 },
	{ "\033[17~", INPUT_F1 + 5 },
	{ "\033[18~", INPUT_F1 + 6 },
	{ "\033[19~", INPUT_F1 + 7 },
	{ "\033[20~", INPUT_F1 + 8 },
	{ "\033[21~", INPUT_F1 + 9 },
	{ "\033[23~", INPUT_F1 + 10 },
	{ "\033[24~", INPUT_F12 },
	{ "\033[[A", INPUT_F1 },
	{ "\033[[B", INPUT_F1 + 1 },
	{ "\033[[C", INPUT_F1 + 2 },
	{ "\033[[D", INPUT_F1 + 3 },
	{ "\033[[E", INPUT_F1 + 4 },
};

struct input *input_new(void)
{
	struct input *input = mem_zalloc(sizeof(*input));

	for (size_t i = 0; i < ARRAY_SIZE(common_sequences); i++)
		input->sequences[input->nr_sequences++] = common_sequences[i];
	return input;
}

void input_free(struct input *input)
{
	free(input);
}

void input_add_sequence(struct input *input, const char *sequence, enum input_key key)
{
	size_t len = strlen(sequence);
	struct sequence *added;

	if (len < 2 || len >= SEQUENCE_BYTES || sequence[0] != ESC ||
	    input->nr_sequences >= MAX_SEQUENCES)
		return;
	/* What terminfo says goes first: it knows this terminal. */
	memmove(&input->sequences[1], &input->sequences[0], input->nr_sequences * sizeof(*added));
	input->nr_sequences++;
	added = &input->sequences[0];
	memcpy(added->bytes, sequence, len + 1);
	added->key = (uint32_t)key;
}

size_t input_room(const struct input *input)
{
	return MAX_BYTES - input->len;
}

void input_feed(struct input *input, const char *bytes, size_t len, uint64_t now_ns)
{
	len = MIN(len, input_room(input));
	memcpy(input->bytes + input->len, bytes, len);
	input->len += len;
	if (len)
		input->fed_ns = now_ns;
}

static void consume(struct input *input, size_t len)
{
	input->len -= len;
	memmove(input->bytes, input->bytes + len, input->len);
}

/* The length of a known sequence at the start, 0: none, -1: it may become one. */
static int match_known(const struct input *input, uint32_t *ret_key)
{
	bool partial = false;

	for (size_t i = 0; i < input->nr_sequences; i++) {
		const struct sequence *sequence = &input->sequences[i];
		size_t len = strlen(sequence->bytes);

		if (memcmp(input->bytes, sequence->bytes, MIN(len, input->len)) != 0)
			continue;
		if (len <= input->len) {
			*ret_key = sequence->key;
			return (int)len;
		}
		partial = true;
	}
	return partial ? -1 : 0;
}

/* The end of a string (OSC, DCS, ...) that a terminal sent as an answer. */
static int match_string(const struct input *input)
{
	for (size_t i = 2; i < input->len; i++) {
		if (input->bytes[i] == '\a')
			return (int)i + 1;
		if (input->bytes[i] == ESC && i + 1 < input->len)
			return (int)i + (input->bytes[i + 1] == '\\' ? 2 : 0);
	}
	return -1;
}

/* The length of the unknown sequence at the start, -1: its end has not come yet. */
static int match_unknown(const struct input *input)
{
	uint32_t code;
	size_t len;

	if (input->len < 2)
		return -1;
	switch (input->bytes[1]) {
	case '[':
		for (size_t i = 2; i < input->len; i++) {
			unsigned char byte = (unsigned char)input->bytes[i];

			if (byte >= 0x40 && byte <= 0x7e)
				return (int)i + 1;
			if (byte < 0x20 || byte > 0x3f)
				return (int)i; /* broken off */
		}
		return -1;
	case 'O':
		return input->len < 3 ? -1 : 3;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		return match_string(input);
	default: /* Alt and a key */
		len = text_utf8_len(input->bytes + 1, input->len - 1, &code);
		return len ? (int)len + 1 : 2;
	}
}

static uint32_t next_escape(struct input *input, bool late)
{
	uint32_t key = INPUT_UNKNOWN;
	int len;

	if (input->len > 1 && input->bytes[1] == ESC) {
		consume(input, 1);
		return INPUT_ESCAPE;
	}
	len = match_known(input, &key);
	if (len == 0)
		len = match_unknown(input);
	if (len > 0) {
		consume(input, (size_t)len);
		return key;
	}
	if (input->len == MAX_BYTES || late) {
		key = input->len == 1 ? INPUT_ESCAPE : INPUT_UNKNOWN;
		input->len = 0;
		return key;
	}
	return INPUT_NONE;
}

static size_t expected_utf8_len(unsigned char lead)
{
	return lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
}

uint32_t input_next(struct input *input, uint64_t now_ns)
{
	bool late = now_ns >= input->fed_ns + INPUT_ESCAPE_NS;

	while (input->len) {
		uint32_t code = 0;
		size_t len;

		if (input->bytes[0] == ESC)
			return next_escape(input, late);
		len = text_utf8_len(input->bytes, input->len, &code);
		if (!len) {
			if (input->len < expected_utf8_len((unsigned char)input->bytes[0]) && !late)
				return INPUT_NONE;
			consume(input, 1); /* no UTF-8: not a key of anything */
			continue;
		}
		consume(input, len);
		if (code == '\r' || code == '\n')
			return INPUT_ENTER;
		return code == 0x7f || code == 0x08 ? (uint32_t)INPUT_BACKSPACE : code;
	}
	return INPUT_NONE;
}

uint64_t input_deadline_ns(const struct input *input)
{
	return input->len ? input->fed_ns + INPUT_ESCAPE_NS : 0;
}

void input_key_name(uint32_t key, char ret_name[static 16])
{
	static const struct {
		uint32_t key;
		const char *name;
	} names[] = {
		{ ' ', "Space" },
		{ '\t', "Tab" },
		{ INPUT_UNKNOWN, "that key" },
		{ INPUT_ESCAPE, "Esc" },
		{ INPUT_ENTER, "Enter" },
		{ INPUT_BACKSPACE, "Backspace" },
		{ INPUT_UP, "Up" },
		{ INPUT_DOWN, "Down" },
		{ INPUT_LEFT, "Left" },
		{ INPUT_RIGHT, "Right" },
		{ INPUT_HOME, "Home" },
		{ INPUT_END, "End" },
		{ INPUT_PAGE_UP, "PgUp" },
		{ INPUT_PAGE_DOWN, "PgDn" },
		{ INPUT_INSERT, "Ins" },
		{ INPUT_DELETE, "Del" },
		{ INPUT_BACK_TAB, "S-Tab" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].key == key) {
			snprintf(ret_name, 16, "%s", names[i].name);
			return;
		}
	}
	if (key >= INPUT_F1 && key <= INPUT_F12)
		snprintf(ret_name, 16, "F%u", key - INPUT_F1 + 1);
	else if (key < 0x20)
		snprintf(ret_name, 16, "^%c", (char)(key + '@'));
	else if (key < 0x7f)
		snprintf(ret_name, 16, "%c", (char)key);
	else
		snprintf(ret_name, 16, "U+%04X", key);
}
