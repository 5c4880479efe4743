/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracepoints: folders TRACEFS/events/SUBSYSTEM/NAME with a file "id", which is the
 * config of the event. Read when asked for, nothing is kept: a name is given once.
 */
#include "config.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/event_private.h"

static bool path_exists(const char *tracefs, const char *subsystem, const char *name,
			const char *file)
{
	char path[PATH_MAX];
	int len =
		snprintf(path, sizeof(path), "%s/events/%s/%s/%s", tracefs, subsystem, name, file);

	return len > 0 && (size_t)len < sizeof(path) && access(path, F_OK) == 0;
}

/* Reading tracefs failed with @code: say why that may be. */
static int tracefs_error(const char *tracefs, const char *subsystem, int code, struct err *err)
{
	err_set(err, code, "tracepoints of '%s': %s/events", subsystem, tracefs);
	if (code == -EACCES || code == -EPERM) {
		err_hint(err,
			 "only root may read tracefs, unless it is mounted with gid= or mode=");
		return -EACCES;
	}
	return code;
}

bool tracepoint_has_subsystem(const char *tracefs, const char *subsystem)
{
	return event_name_is_safe(subsystem) && path_exists(tracefs, subsystem, "", "");
}

static int unknown_subsystem(const char *tracefs, const char *subsystem, struct err *err)
{
	struct name_list names = { 0 };
	struct near_names near;
	int ret = event_read_dir(&names, "%s/events", tracefs);

	if (ret < 0)
		return tracefs_error(tracefs, subsystem, ret, err);
	near_names_init(&near, subsystem);
	for (size_t i = 0; i < names.nr; i++)
		near_names_offer(&near, names.names[i]);
	err_say(err, -ENOENT, "no tracepoint subsystem '%s'", subsystem);
	near_names_hint(&near, err);
	name_list_release(&names);
	return -ENOENT;
}

int tracepoint_match(const char *tracefs, const char *subsystem, const char *pattern,
		     struct name_list *ret_names, struct err *err)
{
	struct name_list names = { 0 }, matches = { 0 };
	struct near_names near;
	int ret = -ENOENT;

	if (event_name_is_safe(subsystem))
		ret = event_read_dir(&names, "%s/events/%s", tracefs, subsystem);
	if (ret == -ENOENT || ret == -ENOTDIR)
		return unknown_subsystem(tracefs, subsystem, err);
	if (ret < 0)
		return tracefs_error(tracefs, subsystem, ret, err);
	near_names_init(&near, pattern);
	for (size_t i = 0; i < names.nr; i++) {
		if (!path_exists(tracefs, subsystem, names.names[i], "id"))
			continue;
		near_names_offer(&near, names.names[i]);
		if (fnmatch(pattern, names.names[i], 0) == 0)
			name_list_take(&matches, mem_strdup(names.names[i]));
	}
	name_list_release(&names);
	if (!matches.nr) {
		err_say(err, -ENOENT, "no tracepoint '%s' in subsystem '%s'", pattern, subsystem);
		near_names_hint(&near, err);
		return -ENOENT;
	}
	*ret_names = matches;
	return 0;
}

int tracepoint_read_id(const char *tracefs, const char *subsystem, const char *name,
		       uint64_t *ret_id, struct err *err)
{
	char text[32];
	int ret =
		event_read_file(text, sizeof(text), "%s/events/%s/%s/id", tracefs, subsystem, name);

	if (ret < 0) {
		err_set(err, ret, "tracepoint %s:%s: cannot read its id", subsystem, name);
		return ret == -EPERM ? -EACCES : ret;
	}
	if (!event_parse_u64(text, 10, ret_id))
		return err_say(err, -EINVAL, "tracepoint %s:%s: its id is no number", subsystem,
			       name);
	return 0;
}

void tracepoint_each(const char *tracefs, event_each_fn each, void *arg)
{
	struct name_list subsystems = { 0 }, names = { 0 };
	char name[256];

	if (event_read_dir(&subsystems, "%s/events", tracefs) < 0)
		return;
	for (size_t i = 0; i < subsystems.nr; i++) {
		const char *subsystem = subsystems.names[i];

		if (event_read_dir(&names, "%s/events/%s", tracefs, subsystem) < 0)
			continue;
		for (size_t j = 0; j < names.nr; j++) {
			snprintf(name, sizeof(name), "%s:%s", subsystem, names.names[j]);
			if (path_exists(tracefs, subsystem, names.names[j], "id"))
				each(arg, name, "tracepoint");
		}
		name_list_release(&names);
	}
	name_list_release(&subsystems);
}
