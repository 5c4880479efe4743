/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Only what is known of the row gets a line; an absent line means that the view does
 * not tell rows apart by it.
 */
#include "config.h"

#include "ui/detail.h"

#include <inttypes.h>

#include "core/base/compiler.h"
#include "ui/format.h"

enum { NAME_WIDTH = 12 };

static void add_text(struct pager *pager, const struct screen *screen, const char *name,
		     const char *text)
{
	if (text && *text)
		pager_add(pager, screen, NAME_WIDTH, STYLE_NORMAL, "%-*s%s", NAME_WIDTH, name,
			  text);
}

static void add_number(struct pager *pager, const struct screen *screen, const char *name,
		       int64_t number)
{
	if (number >= 0)
		pager_add(pager, screen, NAME_WIDTH, STYLE_NORMAL, "%-*s%" PRId64, NAME_WIDTH, name,
			  number);
}

static const char *level_name(enum row_level level)
{
	static const char *const names[] = {
		[LEVEL_USER] = "user",
		[LEVEL_KERNEL] = "kernel",
		[LEVEL_GUEST_USER] = "guest user",
		[LEVEL_GUEST_KERNEL] = "guest kernel",
		[LEVEL_HYPERVISOR] = "hypervisor",
	};

	return (size_t)level < ARRAY_SIZE(names) ? names[level] : "unknown";
}

static void add_weights(struct pager *pager, const struct screen *screen,
			const struct snapshot *snapshot, const struct row *row)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	char share[FORMAT_SIZE];
	char samples[FORMAT_SIZE];
	char period[FORMAT_SIZE];

	format_share(row->self_share, 2, share);
	format_count(row->nr_samples, samples);
	format_count(row->period, period);
	pager_add(pager, screen, NAME_WIDTH, STYLE_NORMAL, "%-*s%s of %s, %s samples, period %s",
		  NAME_WIDTH, "self", share, header->relative ? "what is shown" : "all samples",
		  samples, period);
	if (!header->has_chains)
		return;
	format_share(row->children_share, 2, share);
	format_count(row->children_period, period);
	pager_add(pager, screen, NAME_WIDTH, STYLE_NORMAL, "%-*s%s, period %s", NAME_WIDTH,
		  "children", share, period);
}

static void add_chain(struct pager *pager, const struct screen *screen,
		      const struct row_chain *chain, double total)
{
	char samples[FORMAT_SIZE];
	char share[FORMAT_SIZE];

	format_share(total > 0 ? chain->period / total : 0, 1, share);
	format_count(chain->nr_samples, samples);
	pager_add(pager, screen, 0, STYLE_NORMAL, " ");
	pager_add(pager, screen, 0, STYLE_BOLD, "%s  %s samples", share, samples);
	for (size_t i = 0; i < chain->nr_frames; i++)
		pager_add(pager, screen, 8, STYLE_NORMAL, "  %s %s",
			  chain->frames_kernel[i] ? "[k]" : "[.]", chain->frames[i]);
}

static void add_chains(struct pager *pager, const struct screen *screen,
		       const struct snapshot *snapshot, const struct row *row)
{
	const struct snapshot_header *header = snapshot_header(snapshot);

	pager_add(pager, screen, 0, STYLE_NORMAL, " ");
	if (!row->nr_chains) {
		pager_add(pager, screen, 0, STYLE_DIM, "%s",
			  header->has_chains ? "no call chains of this row yet"
					     : "no call chains: start with -g to record them");
		return;
	}
	pager_add(pager, screen, 0, STYLE_BOLD,
		  "Call chains, heaviest first, innermost frame first");
	for (size_t i = 0; i < row->nr_chains; i++) {
		size_t index = row->first_chain + i;

		if (index >= snapshot_nr_chains(snapshot))
			break;
		add_chain(pager, screen, snapshot_chain(snapshot, index),
			  MAX(row->period, row->children_period));
	}
}

void detail_fill(struct pager *pager, const struct screen *screen, const struct snapshot *snapshot,
		 const struct row *row, bool gone)
{
	pager_clear(pager);
	if (gone)
		pager_add(pager, screen, 0, STYLE_WARN,
			  "No samples in the window now; this is what was last known.");
	pager_add(pager, screen, NAME_WIDTH, STYLE_BOLD, "%-*s%s", NAME_WIDTH, "symbol",
		  *row->symbol ? row->symbol : "-");
	if (row->symbol_pending)
		pager_add(pager, screen, NAME_WIDTH, STYLE_DIM, "%-*s%s", NAME_WIDTH, "",
			  "its name is still being looked up");
	if (row->unresolved)
		pager_add(pager, screen, NAME_WIDTH, STYLE_DIM, "%-*s%s", NAME_WIDTH, "",
			  "no file is known at this address");
	add_text(pager, screen, "object", row->dso);
	add_text(pager, screen, "path", row->dso_path);
	add_text(pager, screen, "level", level_name(row->level));
	add_text(pager, screen, "comm", row->comm);
	add_number(pager, screen, "pid", row->pid);
	add_number(pager, screen, "tid", row->tid);
	add_number(pager, screen, "cpu", row->cpu);
	add_number(pager, screen, "node", row->node);
	add_text(pager, screen, "event", row->event);
	add_weights(pager, screen, snapshot, row);
	add_chains(pager, screen, snapshot, row);
}
