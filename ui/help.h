/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The help page: the notes in full, the keys, what figures and marks mean.
 */
#ifndef SYMTOP_UI_HELP_H
#define SYMTOP_UI_HELP_H

#include "core/snapshot.h"
#include "ui/pager.h"

/* Fill @pager for @screen. @snapshot may be NULL. */
void help_fill(struct pager *pager, const struct screen *screen, const struct snapshot *snapshot);

#endif /* SYMTOP_UI_HELP_H */
