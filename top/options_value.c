/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands behind an option: numbers, times and sizes, whole or refused. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "top/options.h"

int options_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	unsigned long long value;
	char *end;

	/* strtoull() would take a sign and leading space. */
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value < min || value > max)
		return -EINVAL;
	*ret = value;
	return 0;
}

int options_parse_time(const char *text, uint64_t min_ns, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "m", 60e9 }, { "h", 3600e9 } };
	double value;
	char *end;

	if ((*text < '0' || *text > '9') && *text != '.')
		return -EINVAL;
	value = strtod(text, &end);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double ns = value * units[i].ns;

		if (strcmp(end, units[i].unit))
			continue;
		if (!isfinite(ns) || ns < (double)min_ns || ns > 1e18)
			return -EINVAL;
		*ret_ns = (uint64_t)ns;
		return 0;
	}
	return -EINVAL;
}

int options_parse_pages(const char *text, size_t page_size, size_t *ret_bytes)
{
	unsigned long long value;
	unsigned int shift = 0;
	bool is_size = true;
	size_t bytes = page_size;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || !value)
		return -EINVAL;
	switch (*end) {
	case '\0':
		is_size = false;
		break;
	case 'B':
	case 'b':
		break;
	case 'K':
	case 'k':
		shift = 10;
		break;
	case 'M':
	case 'm':
		shift = 20;
		break;
	case 'G':
	case 'g':
		shift = 30;
		break;
	default:
		return -EINVAL;
	}
	if (is_size && end[1])
		return -EINVAL;
	/* 1 GiB a ring is past all use, and keeps the arithmetic small. */
	if (value > (UINT64_C(1) << 30))
		return -EINVAL;
	value = is_size ? value << shift : value * page_size;
	if (value > (UINT64_C(1) << 30))
		return -EINVAL;
	while (bytes < value)
		bytes *= 2;
	*ret_bytes = bytes;
	return bytes > value;
}
