/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only door to curses. Without NCURSES_NOMACROS it defines clear, erase, move,
 * refresh and others as macros, which then rewrite our own names.
 */
#ifndef SYMTOP_UI_CURSES_H
#define SYMTOP_UI_CURSES_H

#ifndef NCURSES_NOMACROS
#define NCURSES_NOMACROS 1
#endif
#ifndef _XOPEN_SOURCE_EXTENDED
#define _XOPEN_SOURCE_EXTENDED 1 /* wide characters, where _GNU_SOURCE does not bring them */
#endif

#include <curses.h>
#include <term.h>

#endif /* SYMTOP_UI_CURSES_H */
