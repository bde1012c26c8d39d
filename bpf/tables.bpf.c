/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looking up rules: process -> list of mappings -> executable -> page of its table -> row. Two
 * binary searches, both by direct loads from segments that user space fills through its own mapping
 * of them; nothing here waits or writes, but for the cache and the mark that a table is in use.
 */
#include "tables.bpf.h"
#include "step.bpf.h"

#define PAGE_SHIFT	TABLE_PAGE_SHIFT(ARCH)
#define UNIT_SHIFT	TABLE_UNIT_SHIFT(ARCH)
#define SEARCH_MAPPINGS 15 /* steps: 2^15 = TABLE_MAX_MAPPINGS */
#define SEARCH_ROWS	10 /* steps: 2^10 > TABLE_MAX_ROWS */
_Static_assert(1u << SEARCH_MAPPINGS == TABLE_MAX_MAPPINGS, "mappings of a process");

/* No type for the value: kernel < 6.2 compares it with that of the segments, which have none. */
struct segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, TABLE_SEGMENT_BYTES);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TABLE_MAX_SEGMENTS);
	__uint(key_size, sizeof(__u32));
	__array(values, struct segment);
} segments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TABLE_MAX_EXES);
	__type(key, __u32);
	__type(value, struct table_exe);
} exes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TABLE_PROC_ROWS);
	__type(key, __u32);
	__type(value, struct table_proc);
} procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rule_cache);
} rules SEC(".maps");

/*
 * Raised by user space when a table was taken away: all rules that were looked up before are
 * forgotten. And every now and then when memory is short, to learn which tables are in use.
 */
__u32 prof_table_epoch;

/*
 * With --call-graph fp the maps are not there. kernel < 6.8: functions of their own are verified
 * even if nothing calls them, so all that touch a map ask first.
 */
static __always_inline bool tables_are_off(void)
{
	return prof_cfg.call_graph == CALL_GRAPH_FP;
}

__hidden struct rule_cache *tables_cache(void)
{
	__u32 zero = 0;

	return tables_are_off() ? NULL : bpf_map_lookup_elem(&rules, &zero);
}

/* The words of the segment that holds a word. */
static __always_inline __u32 *segment_of(__u32 word)
{
	__u32 index = word >> TABLE_SEGMENT_SHIFT, zero = 0;
	void *segment;

	if (tables_are_off())
		return NULL;
	segment = bpf_map_lookup_elem(&segments, &index);
	return segment ? bpf_map_lookup_elem(segment, &zero) : NULL;
}

/*
 * Loads before it are made before those that follow. x86-64 does so by itself; elsewhere an atomic
 * operation on memory of our own, which no other CPU looks at, is a full barrier.
 */
static __always_inline void in_order(struct scratch *s)
{
	if (ARCH == TABLE_X86)
		asm volatile("" ::: "memory");
	else
		__sync_fetch_and_add(&s->barrier, 1);
}

/* The row of a process, NULL if there is none. */
static __always_inline const struct table_proc *proc_row(__u32 pid)
{
	__u32 home = TABLE_PROC_HOME(pid), index, found;
	const struct table_proc *p;

	for (__u32 i = 0; i < TABLE_PROC_PROBES; i++) {
		index = home + i;
		p = bpf_map_lookup_elem(&procs, &index);
		if (!p)
			return NULL;
		found = *(volatile __u32 *)&p->pid;
		if (found == pid)
			return p;
		if (!found)
			return NULL;
	}
	return NULL;
}

__hidden bool tables_begin(struct scratch *s, struct task_struct *task)
{
	const struct table_proc *p;
	struct table_proc row;
	__u32 tgid = task->tgid;

	if (tables_are_off())
		return false;
	p = proc_row(tgid);
	if (!p)
		return false;
	row.seq = *(volatile __u32 *)&p->seq;
	in_order(s);
	row = (struct table_proc){ row.seq,  p->pid,   p->start_stack, p->list,	 p->nr_mappings,
				   p->space, p->final, p->defer,       p->python };
	in_order(s);
	if (row.seq & 1 || row.seq != *(volatile __u32 *)&p->seq || row.pid != tgid || row.defer ||
	    row.start_stack != task->mm->start_stack)
		return false;
	s->list = row.list;
	s->nr_mappings = row.nr_mappings;
	s->epoch = prof_table_epoch;
	s->space = row.space + s->epoch * 0x85ebca6bu;
	s->rule_key = hash_mix(prof_cfg.seed, s->space);
	s->final = row.final;
	s->python = row.python;
	return true;
}

static __always_inline struct table_mapping *mapping_at(__u32 *words, __u32 word)
{
	return (void *)&words[word & (TABLE_SEGMENT_WORDS - TABLE_MAPPING_WORDS)];
}

static __always_inline bool is_in(const struct mapped *m, __u32 space, __u64 pc)
{
	return pc >= m->start && pc < m->end && m->space == space;
}

static __always_inline struct mapped *mapped_now(struct scratch *s)
{
	return &s->mapped[s->mapping & (NR_MAPPED - 1)];
}

/*
 * Takes the mapping that starts last at or below pc, and its executable, to scratch->mapping.
 * Negative: there is none; 1: its row is being written. Separately verified.
 */
__noinline int tables_mapping(__u32 id, __u64 pc)
{
	struct scratch *s = scratch_get(id);
	__u32 at, left, half, exe, seq, *words;
	struct table_mapping *row;
	struct table_exe *x;
	struct mapped *m;

	if (!s)
		return -1;
	s->mapping = ((__u32)(pc >> 22) + s->space) * 0x9e3779b1u >> 29;
	m = mapped_now(s);
	if (is_in(m, s->space, pc))
		return 0;
	m->end = 0;
	words = segment_of(s->list);
	if (!words)
		return -1;
	at = s->list;
	left = s->nr_mappings;
	for (__u32 i = 0; i < SEARCH_MAPPINGS && left > 1; i++) {
		half = left / 2;
		row = mapping_at(words, at + half * TABLE_MAPPING_WORDS);
		at += half * TABLE_MAPPING_WORDS & ~above(row->start, pc);
		left -= half;
	}
	row = mapping_at(words, at);
	if (!left || pc < row->start || pc >= row->end)
		return -1;
	exe = row->exe;
	x = bpf_map_lookup_elem(&exes, &exe);
	if (!x)
		return -1;
	seq = *(volatile __u32 *)&x->seq;
	in_order(s);
	m->bias = row->bias - x->delta;
	m->exe = exe;
	m->state = x->state;
	m->base = x->base;
	m->nr_pages = x->nr_pages;
	m->first_page = x->first_page;
	m->exceptions = x->exceptions;
	in_order(s);
	if (seq & 1 || seq != *(volatile __u32 *)&x->seq)
		return 1;
	m->space = s->space;
	m->start = row->start;
	m->end = row->end;
	if (x->used != s->epoch)
		x->used = s->epoch;
	if (m->state == TABLE_ABSENT)
		x->wanted = 1;
	return 0;
}
_Static_assert(NR_MAPPED == 1 << (32 - 29), "the hash of a mapping");

/* The last of count rows, from a word on, that begins at or below an offset; none: rule. */
static __always_inline __u32 search_rows(__u32 word, __u32 count, __u32 offset, __u32 rule)
{
	__u32 key = offset << ROW_RULE_BITS | ROW_RULE_MASK, half, row;
	__u32 *words = segment_of(word);

	if (!words)
		return step_make_special(ARCH, RULE_NONE);
	for (__u32 i = 0; i < SEARCH_ROWS && count > 1; i++) {
		half = count / 2;
		row = words[(word + half) & (TABLE_SEGMENT_WORDS - 1)];
		word += half & ~above(row, key);
		count -= half;
	}
	row = words[word & (TABLE_SEGMENT_WORDS - 1)];
	return row <= key ? row & ROW_RULE_MASK : rule;
}

static __always_inline __u32 search_page(const struct mapped *m, __u64 vaddr)
{
	__u64 page = (vaddr >> PAGE_SHIFT) - m->first_page;
	struct table_page *entry;
	__u32 word, *words, count, rule;

	if (page >= m->nr_pages)
		return step_make_special(ARCH, RULE_NONE);
	word = m->base + (__u32)page * TABLE_PAGE_WORDS;
	words = segment_of(word);
	if (!words)
		return step_make_special(ARCH, RULE_NONE);
	entry = (void *)&words[word & (TABLE_SEGMENT_WORDS - TABLE_PAGE_WORDS)];
	count = entry->rule_count & TABLE_MAX_ROWS;
	rule = entry->rule_count >> (32 - ROW_RULE_BITS);
	if (!count)
		return rule;
	return search_rows(m->base + entry->rows, count,
			   (vaddr & ((1u << PAGE_SHIFT) - 1)) >> UNIT_SHIFT, rule);
}

/* The rule where the current mapping says that there is one. */
static __always_inline __u32 rule_of(const struct mapped *m, __u64 pc)
{
	if (m->state == TABLE_READY)
		return search_page(m, pc - m->bias);
	if (m->state == TABLE_NONE)
		return step_make_special(ARCH, m->exe == TABLE_EXE_ANON ? RULE_ANON : RULE_NONE);
	return step_make_special(ARCH, m->state == TABLE_ABSENT ? RULE_NO_TABLE : RULE_REFUSED);
}

__noinline int tables_rule(__u32 id, __u64 pc)
{
	struct scratch *s = scratch_get(id);
	struct rule_cache *cache = tables_cache();
	struct mapped *m;
	int err = 0;

	if (!s || !cache)
		return RULE_SLOTS;
	m = mapped_now(s);
	if (!is_in(m, s->space, pc)) {
		err = tables_mapping(id, pc);
		m = mapped_now(s);
	}
	if (err) {
		s->rule = step_make_special(ARCH, err < 0 ? RULE_NO_CODE : RULE_NO_TABLE);
		return RULE_SLOTS;
	}
	s->rule = rule_of(m, pc);
	if (m->state != TABLE_READY && m->state != TABLE_NONE) {
		m->end = 0; /* soon it is another one */
		return RULE_SLOTS;
	}
	return rule_keep(&cache->oldest, cache->slots, cache->homes, RULE_SLOT_BITS,
			 rule_hash(s, pc), s->rule);
}

__noinline int tables_exception(__u32 id, __u64 pc, __u32 rule)
{
	struct scratch *s = scratch_get(id);
	struct mapped *m;
	__u32 word, *words;

	if (!s)
		return -1;
	if (!is_in(mapped_now(s), s->space, pc) && tables_mapping(id, pc))
		return -1;
	m = mapped_now(s);
	if (m->state != TABLE_READY)
		return -1;
	word = m->base + m->exceptions + step_exception_index(ARCH, rule) * TABLE_EXCEPTION_WORDS;
	words = segment_of(word);
	if (!words)
		return -1;
	s->exception = *(struct table_exception
				 *)&words[word & (TABLE_SEGMENT_WORDS - TABLE_EXCEPTION_WORDS)];
	return 0;
}
