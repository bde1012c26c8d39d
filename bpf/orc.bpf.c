/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_get_stack() asks the kernel's tables for each frame anew. In a sample that comes every few
 * milliseconds all of their cache lines are cold. Here a frame's rule comes from a cache on this
 * CPU, as in user stacks, and the kernel's tables are read for what is not in it. Only frames of
 * the kernel's own code with the usual rules are left so. Where another one comes, of a module, of
 * a BPF program, of a function with a return probe, the walk is given up, and the kernel walks.
 */
#include "orc.bpf.h"
#include "fp.bpf.h"
#include "kernel.bpf.h"
#include "orc.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_orc);
} orc SEC(".maps");

#define ORC_SLOT_BITS 9
RULE_CACHE(orc_cache, ORC_SLOT_BITS);
#define NOT_KEPT (1u << ORC_SLOT_BITS)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct orc_cache);
} orc_rules SEC(".maps");

/*
 * How a frame is left. CFA: the stack pointer behind the return address, which lies right below it.
 *
 *	code:3 | words from the base to the CFA:10 | from there to the caller's frame pointer:7
 *
 * Both are signed; without the last one the frame pointer is as it was.
 */
enum orc_code {
	ORC_ASK,      /* only the kernel knows */
	ORC_BY_SP,    /* base: the stack pointer */
	ORC_BY_FP,    /* base: the frame pointer */
	ORC_BY_STACK, /* base: the word that the stack pointer points to */
	ORC_BY_REGS,  /* an interrupt or exception has kept all registers at the CFA */
	ORC_ROOT,     /* a thread of the kernel begins there */
};
#define ORC_CODE_SHIFT 17
#define ORC_CFA_SHIFT  7
#define ORC_FP_MASK    0x7fu
#define ORC_MOST       (PROF_MAX_KFRAMES - 2) /* frames: with more the kernel's walk ends, too */
#define SEARCH_STEPS   10		      /* 2^10 entries in a KiB of code */

/* What the kernel says of code; which of these fields there are depends on it. */
struct orc_entry___any {
	__s16 sp_offset;
	__s16 bp_offset;
	unsigned int sp_reg : 4;
	unsigned int bp_reg : 4;
	unsigned int type : 3;
	unsigned int signal : 1;
	unsigned int end : 1;
} __attribute__((packed, preserve_access_index));
/* These are the same in all kernels; 7.x gave others to the stack pointer and the CFA. */
enum { REG_NONE = 0, REG_BP = 4, REG_AT_SP = 9 };

/* struct pt_regs of an interrupt in the kernel. */
enum { AT_BP = 32, AT_IP = 128, AT_CS = 136, AT_SP = 152 };

enum { WALK_GOES_ON, WALK_IS_DONE, WALK_FAILED };

static __always_inline bool orc_is_off(void)
{
	/* kernel < 6.8: functions of their own are verified even if nothing calls them. */
	return ARCH != TABLE_X86 || !prof_cfg.orc;
}

static __always_inline struct prof_orc *tables(void)
{
	__u32 zero = 0;

	return orc_is_off() ? NULL : bpf_map_lookup_elem(&orc, &zero);
}

static __always_inline struct orc_cache *cache_of(void)
{
	__u32 zero = 0;

	return orc_is_off() ? NULL : bpf_map_lookup_elem(&orc_rules, &zero);
}

static __always_inline __u64 hash_of(__u64 pc)
{
	return (pc ^ prof_cfg.seed) * 0x9e3779b97f4a7c15ull;
}

enum bpf_func_id___any { BPF_FUNC_kallsyms_lookup_name___any = 165 };

/* kernel >= 6.4 has kinds of entries for what were bits before. */
enum kind { KIND_CALL, KIND_REGS, KIND_ROOT, KIND_OTHER };
static __always_inline enum kind kind_of(const struct orc_entry___any *e)
{
	__u32 type = BPF_CORE_READ_BITFIELD(e, type);

	if (bpf_core_field_exists(e->end)) {
		if (BPF_CORE_READ_BITFIELD(e, sp_reg) == REG_NONE)
			return BPF_CORE_READ_BITFIELD(e, end) ? KIND_ROOT : KIND_OTHER;
		return type == 0 ? KIND_CALL : type == 1 ? KIND_REGS : KIND_OTHER;
	}
	return type == 1 ? KIND_ROOT : type == 2 ? KIND_CALL : type == 3 ? KIND_REGS : KIND_OTHER;
}

/* Whether what is returned to was interrupted, and called nothing. kernel < 6.3: always. */
static __always_inline bool is_interrupted(const struct orc_entry___any *e)
{
	return !bpf_core_field_exists(e->signal) || BPF_CORE_READ_BITFIELD(e, signal);
}

static __always_inline __u32 rule_of_call(const struct prof_orc *o, const struct orc_entry___any *e)
{
	__u32 sp_reg = BPF_CORE_READ_BITFIELD(e, sp_reg),
	      bp_reg = BPF_CORE_READ_BITFIELD(e, bp_reg);
	__s32 cfa = e->sp_offset, fp = e->bp_offset, code;

	code = sp_reg == o->reg_sp ? ORC_BY_SP : sp_reg == REG_BP ? ORC_BY_FP : ORC_BY_STACK;
	if (code == ORC_BY_STACK && sp_reg != REG_AT_SP)
		return ORC_ASK;
	if (cfa & 7 || cfa < -4096 || cfa >= 4096)
		return ORC_ASK;
	if (bp_reg == REG_NONE)
		fp = 0;
	else if (bp_reg != o->reg_cfa || fp & 7 || fp < -512 || fp >= 512 || !fp)
		return ORC_ASK;
	return code << ORC_CODE_SHIFT | ((cfa >> 3) & 0x3ff) << ORC_CFA_SHIFT |
	       ((fp >> 3) & ORC_FP_MASK);
}

static __always_inline __u32 rule_of(const struct prof_orc *o, const struct orc_entry___any *e)
{
	enum kind kind = kind_of(e);
	__s32 cfa = e->sp_offset;

	if (kind == KIND_CALL)
		return rule_of_call(o, e);
	if (kind == KIND_ROOT)
		return ORC_ROOT << ORC_CODE_SHIFT;
	if (kind != KIND_REGS || BPF_CORE_READ_BITFIELD(e, sp_reg) != o->reg_sp || cfa & 7 ||
	    cfa < 0 || cfa >= 4096)
		return ORC_ASK;
	return ORC_BY_REGS << ORC_CODE_SHIFT | (__u32)(cfa >> 3) << ORC_CFA_SHIFT |
	       is_interrupted(e);
}

/*
 * The rule for code of the kernel, out of its tables and into the cache: its slot there, and the
 * rule in scratch->rule. Separately verified.
 */
__noinline int orc_rule(__u32 id, __u64 pc)
{
	struct scratch *s = scratch_get(id);
	struct orc_cache *cache = cache_of();
	struct prof_orc *o = tables();
	__u64 raw[2] = {}, where;
	__u32 page, at, left, half;
	__s32 begin;

	if (!s || !o || !cache)
		return NOT_KEPT;
	s->rule = ORC_ASK;
	if (pc < o->text || pc >= o->text_end)
		return NOT_KEPT;
	for (__u32 i = 0; i < PROF_ORC_RETURNS; i++)
		if (o->returns[i] == pc + 1)
			return NOT_KEPT;
	page = (pc - o->text) >> PROF_ORC_SHIFT & (PROF_ORC_PAGES - 1);
	at = o->pages[page];
	left = o->pages[page + 1] - at + 1;
	for (__u32 i = 0; i < SEARCH_STEPS && left > 1; i++) {
		half = left / 2;
		where = o->ips + (__u64)(at + half) * 4;
		if (bpf_probe_read_kernel(&begin, sizeof(begin), (void *)where))
			return NOT_KEPT;
		at += half & ~above(where + begin, pc);
		left -= half;
	}
	if (bpf_probe_read_kernel(raw, 6, (void *)(o->entries + (__u64)at * 6)))
		return NOT_KEPT;
	s->rule = rule_of(o, (struct orc_entry___any *)raw);
	return rule_keep(&cache->oldest, cache->slots, cache->homes, ORC_SLOT_BITS, hash_of(pc),
			 s->rule);
}

/* A word of the kernel's stack, by way of the window. */
static __always_inline bool read_word(struct scratch *s, __u64 at, __u64 *word)
{
	__u64 off = at - s->window_start;
	__u32 bytes;

	if (off >= WINDOW_BYTES || off + 8 > s->window_bytes) {
		bytes = 4096 - (at & 4095);
		if (bytes > WINDOW_BYTES)
			bytes = WINDOW_BYTES;
		s->window_start = at;
		s->window_bytes = 0;
		if (at & 7 || bpf_probe_read_kernel(s->window, bytes, (void *)at))
			return false;
		s->window_bytes = bytes;
		off = 0;
	}
	*word = window_word(s, off);
	return true;
}

/* Of scratch->at, what the loop keeps in registers. */
struct kframe {
	__u64 pc, sp, inner;
	__u64 fp_at; /* where the frame pointer has been kept; 0 = it is in scratch->at */
};

static __always_inline struct kframe frame_of(const struct scratch *s)
{
	return (struct kframe){ s->at.pc, s->at.sp, s->at.inner, s->at.fp_at };
}

static __always_inline void put_frame(struct scratch *s, const struct kframe *f)
{
	s->at.pc = f->pc;
	s->at.sp = f->sp;
	s->at.inner = f->inner;
	s->at.fp_at = f->fp_at;
}

static __always_inline __s64 signed_words(__u32 bits, __u32 width)
{
	return (__s64)((__u64)bits << (64 - width)) >> (64 - width) << 3;
}

/* To the caller, by where the CFA is. */
static __always_inline bool leave_by_cfa(struct scratch *s, __u32 rule, __u64 cfa, struct kframe *f)
{
	__s64 fp = signed_words(rule & ORC_FP_MASK, ORC_CFA_SHIFT);

	if (!read_word(s, cfa - 8, &f->pc))
		return false;
	if (fp)
		f->fp_at = cfa + fp;
	f->sp = cfa;
	f->inner = 0;
	return true;
}

/* To what was interrupted; done if that was no code of the kernel. */
static __always_inline int leave_by_regs(struct scratch *s, __u32 rule, __u64 at, struct kframe *f)
{
	__u64 cs;

	if (!read_word(s, at + AT_CS, &cs))
		return WALK_FAILED;
	if (STATUS_IS_USER(cs))
		return WALK_IS_DONE;
	if (!read_word(s, at + AT_IP, &f->pc) || !read_word(s, at + AT_SP, &f->sp) ||
	    !read_word(s, at + AT_BP, &s->at.fp))
		return WALK_FAILED;
	f->inner = rule & 1;
	f->fp_at = 0;
	return WALK_GOES_ON;
}

/* A frame that is not left by the stack pointer. Separately verified: few are. */
__noinline int orc_special(__u32 id, __u32 rule)
{
	struct scratch *s = scratch_get(id);
	__u32 code = rule >> ORC_CODE_SHIFT;
	struct kframe f;
	__s64 offset;
	__u64 base;
	int end = WALK_GOES_ON;

	if (!s || orc_is_off())
		return WALK_FAILED;
	if (code == ORC_ROOT)
		return WALK_IS_DONE;
	f = frame_of(s);
	offset = signed_words(rule >> ORC_CFA_SHIFT & 0x3ff, 10);
	base = code == ORC_BY_REGS ? f.sp : s->at.fp;
	if (code == ORC_BY_FP && f.fp_at && !read_word(s, f.fp_at, &base))
		return WALK_FAILED;
	if (code == ORC_BY_STACK && !read_word(s, f.sp, &base))
		return WALK_FAILED;
	if (code == ORC_ASK)
		return WALK_FAILED;
	if (code == ORC_BY_REGS)
		end = leave_by_regs(s, rule, base + offset, &f);
	else if (!leave_by_cfa(s, rule, base + offset, &f))
		return WALK_FAILED;
	put_frame(s, &f);
	return end;
}

#define CHUNK_FRAMES 4

/* Goes on with the walk for some frames. Separately verified. */
__noinline int orc_chunk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct orc_cache *cache = cache_of();
	__u32 nr, slot, rule;
	struct kframe f;
	__u64 hash, key, found;
	int end = WALK_GOES_ON;

	if (!s || !cache)
		return WALK_FAILED;
	f = frame_of(s);
	nr = s->kernel.nr;
	slot = s->orc_slot;
	hash = s->kernel.hash;
	for (__u32 i = 0; i < CHUNK_FRAMES; i++) {
		if (nr >= ORC_MOST) {
			end = WALK_FAILED;
			break;
		}
		s->kernel.frames[unknown(nr++) & (PROF_MAX_KFRAMES - 1)] = f.pc;
		hash = hash_mix(hash, f.pc);
		key = hash_of(f.pc - 1 + f.inner);
		found = rule_find(cache->slots, cache->homes, ORC_SLOT_BITS, key, &slot);
		if (found > ROW_RULE_MASK) {
			slot = orc_rule(id, f.pc - 1 + f.inner);
			found = s->rule;
		}
		slot++;
		rule = found;
		if (rule >> ORC_CODE_SHIFT == ORC_BY_SP) {
			if (!leave_by_cfa(s, rule,
					  f.sp + signed_words(rule >> ORC_CFA_SHIFT & 0x3ff, 10),
					  &f))
				end = WALK_FAILED;
		} else {
			put_frame(s, &f);
			end = orc_special(id, rule);
			f = frame_of(s);
		}
		if (end)
			break;
	}
	put_frame(s, &f);
	s->kernel.hash = hash;
	s->kernel.nr = nr;
	s->orc_slot = slot;
	return end;
}

__noinline int orc_walk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct prof_orc *o = tables();
	int end = WALK_GOES_ON;

	if (!s || !o || !*(volatile __u32 *)&o->ready)
		return 0;
	s->kernel.nr = 0;
	s->kernel.hash = prof_cfg.seed;
	s->window_bytes = 0;
	for (__u32 i = 0; i <= PROF_MAX_KFRAMES / CHUNK_FRAMES && !end; i++)
		end = orc_chunk(id);
	return end == WALK_IS_DONE;
}

static __always_inline long look_up(const char *name, __u32 size, __u64 *to)
{
	return bpf_kallsyms_lookup_name(name, size, 0, to);
}

/* User space makes the directory: first it learns where all lies, then it reads, part by part. */
SEC("?syscall")
int orc_read(void *ctx)
{
	/* Where functions with a return probe return to, in the name of their caller. */
	static const char graph[] = "return_to_handler", rethook[] = "arch_rethook_trampoline",
			  probe[] = "__kretprobe_trampoline", old_probe[] = "kretprobe_trampoline";
	static const char text[] = "_stext", text_end[] = "_etext", ips[] = "__start_orc_unwind_ip",
			  ips_end[] = "__stop_orc_unwind_ip", entries[] = "__start_orc_unwind";
	struct prof_orc *o = tables();

	if (!o)
		return -1;
	if (o->from)
		return bpf_probe_read_kernel(o->chunk, sizeof(o->chunk), (void *)o->from);
	if (!bpf_core_enum_value_exists(enum bpf_func_id___any,
					BPF_FUNC_kallsyms_lookup_name___any))
		return -1; /* kernel < 5.16 */
	if (look_up(text, sizeof(text), &o->text) ||
	    look_up(text_end, sizeof(text_end), &o->text_end) ||
	    look_up(ips, sizeof(ips), &o->ips) || look_up(ips_end, sizeof(ips_end), &o->ips_end) ||
	    look_up(entries, sizeof(entries), &o->entries))
		return -1;
	look_up(graph, sizeof(graph), &o->returns[0]);
	look_up(rethook, sizeof(rethook), &o->returns[1]);
	look_up(probe, sizeof(probe), &o->returns[2]);
	look_up(old_probe, sizeof(old_probe), &o->returns[3]);
	return 0;
}
