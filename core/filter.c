/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recursive-descent parser that makes a tree, and a walk over it.
 *
 * What a person types is taken as they mean it or refused with the place named; it
 * is never silently read as something else. So a lower-case word before an operator
 * must be a key ("com=x" is an error and no word), and a parenthesis right after a
 * word must be quoted ("f(int)" would else mean f and int).
 *
 * The C library's regex matches in bounded time without back-references and
 * compiles in bounded memory without large repeat counts, so both are refused.
 */
#include "config.h"

#include "core/filter.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/text.h"

#define MAX_TEXT 1024
#define MAX_REGEX 256
#define MAX_REPEATS 1000
#define MAX_DEPTH 32

enum node_kind { NODE_AND, NODE_OR, NODE_NOT, NODE_WORD, NODE_STRING, NODE_NUMBER };

enum op { OP_EQUAL, OP_NOT, OP_REGEX, OP_LESS, OP_GREATER, OP_LESS_EQUAL, OP_GREATER_EQUAL };

enum key { KEY_COMM, KEY_DSO, KEY_SYMBOL, KEY_EVENT, KEY_PID, KEY_TID, KEY_CPU, KEY_NODE };

struct node {
	enum node_kind kind;
	enum key key;
	enum op op;
	struct node *left, *right;
	char *text;
	int64_t number;
	bool has_regex;
	regex_t regex;
};

struct filter {
	struct node *root; /* NULL: matches all */
};

struct parser {
	const char *text;
	const char *next;
	unsigned int depth;
	struct err *err;
};

static const struct {
	const char *name;
	enum key key;
} keys[] = {
	{ "comm", KEY_COMM },  { "dso", KEY_DSO },   { "symbol", KEY_SYMBOL },
	{ "sym", KEY_SYMBOL }, { "pid", KEY_PID },   { "tid", KEY_TID },
	{ "cpu", KEY_CPU },    { "node", KEY_NODE }, { "event", KEY_EVENT },
};

/* Longer ones first. */
static const struct {
	const char *text;
	enum op op;
} ops[] = {
	{ "!=", OP_NOT },  { "<=", OP_LESS_EQUAL }, { ">=", OP_GREATER_EQUAL }, { "=", OP_EQUAL },
	{ "~", OP_REGEX }, { "<", OP_LESS },	    { ">", OP_GREATER },
};

/* ---- parsing ---- */

static struct node *node_new(enum node_kind kind, struct node *left, struct node *right)
{
	struct node *node = mem_zalloc(sizeof(*node));

	node->kind = kind;
	node->left = left;
	node->right = right;
	return node;
}

static void node_free(struct node *node)
{
	if (!node)
		return;
	node_free(node->left);
	node_free(node->right);
	if (node->has_regex)
		regfree(&node->regex);
	free(node->text);
	free(node);
}

static int fail(struct parser *parser, const char *at, const char *what)
{
	struct textbuf rest = { 0 };

	text_add_printable(&rest, at, strnlen(at, 24));
	err_say(parser->err, -EINVAL, "filter, character %zu%s%s%s: %s",
		(size_t)(at - parser->text) + 1, rest.len ? " ('" : " (at the end",
		rest.len ? rest.text : "", rest.len ? "')" : ")", what);
	textbuf_release(&rest);
	return -EINVAL;
}

static void skip_spaces(struct parser *parser)
{
	while (isspace((unsigned char)*parser->next))
		parser->next++;
}

static bool ends_word(char c)
{
	return !c || isspace((unsigned char)c) || strchr("()|\"", c);
}

/* Inside quotes only \" is special, so that a regex keeps its backslashes. */
static int parse_quoted(struct parser *parser, char **ret_text)
{
	const char *start = parser->next++;
	struct textbuf buf = { 0 };

	textbuf_puts(&buf, "");
	while (*parser->next && *parser->next != '"') {
		if (parser->next[0] == '\\' && parser->next[1] == '"')
			parser->next++;
		textbuf_add(&buf, parser->next++, 1);
	}
	if (!*parser->next) {
		textbuf_release(&buf);
		return fail(parser, start, "the quote is not closed");
	}
	parser->next++;
	*ret_text = buf.text;
	return 0;
}

static int parse_text(struct parser *parser, char **ret_text)
{
	const char *start = parser->next;

	if (*start == '"')
		return parse_quoted(parser, ret_text);
	while (!ends_word(*parser->next))
		parser->next++;
	if (parser->next == start)
		return fail(parser, start, "a word or value is missing here");
	if (*parser->next == '(' || *parser->next == '"')
		return fail(parser, start, "put it in quotes, it holds a parenthesis or quote");
	*ret_text = mem_strndup(start, (size_t)(parser->next - start));
	return 0;
}

static int parse_number(struct parser *parser, const char *at, struct node *node)
{
	char *end;

	if (!isdigit((unsigned char)node->text[0]))
		return fail(parser, at, "a number is wanted here");
	errno = 0;
	node->number = strtoll(node->text, &end, 10);
	if (*end || errno)
		return fail(parser, at, "this is no number, or too large");
	return 0;
}

/* The product of all repeat counts bounds what the pattern unfolds to. */
static const char *regex_fault(const char *text)
{
	unsigned long repeats = 1;

	if (strlen(text) > MAX_REGEX)
		return "the pattern is too long";
	for (; *text; text++) {
		if (*text == '\\') {
			if (isdigit((unsigned char)text[1]))
				return "back-references are not supported";
			if (text[1])
				text++;
		} else if (*text == '{') {
			unsigned long least = 0;
			unsigned long most = 0;
			char *end;

			least = strtoul(text + 1, &end, 10);
			if (*end == ',')
				most = strtoul(end + 1, NULL, 10);
			repeats *= MIN(MAX(MAX(least, most), 1UL), MAX_REPEATS + 1UL);
			if (repeats > MAX_REPEATS)
				return "the pattern repeats too often";
		}
	}
	return NULL;
}

static int compile_regex(struct parser *parser, const char *at, struct node *node)
{
	const char *fault = regex_fault(node->text);
	char message[128];
	int code;

	if (fault)
		return fail(parser, at, fault);
	code = regcomp(&node->regex, node->text, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, &node->regex, message, sizeof(message));
		return fail(parser, at, message);
	}
	node->has_regex = true;
	return 0;
}

static int parse_value(struct parser *parser, struct node *node)
{
	const char *at;
	int ret;

	skip_spaces(parser);
	at = parser->next;
	ret = parse_text(parser, &node->text);
	if (ret < 0)
		return ret;
	if (node->key >= KEY_PID) {
		node->kind = NODE_NUMBER;
		if (node->op == OP_REGEX)
			return fail(parser, at, "~ is for names, this key is a number");
		return parse_number(parser, at, node);
	}
	node->kind = NODE_STRING;
	if (node->op > OP_REGEX)
		return fail(parser, at, "< and > are for numbers, this key is a name");
	return node->op == OP_REGEX ? compile_regex(parser, at, node) : 0;
}

static bool parse_op(const char **text, enum op *ret_op)
{
	while (isspace((unsigned char)**text))
		(*text)++;
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		size_t len = strlen(ops[i].text);

		if (!strncmp(*text, ops[i].text, len)) {
			*text += len;
			*ret_op = ops[i].op;
			return true;
		}
	}
	return false;
}

/* "key op" at the parser's place. False: it is a word. */
static bool parse_key(struct parser *parser, struct node *node, int *ret_error)
{
	const char *start = parser->next;
	const char *next = start;
	size_t len;

	*ret_error = 0;
	while (*next >= 'a' && *next <= 'z')
		next++;
	len = (size_t)(next - start);
	if (!len || !parse_op(&next, &node->op))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strlen(keys[i].name) == len && !memcmp(keys[i].name, start, len)) {
			node->key = keys[i].key;
			parser->next = next;
			return true;
		}
	}
	*ret_error = fail(parser, start,
			  "no such key; there are comm, pid, tid, dso, symbol, cpu, node, event "
			  "(a name with an operator in it goes in quotes)");
	return true;
}

static int parse_any(struct parser *parser, struct node **ret_node);

static int parse_primary(struct parser *parser, struct node **ret_node)
{
	struct node *node;
	int ret;

	if (*parser->next == '(') {
		parser->next++;
		ret = parse_any(parser, ret_node);
		if (ret < 0)
			return ret;
		if (*parser->next != ')') {
			node_free(*ret_node);
			return fail(parser, parser->next, "a closing parenthesis is missing");
		}
		parser->next++;
		return 0;
	}
	node = node_new(NODE_WORD, NULL, NULL);
	if (!parse_key(parser, node, &ret))
		ret = parse_text(parser, &node->text);
	else if (!ret)
		ret = parse_value(parser, node);
	if (ret < 0) {
		node_free(node);
		return ret;
	}
	*ret_node = node;
	return 0;
}

static int parse_term(struct parser *parser, struct node **ret_node)
{
	bool negated = false;
	int ret;

	for (; *parser->next == '!'; skip_spaces(parser)) {
		parser->next++;
		negated = !negated;
	}
	ret = parse_primary(parser, ret_node);
	if (!ret && negated)
		*ret_node = node_new(NODE_NOT, *ret_node, NULL);
	return ret;
}

static int parse_all(struct parser *parser, struct node **ret_node)
{
	struct node *node = NULL;
	struct node *term;
	int ret;

	for (;;) {
		skip_spaces(parser);
		if (node && (!*parser->next || *parser->next == '|' || *parser->next == ')'))
			break;
		ret = parse_term(parser, &term);
		if (ret < 0) {
			node_free(node);
			return ret;
		}
		node = node ? node_new(NODE_AND, node, term) : term;
	}
	*ret_node = node;
	return 0;
}

static int parse_any(struct parser *parser, struct node **ret_node)
{
	struct node *node;
	struct node *other;
	int ret;

	if (++parser->depth > MAX_DEPTH)
		return fail(parser, parser->next, "parentheses are nested too deep");
	ret = parse_all(parser, &node);
	if (ret < 0)
		return ret;
	while (*parser->next == '|') {
		parser->next++;
		ret = parse_all(parser, &other);
		if (ret < 0) {
			node_free(node);
			return ret;
		}
		node = node_new(NODE_OR, node, other);
	}
	parser->depth--;
	*ret_node = node;
	return 0;
}

int filter_parse(const char *text, struct filter **ret_filter, struct err *err)
{
	struct parser parser = { .text = text, .next = text, .err = err };
	struct node *root = NULL;
	struct filter *filter;
	int ret;

	if (strlen(text) > MAX_TEXT)
		return err_say(err, -EINVAL, "filter: longer than %d characters", MAX_TEXT);
	skip_spaces(&parser);
	if (*parser.next) {
		ret = parse_any(&parser, &root);
		if (ret < 0)
			return ret;
		if (*parser.next) {
			node_free(root);
			return fail(&parser, parser.next, "this parenthesis was never opened");
		}
	}
	filter = mem_zalloc(sizeof(*filter));
	filter->root = root;
	*ret_filter = filter;
	return 0;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	node_free(filter->root);
	free(filter);
}

/* ---- matching ---- */

static const char *subject_string(const struct filter_subject *subject, enum key key)
{
	switch (key) {
	case KEY_COMM:
		return subject->comm;
	case KEY_DSO:
		return subject->dso;
	case KEY_SYMBOL:
		return subject->symbol;
	case KEY_EVENT:
		return subject->event;
	case KEY_PID:
	case KEY_TID:
	case KEY_CPU:
	case KEY_NODE:
		break;
	}
	return NULL;
}

static int64_t subject_number(const struct filter_subject *subject, enum key key)
{
	switch (key) {
	case KEY_PID:
		return subject->pid;
	case KEY_TID:
		return subject->tid;
	case KEY_CPU:
		return subject->cpu;
	case KEY_NODE:
		return subject->node;
	case KEY_COMM:
	case KEY_DSO:
	case KEY_SYMBOL:
	case KEY_EVENT:
		break;
	}
	return -1;
}

static bool match_string(const struct node *node, const char *text)
{
	if (!text)
		return false;
	if (node->op == OP_REGEX)
		return !regexec(&node->regex, text, 0, NULL, 0);
	return !strcmp(text, node->text) == (node->op == OP_EQUAL);
}

static bool match_number(const struct node *node, int64_t number)
{
	if (number < 0)
		return false;
	switch (node->op) {
	case OP_EQUAL:
		return number == node->number;
	case OP_NOT:
		return number != node->number;
	case OP_LESS:
		return number < node->number;
	case OP_GREATER:
		return number > node->number;
	case OP_LESS_EQUAL:
		return number <= node->number;
	case OP_GREATER_EQUAL:
		return number >= node->number;
	case OP_REGEX:
		break;
	}
	return false;
}

static bool has_word(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

static bool match_node(const struct node *node, const struct filter_subject *subject)
{
	switch (node->kind) {
	case NODE_AND:
		return match_node(node->left, subject) && match_node(node->right, subject);
	case NODE_OR:
		return match_node(node->left, subject) || match_node(node->right, subject);
	case NODE_NOT:
		return !match_node(node->left, subject);
	case NODE_WORD:
		return has_word(subject->comm, node->text) || has_word(subject->dso, node->text) ||
		       has_word(subject->symbol, node->text);
	case NODE_STRING:
		return match_string(node, subject_string(subject, node->key));
	case NODE_NUMBER:
		return match_number(node, subject_number(subject, node->key));
	}
	return false;
}

bool filter_match(const struct filter *filter, const struct filter_subject *subject)
{
	return !filter->root || match_node(filter->root, subject);
}
