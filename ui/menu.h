/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A short list to choose from, drawn over the left of the table.
 */
#ifndef SYMTOP_UI_MENU_H
#define SYMTOP_UI_MENU_H

#include <stddef.h>
#include <stdint.h>

#include "ui/screen.h"

enum { MENU_ITEMS = 16, MENU_ITEM_BYTES = 48 };

/* A plain value. */
struct menu {
	const char *title; /* borrowed: a literal */
	char items[MENU_ITEMS][MENU_ITEM_BYTES];
	int values[MENU_ITEMS]; /* what the owner knows an item by */
	size_t nr;
	size_t index; /* under the cursor */
};

enum menu_result { MENU_IGNORED, MENU_MOVED, MENU_CHOSEN, MENU_LEFT };

/* An empty menu. */
void menu_init(struct menu *menu, const char *title);
void menu_add(struct menu *menu, int value, const char *fmt, ...) PRINTF(3, 4);

enum menu_result menu_key(struct menu *menu, uint32_t key);

/* Draw on at most @height lines from @y on. */
void menu_draw(const struct menu *menu, struct screen *screen, int y, int height);

#endif /* SYMTOP_UI_MENU_H */
