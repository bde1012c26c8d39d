/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names made safe, cut to columns and guessed at; numbers in human form. One decoder reads UTF-8
 * strictly (no overlong forms, no surrogates); everything else is written on top of it.
 */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NEAREST_MAX 64 /* longer words are no typing mistakes */
#define NR_BUFS	    16 /* human forms that one printf may hold at once */
#define BUF_SZ	    40

struct range {
	uint32_t first, last;
};

/*
 * What must not reach a terminal or an XML file: control characters, separators and marks that
 * change the direction of the text around them, and code points that are no characters.
 */
static const struct range unsafe_ranges[] = {
	{ 0x00, 0x1f },	    { 0x7f, 0x9f },	{ 0x061c, 0x061c }, { 0x200e, 0x200f },
	{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfdd0, 0xfdef }, { 0xfff9, 0xfffb },
};

/* What terminals show in two columns: East Asian characters and pictures; in none: marks. */
static const struct range wide_ranges[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },	  { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },	  { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1faff }, { 0x20000, 0x3fffd },
};

static const struct range mark_ranges[] = {
	{ 0x0300, 0x036f },
	{ 0x200b, 0x200d },
	{ 0x20d0, 0x20f0 },
	{ 0xfe00, 0xfe0f },
};

static bool in(const struct range *v, size_t nr, uint32_t cp)
{
	for (size_t i = 0; i < nr; i++)
		if (cp >= v[i].first && cp <= v[i].last)
			return true;
	return false;
}

#define IN(ranges, cp) in(ranges, sizeof(ranges) / sizeof(*(ranges)), cp)

static bool is_unsafe(uint32_t cp)
{
	return IN(unsafe_ranges, cp) || (cp & 0xfffe) == 0xfffe;
}

/* Bytes of the well-formed character at s (1 to 4) with its code point in *cp, 0 when there is
 * none. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t i, n;

	n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if ((s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4 || n > len)
		return 0;
	*cp = n == 1 ? s[0] : s[0] & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	return *cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp <= 0xdfff) ? 0 : n;
}

/* Printable ASCII, which nearly all names consist of. */
static bool is_plain(char c)
{
	return c >= ' ' && c < 0x7f;
}

/* The safe form of the character at s: its bytes in *piece, their number in *sz. Returns bytes
 * read. */
static size_t clean_one(const char *s, size_t len, const char **piece, size_t *sz)
{
	uint32_t cp = 0;
	size_t n;

	if (is_plain(*s)) {
		*piece = s;
		*sz = 1;
		return 1;
	}
	n = decode((const unsigned char *)s, len, &cp);
	if (n && !is_unsafe(cp)) {
		*piece = s;
		*sz = n;
		return n;
	}
	*piece = n ? "?" : "\xef\xbf\xbd";
	*sz = n ? 1 : 3;
	return n ? n : 1;
}

void text_clean(FILE *out, const char *s, size_t len)
{
	const char *piece;
	size_t i, sz;

	for (i = 0; i < len;) {
		i += clean_one(s + i, len - i, &piece, &sz);
		fwrite(piece, 1, sz, out);
	}
}

char *text_cleaned(const char *s)
{
	const char *end = s;
	char *safe = NULL;
	size_t len;
	FILE *f;

	while (is_plain(*end))
		end++;
	if (!*end)
		return xstrdup(s);
	f = open_memstream(&safe, &len);
	if (!f)
		abort();
	text_clean(f, s, strlen(s));
	if (fclose(f))
		abort();
	return safe;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* flamegraph.pl takes "12", "12." and "12.5" behind white space for a count. */
static void hide_trailing_number(char *s, size_t len)
{
	size_t i = len, j;

	while (i && is_digit(s[i - 1]))
		i--;
	if (i && s[i - 1] == '.') {
		for (j = i - 1; j && is_digit(s[j - 1]);)
			j--;
		if (j < i - 1)
			i = j;
	}
	if (i && i < len && s[i - 1] == ' ')
		s[i - 1] = '_';
}

char *text_frame(const char *s, size_t len, int spaces)
{
	char *out = xreallocarray(NULL, len + 1, 3);
	size_t i, sz, nr = 0;
	const char *piece;

	for (i = 0; i < len; nr += sz) {
		i += clean_one(s + i, len - i, &piece, &sz);
		memcpy(out + nr, piece, sz);
		if (out[nr] == ';')
			out[nr] = ':';
		else if (out[nr] == ' ' && spaces)
			out[nr] = '_';
	}
	if (!nr)
		out[nr++] = '?';
	out[nr] = '\0';
	hide_trailing_number(out, nr);
	return out;
}

/* Bytes of the character at s, and the columns that it takes. */
static size_t measure(const char *s, size_t len, size_t *columns)
{
	uint32_t cp = 0;
	size_t n = decode((const unsigned char *)s, len, &cp);

	*columns = IN(mark_ranges, cp) ? 0 : IN(wide_ranges, cp) ? 2 : 1;
	return n ? n : 1;
}

/* Bytes of the first characters of s that fit into *width columns. *width: those they take. */
static size_t bytes_of(const char *s, size_t *width)
{
	size_t len = strlen(s), used = 0, i, n, columns;

	for (i = 0; i < len; i += n, used += columns) {
		n = measure(s + i, len - i, &columns);
		if (used + columns > *width)
			break;
	}
	*width = used;
	return i;
}

size_t text_width(const char *s)
{
	size_t width = SIZE_MAX;

	bytes_of(s, &width);
	return width;
}

size_t text_fit(FILE *out, const char *s, size_t width, int pad)
{
	bool cut = text_width(s) > width;
	size_t used = cut && width ? width - 1 : width;

	fwrite(s, 1, bytes_of(s, &used), out);
	if (cut && width)
		used += fputs("…", out) >= 0;
	for (; pad && used < width; used++)
		fputc(' ', out);
	return used;
}

const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static size_t min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Edits from a to b: insert, delete, replace a byte, or swap two neighbours. Three rolling rows of
 * the usual table; both words are at most NEAREST_MAX bytes long.
 */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][NEAREST_MAX + 1], i, j;

	for (j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (i = 1; i <= na; i++) {
		size_t *row = rows[i % 3], *up = rows[(i - 1) % 3];

		row[0] = i;
		for (j = 1; j <= nb; j++) {
			row[j] = min2(up[j - 1] + (a[i - 1] != b[j - 1]),
				      min2(up[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min2(row[j], rows[(i - 2) % 3][j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

const char *text_nearest(const char *word, const char *const *candidates, size_t n)
{
	size_t len = strlen(word), best = len < 2 ? 0 : min2((len + 2) / 3, 3) + 1, i, sz, d;
	const char *nearest = NULL;

	if (len > NEAREST_MAX)
		return NULL;
	for (i = 0; i < n; i++) {
		sz = strlen(candidates[i]);
		if (sz > NEAREST_MAX)
			continue;
		/* The beginning of a word counts as one edit: "dur" means "duration". */
		d = sz > len && !strncmp(word, candidates[i], len)
			    ? 1
			    : edit_distance(word, len, candidates[i], sz);
		if (d < best) {
			best = d;
			nearest = candidates[i];
		}
	}
	return nearest;
}

char *text_meant(const char *prefix, const char *near)
{
	char *safe = text_cleaned(near ? near : ""), *text;

	text = near ? xasprintf("; did you mean '%s%s'?", prefix, safe) : xstrdup("");
	free(safe);
	return text;
}

static char *next_buf(void)
{
	static char bufs[NR_BUFS][BUF_SZ];
	static unsigned int i;

	return bufs[i++ % NR_BUFS];
}

struct unit {
	double size;
	const char *name;
	double until; /* the next unit takes over from this number of units on */
};

static const struct unit time_units[] = {
	{ 1, "ns", 999.5 },  { 1e3, "us", 999.5 },   { 1e6, "ms", 999.5 },
	{ 1e9, "s", 119.5 }, { 60e9, "min", 119.5 }, { 3600e9, "h", 0 },
};

static const struct unit byte_units[] = {
	{ 1, "B", 1023.5 },	  { 1024.0, "KB", 1023.5 }, { 0x1p20, "MB", 1023.5 },
	{ 0x1p30, "GB", 1023.5 }, { 0x1p40, "TB", 0 },
};

/* Three digits, no zeros at the end: "1.5 s", "230 ms"; the last unit takes whatever is left. */
static const char *human(double value, const struct unit *u)
{
	char *buf = next_buf();

	while (u->until && value / u->size >= u->until)
		u++;
	value /= u->size;
	snprintf(buf, BUF_SZ, value < 99.95 ? "%.3g %s" : "%.0f %s", value, u->name);
	return buf;
}

const char *text_ns(unsigned long long ns)
{
	return human((double)ns, time_units);
}

const char *text_bytes(unsigned long long bytes)
{
	return human((double)bytes, byte_units);
}

const char *text_count(unsigned long long n)
{
	char *p = next_buf() + BUF_SZ - 1;
	int nr = 0;

	*p = '\0';
	do {
		if (nr && nr % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		nr++;
		n /= 10;
	} while (n);
	return p;
}

const char *text_pct(double pct)
{
	char *p = next_buf();

	if (pct > 0 && pct < 0.1)
		return "<0.1%";
	if (pct > 99.9 && pct < 100)
		return "99.9%";
	snprintf(p, BUF_SZ, "%.1f%%", pct);
	return p;
}
