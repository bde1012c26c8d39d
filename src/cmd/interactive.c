/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stands above a recording on the screen, and where it begins. */
#include "cmd/interactive.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/annotate_parts.h"
#include "output/style.h"
#include "terminal/browse.h"

char *annotate_of_browse(const struct browse *b, const char *function, size_t width)
{
	return annotate_text(b->profile, b->view, function, width);
}

/* The first line of what a part of the summary prints. To be freed. */
static char *first_line(char *text)
{
	char *line = text + strspn(text, "\n");

	line[strcspn(line, "\n")] = '\0';
	memmove(text, line, strlen(line) + 1);
	return text;
}

static char *head_of(const struct profile *p, const struct view *v)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	summary_put_head(p, v, f);
	fclose(f);
	return first_line(text);
}

static char *ledger_of(const struct profile *p)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	summary_put_ledger(p, f);
	fclose(f);
	return first_line(text);
}

static enum browse_view first_view(const struct results_opts *o)
{
	static const enum browse_view by[VIEW_NR_BY] = {
		[VIEW_BY_FUNCTION] = BROWSE_FUNCTIONS,
		[VIEW_BY_MODULE] = BROWSE_MODULES,
		[VIEW_BY_FILE] = BROWSE_FILES,
		[VIEW_BY_LINE] = BROWSE_LINES,
		[VIEW_BY_THREAD] = BROWSE_THREADS,
		[VIEW_BY_PROCESS] = BROWSE_PROCESSES,
		/* Whose first frames are classes then, and so on. */
		[VIEW_BY_CLASS] = BROWSE_TREE,
		[VIEW_BY_CONTEXT] = BROWSE_TREE,
		[VIEW_BY_KIND] = BROWSE_TREE,
		[VIEW_BY_ROLE] = BROWSE_TREE,
		[VIEW_BY_TASK] = BROWSE_TREE,
	};

	if (o->tree)
		return o->view.bottom_up ? BROWSE_BOTTOM_UP : BROWSE_TREE;
	return by[o->view.by];
}

const char *interactive_show(const struct results_opts *o, const struct result *r)
{
	const struct output *tree = output_get(r->kind, "tree");
	const char *why = tree ? output_lacks(tree, r) : "results without stacks have one view";
	struct view view = o->view;
	struct browse b = { .profile = r->profile,
			    .view = &view,
			    .first = first_view(o),
			    .colour = style_is_on(stdout),
			    .annotate = annotate_of_browse };
	char *head, *ledger;

	if (why)
		return why;
	view.by_class |= view.by == VIEW_BY_CLASS;
	b.head = head = head_of(r->profile, &view);
	b.ledger = ledger = ledger_of(r->profile);
	b.lost = profile_sum(r->profile, COUNTER_LOST);
	why = browse_run(&b);
	free(head);
	free(ledger);
	return why;
}
