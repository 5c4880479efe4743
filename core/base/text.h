/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from outside made fit for a screen, a report or JSON.
 *
 * Names are bytes: a comm, a path, a symbol may hold control characters, half a
 * multibyte character, anything. They are kept as they came and made printable
 * here, once, when a snapshot is made. Any thread.
 */
#ifndef SYMTOP_CORE_BASE_TEXT_H
#define SYMTOP_CORE_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

/*
 * A growing string. Zero-initialised it is empty and usable; text is NULL until
 * something is added, and NUL-terminated after.
 */
struct textbuf {
	char *text;
	size_t len;
	size_t nr_allocated;
};

void textbuf_release(struct textbuf *buf);
void textbuf_clear(struct textbuf *buf);
void textbuf_add(struct textbuf *buf, const char *text, size_t len);
void textbuf_puts(struct textbuf *buf, const char *text);
void textbuf_printf(struct textbuf *buf, const char *fmt, ...) PRINTF(2, 3);

/*
 * Append @text as valid UTF-8 without control characters: C0, DEL and C1 become
 * \xNN, bytes that are no UTF-8 (overlong forms and surrogates included) and the
 * line and paragraph separators U+2028/9 and bidirectional controls become
 * \xNN byte by byte. What is good passes unchanged.
 */
void text_add_printable(struct textbuf *buf, const char *text, size_t len);

/* The same for one string; the result is the caller's, who frees it. */
char *text_printable(const char *text) MUST_CHECK;

/* Append @text as a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD. */
void text_add_json(struct textbuf *buf, const char *text);

/* Length in bytes of the well-formed UTF-8 sequence at @text (1-4), or 0. */
size_t text_utf8_len(const char *text, size_t len, uint32_t *ret_code_point);

/* 1234567 -> "1.23M": three significant digits; at most 8 bytes with the NUL. */
void text_si(double value, char ret_text[static 16]);

#endif /* SYMTOP_CORE_BASE_TEXT_H */
