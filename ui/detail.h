/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything about one row: names in full, counts, call chains.
 */
#ifndef SYMTOP_UI_DETAIL_H
#define SYMTOP_UI_DETAIL_H

#include <stdbool.h>

#include "core/snapshot.h"
#include "ui/pager.h"

/*
 * Fill @pager for @screen with @row of @snapshot. @gone: it is not in the newest
 * snapshot, what is shown is the last that was known.
 */
void detail_fill(struct pager *pager, const struct screen *screen, const struct snapshot *snapshot,
		 const struct row *row, bool gone);

#endif /* SYMTOP_UI_DETAIL_H */
