/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flame graph as a page: nothing but the viewer and its data. */
#include "output/output.h"

#include "output/changes.h"
#include "output/flame.h"

static void put(const struct flame *f, FILE *out)
{
	/* The page needs no network and must not get any, whatever a name smuggles in. */
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; "
	      "form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	      out);
	flame_put_text(out, f->title);
	fputs("</title>\n", out);
	flame_put_style(out);
	fputs("</head>\n<body>\n<noscript><p>This page is drawn by a script. "
	      "The svg output shows without.</p></noscript>\n",
	      out);
	flame_put_script(f, out);
	fputs("</body>\n</html>\n", out);
}

int html_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct flame f;

	flame_init(&f, p, v);
	put(&f, out);
	flame_release(&f);
	return 0;
}

int changes_write_html(const struct changes *c, const struct view *v, FILE *out)
{
	struct flame f;

	flame_init_changes(&f, c, v);
	put(&f, out);
	flame_release(&f);
	return 0;
}
