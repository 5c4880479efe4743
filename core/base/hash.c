/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Eight bytes a step; names are short, so set-up cost counts more than throughput. */
#include "config.h"

#include "core/base/hash.h"

#include <string.h>

uint64_t hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *next = bytes;
	uint64_t hash = len;
	uint64_t word;

	for (; len >= 8; len -= 8, next += 8) {
		memcpy(&word, next, 8);
		hash = hash_combine(hash, word);
	}
	word = 0;
	memcpy(&word, next, len);
	return hash_combine(hash, word);
}
