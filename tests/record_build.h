/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records put together word by word, as the kernel does: for the tests of core/record.c. */
#ifndef SYMTOP_TESTS_RECORD_BUILD_H
#define SYMTOP_TESTS_RECORD_BUILD_H

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_WORDS 512

struct build {
	union {
		struct perf_event_header header;
		uint64_t words[MAX_WORDS];
	};
	size_t nr; /* of words, the header's included */
};

static inline void put(struct build *build, uint64_t word)
{
	assert_true(build->nr < MAX_WORDS);
	build->words[build->nr++] = word;
}

static inline void put_pair(struct build *build, uint32_t first, uint32_t second)
{
	uint32_t pair[] = { first, second };
	uint64_t word;

	memcpy(&word, pair, sizeof(word));
	put(build, word);
}

static inline void begin(struct build *build, uint32_t type, uint16_t misc)
{
	*build = (struct build){ .nr = 1 };
	build->header = (struct perf_event_header){ .type = type, .misc = misc };
}

static inline const struct perf_event_header *end(struct build *build)
{
	build->header.size = (uint16_t)(8 * build->nr);
	return &build->header;
}

/* A copy of @header's first @size bytes that says so. */
static inline struct perf_event_header *copy_cut(const struct perf_event_header *header,
						 size_t size)
{
	struct perf_event_header *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, header, size);
	copy->size = (uint16_t)size;
	return copy;
}

#endif /* SYMTOP_TESTS_RECORD_BUILD_H */
