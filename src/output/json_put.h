/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all writers of JSON need on top of json-c. Text is made valid UTF-8 here. */
#ifndef BPFPROF_OUTPUT_JSON_PUT_H
#define BPFPROF_OUTPUT_JSON_PUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json.h>

#include "profile/expected.h"
#include "profile/profile.h"

/*
 * A document: an object that says of which format it is ("bpfprof-stat") and of which version of
 * that. docs/json.schema.json has them all; a change that breaks a reader is a new version.
 */
struct json_object *json_document(const char *format);

struct json_object *json_text(const char *s);
void json_put_text(struct json_object *o, const char *key, const char *s); /* NULL is "" */
void json_put_count(struct json_object *o, const char *key, uint64_t n);
void json_put_number(struct json_object *o, const char *key, double x); /* six decimals */

/* seen, recorded, filtered and lost, and the last two by cause. */
void json_put_ledger(struct json_object *o, const uint64_t counters[PROF_NR_COUNTERS]);
/* "ended_by", of a recording that ended before its time (enum profile_end). */
void json_put_end(struct json_object *o, uint64_t ended_by);
/* What a recording cost, and what it left out to cost no more. */
struct json_object *json_cost(const struct profile *p);
/* NULL = not known. */
void json_put_expected(struct json_object *o, const struct expected *x);

/* Prints and frees o: for people in many lines, else in one. */
void json_print(struct json_object *o, bool pretty, FILE *out);

/* A string of a profile, null for 0. */
void json_put_string(struct json_object *o, const char *key, const struct profile *p,
		     uint32_t string);
/* null for NAN. */
void json_put_or_null(struct json_object *o, const char *key, double x);

#endif
