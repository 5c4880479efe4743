/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ids are checked against /proc here, so that a wrong one is named before anything is opened. */
#include "config.h"

#include "top/target.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/text.h"

static bool is_alive(const char *proc, uint32_t id)
{
	char *path = mem_printf("%s/%u", proc, id);
	bool alive = access(path, F_OK) == 0;

	free(path);
	return alive;
}

static int parse_ids(const char *text, const char *what, const char *proc, struct target *target,
		     struct err *err)
{
	char *copy = mem_strdup(text);
	char *rest = copy;
	size_t nr_allocated = 0;
	char *word;
	int ret = 0;

	while ((word = strsep(&rest, ","))) {
		uint64_t id;

		if (options_parse_number(word, 1, INT32_MAX, &id) < 0) {
			ret = err_say(err, -EINVAL, "%s: '%s' is no id", what, word);
			break;
		}
		if (!is_alive(proc, (uint32_t)id)) {
			ret = err_set(err, -ESRCH, "%s %s", what, word);
			break;
		}
		mem_grow(target->ids, target->nr_ids, nr_allocated);
		target->ids[target->nr_ids++] = (uint32_t)id;
	}
	free(copy);
	return ret;
}

static int parse_user(const char *text, struct target *target, struct err *err)
{
	const struct passwd *entry;
	uint64_t uid;

	errno = 0;
	entry = getpwnam(text);
	if (entry) {
		target->uid = entry->pw_uid;
		return 0;
	}
	if (options_parse_number(text, 0, UINT32_MAX - 1, &uid) < 0)
		return err_say(err, -EINVAL, "-u: no user is called '%s'", text);
	target->uid = (uid_t)uid;
	return 0;
}

static int parse_cpus(const char *text, const struct cpumap *cpumap, struct target *target,
		      struct err *err)
{
	int ret = cpuset_parse(text, &target->cpus, err);

	if (ret < 0)
		return ret;
	target->has_cpus = true;
	if (!cpuset_nr(&target->cpus))
		return err_say(err, -EINVAL, "-C: no CPU named");
	for (int cpu = cpuset_next(&target->cpus, 0); cpu >= 0;
	     cpu = cpuset_next(&target->cpus, (unsigned int)cpu + 1)) {
		char list[128];

		if (cpuset_has(&cpumap->online, (unsigned int)cpu))
			continue;
		cpuset_format(&cpumap->online, list, sizeof(list));
		return err_say(err, -ENODEV, "CPU %d is not online (online: %s)", cpu, list);
	}
	return 0;
}

static int parse_nodes(const char *text, const struct cpumap *cpumap, struct target *target,
		       struct err *err)
{
	struct cpuset nodes, cpus;
	int ret = cpuset_parse(text, &nodes, err);

	if (ret < 0)
		return ret;
	target->has_cpus = true;
	for (int node = cpuset_next(&nodes, 0); node >= 0;
	     node = cpuset_next(&nodes, (unsigned int)node + 1)) {
		if (!cpuset_has(&cpumap->nodes, (unsigned int)node))
			return err_say(err, -ENODEV, "there is no node %d", node);
		cpumap_node_cpus(cpumap, (unsigned int)node, &cpus);
		for (size_t i = 0; i < ARRAY_SIZE(cpus.bits); i++)
			target->cpus.bits[i] |= cpus.bits[i] & cpumap->online.bits[i];
	}
	if (!cpuset_nr(&target->cpus))
		return err_say(err, -EINVAL, "--node %s: no CPU is online there", text);
	return 0;
}

int target_init(const struct options *options, const struct cpumap *cpumap, const char *proc,
		struct target *ret_target, struct err *err)
{
	struct target *target = ret_target;
	int ret = 0;

	memset(target, 0, sizeof(*target));
	if (options->pids) {
		target->kind = TARGET_PROCESSES;
		ret = parse_ids(options->pids, "process", proc, target, err);
	} else if (options->tids) {
		target->kind = TARGET_THREADS;
		ret = parse_ids(options->tids, "thread", proc, target, err);
	} else if (options->user) {
		target->kind = TARGET_USER;
		ret = parse_user(options->user, target, err);
	} else if (options->command) {
		target->kind = TARGET_COMMAND;
	}
	if (ret == 0 && options->cpus)
		ret = parse_cpus(options->cpus, cpumap, target, err);
	if (ret == 0 && options->nodes)
		ret = parse_nodes(options->nodes, cpumap, target, err);
	if (ret < 0)
		target_release(target);
	return ret;
}

void target_release(struct target *target)
{
	free(target->ids);
	target->ids = NULL;
	target->nr_ids = 0;
}

static void add_comm(struct textbuf *text, uint32_t pid)
{
	char *path = mem_printf("/proc/%u/comm", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char comm[64];
	ssize_t len;

	free(path);
	if (fd < 0)
		return; /* gone meanwhile: the number is name enough */
	len = read(fd, comm, sizeof(comm));
	close(fd);
	if (len > 0 && comm[len - 1] == '\n')
		len--;
	if (len <= 0)
		return;
	textbuf_puts(text, " (");
	text_add_printable(text, comm, (size_t)len);
	textbuf_puts(text, ")");
}

char *target_describe(const struct target *target, const struct options *options)
{
	struct textbuf text = { 0 };
	char list[128];

	switch (target->kind) {
	case TARGET_MACHINE:
		textbuf_puts(&text, "all processes");
		break;
	case TARGET_PROCESSES:
		textbuf_printf(&text, "pid %s", options->pids);
		if (target->nr_ids == 1)
			add_comm(&text, target->ids[0]);
		break;
	case TARGET_THREADS:
		textbuf_printf(&text, "tid %s", options->tids);
		break;
	case TARGET_USER:
		textbuf_printf(&text, "user %s", options->user);
		break;
	case TARGET_COMMAND:
		textbuf_puts(&text, "command ");
		text_add_printable(&text, options->command[0], strlen(options->command[0]));
		break;
	}
	if (target->has_cpus) {
		cpuset_format(&target->cpus, list, sizeof(list));
		textbuf_printf(&text, " on CPUs %s", list);
	}
	return text.text;
}
