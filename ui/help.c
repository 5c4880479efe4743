/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made from the table of keys, so a key cannot be missing here.
 */
#include "config.h"

#include "ui/help.h"

#include "core/base/compiler.h"
#include "ui/keys.h"

enum { KEYS_WIDTH = 16 };

static const struct {
	const char *name, *text;
} words[] = {
	{ "filter", "a word is looked for in comm, object and symbol; key=value != ~ (regex) "
		    "< > with comm dso symbol event pid tid cpu node; ! is not, | is or" },
	{ "lost", "samples the kernel could not write; shares are of those received" },
	{ "overwritten", "samples that newer ones replaced before they were read" },
	{ "throttled", "times the kernel stopped an event that fired too often" },
	{ "unresolved", "share of samples at an address where no file is known" },
	{ "unnamed", "share of samples in files without a symbol there (stripped)" },
	{ "naming", "share of samples whose name is still being looked up" },
	{ "read", "time the last refresh took to read the rings, share of the refresh" },
	{ "self", "CPU (100% is one CPU) and memory that symtop takes itself" },
	{ "scan", "processes read from /proc, of those there are" },
	{ "rec", "size of the recording so far; with .. the rest is on its way" },
	{ "dropped", "records that the disk was too slow for" },
	{ "flight", "seconds kept for W, of those asked for; cut: memory is short" },
	{ "[k] [.]", "kernel, user; [g] guest kernel, [u] guest user, [H] hypervisor" },
	{ "delta", "a share less that of the baseline, in points; new: it was not there; "
		   "-: a filter or limit may have hidden it; red: more, green: less" },
	{ "red bold", "5% and more; green: 0.5% and more" },
};

static void fill_notes(struct pager *pager, const struct screen *screen,
		       const struct snapshot *snapshot)
{
	if (!snapshot || !snapshot_nr_notes(snapshot))
		return;
	pager_add(pager, screen, 0, STYLE_BOLD, "Notes");
	for (size_t i = 0; i < snapshot_nr_notes(snapshot); i++) {
		const struct note *note = snapshot_note(snapshot, i);

		if (note->level == NOTE_WARN)
			pager_add(pager, screen, 4, STYLE_WARN, "  ! %s", note->text);
		else
			pager_add(pager, screen, 4, STYLE_NORMAL, "  - %s", note->text);
	}
	pager_add(pager, screen, 0, STYLE_NORMAL, " ");
}

void help_fill(struct pager *pager, const struct screen *screen, const struct snapshot *snapshot)
{
	char names[64];

	pager_clear(pager);
	fill_notes(pager, screen, snapshot);
	for (size_t i = 0; i < keys_nr(); i++) {
		const struct key_binding *binding = keys_binding(i);

		if (binding->section) {
			if (i)
				pager_add(pager, screen, 0, STYLE_NORMAL, " ");
			pager_add(pager, screen, 0, STYLE_BOLD, "%s", binding->section);
		}
		keys_names(binding, names, sizeof(names));
		pager_add(pager, screen, KEYS_WIDTH, STYLE_NORMAL, "  %-*s%s", KEYS_WIDTH - 2,
			  names, binding->help);
	}
	pager_add(pager, screen, 0, STYLE_NORMAL, " ");
	pager_add(pager, screen, 0, STYLE_BOLD, "Words");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		pager_add(pager, screen, KEYS_WIDTH, STYLE_NORMAL, "  %-*s%s", KEYS_WIDTH - 2,
			  words[i].name, words[i].text);
}
