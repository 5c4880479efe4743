/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Items are copied in, so a menu depends on nothing that a new snapshot replaces.
 */
#include "config.h"

#include "ui/menu.h"

#include <stdarg.h>
#include <stdio.h>

#include "ui/input.h"

void menu_init(struct menu *menu, const char *title)
{
	*menu = (struct menu){ .title = title };
}

void menu_add(struct menu *menu, int value, const char *fmt, ...)
{
	va_list args;

	if (menu->nr >= MENU_ITEMS)
		return;
	va_start(args, fmt);
	vsnprintf(menu->items[menu->nr], MENU_ITEM_BYTES, fmt, args);
	va_end(args);
	menu->values[menu->nr++] = value;
}

enum menu_result menu_key(struct menu *menu, uint32_t key)
{
	if (key == INPUT_UP || key == 'k') {
		menu->index = menu->index ? menu->index - 1 : 0;
		return MENU_MOVED;
	}
	if (key == INPUT_DOWN || key == 'j') {
		menu->index = menu->index + 1 < menu->nr ? menu->index + 1 : menu->index;
		return MENU_MOVED;
	}
	if (key == INPUT_ENTER || key == ' ')
		return menu->nr ? MENU_CHOSEN : MENU_LEFT;
	if (key == INPUT_ESCAPE || key == 'q' || key == INPUT_LEFT)
		return MENU_LEFT;
	return MENU_IGNORED;
}

void menu_draw(const struct menu *menu, struct screen *screen, int y, int height)
{
	int width = screen_width(screen, menu->title, MENU_ITEM_BYTES);
	int bottom = y + height;
	size_t first = 0;

	for (size_t i = 0; i < menu->nr; i++)
		width = MAX(width, screen_width(screen, menu->items[i], MENU_ITEM_BYTES));
	width += 4; /* the cursor's mark and blanks beside */
	if (height > 1) {
		screen_fill(screen, y, 0, width, STYLE_TITLE);
		screen_put(screen, y++, 1, width - 1, menu->title, STYLE_TITLE);
	}
	if (menu->index >= (size_t)MAX(bottom - y, 1))
		first = menu->index - (size_t)MAX(bottom - y, 1) + 1;
	for (size_t i = first; i < menu->nr && y < bottom; i++, y++) {
		screen_fill(screen, y, 0, width, STYLE_NORMAL);
		screen_put(screen, y, 2, width - 2, menu->items[i], STYLE_NORMAL);
		if (i != menu->index)
			continue;
		screen_put(screen, y, 0, 1, ">", STYLE_BOLD);
		screen_select(screen, y, 0, width);
	}
}
