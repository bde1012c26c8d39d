/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for people: sums and classes, each with its time, its share and its number. */
#include "output/waits_summary.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/round.h"
#include "base/text.h"
#include "output/grid.h"
#include "output/output.h"
#include "output/runqlat.h"
#include "profile/kind.h"
#include "profile/lengths.h"

void waits_put_sum(const struct profile *p, const struct view *v, FILE *out)
{
	struct waits w;

	waits_init(&w, p, v);
	fprintf(out, "%s%s", text_ns(w.all.ns), kind_of_profile(p)->running ? "" : " of waiting");
	if (w.nr_threads)
		fprintf(out, " by %s thread%s", text_count(w.nr_threads),
			w.nr_threads == 1 ? "" : "s");
	fputc('\n', out);
	waits_release(&w);
}

void waits_add_lengths(struct grid *g)
{
	static const struct grid_column columns[] = { { "P50", .rank = 1 },
						      { "P90", .rank = 3 },
						      { "P99", .rank = 1 },
						      { "MAX", .rank = 2 } };

	for (size_t i = 0; i < 4; i++)
		grid_add(g, columns[i]);
}

/* Running time has none. */
void waits_put_lengths(struct grid *g, const struct prof_hist *h)
{
	struct runqlat_stats stats = h ? runqlat_stats(h) : (struct runqlat_stats){};

	for (size_t i = 0; i < 3; i++)
		grid_cell(g, "%s", stats.count ? text_ns(round_u64(stats.pct_ns[i])) : "");
	grid_cell(g, "%s", stats.count ? text_ns(stats.max_ns) : "");
}

void waits_put_hist(const struct view *v, const char *name, const struct prof_hist *h, FILE *out)
{
	uint64_t nr = runqlat_count(h);

	if (!nr)
		return;
	fprintf(out, "\n%s: %s wait%s\n", name, text_count(nr), nr == 1 ? "" : "s");
	runqlat_put_hist(v, h, out);
}

/* lengths: NULL where they are not known of any. */
static void put_row(struct grid *g, enum style style, const char *name, const struct waits_sum *sum,
		    const struct waits *w, const struct prof_hist *lengths, const char *note)
{
	grid_row(g, style, name, text_ns(sum->ns),
		 text_pct(w->all.ns ? 100.0 * sum->ns / w->all.ns : 0), text_count(sum->nr), NULL);
	if (lengths)
		waits_put_lengths(g, lengths);
	grid_cell(g, "%s", note);
}

/* Longest first; classes without waits are no rows. */
static size_t sort_classes(const struct waits *w, uint32_t order[WAITS_NR])
{
	size_t nr = 0, k;

	for (uint32_t class = 0; class < WAITS_NR; class ++) {
		if (!w->by_class[class].ns && !w->by_class[class].nr)
			continue;
		for (k = nr++; k && w->by_class[order[k - 1]].ns < w->by_class[class].ns; k--)
			order[k] = order[k - 1];
		order[k] = class;
	}
	return nr;
}

/* Short beside the columns of lengths. */
static const char *class_note(const struct view *v, uint32_t class, bool brief)
{
	if (v->classes && (class == WAITS_ON_CPU || !(v->classes & 1u << class)))
		return brief ? "left out" : "left out by --class";
	return class != WAITS_ON_CPU ? "" : brief ? "sampled" : "(stacks sampled)";
}

static void put_part(const struct waits_sum *sum, const char *what, FILE *out)
{
	if (sum->nr)
		fprintf(out, "  %s of it in %s wait%s %s\n", text_ns(sum->ns), text_count(sum->nr),
			sum->nr == 1 ? "" : "s", what);
}

static const char *idle_note(const struct view *v, bool brief)
{
	static const char *const notes[][2] = {
		[IDLE_FOLD] = { "folded, --idle=show shows it", "folded" },
		[IDLE_HIDE] = { "hidden, --idle=show shows it", "hidden" },
		[IDLE_SHOW] = { "shown", "shown" },
	};

	return notes[v->idle][brief];
}

/* of: NULL where lengths are not known. */
static void put_table(const struct waits *w, const struct class_lengths *of, const struct view *v,
		      FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "CLASS", .kind = GRID_TEXT },
		{ .head = "TIME" },
		{ .head = "SHARE", .rank = 4 },
		{ .head = "WAITS" },
	};
	uint32_t order[WAITS_NR];
	size_t nr = sort_classes(w, order);
	struct grid g;

	grid_init(&g, out, columns, 4);
	g.indent = 2;
	if (of)
		waits_add_lengths(&g);
	grid_add(&g, (struct grid_column){ "", GRID_TEXT, .rank = 5, .min = of ? 8 : 0 });
	for (size_t i = 0; i < nr; i++)
		put_row(&g, STYLE_PLAIN, waits_name(order[i]), &w->by_class[order[i]], w,
			of ? &of->by_class[order[i]] : NULL, class_note(v, order[i], of));
	if (w->idle.nr)
		put_row(&g, STYLE_IDLE, "idle", &w->idle, w, of ? &of->idle : NULL,
			idle_note(v, of));
	grid_end(&g);
}

static void put_hists(const struct waits *w, const struct class_lengths *of, const struct view *v,
		      FILE *out)
{
	uint32_t order[WAITS_NR];
	size_t nr = sort_classes(w, order);

	for (size_t i = 0; i < nr; i++)
		waits_put_hist(v, waits_name(order[i]), &of->by_class[order[i]], out);
	waits_put_hist(v, "idle", &of->idle, out);
}

void waits_put_classes(const struct profile *p, const struct view *v, FILE *out)
{
	struct class_lengths *lengths = NULL;
	struct waits_sum runnable;
	struct waits w;

	waits_init(&w, p, v);
	if (lengths_known(p)) {
		lengths = xmalloc(sizeof(*lengths));
		class_lengths_init(lengths, &w, p);
	}
	put_table(&w, lengths, v, out);
	runnable = waits_runnable(&w);
	put_part(&runnable, "for a CPU: woken and preempted", out);
	if (lengths && w.idle.nr && v->idle != IDLE_SHOW)
		fprintf(out, "  idle waits are %s, --idle=show shows them\n", idle_note(v, true));
	put_part(&w.left_out, "left out by --class", out);
	put_part(&w.open, "that had not ended when the recording did", out);
	put_part(&w.before, "that had begun before it", out);
	put_part(&w.not_sampled, "whose stacks were not taken", out);
	if (lengths && v->histogram)
		put_hists(&w, lengths, v, out);
	free(lengths);
	waits_release(&w);
}

static void put_lack(uint64_t nr, uint64_t ns, const char *what, FILE *out)
{
	fprintf(out, " + %s %s", text_count(nr), what);
	if (ns)
		fprintf(out, " (%s)", text_ns(ns));
}

void waits_put_ledger(const struct profile *p, FILE *out)
{
	fprintf(out, "\nwaits     %s seen = %s recorded", text_count(p->counters[PROF_SEEN]),
		text_count(p->counters[PROF_RECORDED]));
	put_lack(profile_sum(p, COUNTER_FILTER), p->counters[PROF_FILTER_NS], "filtered", out);
	put_lack(profile_sum(p, COUNTER_LOST), p->counters[PROF_LOST_NS], "lost", out);
	fputc('\n', out);
	if (p->counters[PROF_MERGED])
		fputs("          threads of one process and name are counted together: the table "
		      "of counts was half full (raise --max-stacks)\n",
		      out);
	ledger_put_causes(p->counters, out);
}

void waits_put_stacks(const struct profile *p, FILE *out)
{
	const uint64_t *c = p->counters;

	if (c[PROF_VERIFIED] || c[PROF_WALKED] || c[PROF_NOT_SAMPLED])
		fprintf(out, "  %13s walked, %s found unchanged, %s not taken\n",
			text_count(c[PROF_WALKED]), text_count(c[PROF_VERIFIED]),
			text_count(c[PROF_NOT_SAMPLED]));
	if (c[PROF_AUDIT_WRONG])
		fprintf(out, "  %13s WRONG: %s\n", text_count(c[PROF_AUDIT_WRONG]),
			profile_counters[PROF_AUDIT_WRONG].text);
}
