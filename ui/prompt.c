/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The usual editing keys (those of readline), one table row each. The text stays valid
 * UTF-8 at all times because characters go in and out whole.
 */
#include "config.h"

#include "ui/prompt.h"

#include <string.h>
#include <wchar.h>

#include "core/base/compiler.h"
#include "core/base/text.h"
#include "ui/input.h"

void prompt_init(struct prompt *prompt, const char *label, const char *text)
{
	size_t i = 0;
	size_t len = strlen(text);
	uint32_t code;

	*prompt = (struct prompt){ .label = label };
	while (i < len) {
		size_t nr = text_utf8_len(text + i, len - i, &code);

		if (!nr || i + nr >= PROMPT_BYTES)
			break;
		i += nr;
	}
	memcpy(prompt->text, text, i);
	prompt->len = i;
	prompt->cursor = i;
}

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t before(const struct prompt *prompt, size_t offset)
{
	while (offset > 0 && is_continuation(prompt->text[--offset]))
		;
	return offset;
}

static size_t after(const struct prompt *prompt, size_t offset)
{
	if (offset >= prompt->len)
		return prompt->len;
	for (offset++; offset < prompt->len && is_continuation(prompt->text[offset]); offset++)
		;
	return offset;
}

static enum prompt_result erase(struct prompt *prompt, size_t from, size_t to)
{
	if (from == to)
		return PROMPT_MOVED;
	memmove(prompt->text + from, prompt->text + to, prompt->len - to + 1);
	prompt->len -= to - from;
	prompt->cursor = from;
	return PROMPT_CHANGED;
}

static enum prompt_result insert(struct prompt *prompt, uint32_t code)
{
	char bytes[4];
	size_t len = screen_encode(code, bytes);

	if (prompt->len + len >= PROMPT_BYTES)
		return PROMPT_IGNORED;
	memmove(prompt->text + prompt->cursor + len, prompt->text + prompt->cursor,
		prompt->len - prompt->cursor + 1);
	memcpy(prompt->text + prompt->cursor, bytes, len);
	prompt->len += len;
	prompt->cursor += len;
	return PROMPT_CHANGED;
}

static enum prompt_result move(struct prompt *prompt, size_t offset)
{
	prompt->cursor = offset;
	return PROMPT_MOVED;
}

static enum prompt_result go_left(struct prompt *prompt)
{
	return move(prompt, before(prompt, prompt->cursor));
}

static enum prompt_result go_right(struct prompt *prompt)
{
	return move(prompt, after(prompt, prompt->cursor));
}

static enum prompt_result go_home(struct prompt *prompt)
{
	return move(prompt, 0);
}

static enum prompt_result go_end(struct prompt *prompt)
{
	return move(prompt, prompt->len);
}

static enum prompt_result erase_before(struct prompt *prompt)
{
	return erase(prompt, before(prompt, prompt->cursor), prompt->cursor);
}

static enum prompt_result erase_after(struct prompt *prompt)
{
	return erase(prompt, prompt->cursor, after(prompt, prompt->cursor));
}

static enum prompt_result erase_to_start(struct prompt *prompt)
{
	return erase(prompt, 0, prompt->cursor);
}

static enum prompt_result erase_to_end(struct prompt *prompt)
{
	return erase(prompt, prompt->cursor, prompt->len);
}

static enum prompt_result erase_word(struct prompt *prompt)
{
	size_t start = prompt->cursor;

	while (start > 0 && prompt->text[start - 1] == ' ')
		start--;
	while (start > 0 && prompt->text[start - 1] != ' ')
		start--;
	return erase(prompt, start, prompt->cursor);
}

static enum prompt_result accept(struct prompt *prompt UNUSED)
{
	return PROMPT_ACCEPTED;
}

static enum prompt_result leave(struct prompt *prompt UNUSED)
{
	return PROMPT_LEFT;
}

static const struct {
	uint32_t key;
	enum prompt_result (*run)(struct prompt *prompt);
} edit_keys[] = {
	{ INPUT_LEFT, go_left },
	{ INPUT_CTRL('B'), go_left },
	{ INPUT_RIGHT, go_right },
	{ INPUT_CTRL('F'), go_right },
	{ INPUT_HOME, go_home },
	{ INPUT_CTRL('A'), go_home },
	{ INPUT_END, go_end },
	{ INPUT_CTRL('E'), go_end },
	{ INPUT_BACKSPACE, erase_before },
	{ INPUT_DELETE, erase_after },
	{ INPUT_CTRL('D'), erase_after },
	{ INPUT_CTRL('U'), erase_to_start },
	{ INPUT_CTRL('K'), erase_to_end },
	{ INPUT_CTRL('W'), erase_word },
	{ INPUT_ENTER, accept },
	{ INPUT_ESCAPE, leave },
	{ INPUT_CTRL('C'), leave },
	{ INPUT_CTRL('G'), leave },
};

enum prompt_result prompt_key(struct prompt *prompt, uint32_t key)
{
	if (key == INPUT_PASTE_BEGIN || key == INPUT_PASTE_END) {
		prompt->pasting = key == INPUT_PASTE_BEGIN;
		return PROMPT_IGNORED;
	}
	/* A paste whose end never comes must not hold the prompt: ^C leaves it. */
	if (prompt->pasting && key != INPUT_CTRL('C')) {
		if (key == INPUT_ENTER || key == '\t')
			key = ' ';
		return key >= 0x20 && key < INPUT_NONE ? insert(prompt, key) : PROMPT_IGNORED;
	}
	for (size_t i = 0; i < ARRAY_SIZE(edit_keys); i++)
		if (edit_keys[i].key == key)
			return edit_keys[i].run(prompt);
	if (key < 0x20 || (key >= 0x7f && key < 0xa0) || key >= INPUT_NONE)
		return PROMPT_IGNORED;
	return insert(prompt, key);
}

void prompt_draw(const struct prompt *prompt, struct screen *screen, int y)
{
	int columns = screen_nr_columns(screen);
	char ahead[PROMPT_BYTES];
	int skip = 0;
	int cursor;
	int x;

	screen_fill(screen, y, 0, columns, STYLE_NORMAL);
	/* On a narrow screen what is typed matters more than what it is for. */
	x = columns >= 24 ? screen_put(screen, y, 0, columns / 2, prompt->label, STYLE_BOLD) : 0;
	memcpy(ahead, prompt->text, prompt->cursor);
	ahead[prompt->cursor] = '\0';
	cursor = screen_width(screen, ahead, PROMPT_BYTES);
	if (cursor >= columns - x)
		skip = cursor - (columns - x) + 1;
	screen_put_from(screen, y, x, columns - x, skip, prompt->text, STYLE_NORMAL);
	screen_set_cursor(screen, y, x + cursor - skip);
}
