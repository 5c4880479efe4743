/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of perf-script(1): for each sample a line with the thread, time, period and
 * event, the frames from the innermost out, an empty line.
 *
 * A snapshot knows how many samples a stack has, not when each was taken. So the times
 * are made up: the samples of a thread follow one another at the sampling rate from the
 * start of the window on. Addresses are not known either, where there is a name; 0 stands
 * there. The period is the mean of the stack's samples.
 *
 * Readers find the fields with regular expressions. A comm may not hold a blank before a
 * digit or begin with a blank or '#'; an object may hold no blank or parenthesis; an event
 * no blank. Such bytes become \xNN, as control characters have already.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "top/output_format.h"
#include "top/stacks.h"

static void add_escaped(struct textbuf *buf, char byte)
{
	textbuf_printf(buf, "\\x%02x", (unsigned char)byte);
}

static void add_comm(struct textbuf *buf, const char *comm)
{
	for (const char *p = comm; *p; p++) {
		bool starts = p == comm && (*p == ' ' || *p == '#');
		bool splits = *p == ' ' && ((p[1] >= '0' && p[1] <= '9') || p[1] == ' ');

		if (starts || splits)
			add_escaped(buf, *p);
		else
			textbuf_add(buf, p, 1);
	}
}

static void add_without(struct textbuf *buf, const char *text, const char *bad)
{
	for (; *text; text++) {
		if (strchr(bad, *text))
			add_escaped(buf, *text);
		else
			textbuf_add(buf, text, 1);
	}
}

/* Two blanks after the comm: some readers want at least two characters before one. */
static void add_sample(struct textbuf *buf, const struct stack *stack, double time_s)
{
	const struct row *row = stack->row;

	add_comm(buf, stack_comm(stack));
	textbuf_printf(buf, "  %lld/%lld ", (long long)MAX(row->pid, 0),
		       (long long)MAX(row->tid, 0));
	if (row->cpu >= 0)
		textbuf_printf(buf, "[%03d] ", row->cpu);
	textbuf_printf(buf, "%.9f: %10.0f ", time_s,
		       round(stack->period / (double)stack->nr_samples));
	add_without(buf, row->event, " ");
	textbuf_puts(buf, ":\n");
}

static void add_frames(struct textbuf *buf, const struct stack *stack)
{
	for (size_t i = 0; i < stack->nr_places; i++) {
		const struct frame_place *place = stack->places[i];

		textbuf_printf(buf, "\t%16llx %s (", (unsigned long long)place->offset,
			       place->has_symbol ? place_name(place) : "[unknown]");
		add_without(buf, place->dso_path[0] ? place->dso_path : place->dso, " ()");
		textbuf_puts(buf, ")\n");
	}
	textbuf_puts(buf, "\n");
}

/* The header of perf script --header, by which readers know the format. */
static void add_facts(struct report *report)
{
	textbuf_puts(&report->buf, "# ========\n");
	report_add_facts(report, &report->buf, "# ", " : ");
	textbuf_puts(&report->buf, "# times are made up: samples of a thread follow one another "
				   "at the sampling rate\n# ========\n#\n\n");
}

static void add_thread(struct report *report, const struct stack *stacks, size_t nr,
		       double interval_ns)
{
	const struct snapshot_header *header = snapshot_header(report->snapshot);
	double start_ns = MAX((double)header->elapsed_ns - (double)header->window_ns, 0.0);
	struct textbuf frames = { 0 };
	uint64_t nr_before = 0;

	for (size_t i = 0; i < nr; i++) {
		textbuf_clear(&frames);
		add_frames(&frames, &stacks[i]);
		for (uint64_t j = 0; j < stacks[i].nr_samples; j++) {
			double time_ns = start_ns + interval_ns * (double)nr_before++;

			add_sample(&report->buf, &stacks[i], time_ns / (double)NSEC_PER_SEC);
			textbuf_add(&report->buf, frames.text, frames.len);
			report_pump(report);
		}
	}
	textbuf_release(&frames);
}

void output_script(struct report *report)
{
	struct stacks stacks;
	double interval_ns;
	size_t end;

	stacks_init(&stacks, report->snapshot);
	stacks_sort(&stacks);
	interval_ns = stacks_interval_ns(&stacks, snapshot_header(report->snapshot));
	add_facts(report);
	for (size_t first = 0; first < stacks.nr; first = end) {
		end = stacks_thread_end(&stacks, first);
		add_thread(report, &stacks.list[first], end - first, interval_ns);
	}
	stacks_release(&stacks);
}
