/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers as people read them. What is not known (NaN, infinite) is "-"; nothing here
 * prints "nan" or "-0". Plain ASCII, at most FORMAT_SIZE bytes with the NUL.
 */
#ifndef SYMTOP_UI_FORMAT_H
#define SYMTOP_UI_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum { FORMAT_SIZE = 32 };

/* 0.2672 -> "26.72%" with two decimals. Limited to 999 %. */
void format_share(double share, int decimals, char ret_text[static FORMAT_SIZE]);

/* The change of a share in points: 0.013 -> "+1.30", "-0.75", "0.00". */
void format_points(double change, char ret_text[static FORMAT_SIZE]);

/* Exact up to 999999, then "1.23M". */
void format_count(double count, char ret_text[static FORMAT_SIZE]);

/* "12 ns" "31 us" "3.1 ms" "0.21 s" "2.0 s" "12 s" "5.0 min" "2.5 h" */
void format_duration(uint64_t ns, char ret_text[static FORMAT_SIZE]);

/* "512 B" "84 MB" "1.2 GB" (powers of 1024) */
void format_bytes(uint64_t bytes, char ret_text[static FORMAT_SIZE]);

#endif /* SYMTOP_UI_FORMAT_H */
