/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing table of numbers over one growing block of bytes. */
#include "config.h"

#include "top/interner.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"

void interner_release(struct interner *interner)
{
	textbuf_release(&interner->bytes);
	free(interner->starts);
	free(interner->places);
	*interner = (struct interner){ 0 };
}

void interner_clear(struct interner *interner)
{
	textbuf_clear(&interner->bytes);
	interner->nr = 0;
	if (interner->places)
		memset(interner->places, 0, interner->nr_places * sizeof(*interner->places));
}

const void *interner_get(const struct interner *interner, size_t id, size_t *ret_len)
{
	size_t start = interner->starts[id];
	size_t end = id + 1 < interner->nr ? interner->starts[id + 1] : interner->bytes.len;

	*ret_len = end - start;
	return interner->bytes.text + start;
}

/* Where a thing is or would be. */
static uint32_t *find_place(const struct interner *interner, const void *bytes, size_t len)
{
	size_t at = hash_bytes(bytes, len) & (interner->nr_places - 1);

	while (interner->places[at]) {
		size_t other_len;
		const void *other = interner_get(interner, interner->places[at] - 1, &other_len);

		if (other_len == len && !memcmp(other, bytes, len))
			break;
		at = (at + 1) & (interner->nr_places - 1);
	}
	return &interner->places[at];
}

static void grow(struct interner *interner)
{
	free(interner->places);
	interner->nr_places = interner->nr_places ? 2 * interner->nr_places : 256;
	interner->places = mem_calloc(interner->nr_places, sizeof(*interner->places));
	for (size_t i = 0; i < interner->nr; i++) {
		size_t len;
		const void *bytes = interner_get(interner, i, &len);

		*find_place(interner, bytes, len) = (uint32_t)i + 1;
	}
}

uint32_t interner_add(struct interner *interner, const void *bytes, size_t len)
{
	uint32_t *place;

	if (2 * interner->nr >= interner->nr_places)
		grow(interner);
	place = find_place(interner, bytes, len);
	if (*place)
		return *place - 1;
	mem_grow(interner->starts, interner->nr, interner->nr_allocated);
	interner->starts[interner->nr++] = interner->bytes.len;
	textbuf_add(&interner->bytes, bytes, len);
	*place = (uint32_t)interner->nr;
	return *place - 1;
}

uint32_t interner_add_text(struct interner *interner, const char *text)
{
	return interner_add(interner, text, strlen(text));
}
