/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What writers of XML and Markdown share: text in which nothing means anything to either. */
#ifndef BPFPROF_OUTPUT_MARKUP_H
#define BPFPROF_OUTPUT_MARKUP_H

#include <stdio.h>

/* Made safe and escaped, for text and attributes; NULL is "". */
void xml_put(const char *s, FILE *out);

/* The same for a cell or a line of Markdown. */
void markdown_put(const char *s, FILE *out);

#endif
