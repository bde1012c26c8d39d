/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of processes: shapes of control groups, environments, rules, and a made-up machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "who/container.h"
#include "who/environment.h"
#include "who/process_context.h"
#include "who/relabel.h"
#include "who/who.h"

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2	"fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID	"12345678-1234-5678-9abc-def012345678"
#define UID_	"12345678_1234_5678_9abc_def012345678"
#define UID_HEX "0123456789abcdef0123456789abcdef"

static void paths_of_each_runtime_are_known(void **state)
{
	static const struct {
		const char *text, *id, *name, *pod, *unit;
		bool service;
	} rows[] = {
		{ "0::/system.slice/docker-" ID ".scope\n", ID, "", "", "", false },
		{ "0::/system.slice/docker-" ID ".scope/init\n", ID, "", "", "", false },
		{ "0::/docker/" ID "\n", ID, "", "", "", false },
		{ "0::/docker/" ID "/system.slice/nginx.service", ID, "", "", "", false },
		{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
		  ".slice/cri-containerd-" ID ".scope\n",
		  ID, "", UID, "", false },
		{ "11:cpu:/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID
		  "\n1:name=x:/\n",
		  ID, "", UID, "", false },
		{ "0::/kubepods/burstable/pod" UID "/" ID "\n", ID, "", UID, "", false },
		{ "0::/kubepods/pod" UID_HEX "/" ID "\n", ID, "", UID_HEX, "", false },
		{ "0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope\n", ID, "", UID,
		  "", false },
		{ "0::/kubepods.slice/crio-conmon-" ID ".scope\n", "", "", "", "", false },
		{ "0::/machine.slice/libpod-" ID ".scope/container\n", ID, "", "", "", false },
		{ "0::/machine.slice/libpod-conmon-" ID ".scope\n", "", "", "", "", false },
		{ "0::/ecs/0123/" UID_HEX "-4012345678\n", UID_HEX "-4012345678", "", "", "",
		  false },
		{ "0::/lxc.payload.web1\n", "", "web1", "", "", false },
		{ "0::/lxc/web1\n", "", "web1", "", "", false },
		{ "0::/machine.slice/machine-deb\\x2d12.scope\n", "", "deb-12", "", "", false },
		{ "0::/machine.slice/systemd-nspawn@deb.service/payload\n", "", "deb", "", "",
		  false },
		{ "0::/../../pod" UID "/" ID "\n", ID, "", UID, "", false },
		{ "0::/docker/" ID "/kubelet/kubepods/pod" UID "/" ID2 "\n", ID2, "", UID, "",
		  false },
		{ "0::/default/" ID "\n", ID, "", "", "", false },
		{ "0::/system.slice/my\\x2ddb.service\n", "", "", "", "my-db.service", true },
		{ "0::/user.slice/user-0.slice/session-3.scope\n", "", "", "", "session-3.scope",
		  false },
		{ "0::/user.slice/user-0.slice/user@0.service/app.slice/x.service\n", "", "", "",
		  "x.service", false },
		{ "0::/init.scope\n", "", "", "", "init.scope", false },
		{ "0::/podruntime/kubelet\n", "", "", "", "kubelet", true },
		{ "12:pids:/\n5:cpu:/system.slice/a.service\n0::/\n", "", "", "", "a.service",
		  true },
		{ "0::/\n", "", "", "", "", false },
		{ "0::/docker/" ID "0\n", "", "", "", "", false },
		{ "", "", "", "", "", false },
		{ "no colons", "", "", "", "", false },
	};
	struct container_place c;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		container_parse(rows[i].text, strlen(rows[i].text), &c);
		if (strcmp(c.id, rows[i].id) || strcmp(c.name, rows[i].name) ||
		    strcmp(c.pod_uid, rows[i].pod) || strcmp(c.unit, rows[i].unit) ||
		    c.is_service != rows[i].service)
			fail_msg("%s: id '%s' name '%s' pod '%s' unit '%s'", rows[i].text, c.id,
				 c.name, c.pod_uid, c.unit);
	}
}

static void a_path_longer_than_a_page_is_read(void **state)
{
	char *text = xmalloc(20000);
	struct container_place c;

	(void)state;
	strcpy(text, "0::/");
	while (strlen(text) < 9000)
		strcat(text, "nested.slice/");
	strcat(text, "docker-" ID ".scope\n");
	container_parse(text, strlen(text), &c);
	assert_string_equal(c.id, ID);
	free(text);
}

struct seen {
	char *v[FACT_NR];
	size_t nr;
};

static void see(void *arg, enum fact fact, const char *value, size_t len)
{
	struct seen *s = arg;

	s->nr++;
	free(s->v[fact]);
	s->v[fact] = xstrndup(value, len);
}

static void forget(struct seen *s)
{
	for (size_t i = 0; i < FACT_NR; i++)
		free(s->v[i]);
	*s = (struct seen){};
}

static void of_an_environment_only_names_are_kept(void **state)
{
	static const char block[] = "PASSWORD=secret\0OTEL_SERVICE_NAME=pay\0XDD_SERVICE=no\0"
				    "OTEL_RESOURCE_ATTRIBUTES=service.name=a%20b , token=s%3Dx,"
				    "service.version=1.2\0DD_SERVICE=dd\0DD_SERVICE";
	struct seen s = {};

	(void)state;
	environment_parse(block, sizeof(block), see, &s);
	assert_string_equal(s.v[FACT_SERVICE_VARIABLE], "pay");
	assert_string_equal(s.v[FACT_SERVICE_ATTRIBUTE], "a b");
	assert_string_equal(s.v[FACT_VERSION_ATTRIBUTE], "1.2");
	assert_string_equal(s.v[FACT_SERVICE_DATADOG], "dd");
	assert_int_equal(s.nr, 4);
	forget(&s);
}

static void one_error_discards_all_attributes(void **state)
{
	static const char *const wrong[] = { "service.name=a,x=%4", "service.name=a,x=%zz",
					     "service.name=a,b", "=b,service.name=a",
					     "service.name=%00" };
	struct seen s = {};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		environment_attributes(wrong[i], strlen(wrong[i]), see, &s);
	assert_int_equal(s.nr, 0);
}

static void a_process_context_says_what_its_resource_is(void **state)
{
	/* resource { attributes { key: "service.name" value { string_value: "ctx" } } } */
	static const uint8_t bytes[] = "\x0a\x17\x0a\x15\x0a\x0cservice.name\x12\x05\x0a\x03"
				       "ctx";
	struct seen s = {};

	(void)state;
	process_context_parse(bytes, sizeof(bytes) - 1, see, &s);
	assert_string_equal(s.v[FACT_SERVICE_CONTEXT], "ctx");
	forget(&s);
	for (size_t cut = 0; cut < sizeof(bytes) - 1; cut++) {
		process_context_parse(bytes, cut, see, &s);
		forget(&s);
	}
	assert_int_equal(
		process_context_find("7f00-7f01 rw-p 0 0:0 0 /memfd:OTEL_CTX (deleted)", 48),
		0x7f00);
	assert_int_equal(process_context_find("7f00-7f01 rw-p 0 0:0 0 /lib/x\n", 30), 0);
}

static struct relabel *rules_of(const char *text)
{
	char *error = NULL;
	struct relabel *r = relabel_parse(text, strlen(text), &error);

	if (!r)
		fail_msg("%s", error);
	return r;
}

static void rules_apply_in_their_order(void **state)
{
	struct relabel *r =
		rules_of("# a comment\n"
			 "drop comm=~\"bash|ssh.*\" # not zsh\n"
			 "keep namespace=~prod.* pod!=\"\"\n"
			 "label team=\"pay \\\"x\\\" $comm$$\" if service_name!~\"x.*\"\n"
			 "label unit= if team=~\"pay.*\"\n");
	struct labels l = {};

	(void)state;
	labels_set(&l, "comm", "sshd");
	assert_int_equal(relabel_apply(r, &l), 2);
	labels_set(&l, "comm", "zsh");
	assert_int_equal(relabel_apply(r, &l), 3); /* no namespace */
	labels_set(&l, "namespace", "prod-1");
	labels_set(&l, "pod", "p");
	labels_set(&l, "unit", "u");
	assert_int_equal(relabel_apply(r, &l), 0);
	assert_string_equal(labels_get(&l, "team"), "pay \"x\" zsh$");
	assert_null(labels_get(&l, "unit"));
	assert_true(relabel_sets(r, "team"));
	assert_false(relabel_sets(r, "comm"));
	labels_release(&l);
	relabel_free(r);
}

static void mistakes_are_named_with_their_place(void **state)
{
	static const char *const rows[][2] = {
		{ "\n drp comm=x", "2:2: 'drp' is no action; did you mean 'drop'?" },
		{ "drop", "1:5: a label has to follow" },
		{ "keep servce_name=x", "1:6: there is no label 'servce_name'; did you mean" },
		{ "drop comm~x", "1:10: '=', '!=', '=~' or '!~' has to follow 'comm'" },
		{ "drop comm=~\"(\"", "1:12: '(' is no regular expression" },
		{ "drop comm=\"x", "1:11: this '\"' is not closed" },
		{ "label a=$unti", "1:9: there is no label 'unti'; did you mean 'unit'?" },
		{ "label a=\"$$x $b\"\nlabel b=c", "1:9: there is no label 'b'" },
		{ "label a", "1:8: 'label' needs NAME=VALUE" },
		{ "label a=b unless comm=x", "1:11: 'if' has to follow" },
	};
	char *error;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		error = NULL;
		assert_null(relabel_parse(rows[i][0], strlen(rows[i][0]), &error));
		if (strncmp(error, rows[i][1], strlen(rows[i][1])))
			fail_msg("%s: %s", rows[i][0], error);
		free(error);
	}
}

/* --- a machine that is made up --- */

static char root[64];

static void put(const char *path, const char *text, size_t len)
{
	char *full = xasprintf("%s/%s", root, path);
	FILE *out;

	for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		mkdir(full, 0755);
		*s = '/';
	}
	out = fopen(full, "w");
	assert_non_null(out);
	fwrite(text, 1, len, out);
	fclose(out);
	free(full);
}
#define PUT(path, text) put(path, text, strlen(text))

static int stack = 7000; /* where that of a program is */

static void make_process(int pid, int start, const char *group, const char *environment, size_t len)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	snprintf(text, sizeof(text),
		 "%d (a ) b) S 1 1 1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 %d 1 1 1 %d 1 %d\n", pid,
		 start, stack ? 4096 : 0, stack);
	PUT(path, text);
	snprintf(path, sizeof(path), "proc/%d/cgroup", pid);
	PUT(path, group);
	snprintf(path, sizeof(path), "proc/%d/environ", pid);
	put(path, environment, len);
}

static int make_machine(void **state)
{
	strcpy(root, "/tmp/bpfprof-who.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_machine(void **state)
{
	char *command = xasprintf("rm -rf '%s'", root);
	int err = system(command);

	free(command);
	return err;
}

static const char *label(struct who *w, uint32_t pid, const char *name)
{
	const struct labels *l = who_labels(w, pid);
	const char *value = l ? labels_get(l, name) : NULL;

	return value ? value : "";
}

static void a_pod_is_known_by_the_files_of_its_runtime(void **state)
{
	struct who *w;

	(void)state;
	make_process(10, 5, "0::/kubepods/pod" UID "/" ID "\n", "A=b\0HOSTNAME=liar", 17);
	make_process(11, 5, "0::/system.slice/db.service\n", "DD_SERVICE=base", 16);
	PUT("run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
	    "{\"annotations\": {\"io.kubernetes.cri.container-name\": \"web\","
	    " \"io.kubernetes.cri.sandbox-name\": \"web-7\","
	    " \"io.kubernetes.cri.image-name\": \"nginx:1\"}}");
	mkdir(root, 0755);
	PUT("var/log/pods/prod_web-7_" UID "/x", "");
	w = who_new(&(struct who_options){ .root = root });
	assert_non_null(w);
	assert_string_equal(label(w, 10, "service_name"), "web");
	assert_string_equal(label(w, 10, "service_from"), "container");
	assert_string_equal(label(w, 10, "pod"), "web-7");
	assert_string_equal(label(w, 10, "namespace"), "prod");
	assert_string_equal(label(w, 10, "image"), "nginx:1");
	assert_string_equal(label(w, 10, "comm"), "a ) b");
	assert_string_equal(label(w, 11, "service_name"), "base");
	assert_string_equal(label(w, 11, "unit"), "db.service");
	assert_string_equal(label(w, 12, "service_name"), "unknown_service"); /* there is none */
	who_free(w);
}

static void another_program_or_process_is_looked_at_again(void **state)
{
	struct who *w;

	(void)state;
	make_process(10, 5, "0::/system.slice/a.service\n", "", 0);
	w = who_new(&(struct who_options){ .root = root });
	assert_string_equal(label(w, 10, "service_name"), "a");
	make_process(10, 5, "0::/system.slice/b.service\n", "", 0);
	assert_string_equal(label(w, 10, "service_name"), "a");
	who_sent(w);
	assert_string_equal(label(w, 10, "service_name"), "a"); /* it is what it was */
	stack++;						/* as execve() does */
	make_process(10, 5, "0::/system.slice/b.service\n", "", 0);
	who_sent(w);
	assert_string_equal(label(w, 10, "service_name"), "b");
	stack = 0; /* it has ended, and its parent has not asked for it: it has no memory now */
	make_process(10, 5, "0::/system.slice/z.service\n", "", 0);
	who_sent(w);
	assert_string_equal(label(w, 10, "service_name"), "b");
	stack = 7000;
	make_process(10, 6, "0::/system.slice/c.service\n", "", 0); /* the number again */
	who_sent(w);
	assert_string_equal(label(w, 10, "service_name"), "c");
	remove_machine(NULL);
	who_sent(w);
	assert_string_equal(label(w, 10, "service_name"), "c"); /* until its window is sent, */
	who_sent(w);
	assert_string_equal(label(w, 10, "service_name"), "c"); /* and the one after */
	who_sent(w);
	mkdir(root, 0755);
	assert_string_equal(label(w, 10, "service_name"), "unknown_service");
	who_free(w);
}

/* A target could point them at anything; a test of ours must not. */
static void no_link_leads_out(void **state)
{
	char *secret = xasprintf("%s.secret", root), *link;
	struct who *w;
	FILE *out = fopen(secret, "w");

	(void)state;
	fputs("OTEL_SERVICE_NAME=outside", out);
	fclose(out);
	make_process(10, 5, "0::/\n", "", 0);
	link = xasprintf("%s/proc/10/environ", root);
	unlink(link);
	assert_int_equal(symlink(secret, link), 0);
	w = who_new(&(struct who_options){ .root = root });
	assert_string_equal(label(w, 10, "service_name"), "unknown_service:a ) b");
	who_free(w);
	unlink(secret);
	free(secret);
	free(link);
}

static void beyond_the_cap_series_are_other(void **state)
{
	char group[64];
	struct who *w;

	(void)state;
	for (int i = 0; i < 5; i++) {
		snprintf(group, sizeof(group), "0::/system.slice/s%d.service\n", i);
		make_process(20 + i, 5, group, "", 0);
	}
	w = who_new(&(struct who_options){ .root = root, .max_series = 3 });
	for (uint32_t i = 0; i < 5; i++)
		who_series(w, 20 + i);
	assert_string_equal(labels_get(who_series(w, 22), "service_name"), "s2");
	assert_string_equal(labels_get(who_series(w, 24), "service_name"), "other");
	assert_int_equal(who_counts(w).series, 3);
	assert_int_equal(who_counts(w).others, 2);
	who_free(w);
}

static void wrong_rules_leave_those_of_before(void **state)
{
	struct who *w;
	char *rules;

	(void)state;
	make_process(10, 5, "0::/system.slice/a.service\n", "", 0);
	PUT("rules", "label team=x\n");
	rules = xasprintf("%s/rules", root);
	w = who_new(&(struct who_options){ .root = root, .rules = rules });
	assert_string_equal(label(w, 10, "team"), "x");
	PUT("rules", "labl team=y\n");
	assert_true(who_reload(w) < 0);
	assert_string_equal(label(w, 10, "team"), "x");
	PUT("rules", "drop unit=a.service\n");
	assert_int_equal(who_reload(w), 0);
	assert_null(who_labels(w, 10));
	who_free(w);
	free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_each_runtime_are_known),
		cmocka_unit_test(a_path_longer_than_a_page_is_read),
		cmocka_unit_test(of_an_environment_only_names_are_kept),
		cmocka_unit_test(one_error_discards_all_attributes),
		cmocka_unit_test(a_process_context_says_what_its_resource_is),
		cmocka_unit_test(rules_apply_in_their_order),
		cmocka_unit_test(mistakes_are_named_with_their_place),
		cmocka_unit_test_setup_teardown(a_pod_is_known_by_the_files_of_its_runtime,
						make_machine, remove_machine),
		cmocka_unit_test_setup_teardown(another_program_or_process_is_looked_at_again,
						make_machine, remove_machine),
		cmocka_unit_test_setup_teardown(no_link_leads_out, make_machine, remove_machine),
		cmocka_unit_test_setup_teardown(beyond_the_cap_series_are_other, make_machine,
						remove_machine),
		cmocka_unit_test_setup_teardown(wrong_rules_leave_those_of_before, make_machine,
						remove_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
