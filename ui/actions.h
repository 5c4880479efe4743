/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keys do, one function each; keys.c says which key. A function changes the state
 * and may leave a wish for top/.
 */
#ifndef SYMTOP_UI_ACTIONS_H
#define SYMTOP_UI_ACTIONS_H

#include "ui/state.h"

/* actions.c: the view and the program */
void action_quit(struct state *state);
void action_help(struct state *state);
void action_redraw(struct state *state);
void action_suspend(struct state *state);
void action_pause(struct state *state);
void action_zero(struct state *state);
void action_refresh(struct state *state);
void action_window(struct state *state);
void action_write(struct state *state);
void action_sort_menu(struct state *state);
void action_sort_left(struct state *state);
void action_sort_right(struct state *state);
void action_invert(struct state *state);
void action_hide_kernel(struct state *state);
void action_hide_user(struct state *state);
void action_idle(struct state *state);
void action_relative(struct state *state);
void action_limit(struct state *state);
void action_children(struct state *state);
void action_next_event(struct state *state);
void action_previous_event(struct state *state);

/* step.c: time */
void action_step_back(struct state *state);
void action_step_forward(struct state *state);
void action_oldest(struct state *state);
void action_newest(struct state *state);
void action_baseline(struct state *state);

/* view.c */
void action_symbols(struct state *state);
void action_engine(struct state *state);
void action_next_view(struct state *state);
void action_previous_view(struct state *state);

/* tune.c: the engine */
void action_more_readers(struct state *state);
void action_fewer_readers(struct state *state);
void action_more_scan_workers(struct state *state);
void action_fewer_scan_workers(struct state *state);
void action_scan(struct state *state);

/* recording.c */
void action_record(struct state *state);

/* navigate.c: rows, search, filter, detail */
void action_up(struct state *state);
void action_down(struct state *state);
void action_page_up(struct state *state);
void action_page_down(struct state *state);
void action_home(struct state *state);
void action_end(struct state *state);
void action_left(struct state *state);
void action_right(struct state *state);
void action_search(struct state *state);
void action_search_next(struct state *state);
void action_search_previous(struct state *state);
void action_filter(struct state *state);
void action_escape(struct state *state);
void action_zoom_thread(struct state *state);
void action_zoom_object(struct state *state);
void action_detail(struct state *state);

#endif /* SYMTOP_UI_ACTIONS_H */
