/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A comparison of recordings for programs. Values are as recorded; ns of what is time. */
#include <math.h>

#include "output/changes.h"
#include "output/figures.h"
#include "output/json_put.h"

static struct json_object *side_of(const struct changes *c, int side)
{
	const struct changes_side *s = &c->sides[side];
	const struct profile *p = s->profile;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_text(s->name));
	json_put_string(o, "target", p, p->meta.target);
	json_put_string(o, "host", p, p->meta.host);
	json_put_count(o, "start_real_ns", p->meta.start_ns);
	json_put_count(o, "duration_ns", p->meta.duration_ns);
	json_put_count(o, "recordings", s->nr);
	json_put_count(o, "recorded", s->recorded);
	json_put_count(o, "lost", s->lost);
	json_put_count(o, "incomplete", s->nr_incomplete);
	json_put_count(o, "total", changes_all(c, side));
	return o;
}

static struct json_object *row_of(const struct changes *c, const struct change *row)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_text(c->tree->names.bytes + row->name));
	json_put_string(o, "module", c->both, c->both->modules[row->module].path);
	json_put_count(o, "self_before", row->self[0]);
	json_put_count(o, "self_after", row->self[1]);
	json_put_count(o, "total_before", row->total[0]);
	json_put_count(o, "total_after", row->total[1]);
	json_put_or_null(o, "change_pct", isinf(row->change_pct) ? NAN : row->change_pct);
	json_object_object_add(o, "p", json_object_new_double_s(row->p, figure_exact(row->p)));
	json_object_object_add(o, "judged", json_object_new_boolean(row->judged));
	json_object_object_add(o, "real", json_object_new_boolean(row->real));
	json_object_object_add(o, "failed", json_object_new_boolean(row->failed));
	return o;
}

int changes_write_json(const struct changes *c, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-changes"), *rows = json_object_new_array();

	json_put_string(o, "command", c->both, c->both->meta.command);
	json_object_object_add(o, "unit", json_text(profile_unit(c->both)));
	json_object_object_add(o, "by", json_text(view_by_words[c->by]));
	json_object_object_add(o, "absolute", json_object_new_boolean(c->opts.absolute));
	json_object_object_add(o, "before", side_of(c, 0));
	json_object_object_add(o, "after", side_of(c, 1));
	json_put_number(o, "alpha", c->opts.alpha);
	json_put_or_null(o, "fail_above_pct", c->opts.fail_above_pct);
	json_object_object_add(o, "noise_known", json_object_new_boolean(c->noise_known));
	json_put_number(o, "dispersion", c->dispersion);
	json_object_object_add(o, "slices_known", json_object_new_boolean(c->slices_known));
	json_put_number(o, "slice_dispersion", c->slice_dispersion);
	for (size_t i = 0; i < c->nr; i++)
		json_object_array_add(rows, row_of(c, &c->v[i]));
	json_object_object_add(o, "rows", rows);
	json_put_count(o, "changed", c->nr_real);
	json_put_count(o, "failed", c->nr_failed);
	json_print(o, true, out);
	return 0;
}
