/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph as one SVG file without scripts and without anything to fetch: it can be
 * looked at anywhere and pasted into a ticket. Pointing at a frame shows all of its name.
 *
 * Sorted stacks have equal beginnings side by side. One pass over them keeps the frames
 * that are open; where the next stack differs, those above are closed and each is a
 * rectangle. So depth costs memory for one stack, and nothing recurses. The pass runs
 * twice: the first measures how high the picture becomes.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "top/output_format.h"
#include "top/stacks.h"

#define WIDTH 1200
#define MARGIN 10
#define HEAD 52
#define FOOT 24
#define ROW 17
#define CHAR_WIDTH 7.3 /* of a 12 px monospace font, with a little to spare */
#define MIN_WIDTH 0.1

enum frame_class { CLASS_GROUP, CLASS_USER, CLASS_KERNEL };

struct open_frame {
	const char *name;
	enum frame_class class;
	uint64_t start; /* samples to the left of it */
};

struct svg {
	struct report *report;
	struct stacks stacks;
	struct open_frame *open;
	size_t nr_open, nr_open_allocated;
	uint64_t nr_samples; /* of all stacks */
	size_t nr_levels;    /* that have a frame wide enough */
	uint64_t nr_narrow;  /* frames left out */
	void (*close)(struct svg *svg, size_t level, uint64_t end);
};

/* ---- text ---- */

/* Printable UTF-8 becomes XML text; two code points are neither. */
static void add_xml(struct textbuf *buf, const char *text, size_t len)
{
	static const struct {
		char byte;
		const char *entity;
	} entities[] = { { '&', "&amp;" },
			 { '<', "&lt;" },
			 { '>', "&gt;" },
			 { '"', "&quot;" },
			 { '\'', "&#39;" } };

	for (size_t i = 0, nr; i < len; i += nr) {
		uint32_t code = 0;
		size_t j = 0;

		nr = text_utf8_len(text + i, len - i, &code);
		while (j < ARRAY_SIZE(entities) && entities[j].byte != text[i])
			j++;
		if (j < ARRAY_SIZE(entities))
			textbuf_puts(buf, entities[j].entity);
		else if (!nr || code == 0xfffe || code == 0xffff)
			textbuf_puts(buf, "?");
		else
			textbuf_add(buf, text + i, nr);
		nr = MAX(nr, (size_t)1);
	}
}

/* What fits into @width pixels; ".." stands for what does not. */
static void add_label(struct textbuf *buf, const char *text, double width)
{
	double max = width / CHAR_WIDTH;
	size_t len = strlen(text);
	size_t nr_fit = 0; /* bytes with room for ".." behind them */
	double columns = 0;

	for (size_t i = 0, nr; i < len; i += nr) {
		uint32_t code = 0;

		nr = MAX(text_utf8_len(text + i, len - i, &code), (size_t)1);
		if (columns + 2 <= max)
			nr_fit = i;
		columns += code >= 0x1100 ? 2 : 1;
		if (columns > max) {
			add_xml(buf, text, nr_fit);
			textbuf_puts(buf, "..");
			return;
		}
	}
	add_xml(buf, text, len);
}

/* ---- frames ---- */

static double width_of(const struct svg *svg, uint64_t nr_samples)
{
	return (double)nr_samples / (double)svg->nr_samples * (WIDTH - 2 * MARGIN);
}

static void measure_frame(struct svg *svg, size_t level, uint64_t end)
{
	if (width_of(svg, end - svg->open[level].start) < MIN_WIDTH)
		svg->nr_narrow++;
	else
		svg->nr_levels = MAX(svg->nr_levels, level + 1);
}

/* User code is warm, the kernel cold; the shade tells neighbours apart. */
static uint32_t frame_color(const struct open_frame *frame)
{
	uint64_t hash = hash_bytes(frame->name, strlen(frame->name));
	uint32_t a = hash & 63, b = hash >> 8 & 63;

	switch (frame->class) {
	case CLASS_USER:
		return (192 + a) << 16 | (80 + 2 * b) << 8 | (40 + b / 2);
	case CLASS_KERNEL:
		return (110 + a) << 16 | (150 + b) << 8 | 240;
	case CLASS_GROUP:
		break;
	}
	return 0xd0d0d0;
}

static void draw_frame(struct svg *svg, size_t level, uint64_t end)
{
	const struct open_frame *frame = &svg->open[level];
	uint64_t nr_samples = end - frame->start;
	struct textbuf *buf = &svg->report->buf;
	double width = width_of(svg, nr_samples);
	double x = MARGIN + width_of(svg, frame->start);
	size_t y = HEAD + (svg->nr_levels - 1 - level) * ROW;

	if (width < MIN_WIDTH)
		return;
	textbuf_puts(buf, "<g><title>");
	add_xml(buf, frame->name, strlen(frame->name));
	textbuf_printf(buf, "%s (%llu sample%s, %.2f%%)</title>",
		       frame->class == CLASS_KERNEL ? " [k]" : "", (unsigned long long)nr_samples,
		       nr_samples == 1 ? "" : "s",
		       100 * (double)nr_samples / (double)svg->nr_samples);
	textbuf_printf(buf,
		       "<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"/>",
		       x, y, width, ROW - 1, frame_color(frame));
	if (width >= 3 * CHAR_WIDTH) {
		textbuf_printf(buf, "<text x=\"%.2f\" y=\"%zu\"%s>", x + 2, y + 12,
			       frame->class == CLASS_KERNEL ? " class=\"k\"" : "");
		add_label(buf, frame->name, width - 4);
		textbuf_puts(buf, "</text>");
	}
	textbuf_puts(buf, "</g>\n");
	report_pump(svg->report);
}

static size_t nr_groups(const struct svg *svg)
{
	return svg->stacks.has_events ? 3 : 2;
}

/* "all", the event if there are several, the comm, then code from the outermost in. */
static struct open_frame get_frame(const struct svg *svg, const struct stack *stack, size_t level)
{
	const struct frame_place *place;

	if (level == 0)
		return (struct open_frame){ .name = "all" };
	if (level + 1 == nr_groups(svg))
		return (struct open_frame){ .name = stack_comm(stack) };
	if (level < nr_groups(svg))
		return (struct open_frame){ .name = stack->row->event };
	place = stack->places[stack->nr_places - 1 - (level - nr_groups(svg))];
	return (struct open_frame){
		.name = place_name(place),
		.class = place->kernel ? CLASS_KERNEL : CLASS_USER,
	};
}

static bool is_open(const struct svg *svg, size_t level, const struct open_frame *frame)
{
	return level < svg->nr_open && svg->open[level].class == frame->class &&
	       !strcmp(svg->open[level].name, frame->name);
}

static void close_from(struct svg *svg, size_t level, uint64_t end)
{
	while (svg->nr_open > level) {
		svg->close(svg, svg->nr_open - 1, end);
		svg->nr_open--;
	}
}

/* Of the frames of @stack, how many are open already. */
static size_t nr_common(const struct svg *svg, const struct stack *stack, size_t nr_levels)
{
	size_t level = 0;

	for (; level < nr_levels; level++) {
		struct open_frame frame = get_frame(svg, stack, level);

		if (!is_open(svg, level, &frame))
			break;
	}
	return level;
}

static void open_frame(struct svg *svg, const struct stack *stack, size_t level, uint64_t start)
{
	struct open_frame frame = get_frame(svg, stack, level);

	frame.start = start;
	mem_grow(svg->open, svg->nr_open, svg->nr_open_allocated);
	svg->open[svg->nr_open++] = frame;
}

static void each_frame(struct svg *svg, void (*close)(struct svg *svg, size_t level, uint64_t end))
{
	uint64_t position = 0;

	svg->close = close;
	for (size_t i = 0; i < svg->stacks.nr; i++) {
		const struct stack *stack = &svg->stacks.list[i];
		size_t nr_levels = nr_groups(svg) + stack->nr_places;
		size_t level = nr_common(svg, stack, nr_levels);

		close_from(svg, level, position);
		for (; level < nr_levels; level++)
			open_frame(svg, stack, level, position);
		position += stack->nr_samples;
	}
	close_from(svg, 0, position);
}

/* ---- around them ---- */

static void add_head(struct svg *svg)
{
	struct report *report = svg->report;
	struct textbuf *buf = &report->buf;
	size_t height = HEAD + svg->nr_levels * ROW + FOOT;
	struct textbuf text = { 0 };

	textbuf_printf(buf,
		       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
		       "viewBox=\"0 0 %d %zu\">\n<title>",
		       WIDTH, height, WIDTH, height);
	textbuf_puts(&text, "symtop: ");
	report_add_title(report, &text);
	add_xml(buf, text.text, text.len);
	textbuf_puts(buf, "</title>\n<desc>");
	textbuf_clear(&text);
	report_add_facts(report, &text, "", ": ");
	add_xml(buf, text.text, text.len);
	textbuf_puts(buf, "</desc>\n<style>text{font:12px monospace;white-space:pre}"
			  ".h{font-size:14px;font-weight:bold}.k{font-style:italic}"
			  "g:hover rect{stroke:#000}</style>\n");
	textbuf_printf(buf, "<rect width=\"%d\" height=\"%zu\" fill=\"#fff\"/>\n", WIDTH, height);
	textbuf_clear(&text);
	report_add_title(report, &text);
	textbuf_printf(buf, "<text class=\"h\" x=\"%d\" y=\"20\">", MARGIN);
	add_label(buf, text.text, (WIDTH - 2 * MARGIN) * 12.0 / 14);
	textbuf_printf(buf, "</text>\n<text x=\"%d\" y=\"40\">", MARGIN);
	add_label(buf, report->command_line, WIDTH - 2 * MARGIN);
	textbuf_puts(buf, "</text>\n");
	textbuf_release(&text);
}

static void add_foot(struct svg *svg)
{
	struct textbuf *buf = &svg->report->buf;

	textbuf_printf(buf, "<text x=\"%d\" y=\"%zu\">", MARGIN, HEAD + svg->nr_levels * ROW + 16);
	if (!svg->nr_samples)
		textbuf_puts(buf, "no samples  ");
	textbuf_puts(buf, "warm: programs  cold, slanted: kernel");
	if (svg->nr_narrow)
		textbuf_printf(buf, "  %llu frames too narrow to be drawn",
			       (unsigned long long)svg->nr_narrow);
	textbuf_puts(buf, "</text>\n</svg>\n");
}

void output_svg(struct report *report)
{
	struct svg svg = { .report = report };

	stacks_init(&svg.stacks, report->snapshot);
	stacks_sort(&svg.stacks);
	svg.nr_samples = stacks_nr_samples(&svg.stacks, 0, svg.stacks.nr);
	each_frame(&svg, measure_frame);
	add_head(&svg);
	each_frame(&svg, draw_frame);
	add_foot(&svg);
	free(svg.open);
	stacks_release(&svg.stacks);
}
