/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_symbols on what compilers and linkers make, built by each case with the tools
 * it needs; without them it is skipped.
 *
 * Where a function is in a file is not asked of a second ELF reader: its body has a
 * marker of bytes ("@alpha@"), and the file is searched for it. Nothing built here
 * is run.
 */
#include "config.h"

#include "symbols/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/mem.h"
#include "symbols/symbol.h"

/* Begins each C source. Names have 6 letters: with 8 bytes code stays aligned everywhere. */
static const char mark_macro[] = "#define MARK(name) "
				 "__asm__ volatile(\".ascii \\\"@\" #name \"@\\\"\")\n";

static char folder[] = "/tmp/symtop-elf-XXXXXX";

/* A file under test: its bytes and its symbols. */
struct built {
	unsigned char *bytes;
	size_t size;
	struct symbol_table *table;
};

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static bool run(const char *const argv[])
{
	char *copy[32] = { NULL };
	int status = 1;
	pid_t pid;

	for (size_t i = 0; argv[i]; i++)
		copy[i] = mem_strdup(argv[i]);
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(copy[0], copy);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	for (size_t i = 0; argv[i]; i++)
		free(copy[i]);
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int remove_folder(void **state)
{
	const char *argv[] = { "rm", "-rf", folder, NULL };

	(void)state;
	return run(argv) ? 0 : -1;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void write_source(const char *name, const char *text)
{
	char *source = mem_printf("%s%s", mark_macro, text);

	write_text(name, source);
	free(source);
}

/* Run a tool, or skip the case and say why. */
#define NEED(...)                                                                           \
	do {                                                                                \
		static const char *const need_argv[] = { __VA_ARGS__, NULL };               \
		if (!run(need_argv)) {                                                      \
			print_message("skipped: %s does not do this here\n", need_argv[0]); \
			skip();                                                             \
		}                                                                           \
	} while (0)

static struct built read_built(const char *name)
{
	struct built built = { .bytes = NULL };
	struct stat status;
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	built.size = (size_t)status.st_size;
	built.bytes = mem_zalloc(built.size);
	assert_int_equal(pread(fd, built.bytes, built.size, 0), built.size);
	assert_int_equal(elf_symbols_read(fd, &built.table, NULL), 0);
	symbol_table_check_invariants(built.table);
	close(fd);
	return built;
}

static void built_release(struct built *built)
{
	symbol_table_free(built->table);
	free(built->bytes);
}

/* The offset of the only marker "@NAME@". */
static uint64_t mark_offset(const struct built *built, const char *name)
{
	char *mark = mem_printf("@%s@", name);
	size_t len = strlen(mark);
	const unsigned char *found = memmem(built->bytes, built->size, mark, len);
	uint64_t offset;

	assert_non_null(found);
	offset = (uint64_t)(found - built->bytes);
	assert_null(memmem(found + len, built->size - offset - len, mark, len));
	free(mark);
	return offset;
}

static const char *name_at(const struct built *built, uint64_t offset)
{
	const struct symbol *symbol = symbol_table_find(built->table, offset);

	return symbol ? symbol->name : "";
}

static void assert_mark_is(const struct built *built, const char *mark, const char *name)
{
	assert_string_equal(name_at(built, mark_offset(built, mark)), name);
}

static const char spin[] = "__attribute__((noinline)) void hot_alpha(void) { MARK(alpha1); }\n"
			   "__attribute__((noinline)) void hot_beta(void) { MARK(beta_1); }\n"
			   "void _start(void) { hot_alpha(); hot_beta(); }\n";

static void assert_spin(const char *name)
{
	struct built built = read_built(name);

	assert_mark_is(&built, "alpha1", "hot_alpha");
	assert_mark_is(&built, "beta_1", "hot_beta");
	built_release(&built);
}

static void test_usual_executables(void **state)
{
	(void)state;
	write_source("spin.c", spin);
	NEED("cc", "-O1", "-nostdlib", "-o", "spin", "spin.c");
	assert_spin("spin");
	NEED("cc", "-O1", "-nostdlib", "-no-pie", "-o", "spin", "spin.c");
	assert_spin("spin");
}

static void test_fc019_offset_differs_from_address(void **state)
{
	(void)state;
	write_source("spin.c", spin);
	NEED("cc", "-O1", "-nostdlib", "-fuse-ld=lld", "-o", "spin", "spin.c");
	assert_spin("spin");
}

static void test_32_bit_file(void **state)
{
	struct built built;

	(void)state;
	write_source("lib.c", "__attribute__((noinline)) void hot_alpha(void) { MARK(alpha1); }\n");
	NEED("cc", "-m32", "-O1", "-nostdlib", "-shared", "-o", "lib32.so", "lib.c");
	built = read_built("lib32.so");
	assert_mark_is(&built, "alpha1", "hot_alpha");
	built_release(&built);
	NEED("strip", "lib32.so");
	built = read_built("lib32.so");
	assert_mark_is(&built, "alpha1", "hot_alpha");
	built_release(&built);
}

static void test_fc020_two_code_segments_of_different_bias(void **state)
{
	struct built built;

	(void)state;
	write_source("two.c", "__attribute__((noinline, section(\".hot2\")))\n"
			      "void hot2(void) { MARK(second); }\n"
			      "void _start(void) { MARK(first1); hot2(); }\n");
	NEED("cc", "-O1", "-nostdlib", "-no-pie", "-Wl,--section-start=.hot2=0xa00123", "-o", "two",
	     "two.c");
	built = read_built("two");
	assert_mark_is(&built, "first1", "_start");
	assert_mark_is(&built, "second", "hot2");
	built_release(&built);
}

static void test_fc022_assembly_labels_without_size(void **state)
{
	struct built built;

	(void)state;
	write_text("labels.s", ".text\n.globl _start\n_start:\n.ascii \"@start1@\"\n"
			       ".type before, %function\nbefore:\n.ascii \"@before@\"\n"
			       ".type middle, %function\nmiddle:\n.skip 64\n.ascii \"@middle@\"\n"
			       ".type after, %function\nafter:\n.ascii \"@after1@\"\n"
			       ".section .text2, \"ax\"\n.skip 64\n.ascii \"@nobody@\"\n");
	NEED("cc", "-nostdlib", "-o", "labels", "labels.s");
	built = read_built("labels");
	assert_mark_is(&built, "start1", "_start");
	assert_mark_is(&built, "before", "before");
	assert_mark_is(&built, "middle", "middle");
	assert_mark_is(&built, "after1", "after");
	assert_mark_is(&built, "nobody", "");
	built_release(&built);
}

static void test_fc023_exported_label_of_a_stripped_file(void **state)
{
	struct built built;

	(void)state;
	write_source("export.c",
		     "__asm__(\".text\\n.globl marker\\nmarker:\\n.ascii \\\"@marker@\\\"\\n\");\n"
		     "static __attribute__((noinline, used)) void hidden(void) { MARK(hidden); }\n"
		     "void visible(void) { hidden(); MARK(seen_1); }\n");
	NEED("cc", "-O1", "-fno-toplevel-reorder", "-nostdlib", "-shared", "-fPIC", "-o",
	     "export.so", "export.c");
	built = read_built("export.so");
	assert_mark_is(&built, "hidden", "hidden");
	built_release(&built);
	NEED("strip", "export.so");
	built = read_built("export.so");
	assert_mark_is(&built, "marker", "");
	assert_mark_is(&built, "hidden", "");
	assert_mark_is(&built, "seen_1", "visible");
	built_release(&built);
}

static void test_fc025_aliases_in_any_order(void **state)
{
	static const char *const aliases[] = {
		"void zz_weak(void) __attribute__((weak, alias(\"real_work\")));\n",
		"static void __GI_real_work(void) __attribute__((used, alias(\"real_work\")));\n",
		"void _real_work(void) __attribute__((alias(\"real_work\")));\n",
	};

	(void)state;
	for (size_t first = 0; first < ARRAY_SIZE(aliases); first++) {
		char *text =
			mem_printf("%s%svoid real_work(void) { MARK(worker); }\n%s", aliases[first],
				   aliases[(first + 1) % 3], aliases[(first + 2) % 3]);
		struct built built;

		write_source("alias.c", text);
		free(text);
		NEED("cc", "-O1", "-nostdlib", "-shared", "-fPIC", "-o", "alias.so", "alias.c");
		built = read_built("alias.so");
		assert_mark_is(&built, "worker", "real_work");
		built_release(&built);
	}
}

/* Where the x86-64 call right behind the marker goes. */
static uint64_t x86_call_target(const struct built *built, const char *mark)
{
	uint64_t pos = mark_offset(built, mark) + 8;
	int32_t distance;

	assert_int_equal(built->bytes[pos], 0xe8);
	memcpy(&distance, built->bytes + pos + 1, sizeof(distance));
	return pos + 5 + (uint64_t)(int64_t)distance;
}

static uint64_t aarch64_call_target(const struct built *built, const char *mark)
{
	uint64_t pos = mark_offset(built, mark) + 8;
	uint32_t word;

	memcpy(&word, built->bytes + pos, sizeof(word));
	assert_int_equal(word >> 26, 0x25); /* bl */
	return pos + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
}

static void assert_stubs(const char *name, uint64_t (*target)(const struct built *, const char *))
{
	struct built built = read_built(name);
	uint64_t stub = target(&built, "call_a");

	assert_string_equal(name_at(&built, stub), "tiny_a@plt");
	assert_int_equal(symbol_table_find(built.table, stub)->start, stub);
	assert_string_equal(name_at(&built, target(&built, "call_b")), "ns::tiny_b()@plt");
	built_release(&built);
}

static void write_calls(const char *call)
{
	char *text =
		mem_printf(".text\n.globl caller\n.type caller, %%function\ncaller:\n"
			   ".ascii \"@call_a@\"\n%s tiny_a%s\n"
			   ".ascii \"@call_b@\"\n%s _ZN2ns6tiny_bEv%s\n.size caller, .-caller\n",
			   call, *call == 'c' ? "@plt" : "", call, *call == 'c' ? "@plt" : "");

	write_text("calls.s", text);
	free(text);
}

static void test_fc026_x86_64_plt(void **state)
{
	(void)state;
	write_calls("call");
#ifndef __x86_64__
	print_message("skipped: needs an x86-64 compiler\n");
	skip();
#endif
	NEED("cc", "-nostdlib", "-shared", "-Wl,-z,ibtplt,-z,lazy", "-o", "ibt.so", "calls.s");
	assert_stubs("ibt.so", x86_call_target);
	NEED("strip", "ibt.so");
	assert_stubs("ibt.so", x86_call_target);
	NEED("cc", "-nostdlib", "-shared", "-Wl,-z,lazy", "-o", "lazy.so", "calls.s");
	assert_stubs("lazy.so", x86_call_target);
	NEED("cc", "-nostdlib", "-shared", "-Wl,-z,now", "-o", "now.so", "calls.s");
	assert_stubs("now.so", x86_call_target);
	NEED("cc", "-nostdlib", "-shared", "-fuse-ld=gold", "-o", "gold.so", "calls.s");
	assert_stubs("gold.so", x86_call_target);
	NEED("cc", "-nostdlib", "-shared", "-fuse-ld=lld", "-o", "lld.so", "calls.s");
	assert_stubs("lld.so", x86_call_target);
}

/* Linkers of the time of MPX wrote "bnd jmp": made here of the stub of today. */
static void test_fc026_x86_64_bnd_prefix(void **state)
{
	static const unsigned char endbr64_jmp[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25 };
	struct built built;
	unsigned char *stub;
	int32_t distance;

	(void)state;
	write_calls("call");
#ifndef __x86_64__
	print_message("skipped: needs an x86-64 compiler\n");
	skip();
#endif
	NEED("cc", "-nostdlib", "-shared", "-Wl,-z,ibtplt,-z,lazy", "-o", "ibt.so", "calls.s");
	built = read_built("ibt.so");
	stub = built.bytes + x86_call_target(&built, "call_a");
	assert_memory_equal(stub, endbr64_jmp, sizeof(endbr64_jmp));
	memcpy(&distance, stub + 6, sizeof(distance));
	distance--;
	memcpy(stub + 4, "\xf2\xff\x25", 3);
	memcpy(stub + 7, &distance, sizeof(distance));
	symbol_table_free(built.table);
	assert_int_equal(elf_symbols_read_image(built.bytes, built.size, &built.table, NULL), 0);
	assert_string_equal(name_at(&built, x86_call_target(&built, "call_a")), "tiny_a@plt");
	built_release(&built);
}

/* A pointer to the function too: then ld makes an 8 byte stub in .plt.got. */
static void test_fc026_x86_64_plt_got(void **state)
{
	(void)state;
	write_calls("call");
	write_text("more.s", ".text\nmovq tiny_a@GOTPCREL(%rip), %rax\n"
			     "movq _ZN2ns6tiny_bEv@GOTPCREL(%rip), %rax\n");
#ifndef __x86_64__
	print_message("skipped: needs an x86-64 compiler\n");
	skip();
#endif
	NEED("cc", "-nostdlib", "-shared", "-o", "got.so", "calls.s", "more.s");
	assert_stubs("got.so", x86_call_target);
	NEED("cc", "-nostdlib", "-shared", "-Wl,-z,ibtplt", "-o", "got.so", "calls.s", "more.s");
	assert_stubs("got.so", x86_call_target);
}

static void test_fc026_rest_of_plt_is_labelled(void **state)
{
	struct built built;
	bool is_found = false;

	(void)state;
	write_calls("call");
#ifndef __x86_64__
	print_message("skipped: needs an x86-64 compiler\n");
	skip();
#endif
	NEED("cc", "-nostdlib", "-shared", "-Wl,-z,lazy", "-o", "lazy.so", "calls.s");
	built = read_built("lazy.so");
	for (size_t i = 0; i < symbol_table_nr(built.table); i++) {
		if (!strcmp(symbol_table_at(built.table, i)->name, "[plt]"))
			is_found = true;
	}
	assert_true(is_found);
	built_release(&built);
}

static void test_fc026_aarch64_plt(void **state)
{
	(void)state;
	write_calls("bl");
	NEED("clang", "--target=aarch64-linux-gnu", "-nostdlib", "-shared", "-fuse-ld=lld", "-o",
	     "arm.so", "calls.s");
	assert_stubs("arm.so", aarch64_call_target);
	/* A stub has a landing pad (bti) where its address is the function's for everyone. */
	write_text("more.s", ".text\nadrp x0, tiny_a\nadd x0, x0, :lo12:tiny_a\n");
	write_text("tiny.s", ".text\n.globl tiny_a, _ZN2ns6tiny_bEv\n"
			     ".type tiny_a, %function\ntiny_a: ret\n"
			     ".type _ZN2ns6tiny_bEv, %function\n_ZN2ns6tiny_bEv: ret\n");
	NEED("clang", "--target=aarch64-linux-gnu", "-nostdlib", "-shared", "-fuse-ld=lld", "-o",
	     "tiny.so", "tiny.s");
	NEED("clang", "--target=aarch64-linux-gnu", "-nostdlib", "-fuse-ld=lld",
	     "-Wl,-z,force-bti,-e,caller", "-o", "bti", "calls.s", "more.s", "tiny.so");
	assert_stubs("bti", aarch64_call_target);
}

/* Writes a copy of @name whose ELF header does not know of sections. */
static void remove_sections(const char *name)
{
	struct built built = read_built(name);
	Elf64_Ehdr header;
	FILE *file;

	memcpy(&header, built.bytes, sizeof(header));
	header.e_shoff = 0;
	header.e_shnum = 0;
	header.e_shstrndx = 0;
	memcpy(built.bytes, &header, sizeof(header));
	file = fopen("bare.so", "w");
	assert_non_null(file);
	assert_int_equal(fwrite(built.bytes, 1, built.size, file), built.size);
	assert_int_equal(fclose(file), 0);
	built_release(&built);
}

static void assert_dynamic(void)
{
	struct built built;

	remove_sections("lib.so");
	built = read_built("bare.so");
	assert_mark_is(&built, "alpha1", "hot_alpha");
	assert_mark_is(&built, "beta_1", "hot_beta");
	assert_mark_is(&built, "hidden", "");
	built_release(&built);
}

static void test_fc032_dynamic_symbols_without_sections(void **state)
{
	(void)state;
	write_source("lib.c", "extern int outside(void);\n"
			      "int hot_alpha(void) { MARK(alpha1); return outside(); }\n"
			      "int hot_beta(void) { MARK(beta_1); return outside(); }\n"
			      "static __attribute__((used)) void hidden(void) { MARK(hidden); }\n");
	NEED("cc", "-O1", "-nostdlib", "-shared", "-fPIC", "-Wl,--hash-style=gnu", "-o", "lib.so",
	     "lib.c");
	if (sizeof(void *) != 8) {
		print_message("skipped: changes a 64-bit file\n");
		skip();
	}
	assert_dynamic();
	NEED("cc", "-O1", "-nostdlib", "-shared", "-fPIC", "-Wl,--hash-style=sysv", "-o", "lib.so",
	     "lib.c");
	assert_dynamic();
	NEED("cc", "-O1", "-nostdlib", "-shared", "-fPIC", "-fuse-ld=lld", "-o", "lib.so", "lib.c");
	assert_dynamic();
}

static void test_fc034_implementation_is_named_not_the_ifunc(void **state)
{
	struct built built;

	(void)state;
	write_source("ifunc.c", "static int f_one(void) { MARK(f_impl); return 1; }\n"
				"static __attribute__((used)) void *resolve_f(void) { "
				"MARK(f_res1); return f_one; }\n"
				"int f(void) __attribute__((ifunc(\"resolve_f\")));\n");
	NEED("cc", "-O1", "-nostdlib", "-shared", "-fPIC", "-o", "ifunc.so", "ifunc.c");
	built = read_built("ifunc.so");
	assert_mark_is(&built, "f_impl", "f_one");
	assert_mark_is(&built, "f_res1", "resolve_f");
	built_release(&built);
	NEED("strip", "ifunc.so");
	built = read_built("ifunc.so");
	assert_mark_is(&built, "f_impl", "");
	built_release(&built);
}

static void test_fc065_cold_part_is_shown(void **state)
{
	struct built built;

	(void)state;
	/* gcc moves the landing pads of exceptions out of line. */
	write_source("cold.cc", "extern int use(int);\n"
				"int work(int x) { try { return use(x); }\n"
				"catch (...) { MARK(cold_1); return use(1); } }\n");
	NEED("c++", "-O2", "-nostdlib", "-shared", "-fPIC", "-o", "cold.so", "cold.cc");
	built = read_built("cold.so");
	if (!strcmp(name_at(&built, mark_offset(&built, "cold_1")), "work(int)")) {
		built_release(&built);
		print_message("skipped: this compiler splits no functions\n");
		skip();
	}
	assert_mark_is(&built, "cold_1", "work(int) [clone .cold]");
	built_release(&built);
}

static void test_build_id_is_that_of_the_linker(void **state)
{
	static const unsigned char expected[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd };
	unsigned char id[20];
	int fd;

	(void)state;
	write_source("spin.c", spin);
	NEED("cc", "-nostdlib", "-Wl,--build-id=0x0123456789abcd", "-o", "spin", "spin.c");
	fd = open("spin", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_symbols_build_id(fd, id), sizeof(expected));
	assert_memory_equal(id, expected, sizeof(expected));
	close(fd);
	NEED("cc", "-nostdlib", "-Wl,--build-id=none", "-o", "spin", "spin.c");
	fd = open("spin", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_symbols_build_id(fd, id), 0);
	close(fd);
}

/* Real files have all the tables; damage in any byte of their first and last pages. */
static void test_fc123_flipped_bits_of_a_real_file_are_survived(void **state)
{
	unsigned int seed = 1;
	struct built built;

	(void)state;
	write_calls("call");
	write_source("spin.c", spin);
	NEED("cc", "-O1", "-nostdlib", "-shared", "-fPIC", "-o", "flip.so", "spin.c", "calls.s");
	built = read_built("flip.so");
	for (int round = 0; round < 20000; round++) {
		unsigned char *copy = mem_zalloc(built.size);
		struct symbol_table *table = NULL;

		memcpy(copy, built.bytes, built.size);
		for (int i = rand_r(&seed) % 16; i >= 0; i--) {
			size_t pos = (size_t)rand_r(&seed) % 4096;

			pos = rand_r(&seed) % 2 ? built.size - 1 - pos : pos;
			copy[pos] ^= (unsigned char)(1 << rand_r(&seed) % 8);
		}
		if (!elf_symbols_read_image(copy, built.size, &table, NULL))
			symbol_table_check_invariants(table);
		symbol_table_free(table);
		free(copy);
	}
	built_release(&built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual_executables),
		cmocka_unit_test(test_fc019_offset_differs_from_address),
		cmocka_unit_test(test_32_bit_file),
		cmocka_unit_test(test_fc020_two_code_segments_of_different_bias),
		cmocka_unit_test(test_fc022_assembly_labels_without_size),
		cmocka_unit_test(test_fc023_exported_label_of_a_stripped_file),
		cmocka_unit_test(test_fc025_aliases_in_any_order),
		cmocka_unit_test(test_fc026_x86_64_plt),
		cmocka_unit_test(test_fc026_x86_64_bnd_prefix),
		cmocka_unit_test(test_fc026_x86_64_plt_got),
		cmocka_unit_test(test_fc026_rest_of_plt_is_labelled),
		cmocka_unit_test(test_fc026_aarch64_plt),
		cmocka_unit_test(test_fc032_dynamic_symbols_without_sections),
		cmocka_unit_test(test_fc034_implementation_is_named_not_the_ifunc),
		cmocka_unit_test(test_fc065_cold_part_is_shown),
		cmocka_unit_test(test_build_id_is_that_of_the_linker),
		cmocka_unit_test(test_fc123_flipped_bits_of_a_real_file_are_survived),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
