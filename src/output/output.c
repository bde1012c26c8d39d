/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of outputs. */
#include "output/output.h"

#include <string.h>
#include <sys/ioctl.h>

#include "profile/save.h"

#define MIN_WIDTH 60
#define MAX_WIDTH 160

int save_write(const struct profile *p, const struct view *v, FILE *out)
{
	profile_save(p, out);
	return 0;
}

static const struct output outputs[] = {
	{ "folded", ".folded", folded_write,
	  "one line per stack, for flamegraph.pl, inferno, speedscope", false },
	{ "svg", ".svg", svg_write, "flame graph, one picture", false },
	{ "html", ".html", html_write, "flame graph, interactive page", false },
	{ "json", ".json", json_write, "the summary, for programs", true },
	{ "summary", ".txt", summary_write, "the summary, for people", true },
	{ "bpfprof", ".bpfprof", save_write, "everything, for bpfprof report", true },
	{ "broken", NULL, broken_write, "where stacks break, for people", false },
	{ "broken-json", NULL, broken_json_write, "where stacks break, for programs", false },
	{ "branches", NULL, branched_write, "branches from where to where, for people", true },
	{ "branches-folded", NULL, branched_write_folded, "branches, one line each", true },
	{ "budget", NULL, budget_write, "where the time of threads went, for people", false },
	{ "budget-json", NULL, budget_json_write, "where the time of threads went, for programs",
	  false },
};
#define NR_OUTPUTS (sizeof(outputs) / sizeof(outputs[0]))

int output_write(const struct output *o, const struct profile *p, const struct view *v, FILE *out)
{
	struct profile one;
	int err;

	if (o->all_events || p->nr_events < 2)
		return o->write(p, v, out);
	one = profile_of_event(p, view_event(v, p));
	err = o->write(&one, v, out);
	profile_of_event_release(&one);
	return err;
}

const struct output *output_find(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < NR_OUTPUTS; i++)
		if (outputs[i].extension && !strcmp(dot, outputs[i].extension))
			return &outputs[i];
	return NULL;
}

const struct output *output_get(const char *name)
{
	for (size_t i = 0; i < NR_OUTPUTS; i++)
		if (!strcmp(name, outputs[i].name))
			return &outputs[i];
	return NULL;
}

const char *output_extensions(void)
{
	static char text[128];

	if (text[0])
		return text;
	for (size_t i = 0; i < NR_OUTPUTS; i++) {
		if (!outputs[i].extension)
			continue;
		strcat(text, i ? " " : "");
		strcat(text, outputs[i].extension);
	}
	return text;
}

size_t output_width(FILE *out)
{
	struct winsize w;
	int fd = fileno(out);

	if (fd < 0 || ioctl(fd, TIOCGWINSZ, &w) || !w.ws_col)
		return 80;
	return w.ws_col < MIN_WIDTH ? MIN_WIDTH : w.ws_col > MAX_WIDTH ? MAX_WIDTH : w.ws_col;
}

const char *output_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
