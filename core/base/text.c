/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UTF-8 is decoded by hand (RFC 3629): mbrtowc() depends on the locale, and names
 * must read the same whatever the locale is.
 */
#include "config.h"

#include "core/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

void textbuf_release(struct textbuf *buf)
{
	free(buf->text);
	*buf = (struct textbuf){ 0 };
}

void textbuf_clear(struct textbuf *buf)
{
	buf->len = 0;
	if (buf->text)
		buf->text[0] = '\0';
}

static void textbuf_reserve(struct textbuf *buf, size_t len)
{
	size_t need = buf->len + len + 1;

	if (need <= buf->nr_allocated)
		return;
	buf->nr_allocated = MAX(need, MAX(2 * buf->nr_allocated, (size_t)64));
	buf->text = mem_resize(buf->text, buf->nr_allocated, 1);
}

void textbuf_add(struct textbuf *buf, const char *text, size_t len)
{
	textbuf_reserve(buf, len);
	memcpy(buf->text + buf->len, text, len);
	buf->len += len;
	buf->text[buf->len] = '\0';
}

void textbuf_puts(struct textbuf *buf, const char *text)
{
	textbuf_add(buf, text, strlen(text));
}

void textbuf_printf(struct textbuf *buf, const char *fmt, ...)
{
	va_list args, again;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len > 0) {
		textbuf_reserve(buf, (size_t)len);
		vsnprintf(buf->text + buf->len, (size_t)len + 1, fmt, again);
		buf->len += (size_t)len;
	}
	va_end(again);
}

size_t text_utf8_len(const char *text, size_t len, uint32_t *ret_code_point)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text;
	uint32_t code;
	size_t nr;

	if (!len)
		return 0;
	if (bytes[0] < 0x80) {
		*ret_code_point = bytes[0];
		return 1;
	}
	if ((bytes[0] & 0xe0) == 0xc0) {
		nr = 2;
		code = bytes[0] & 0x1f;
	} else if ((bytes[0] & 0xf0) == 0xe0) {
		nr = 3;
		code = bytes[0] & 0x0f;
	} else if ((bytes[0] & 0xf8) == 0xf0) {
		nr = 4;
		code = bytes[0] & 0x07;
	} else {
		return 0;
	}
	if (nr > len)
		return 0;
	for (size_t i = 1; i < nr; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < smallest[nr] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code_point = code;
	return nr;
}

static bool is_printable(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		return false;
	/* Separators that end a line, and marks that reorder what follows. */
	if (code == 0x061c || code == 0x2028 || code == 0x2029 || code == 0x200e ||
	    code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
	    (code >= 0x2066 && code <= 0x2069))
		return false;
	return code != 0xfeff;
}

void text_add_printable(struct textbuf *buf, const char *text, size_t len)
{
	size_t start = 0;
	size_t i = 0;

	while (i < len) {
		uint32_t code = 0;
		size_t nr = text_utf8_len(text + i, len - i, &code);

		if (nr && is_printable(code)) {
			i += nr;
			continue;
		}
		textbuf_add(buf, text + start, i - start);
		if (!nr)
			nr = 1;
		for (; nr; nr--, i++)
			textbuf_printf(buf, "\\x%02x", (unsigned char)text[i]);
		start = i;
	}
	textbuf_add(buf, text + start, i - start);
}

char *text_printable(const char *text)
{
	struct textbuf buf = { 0 };

	text_add_printable(&buf, text, strlen(text));
	return buf.text;
}

void text_add_json(struct textbuf *buf, const char *text)
{
	size_t len = strlen(text);

	textbuf_add(buf, "\"", 1);
	for (size_t i = 0; i < len;) {
		uint32_t code = 0;
		size_t nr = text_utf8_len(text + i, len - i, &code);

		if (!nr) {
			textbuf_puts(buf, "\\ufffd");
			nr = 1;
		} else if (code == '"' || code == '\\') {
			textbuf_printf(buf, "\\%c", (char)code);
		} else if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
			   code == 0x2029) {
			textbuf_printf(buf, "\\u%04x", code);
		} else {
			textbuf_add(buf, text + i, nr);
		}
		i += nr;
	}
	textbuf_add(buf, "\"", 1);
}

void text_si(double value, char ret_text[static 16])
{
	static const char units[] = " kMGTPE";
	size_t unit = 0;

	if (!(value > 0)) {
		snprintf(ret_text, 16, "0");
		return;
	}
	while (value >= 999.5 && unit + 2 < sizeof(units)) {
		value /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(ret_text, 16, "%.0f", MIN(value, 999.0));
	else
		snprintf(ret_text, 16, "%.*f%c",
			 value < 9.995	 ? 2
			 : value < 99.95 ? 1
					 : 0,
			 MIN(value, 999.0), units[unit]);
}
