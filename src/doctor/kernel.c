/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows about the kernel and what it shows. */
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "doctor/looks.h"

#define MIN_MAJOR 5
#define MIN_MINOR 15

void look_kernel(const struct machine *m, struct finding *f)
{
	int major = 0, minor = 0;

	finding_found(f, "%s", m->uts.release);
	if (sscanf(m->uts.release, "%d.%d", &major, &minor) == 2 &&
	    (major > MIN_MAJOR || (major == MIN_MAJOR && minor >= MIN_MINOR)))
		return;
	finding_judge(f, DOCTOR_MISSING, "kernel %s is too old", m->uts.release);
	finding_remedy(f, "bpfprof needs %d.%d or newer (BPF atomics and task registers)",
		       MIN_MAJOR, MIN_MINOR);
}

void look_architecture(const struct machine *m, struct finding *f)
{
	finding_found(f, "%s", m->uts.machine);
	if (strcmp(m->uts.machine, "x86_64") && strcmp(m->uts.machine, "aarch64"))
		finding_judge(f, DOCTOR_MISSING, "bpfprof knows no stacks of %s", m->uts.machine);
}

void look_known_bad(const struct machine *m, struct finding *f)
{
	unsigned int uses = m->uses ? m->uses : ~0u;
	const struct hazard *h = hazards_find(&m->hazards, uses, NULL);
	const struct hazard *also = h ? hazards_find(&m->hazards, uses, h) : NULL;

	finding_found(f, "%s", h ? "it is" : "none known");
	if (!h)
		return;
	finding_judge(f, h->does == HAZARD_REFUSED ? DOCTOR_MISSING : DOCTOR_LIMITED, "%s%s%s",
		      h->text, also ? "; and " : "", also ? also->text : "");
	finding_remedy(f, "%s%s%s%s", h->remedy,
		       h->does == HAZARD_REFUSED ? " (--unsafe-kernel records all the same)" : "",
		       also ? "; " : "", also ? also->remedy : "");
}

/* Do its parts lie in the file, as far as its head says where they are? */
static bool is_whole(const struct machine *m, const char *path)
{
	char *whole = xasprintf("%s%s", m->root, path);
	FILE *f = fopen(whole, "re");
	struct btf_header h;
	struct stat st;
	bool is = f && !fstat(fileno(f), &st) && st.st_size > 0;

	if (is && fread(&h, sizeof(h), 1, f) == 1)
		is = h.magic == BTF_MAGIC &&
		     (uint64_t)h.hdr_len + h.type_off + h.type_len <= (uint64_t)st.st_size &&
		     (uint64_t)h.hdr_len + h.str_off + h.str_len <= (uint64_t)st.st_size;
	if (f)
		fclose(f);
	free(whole);
	return is;
}

void look_types(const struct machine *m, struct finding *f)
{
	bool there = machine_can_read(m, BTF_PATH);

	finding_found(f, "%s", there ? BTF_PATH : "none");
	if (!there) {
		f->state = DOCTOR_MISSING;
	} else if (!is_whole(m, BTF_PATH)) {
		finding_judge(f, DOCTOR_MISSING,
			      "the kernel's type information is cut off or damaged");
		finding_remedy(f, "is something mounted over " BTF_PATH "? (findmnt)");
	}
}

void look_jit(const struct machine *m, struct finding *f)
{
	long on;

	if (!finding_number(f, m, "/proc/sys/net/core/bpf_jit_enable", &on))
		return;
	finding_found(f, "%ld", on);
	if (!on)
		f->state = DOCTOR_LIMITED;
}

/* "none [integrity] confidentiality" */
void look_lockdown(const struct machine *m, struct finding *f)
{
	char modes[128], *mode = modes;

	if (!machine_text(m, "/sys/kernel/security/lockdown", modes, sizeof(modes)) || !*modes) {
		finding_found(f, "none, or not shown");
		return;
	}
	if (strchr(modes, '[')) {
		mode = strchr(modes, '[') + 1;
		mode[strcspn(mode, "]")] = '\0';
	}
	finding_found(f, "%s", mode);
	if (!strcmp(mode, "confidentiality"))
		f->state = DOCTOR_MISSING;
}

/* hidepid hides processes of others from those without CAP_SYS_PTRACE. */
static bool hides_processes(const struct machine *m)
{
	char mounts[16384], *line;

	if (!machine_text(m, "/proc/self/mounts", mounts, sizeof(mounts)))
		return false;
	for (char *rest = mounts; (line = strsep(&rest, "\n"));)
		if (strstr(line, " /proc proc "))
			return strstr(line, "hidepid=") && !strstr(line, "hidepid=0") &&
			       !strstr(line, "hidepid=off");
	return false;
}

void look_proc(const struct machine *m, struct finding *f)
{
	if (!machine_can_read(m, "/proc/self/maps")) {
		finding_found(f, "not mounted");
		f->state = DOCTOR_MISSING;
		return;
	}
	finding_found(f, "%s", hides_processes(m) ? "mounted, with hidepid" : "mounted");
	if (!hides_processes(m) || m->caps)
		return;
	finding_judge(f, DOCTOR_LIMITED, "/proc hides processes of other users");
	finding_remedy(f, "run as root, or mount /proc with hidepid=0");
}

void look_tracefs(const struct machine *m, struct finding *f)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[64];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/events", places[i]);
		if (machine_can_read(m, path)) {
			finding_found(f, "%s", places[i]);
			return;
		}
	}
	finding_found(f, "%s", m->uid ? "not shown to this user" : "not mounted");
	if (!m->uid && machine_has(m, places[0])) /* tracefs.h: mounted for us alone */
		return;
	f->state = DOCTOR_LIMITED;
}

static void look_source(const struct machine *m, struct finding *f, const char *name)
{
	char path[96];
	bool there;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	there = machine_has(m, path);
	finding_found(f, "%s", there ? "offered" : "not offered");
	if (!there)
		f->state = DOCTOR_MISSING;
}

void look_uprobes(const struct machine *m, struct finding *f)
{
	look_source(m, f, "uprobe");
}

void look_kprobes(const struct machine *m, struct finding *f)
{
	look_source(m, f, "kprobe");
}
