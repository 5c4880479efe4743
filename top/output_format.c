/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --help, the man page and the completions name what is here; check-docs.sh compares. */
#include "config.h"

#include "top/output_format.h"

#include <string.h>

#define THREAD_KEYS "comm,pid,tid,dso,symbol,event"
#define TREE_KEYS "comm,dso,symbol,event"

static const struct output_format formats[] = {
	{
		.name = "text",
		.suffixes = { ".txt" },
		.write = output_text,
	},
	{
		.name = "json",
		.suffixes = { ".json", ".jsonl" },
		.write = output_json,
	},
	{
		.name = "csv",
		.suffixes = { ".csv" },
		.write = output_csv,
	},
	{
		.name = "folded",
		.suffixes = { ".folded", ".collapsed" },
		.write = output_folded,
		.stack_keys = TREE_KEYS,
	},
	{
		.name = "pprof",
		.suffixes = { ".pb.gz", ".pprof" },
		.write = output_pprof,
		.stack_keys = THREAD_KEYS ",cpu,node",
		.is_document = true,
		.is_binary = true,
	},
	{
		.name = "speedscope",
		.suffixes = { ".speedscope.json" },
		.write = output_speedscope,
		.stack_keys = THREAD_KEYS,
		.is_document = true,
	},
	{
		.name = "firefox",
		.suffixes = { ".firefox.json" },
		.write = output_firefox,
		.stack_keys = THREAD_KEYS,
		.is_document = true,
	},
	{
		.name = "script",
		.suffixes = { ".perf-script" },
		.write = output_script,
		.stack_keys = THREAD_KEYS ",cpu",
	},
	{
		.name = "prometheus",
		.suffixes = { ".prom" },
		.write = output_prometheus,
		.is_document = true,
	},
	{
		.name = "svg",
		.suffixes = { ".svg" },
		.write = output_svg,
		.stack_keys = TREE_KEYS,
		.is_document = true,
	},
};

const struct output_format *output_format_at(size_t index)
{
	return index < ARRAY_SIZE(formats) ? &formats[index] : NULL;
}

const struct output_format *output_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t len = strlen(text);
	size_t suffix_len = strlen(suffix);

	return len >= suffix_len && !strcmp(text + len - suffix_len, suffix);
}

const struct output_format *output_format_of_path(const char *path)
{
	const struct output_format *found = NULL;
	size_t longest = 0; /* .speedscope.json is .json too */

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		for (size_t j = 0; j < MAX_SUFFIXES && formats[i].suffixes[j]; j++) {
			const char *suffix = formats[i].suffixes[j];

			if (strlen(suffix) <= longest || !ends_with(path, suffix))
				continue;
			longest = strlen(suffix);
			found = &formats[i];
		}
	}
	return found;
}
