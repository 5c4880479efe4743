/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures are kept under one mutex: they are written a few times a tick, never per
 * sample, and a copy taken under it is consistent.
 *
 * The advice rests on a simple model: reading takes a time that grows with the rate
 * and shrinks with the number of readers, and a longer refresh gives it more room. A
 * rate or a number of readers is to bring reading down to a quarter of the refresh; a
 * delay only to a third, since it is what the user sees. Numbers are rounded, to the
 * safe side, to ones that a person would type.
 */
#include "config.h"

#include "core/latency.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/mutex.h"

/* Shares of the refresh. */
#define TOO_MUCH (1.0 / 2)
#define GOAL_OF_DELAY (1.0 / 3)
#define GOAL_OF_LOAD (1.0 / 4)

/* A reader that takes so many times as long as the others is named. */
#define MUCH_LONGER 2

/* What we make larger to keep all samples gets a third more than the mean asks for. */
#define ROOM (4.0 / 3)

/* A ring beyond this, on each CPU, is no remedy. */
#define MAX_RING_BYTES (128.0 * 1024 * 1024)

struct latency {
	struct mutex lock;
	struct latency_figures figures GUARDED_BY(lock);
};

struct latency *latency_new(void)
{
	struct latency *latency = mem_zalloc(sizeof(*latency));

	mutex_init(&latency->lock);
	return latency;
}

void latency_free(struct latency *latency)
{
	if (!latency)
		return;
	mutex_release(&latency->lock);
	free(latency);
}

static void stage_add(struct stage_figures *stage, uint64_t ns)
{
	stage->nr++;
	stage->last_ns = ns;
	stage->total_ns += ns;
	stage->max_ns = MAX(stage->max_ns, ns);
}

void latency_start(struct latency *latency, enum start_stage stage, uint64_t ns)
{
	mutex_lock(&latency->lock);
	stage_add(&latency->figures.start[stage], ns);
	mutex_unlock(&latency->lock);
}

void latency_tick(struct latency *latency, enum tick_stage stage, uint64_t ns)
{
	mutex_lock(&latency->lock);
	stage_add(&latency->figures.tick[stage], ns);
	mutex_unlock(&latency->lock);
}

void latency_late(struct latency *latency)
{
	mutex_lock(&latency->lock);
	latency->figures.nr_ticks_late++;
	mutex_unlock(&latency->lock);
}

void latency_get(struct latency *latency, struct latency_figures *ret_figures)
{
	mutex_lock(&latency->lock);
	*ret_figures = latency->figures;
	mutex_unlock(&latency->lock);
}

const char *start_stage_name(enum start_stage stage)
{
	static const char *const names[NR_START_STAGES] = {
		[START_OPTIONS] = "options",	     [START_PROBE] = "probe",
		[START_OPEN] = "open events",	     [START_MMAP] = "map rings",
		[START_ENABLE] = "enable",	     [START_SCREEN] = "screen",
		[START_FIRST_TICK] = "first tick",   [START_FIRST_ROW] = "first row",
		[START_SWEEP] = "scan of processes",
	};

	return names[stage];
}

const char *tick_stage_name(enum tick_stage stage)
{
	static const char *const names[NR_TICK_STAGES] = {
		[TICK_METADATA] = "metadata", [TICK_COPY] = "copy",   [TICK_DECODE] = "decode",
		[TICK_LOCATE] = "locate",     [TICK_MERGE] = "merge", [TICK_QUERY] = "query",
		[TICK_ALL] = "all",	      [TICK_DRAW] = "draw",
	};

	return names[stage];
}

/* A text that grows in the caller's buffer and is cut there. */
struct advice {
	char *text;
	size_t size;
	size_t len;
};

PRINTF(2, 3) static void advice_printf(struct advice *advice, const char *fmt, ...)
{
	va_list args;
	int nr;

	va_start(args, fmt);
	nr = vsnprintf(advice->text + advice->len, advice->size - advice->len, fmt, args);
	va_end(args);
	if (nr > 0)
		advice->len = MIN(advice->len + (size_t)nr, advice->size - 1);
}

/* Remedies as they are found; the commas and the "or" come when their number is known. */
struct remedies {
	char texts[3][40];
	size_t nr;
};

PRINTF(2, 3) static void remedies_add(struct remedies *remedies, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(remedies->texts[remedies->nr], sizeof(remedies->texts[0]), fmt, args);
	va_end(args);
	remedies->nr++;
}

static void advice_add_remedies(struct advice *advice, const struct remedies *remedies)
{
	for (size_t i = 0; i < remedies->nr; i++)
		advice_printf(advice, "%s%s",
			      !i		     ? ": "
			      : i + 1 < remedies->nr ? ", "
						     : " or ",
			      remedies->texts[i]);
}

/* The largest of 1, 2, 5, 10, 20, 50, ... that is no larger than @value; 0 below 1. */
static uint64_t round_down(double value)
{
	static const uint64_t steps[] = { 5, 2, 1 };
	uint64_t power = 1;

	if (!(value >= 1) || value > 1e18)
		return 0;
	while ((double)power * 10 <= value)
		power *= 10;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if ((double)(steps[i] * power) <= value)
			return steps[i] * power;
	}
	return 0;
}

/* The smallest power of two that is no smaller than @value. */
static double round_up_to_power(double value)
{
	return value <= 1 ? 1 : exp2(ceil(log2(value)));
}

/* Seconds to tenths below 1, to halves below 10, else whole: upwards. */
static double round_up_seconds(double seconds)
{
	if (seconds < 1)
		return ceil(seconds * 10) / 10;
	if (seconds < 10)
		return ceil(seconds * 2) / 2;
	return ceil(seconds);
}

/* A rate that is a @share of what it is, if it is one at all and less. */
static void add_rate(struct remedies *remedies, const struct latency_situation *situation,
		     double share)
{
	uint64_t freq = round_down((double)situation->freq * share);

	if (!situation->freq)
		remedies_add(remedies, "a period (-c) %.0f times as long", ceil(1 / share));
	else if (freq && freq < situation->freq)
		remedies_add(remedies, "-F %llu", (unsigned long long)freq);
}

/* More readers, but only if there are CPUs for as many as it takes. */
static void add_readers(struct remedies *remedies, const struct latency_situation *situation,
			double share)
{
	double need = ceil((double)situation->nr_readers / share);
	double nr = MIN(round_up_to_power(need), (double)situation->nr_cpus);

	if (situation->nr_readers && nr >= need && nr > situation->nr_readers)
		remedies_add(remedies, "--readers %.0f", nr);
}

/* "1.3 s", "0.06 s" */
static void advice_add_seconds(struct advice *advice, double seconds)
{
	advice_printf(advice, "%.*f s", seconds < 1 ? 2 : 1, seconds);
}

/* One reader that all the others wait for: its share of the CPUs is the trouble. */
static void advise_worst(struct advice *advice, const struct latency_situation *situation)
{
	double worst = (double)situation->worst_ns / (double)NSEC_PER_SEC;
	double others = (double)situation->others_ns / (double)NSEC_PER_SEC;

	if (situation->nr_readers < 2 || worst <= others * MUCH_LONGER)
		return;
	advice_printf(advice, " (reader %u takes ", situation->worst_reader);
	advice_add_seconds(advice, worst);
	advice_printf(advice, ", the others ");
	advice_add_seconds(advice, others);
	advice_printf(advice, ")");
}

static void advise_reading(struct advice *advice, const struct latency_situation *situation)
{
	double read = (double)situation->read_ns / (double)NSEC_PER_SEC;
	double refresh = (double)situation->refresh_ns / (double)NSEC_PER_SEC;
	struct remedies remedies = { 0 };
	double share;

	if (!situation->refresh_ns || read <= refresh * TOO_MUCH)
		return;
	share = refresh * GOAL_OF_LOAD / read;
	/* Not %f, which shows zeros; so many digits keep %g from an exponent. */
	remedies_add(&remedies, "-d %.15g", round_up_seconds(read / GOAL_OF_DELAY));
	add_rate(&remedies, situation, share);
	add_readers(&remedies, situation, share);
	advice_printf(advice, "reading takes ");
	advice_add_seconds(advice, read);
	advice_printf(advice, " of ");
	advice_add_seconds(advice, refresh);
	advise_worst(advice, situation);
	advice_add_remedies(advice, &remedies);
}

/* Larger rings, while they are of a size that one can ask for. */
static void add_pages(struct remedies *remedies, const struct latency_situation *situation,
		      double factor)
{
	double bytes = round_up_to_power((double)situation->ring_bytes * factor);

	if (situation->ring_bytes && situation->page_size && bytes <= MAX_RING_BYTES)
		remedies_add(remedies, "-m %.0f", bytes / (double)situation->page_size);
}

static void advise_overwritten(struct advice *advice, const struct latency_situation *situation)
{
	double lost = (double)situation->nr_overwritten;
	struct remedies remedies = { 0 };
	double factor = 2;

	if (!situation->nr_overwritten)
		return;
	if (situation->nr_samples)
		factor = (1 + lost / (double)situation->nr_samples) * ROOM;
	add_pages(&remedies, situation, factor);
	add_rate(&remedies, situation, 1 / factor);
	if (advice->len)
		advice_printf(advice, "; ");
	advice_printf(advice, "%llu samples overwritten in the last refresh",
		      (unsigned long long)situation->nr_overwritten);
	advice_add_remedies(advice, &remedies);
}

size_t latency_advice(const struct latency_situation *situation, char *ret_text, size_t size)
{
	struct advice advice = { .text = ret_text, .size = size };

	if (!size)
		return 0;
	ret_text[0] = '\0';
	advise_reading(&advice, situation);
	advise_overwritten(&advice, situation);
	return advice.len;
}
