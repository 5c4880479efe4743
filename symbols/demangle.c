/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names come from files that anyone may have written, and demanglers are where
 * such names bite: they recurse, and a few hundred bytes can stand for gigabytes.
 *
 * libiberty's callback interfaces (used here, not cplus_demangle()) keep all their
 * state on the stack and hand the text out piece by piece. They cannot be told to
 * stop, so the callback that has enough leaves with longjmp(): there is nothing
 * behind it to free, with one exception that collect() knows. This bounds memory,
 * and time too, because work without output does not grow beyond the input, again
 * with one exception, see backtracks_much().
 *
 * Stack: libiberty limits the depth of what it prints and of all Rust names, but
 * for C++ takes some hundred bytes a character, in arrays and in nested types. Its
 * own answer is to refuse names over 1024 bytes; templates are often longer. Here
 * the stack that a name may need is compared with what a thread of ours has.
 */
#include "config.h"

#include "symbols/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <libiberty/demangle.h>

/* What glibc gives a thread when RLIMIT_STACK is unlimited, and our reserve for callers. */
#define UNLIMITED_STACK_BYTES (2u << 20)
#define RESERVE_STACK_BYTES (64u << 10)

/*
 * Measured with libiberty 2.40 on x86-64, rounded up by a third: arrays and the
 * parser per character; the printer per level, which is 1024 at most and never
 * more than there are characters; a Rust name at the limit of its depth.
 */
#define PARSE_STACK_BYTES 300u
#define PRINT_STACK_BYTES 450u
#define PRINT_MAX_DEPTH 1024u
#define RUST_STACK_BYTES (184u << 10)

/* Template template parameters with arguments, in a name that may have a conversion. */
#define MAX_BACKTRACKS 6

struct output {
	jmp_buf stop;
	bool is_rust;
	size_t len;
	char text[DEMANGLE_MAX_OUTPUT];
};

static size_t stack_bytes(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UNLIMITED_STACK_BYTES;
	return limit.rlim_cur;
}

static bool fits_stack(size_t len, bool is_rust)
{
	size_t need = RESERVE_STACK_BYTES;

	if (is_rust)
		need += RUST_STACK_BYTES;
	else
		need += len * PARSE_STACK_BYTES + MIN(len, PRINT_MAX_DEPTH) * PRINT_STACK_BYTES;
	return need <= stack_bytes();
}

/*
 * libiberty parses the arguments of a template parameter ("T_I...E") twice inside
 * the type of a conversion operator ("cv"), so that nested ones double the work
 * each. Names that are meant have one or two.
 */
static bool backtracks_much(const char *name)
{
	const char *pos = name;
	int nr = 0;

	if (!strstr(name, "cv"))
		return false;
	while ((pos = strchr(pos, 'T'))) {
		pos++;
		pos += strspn(pos, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (pos[0] == '_' && pos[1] == 'I' && ++nr > MAX_BACKTRACKS)
			return true;
	}
	return false;
}

static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] >= 0x80)
			return false;
	}
	return true;
}

static void collect(const char *text, size_t len, void *arg)
{
	struct output *output = arg;

	if (len <= sizeof(output->text) - output->len) {
		memcpy(output->text + output->len, text, len);
		output->len += len;
		return;
	}
	/*
	 * A decoded punycode identifier is printed out of a malloc'ed buffer, and is
	 * never all ASCII: then the next piece is the one to leave at.
	 */
	output->len = sizeof(output->text);
	if (!output->is_rust || is_ascii(text, len))
		longjmp(output->stop, 1);
}

static bool run_libiberty(const char *name, struct output *output)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	output->len = 0;
	if (setjmp(output->stop))
		return false;
	if (output->is_rust)
		return rust_demangle_callback(name, options, collect, output) &&
		       output->len < sizeof(output->text);
	return cplus_demangle_v3_callback(name, options | DMGL_NO_RECURSE_LIMIT, collect, output);
}

/* "...17h" + 16 hex digits + "E" at the end, as rustc had it before v0. */
static bool is_rust_legacy(const char *name, size_t len)
{
	static const char hash[] = "17h0123456789abcdefE";
	size_t hash_len = sizeof(hash) - 1;

	return len > hash_len + 3 && !memcmp(name, "_ZN", 3) &&
	       !memcmp(name + len - hash_len, hash, 3) && name[len - 1] == 'E' &&
	       strspn(name + len - 17, "0123456789abcdef") == 16;
}

/*
 * Bytes of @name before what linkers and compilers append: "@plt" and versions
 * always; ".llvm.123" of Rust names too. Clone suffixes of C++ are libiberty's.
 * A legacy Rust name may have dots inside ("..", for "::").
 */
static size_t base_len(const char *name, bool *ret_is_rust)
{
	size_t len = strcspn(name, "@");
	size_t dot = len;

	if (name[1] == 'R') {
		*ret_is_rust = true;
		return strcspn(name, "@.");
	}
	*ret_is_rust = is_rust_legacy(name, len);
	while (!*ret_is_rust && dot > 0) {
		if (name[--dot] == '.' && is_rust_legacy(name, dot)) {
			*ret_is_rust = true;
			return dot;
		}
	}
	return len;
}

/* The text of @output with @suffix: " [clone .llvm.1]" as libiberty does it, "@plt" as it is. */
static char *join(const struct output *output, const char *suffix)
{
	const char *open = *suffix == '.' ? " [clone " : "";
	const char *close = *suffix == '.' ? "]" : "";
	size_t open_len = strlen(open), suffix_len = strlen(suffix), close_len = strlen(close);
	char *text = malloc(output->len + open_len + suffix_len + close_len + 1);
	char *pos = text;

	if (!text)
		return NULL;
	pos = mempcpy(pos, output->text, output->len);
	pos = mempcpy(pos, open, open_len);
	pos = mempcpy(pos, suffix, suffix_len);
	pos = mempcpy(pos, close, close_len);
	*pos = '\0';
	return text;
}

char *demangle(const char *name)
{
	struct output *output;
	char *base, *text = NULL;
	size_t len;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	if (strnlen(name, DEMANGLE_MAX_INPUT + 1) > DEMANGLE_MAX_INPUT)
		return NULL;

	output = malloc(sizeof(*output));
	if (!output)
		return NULL;
	len = base_len(name, &output->is_rust);
	base = strndup(name, len);
	if (base && fits_stack(len, output->is_rust) && !backtracks_much(base) &&
	    run_libiberty(base, output) && output->len)
		text = join(output, name + len);
	free(base);
	free(output);
	return text;
}
