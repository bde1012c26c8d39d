/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base/outfile: whole or absent. Each test gets an empty directory; none may leave anything in it
 * that it did not ask for. The disk that runs full is a tmpfs where we may mount one, /dev/full
 * otherwise.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/outfile.h"

static char dir[64], *message;
static FILE *real_stderr;
static bool no_tmpfile;

/* Stands before libc's openat: file systems without O_TMPFILE are hard to come by in a test. */
int fake_openat(int at, const char *path, int flags, ...) __asm__("openat");
int fake_openat(int at, const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, at, path, flags, mode);
}

static void listen_to_stderr(void)
{
	static size_t sz;

	stderr = open_memstream(&message, &sz);
}

static int setup(void **state)
{
	strcpy(dir, "/tmp/test_outfile.XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	umask(022);
	no_tmpfile = false;
	unsetenv("SUDO_UID");
	real_stderr = stderr;
	listen_to_stderr();
	return 0;
}

static int teardown(void **state)
{
	char *command = xasprintf("rm -rf %s", dir);

	fclose(stderr);
	stderr = real_stderr;
	free(message);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(system(command), 0);
	free(command);
	return 0;
}

/* What was said since the last call. */
static void assert_said(const char *want)
{
	fclose(stderr);
	assert_string_equal(message, want);
	free(message);
	listen_to_stderr();
}

static size_t nr_files(void)
{
	DIR *d = opendir(".");
	struct dirent *e;
	size_t nr = 0;

	while ((e = readdir(d)))
		nr += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(d);
	return nr;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_holds(const char *path, const char *want)
{
	char text[64] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) == strlen(want));
	assert_string_equal(text, want);
	fclose(f);
}

static struct stat stat_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st;
}

static int write_out(const char *path, const char *text)
{
	struct outfile *o = outfile_open(path);

	assert_non_null(o);
	fputs(text, outfile_stream(o));
	return outfile_commit(o);
}

static void file_appears_whole_at_commit(void **state)
{
	struct outfile *o;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		no_tmpfile = pass;
		o = outfile_open("out.svg");
		assert_non_null(o);
		fputs("hello", outfile_stream(o));
		fflush(outfile_stream(o));
		assert_int_equal(access("out.svg", F_OK), -1);
		/* Without O_TMPFILE there is one file, which nobody else can read. */
		assert_int_equal(nr_files(), pass);
		assert_int_equal(outfile_commit(o), 0);
		assert_holds("out.svg", "hello");
		assert_int_equal(stat_of("out.svg").st_mode & 07777, 0600);
		assert_int_equal(nr_files(), 1);
		unlink("out.svg");
	}
	assert_said("");
}

static void only_the_owner_reads_it_unless_asked(void **state)
{
	struct outfile *o;

	umask(0);
	assert_int_equal(write_out("out", "x"), 0);
	assert_int_equal(stat_of("out").st_mode & 07777, 0600);
	umask(077);
	o = outfile_open("out");
	outfile_set_mode(o, 0644);
	assert_int_equal(outfile_commit(o), 0);
	assert_int_equal(stat_of("out").st_mode & 07777, 0644);
	umask(022);
}

static void replacing_keeps_the_mode(void **state)
{
	write_file("out", "old and longer");
	chmod("out", 0600);
	assert_int_equal(write_out("out", "new"), 0);
	assert_holds("out", "new");
	assert_int_equal(stat_of("out").st_mode & 07777, 0600);
	assert_int_equal(nr_files(), 1);
}

static void abort_leaves_no_trace(void **state)
{
	struct outfile *o;
	int pass;

	write_file("out", "old");
	for (pass = 0; pass < 2; pass++) {
		no_tmpfile = pass;
		o = outfile_open("out");
		assert_non_null(o);
		fputs("new", outfile_stream(o));
		outfile_abort(o);
		assert_holds("out", "old");
		assert_int_equal(nr_files(), 1);
	}
	outfile_abort(NULL);
}

static void long_names_and_absolute_paths_work(void **state)
{
	char name[256], *path;

	memset(name, 'n', 255);
	name[255] = '\0';
	path = xasprintf("%s/%s", dir, name);
	assert_int_equal(write_out(path, "x"), 0);
	assert_holds(name, "x");
	free(path);
}

static const struct {
	const char *path;
	int err;
	const char *said;
} refused[] = {
	{ "nowhere/out", ENOENT, "bpfprof: cannot write nowhere/out: No such file or directory\n" },
	{ "", ENOENT, "bpfprof: cannot write '': No such file or directory\n" },
	{ "sub", EISDIR, "bpfprof: cannot write sub: Is a directory\n" },
	{ "sub/", EISDIR, "bpfprof: cannot write sub/: Is a directory\n" },
	{ ".", EISDIR, "bpfprof: cannot write .: Is a directory\n" },
	{ "/", EISDIR, "bpfprof: cannot write /: Is a directory\n" },
	{ "file/out", ENOTDIR, "bpfprof: cannot write file/out: Not a directory\n" },
	{ "loop", ELOOP, "bpfprof: cannot write loop: Too many levels of symbolic links\n" },
	{ "/dev/fd/999", EBADF, "bpfprof: cannot write /dev/fd/999: Bad file descriptor\n" },
};

static void bad_targets_fail_before_the_work(void **state)
{
	size_t i;

	mkdir("sub", 0755);
	write_file("file", "");
	assert_int_equal(symlink("loop", "loop"), 0);
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		assert_null(outfile_open(refused[i].path));
		assert_int_equal(errno, refused[i].err);
		assert_said(refused[i].said);
	}
	assert_int_equal(nr_files(), 3);
}

static void forbidden_targets_fail_before_the_work(void **state)
{
	struct outfile *o;
	int status;
	pid_t child;

	mkdir("closed", 0555);
	write_file("old", "old");
	chmod("old", 0444);
	chmod(".", 0777);
	child = fork();
	if (!child) {
		if (!getuid() && (setgid(12345) || setuid(12345)))
			_exit(2);
		o = outfile_open("closed/out");
		_exit(o || errno != EACCES || outfile_open("old") || errno != EACCES);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void links_stay_links(void **state)
{
	mkdir("sub", 0755);
	write_file("sub/real", "old");
	assert_int_equal(symlink("sub/real", "link"), 0);
	assert_int_equal(symlink("sub/fresh", "dangling"), 0);
	assert_int_equal(symlink("link", "chain"), 0);
	assert_int_equal(write_out("link", "one"), 0);
	assert_holds("sub/real", "one");
	assert_int_equal(write_out("chain", "two"), 0);
	assert_holds("sub/real", "two");
	assert_int_equal(write_out("dangling", "three"), 0);
	assert_holds("sub/fresh", "three");
	assert_true(S_ISLNK(stat_of("link").st_mode));
	assert_int_equal(nr_files(), 4);
}

/* Root writes to /tmp/x, where somebody has put a link to a file of root's. */
static void planted_links_are_refused(void **state)
{
	if (getuid())
		skip();
	mkdir("tmp", 01777);
	chmod("tmp", 01777);
	write_file("precious", "old");
	assert_int_equal(symlink("../precious", "tmp/out"), 0);
	assert_int_equal(lchown("tmp/out", 12345, 12345), 0);
	assert_null(outfile_open("tmp/out"));
	assert_int_equal(errno, EACCES);
	assert_holds("precious", "old");
	/* In a directory that all may write to, and in one of the attacker's. */
	chmod("tmp", 0777);
	assert_null(outfile_open("tmp/out"));
	assert_int_equal(errno, EACCES);
	assert_int_equal(chown("tmp", 12345, 12345), 0);
	assert_null(outfile_open("tmp/out"));
	assert_int_equal(mkfifo("tmp/fifo", 0666), 0);
	assert_int_equal(chown("tmp/fifo", 12345, 12345), 0);
	assert_null(outfile_open("tmp/fifo"));
	/* Through sudo it is that user who asks for it, if only he can have put it there. */
	setenv("SUDO_UID", "12345", 1);
	assert_null(outfile_open("tmp/out"));
	chmod("tmp", 0755);
	assert_int_equal(write_out("tmp/out", "sudo"), 0);
	assert_holds("precious", "sudo");
	unsetenv("SUDO_UID");
	chmod("tmp", 0777);
	/* Root's own, where others may have moved it, is not; in a sticky directory they cannot. */
	assert_int_equal(lchown("tmp/out", 0, 0), 0);
	assert_null(outfile_open("tmp/out"));
	assert_int_equal(errno, EACCES);
	assert_int_equal(chown("tmp", 0, 0), 0);
	assert_null(outfile_open("tmp/out"));
	chmod("tmp", 01777);
	assert_int_equal(write_out("tmp/out", "new"), 0);
	assert_holds("precious", "new");
}

/* The folder of an output is a link, or behind one; the folder that it is in is mode and owner. */
static void links_on_the_way_are_as_those_at_the_end(void **state)
{
	static const struct {
		const char *path;
		uid_t owner, link;
		mode_t mode;
		bool works;
	} rows[] = {
		{ "f/link/x", 0, 0, 0755, true },
		{ "f/./link/../real/x", 0, 0, 0755, true },
		{ "f/link/x", 0, 0, 01777, true },
		{ "f/link/x", 0, 0, 0777, false },
		{ "f/link/x", 0, 0, 0775, false },
		{ "f/link/x", 0, 12345, 0755, false },
		{ "f/link/x", 0, 12345, 01777, false },
		{ "f/link/x", 12345, 0, 0755, false },
		{ "f/link/x", 12345, 12345, 0755, false },
		{ "f/own/link/x", 12345, 0, 0755, false },
		{ "f/own/link/x", 0, 0, 0755, true },
		{ "f/real/x", 12345, 0, 0777, true },
		{ "f/link/../x", 12345, 0, 0755, false },
		{ "f/own/../real/x", 12345, 0, 0755, true },
	};

	if (getuid())
		skip();
	mkdir("f", 0755);
	mkdir("f/real", 0755);
	mkdir("f/own", 0755);
	assert_int_equal(symlink("real", "f/link"), 0);
	assert_int_equal(symlink("../real/", "f/own/link"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct outfile *o;

		assert_int_equal(chown("f", rows[i].owner, 0), 0);
		assert_int_equal(lchown("f/link", rows[i].link, 0), 0);
		assert_int_equal(chmod("f", rows[i].mode), 0);
		o = outfile_open(rows[i].path);
		if (!o != !rows[i].works)
			fail_msg("row %zu, %s", i, rows[i].path);
		if (!o)
			assert_int_equal(errno, EACCES);
		else
			assert_int_equal(outfile_commit(o), 0);
		if (rows[i].works)
			assert_int_equal(unlink("f/real/x"), 0);
	}
}

/* Whatever the working folder is by then. */
static void in_a_folder_that_is_held(void **state)
{
	int fd = open(".", O_PATH | O_DIRECTORY);
	struct outfile *o;

	mkdir("sub", 0755);
	write_file("precious", "old");
	assert_int_equal(symlink("precious", "link"), 0);
	o = outfile_open_at(fd, "out");
	assert_non_null(o);
	assert_int_equal(chdir("sub"), 0);
	fputs("x", outfile_stream(o));
	assert_int_equal(outfile_commit(o), 0);
	assert_int_equal(chdir(".."), 0);
	assert_holds("out", "x");
	/* There a link is replaced. */
	o = outfile_open_at(fd, "link");
	assert_non_null(o);
	fputs("y", outfile_stream(o));
	assert_int_equal(outfile_commit(o), 0);
	assert_holds("link", "y");
	assert_holds("precious", "old");
	close(fd);
}

static void sudo_gives_the_file_to_its_user(void **state)
{
	if (getuid())
		skip();
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "54321", 1);
	mkdir("home", 0755);
	mkdir("etc", 0755);
	assert_int_equal(chown("home", 12345, 54321), 0);
	write_file("home/roots", "old");
	assert_int_equal(write_out("home/out", "x"), 0);
	assert_int_equal(write_out("home/roots", "x"), 0);
	assert_int_equal(write_out("etc/out", "x"), 0);
	assert_int_equal(stat_of("home/out").st_uid, 12345);
	assert_int_equal(stat_of("home/out").st_gid, 54321);
	assert_int_equal(stat_of("home/roots").st_uid, 0);
	assert_int_equal(stat_of("etc/out").st_uid, 0);
	setenv("SUDO_UID", "12345x", 1);
	assert_int_equal(write_out("home/other", "x"), 0);
	assert_int_equal(stat_of("home/other").st_uid, 0);
}

static void devices_and_fifos_are_written_directly(void **state)
{
	char text[8] = "";
	int fd;

	assert_int_equal(write_out("/dev/null", "x"), 0);
	assert_true(S_ISCHR(stat_of("/dev/null").st_mode));
	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_int_equal(write_out("fifo", "x"), 0);
	assert_int_equal(read(fd, text, sizeof(text)), 1);
	assert_string_equal(text, "x");
	assert_true(S_ISFIFO(stat_of("fifo").st_mode));
	close(fd);
}

static void a_dash_is_stdout(void **state)
{
	struct outfile *o = outfile_open("-");

	assert_non_null(o);
	assert_ptr_equal(outfile_stream(o), stdout);
	assert_int_equal(outfile_commit(o), 0);
	assert_int_equal(nr_files(), 0);
}

/* As the shell's >(…) hands them out. */
static void descriptors_are_written_directly(void **state)
{
	char path[32], text[8] = "";
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[1]);
	assert_int_equal(write_out(path, "x"), 0);
	assert_int_equal(read(fds[0], text, sizeof(text)), 1);
	close(fds[0]);
	close(fds[1]);
}

/* Writes nr lines of 64 bytes. */
static int write_lines(const char *path, size_t nr)
{
	struct outfile *o = outfile_open(path);

	assert_non_null(o);
	while (nr--)
		fprintf(outfile_stream(o), "%063d\n", 0);
	return outfile_commit(o);
}

static void a_full_device_is_reported(void **state)
{
	assert_int_equal(write_lines("/dev/full", 1), -ENOSPC);
	assert_said("bpfprof: cannot write /dev/full: No space left on device\n");
	/* So much that the failing write is not the last one. */
	assert_int_equal(write_lines("/dev/full", 10000), -ENOSPC);
}

static void a_full_disk_leaves_the_old_file(void **state)
{
	int pass;

	mkdir("disk", 0755);
	if (getuid() || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "disk", "tmpfs", 0, "size=1m"))
		skip();
	write_file("disk/out", "old");
	for (pass = 0; pass < 2; pass++) {
		no_tmpfile = pass;
		assert_int_equal(write_lines("disk/out", 100000), -ENOSPC);
		assert_holds("disk/out", "old");
		assert_int_equal(chdir("disk"), 0);
		assert_int_equal(nr_files(), 1);
		assert_int_equal(chdir(".."), 0);
	}
	assert_int_equal(write_lines("disk/out", 1000), 0);
	umount("disk");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(file_appears_whole_at_commit),
		TEST(only_the_owner_reads_it_unless_asked),
		TEST(replacing_keeps_the_mode),
		TEST(abort_leaves_no_trace),
		TEST(long_names_and_absolute_paths_work),
		TEST(bad_targets_fail_before_the_work),
		TEST(forbidden_targets_fail_before_the_work),
		TEST(links_stay_links),
		TEST(planted_links_are_refused),
		TEST(links_on_the_way_are_as_those_at_the_end),
		TEST(in_a_folder_that_is_held),
		TEST(sudo_gives_the_file_to_its_user),
		TEST(devices_and_fifos_are_written_directly),
		TEST(a_dash_is_stdout),
		TEST(descriptors_are_written_directly),
		TEST(a_full_device_is_reported),
		TEST(a_full_disk_leaves_the_old_file),
	};

	return cmocka_run_group_tests_name("outfile", tests, NULL, NULL);
}
