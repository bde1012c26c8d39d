/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows about what this process may do, and which layer says no. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor/caps.h"
#include "doctor/looks.h"

#define FIRST_PID_NS "pid:[4026531836]"

#define NR(rows) (sizeof(rows) / sizeof(*(rows)))

void look_capabilities(const struct machine *m, struct finding *f)
{
	if (m->caps >> CAP_SYS_ADMIN & 1) {
		finding_found(f, "CAP_SYS_ADMIN");
		return;
	}
	finding_found(f, "CAP_BPF and CAP_PERFMON");
	for (size_t i = 0; i < cap_nr_rows; i++) {
		const struct cap_row *row = &cap_rows[i];

		if (row->rank != CAP_NEEDED || machine_may(m, row->cap))
			continue;
		finding_found(f, "%s", m->caps ? "some, but not these" : "none");
		finding_judge(f, DOCTOR_MISSING, "%s is missing (to %s)", row->name, row->use);
		return;
	}
}

static bool is_wanted(const struct cap_row *row, const struct machine *m)
{
	return row->rank == CAP_WANTED || (row->rank == CAP_OF_ROOT && !m->uid);
}

void look_other_capabilities(const struct machine *m, struct finding *f)
{
	char missing[96] = "", *at = missing;
	const struct cap_row *first = NULL;

	for (size_t i = 0; i < cap_nr_rows; i++) {
		const struct cap_row *row = &cap_rows[i];

		if (!is_wanted(row, m) || machine_may(m, row->cap))
			continue;
		first = first ? first : row;
		at += snprintf(at, sizeof(missing) - (at - missing), "%s%s", *missing ? ", " : "",
			       row->name + 4);
	}
	finding_found(f, first ? "without %s" : "all", missing);
	if (!first)
		return;
	finding_judge(
		f, DOCTOR_LIMITED,
		"of processes of other users, some stacks or names are incomplete (%s is for: %s)",
		first->name, first->use);
}

/* Ours are not needed where root runs it. */
void look_file_capabilities(const struct machine *m, struct finding *f)
{
	bool both = m->file_caps >> CAP_BPF & 1 && m->file_caps >> CAP_PERFMON & 1;

	finding_found(f, "%s",
		      both	     ? "with CAP_BPF and CAP_PERFMON"
		      : m->file_caps ? "others than CAP_BPF and CAP_PERFMON"
				     : "none");
	if (!both && m->uid)
		f->state = DOCTOR_LIMITED;
}

void look_user_namespace(const struct machine *m, struct finding *f)
{
	bool first = machine_has_first_users(m);

	finding_found(f, "%s", first ? "the host's" : "another");
	if (!first)
		f->state = DOCTOR_MISSING;
}

static bool read_link(const struct machine *m, const char *path, char link[64])
{
	char full[512];
	ssize_t len;

	snprintf(full, sizeof(full), "%s%s", m->root, path);
	len = readlink(full, link, 63);
	link[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/*
 * The kernel counts threads in its first PID namespace; ours must be that one for -p to mean the
 * same.
 */
void look_pid_namespace(const struct machine *m, struct finding *f)
{
	char link[64];

	if (!read_link(m, "/proc/self/ns/pid", link) || !strcmp(link, FIRST_PID_NS)) {
		finding_found(f, "the host's");
		return;
	}
	finding_found(f, "another, %s", link);
	f->state = DOCTOR_MISSING;
}

/*
 * Virtual machines are made of images of containers, and keep their files. The numbers of the
 * kernel's first namespaces are the same everywhere, but for those of files.
 */
static bool is_outermost(const struct machine *m)
{
	static const char *const first[][2] = {
		{ "/proc/self/ns/pid", FIRST_PID_NS },
		{ "/proc/self/ns/uts", "uts:[4026531838]" },
		{ "/proc/self/ns/ipc", "ipc:[4026531839]" },
	};
	char own[64], init[64];

	for (size_t i = 0; i < NR(first); i++)
		if (!read_link(m, first[i][0], own) || strcmp(own, first[i][1]))
			return false;
	return !read_link(m, "/proc/self/ns/mnt", own) || !read_link(m, "/proc/1/ns/mnt", init) ||
	       !strcmp(own, init);
}

/* Files that runtimes leave, and what systemd says of the first process. */
void look_container(const struct machine *m, struct finding *f)
{
	static const char *const signs[][2] = {
		{ "/.dockerenv", "docker" },
		{ "/run/.containerenv", "podman" },
		{ "/var/run/secrets/kubernetes.io", "kubernetes" },
	};
	char name[64];

	if (is_outermost(m)) {
		finding_found(f, "none");
		return;
	}
	for (size_t i = 0; i < NR(signs); i++) {
		if (!machine_has(m, signs[i][0]))
			continue;
		finding_found(f, "in one of %s", signs[i][1]);
		f->state = DOCTOR_LIMITED;
		return;
	}
	if (machine_text(m, "/run/systemd/container", name, sizeof(name)) && *name) {
		finding_found(f, "in one of %s", name);
		f->state = DOCTOR_LIMITED;
		return;
	}
	finding_found(f, "none");
}

static bool is_filtered(const struct machine *m)
{
	char mode[16];

	machine_field(m, "/proc/self/status", "Seccomp", mode, sizeof(mode));
	return *mode && *mode != '0';
}

/* What it denies, if anything, is said by the rows of the calls. */
void look_seccomp(const struct machine *m, struct finding *f)
{
	char nr[16];

	machine_field(m, "/proc/self/status", "Seccomp_filters", nr, sizeof(nr));
	if (!is_filtered(m))
		finding_found(f, "no filter");
	else
		finding_found(f, "filters: %s, denied: %s", *nr ? nr : "some",
			      m->bpf.filtered && m->perf.filtered ? "bpf(), perf_event_open()"
			      : m->bpf.filtered			  ? "bpf()"
			      : m->perf.filtered		  ? "perf_event_open()"
								  : "nothing that is needed");
}

/* Errors that filters usually give; the kernel itself gives none of them to who may. */
static bool is_denied(const struct machine_call *c)
{
	return c->killed || c->err == -EPERM || c->err == -EACCES || c->err == -ENOSYS;
}

static void judge_call(const struct machine *m, struct finding *f, const struct machine_call *c,
		       const char *call, int cap)
{
	if (c->killed)
		finding_found(f, "ends the process");
	else
		finding_found(f, "%s", c->err ? strerror(-c->err) : "allowed");
	if (c->filtered) {
		finding_judge(f, DOCTOR_MISSING,
			      "a seccomp filter denies %s, whatever rights this process has", call);
		finding_remedy(f, "allow it (containers: a seccomp profile with it, or "
				  "--security-opt seccomp=unconfined; systemd: SystemCallFilter=)");
	} else if (c->err == -ENOSYS) {
		finding_judge(f, DOCTOR_MISSING, "this kernel was built without %s", call);
		finding_remedy(f, "use a kernel with CONFIG_BPF_SYSCALL and CONFIG_PERF_EVENTS");
	} else if (is_denied(c) && machine_may_on_host(m, cap)) {
		finding_judge(f, DOCTOR_MISSING,
			      "a security module (SELinux, AppArmor ...) denies %s", call);
		finding_remedy(f, "look for its rule in the log (journalctl -k, ausearch -m avc)");
	}
}

/* Without the capability it is that which is missing. */
void look_bpf(const struct machine *m, struct finding *f)
{
	judge_call(m, f, &m->bpf, "bpf()", CAP_BPF);
	if (f->state == DOCTOR_OK && !machine_may_on_host(m, CAP_BPF))
		finding_found(f, "with CAP_BPF");
}

void look_perf(const struct machine *m, struct finding *f)
{
	judge_call(m, f, m->perf.filtered ? &m->perf : &m->sampler, "perf_event_open()",
		   CAP_PERFMON);
	if (f->state == DOCTOR_OK && is_denied(&m->sampler))
		finding_found(f, "of own threads; of others with CAP_PERFMON");
}

void look_paranoid(const struct machine *m, struct finding *f)
{
	long level;

	if (!finding_number(f, m, "/proc/sys/kernel/perf_event_paranoid", &level))
		return;
	finding_found(f, "%ld", level);
	if (level <= 2 || machine_may(m, CAP_SYS_ADMIN))
		return;
	finding_judge(f, DOCTOR_LIMITED,
		      "kernels of Debian and Ubuntu may refuse perf events at level %ld to all "
		      "but CAP_SYS_ADMIN",
		      level);
}

void look_kptr(const struct machine *m, struct finding *f)
{
	long level;

	if (!finding_number(f, m, "/proc/sys/kernel/kptr_restrict", &level))
		return;
	finding_found(f, "%ld", level);
	/* Names in stacks come from the kernel by a BPF program, whatever it is. */
	if (level >= 2 || (level == 1 && !machine_may(m, CAP_SYSLOG)))
		f->state = DOCTOR_LIMITED;
}

void look_unprivileged_bpf(const struct machine *m, struct finding *f)
{
	static const char *const texts[] = { "0, allowed", "1, denied until the next boot",
					     "2, denied" };
	long level;

	if (!finding_number(f, m, "/proc/sys/kernel/unprivileged_bpf_disabled", &level))
		return;
	if (level >= 0 && level < (long)NR(texts))
		finding_found(f, "%s (bpfprof does not need it)", texts[level]);
	else
		finding_found(f, "%ld", level);
}
