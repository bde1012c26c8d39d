/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libdwfl, with registers and memory out of a sample. */
#include "tests/e2e/stacks/libdw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include "base/mem.h"

#define MAX_DWARF 33
#define RED_ZONE  128 /* bytes below the stack pointer that signals spare */

/* In struct rt_sigframe of aarch64: behind siginfo, and ucontext up to uc_mcontext.regs. */
#define SIGFRAME_REGS 312

/* What a process had mapped, as libdw knows it. */
struct image {
	uint32_t pid;
	uint64_t version;
	Dwfl *dwfl;
};

static struct image *images;
static size_t nr_images, cap_images;

/* The walk in work. */
static struct {
	struct result *to;
	bool inner;		 /* the frame to come */
	bool was_unread;	 /* something, since the last frame */
	bool again;		 /* from other registers */
	uint64_t sp;		 /* of the last frame */
	uint64_t regs[MAX_REGS]; /* that it begins with, as in struct sample */
	uint32_t first;		 /* frame of these */
} now;

static int no_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **found)
{
	return -1;
}

static int no_elf(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base, char **file,
		  Elf **elf)
{
	return -1;
}

static uint64_t unsigned_address(const struct recording *r, uint64_t word)
{
	if (r->arch == TABLE_ARM64 && word >> 48 && process_find(r->proc, word & ARM64_MASK))
		return word & ARM64_MASK;
	return word;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	struct recording *r = arg;

	if (*thread)
		return 0;
	*thread = r;
	return r->sample.tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	*thread = arg;
	return true;
}

static const uint8_t x86_dwarf[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 };

/* A register of the innermost frame, as DWARF counts. */
static uint64_t register_of(const struct recording *r, uint64_t reg)
{
	if (r->arch == TABLE_X86)
		return reg < sizeof(x86_dwarf) ? now.regs[x86_dwarf[reg]] : 0;
	return reg < MAX_DWARF ? now.regs[reg] : 0;
}

/* What libdw would go by; NULL: nothing. */
static Dwarf_Frame *cfi_at(Dwfl *dwfl, uint64_t pc)
{
	Dwfl_Module *mod = dwfl_addrmodule(dwfl, pc);
	Dwarf_Addr bias;
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *cfi = mod ? dwfl_module_eh_cfi(mod, &bias) : NULL;

	if (cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &frame))
		return frame;
	cfi = mod ? dwfl_module_dwarf_cfi(mod, &bias) : NULL;
	return cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &frame) ? frame : NULL;
}

/* Where a frame says that a register lies, if that is at a constant distance from the CFA. */
static bool is_saved_at(Dwarf_Frame *frame, int reg, uint64_t cfa, uint64_t addr)
{
	Dwarf_Op memory[3], *ops;
	size_t nr;

	return !dwarf_frame_register(frame, reg, memory, &ops, &nr) && nr == 2 &&
	       ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst &&
	       cfa + ops[1].number == addr;
}

/* The register that the innermost frame says lies at an address below the stack pointer. */
static bool read_popped(const struct recording *r, Dwfl *dwfl, uint64_t addr, Dwarf_Word *word)
{
	Dwarf_Frame *frame = cfi_at(dwfl, now.to->frames[now.first]);
	Dwarf_Op *ops;
	bool found = false;
	uint64_t cfa;
	size_t nr;

	if (frame && !dwarf_frame_cfa(frame, &ops, &nr) && nr == 1 && ops->atom == DW_OP_bregx) {
		cfa = register_of(r, ops->number) + ops->number2;
		for (int reg = 0; reg < ARM64_SP && !found; reg++)
			if (is_saved_at(frame, reg, cfa, addr)) {
				*word = register_of(r, reg);
				found = true;
			}
	}
	free(frame);
	return found;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	struct recording *r = arg;
	uint64_t off = addr - recording_reg(r, X86_SP, ARM64_SP);

	if (off >= r->sample.stack_bytes || r->sample.stack_bytes - off < sizeof(*word)) {
		if (-off <= RED_ZONE && now.to->nr == now.first + 1 &&
		    read_popped(r, dwfl, addr, word))
			return true;
		now.was_unread = true;
		return false;
	}
	memcpy(word, r->sample.stack + off, sizeof(*word));
	*word = unsigned_address(r, *word);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct recording *r = arg;
	bool is_x86 = r->arch == TABLE_X86;
	size_t nr = is_x86 ? sizeof(x86_dwarf) : 32;
	Dwarf_Word regs[MAX_DWARF];

	for (size_t i = 0; i < nr; i++)
		regs[i] = register_of(r, i);
	if (!is_x86)
		regs[ARM64_LR] = unsigned_address(r, regs[ARM64_LR]);
	if (!is_x86)
		dwfl_thread_state_register_pc(thread, register_of(r, ARM64_PC));
	return dwfl_thread_state_registers(thread, 0, nr, regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* Modules are told by their bias, once each however often they are mapped. */
static void report(Dwfl *dwfl, const struct mapping *m)
{
	uint64_t vaddr;
	GElf_Addr bias, had;
	Dwfl_Module *mod = dwfl_addrmodule(dwfl, m->start);
	int fd;

	if (!m->file || !m->file->elf || !elf_file_vaddr(m->file->elf, m->offset, &vaddr))
		return;
	bias = m->start - vaddr;
	if (bias && m->file->elf->header.e_type == ET_EXEC)
		return; /* node maps parts of itself again elsewhere; libdw cannot */
	if (mod && dwfl_module_getelf(mod, &had) && had == bias)
		return;
	fd = dup(m->file->fd);
	if (!dwfl_report_elf(dwfl, m->file->path, m->file->path, fd, bias, true)) {
		fprintf(stderr, "replay: %s: libdw: %s\n", m->file->path, dwfl_errmsg(-1));
		close(fd);
	}
}

static Dwfl *make_dwfl(struct recording *r)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = no_elf,
						  .find_debuginfo = no_debuginfo };
	struct process *p = r->proc;
	Dwfl *dwfl = dwfl_begin(&callbacks);

	dwfl_report_begin(dwfl);
	for (size_t i = 0; i < p->nr; i++) {
		dwfl_report_end(dwfl, NULL, NULL);
		dwfl_report_begin_add(dwfl);
		report(dwfl, &p->list[i]);
	}
	dwfl_report_end(dwfl, NULL, NULL);
	if (dwfl_attach_state(dwfl, NULL, p->pid, &thread_callbacks, r))
		return dwfl;
	dwfl_end(dwfl);
	return NULL;
}

/* NULL: there is no module in it. */
static Dwfl *dwfl_of(struct recording *r)
{
	struct image *i = images;

	while (i < images + nr_images && i->pid != r->proc->pid)
		i++;
	if (i == images + nr_images) {
		images = xgrow(images, nr_images, &cap_images, sizeof(*images));
		i = &images[nr_images++];
		*i = (struct image){ .pid = r->proc->pid };
	}
	if (i->version != r->proc->version) {
		dwfl_end(i->dwfl);
		i->dwfl = make_dwfl(r);
		i->version = r->proc->version;
	}
	return i->dwfl;
}

void libdw_forget(void)
{
	for (size_t i = 0; i < nr_images; i++)
		dwfl_end(images[i].dwfl);
	nr_images = 0;
}

/* Came with elfutils 0.188. */
extern int dwfl_frame_reg(Dwfl_Frame *state, unsigned int reg, Dwarf_Word *val)
	__attribute__((weak));

static bool read_sp(const struct recording *r, Dwfl_Frame *state, uint64_t *sp)
{
	return dwfl_frame_reg && !dwfl_frame_reg(state, r->arch == TABLE_X86 ? 7 : ARM64_SP, sp);
}

/*
 * aarch64: what a signal handler returns to, in the vDSO, has no call frame information. libdw goes
 * on from the registers that the kernel has put above it: struct rt_sigframe.
 */
static bool is_from_signal(struct recording *r, Dwfl_Frame *state, uint64_t pc)
{
	static const uint32_t code[] = { 0xd2801168, 0xd4000001 }; /* mov x8, #139; svc #0 */
	const struct mapping *m = process_find(r->proc, pc);
	uint32_t found[2];
	uint64_t sp, off;

	if (r->arch != TABLE_ARM64 || !m || !m->file || !m->file->elf ||
	    elf_file_read(m->file->elf, pc - m->start + m->offset, found, sizeof(code)) !=
		    sizeof(code) ||
	    memcmp(found, code, sizeof(code)) || !read_sp(r, state, &sp))
		return false;
	off = sp - r->sample.regs[ARM64_SP] + SIGFRAME_REGS;
	if (off >= r->sample.stack_bytes || r->sample.stack_bytes - off < MAX_DWARF * 8)
		return false;
	memcpy(now.regs, r->sample.stack + off, MAX_DWARF * 8);
	return true;
}

static int on_frame(Dwfl_Frame *state, void *arg)
{
	struct recording *r = arg;
	struct result *theirs = now.to;
	Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(state));
	Dwarf_Addr pc = 0, start, end, sp;
	Dwarf_Frame *frame;

	dwfl_frame_pc(state, &pc, NULL);
	if (theirs->nr == PROF_MAX_FRAMES) {
		theirs->end = TOO_DEEP;
		return DWARF_CB_ABORT;
	}
	theirs->frames[theirs->nr++] = pc;
	now.was_unread = false;
	if (read_sp(r, state, &sp)) {
		theirs->goes_down |= sp < now.sp;
		now.sp = sp;
	}
	frame = cfi_at(dwfl, pc - !now.inner);
	if (!frame) {
		theirs->end = UNKNOWN_CODE;
		now.again = is_from_signal(r, state, pc);
		return DWARF_CB_ABORT;
	}
	dwarf_frame_info(frame, &start, &end, &now.inner); /* a signal frame? */
	free(frame);
	return DWARF_CB_OK;
}

void libdw_walk(struct recording *r, struct result *theirs)
{
	Dwfl *dwfl = dwfl_of(r);
	int err;

	theirs->nr = 0;
	now.sp = 0;
	theirs->goes_down = false;
	now.to = theirs;
	memcpy(now.regs, r->sample.regs, sizeof(now.regs));
	if (!dwfl) { /* not a module: nothing is known of the code it is in */
		theirs->frames[theirs->nr++] = recording_reg(r, X86_IP, ARM64_PC);
		theirs->end = UNKNOWN_CODE;
		return;
	}
	do {
		now.again = false;
		now.inner = true;
		now.first = theirs->nr;
		err = dwfl_getthread_frames(dwfl, r->sample.tid, on_frame, r);
	} while (now.again);
	if (err <= 0)
		theirs->end = err || now.was_unread ? FAILED : ROOT;
}
