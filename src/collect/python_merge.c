/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "collect/python_merge.h"

void python_split(struct arena_stack *s)
{
	uint32_t nr = s->nr_frames;

	while (nr && PYTHON_IS(s->frames[nr - 1]))
		nr--;
	s->python = s->frames + nr;
	s->nr_python = s->nr_frames - nr;
	s->nr_frames = nr;
}

static bool is_evaluator(const struct python_found *f, uint64_t address)
{
	for (uint32_t i = 0; i < f->nr_ranges; i++)
		if (address >= f->evaluator[i].start && address < f->evaluator[i].end)
			return true;
	return false;
}

/*
 * A call of the evaluator may not have its frame yet, or none any more; the innermost one. So where
 * both chains are whole, they are matched from the root.
 */
void python_merge_begin(struct python_merge *m, const struct python_found *found,
			const struct arena_stack *s, const uint64_t *addresses, bool complete)
{
	size_t nr_calls = 0, nr_runs = 0;
	bool whole;

	*m = (struct python_merge){ found, s->python, s->nr_python, 0, false };
	if (!found || !m->nr)
		return;
	whole = m->words[m->nr - 1] == PYTHON_WHOLE;
	m->nr -= whole;
	for (uint32_t i = 0; i < s->nr_frames; i++)
		nr_calls += is_evaluator(found, addresses[i]);
	for (size_t i = 0; i < m->nr; i++)
		nr_runs += (m->words[i] & PYTHON_LAST_BIT) != 0;
	if (!whole || !complete)
		return;
	m->skip = nr_calls > nr_runs ? nr_calls - nr_runs : 0;
	m->is_one = m->skip == 1;
	for (; nr_runs > nr_calls && m->nr; nr_runs--)
		do
			m->nr--;
		while (!(*m->words++ & PYTHON_LAST_BIT) && m->nr);
}

bool python_merge_next(struct python_merge *m, uint64_t address, const uint64_t **words, size_t *nr)
{
	bool last = false;

	if (!m->nr || !is_evaluator(m->found, address))
		return false;
	*words = m->words;
	*nr = 0;
	if (m->skip) {
		m->skip--;
		return m->is_one;
	}
	for (; m->nr && !last; m->nr--) {
		last = *m->words & PYTHON_LAST_BIT;
		*nr += PYTHON_CODE(*m->words++) != 0; /* a mark of C's call comes last */
	}
	return true;
}
