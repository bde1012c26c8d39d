/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * denies CALL HOW PROGRAM [ARGS...]: runs a program that a seccomp filter denies a system call, bpf
 * or perf_event_open, as containers do: HOW is eperm or enosys, which it then returns, or kill. Of
 * none there is a filter, which denies no call that there is.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int number_of(const char *call)
{
	return !strcmp(call, "bpf")		  ? SYS_bpf
	       : !strcmp(call, "perf_event_open") ? SYS_perf_event_open
	       : !strcmp(call, "none")		  ? 0xffff
						  : -1;
}

static unsigned int action_of(const char *how)
{
	return !strcmp(how, "kill")	? SECCOMP_RET_KILL_PROCESS
	       : !strcmp(how, "enosys") ? SECCOMP_RET_ERRNO | ENOSYS
					: SECCOMP_RET_ERRNO | EPERM;
}

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (argc < 4 || number_of(argv[1]) < 0) {
		fprintf(stderr,
			"usage: denies bpf|perf_event_open|none eperm|enosys|kill PROGRAM...\n");
		return 2;
	}
	code[1].k = number_of(argv[1]);
	code[2].k = action_of(argv[2]);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("denies");
		return 1;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 1;
}
