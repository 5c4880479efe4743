/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash functions. Not cryptographic; hostile input can make a table slow to the
 * extent of its limit, never wrong.
 */
#ifndef SYMTOP_CORE_BASE_HASH_H
#define SYMTOP_CORE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Every input bit reaches every output bit (the finalizer of SplitMix64). */
static inline uint64_t hash_u64(uint64_t value)
{
	value ^= value >> 30;
	value *= UINT64_C(0xbf58476d1ce4e5b9);
	value ^= value >> 27;
	value *= UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

/* @hash with @value added; the order of additions matters. */
static inline uint64_t hash_combine(uint64_t hash, uint64_t value)
{
	return hash_u64(hash * UINT64_C(0x9e3779b97f4a7c15) + value);
}

uint64_t hash_bytes(const void *bytes, size_t len);

#endif /* SYMTOP_CORE_BASE_HASH_H */
