/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Written with write(2) at once: a report is one buffer already, and an error must
 * be known when it happens, not when stdio flushes.
 */
#include "config.h"

#include "top/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"

struct output {
	char *path;	 /* as named; "stdout" */
	char *temporary; /* what is written until the end; NULL: path itself */
	int fd;
};

/* Devices, pipes and the like are written as they are. */
static bool is_replaceable(const char *path)
{
	struct stat stat;

	if (lstat(path, &stat) < 0)
		return errno == ENOENT;
	return S_ISREG(stat.st_mode);
}

static int open_file(struct output *output, const char *path, struct err *err)
{
	mode_t mask;

	if (!is_replaceable(path)) {
		output->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		return output->fd < 0 ? err_set(err, -errno, "%s", path) : 0;
	}
	output->temporary = mem_printf("%s.XXXXXX", path);
	output->fd = mkostemp(output->temporary, O_CLOEXEC);
	if (output->fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
		return err_set(err, -errno, "%s", path);
	}
	/* mkostemp() makes it private; the user asked for a file like any other. */
	mask = umask(0);
	umask(mask);
	if (fchmod(output->fd, 0666 & ~mask) < 0)
		return err_set(err, -errno, "%s", output->temporary);
	return 0;
}

int output_open(const char *path, struct output **ret_output, struct err *err)
{
	struct output *output = mem_zalloc(sizeof(*output));
	int ret = 0;

	output->path = mem_strdup(path ? path : "stdout");
	output->fd = STDOUT_FILENO;
	if (path)
		ret = open_file(output, path, err);
	if (ret < 0) {
		int ignored = output_close(output, false, NULL);

		(void)ignored; /* nothing was written */
		return ret;
	}
	*ret_output = output;
	return 0;
}

int output_write(struct output *output, const char *text, size_t len, struct err *err)
{
	while (len) {
		ssize_t nr = write(output->fd, text, len);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0 && errno == EAGAIN) {
			/* Someone made the pipe non-blocking: wait like anyone else. */
			struct pollfd wait = { .fd = output->fd, .events = POLLOUT };

			poll(&wait, 1, -1);
			continue;
		}
		if (nr < 0 && errno == EPIPE)
			return -EPIPE;
		if (nr < 0)
			return err_set(err, -errno, "%s", output->path);
		text += nr;
		len -= (size_t)nr;
	}
	return 0;
}

int output_fd(const struct output *output)
{
	return output->fd;
}

int output_close(struct output *output, bool keep, struct err *err)
{
	int ret = 0;

	if (!output)
		return 0;
	/* stdout too: a network file system may report a failed write only here. */
	if (output->fd >= 0 && close(output->fd) < 0 && keep)
		ret = err_set(err, -errno, "%s", output->path);
	if (output->temporary && keep && ret == 0 && rename(output->temporary, output->path) < 0)
		ret = err_set(err, -errno, "%s", output->path);
	else if (output->temporary && (!keep || ret < 0))
		unlink(output->temporary);
	free(output->temporary);
	free(output->path);
	free(output);
	return ret;
}
