/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of symbols/dso_file.c: procfs is a folder, identities are those of real files in it. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#include "symbols/dso_file.h"
#include "tests/symbols_fixture.h"

static struct dso_table *table;

static int setup(void **state)
{
	table = dso_table_new();
	return fixture_setup(state);
}

static int teardown(void **state)
{
	dso_table_free(table);
	return fixture_teardown(state);
}

/* What the file says that is found for @path in process @pid; "(none)" when none is. */
static const char *found(const struct dso_key *key, const char *path, uint32_t pid)
{
	struct dso *dso = dso_table_get(table, key, path, pid, NULL);
	int fd = dso_file_open(dso, fixture_folder);
	static char text[64];
	ssize_t len = 0;

	if (fd >= 0) {
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[len > 0 ? len : 0] = '\0';
	dso_put(dso);
	return fd < 0 ? "(none)" : text;
}

static void test_fc055_each_process_has_its_own_file_at_the_same_path(void **state)
{
	const char *first = fixture_path("1/root/bin/app");
	const char *second = fixture_path("2/root/bin/app");
	struct dso_key first_key, second_key;

	(void)state;
	fixture_write(first, "first");
	fixture_write(second, "second");
	first_key = fixture_key(first);
	second_key = fixture_key(second);
	assert_string_equal(found(&first_key, "/bin/app", 1), "first");
	assert_string_equal(found(&second_key, "/bin/app", 2), "second");
	/* Not what is mapped: nothing rather than the wrong file. */
	assert_string_equal(found(&first_key, "/bin/app", 2), "(none)");
}

static void test_later_user_and_own_view_are_tried(void **state)
{
	const char *path = fixture_path("9/root/bin/app");
	struct dso_key key;
	struct dso *dso;
	int fd;

	(void)state;
	fixture_write(path, "app");
	key = fixture_key(path);
	assert_string_equal(found(&key, path, 1), "app"); /* process 1 is gone */
	dso = dso_table_get(table, &key, "/bin/app", 1, NULL);
	assert_int_equal(dso_file_open(dso, fixture_folder), -ENOENT);
	dso_note_user(dso, 9);
	fd = dso_file_open(dso, fixture_folder);
	assert_true(fd >= 0);
	close(fd);
	dso_put(dso);
}

static void test_fc057_deleted_program_is_found_through_exe(void **state)
{
	const char *path = fixture_path("kept");
	struct dso_key key;

	(void)state;
	fixture_write(path, "program");
	key = fixture_key(path);
	assert_int_equal(symlink(path, fixture_path("1/exe")), 0);
	assert_string_equal(found(&key, "/bin/gone (deleted)", 1), "program");
}

static void test_fc057_deleted_library_is_found_through_map_files(void **state)
{
	const char *path = fixture_path("kept");
	struct dso_key key;

	(void)state;
	fixture_write(path, "library");
	key = fixture_key(path);
	fixture_write(fixture_path("1/map_files/1000-2000"), "other");
	assert_int_equal(symlink(path, fixture_path("1/map_files/3000-4000")), 0);
	assert_string_equal(found(&key, "/lib/gone.so (deleted)", 1), "library");
}

static void test_fc057_name_that_ends_like_the_mark_is_not_confused(void **state)
{
	const char *odd = fixture_path("1/root/x (deleted)");
	const char *plain = fixture_path("1/root/x");
	struct dso_key odd_key, plain_key;

	(void)state;
	fixture_write(odd, "odd");
	fixture_write(plain, "plain");
	odd_key = fixture_key(odd);
	plain_key = fixture_key(plain);
	assert_string_equal(found(&odd_key, "/x (deleted)", 1), "odd");
	/* The same text from the kernel, of the other one (unlinked, then linked again). */
	assert_string_equal(found(&plain_key, "/x (deleted)", 1), "plain");
}

static void test_link_to_another_file_is_refused(void **state)
{
	const char *path = fixture_path("1/root/bin/app");
	const char *other = fixture_path("secret");
	struct dso_key key;

	(void)state;
	fixture_write(path, "app");
	fixture_write(other, "secret");
	key = fixture_key(path);
	assert_int_equal(rename(path, fixture_path("elsewhere")), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_string_equal(found(&key, "/bin/app", 1), "(none)");
}

static void test_fc121_pipe_in_place_of_the_file_neither_hangs_nor_is_read(void **state)
{
	const char *path = fixture_path("1/root/bin/app");
	struct dso_key key;

	(void)state;
	assert_int_equal(mkfifo(path, 0644), 0);
	key = fixture_key(path); /* even with its own identity */
	assert_string_equal(found(&key, "/bin/app", 1), "(none)");
}

static void test_path_that_is_none_is_not_opened(void **state)
{
	const char *path = fixture_path("1/root/bin/app");
	struct dso_key key;

	(void)state;
	fixture_write(path, "app");
	key = fixture_key(path);
	assert_string_equal(found(&key, "bin/app", 1), "(none)");
	assert_string_equal(found(&key, "", 1), "(none)");
	assert_string_equal(found(&key, " (deleted)", 1), "(none)");
}

static void test_same_inode_of_another_device_is_refused(void **state)
{
	const char *path = fixture_path("1/root/bin/app");
	struct dso_key key;
	struct statfs fs;

	(void)state;
	fixture_write(path, "app");
	assert_int_equal(statfs(path, &fs), 0);
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC) {
		print_message("devices are not compared on this filesystem\n");
		skip();
	}
	key = fixture_key(path);
	key.dev_minor++;
	assert_string_equal(found(&key, "/bin/app", 1), "(none)");
}

static void test_same_inode_of_another_generation_is_refused(void **state)
{
	const char *path = fixture_path("1/root/bin/app");
	struct dso_key key;
	long value = 0;
	int fd, ret;

	(void)state;
	fixture_write(path, "app");
	key = fixture_key(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ret = ioctl(fd, FS_IOC_GETVERSION, &value);
	close(fd);
	if (ret || !value) {
		print_message("this filesystem does not number the uses of an inode\n");
		skip();
	}
	key.generation = (uint32_t)value;
	assert_string_equal(found(&key, "/bin/app", 1), "app");
	key.generation = (uint32_t)value ^ 1;
	assert_string_equal(found(&key, "/bin/app", 1), "(none)");
}

static struct dso *get_vdso(unsigned int word_bits, uint32_t pid)
{
	const struct dso_key key = { .kind = DSO_VDSO, .inode = word_bits };

	return dso_table_get(table, &key, "[vdso]", pid, NULL);
}

static void test_fc041_own_vdso_is_an_elf_image(void **state)
{
	struct dso *dso = get_vdso(8 * sizeof(void *), 1);
	unsigned char *image;
	size_t size;
	void *ret;

	(void)state;
	if (dso_vdso_read(dso, fixture_folder, &ret, &size)) {
		dso_put(dso);
		print_message("this kernel gives no vdso\n");
		skip();
	}
	image = ret;
	assert_true(size > sizeof(Elf64_Ehdr));
	assert_memory_equal(image, ELFMAG, SELFMAG);
	free(image);
	dso_put(dso);
}

/* mem holds the image where maps says it is. */
static void write_foreign_vdso(uint32_t pid, unsigned char elf_class, const char *name)
{
	unsigned char memory[0x1100] = { 0 };
	char *maps = mem_printf("00000000-00001000 r-xp 00000000 00:00 7 /tmp/x [vdso]\n"
				"00001000-00001100 r-xp 00000000 00:00 0      %s\n",
				name);

	memcpy(memory + 0x1000, ELFMAG, SELFMAG);
	memory[0x1000 + EI_CLASS] = elf_class;
	fixture_write(fixture_path("%u/maps", pid), maps);
	fixture_write_bytes(fixture_path("%u/mem", pid), "w", memory, sizeof(memory));
	free(maps);
}

static void test_fc041_other_word_size_comes_from_a_process_of_that_size(void **state)
{
	unsigned int other = sizeof(void *) == 8 ? 32 : 64;
	unsigned char right = other == 32 ? ELFCLASS32 : ELFCLASS64;
	unsigned char wrong = other == 32 ? ELFCLASS64 : ELFCLASS32;
	struct dso *dso = get_vdso(other, 1);
	void *image;
	size_t size;

	(void)state;
	assert_int_equal(dso_vdso_read(dso, fixture_folder, &image, &size), -ENOENT);
	write_foreign_vdso(1, wrong, "[vdso]");
	assert_int_equal(dso_vdso_read(dso, fixture_folder, &image, &size), -ENOEXEC);
	write_foreign_vdso(1, right, "/tmp/y [vdso]");
	assert_int_equal(dso_vdso_read(dso, fixture_folder, &image, &size), -ENOENT);
	write_foreign_vdso(1, right, "[vdso]");
	assert_int_equal(dso_vdso_read(dso, fixture_folder, &image, &size), 0);
	assert_int_equal(size, 0x100);
	free(image);
	dso_put(dso);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_fc055_each_process_has_its_own_file_at_the_same_path),
		CASE(test_later_user_and_own_view_are_tried),
		CASE(test_fc057_deleted_program_is_found_through_exe),
		CASE(test_fc057_deleted_library_is_found_through_map_files),
		CASE(test_fc057_name_that_ends_like_the_mark_is_not_confused),
		CASE(test_link_to_another_file_is_refused),
		CASE(test_fc121_pipe_in_place_of_the_file_neither_hangs_nor_is_read),
		CASE(test_path_that_is_none_is_not_opened),
		CASE(test_same_inode_of_another_device_is_refused),
		CASE(test_same_inode_of_another_generation_is_refused),
		CASE(test_fc041_own_vdso_is_an_elf_image),
		CASE(test_fc041_other_word_size_comes_from_a_process_of_that_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
