/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many samples one reader takes out of many rings.
 *
 * usage: rings fake ROUNDS
 *        rings live EVENTS FREQ SECONDS
 *        rings limit EVENTS SECONDS
 *
 * fake: NR_FAKE rings, each in a memfd, are filled as the kernel would and read by the
 * program's own reader: copied, decoded and counted (core/reader.h, ring.h, record.h,
 * tally.h), not located. The kinds of code in a ring are sampled by Zipf's law: few kinds
 * (8 a ring, 2,000 in all) or many (500 a ring). Prints the median of ROUNDS.
 *
 * live: EVENTS cpu-clock events on each CPU, each with a ring of its own, at FREQ Hz,
 * read every TICK_NS by one reader for SECONDS.
 *
 * limit: the same from 100 Hz on, twice as fast each time, while nothing is throttled,
 * the samples arrive and ticks are not late; never more than kernel.perf_event_max_sample_rate
 * and MAX_SAMPLES_PER_SEC on a CPU. Prints the last rate that was fine.
 *
 * Prints lines "program;row;metric;value;unit". Exit status 77: perf events are refused.
 *
 * The functions of core/event_set.h that a reader calls are here, over our own rings.
 */
#include "config.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/reader.h"

#define NR_FAKE 272
#define FAKE_PAGES 32
#define LIVE_PAGES 16
#define NR_FEW 8
#define NR_MANY 500
#define NR_FRAMES 20
#define NR_MIX 8192
#define MAX_ROUNDS 1000
#define MAX_EVENTS 1024
#define TICK_NS UINT64_C(100000000)
#define MAX_SAMPLES_PER_SEC 400000.0

#define SAMPLE_TYPE \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

struct source {
	int fd;			/* of an event; -1: a memfd, closed again */
	unsigned char *writing; /* a fake ring as its kernel sees it */
	enum ring_kind kind;
};

struct event_set {
	struct cpu_rings *rings;
	struct source *sources;
	size_t nr;
	struct record_format format;
};

static const uint64_t nothing_changed[1024];

/* ---- core/event_set.h ---- */

size_t event_set_nr_cpus(const struct event_set *set)
{
	return set->nr;
}

struct cpu_rings *event_set_cpu(struct event_set *set, size_t index)
{
	return &set->rings[index];
}

const struct record_format *event_set_sample_format(const struct event_set *set)
{
	return &set->format;
}

int event_set_index(const struct event_set *set, uint64_t id)
{
	(void)set;
	(void)id;
	return 0;
}

/* ---- */

static void set_init(struct event_set *set, size_t nr, uint64_t sample_type)
{
	*set = (struct event_set){ .nr = nr, .format.sample_type = sample_type };
	set->rings = mem_calloc(nr, sizeof(*set->rings));
	set->sources = mem_calloc(nr, sizeof(*set->sources));
	for (size_t i = 0; i < nr; i++)
		set->sources[i].fd = -1;
}

static void set_release(struct event_set *set)
{
	size_t map_size = (1 + FAKE_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < set->nr; i++) {
		ring_free(set->rings[i].samples);
		if (set->sources[i].writing)
			munmap(set->sources[i].writing, map_size);
		if (set->sources[i].fd >= 0)
			close(set->sources[i].fd);
	}
	free(set->rings);
	free(set->sources);
}

static struct reader *reader_of(struct event_set *set)
{
	struct reader_options options = { .events = set, .affinity = AFFINITY_SYS };
	struct reader *reader = reader_new(&options);

	for (size_t i = 0; i < set->nr; i++)
		reader_add_cpu(reader, i);
	return reader;
}

/* ---- fake rings ---- */

static void fake_open(struct event_set *set, size_t index, enum ring_kind kind)
{
	size_t size = (1 + FAKE_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	struct source *source = &set->sources[index];
	int fd = memfd_create("ring", MFD_CLOEXEC);
	struct err err;

	source->kind = kind;
	if (fd < 0 || ftruncate(fd, (off_t)size))
		die("a memfd for a ring: %s", strerror(errno));
	source->writing = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (source->writing == MAP_FAILED)
		die("mapping a memfd: %s", strerror(errno));
	set->rings[index].cpu = (uint32_t)index;
	if (ring_open(fd, kind, FAKE_PAGES, &set->rings[index].samples, &err) < 0)
		die("%s", err.text);
	close(fd);
}

/*
 * A table to draw kinds of code from: the share of the i-th hottest is proportional to
 * 1 / i (Zipf's law).
 */
static void make_mix(uint16_t *mix, uint64_t nr_kinds)
{
	double all = 0;
	double sum = 0;
	size_t filled = 0;

	for (uint64_t i = 1; i <= nr_kinds; i++)
		all += 1 / (double)i;
	for (uint64_t i = 1; i <= nr_kinds; i++) {
		sum += 1 / (double)i;
		while (filled < NR_MIX && (double)filled < sum / all * NR_MIX)
			mix[filled++] = (uint16_t)(i - 1);
	}
}

static uint64_t draw(const uint16_t *mix, uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return mix[*state >> 48 & (NR_MIX - 1)];
}

/* A sample of code @kind on @cpu; returns its size. */
static size_t make_sample(uint64_t *words, uint32_t cpu, uint64_t kind, uint64_t time,
			  uint64_t nr_frames)
{
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE,
					    .misc = PERF_RECORD_MISC_USER };
	uint32_t ids[] = { 1000 + cpu, 1000 + cpu };
	uint32_t cpus[] = { cpu, 0 };
	uint64_t ip = UINT64_C(0x550000000000) + kind * 0x94;
	size_t nr = 6;

	words[1] = ip;
	memcpy(&words[2], ids, 8);
	words[3] = time;
	memcpy(&words[4], cpus, 8);
	words[5] = 250000;
	if (nr_frames) {
		words[nr++] = nr_frames + 1;
		words[nr++] = PERF_CONTEXT_USER;
		for (uint64_t i = 0; i < nr_frames; i++)
			words[nr++] = ip + i * 0x1234;
	}
	header.size = (uint16_t)(8 * nr);
	memcpy(words, &header, 8);
	return 8 * nr;
}

/* @nr samples more, with the head behind them: before a read nothing else is there. */
static void fake_fill(struct event_set *set, size_t index, const uint16_t *mix, uint64_t *state,
		      size_t nr, uint64_t nr_frames)
{
	struct source *source = &set->sources[index];
	struct perf_event_mmap_page *page = (void *)source->writing;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = FAKE_PAGES * page_size;
	uint64_t head = page->data_head;
	uint64_t words[8 + NR_FRAMES];

	for (size_t i = 0; i < nr; i++) {
		uint64_t kind = draw(mix, state);
		size_t len = make_sample(words, (uint32_t)index, kind, i + 1, nr_frames);
		uint64_t at = source->kind == RING_OVERWRITE ? head - len : head;

		for (size_t k = 0; k < len; k += 8)
			memcpy(source->writing + page_size + ((at + k) & (size - 1)), &words[k / 8],
			       8);
		head = source->kind == RING_OVERWRITE ? at : at + len;
	}
	__atomic_store_n(&page->data_head, head, __ATOMIC_RELEASE);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare_doubles);
	return values[nr / 2];
}

static void bench_fake(enum ring_kind kind, uint64_t nr_kinds, uint64_t nr_frames, size_t nr_rounds)
{
	double copy[MAX_ROUNDS], count[MAX_ROUNDS], all[MAX_ROUNDS];
	const char *program = kind == RING_OVERWRITE ? "overwrite" : "forward";
	size_t nr = nr_frames ? 500 : 2000;
	struct reader_figures figures = { 0 };
	struct reader *reader;
	struct event_set set;
	uint16_t mix[NR_MIX];
	uint64_t state = 1;
	char row[128];

	make_mix(mix, nr_kinds);
	set_init(&set, NR_FAKE, SAMPLE_TYPE | (nr_frames ? PERF_SAMPLE_CALLCHAIN : 0));
	for (size_t i = 0; i < set.nr; i++)
		fake_open(&set, i, kind);
	reader = reader_of(&set);
	/* The first round grows the tables and is not counted. */
	for (size_t round = 0; round <= nr_rounds; round++) {
		uint64_t before = figures.nr_samples;
		double nr_read;

		for (size_t i = 0; i < set.nr; i++)
			fake_fill(&set, i, mix, &state, nr, nr_frames);
		reader_read(reader, UINT64_MAX, nothing_changed);
		reader_clear(reader);
		reader_get_figures(reader, &figures);
		nr_read = (double)(figures.nr_samples - before);
		if (figures.nr_samples - before != nr * set.nr)
			die("%zu samples written, %.0f read", nr * set.nr, nr_read);
		if (round) {
			copy[round - 1] = (double)figures.copy_ns / nr_read;
			count[round - 1] = (double)figures.decode_ns / nr_read;
			all[round - 1] = copy[round - 1] + count[round - 1];
		}
	}
	snprintf(row, sizeof(row), "%d rings, %zu samples each, %s, %s", NR_FAKE, nr,
		 nr_kinds == NR_FEW ? "2,000 kinds in all" : "136,000 kinds in all",
		 nr_frames ? "chains of 20" : "no chains");
	printf("%s;%s;copy;%.3f;ns\n", program, row, median(copy, nr_rounds));
	printf("%s;%s;decode_and_count;%.3f;ns\n", program, row, median(count, nr_rounds));
	printf("%s;%s;a_sample;%.3f;ns\n", program, row, median(all, nr_rounds));
	printf("%s;%s;a_reader_takes;%.0f;1/s\n", program, row, 1e9 / median(all, nr_rounds));
	reader_free(reader);
	set_release(&set);
}

static int run_fake(size_t nr_rounds)
{
	static const uint64_t kinds[] = { NR_FEW, NR_MANY };
	static const uint64_t frames[] = { 0, NR_FRAMES };

	for (size_t f = 0; f < 2; f++) {
		for (size_t k = 0; k < 2; k++) {
			bench_fake(RING_OVERWRITE, kinds[k], frames[f], nr_rounds);
			bench_fake(RING_FORWARD, kinds[k], frames[f], nr_rounds);
		}
	}
	return 0;
}

/* ---- the kernel's rings ---- */

struct live_result {
	double seconds;
	double samples_per_sec; /* of all CPUs */
	double expected_per_sec;
	double mean_read_ms, max_read_ms; /* of a tick */
	double ns_per_sample;
	double max_late_ms;
	double own_cpu;
	uint64_t nr_overwritten, nr_lost, nr_throttled;
};

static uint64_t max_sample_rate(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned long long rate = 0;

	if (file) {
		if (fscanf(file, "%llu", &rate) != 1)
			rate = 0;
		fclose(file);
	}
	return rate;
}

/* Returns 0 or a negative errno. */
static int live_open(struct event_set *set, size_t index, unsigned int cpu, uint64_t freq)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = freq,
		.freq = 1,
		.sample_type = SAMPLE_TYPE,
		.disabled = 1,
		.write_backward = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	struct err err;
	long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	set->sources[index].fd = (int)fd;
	set->rings[index].cpu = cpu;
	return ring_open((int)fd, RING_OVERWRITE, LIVE_PAGES, &set->rings[index].samples, &err);
}

static int live_open_all(struct event_set *set, size_t nr_events, uint64_t freq)
{
	unsigned int nr_cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	size_t nr = 0;

	set_init(set, nr_events * nr_cpus, SAMPLE_TYPE);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		for (size_t i = 0; i < nr_events; i++) {
			int ret = live_open(set, nr, cpu, freq);

			if (ret == -ENODEV)
				break; /* offline */
			if (ret < 0) {
				fprintf(stderr, "rings: event %zu on CPU %u: %s\n", i, cpu,
					strerror(-ret));
				set_release(set);
				return ret;
			}
			nr++;
		}
	}
	for (size_t i = 0; i < nr; i++)
		ioctl(set->sources[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void sleep_until(uint64_t ns)
{
	struct timespec time = { .tv_sec = (time_t)(ns / 1000000000),
				 .tv_nsec = (long)(ns % 1000000000) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void live_ticks(struct event_set *set, struct reader *reader, uint64_t seconds,
		       struct live_result *result)
{
	uint64_t nr_ticks = seconds * 1000000000 / TICK_NS;
	struct reader_figures figures, first;
	uint64_t read_ns = 0, start_ns;
	double start_cpu;

	/* What the events wrote while others were opened does not count. */
	reader_read(reader, clock_now_ns(), nothing_changed);
	reader_clear(reader);
	reader_get_figures(reader, &first);
	start_ns = clock_now_ns();
	start_cpu = cpu_seconds();
	for (uint64_t tick = 1; tick <= nr_ticks; tick++) {
		uint64_t before, ns;

		sleep_until(start_ns + tick * TICK_NS);
		before = clock_now_ns();
		reader_read(reader, before, nothing_changed);
		ns = clock_now_ns() - before;
		reader_clear(reader);
		read_ns += ns;
		result->max_read_ms = MAX(result->max_read_ms, (double)ns / 1e6);
		result->max_late_ms =
			MAX(result->max_late_ms,
			    (double)(int64_t)(before - start_ns - tick * TICK_NS) / 1e6);
	}
	reader_get_figures(reader, &figures);
	result->seconds = (double)(clock_now_ns() - start_ns) / 1e9;
	result->own_cpu = (cpu_seconds() - start_cpu) / result->seconds;
	result->samples_per_sec = (double)(figures.nr_samples - first.nr_samples) / result->seconds;
	result->mean_read_ms = (double)read_ns / 1e6 / (double)nr_ticks;
	result->ns_per_sample =
		(double)read_ns / (double)MAX(figures.nr_samples - first.nr_samples, 1);
	result->nr_lost = figures.nr_lost;
	result->nr_throttled = figures.nr_throttled;
	for (size_t i = 0; i < set->nr; i++) {
		struct ring_stats stats;

		if (!set->rings[i].samples)
			continue;
		ring_get_stats(set->rings[i].samples, &stats);
		result->nr_overwritten += stats.nr_overwritten;
	}
}

static int live_measure(size_t nr_events, uint64_t freq, uint64_t seconds,
			struct live_result *result)
{
	struct reader *reader;
	struct event_set set;
	int ret = live_open_all(&set, nr_events, freq);

	*result = (struct live_result){ 0 };
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < set.nr; i++)
		result->expected_per_sec += set.rings[i].samples ? (double)freq : 0;
	reader = reader_of(&set);
	live_ticks(&set, reader, seconds, result);
	reader_free(reader);
	set_release(&set);
	return 0;
}

static int run_live(size_t nr_events, uint64_t freq, uint64_t seconds)
{
	struct live_result result;
	char row[128];

	if (live_measure(nr_events, freq, seconds, &result) < 0)
		return 77;
	snprintf(row, sizeof(row), "%zu cpu-clock events a CPU at %llu Hz", nr_events,
		 (unsigned long long)freq);
	printf("reader;%s;samples;%.0f;1/s\n", row, result.samples_per_sec);
	printf("reader;%s;arrived;%.4f;share\n", row,
	       result.samples_per_sec / MAX(result.expected_per_sec, 1));
	printf("reader;%s;own_cpu;%.5f;CPU\n", row, result.own_cpu);
	printf("reader;%s;lost;%llu;\n", row,
	       (unsigned long long)(result.nr_lost + result.nr_overwritten));
	printf("reader;%s;throttled;%llu;\n", row, (unsigned long long)result.nr_throttled);
	printf("reader;%s;read_a_tick;%.3f;ms\n", row, result.mean_read_ms);
	printf("reader;%s;longest_read;%.3f;ms\n", row, result.max_read_ms);
	printf("reader;%s;a_sample;%.1f;ns\n", row, result.ns_per_sample);
	printf("reader;%s;latest_tick;%.1f;ms\n", row, result.max_late_ms);
	return 0;
}

/* Was it more than the machine carries? */
static bool is_too_much(const struct live_result *result)
{
	return result->nr_throttled > 0 || result->max_late_ms > 30 ||
	       result->samples_per_sec < 0.95 * result->expected_per_sec;
}

static int run_limit(size_t nr_events, uint64_t seconds)
{
	uint64_t max_rate = max_sample_rate();
	struct live_result result;
	uint64_t fine = 0;

	for (uint64_t freq = 100;
	     freq <= max_rate && (double)(freq * nr_events) <= MAX_SAMPLES_PER_SEC; freq *= 2) {
		if (live_measure(nr_events, freq, seconds, &result) < 0)
			return 77;
		fprintf(stderr,
			"rings: %llu Hz: %.0f of %.0f samples/s, %llu throttled, %.1f ms late\n",
			(unsigned long long)freq, result.samples_per_sec, result.expected_per_sec,
			(unsigned long long)result.nr_throttled, result.max_late_ms);
		if (is_too_much(&result))
			break;
		fine = freq;
	}
	printf("%llu\n", (unsigned long long)fine);
	return 0;
}

/* 0: no such number. */
static uint64_t number(const char *text, uint64_t max)
{
	char *end;
	unsigned long long value;

	if (!text)
		return 0;
	value = strtoull(text, &end, 10);
	return end == text || *end || value > max ? 0 : value;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t values[3] = { 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	values[0] = number(argc > 2 ? argv[2] : NULL, MAX_ROUNDS);
	values[1] = number(argc > 3 ? argv[3] : NULL, 100000);
	values[2] = number(argc > 4 ? argv[4] : NULL, 3600);
	if (!strcmp(what, "fake") && argc == 3 && values[0])
		return run_fake(values[0]);
	if (!strcmp(what, "live") && argc == 5 && values[0] && values[1] && values[2])
		return run_live(values[0], values[1], values[2]);
	if (!strcmp(what, "limit") && argc == 4 && values[0] && values[1])
		return run_limit(values[0], values[1]);
	fputs("usage: rings fake ROUNDS | live EVENTS FREQ SECONDS | limit EVENTS SECONDS\n",
	      stderr);
	return 2;
}
