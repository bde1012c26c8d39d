/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Views of waits: what is shown of them, and that nothing is lost on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json.h>

#include "output/output.h"
#include "profile/budget.h"
#include "profile/top.h"
#include "profile/waits.h"
#include "tests/unit/made.h"

#define READ	0
#define FUTEX	202
#define EPOLL	232
#define BLOCKED PROF_WAIT(PROF_BLOCKED, TASK_S, FUTEX)
#define SWITCH	"bpf_prog_1_x;bpf_trace_run4;__traceiter_sched_switch;__schedule;schedule;"

static char *written(int (*write)(const struct profile *, const struct view *, FILE *),
		     const struct profile *p, struct view v)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	write(p, &v, f);
	fclose(f);
	return text;
}

static void check_folded(const struct profile *p, struct view v, const char *expected)
{
	char *text = written(folded_write, p, v);

	assert_string_equal(text, expected);
	free(text);
}

/* 10 ms of a lock, 5 of a file, 3 of an event loop, 2 of a CPU, 1 not sampled; 4 ms lost. */
static struct profile *offcpu(void)
{
	struct profile *p = made_profile("offcpu");

	made_wait(p, 101, "app", BLOCKED, 10000000, "pthread_mutex_lock;main",
		  SWITCH "futex_wait;do_futex")
		->count = 5;
	made_wait(p, 102, "app", PROF_WAIT(PROF_BLOCKED, TASK_D, READ) | PROF_WAIT_OPEN, 5000000,
		  "read;main", SWITCH "io_schedule;filemap_read");
	made_wait(p, 101, "app", PROF_WAIT(PROF_BLOCKED, TASK_S, EPOLL) | PROF_WAIT_BEFORE, 3000000,
		  "epoll_wait;aeApiPoll;main", SWITCH "ep_poll");
	made_wait(p, 101, "app", PROF_WAIT(PROF_PREEMPTED, 0, -1), 2000000, "work;main", "");
	made_wait(p, 101, "app", BLOCKED | PROF_WAIT_NOT_SAMPLED, 1000000, "", "");
	p->counters[PROF_SEEN] = 12;
	p->counters[PROF_RECORDED] = 9;
	p->counters[PROF_FILTER_SHORT] = 2;
	p->counters[PROF_FILTER_NS] = 1500;
	p->counters[PROF_LOST_COUNTS] = 1;
	p->counters[PROF_LOST_NS] = 4000000;
	return p;
}

static void stacks_begin_at_the_scheduler(void **state)
{
	struct profile *p = offcpu();

	check_folded(p, (struct view){},
		     "app;main;pthread_mutex_lock;do_futex;futex_wait;schedule;__schedule 10000\n"
		     "app;main;read;filemap_read;io_schedule;schedule;__schedule 5000\n"
		     "[lost] 4000\n"
		     "app;[idle] 3000\n"
		     "app;main;work 2000\n"
		     "app;[not sampled];[lock] 1000\n");
	profile_free(p);
}

static void classes_are_the_first_frame(void **state)
{
	struct profile *p = offcpu();

	check_folded(p, (struct view){ .by_class = true, .user_only = true },
		     "app;[lock];main;pthread_mutex_lock 10000\n"
		     "app;[io];main;read 5000\n"
		     "[lost] 4000\n"
		     "app;[idle] 3000\n"
		     "app;[runnable];[preempted];main;work 2000\n"
		     "app;[lock];[not sampled] 1000\n");
	check_folded(
		p,
		(struct view){ .classes = 1u << WAIT_LOCK | 1u << WAIT_POLL, .kernel_only = true },
		"app;do_futex;futex_wait;schedule;__schedule 10000\n"
		"[lost] 4000\n"
		"app;[idle] 3000\n"
		"app;[not sampled];[lock] 1000\n");
	profile_free(p);
}

static void idleness_is_folded_hidden_or_shown(void **state)
{
	struct profile *p = offcpu();
	struct view v = { .classes = 1u << WAIT_POLL, .user_only = true };

	check_folded(p, v, "[lost] 4000\napp;[idle] 3000\n");
	v.idle = IDLE_HIDE;
	check_folded(p, v, "[lost] 4000\n");
	v.idle = IDLE_SHOW;
	check_folded(p, v, "[lost] 4000\napp;main;aeApiPoll;epoll_wait 3000\n");
	profile_free(p);
}

/* Rounded where it is printed, each line by itself; what is less than half a one is no line. */
static void nanoseconds_add_up_before_they_are_rounded(void **state)
{
	struct profile *p = made_profile("offcpu");

	for (int i = 0; i < 4; i++)
		made_wait(p, 1, "many", BLOCKED, 400, "f;main", "");
	made_wait(p, 1, "half", BLOCKED, 500, "f;main", "");
	made_wait(p, 1, "less", BLOCKED, 499, "f;main", "");
	check_folded(p, (struct view){}, "many;main;f 2\nhalf;main;f 1\n");
	profile_free(p);
}

static void the_sums_add_up(void **state)
{
	struct profile *p = offcpu();
	struct view v = { .classes = 1u << WAIT_LOCK | 1u << WAIT_POLL };
	struct waits w;
	uint64_t sum = 0;

	waits_init(&w, p, &v);
	for (size_t i = 0; i < WAITS_NR; i++)
		sum += w.by_class[i].ns;
	assert_int_equal(sum + w.idle.ns, w.all.ns);
	assert_int_equal(w.all.ns, 21000000);
	assert_int_equal(w.all.nr, 9);
	assert_int_equal(w.by_class[WAIT_LOCK].ns, 11000000);
	assert_int_equal(w.by_class[WAIT_LOCK].nr, 6);
	assert_int_equal(w.idle.ns, 3000000);
	assert_int_equal(w.left_out.ns, 7000000);
	assert_int_equal(w.open.ns, 5000000);
	assert_int_equal(w.before.ns, 3000000);
	assert_int_equal(w.not_sampled.ns, 1000000);
	assert_int_equal(w.nr_threads, 2);
	waits_release(&w);
	profile_free(p);
}

/* The scheduler is innermost everywhere; the program's function is what waited. */
static void self_is_the_function_that_waited(void **state)
{
	struct profile *p = made_profile("offcpu");
	struct top_row *rows;
	struct tree *t;
	size_t nr;

	made_wait(p, 1, "app", BLOCKED, 3000, "recv;main", SWITCH "tcp_recvmsg");
	made_wait(p, 2, "kthread", PROF_WAIT(PROF_BLOCKED, TASK_D, -1), 2000, "",
		  SWITCH "io_schedule;wb_workfn;process_one_work;kthread");
	t = tree_new(p, &(struct view){});
	rows = top_rows(t, &nr);
	assert_string_equal(t->names.bytes + rows[0].name, "recv");
	assert_int_equal(rows[0].self, 3000);
	assert_string_equal(t->names.bytes + rows[1].name, "wb_workfn");
	assert_int_equal(rows[1].self, 2000);
	assert_int_equal(rows[2].self, 0);
	free(rows);
	tree_free(t);
	profile_free(p);
}

static void the_summary_tells_times(void **state)
{
	struct profile *p = offcpu();
	struct view v = { .classes = (1u << WAIT_NR_CLASSES) - 1 - (1u << WAIT_IO),
			  .user_only = true };
	char *text;

	p->counters[PROF_WALKED] = 3;
	p->counters[PROF_VERIFIED] = 4;
	p->counters[PROF_NOT_SAMPLED] = 1;
	text = written(summary_write, p, v);
	assert_string_equal(text,
			    "offcpu: 10 s of process 100 (app); 21 ms of waiting by 2 threads\n"
			    "\n"
			    "  CLASS       TIME  SHARE  WAITS\n"
			    "  lock       11 ms  52.4%      6\n"
			    "  io          5 ms  23.8%      1  left out by --class\n"
			    "  preempted   2 ms   9.5%      1\n"
			    "  idle        3 ms  14.3%      1  folded, --idle=show shows it\n"
			    "  2 ms of it in 1 wait for a CPU: woken and preempted\n"
			    "  5 ms of it in 1 wait left out by --class\n"
			    "  5 ms of it in 1 wait that had not ended when the recording did\n"
			    "  3 ms of it in 1 wait that had begun before it\n"
			    "  1 ms of it in 1 wait whose stacks were not taken\n"
			    "\n"
			    "        SELF         TOTAL  FUNCTION\n"
			    "10 ms  50.0%  10 ms  50.0%  pthread_mutex_lock\n"
			    " 2 ms  10.0%   2 ms  10.0%  work\n"
			    "    -         12 ms  60.0%  main\n"
			    "\n"
			    "waits     12 seen = 9 recorded + 2 filtered (1.5 us) + 1 lost (4 ms)\n"
			    "              2 filtered: shorter than -m, or than --slower\n"
			    "              1 LOST: count table full: raise --max-stacks\n"
			    "stacks    100.0% of the time in complete stacks\n"
			    "              3 walked, 4 found unchanged, 1 not taken\n"
			    "names     100.0% of the time in user code that has names\n"
			    "cost      0 ns per wait in BPF, 0.000% of the profiled CPUs\n"
			    "          bpfprof itself 0 ns of CPU, 0 B of memory, 0 B of maps\n");
	free(text);
	profile_free(p);
}

static uint64_t number(struct json_object *o, const char *first, const char *second,
		       const char *third)
{
	const char *keys[] = { first, second, third };

	for (size_t i = 0; i < 3 && keys[i]; i++)
		assert_true(json_object_object_get_ex(o, keys[i], &o));
	return json_object_get_uint64(o);
}

static void json_tells_times(void **state)
{
	struct profile *p = offcpu();
	char *text = written(json_write, p, (struct view){});
	struct json_object *o = json_tokener_parse(text), *unit, *f;

	assert_non_null(o);
	assert_true(json_object_object_get_ex(o, "unit", &unit));
	assert_string_equal(json_object_get_string(unit), "us");
	assert_int_equal(number(o, "waits", "all", "us"), 21000);
	assert_int_equal(number(json_object_object_get(o, "waits"), "classes", "lock", "us"),
			 11000);
	assert_int_equal(number(json_object_object_get(o, "waits"), "classes", "preempted", "us"),
			 2000);
	assert_int_equal(number(o, "waits", "runnable", "us"), 2000);
	assert_int_equal(number(o, "waits", "idle", "waits"), 1);
	assert_int_equal(number(o, "samples", "lost_us", NULL), 4000);
	f = json_object_array_get_idx(json_object_object_get(o, "functions"), 0);
	assert_int_equal(number(f, "self", NULL, NULL), 10000);
	json_object_put(o);
	free(text);
	profile_free(p);
}

/* 100 ms of two threads; 1 ms of the second one nobody can explain. */
static struct profile *wall(void)
{
	struct profile *p = made_profile("wall");
	uint32_t app = profile_string(p, "app");

	made_wait(p, 101, "app", BLOCKED, 40000000, "recv;main", SWITCH "tcp_recvmsg");
	made_wait(p, 101, "app", PROF_WAIT(PROF_WOKEN, 0, -1), 10000000, "recv;main", "");
	made_wait(p, 101, "app", PROF_WAIT(PROF_RUNNING, 0, -1), 50000000, "", "");
	made_wait(p, 101, "app", PROF_WAIT(PROF_ON_CPU, 0, -1), 10101010, "f;main", "");
	made_wait(p, 101, "app", PROF_WAIT(PROF_ON_CPU, 0, -1), 20202020, "g;main", "do_sys");
	made_wait(p, 102, "side", PROF_WAIT(PROF_RUNNING, 0, -1), 99000000, "", "");
	profile_add_thread(p, &(struct thread_time){ 100, 101, app, app, 100000000 });
	profile_add_thread(
		p, &(struct thread_time){ 100, 102, app, profile_string(p, "side"), 100000000 });
	return p;
}

static void wall_time_is_split(void **state)
{
	struct profile *p = wall();

	check_folded(p, (struct view){ .split = true },
		     "side;[on-cpu];[not sampled] 99000\n"
		     "app;[net];main;recv;tcp_recvmsg;schedule;__schedule 40000\n"
		     "app;[on-cpu];main;g;do_sys 33333\n"
		     "app;[on-cpu];main;f 16667\n"
		     "app;[runnable];[woken];main;recv 10000\n");
	profile_free(p);
}

/* A profiler's own frames are what a sample of running code may have met. */
static void running_code_keeps_its_frames(void **state)
{
	struct profile *p = made_profile("wall");

	made_wait(p, 1, "a", PROF_WAIT(PROF_ON_CPU, 0, -1), 5000, "main", SWITCH "do_exit");
	check_folded(p, (struct view){},
		     "a;main;do_exit;schedule;__schedule;__traceiter_sched_switch;bpf_trace_run4;"
		     "bpf_prog_1_x 5\n");
	profile_free(p);
}

static void the_ledger_closes(void **state)
{
	struct profile *p = wall();
	struct budget b;
	char *text;

	budget_init(&b, p);
	assert_int_equal(b.nr_processes, 1);
	assert_int_equal(budget_residual(&b.threads[0]) + budget_residual(&b.threads[1]), 1000000);
	assert_int_equal(budget_known(&b.all) + budget_residual(&b.all), 200000000);
	budget_release(&b);
	text = written(budget_write, p, (struct view){});
	assert_string_equal(
		text, "seconds; runnable = woken + preempted; residual: wall time that nothing "
		      "accounts\nfor, in us and percent\n"
		      "\n"
		      "PROCESS, THREAD   ID   WALL  ON-CPU  RUNNABLE  (woken  preempted)    net  "
		      "RESIDUAL us       %\n"
		      "app              100  0.200   0.149     0.010   0.010       0.000  0.040  "
		      "       1000  0.500%\n"
		      "  app            101  0.100   0.050     0.010   0.010       0.000  0.040  "
		      "          0  0.000%\n"
		      "  side           102  0.100   0.099     0.000   0.000       0.000  0.000  "
		      "       1000  1.000%\n"
		      "all                   0.200   0.149     0.010   0.010       0.000  0.040  "
		      "       1000  0.500%\n");
	free(text);
	text = written(budget_json_write, p, (struct view){});
	assert_non_null(strstr(text, "\"residual_ns\": 1000000"));
	free(text);
	profile_free(p);
}

/* Four ways to lack a CPU or an event, and none of them is another. */
static void throttling_is_neither_runnable_nor_blocked(void **state)
{
	struct profile *p = wall();
	struct json_object *o;
	struct budget b;
	char *text;

	made_wait(p, 102, "side", PROF_WAIT(PROF_THROTTLED, 0, -1), 700000, "f;main", "");
	made_wait(p, 102, "side", PROF_WAIT(PROF_PREEMPTED, 0, -1), 200000, "f;main", "");
	budget_init(&b, p);
	assert_int_equal(budget_residual(&b.all), 100000);
	assert_int_equal(budget_runnable(&b.all), 10200000);
	budget_release(&b);
	text = written(budget_json_write, p, (struct view){});
	o = json_tokener_parse(text);
	assert_int_equal(number(o, "all", "runnable_ns", NULL), 10200000);
	assert_int_equal(number(o, "all", "woken_ns", NULL), 10000000);
	assert_int_equal(number(o, "all", "preempted_ns", NULL), 200000);
	assert_int_equal(number(o, "all", "throttled_ns", NULL), 700000);
	assert_int_equal(number(o, "all", "blocked_ns", "net"), 40000000);
	assert_null(strstr(text, "\"throttled\""));
	json_object_put(o);
	free(text);
	text = written(budget_write, p, (struct view){});
	assert_non_null(strstr(text, "(woken  preempted)  throttled    net "));
	assert_non_null(strstr(text, " 0.010   0.010       0.000      0.001  0.040 "));
	free(text);
	check_folded(p, (struct view){ .by_class = true, .classes = 1u << WAIT_THROTTLED },
		     "side;[throttled];main;f 700\n");
	profile_free(p);
}

/* A saved file may say anything: this one, that all but the smallest number there is is known. */
static void the_smallest_residual_is_written(void **state)
{
	struct profile *p = wall();
	struct budget b;
	char *text;

	made_wait(p, 102, "side", PROF_WAIT(PROF_PREEMPTED, 0, -1), (1ull << 63) + 1000000, "main",
		  "");
	budget_init(&b, p);
	assert_int_equal(budget_residual(&b.all), INT64_MIN);
	budget_release(&b);
	text = written(budget_write, p, (struct view){});
	assert_non_null(strstr(text, " -9223372036854776 "));
	free(text);
	profile_free(p);
}

static void a_process_of_one_thread_is_one_line(void **state)
{
	struct profile *p = made_profile("wall");
	uint32_t name = profile_string(p, "postgres");
	char *text;

	profile_add_thread(p, &(struct thread_time){ 7, 7, name, name, 1000000000 });
	profile_add_thread(
		p, &(struct thread_time){ 8, 8, name, profile_string(p, "renamed"), 1000000000 });
	text = written(budget_write, p, (struct view){});
	assert_null(strstr(text, "\n  postgres"));
	assert_non_null(strstr(text, "\npostgres"));
	assert_non_null(strstr(text, "\n  renamed"));
	free(text);
	profile_free(p);
}

/* Two of one module would else be the same name. */
static void functions_without_names_keep_their_address(void **state)
{
	struct profile *p = made_profile("offcpu");
	char *text;

	made_wait(p, 1, "app", BLOCKED, 3000,
		  "[libjemalloc.so.2-of-a-name-that-is-too-long-for-its-column+0x39940];[a+0x1];[b",
		  "");
	text = written(summary_write, p, (struct view){});
	assert_non_null(
		strstr(text, "%  [libjemalloc.so.2-of-a-name-that-is-too-long…+0x39940]\n"));
	assert_non_null(strstr(text, "%  [a+0x1]\n"));
	assert_non_null(strstr(text, "%  [b\n"));
	free(text);
	profile_free(p);
}

/* A sleeper, whom a thread woke that an interrupt had woken. */
static struct profile *wakeup(void)
{
	struct profile *p = made_profile("wakeup");
	struct waker irq = { .thread = profile_string(p, "victim"), .tid = 7 }, w = { .tid = 8 };
	struct sample *s;

	irq.ustack = made_stack(p, FRAME_USER, "innocent;main");
	irq.kstack =
		made_stack(p, FRAME_KERNEL,
			   "bpf_prog_1_w;__traceiter_sched_waking;try_to_wake_up;hrtimer_wakeup;"
			   "sysvec_apic_timer_interrupt;asm_sysvec_apic_timer_interrupt;"
			   "vfs_read;do_syscall_64");
	w.thread = profile_string(p, "wak er");
	w.ustack = made_stack(p, FRAME_USER, "unlock;main");
	w.kstack = made_stack(p, FRAME_KERNEL, "try_to_wake_up;futex_wake");
	w.next = profile_add_waker(p, &irq);
	s = made_wait(p, 1, "sleeper", BLOCKED, 5000, "lock;main", SWITCH "futex_wait");
	s->waker = profile_add_waker(p, &w);
	made_wait(p, 2, "other", BLOCKED, 3000, "lock;main", "");
	made_wait(p, 3, "open", BLOCKED | PROF_WAIT_OPEN, 2000, "poll;main", "");
	return p;
}

static void wakers_follow_the_sleeper(void **state)
{
	struct profile *p = wakeup();

	check_folded(p, (struct view){},
		     "sleeper;main;lock;futex_wait;schedule;__schedule;--;"
		     "try_to_wake_up;futex_wake;unlock;main;wak_er;--;"
		     "try_to_wake_up;hrtimer_wakeup;sysvec_apic_timer_interrupt;"
		     "asm_sysvec_apic_timer_interrupt;[irq] 5\n"
		     "other;main;lock;--;[unknown] 3\n"
		     "open;main;poll;--;[not ended] 2\n");
	check_folded(p, (struct view){ .annotations = true, .delimiter = true, .per_thread = true },
		     "sleeper/1;main;lock;-;futex_wait_[k];schedule_[k];__schedule_[k];--;"
		     "try_to_wake_up_[w];futex_wake_[w];-;unlock_[w];main_[w];wak_er/8;--;"
		     "try_to_wake_up_[w];hrtimer_wakeup_[w];sysvec_apic_timer_interrupt_[w];"
		     "asm_sysvec_apic_timer_interrupt_[w];[irq] 5\n"
		     "other/2;main;lock;--;[unknown] 3\n"
		     "open/3;main;poll;--;[not ended] 2\n");
	check_folded(p, (struct view){ .user_only = true },
		     "sleeper;main;lock;--;unlock;main;wak_er;--;[irq] 5\n"
		     "other;main;lock;--;[unknown] 3\n"
		     "open;main;poll;--;[not ended] 2\n");
	profile_free(p);
}

/* Whoever sends over the loopback device wakes the receiver in a softirq of his own. */
static void a_softirq_is_the_senders(void **state)
{
	struct profile *p = made_profile("wakeup");
	struct waker w = { .thread = profile_string(p, "sender") };
	uint32_t id;

	w.kstack =
		made_stack(p, FRAME_KERNEL,
			   "try_to_wake_up;tcp_rcv_established;handle_softirqs;do_softirq.part.0;"
			   "__local_bh_enable_ip;tcp_sendmsg");
	id = profile_add_waker(p, &w);
	made_wait(p, 1, "a", BLOCKED, 2000, "recv", "")->waker = id;
	w.kstack = made_stack(p, FRAME_KERNEL,
			      "try_to_wake_up;tcp_rcv_established;handle_softirqs;run_ksoftirqd;"
			      "smpboot_thread_fn");
	id = profile_add_waker(p, &w);
	made_wait(p, 2, "b", BLOCKED, 1000, "recv", "")->waker = id;
	check_folded(p, (struct view){},
		     "a;recv;--;try_to_wake_up;tcp_rcv_established;handle_softirqs;"
		     "do_softirq.part.0;__local_bh_enable_ip;tcp_sendmsg;sender 2\n"
		     "b;recv;--;try_to_wake_up;tcp_rcv_established;handle_softirqs;[irq] 1\n");
	profile_free(p);
}

static void who_was_preempted_has_no_waker(void **state)
{
	struct profile *p = made_profile("wakeup");

	made_wait(p, 1, "a", PROF_WAIT(PROF_PREEMPTED, 0, -1), 1000, "work;main", "");
	made_wait(p, 1, "a", PROF_WAIT(PROF_THROTTLED, 0, -1), 2000, "work;main", "");
	check_folded(p, (struct view){}, "a;main;work 3\n");
	profile_free(p);
}

/* A waker's functions are not the sleeper's. */
static void wakers_are_no_functions_of_the_sleeper(void **state)
{
	struct profile *p = wakeup();
	struct tree *t = tree_new(p, &(struct view){});
	struct top_row *rows;
	size_t nr;

	rows = top_rows(t, &nr);
	for (size_t i = 0; i < nr; i++)
		assert_string_not_equal(t->names.bytes + rows[i].name, "unlock");
	assert_string_equal(t->names.bytes + rows[0].name, "lock");
	assert_int_equal(rows[0].self, 8000);
	free(rows);
	tree_free(t);
	profile_free(p);
}

static void flame_graphs_tell_times(void **state)
{
	struct profile *p = offcpu();
	char *svg = written(svg_write, p, (struct view){});

	assert_non_null(strstr(svg, "<title>futex_wait: 10 ms, 40%</title>"));
	assert_non_null(strstr(svg, ">10 s · 21 ms in all, 4 ms lost</text>"));
	assert_non_null(strstr(svg, "\"unit\":\"ns\""));
	assert_null(strstr(svg, "0 samples"));
	free(svg);
	profile_free(p);
}

static void deep_chains_of_wakers_are_fine(void **state)
{
	struct profile *p = made_profile("wakeup");
	struct waker w = { .thread = profile_string(p, "w") };
	int hops = 0;
	char *text;

	w.ustack = made_stack(p, FRAME_USER, "a;b;c;d;e;f;g;h;i;j;k;l;m;n;o;p;q;r;s;t;u;v;w;x;y;z");
	for (int i = 0; i < 500; i++)
		w.next = profile_add_waker(p, &w);
	made_wait(p, 1, "a", BLOCKED, 2000, "recv", "")->waker = w.next;
	text = written(folded_write, p, (struct view){});
	for (char *at = text; (at = strstr(at, ";--;")); at++)
		hops++;
	assert_int_equal(hops, 16);
	free(text);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_begin_at_the_scheduler),
		cmocka_unit_test(classes_are_the_first_frame),
		cmocka_unit_test(idleness_is_folded_hidden_or_shown),
		cmocka_unit_test(nanoseconds_add_up_before_they_are_rounded),
		cmocka_unit_test(the_sums_add_up),
		cmocka_unit_test(self_is_the_function_that_waited),
		cmocka_unit_test(the_summary_tells_times),
		cmocka_unit_test(json_tells_times),
		cmocka_unit_test(wall_time_is_split),
		cmocka_unit_test(running_code_keeps_its_frames),
		cmocka_unit_test(the_ledger_closes),
		cmocka_unit_test(the_smallest_residual_is_written),
		cmocka_unit_test(throttling_is_neither_runnable_nor_blocked),
		cmocka_unit_test(a_process_of_one_thread_is_one_line),
		cmocka_unit_test(functions_without_names_keep_their_address),
		cmocka_unit_test(wakers_follow_the_sleeper),
		cmocka_unit_test(a_softirq_is_the_senders),
		cmocka_unit_test(who_was_preempted_has_no_waker),
		cmocka_unit_test(wakers_are_no_functions_of_the_sleeper),
		cmocka_unit_test(flame_graphs_tell_times),
		cmocka_unit_test(deep_chains_of_wakers_are_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
