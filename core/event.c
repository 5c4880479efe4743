/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The grammar of -e, by hand, one character ahead:
 *
 *   list   item {"," item}
 *   item   event | "{" event {"," event} "}" [":" modifiers]
 *   event  name [":" modifiers]
 *        | subsystem ":" pattern [":" modifiers]
 *        | pmu "/" terms "/" [":"] [modifiers]
 *
 * A name is looked for among the kernel's generic ones, then among the events of the
 * core PMUs; only then is a colon in it that of a tracepoint, so "cycles:u" never is
 * one. Where cores differ (hybrid), a generic name becomes one event for each kind of
 * core, named "cpu_core/cycles/", with the CPUs of that kind; a group becomes one
 * group for each.
 *
 * Events are collected in a list of their own and move to the caller's at the end, so
 * a failure leaves that as it was.
 */
#include "config.h"

#include "core/event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/event_private.h"

#define BLANKS " \t\n"
#define MODIFIERS "ukhGHpPDSWe"

struct event_parser {
	char *tracefs;
	struct pmu_table *pmus;
};

/* One call of event_parser_add(). */
struct parse {
	struct event_parser *parser;
	struct event_list list;
	int next_group;
	int group;		/* of the {} we are in, -1 outside */
	const char *group_text; /* its modifiers */
	struct err *err;	/* never NULL */
};

/* ---- modifiers ---- */

struct modifiers {
	bool user, kernel, hypervisor;
	bool guest, host;
	bool pinned, exclusive, weak;
	bool precise_max;
	unsigned int precise;
};

static int parse_modifier(char letter, const char *event, struct modifiers *modifiers,
			  struct err *err)
{
	bool *const flag = letter == 'u'   ? &modifiers->user
			   : letter == 'k' ? &modifiers->kernel
			   : letter == 'h' ? &modifiers->hypervisor
			   : letter == 'G' ? &modifiers->guest
			   : letter == 'H' ? &modifiers->host
			   : letter == 'D' ? &modifiers->pinned
			   : letter == 'e' ? &modifiers->exclusive
			   : letter == 'W' ? &modifiers->weak
			   : letter == 'P' ? &modifiers->precise_max
					   : NULL;

	if (flag) {
		*flag = true;
	} else if (letter == 'p') {
		if (++modifiers->precise > 3)
			return err_say(err, -EINVAL, "event '%s': more than three modifiers p",
				       event);
	} else if (letter == 'S') {
		return err_say(
			err, -EINVAL,
			"event '%s': modifier S (read counters with samples) is not supported",
			event);
	} else {
		err_say(err, -EINVAL, "event '%s': unknown modifier '%c'", event, letter);
		err_hint(err, "modifiers: u k h levels, G H guest and host, p pp ppp P precise, "
			      "D pinned, e exclusive, W weak group");
		return -EINVAL;
	}
	return 0;
}

static int parse_modifiers(const char *text, const char *event, struct modifiers *modifiers,
			   struct err *err)
{
	unsigned int precise = modifiers->precise;
	int ret = 0;

	/* The p of an event and of its group do not add up. */
	modifiers->precise = 0;
	for (; *text && !ret; text++)
		ret = parse_modifier(*text, event, modifiers, err);
	modifiers->precise = MAX(precise, modifiers->precise);
	return ret;
}

static void apply_modifiers(const struct modifiers *modifiers, struct event *event)
{
	struct perf_event_attr *attr = &event->attr;

	event->user_excludes = modifiers->user || modifiers->kernel || modifiers->hypervisor;
	if (event->user_excludes) {
		attr->exclude_user = !modifiers->user;
		attr->exclude_kernel = !modifiers->kernel;
		attr->exclude_hv = !modifiers->hypervisor;
	}
	if (modifiers->guest != modifiers->host) {
		attr->exclude_guest = modifiers->host;
		attr->exclude_host = modifiers->guest;
	}
	attr->precise_ip = modifiers->precise & 3;
	attr->pinned = modifiers->pinned;
	attr->exclusive = modifiers->exclusive;
	event->precise_max = modifiers->precise_max;
	event->weak = modifiers->weak;
}

/* ---- events ---- */

static void list_append(struct event_list *list, const struct event *event)
{
	list->events = mem_resize(list->events, list->nr + 1, sizeof(*list->events));
	list->events[list->nr++] = *event;
}

static bool is_sibling(const struct parse *parse, int group)
{
	for (size_t i = 0; group >= 0 && i < parse->list.nr; i++) {
		if (parse->list.events[i].group == group)
			return true;
	}
	return false;
}

/*
 * Append @event, named @name and the modifiers, with the modifiers @text of its own
 * and those of the group. @kind numbers the kinds of cores: a group is one for each.
 */
static int add_event(struct parse *parse, const struct event *event, const char *name,
		     const char *text, int kind)
{
	bool is_pmu_form = name[strlen(name) - 1] == '/';
	bool has_modifiers = *text || *parse->group_text;
	struct modifiers modifiers = { 0 };
	struct event copy = *event;
	int ret;

	copy.group = parse->group < 0 ? -1 : parse->group + kind;
	parse->next_group = MAX(parse->next_group, copy.group + 1);
	ret = parse_modifiers(text, name, &modifiers, parse->err);
	if (ret < 0)
		return ret;
	if (is_sibling(parse, copy.group) && (modifiers.pinned || modifiers.exclusive))
		return err_say(parse->err, -EINVAL,
			       "event '%s': D and e are for the first event of a group", name);
	ret = parse_modifiers(parse->group_text, name, &modifiers, parse->err);
	if (ret < 0)
		return ret;
	/* The kernel wants these of the group's leader alone. */
	if (is_sibling(parse, copy.group))
		modifiers.pinned = modifiers.exclusive = false;
	apply_modifiers(&modifiers, &copy);
	copy.attr.size = sizeof(copy.attr);
	copy.named_by_user = true;
	copy.name = mem_printf("%s%s%s%s", name, has_modifiers && !is_pmu_form ? ":" : "", text,
			       parse->group_text);
	list_append(&parse->list, &copy);
	return 0;
}

/* Bind the generic @event to the kind of core that @pmu counts. */
static void bind_to_core(const struct pmu *pmu, struct event *event)
{
	struct perf_event_attr *attr = &event->attr;

	if (attr->type == PERF_TYPE_RAW)
		attr->type = pmu_type(pmu);
	else if (pmu_is_hybrid(pmu))
		attr->config |= (uint64_t)pmu_type(pmu) << 32; /* PERF_HW_EVENT_MASK is below */
	pmu_restrict_cpus(pmu, event);
}

static bool is_core_type(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

static int add_generic(struct parse *parse, const struct event *event, const char *name,
		       const char *modifiers)
{
	struct pmu_table *pmus = parse->parser->pmus;
	int ret = 0, nr_kinds = 0;
	struct pmu *pmu;

	for (size_t i = 0; !ret && (pmu = pmu_table_core(pmus, i)); i++) {
		struct event copy = *event;
		char *full_name;

		if (!is_core_type(event->attr.type) || !pmu_is_hybrid(pmu))
			continue;
		bind_to_core(pmu, &copy);
		full_name = mem_printf("%s/%s/", pmu_name(pmu), name);
		ret = add_event(parse, &copy, full_name, modifiers, (int)i);
		free(full_name);
		nr_kinds++;
	}
	return nr_kinds ? ret : add_event(parse, event, name, modifiers, 0);
}

/* An event that only sysfs knows, named without its PMU. Adds none when no core has it. */
static int add_core_event(struct parse *parse, const char *name, const char *modifiers, int *ret_nr)
{
	struct pmu_table *pmus = parse->parser->pmus;
	int ret = 0, nr = 0;
	struct pmu *pmu;

	for (size_t i = 0; !ret && (pmu = pmu_table_core(pmus, i)); i++) {
		struct event event = { .scale = 1.0 };
		char *full_name;

		if (!pmu_has_event(pmu, name))
			continue;
		ret = pmu_parse_terms(pmu, name, &event, parse->err);
		if (ret < 0)
			break;
		full_name = strcmp(pmu_name(pmu), "cpu") ? mem_printf("%s/%s/", pmu_name(pmu), name)
							 : mem_strdup(name);
		ret = add_event(parse, &event, full_name, modifiers, (int)i);
		free(full_name);
		nr++;
	}
	*ret_nr = nr;
	return ret;
}

/* ---- the forms of an event ---- */

static int parse_pmu_event(struct parse *parse, char *text)
{
	char *terms = strchr(text, '/');
	char *modifiers = strchr(terms + 1, '/');
	struct event event = { .scale = 1.0 };
	struct pmu *pmu;
	char *name;
	int ret;

	if (!modifiers)
		return err_say(parse->err, -EINVAL, "event '%s': the second '/' is missing", text);
	*terms++ = '\0';
	*modifiers++ = '\0';
	modifiers += *modifiers == ':';
	pmu = pmu_table_find(parse->parser->pmus, text, parse->err);
	if (!pmu)
		return parse->err->code;
	if (pmu_is_core(pmu) && !pmu_has_event(pmu, terms) &&
	    event_find_generic(terms, &event.attr) && is_core_type(event.attr.type)) {
		bind_to_core(pmu, &event);
	} else {
		memset(&event.attr, 0, sizeof(event.attr));
		ret = pmu_parse_terms(pmu, terms, &event, parse->err);
		if (ret < 0)
			return ret;
	}
	name = mem_printf("%s/%s/", text, terms);
	ret = add_event(parse, &event, name, modifiers, 0);
	free(name);
	return ret;
}

static int parse_tracepoint(struct parse *parse, const char *subsystem, char *pattern)
{
	const char *tracefs = parse->parser->tracefs;
	char *modifiers = strchr(pattern, ':');
	struct name_list names = { 0 };
	int ret;

	if (modifiers)
		*modifiers++ = '\0';
	ret = tracepoint_match(tracefs, subsystem, pattern, &names, parse->err);
	for (size_t i = 0; i < names.nr && !ret; i++) {
		struct event event = { .attr.type = PERF_TYPE_TRACEPOINT, .scale = 1.0 };
		uint64_t id = 0;
		char *name;

		ret = tracepoint_read_id(tracefs, subsystem, names.names[i], &id, parse->err);
		if (ret < 0)
			break;
		event.attr.config = id;
		name = mem_printf("%s:%s", subsystem, names.names[i]);
		ret = add_event(parse, &event, name, modifiers ? modifiers : "", 0);
		free(name);
	}
	name_list_release(&names);
	return ret;
}

static void offer_name(void *arg, const char *name, const char *kind)
{
	(void)kind;
	near_names_offer(arg, name);
}

static int unknown_event(struct parse *parse, const char *name)
{
	struct near_names near;

	near_names_init(&near, name);
	event_parser_list(parse->parser, offer_name, &near);
	err_say(parse->err, -ENOENT, "unknown event '%s'", name);
	near_names_hint(&near, parse->err);
	return -ENOENT;
}

static int parse_named_event(struct parse *parse, char *name)
{
	char *rest = strchr(name, ':');
	struct event event = { .scale = 1.0 };
	int nr = 0, ret;

	if (rest) {
		*rest++ = '\0';
		if (!*rest)
			return err_say(parse->err, -EINVAL, "event '%s': nothing after the ':'",
				       name);
	}
	if (event_find_generic(name, &event.attr))
		return add_generic(parse, &event, name, rest ? rest : "");
	ret = add_core_event(parse, name, rest ? rest : "", &nr);
	if (ret < 0 || nr)
		return ret;
	/* "cycels:u" is a wrong name rather than a wrong subsystem. */
	if (rest && (tracepoint_has_subsystem(parse->parser->tracefs, name) ||
		     rest[strspn(rest, MODIFIERS)]))
		return parse_tracepoint(parse, name, rest);
	return unknown_event(parse, name);
}

/* ---- lists and groups ---- */

/* Where the event at @text ends: at a comma or brace that is not between slashes. */
static const char *find_event_end(const char *text)
{
	bool in_terms = false;

	for (; *text; text++) {
		if (*text == '/')
			in_terms = !in_terms;
		else if (!in_terms && strchr(",{}", *text))
			break;
	}
	return text;
}

/* Parse the event at *@pos, which moves behind it. */
static int parse_event(struct parse *parse, const char **pos)
{
	const char *start = *pos + strspn(*pos, BLANKS);
	const char *end = find_event_end(start);
	size_t len = (size_t)(end - start);
	char *text;
	int ret;

	*pos = end;
	while (len && strchr(BLANKS, start[len - 1]))
		len--;
	text = mem_strndup(start, len);
	if (!len)
		ret = err_say(parse->err, -EINVAL, "an event is missing before '%.40s'",
			      *end ? end : "the end");
	else if (*text == '/' || *text == ':')
		ret = err_say(parse->err, -EINVAL, "event '%s' has no name", text);
	else if (strchr(text, '/'))
		ret = parse_pmu_event(parse, text);
	else
		ret = parse_named_event(parse, text);
	free(text);
	return ret;
}

/* The modifiers behind the "}" that closes the group at @text, into a new string. */
static int find_group_modifiers(struct parse *parse, const char *text, char **ret_modifiers)
{
	const char *end = text;
	size_t len;

	while (*end != '}') {
		end = find_event_end(end);
		if (*end == '{')
			return err_say(parse->err, -EINVAL, "group '{%.60s': groups do not nest",
				       text);
		if (!*end)
			return err_say(parse->err, -EINVAL, "group '{%.60s': the '}' is missing",
				       text);
		end += *end == ',';
	}
	end++;
	if (*end == ':' && !end[1 + strspn(end + 1, BLANKS)])
		return err_say(parse->err, -EINVAL, "group '{%.60s': nothing after the ':'", text);
	end += *end == ':';
	len = strcspn(end, "," BLANKS);
	*ret_modifiers = mem_strndup(end, len);
	return 0;
}

/* Parse the group whose "{" is before *@pos, which moves behind it. */
static int parse_group(struct parse *parse, const char **pos)
{
	char *modifiers = NULL;
	int ret;

	ret = find_group_modifiers(parse, *pos, &modifiers);
	if (ret < 0)
		return ret;
	parse->group = parse->next_group;
	parse->group_text = modifiers;
	for (;;) {
		ret = parse_event(parse, pos);
		if (ret < 0 || **pos == '}')
			break;
		(*pos)++; /* a comma: find_group_modifiers() has seen the rest */
	}
	parse->group = -1;
	parse->group_text = "";
	if (ret == 0) {
		(*pos)++;
		*pos += **pos == ':';
		*pos += strlen(modifiers);
	}
	free(modifiers);
	return ret;
}

static int parse_list(struct parse *parse, const char *text)
{
	const char *pos = text;
	int ret;

	for (;;) {
		pos += strspn(pos, BLANKS);
		if (*pos == '{') {
			pos++;
			ret = parse_group(parse, &pos);
		} else {
			ret = parse_event(parse, &pos);
		}
		if (ret < 0)
			return ret;
		pos += strspn(pos, BLANKS);
		if (!*pos)
			return 0;
		if (*pos != ',')
			return err_say(parse->err, -EINVAL,
				       "events '%s': a ',' is missing before '%s'", text, pos);
		pos++;
	}
}

/* ---- the public functions ---- */

struct event_parser *event_parser_new(const char *sysfs, const char *tracefs)
{
	struct event_parser *parser = mem_zalloc(sizeof(*parser));

	parser->tracefs = mem_strdup(tracefs);
	parser->pmus = pmu_table_new(sysfs);
	return parser;
}

void event_parser_free(struct event_parser *parser)
{
	if (!parser)
		return;
	pmu_table_free(parser->pmus);
	free(parser->tracefs);
	free(parser);
}

int event_parser_add(struct event_parser *parser, const char *text, struct event_list *list,
		     struct err *err)
{
	struct parse parse = { .parser = parser, .group = -1, .group_text = "", .err = err };
	struct err own_err;
	int ret;

	if (!err)
		parse.err = &own_err;
	for (size_t i = 0; i < list->nr; i++)
		parse.next_group = MAX(parse.next_group, list->events[i].group + 1);
	ret = parse_list(&parse, text);
	if (ret < 0) {
		event_list_release(&parse.list);
		return ret;
	}
	for (size_t i = 0; i < parse.list.nr; i++)
		list_append(list, &parse.list.events[i]);
	free(parse.list.events);
	return 0;
}

void event_list_add_default(struct event_list *list)
{
	struct event event = {
		.name = mem_strdup("cycles:P"),
		.attr.type = PERF_TYPE_HARDWARE,
		.attr.size = sizeof(event.attr),
		.attr.config = PERF_COUNT_HW_CPU_CYCLES,
		.precise_max = true,
		.group = -1,
		.scale = 1.0,
	};

	list_append(list, &event);
}

void event_list_release(struct event_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->events[i].name);
	free(list->events);
	memset(list, 0, sizeof(*list));
}

void event_become_cpu_clock(struct event *event)
{
	struct perf_event_attr *attr = &event->attr;

	free(event->name);
	event->name = mem_printf("cpu-clock%s%s%s%s", event->user_excludes ? ":" : "",
				 event->user_excludes && !attr->exclude_user ? "u" : "",
				 event->user_excludes && !attr->exclude_kernel ? "k" : "",
				 event->user_excludes && !attr->exclude_hv ? "h" : "");
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CPU_CLOCK;
	attr->config1 = 0;
	attr->config2 = 0;
	attr->precise_ip = 0;
	event->precise_max = false;
	event->scale = 1.0;
	event->unit[0] = '\0';
}

/* A name and its kind in one string, "name\0kind", so that they sort together. */
static void collect_name(void *arg, const char *name, const char *kind)
{
	size_t len = strlen(name), kind_len = strlen(kind);
	char *both = mem_zalloc(len + kind_len + 2);

	memcpy(both, name, len);
	memcpy(both + len + 1, kind, kind_len);
	name_list_take(arg, both);
}

void event_parser_list(struct event_parser *parser,
		       void (*each)(void *arg, const char *name, const char *kind), void *arg)
{
	struct name_list names = { 0 };

	event_each_generic(collect_name, &names);
	pmu_table_each(parser->pmus, collect_name, &names);
	tracepoint_each(parser->tracefs, collect_name, &names);
	name_list_sort(&names);
	for (size_t i = 0; i < names.nr; i++) {
		const char *name = names.names[i];

		each(arg, name, name + strlen(name) + 1);
	}
	name_list_release(&names);
}
