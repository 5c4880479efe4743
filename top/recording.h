/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings as the person is told of them: by a signal begun, on stderr ended. What is
 * written and how is the collector's.
 */
#ifndef SYMTOP_TOP_RECORDING_H
#define SYMTOP_TOP_RECORDING_H

#include <stdbool.h>

#include "core/snapshot.h"
#include "top/session.h"

/* Whether SIGUSR2 means a recording; if not, it has its usual meaning. */
bool recording_wants_signal(const struct session *session);

/* A line on stderr for a recording that has ended and was not told of yet. */
void recording_tell(struct session *session, const struct recording_figures *figures);

/*
 * Wait until all is on the disk, and tell. Does nothing when it never came to a collector.
 * Returns @status, or 1 in place of 0 when one of the recordings failed.
 */
int recording_finish(struct session *session, int status);

#endif /* SYMTOP_TOP_RECORDING_H */
