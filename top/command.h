/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that symtop starts and watches: forked early, held back until the
 * events are open, then let go. Main thread only.
 */
#ifndef SYMTOP_TOP_COMMAND_H
#define SYMTOP_TOP_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

struct command;

/*
 * Fork a child that will run @argv. With @quiet its input and output go to
 * /dev/null: the screen is ours. On success *@ret_command is the caller's.
 */
int command_prepare(char **argv, bool quiet, struct command **ret_command,
		    struct err *err) MUST_CHECK;

uint32_t command_pid(const struct command *command);

/* Let it exec. Returns 0, or what execvp(3) reported, with @err. */
int command_go(struct command *command, struct err *err) MUST_CHECK;

/* After SIGCHLD: true when it has ended; *@ret_status is from wait(2). */
bool command_has_ended(struct command *command, int *ret_status);

/* End it if it runs (SIGTERM, and its exit is waited for a moment), and free. NULL is fine. */
void command_free(struct command *command);

#endif /* SYMTOP_TOP_COMMAND_H */
