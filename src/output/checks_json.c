/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of doctor for programs, by json-c. */
#include "output/checks.h"
#include "output/json_put.h"

static void put_or_null(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, text ? json_text(text) : NULL);
}

static struct json_object *row_object(const struct checks_row *row)
{
	struct json_object *o = json_object_new_object();

	put_or_null(o, "name", row->name);
	put_or_null(o, "group", row->group);
	put_or_null(o, "state", checks_state_text(row->state));
	json_object_object_add(o, "needed", json_object_new_boolean(row->needed));
	put_or_null(o, "found", row->found);
	put_or_null(o, "from", row->how);
	put_or_null(o, "consequence", row->consequence);
	put_or_null(o, "remedy", row->remedy);
	return o;
}

int checks_write_json(const struct checks_report *r, FILE *out)
{
	struct json_object *o = json_document("bpfprof-doctor"), *rows = json_object_new_array();
	size_t nr[CHECKS_NR_STATES] = {};

	put_or_null(o, "command", r->command);
	for (size_t i = 0; i < r->nr_rows; i++) {
		nr[r->rows[i].state]++;
		json_object_array_add(rows, row_object(&r->rows[i]));
	}
	for (size_t i = 0; i < CHECKS_NR_STATES; i++)
		json_put_count(o, checks_state_text(i), nr[i]);
	json_object_object_add(o, "checks", rows);
	json_print(o, true, out);
	return 0;
}
