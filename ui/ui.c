/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal and the state put together: bytes become keys, keys become wishes, the
 * state draws on a grid and the grid goes to the terminal. Input is handled until
 * there is none before anything is drawn, so a held-down key costs one draw a call.
 */
#include "config.h"

#include "ui/ui.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "ui/input.h"
#include "ui/screen.h"
#include "ui/state.h"
#include "ui/terminal.h"

enum { READ_BYTES = 128, MAX_READS = 64 };

struct ui {
	struct state state;
	struct terminal *terminal;
	struct input *input;
	struct screen *screen;
	bool dirty; /* what is on the terminal is not the state any more */
	bool ended; /* the terminal is gone */
};

static void draw(struct ui *ui)
{
	state_draw(&ui->state, ui->screen);
	terminal_draw(ui->terminal, ui->screen, ui->state.redraw);
	ui->state.redraw = false;
	ui->dirty = false;
}

int ui_open(const struct ui_options *options, struct ui **ret_ui, struct err *err)
{
	struct ui *ui = mem_zalloc(sizeof(*ui));
	int nr_rows, nr_columns;
	int ret;

	ret = terminal_open(options->color != UI_COLOR_NEVER, options->color == UI_COLOR_ALWAYS,
			    &ui->terminal, err);
	if (ret < 0) {
		free(ui);
		return ret;
	}
	state_init(&ui->state, options);
	ui->input = input_new();
	terminal_add_sequences(ui->terminal, ui->input);
	terminal_size(ui->terminal, &nr_rows, &nr_columns);
	ui->screen = screen_new(nr_rows, nr_columns, terminal_utf8() && !options->ascii);
	draw(ui);
	*ret_ui = ui;
	return 0;
}

void ui_close(struct ui *ui)
{
	if (!ui)
		return;
	terminal_close(ui->terminal);
	screen_free(ui->screen);
	input_free(ui->input);
	state_release(&ui->state);
	free(ui);
}

void ui_restore_terminal(void)
{
	terminal_restore();
}

void ui_show(struct ui *ui, struct snapshot *snapshot)
{
	state_show(&ui->state, snapshot);
	draw(ui);
}

void ui_set_spec(struct ui *ui, const struct view_spec *spec)
{
	ui->state.spec = *spec;
	ui->state.spec.delta = ui->state.baseline != NULL;
}

void ui_message(struct ui *ui, enum note_level level, const char *text)
{
	state_message(&ui->state, level, text, clock_now_ns());
	draw(ui);
}

/* Read what is there for @input. False: nothing is there now. */
static bool read_keys(struct ui *ui, uint64_t now_ns)
{
	char bytes[READ_BYTES];
	int nr = terminal_read(ui->terminal, bytes, MIN(sizeof(bytes), input_room(ui->input)));

	if (nr < 0)
		ui->ended = true;
	if (nr <= 0)
		return false;
	input_feed(ui->input, bytes, (size_t)nr, now_ns);
	return true;
}

void ui_next(struct ui *ui, struct ui_wish *ret_wish)
{
	uint64_t now_ns = clock_now_ns();
	unsigned int nr_reads = 0;

	*ret_wish = (struct ui_wish){ .action = UI_NONE };
	for (;;) {
		uint32_t key = input_next(ui->input, now_ns);

		if (key == INPUT_NONE) {
			/* A flood of keys must not keep the refresh from coming. */
			if (!ui->ended && nr_reads++ < MAX_READS && read_keys(ui, now_ns))
				continue;
			break;
		}
		state_key(&ui->state, key, now_ns, ret_wish);
		ui->dirty = true;
		if (ret_wish->action == UI_SUSPEND)
			ui_suspend(ui);
		if (ret_wish->action != UI_NONE)
			return;
	}
	if (ui->ended) {
		ret_wish->action = UI_QUIT;
		return;
	}
	if (state_expire(&ui->state, now_ns))
		ui->dirty = true;
	if (ui->dirty)
		draw(ui);
}

static void take_size(struct ui *ui)
{
	int nr_rows, nr_columns;

	terminal_size(ui->terminal, &nr_rows, &nr_columns);
	screen_resize(ui->screen, nr_rows, nr_columns);
	ui->state.redraw = true;
	draw(ui);
}

void ui_resize(struct ui *ui)
{
	terminal_resize(ui->terminal);
	take_size(ui);
}

void ui_suspend(struct ui *ui)
{
	terminal_suspend(ui->terminal);
}

void ui_resume(struct ui *ui)
{
	terminal_resume(ui->terminal);
	take_size(ui);
}

struct snapshot *ui_snapshot(struct ui *ui)
{
	return ui->state.shown;
}

uint64_t ui_deadline_ns(const struct ui *ui)
{
	uint64_t message_ns = ui->state.message_until_ns;
	uint64_t input_ns = input_deadline_ns(ui->input);

	if (!message_ns || !input_ns)
		return message_ns | input_ns;
	return MIN(message_ns, input_ns);
}
