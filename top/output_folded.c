/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks (Brendan Gregg's stackcollapse): "comm;outermost;...;innermost COUNT".
 * The count is samples, never periods: readers take one sample per count, and a period
 * of cpu-clock is nanoseconds.
 *
 * The separator is the last space of a line, so a ';' in a name becomes ':' and a '#' at
 * the start of a line, where it is a comment, "\x23". What is to be said of the run stands
 * at the end (some readers judge a file by its first line), in comments without a space:
 * many take whatever has a space and a number after it for a stack.
 *
 * With several events the first frame is the event.
 */
#include "config.h"

#include <string.h>

#include "top/output_format.h"
#include "top/stacks.h"

static void add_frame(struct textbuf *buf, const char *name, bool is_first)
{
	if (is_first && *name == '#') {
		textbuf_puts(buf, "\\x23");
		name++;
	}
	if (!is_first)
		textbuf_puts(buf, ";");
	for (;;) {
		size_t len = strcspn(name, ";");

		textbuf_add(buf, name, len);
		name += len;
		if (!*name++)
			break;
		textbuf_puts(buf, ":");
	}
}

static void add_stack(struct textbuf *buf, const struct stacks *stacks, const struct stack *stack)
{
	if (stacks->has_events)
		add_frame(buf, stack->row->event, true);
	add_frame(buf, stack_comm(stack), !stacks->has_events);
	for (size_t i = stack->nr_places; i--;)
		add_frame(buf, place_name(stack->places[i]), false);
	textbuf_printf(buf, " %llu\n", (unsigned long long)stack->nr_samples);
}

static void add_facts(struct report *report)
{
	struct textbuf facts = { 0 };

	report_add_facts(report, &facts, "#", "=");
	for (const char *text = facts.text;;) {
		size_t len = strcspn(text, " ");

		textbuf_add(&report->buf, text, len);
		text += len;
		if (!*text++)
			break;
		textbuf_puts(&report->buf, "\\x20");
	}
	textbuf_release(&facts);
}

void output_folded(struct report *report)
{
	struct stacks stacks;

	stacks_init(&stacks, report->snapshot);
	for (size_t i = 0; i < stacks.nr; i++) {
		add_stack(&report->buf, &stacks, &stacks.list[i]);
		report_pump(report);
	}
	add_facts(report);
	stacks_release(&stacks);
}
