/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * There and back: what core/record_state.c makes of a table, with the kernel's records that
 * follow, is read into another table, which must give the answers of the first.
 */
#include "config.h"

#include "core/record_state.h"

#include <inttypes.h>
#include <string.h>

#include "core/record_apply.h"
#include "tests/record_state_fixture.h"

#define NR_PIDS 4
#define NR_TIDS 3

/* A record of a file; as there, those of the same time stay in their order. */
struct entry {
	uint64_t time_ns;
	size_t order;
	const struct perf_event_header *header;
};

static int compare_entries(const void *left_arg, const void *right_arg)
{
	const struct entry *left = left_arg, *right = right_arg;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

static void read_back(const struct record_buffer *buffer, struct thread_table *table)
{
	const struct record_sink sink = { .table = table };
	struct entry entries[4096];
	size_t nr = 0;

	for (size_t pos = 0; pos < buffer->len; pos += record_at(buffer, pos)->size) {
		struct record record;

		assert_true(nr < ARRAY_SIZE(entries));
		decode(record_at(buffer, pos), &record);
		entries[nr] = (struct entry){ record.id.time, nr, record_at(buffer, pos) };
		nr++;
	}
	qsort(entries, nr, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < nr; i++) {
		struct record record;

		decode(entries[i].header, &record);
		record_apply(&sink, &record);
		thread_table_check_invariants(table);
	}
}

/* A machine at random: what its records say goes to the table and, from the start on, to the file.
 */
struct machine {
	uint64_t seed;
	uint64_t now_ns, start_ns;
	struct thread_table *table;
	struct record_buffer ring;
	bool lives[NR_PIDS][NR_TIDS];
};

static uint32_t pick(struct machine *machine, uint32_t nr)
{
	machine->seed =
		machine->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(machine->seed >> 33) % nr;
}

static uint32_t pid_of(uint32_t process)
{
	return 10 + process;
}

static uint32_t tid_of(uint32_t process, uint32_t thread)
{
	return 10 + process + 100 * thread;
}

/* False: who was picked does not live. */
static bool pick_task(struct machine *machine, uint32_t *ret_process, uint32_t *ret_thread)
{
	*ret_process = pick(machine, NR_PIDS);
	*ret_thread = pick(machine, NR_TIDS);
	return machine->lives[*ret_process][*ret_thread];
}

static bool is_recorded(const struct machine *machine)
{
	return machine->now_ns >= machine->start_ns;
}

/* record_write.h has none of these, which only the kernel writes. */
static void write_task(struct machine *machine, uint32_t type, uint32_t pid, uint32_t tid,
		       uint32_t ppid, uint32_t ptid)
{
	const struct {
		struct perf_event_header header;
		uint32_t ids[4];
		uint64_t time;
		uint32_t trailer_ids[2];
		uint64_t trailer[3];
	} record = {
		.header = { .type = type, .size = sizeof(record) },
		.ids = { pid, ppid, tid, ptid },
		.time = machine->now_ns,
		.trailer_ids = { pid, tid },
		.trailer = { machine->now_ns },
	};
	struct record_buffer *ring = &machine->ring;

	if (!is_recorded(machine))
		return;
	ring->nr_allocated = MAX(ring->nr_allocated, ring->len + sizeof(record));
	ring->bytes = mem_resize(ring->bytes, ring->nr_allocated, 1);
	memcpy(ring->bytes + ring->len, &record, sizeof(record));
	ring->len += sizeof(record);
}

static void exit_task(struct machine *machine, uint32_t process, uint32_t thread)
{
	uint32_t pid = pid_of(process), tid = tid_of(process, thread);

	if (!machine->lives[process][thread])
		return;
	machine->lives[process][thread] = false;
	machine->now_ns += 10;
	thread_table_exit(machine->table, pid, tid, machine->now_ns);
	write_task(machine, PERF_RECORD_EXIT, pid, tid, 1, 1);
}

static void fork_task(struct machine *machine, uint32_t process, uint32_t thread, uint32_t parent,
		      uint32_t parent_thread)
{
	uint32_t pid = pid_of(process), tid = tid_of(process, thread);
	uint32_t ppid = pid_of(parent), ptid = tid_of(parent, parent_thread);

	machine->lives[process][thread] = true;
	machine->now_ns += 10;
	thread_table_fork(machine->table, pid, tid, ppid, ptid, machine->now_ns);
	write_task(machine, PERF_RECORD_FORK, pid, tid, ppid, ptid);
}

static void do_fork(struct machine *machine)
{
	uint32_t process, thread, child;

	if (!pick_task(machine, &process, &thread))
		return;
	child = pick(machine, NR_PIDS);
	if (child == process) {
		child = 1 + pick(machine, NR_TIDS - 1);
		if (!machine->lives[process][child])
			fork_task(machine, process, child, process, thread);
		return;
	}
	/* Whoever has the pid makes room. */
	for (uint32_t i = NR_TIDS; i-- > 0;)
		exit_task(machine, child, i);
	fork_task(machine, child, 0, process, thread);
}

static void do_exit(struct machine *machine)
{
	uint32_t process, thread;

	/* Somebody is left to fork. */
	if (pick_task(machine, &process, &thread) && (process || thread))
		exit_task(machine, process, thread);
}

static void do_comm(struct machine *machine)
{
	static const char *const comms[] = { "one", "two", "three", "four" };
	const char *comm = comms[pick(machine, ARRAY_SIZE(comms))];
	bool exec = !pick(machine, 2);
	uint32_t process, thread, pid, tid;

	if (!pick_task(machine, &process, &thread))
		return;
	/* The main thread goes first, its id to the one that calls exec. */
	for (uint32_t i = 0; exec && i < NR_TIDS; i++) {
		if (i != thread)
			exit_task(machine, process, i);
	}
	if (exec) {
		machine->lives[process][thread] = false;
		machine->lives[process][0] = true;
		thread = 0;
	}
	pid = pid_of(process);
	tid = tid_of(process, thread);
	machine->now_ns += 10;
	thread_table_comm(machine->table, pid, tid, comm, exec, machine->now_ns);
	if (is_recorded(machine))
		record_write_comm(&machine->ring, &format, pid, tid, comm, exec, machine->now_ns);
}

static struct map_fact pick_map(struct machine *machine)
{
	struct map_fact map = { .start = UINT64_C(0x1000) * (1 + pick(machine, 12)),
				.pgoff = UINT64_C(0x1000) * pick(machine, 3),
				.dev_major = 8,
				.inode = 1 + pick(machine, 5),
				.path = "/bin/file" };

	map.end = map.start + 0x1000 * (1 + pick(machine, 4));
	return map;
}

static void do_mmap(struct machine *machine)
{
	struct map_fact map = pick_map(machine);
	uint32_t process, thread;

	if (!pick_task(machine, &process, &thread))
		return;
	thread_table_mmap(machine->table, pid_of(process), &map, machine->now_ns);
	if (is_recorded(machine))
		record_write_mmap(&machine->ring, &format, pid_of(process), &map, machine->now_ns);
}

/* Of what no record told. */
static void do_scan(struct machine *machine)
{
	struct map_fact maps[] = { pick_map(machine), pick_map(machine) };
	struct synth_thread threads[NR_TIDS] = { 0 };
	uint32_t process, thread;
	struct synth_process scanned;

	if (!pick_task(machine, &process, &thread))
		return;
	scanned = scan_of(pid_of(process), "", 0, machine->now_ns);
	scanned.maps = maps;
	scanned.nr_maps = ARRAY_SIZE(maps);
	scanned.threads = threads;
	scanned.nr_threads = 0;
	for (uint32_t i = 0; i < NR_TIDS; i++) {
		if (machine->lives[process][i])
			threads[scanned.nr_threads++] =
				(struct synth_thread){ tid_of(process, i), "scanned" };
	}
	thread_table_synthesize(machine->table, &scanned);
}

static void step(struct machine *machine, bool may_scan)
{
	static void (*const steps[])(struct machine * machine) = { do_mmap, do_mmap, do_mmap,
								   do_comm, do_fork, do_exit };

	if (may_scan && !pick(machine, 6))
		do_scan(machine);
	else
		steps[pick(machine, ARRAY_SIZE(steps))](machine);
	/* So that some come within the time for which an exit is uncertain. */
	machine->now_ns += pick(machine, 2) ? 10000 : 2 * SECOND;
}

/* One answer as text: the name, and what is at each page. */
static void describe(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns,
		     char ret_text[static 512])
{
	struct task *task = thread_table_get(table, pid, tid, time_ns, NULL);
	struct str *comm = task_comm(table, task, time_ns);
	int len = snprintf(ret_text, 512, "%s:", comm->text);

	for (uint64_t ip = 0x1010; ip < 0x11000; ip += 0x1000) {
		struct location location = { 0 };

		if (thread_table_locate(table, task, ip, time_ns, &location) != LOCATE_FOUND) {
			len += snprintf(ret_text + len, 512 - (size_t)len, " -");
			continue;
		}
		len += snprintf(ret_text + len, 512 - (size_t)len, " %" PRIu64 "+%" PRIx64,
				dso_key(location.dso)->inode, location.offset);
		dso_put(location.dso);
	}
	str_put(comm);
	task_put(task);
}

/* Who lives then, as the first table knows it: of others there are no samples. */
static bool is_alive(struct thread_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct record_buffer buffer = { 0 };
	bool found = false;

	record_state_tasks(&buffer, &format, table, time_ns);
	for (size_t pos = 0; pos < buffer.len; pos += record_at(&buffer, pos)->size) {
		struct record record;

		decode(record_at(&buffer, pos), &record);
		found |= record.type == PERF_RECORD_COMM && record.comm.pid == pid &&
			 record.comm.tid == tid && record.id.time == time_ns;
	}
	record_buffer_release(&buffer);
	return found;
}

static size_t compare_answers(struct thread_table *first, struct thread_table *second,
			      uint64_t time_ns, uint64_t seed)
{
	size_t nr = 0;

	for (uint32_t process = 0; process < NR_PIDS; process++) {
		for (uint32_t thread = 0; thread < NR_TIDS; thread++) {
			uint32_t pid = pid_of(process), tid = tid_of(process, thread);
			char expected[512], found[512];

			if (!is_alive(first, pid, tid, time_ns))
				continue;
			describe(first, pid, tid, time_ns, expected);
			describe(second, pid, tid, time_ns, found);
			if (strcmp(expected, found))
				fail_msg("seed %" PRIu64 " time %" PRIu64 " %u/%u\n%s\n%s", seed,
					 time_ns, pid, tid, expected, found);
			nr++;
		}
	}
	return nr;
}

/*
 * A recording begun at @nr_before steps, of @nr_steps; its state was written when
 * @nr_written had passed.
 */
static size_t run_machine(uint64_t seed, size_t nr_before, size_t nr_written, size_t nr_steps)
{
	struct fixture *live = fixture_new(0), *back = fixture_new(0);
	struct machine machine = { .seed = seed, .now_ns = SECOND, .table = live->table };
	void *live_state = live, *back_state = back;
	struct record_buffer file = { 0 };
	uint64_t times[64];
	size_t nr = 0;

	machine.start_ns = UINT64_MAX;
	machine.lives[0][0] = true;
	for (size_t i = 0; i < nr_steps; i++) {
		if (i == nr_before)
			machine.start_ns = machine.now_ns;
		if (i == nr_written)
			record_state_tasks(&file, &format, live->table, machine.start_ns);
		step(&machine, i < nr_written);
		times[i] = machine.now_ns - 5000;
	}
	if (nr_written == nr_steps)
		record_state_tasks(&file, &format, live->table, machine.start_ns);
	if (machine.ring.len) {
		file.nr_allocated = file.len + machine.ring.len;
		file.bytes = mem_resize(file.bytes, file.nr_allocated, 1);
		memcpy(file.bytes + file.len, machine.ring.bytes, machine.ring.len);
		file.len += machine.ring.len;
	}
	read_back(&file, back->table);
	for (size_t i = nr_before; i < nr_steps; i++)
		nr += compare_answers(live->table, back->table, times[i], seed);
	record_buffer_release(&file);
	record_buffer_release(&machine.ring);
	assert_int_equal(teardown(&live_state), 0);
	assert_int_equal(teardown(&back_state), 0);
	return nr;
}

static void test_recording_begun_now_answers_as_the_table_did(void **state)
{
	size_t nr = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++)
		nr += run_machine(seed, 30, 30, 50);
	assert_true(nr > 5000);
}

static void test_recording_of_the_past_answers_as_the_table_did(void **state)
{
	size_t nr = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++)
		nr += run_machine(seed, 30, 50, 50);
	assert_true(nr > 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recording_begun_now_answers_as_the_table_did),
		cmocka_unit_test(test_recording_of_the_past_answers_as_the_table_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
