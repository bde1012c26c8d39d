/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names come from outside (symbol tables, thread names, paths) and may hold anything. This is the
 * one place that makes them safe to print.
 */
#ifndef BPFPROF_BASE_TEXT_H
#define BPFPROF_BASE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Appends s (len bytes) to out as valid, printable UTF-8: C0, DEL, C1 control characters, line and
 * paragraph separators and bidirectional overrides become '?', each invalid byte becomes U+FFFD.
 * All else is kept.
 */
void text_clean(FILE *out, const char *s, size_t len);

/* The same as a string to free(). */
char *text_cleaned(const char *s);

/*
 * A frame of the folded grammar: as text_clean, and ';' becomes ':', and a trailing "space +
 * digits" becomes "_digits", since consumers would read it as a second count. spaces also: every
 * space becomes '_' (thread names). Returns a string to free(); never empty ("?" when s is).
 */
char *text_frame(const char *s, size_t len, int spaces);

/* Columns that s (valid UTF-8) takes on a terminal: wide characters two, marks none. */
size_t text_width(const char *s);

/*
 * Prints s cut to at most width columns, the last one a '…' when cut, padded with spaces when pad
 * is set. Returns the columns that it took.
 */
size_t text_fit(FILE *out, const char *s, size_t width, int pad);

/* The last part of a path. */
const char *text_base_name(const char *path);

/*
 * Of n candidates the one that a mistyped word most likely meant (edit distance), NULL when none is
 * near.
 */
const char *text_nearest(const char *word, const char *const *candidates, size_t n);

/*
 * What a message says of it: "; did you mean '--near'?" with the prefix "--", or "" when near is
 * NULL. To be freed.
 */
char *text_meant(const char *prefix, const char *near);

/* Human forms, into a static ring of buffers: "1.5 s", "230 ms", "12.3 MB", "1,234,567". */
const char *text_ns(unsigned long long ns);
const char *text_bytes(unsigned long long bytes);
const char *text_count(unsigned long long n);
/* "12.3%". Neither a little nor all but a little is rounded away: "<0.1%" and "99.9%". */
const char *text_pct(double pct);

#endif
