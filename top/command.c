/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The child waits for a byte on one pipe and reports a failing exec on another, which
 * exec closes: end of file there means that the program runs.
 */
#include "config.h"

#include "top/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"

struct command {
	char **argv;
	pid_t pid;
	int go_fd;     /* write a byte: go */
	int failed_fd; /* read an errno, or end of file: it runs */
	bool ended;
	int status;
};

/* Async-signal-safe calls only, as after any fork of a threaded program. */
static void child(char **argv, bool quiet, int go_fd, int failed_fd)
{
	sigset_t none;
	char byte;
	int code;

	if (quiet) {
		int null_fd = open("/dev/null", O_RDWR);

		if (null_fd >= 0) {
			dup2(null_fd, STDIN_FILENO);
			dup2(null_fd, STDOUT_FILENO);
			dup2(null_fd, STDERR_FILENO);
		}
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (read(go_fd, &byte, 1) != 1)
		_exit(126); /* symtop changed its mind */
	execvp(argv[0], argv);
	code = errno;
	if (write(failed_fd, &code, sizeof(code)) != sizeof(code))
		_exit(126);
	_exit(127);
}

int command_prepare(char **argv, bool quiet, struct command **ret_command, struct err *err)
{
	struct command *command;
	int go[2], failed[2];
	pid_t pid;
	int ret;

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_set(err, -errno, "%s: pipe", argv[0]);
	if (pipe2(failed, O_CLOEXEC) < 0) {
		ret = err_set(err, -errno, "%s: pipe", argv[0]);
		goto err_go;
	}
	pid = fork();
	if (pid < 0) {
		ret = err_set(err, -errno, "%s: fork", argv[0]);
		goto err_failed;
	}
	if (!pid) {
		close(go[1]);
		child(argv, quiet, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	command = mem_zalloc(sizeof(*command));
	command->argv = argv;
	command->pid = pid;
	command->go_fd = go[1];
	command->failed_fd = failed[0];
	*ret_command = command;
	return 0;

err_failed:
	close(failed[0]);
	close(failed[1]);
err_go:
	close(go[0]);
	close(go[1]);
	return ret;
}

uint32_t command_pid(const struct command *command)
{
	return (uint32_t)command->pid;
}

int command_go(struct command *command, struct err *err)
{
	int code = 0;
	ssize_t len;

	if (write(command->go_fd, "", 1) != 1)
		return err_set(err, -errno, "%s: cannot be started", command->argv[0]);
	do
		len = read(command->failed_fd, &code, sizeof(code));
	while (len < 0 && errno == EINTR);
	if (len == sizeof(code))
		return err_set(err, -code, "%s", command->argv[0]);
	return 0;
}

bool command_has_ended(struct command *command, int *ret_status)
{
	if (!command->ended)
		command->ended = waitpid(command->pid, &command->status, WNOHANG) == command->pid;
	if (command->ended)
		*ret_status = command->status;
	return command->ended;
}

void command_free(struct command *command)
{
	if (!command)
		return;
	close(command->go_fd);
	if (!command->ended) {
		kill(command->pid, SIGTERM);
		/* A child that ignores it is left to init rather than waited for. */
		for (int i = 0; i < 20 && !command_has_ended(command, &command->status); i++)
			poll(NULL, 0, 10);
	}
	close(command->failed_fd);
	free(command);
}
