/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rules are made of: for relabel.c, which applies them, and relabel_parse.c only. */
#ifndef BPFPROF_WHO_RELABEL_PARTS_H
#define BPFPROF_WHO_RELABEL_PARTS_H

#include <regex.h>

#include "who/relabel.h"

/* NAME=VALUE, NAME!=VALUE, NAME=~REGEX, NAME!~REGEX; a label that is missing is "". */
struct relabel_match {
	char *name, *value;
	bool is_not, is_regex;
	regex_t regex; /* of the whole value */
};

enum relabel_action { RELABEL_DROP, RELABEL_KEEP, RELABEL_LABEL, RELABEL_NR_ACTIONS };

struct relabel_rule {
	enum relabel_action action;
	uint32_t line;
	char *name, *value; /* of label; $NAME in it is the value of that label */
	struct relabel_match *matches;
	size_t nr, cap;
};

struct relabel {
	struct relabel_rule *rules;
	size_t nr, cap;
};

/* Labels that are known without rules. */
extern const char *const relabel_names[];
extern const size_t relabel_nr_names;

#endif
