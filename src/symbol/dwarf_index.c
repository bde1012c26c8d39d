/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ranges of units, in the order of the file. */
#include "symbol/dwarf_index.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#define MAX_PLACES (4u << 20)
#define LOOK_EACH  0xff /* steps between two looks at the clock, less one */

/* steps: of all units. Ranges of nothing are steps, too. */
static bool add_unit(struct dwarf_index *x, Dwarf_Die *die, uint64_t *steps, uint64_t deadline_ns)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &low, &high)) > 0) {
		if (!(++*steps & LOOK_EACH) && now_ns() > deadline_ns)
			return false;
		if (!low || high <= low)
			continue;
		if (x->nr == MAX_PLACES)
			return false;
		x->places = xgrow(x->places, x->nr, &x->cap, sizeof(*x->places));
		x->places[x->nr++] = (struct dwarf_place){ low, high, dwarf_dieoffset(die) };
	}
	return true;
}

bool dwarf_index_make(struct dwarf_index *x, Dwarf *dwarf, uint64_t deadline_ns)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint64_t steps = 0;

	*x = (struct dwarf_index){};
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		if (!(++steps & LOOK_EACH) && now_ns() > deadline_ns)
			return false;
		if (!add_unit(x, &die, &steps, deadline_ns))
			return false;
	}
	return true;
}

void dwarf_index_release(struct dwarf_index *x)
{
	free(x->places);
	*x = (struct dwarf_index){};
}

size_t dwarf_index_end(const struct dwarf_index *x, size_t i)
{
	uint64_t die = x->places[i].die;

	while (i < x->nr && x->places[i].die == die)
		i++;
	return i;
}
