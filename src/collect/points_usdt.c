/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* USDT probes of a file, in a child: each may stand at several places. */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/call_args.h"
#include "collect/points_parts.h"
#include "uprobe/usdt.h"

/* Its arguments may be elsewhere at each of its places. */
static int add_usdt_probe(struct points *p, const struct usdt_probe *u)
{
	struct call_event e = {};
	struct point point = { .kind = POINT_UPROBE };
	struct call_args args;
	int err = 0;

	e.name = points_string(p, xasprintf("%s:%s", u->provider, u->name));
	point.event = points_add_event(p, &e);
	for (size_t i = 0; i < u->nr_locations && !err; i++) {
		err = call_args_of_usdt(&args, p->opts->args, u, i);
		point.args = points_add_args(p, &args);
		point.offset = u->locations[i].offset;
		point.semaphore = u->locations[i].semaphore;
		points_add(p, &point);
	}
	return err;
}

int points_find_usdt(struct points *p, struct points_file *f, const struct uprobe_spec *spec)
{
	struct usdt *usdt = usdt_open(functions_file(f->functions));
	struct usdt_probe *v;
	size_t nr = usdt_find(usdt, spec->provider, spec->function, &v);
	int err = 0;

	if (nr && p->opts->timed)
		err = log_as(-EINVAL,
			     "%s:%s is a place and no function: it does not return, so "
			     "--latency has nothing to measure",
			     v[0].provider, v[0].name);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_usdt_probe(p, &v[i]);
	f->told->found = nr;
	free(v);
	usdt_free(usdt);
	return err;
}
