/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass over the cells of the window. Each cell is named (query_frame.c), found
 * idle, outside or wanted, put to the filters, and added to its row and, with
 * children, to the rows of its callers (query_rows.c).
 *
 * What shares are of. Idle (pid 0 in one of the functions a CPU waits in) is no
 * work: it is left out of the base and counted apart unless it is asked for, while
 * an interrupt that runs on an idle CPU is work of "swapper", all CPUs of it as one.
 * Tasks outside of the target are not in the base either. Filters are: an absolute
 * share is of all that ran, a relative one of what the filters leave.
 *
 * With several events at once shares are of samples, because their periods count
 * different things.
 *
 * Filters look at each row a cell would go to, not at the cell alone: a caller's
 * row passes by the caller's name.
 *
 * Everything that is asked of a task, symbol or chain is asked once per run and
 * remembered in the run; a snapshot holds no reference to any of it.
 */
#include "config.h"

#include "core/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/base/text.h"
#include "core/query_private.h"

/* Functions of the kernel in which a CPU waits for work, by architecture and driver. */
static const char *const idle_symbols[] = {
	"acpi_idle_do_entry",
	"acpi_idle_enter",
	"acpi_processor_ffh_cstate_enter",
	"acpi_safe_halt",
	"amd_e400_idle",
	"arch_cpu_idle",
	"cpu_do_idle",
	"cpu_idle_poll",
	"cpuidle_enter",
	"cpuidle_enter_state",
	"dedicated_cede_loop",
	"default_idle",
	"default_idle_call",
	"do_idle",
	"enabled_wait",
	"haltpoll_enter_idle",
	"idle_halt",
	"intel_idle",
	"intel_idle_hlt",
	"intel_idle_ibrs",
	"intel_idle_irq",
	"intel_idle_xstate",
	"io_idle",
	"mwait_idle",
	"mwait_idle_with_hints",
	"native_halt",
	"native_safe_halt",
	"nap_loop",
	"poll_idle",
	"psci_cpu_suspend_enter",
	"psw_idle",
	"pv_native_safe_halt",
	"r4k_wait",
	"shared_cede_loop",
	"snooze_loop",
	"stop_loop",
	"tdx_halt",
	"tdx_safe_halt",
	"xen_safe_halt",
};

bool query_is_idle_symbol(const char *name)
{
	/* Compiler suffixes (.constprop.0, .isra.3) are the same function. */
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < ARRAY_SIZE(idle_symbols); i++) {
		if (!strncmp(idle_symbols[i], name, len) && !idle_symbols[i][len])
			return true;
	}
	return false;
}

/* ---- lists of names ---- */

static void name_list_init(struct name_list *list, const char *text)
{
	char *next = list->text;

	list->nr = 0;
	snprintf(list->text, sizeof(list->text), "%s", text);
	while (next && list->nr < NAME_LIST_MAX) {
		char *comma = strchr(next, ',');

		if (comma)
			*comma = '\0';
		if (*next)
			list->names[list->nr++] = next;
		next = comma ? comma + 1 : NULL;
	}
}

bool name_list_has(const struct name_list *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (!strcmp(list->names[i], name))
			return true;
	}
	return false;
}

/* ---- tasks ---- */

static bool task_outside(const struct query_context *context, struct task *task)
{
	/* Of a task that is not known any more nobody can tell. */
	if (!task)
		return context->filter_target || context->filter_user;
	if (context->filter_target && !task_is_target(context->table, task))
		return true;
	return context->filter_user && task_uid(context->table, task) != context->uid;
}

static struct task_facts ask_task(const struct query *query, struct task *task)
{
	struct thread_table *table = query->context->table;
	struct task_facts facts = { .task = task, .pid = -1, .tid = -1 };

	facts.is_outside = task_outside(query->context, task);
	if (!task)
		return facts;
	if (task_pid(task) != UINT32_MAX)
		facts.pid = task_pid(task);
	if (task_tid(task) != UINT32_MAX)
		facts.tid = task_tid(task);
	/* By process the leader's name; by thread, or by name alone, the thread's own. */
	if (!query->uses[SORT_COMM] || !query->uses[SORT_PID] || query->uses[SORT_TID] ||
	    facts.pid < 0)
		return facts;
	facts.process_comm = task_process_comm(table, task);
	if (!facts.process_comm->len) {
		str_put(facts.process_comm);
		facts.process_comm = NULL;
	}
	return facts;
}

static const struct task_facts *find_task(struct query *query, struct task *task)
{
	uint64_t hash = hash_u64((uintptr_t)task);
	uint32_t cursor = (uint32_t)(hash >> 32);
	uint32_t id;

	while ((id = index_probe(&query->task_index, hash, &cursor)) != NO_ID) {
		if (query->tasks[id].task == task)
			return &query->tasks[id];
	}
	mem_grow(query->tasks, query->nr_tasks, query->nr_tasks_allocated);
	index_insert(&query->task_index, hash, (uint32_t)query->nr_tasks);
	query->tasks[query->nr_tasks] = ask_task(query, task);
	return &query->tasks[query->nr_tasks++];
}

/* ---- one cell ---- */

/* A cell on its way to its rows. */
struct passage {
	const struct cell_view *cell;
	struct filter_subject subject; /* dso and symbol: of the frame that is looked at */
	struct group_key key;	       /* frame likewise */
	double weight;
	enum row_level level;
	bool comm_listed;
};

static void passage_init(struct query *query, struct passage *passage, const struct cell_view *cell,
			 const struct task_facts *task)
{
	const struct cell_key *key = &cell->key;
	const struct str *comm = task->process_comm ? task->process_comm : key->comm;
	int cpu = key->cpu == PROFILE_NO_CPU ? -1 : key->cpu;
	int node = cpu < 0 ? -1 : (int)cpumap_node(query->context->cpumap, (unsigned int)cpu);

	if (key->flags & CELL_IDLE_TASK)
		comm = query->swapper;
	passage->cell = cell;
	passage->subject = (struct filter_subject){
		.comm = comm->text,
		.pid = task->pid,
		.tid = task->tid,
		.cpu = cpu,
		.node = node,
	};
	if (key->event < query->context->nr_events)
		passage->subject.event = query->context->event_names[key->event];
	passage->key = (struct group_key){
		.comm = query->uses[SORT_COMM] ? comm : NULL,
		.pid = query->uses[SORT_PID] ? task->pid : -1,
		.tid = query->uses[SORT_TID] ? task->tid : -1,
		.cpu = query->uses[SORT_CPU] ? cpu : -1,
		.node = query->uses[SORT_NODE] ? node : -1,
		.event = query->uses[SORT_EVENT] ? key->event : 0,
	};
	passage->comm_listed = !query->comms.nr || name_list_has(&query->comms, comm->text);
}

static bool level_hidden(const struct query *query, uint8_t level)
{
	if (level == LEVEL_USER || level == LEVEL_GUEST_USER)
		return query->spec->hide_user;
	return query->spec->hide_kernel;
}

/* Whether the row of @frame is one that the filters let be seen. */
static bool frame_passes(const struct query *query, struct passage *passage,
			 const struct frame *frame)
{
	if (!frame->listed || level_hidden(query, frame->level))
		return false;
	if (!query->filter)
		return true;
	passage->subject.dso = frame_dso_text(frame);
	/* A name that is still to come is not known; an address is no name. */
	passage->subject.symbol =
		frame->kind == FRAME_PENDING ? NULL : frame_symbol_text(frame, (char[32]){ 0 });
	return filter_match(query->filter, &passage->subject);
}

/* The row of @frame, counted with children for this cell now or before. */
static struct group *passage_group(struct query *query, struct passage *passage, uint32_t frame)
{
	struct group *group;

	passage->key.frame = query->frames[frame].in_row;
	group = query_group(query, &passage->key);
	if (group->last_cell != query->nr_cells_seen) {
		if (!group->last_cell)
			group->level = (uint8_t)passage->level;
		group->last_cell = query->nr_cells_seen;
		group->children_weight += passage->weight;
		group->children_period += passage->cell->period;
	}
	return group;
}

static bool add_self(struct query *query, struct passage *passage, uint32_t frame, uint32_t caller)
{
	struct group *group;

	if (!frame_passes(query, passage, &query->frames[frame]))
		return false;
	group = passage_group(query, passage, frame);
	group->weight += passage->weight;
	group->period += passage->cell->period;
	group->nr_samples += passage->cell->nr_samples;
	if (query->spec->chains)
		query_add_chain(query, group, caller, frame, passage->cell);
	return true;
}

static bool add_callers(struct query *query, struct passage *passage, uint32_t caller)
{
	bool shown = false;

	for (; caller != NO_ID; caller = query->callers[caller].parent) {
		uint32_t frame = query->callers[caller].frame;

		if (!frame_passes(query, passage, &query->frames[frame]))
			continue;
		(void)passage_group(query, passage, frame);
		shown = true;
	}
	return shown;
}

static void count_shown(struct query *query, const struct passage *passage,
			const struct frame *frame, uint32_t caller)
{
	double weight = passage->weight;

	query->sums.shown += weight;
	query->sums.shown_samples += passage->cell->nr_samples;
	if (frame->level == LEVEL_KERNEL || frame->level == LEVEL_GUEST_KERNEL)
		query->sums.kernel += weight;
	if (frame->kind == FRAME_UNKNOWN)
		query->sums.unresolved += weight;
	else if (frame->kind == FRAME_UNNAMED)
		query->sums.unnamed += weight;
	if (frame->kind == FRAME_PENDING || (caller != NO_ID && query->callers[caller].is_pending))
		query->sums.pending += weight;
}

/* Filters and rows, for a cell that is in the base. */
static void pass_cell(struct query *query, struct passage *passage, uint32_t frame)
{
	uint32_t chain = passage->cell->key.chain;
	uint32_t caller = NO_ID;
	bool shown;

	/* Its callers would not be there without it: hiding a level hides all of a sample. */
	if (!passage->comm_listed || level_hidden(query, query->frames[frame].level))
		return;
	if (chain != CHAIN_NONE && (query->spec->chains || query->spec->children))
		caller = query_chain_caller(query, chain);
	query->nr_cells_seen++;
	passage->level = (enum row_level)query->frames[frame].level;
	shown = add_self(query, passage, frame, caller);
	if (query->spec->children && add_callers(query, passage, caller))
		shown = true;
	if (shown)
		count_shown(query, passage, &query->frames[frame], caller);
}

static void query_cell(void *arg, const struct cell_view *cell)
{
	struct query *query = arg;
	const struct cell_key *key = &cell->key;
	const struct task_facts *task;
	struct passage passage;
	uint32_t frame = NO_ID;

	if (key->event < query->context->nr_events)
		query->event_samples[key->event] += cell->nr_samples;
	if (query->spec->event >= 0 && key->event != query->spec->event)
		return;
	passage.weight = query->by_samples ? cell->nr_samples : cell->period;
	query->sums.total += passage.weight;
	query->sums.nr_samples += cell->nr_samples;
	if (key->chain != CHAIN_NONE)
		query->has_chains = true;
	if (key->flags & CELL_IDLE_TASK) {
		frame = query_cell_frame(query, cell);
		/* Without a name nobody can say that it is work. */
		if (query->frames[frame].kind != FRAME_NAMED || query->frames[frame].idle) {
			query->sums.idle += passage.weight;
			if (!query->spec->show_idle)
				return;
		}
	}
	task = find_task(query, key->task);
	if (task->is_outside) {
		query->sums.outside += passage.weight;
		return;
	}
	query->sums.base += passage.weight;
	if (frame == NO_ID)
		frame = query_cell_frame(query, cell);
	passage_init(query, &passage, cell, task);
	pass_cell(query, &passage, frame);
}

/* ---- the run ---- */

static int query_init(struct query *query, const struct query_context *context,
		      const struct view_spec *spec, struct err *err)
{
	int ret;

	*query = (struct query){ .context = context, .spec = spec };
	if (spec->filter[0]) {
		ret = filter_parse(spec->filter, &query->filter, err);
		if (ret < 0)
			return ret;
	}
	name_list_init(&query->comms, spec->comms);
	name_list_init(&query->dsos, spec->dsos);
	name_list_init(&query->symbols, spec->symbols);
	for (size_t i = 0; i < spec->keys.nr; i++)
		query->uses[spec->keys.keys[i]] = true;
	query->by_samples = spec->event < 0 && context->nr_events > 1;
	query->swapper = str_from("swapper");
	query->event_samples = mem_calloc(context->nr_events, sizeof(*query->event_samples));
	query->snapshot = snapshot_new(spec);
	return 0;
}

static void query_release(struct query *query)
{
	for (size_t i = 0; i < query->nr_tasks; i++)
		str_put(query->tasks[i].process_comm);
	free(query->tasks);
	index_release(&query->task_index);
	query_rows_release(query);
	query_frames_release(query);
	free(query->event_samples);
	str_put(query->swapper);
	filter_free(query->filter);
}

static struct window spec_window(const struct view_spec *spec, uint64_t refresh_ns)
{
	static const enum window_kind kinds[] = {
		[VIEW_WINDOW_TICK] = WINDOW_TICK,
		[VIEW_WINDOW_TIME] = WINDOW_TIME,
		[VIEW_WINDOW_DECAY] = WINDOW_DECAY,
		[VIEW_WINDOW_ALL] = WINDOW_ALL,
	};

	return (struct window){
		.kind = kinds[spec->window],
		.length_ns = spec->window_ns,
		.refresh_ns = refresh_ns,
		.end_ns = spec->end_ns,
	};
}

static void fill_slots(const struct query *query)
{
	const struct profile *profile = query->context->profile;

	for (size_t i = 0; i < profile_nr_closed_slots(profile); i++)
		snapshot_add_slot(query->snapshot, profile_closed_slot_end_ns(profile, i));
}

static void fill_events(struct query *query, struct snapshot_header *header)
{
	const struct query_context *context = query->context;
	struct textbuf names = { 0 };

	for (size_t i = 0; i < context->nr_events; i++) {
		snapshot_add_event(query->snapshot, context->event_names[i],
				   (uint64_t)(query->event_samples[i] + 0.5));
		if (query->spec->event >= 0 && (size_t)query->spec->event != i)
			continue;
		if (names.len)
			textbuf_puts(&names, ", ");
		textbuf_puts(&names, context->event_names[i]);
	}
	header->event = snapshot_add_string(query->snapshot, names.text);
	textbuf_release(&names);
}

static void fill_header(struct query *query, struct snapshot_header *header, uint64_t start_ns,
			uint64_t end_ns)
{
	double shown = query->sums.shown;

	header->filter = snapshot_add_string(query->snapshot, query->spec->filter);
	header->window = query->spec->window;
	header->window_ns = end_ns - start_ns;
	header->window_end_ns = end_ns;
	header->nr_samples = (uint64_t)(query->sums.nr_samples + 0.5);
	header->shown_samples = query->sums.shown_samples;
	header->relative = query->spec->relative;
	header->base_period = query->spec->relative ? shown : query->sums.base;
	header->idle_share = query_share(query->sums.idle, query->sums.total);
	header->outside_share = query_share(query->sums.outside, query->sums.total);
	header->kernel_share = query_share(query->sums.kernel, shown);
	header->unresolved_share = query_share(query->sums.unresolved, shown);
	header->unnamed_share = query_share(query->sums.unnamed, shown);
	header->pending_share = query_share(query->sums.pending, shown);
	header->has_chains = query->has_chains;
}

int query_run(const struct query_context *context, const struct view_spec *spec,
	      struct snapshot **ret_snapshot, struct err *err)
{
	struct window window = spec_window(spec, context->refresh_ns);
	struct snapshot_header *header;
	struct query query;
	uint64_t start_ns;
	uint64_t end_ns;
	int ret;

	ret = query_init(&query, context, spec, err);
	if (ret < 0)
		return ret;
	profile_each(context->profile, &window, query_cell, &query, &start_ns, &end_ns);
	header = snapshot_edit_header(query.snapshot);
	fill_header(&query, header, start_ns, end_ns);
	fill_slots(&query);
	fill_events(&query, header);
	query_make_rows(&query);
	*ret_snapshot = query.snapshot;
	query_release(&query);
	return 0;
}
