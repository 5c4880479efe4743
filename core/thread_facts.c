/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What records and scans tell the thread table.
 *
 * Records come in the order of their time, so each simply has its effect; what the
 * table already knew about the same moment by a sample or a scan is recognized by
 * seen_ns (task.c). A scan is a moment of the past: it must not undo what records
 * said about later moments, nor bring back to life who is known to have ended.
 *
 * An exec may come in while a scan is read or applied. The scan leaves its times with
 * the process first, under the lock; the exec's record finds them there and drops what
 * the scan brought, and the scan looks again when its maps are in. So whoever comes
 * second sees the other. The maps themselves are added without the shard's lock: they
 * go to a space, which stays the same whatever happens to its process.
 */
#include "config.h"

#include "core/thread_table_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/mem.h"

/* Idle, and who has exited: there are no facts about them. */
static bool is_real_pid(uint32_t pid)
{
	return pid != 0 && pid != UINT32_MAX;
}

/* The largest value means "alive". */
static uint64_t clamp_time(uint64_t time_ns)
{
	return MIN(time_ns, ALIVE - 1);
}

/* A fork may make a parent known, too. */
#define MAX_NEW_TASKS 2

/* ---- fork ---- */

/* What a child has from who forked it. */
struct heritage {
	struct address_space *space; /* references; NULL: none */
	struct str *comm;
	uint32_t uid;
	bool kernel_thread;
	bool is_target;
};

static void heritage_take(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns,
			  struct heritage *ret)
{
	struct shard *shard = shard_of(table, pid);
	struct garbage garbage = { 0 };
	struct address_space *space;
	struct task *task;
	struct str *comm;

	*ret = (struct heritage){ .uid = UINT32_MAX };
	if (!is_real_pid(pid))
		return;
	mutex_lock(&shard->lock);
	shard_evict_locked(table, shard, MAX_NEW_TASKS, &garbage);
	task = task_obtain_locked(table, shard, pid, tid, time_ns);
	if (task) {
		space = process_space_locked(shard, task->process, time_ns);
		comm = task_comm_locked(shard, task, time_ns);
		ret->space = space ? address_space_get(space) : NULL;
		ret->comm = comm ? str_get(comm) : NULL;
		ret->uid = task->process->uid;
		ret->kernel_thread = task->process->kernel_thread;
		ret->is_target = task->process->is_target;
	}
	mutex_unlock(&shard->lock);
	garbage_release(&garbage);
}

static void heritage_release(struct heritage *heritage)
{
	address_space_put(heritage->space);
	str_put(heritage->comm);
}

/*
 * Somebody of this id, found alive when a fork at @time_ns makes it: the same, seen
 * too early, if nothing is known of it from before the fork.
 */
static bool is_seen_early(uint64_t born_ns, uint64_t seen_ns, uint64_t time_ns)
{
	return born_ns < time_ns && seen_ns >= time_ns;
}

/* @process, known by a sample or a scan, is the child forked at @time_ns with @space. */
static struct task *adopt_process_locked(struct shard *shard, struct process *process,
					 struct address_space *space, uint64_t time_ns,
					 struct garbage *garbage) REQUIRES(shard->lock)
{
	struct epoch *epoch = &process->epochs[0];
	struct task *main_task;

	process->born_ns = time_ns;
	process->threads_known = true;
	for (struct task *task = process->first_task; task; task = task->next_sibling)
		task->born_ns = MAX(task->born_ns, MIN(time_ns, task->died_ns));
	/* A scan knows more than the parent does. */
	if (!process->scan_end_ns && process->nr_epochs == 1) {
		garbage_add_space(garbage, epoch->space);
		*epoch = (struct epoch){ .from_ns = time_ns, .space = address_space_get(space) };
	}
	main_task = task_find_locked(shard, process->pid, process->pid, time_ns);
	if (main_task && main_task->process == process)
		return main_task;
	return task_new_locked(shard, process, process->pid, time_ns, time_ns);
}

/* The main task of the process forked at @time_ns; NULL: an old story, or no room. */
static struct task *fork_process_locked(struct thread_table *table, struct shard *shard,
					uint32_t pid, struct address_space *space, uint64_t time_ns,
					struct garbage *garbage) REQUIRES(shard->lock)
{
	struct process *process = process_find_locked(shard, pid, ALIVE);
	struct task *task;

	if (process && process->born_ns >= time_ns)
		return NULL;
	if (process && process->died_ns == ALIVE) {
		if (is_seen_early(process->born_ns, process->seen_ns, time_ns))
			return adopt_process_locked(shard, process, space, time_ns, garbage);
		process_end_tasks_locked(shard, process, NULL, time_ns);
	}
	process = process_new(table, pid, time_ns, address_space_get(space));
	process->threads_known = true;
	task = task_new_locked(shard, process, pid, time_ns, time_ns);
	process_put(process);
	return task;
}

static void fork_process(struct thread_table *table, uint32_t pid, const struct heritage *heritage,
			 uint64_t time_ns)
{
	struct address_space *space = address_space_new(time_ns, heritage->space);
	struct shard *shard = shard_of(table, pid);
	struct garbage garbage = { 0 };
	struct task *task;

	mutex_lock(&shard->lock);
	shard_evict_locked(table, shard, MAX_NEW_TASKS, &garbage);
	task = fork_process_locked(table, shard, pid, space, time_ns, &garbage);
	if (task) {
		struct process *process = task->process;

		if (process->uid == UINT32_MAX)
			process->uid = heritage->uid;
		process->kernel_thread |= heritage->kernel_thread && process->nr_epochs == 1;
		process->is_target |= heritage->is_target;
		if (heritage->comm)
			task_add_comm_locked(shard, task, heritage->comm, time_ns);
		table_note_changed(table, pid);
	}
	mutex_unlock(&shard->lock);
	address_space_put(space);
	garbage_release(&garbage);
}

static void fork_thread(struct thread_table *table, uint32_t pid, uint32_t tid, uint32_t ptid,
			uint64_t time_ns)
{
	struct shard *shard = shard_of(table, pid);
	struct garbage garbage = { 0 };
	struct task *parent, *task;
	struct str *comm;

	mutex_lock(&shard->lock);
	shard_evict_locked(table, shard, MAX_NEW_TASKS, &garbage);
	parent = task_obtain_locked(table, shard, pid, ptid, time_ns);
	task = task_find_locked(shard, pid, tid, ALIVE);
	if (!parent || (task && task->born_ns >= time_ns))
		goto out;
	if (task && task->died_ns == ALIVE &&
	    is_seen_early(task->born_ns, task->seen_ns, time_ns)) {
		task->born_ns = time_ns;
	} else {
		/* Samples of both may be in one tick. */
		if (task) {
			task_end_locked(shard, task, time_ns);
			table_note_changed(table, pid);
		}
		task = task_new_locked(shard, parent->process, tid, time_ns, time_ns);
	}
	comm = task_comm_locked(shard, parent, time_ns);
	if (task && comm)
		task_add_comm_locked(shard, task, comm, time_ns);
	if (task)
		task_end_for_successor_locked(shard, task, time_ns);
out:
	mutex_unlock(&shard->lock);
	garbage_release(&garbage);
}

void thread_table_fork(struct thread_table *table, uint32_t pid, uint32_t tid, uint32_t ppid,
		       uint32_t ptid, uint64_t time_ns)
{
	struct heritage heritage;

	time_ns = clamp_time(time_ns);
	if (!is_real_pid(pid))
		return;
	if (pid == ppid) {
		fork_thread(table, pid, tid, ptid, time_ns);
		return;
	}
	heritage_take(table, ppid, ptid, time_ns, &heritage);
	fork_process(table, pid, &heritage, time_ns);
	heritage_release(&heritage);
}

/* ---- comm, exec, exit ---- */

/* The main task of a new image from @time_ns on. *@ret_stale: a space to drop a scan from. */
static struct task *exec_locked(struct thread_table *table, struct shard *shard, uint32_t pid,
				struct address_space *space, uint64_t time_ns,
				struct address_space **ret_stale) REQUIRES(shard->lock)
{
	struct process *process = process_find_locked(shard, pid, time_ns);
	struct task *task = task_find_locked(shard, pid, pid, time_ns);

	/* Another thread than the main one did it, and takes over the main one's id. */
	if (process && task && task->process == process && task->died_ns != ALIVE &&
	    (process->nr_live || !process->threads_known)) {
		task = task_new_locked(shard, process, pid, time_ns, time_ns);
		if (task)
			task_end_for_successor_locked(shard, task, time_ns);
	} else {
		task = task_obtain_locked(table, shard, pid, pid, time_ns);
	}
	if (!task)
		return NULL;
	process = task->process;
	if (process->epochs[process->nr_epochs - 1].from_ns > time_ns)
		return task; /* an old story */
	if (time_ns <= process->scan_end_ns)
		*ret_stale = address_space_get(process_space_locked(shard, process, time_ns));
	process_end_tasks_locked(shard, process, task, time_ns);
	process_add_epoch_locked(shard, process, time_ns, address_space_get(space));
	process->scan_end_ns = 0;
	process->kernel_thread = false;
	process->threads_known = true;
	return task;
}

static void drop_stale_scan(struct address_space *space)
{
	if (!space)
		return;
	address_space_drop_synthesized(space);
	address_space_put(space);
}

static void exec(struct thread_table *table, uint32_t pid, struct str *comm, uint64_t time_ns)
{
	struct address_space *space = address_space_new(time_ns, NULL);
	struct shard *shard = shard_of(table, pid);
	struct address_space *stale = NULL;
	struct garbage garbage = { 0 };
	struct task *task;

	/* Each of its maps comes by a record. */
	address_space_set_complete(space);
	mutex_lock(&shard->lock);
	shard_evict_locked(table, shard, MAX_NEW_TASKS, &garbage);
	task = exec_locked(table, shard, pid, space, time_ns, &stale);
	if (task) {
		task_add_comm_locked(shard, task, comm, time_ns);
		table_note_changed(table, pid);
	}
	mutex_unlock(&shard->lock);
	address_space_put(space);
	drop_stale_scan(stale);
	garbage_release(&garbage);
}

static void rename_task(struct thread_table *table, uint32_t pid, uint32_t tid, struct str *comm,
			uint64_t time_ns)
{
	struct shard *shard = shard_of(table, pid);
	struct garbage garbage = { 0 };
	struct task *task;

	mutex_lock(&shard->lock);
	shard_evict_locked(table, shard, MAX_NEW_TASKS, &garbage);
	task = task_obtain_locked(table, shard, pid, tid, time_ns);
	if (task && task_add_comm_locked(shard, task, comm, time_ns))
		table_note_changed(table, pid);
	mutex_unlock(&shard->lock);
	garbage_release(&garbage);
}

void thread_table_comm(struct thread_table *table, uint32_t pid, uint32_t tid, const char *comm,
		       bool is_exec, uint64_t time_ns)
{
	struct str *str;

	if (!is_real_pid(pid))
		return;
	str = str_new(comm, 15);
	if (is_exec)
		exec(table, pid, str, clamp_time(time_ns));
	else
		rename_task(table, pid, tid, str, clamp_time(time_ns));
	str_put(str);
}

void thread_table_exit(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct shard *shard = shard_of(table, pid);
	struct garbage garbage = { 0 };
	struct task *task;

	time_ns = clamp_time(time_ns);
	if (!is_real_pid(pid))
		return;
	mutex_lock(&shard->lock);
	shard_evict_locked(table, shard, MAX_NEW_TASKS, &garbage);
	/* One not known is made, so that a scan that still saw it does not revive it. */
	task = task_obtain_locked(table, shard, pid, tid, time_ns);
	if (task)
		task_end_locked(shard, task, time_ns);
	mutex_unlock(&shard->lock);
	garbage_release(&garbage);
}

/* ---- maps ---- */

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Memory that code was written to, by whatever name the kernel has for it. */
static bool is_anonymous(const char *path)
{
	static const char *const prefixes[] = {
		"//anon",    "[heap]", "[stack",      "[anon",		"/memfd:",
		"/dev/zero", "/SYSV",  "anon_inode:", "/anon_hugepage",
	};

	if (!*path)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		/* The second letter tells almost all from a file, which this is mostly about. */
		if (path[1] == prefixes[i][1] && has_prefix(path, prefixes[i]))
			return true;
	}
	return false;
}

/* "jit-PID.dump": mapped executable only to leave a record, no code is in it. */
static bool is_jitdump(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t nr_digits;

	if (!has_prefix(name, "jit-"))
		return false;
	nr_digits = strspn(name + 4, "0123456789");
	name += 4 + nr_digits;
	return nr_digits && has_prefix(name, ".dump") && (!name[5] || name[5] == ' ');
}

static void choose_key(const struct map_fact *map, uint32_t pid, uint64_t epoch_ns,
		       struct dso_key *ret_key)
{
	*ret_key = (struct dso_key){ .kind = DSO_FILE };
	if (strcmp(map->path, "[vdso]") == 0) {
		ret_key->kind = DSO_VDSO;
		ret_key->inode = map->end <= (UINT64_C(1) << 32) ? 32 : 64;
	} else if (is_anonymous(map->path)) {
		ret_key->kind = DSO_GENERATED;
		ret_key->owner = pid;
		ret_key->generation = epoch_ns;
	} else if (map->path[0] == '[') {
		/* "[vsyscall]", "[uprobes]": known places, no symbols. */
		ret_key->kind = DSO_UNKNOWN;
		ret_key->inode = hash_bytes(map->path, strlen(map->path));
	} else if (map->build_id_size) {
		dso_key_set_build_id(ret_key, map->build_id, map->build_id_size);
	} else if (map->inode || map->dev_major || map->dev_minor) {
		/* Without the generation: /proc has none, and a file has one key. */
		ret_key->dev_major = map->dev_major;
		ret_key->dev_minor = map->dev_minor;
		ret_key->inode = map->inode;
	} else {
		/* Not identified: paths stay apart, and no file will match. */
		ret_key->inode = hash_bytes(map->path, strlen(map->path));
	}
}

/*
 * Programs copy their own hot code to huge pages and put it where it was. That memory
 * has no name, but the code in it still is the file's: in a scan, when what is left of
 * the same mapping stands on both sides.
 */
static bool is_hole(const struct map_fact *before, const struct map_fact *map,
		    const struct map_fact *after)
{
	return is_anonymous(map->path) && !is_anonymous(before->path) && before->path[0] == '/' &&
	       before->end == map->start && map->end == after->start &&
	       before->inode == after->inode && before->dev_major == after->dev_major &&
	       before->dev_minor == after->dev_minor && before->inode &&
	       before->start - before->pgoff == after->start - after->pgoff;
}

/* Add @map to @space, which began at @epoch_ns. True: over something else. */
static bool add_map(struct thread_table *table, struct address_space *space, uint64_t epoch_ns,
		    uint32_t pid, const struct map_fact *map, uint64_t time_ns, bool synthesized)
{
	uint64_t pgoff = map->pgoff;
	struct dso_key key;
	struct dso *dso;
	bool is_new;
	bool is_over;

	if (is_jitdump(map->path) || map->start >= map->end)
		return false;
	if (!synthesized && is_anonymous(map->path) &&
	    address_space_is_inside_program(space, map->start, map->end))
		return false;
	choose_key(map, pid, epoch_ns, &key);
	if (key.kind == DSO_VDSO)
		pgoff = 0;
	else if (key.kind != DSO_FILE)
		pgoff = map->start; /* such offsets are addresses */
	dso = dso_table_get(table->options.dsos, &key, map->path, pid, &is_new);
	if (!is_new)
		dso_note_user(dso, pid);
	is_over = address_space_map(space, map->start, map->end, pgoff, dso, time_ns, synthesized);
	if (is_new && table->options.on_new_dso)
		table->options.on_new_dso(table->options.arg, dso);
	dso_put(dso);
	return is_over;
}

/* The process @pid at @time_ns; made, with a main task, when there is none. */
static struct process *obtain_process_locked(struct thread_table *table, struct shard *shard,
					     uint32_t pid, uint64_t time_ns) REQUIRES(shard->lock)
{
	struct process *process = process_find_locked(shard, pid, time_ns);
	struct task *task;

	/* Its main task may be long dead, so it is not asked for. */
	if (process && (process->died_ns == ALIVE || time_ns <= process->died_ns))
		return process;
	task = task_obtain_locked(table, shard, pid, pid, time_ns);
	return task ? task->process : NULL;
}

void thread_table_mmap(struct thread_table *table, uint32_t pid, const struct map_fact *map,
		       uint64_t time_ns)
{
	struct shard *shard = shard_of(table, pid);
	struct address_space *space = NULL;
	struct garbage garbage = { 0 };
	struct process *process;
	uint64_t epoch_ns = 0;

	time_ns = clamp_time(time_ns);
	if (!is_real_pid(pid))
		return;
	mutex_lock(&shard->lock);
	shard_evict_locked(table, shard, MAX_NEW_TASKS, &garbage);
	process = obtain_process_locked(table, shard, pid, time_ns);
	if (process) {
		space = address_space_get(process_space_locked(shard, process, time_ns));
		epoch_ns = address_space_from(space);
		process_get(process);
	}
	mutex_unlock(&shard->lock);
	garbage_release(&garbage);
	if (!process)
		return;
	if (add_map(table, space, epoch_ns, pid, map, time_ns, false)) {
		table_note_changed(table, pid);
		mutex_lock(&shard->lock);
		process_note_trim_locked(shard, process);
		mutex_unlock(&shard->lock);
	}
	address_space_put(space);
	process_put(process);
}

/* ---- scans ---- */

/* The process a scan is about, made when nobody of that pid is known; NULL: none any more. */
static struct process *scanned_process_locked(struct thread_table *table, struct shard *shard,
					      const struct synth_process *scan)
	REQUIRES(shard->lock)
{
	struct process *process = process_find_locked(shard, scan->pid, ALIVE);
	struct task *task;

	if (process)
		return process;
	/* By one of its threads: the main one may be gone. */
	if (!scan->nr_threads)
		return NULL;
	task = task_obtain_locked(table, shard, scan->pid, scan->threads[0].tid,
				  scan->scan_start_ns);
	return task ? task->process : NULL;
}

/* One thread of a scan. Who has ended stays dead; fork records bring the successor. */
static void scanned_thread_locked(struct shard *shard, struct process *process,
				  const struct synth_thread *thread, uint64_t scan_start_ns)
	REQUIRES(shard->lock)
{
	struct task *task = task_find_locked(shard, process->pid, thread->tid, ALIVE);
	struct str *comm;

	if (task && task->process != process)
		task = NULL;
	if (!task && process->threads_known && process->died_ns != ALIVE)
		return;
	if (!task) {
		task = task_new_locked(shard, process, thread->tid, process->born_ns,
				       scan_start_ns);
		if (!task)
			return;
		task_end_for_successor_locked(shard, task, scan_start_ns);
	}
	task->seen_ns = MIN(task->seen_ns, scan_start_ns);
	if (task->nr_comms && task->comms[task->nr_comms - 1u].time_ns > scan_start_ns)
		return;
	comm = str_new(thread->comm, sizeof(thread->comm) - 1);
	task_add_comm_locked(shard, task, comm, scan_start_ns);
	str_put(comm);
}

/* All but the maps. The space they belong in, a reference; NULL: nowhere. */
static struct address_space *apply_scan_locked(struct thread_table *table, struct shard *shard,
					       const struct synth_process *scan)
	REQUIRES(shard->lock)
{
	struct process *process = scanned_process_locked(table, shard, scan);
	struct address_space *space;

	if (!process)
		return NULL;
	if (process->uid == UINT32_MAX && process->born_ns <= scan->scan_start_ns)
		process->uid = scan->uid;
	space = process_space_locked(shard, process, ALIVE);
	/* Forked or exec'ed since: whatever was read, its records tell more. */
	if (address_space_from(space) > scan->scan_start_ns)
		return NULL;
	if (scan->uid != UINT32_MAX)
		process->uid = scan->uid;
	process->kernel_thread = scan->kernel_thread;
	process->seen_ns = MIN(process->seen_ns, scan->scan_start_ns);
	for (size_t i = 0; i < scan->nr_threads; i++)
		scanned_thread_locked(shard, process, &scan->threads[i], scan->scan_start_ns);
	process->threads_known = true;
	process->scan_end_ns = MAX(process->scan_end_ns, MAX(scan->scan_end_ns, 1));
	return address_space_get(space);
}

/* The maps are in. True: they are not those of @space's image, as turned out meanwhile. */
static bool finish_scan_locked(struct shard *shard, struct address_space *space,
			       const struct synth_process *scan) REQUIRES(shard->lock)
{
	struct process *process = process_find_locked(shard, scan->pid, ALIVE);
	struct address_space *newest;

	newest = process ? process_space_locked(shard, process, ALIVE) : NULL;
	if (newest != space)
		return newest && address_space_from(newest) <= scan->scan_end_ns;
	if (scan->has_maps)
		address_space_set_complete(space);
	process->scan_state = SCAN_DONE;
	return false;
}

static void add_scanned_maps(struct thread_table *table, struct address_space *space,
			     const struct synth_process *scan)
{
	for (size_t i = 0; i < scan->nr_maps; i++) {
		const struct map_fact *fact = &scan->maps[i];
		struct map_fact map = *fact;

		if (i && i + 1 < scan->nr_maps && is_hole(fact - 1, fact, fact + 1)) {
			map = fact[-1];
			map.start = fact->start;
			map.end = fact->end;
			map.pgoff += fact->start - fact[-1].start;
		}
		add_map(table, space, address_space_from(space), scan->pid, &map,
			scan->scan_start_ns, true);
	}
}

void thread_table_synthesize(struct thread_table *table, const struct synth_process *scan)
{
	struct shard *shard = shard_of(table, scan->pid);
	struct garbage garbage = { 0 };
	struct address_space *space;
	bool is_stale;

	if (!is_real_pid(scan->pid))
		return;
	mutex_lock(&shard->lock);
	shard_evict_locked(table, shard, MAX_NEW_TASKS, &garbage);
	space = apply_scan_locked(table, shard, scan);
	mutex_unlock(&shard->lock);
	garbage_release(&garbage);
	atomic_fetch_add_explicit(&table->nr_scanned, 1, memory_order_relaxed);
	if (!space)
		return;
	add_scanned_maps(table, space, scan);
	mutex_lock(&shard->lock);
	is_stale = finish_scan_locked(shard, space, scan);
	mutex_unlock(&shard->lock);
	if (is_stale)
		address_space_drop_synthesized(space);
	address_space_put(space);
}

void thread_table_scan_failed(struct thread_table *table, uint32_t pid, uint64_t scan_start_ns)
{
	struct shard *shard = shard_of(table, pid);
	struct process *process;

	mutex_lock(&shard->lock);
	process = process_find_locked(shard, pid, ALIVE);
	/* A scan from before the fork or exec says nothing about this image. */
	if (process && process->scan_state != SCAN_DONE &&
	    address_space_from(process_space_locked(shard, process, ALIVE)) <= scan_start_ns)
		process->scan_state = SCAN_FAILED;
	mutex_unlock(&shard->lock);
}
