/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares are computed by division, so a total of zero gives NaN: it is caught here,
 * at the last step, for every view at once.
 */
#include "config.h"

#include "ui/format.h"

#include <math.h>
#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/text.h"

void format_share(double share, int decimals, char ret_text[static FORMAT_SIZE])
{
	if (!isfinite(share)) {
		snprintf(ret_text, FORMAT_SIZE, "-");
		return;
	}
	/* Sums of doubles may miss zero by a hair; that is still zero, not "-0.00". */
	if (share <= 0)
		share = 0;
	snprintf(ret_text, FORMAT_SIZE, "%.*f%%", decimals, 100 * MIN(share, 9.99));
}

void format_points(double change, char ret_text[static FORMAT_SIZE])
{
	if (!isfinite(change))
		snprintf(ret_text, FORMAT_SIZE, "-");
	else if (fabs(change) < 0.00005)
		snprintf(ret_text, FORMAT_SIZE, "0.00");
	else
		snprintf(ret_text, FORMAT_SIZE, "%+.2f", 100 * MIN(MAX(change, -9.99), 9.99));
}

void format_count(double count, char ret_text[static FORMAT_SIZE])
{
	char text[16];

	if (!isfinite(count)) {
		snprintf(ret_text, FORMAT_SIZE, "-");
	} else if (count < 999999.5) {
		snprintf(ret_text, FORMAT_SIZE, "%.0f", count <= 0 ? 0.0 : count);
	} else {
		text_si(count, text);
		snprintf(ret_text, FORMAT_SIZE, "%s", text);
	}
}

void format_duration(uint64_t ns, char ret_text[static FORMAT_SIZE])
{
	double seconds = (double)ns / (double)NSEC_PER_SEC;

	if (!ns)
		snprintf(ret_text, FORMAT_SIZE, "0 s");
	else if (ns < 1000)
		snprintf(ret_text, FORMAT_SIZE, "%u ns", (unsigned int)ns);
	else if (ns < 99500)
		snprintf(ret_text, FORMAT_SIZE, "%.0f us", 1e6 * seconds);
	else if (seconds < 0.0995)
		snprintf(ret_text, FORMAT_SIZE, "%.1f ms", 1000 * seconds);
	else if (seconds < 0.995)
		snprintf(ret_text, FORMAT_SIZE, "%.2f s", seconds);
	else if (seconds < 9.95)
		snprintf(ret_text, FORMAT_SIZE, "%.1f s", seconds);
	else if (seconds < 300)
		snprintf(ret_text, FORMAT_SIZE, "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(ret_text, FORMAT_SIZE, "%.1f min", seconds / 60);
	else
		snprintf(ret_text, FORMAT_SIZE, "%.1f h", seconds / 3600);
}

void format_bytes(uint64_t bytes, char ret_text[static FORMAT_SIZE])
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1023.5 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(ret_text, FORMAT_SIZE, "%.*f %s", unit && value < 9.95 ? 1 : 0, value,
		 units[unit]);
}
