/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of commands. */
#include "cmd/cmd.h"

const struct command commands[] = {
	{ "oncpu", cmd_oncpu, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "where running code spends its time, by stack", oncpu_opts,
	  "  bpfprof oncpu 10                         the whole machine, 10 seconds\n"
	  "  bpfprof oncpu -p 1234 30                 one process and its children\n"
	  "  bpfprof oncpu -p 1234 -o cpu.html 30     and a flame graph\n"
	  "  bpfprof oncpu -F 999 -- make -j8         a program from start to end\n"
	  "  bpfprof oncpu -n 'worker-*' -f 10 | flamegraph.pl > cpu.svg\n" },
	{ "pmu", cmd_pmu, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "where events of the hardware or the kernel happen, by stack", pmu_opts,
	  "  bpfprof pmu -e page-faults -p 1234 10        every page fault of a process\n"
	  "  bpfprof pmu -e cache-misses -c 10000 -o m.html 10\n"
	  "  bpfprof pmu -e cycles,branch-misses -- make  two values for each stack\n"
	  "  bpfprof pmu -e context-switches --folded 10  who leaves the CPU, and where\n" },
	{ "offcpu", cmd_offcpu, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "where threads wait, and for what, by stack", offcpu_opts,
	  "  bpfprof offcpu -p 1234 30                 one process and its children\n"
	  "  bpfprof offcpu -p 1234 --by-class -o off.html 30\n"
	  "  bpfprof offcpu --class lock,io -m 1ms 10  system-wide, waits of 1 ms and more\n"
	  "  bpfprof offcpu -f 10 | flamegraph.pl --color=io --countname=us > off.svg\n" },
	{ "runqlat", cmd_runqlat, "[OPTIONS] [INTERVAL [COUNT]] [-- PROGRAM [ARGS...]]",
	  "how long runnable threads wait for a CPU", runqlat_opts,
	  "  bpfprof runqlat 10 1                      the whole machine, 10 seconds\n"
	  "  bpfprof runqlat -p 1234 1                 one process, every second\n"
	  "  bpfprof runqlat -P 10 1                   which processes wait\n"
	  "  bpfprof runqlat --threshold 10000         waits of 10 ms; who ran meanwhile\n" },
	{ "sched", cmd_sched, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "runtime, switches and longest waits for a CPU, by thread", sched_opts,
	  "  bpfprof sched 10                          the whole machine, 10 seconds\n"
	  "  bpfprof sched -p 1234 --sort avg 10       one process\n"
	  "  bpfprof sched -P 10                       a row for each process\n" },
	{ "timeline", cmd_timeline, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "what each thread did when: running, runnable, waiting", timeline_opts,
	  "  bpfprof timeline -p 1234 10               a line each time that it ran\n"
	  "  bpfprof timeline -p 1234 -o x.trace.json 10   to open in ui.perfetto.dev\n"
	  "  bpfprof timeline --threshold 10000        around the first wait of 10 ms\n"
	  "  bpfprof timeline --last 5s                the 5 seconds before Ctrl-C\n" },
	{ "wakeup", cmd_wakeup, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "who ends the waits of threads, by stack", wakeup_opts,
	  "  bpfprof wakeup -p 1234 10                 wakers of one process\n"
	  "  bpfprof wakeup -p 1234 --hops 3 -o w.html and who had woken these\n" },
	{ "lock", cmd_lock, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "contended locks: who waits, who holds them and does what, deadlocks", lock_opts,
	  "  bpfprof lock -p 1234 10                   locks of one process\n"
	  "  bpfprof lock -p 1234 -o lock.html 10      waiters, and what holders do\n"
	  "  bpfprof lock -p 1234 -m 1ms 10            only waits of 1 ms and more\n"
	  "  bpfprof lock --kernel 10                  locks of the kernel\n" },
	{ "syscalls", cmd_syscalls, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "system calls: how many, how long, with which errors", syscalls_opts,
	  "  bpfprof syscalls -p 1234 10               all of one process\n"
	  "  bpfprof syscalls -p 1234 --slower 10ms -o slow.svg 10\n"
	  "  bpfprof syscalls -p 1234 --only fsync,openat 10\n" },
	{ "wall", cmd_wall, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "all of a thread's time: running, runnable, waiting", wall_opts,
	  "  bpfprof wall -p 1234 -o wall.html 30      one flame graph of it all\n"
	  "  bpfprof wall -p 1234 --table 10           where the time of each thread went\n" },
	{ "top", cmd_top, "[OPTIONS] [INTERVAL [COUNT]] [-- PROGRAM [ARGS...]]",
	  "a live view: functions, processes, threads, waits, the run queue", top_opts,
	  "  bpfprof top                               the whole machine (? lists the keys)\n"
	  "  bpfprof top -p 1234 2                     one process, every 2 seconds\n"
	  "  bpfprof top --page threads -- make -j8    a program\n"
	  "  bpfprof top -b --page functions 5 12 > log    tables, for a minute\n" },
	{ "agent", cmd_agent, "[OPTIONS] [DURATION]",
	  "always on: windows of all threads' time, kept in a folder", agent_opts,
	  "  bpfprof agent --keep /var/lib/bpfprof     the last days, in 1 GB\n"
	  "  bpfprof report /var/lib/bpfprof@14:05     that minute, in any view\n"
	  "  bpfprof report --last 10m /var/lib/bpfprof\n"
	  "  bpfprof diff /var/lib/bpfprof@14:05 /var/lib/bpfprof@15:05\n"
	  "  bpfprof agent --keep DIR --on 'runq_p99>20ms' --on 'cpu>90%'\n" },
	{ "uprobe", cmd_uprobe, "[OPTIONS] TARGET[:FUNCTION]... [DURATION] [-- PROGRAM [ARGS...]]",
	  "calls of functions of programs: how many, how long, from where", uprobe_opts,
	  "  bpfprof uprobe -p 1234 libc:malloc 10          calls per second\n"
	  "  bpfprof uprobe -p 1234 -l 'libssl:SSL_*' 10    how long each function takes\n"
	  "  bpfprof uprobe -p 1234 -o m.svg malloc 10      who calls, as a flame graph\n"
	  "  bpfprof uprobe --arg 1:str libc:fopen 10       with which names\n"
	  "  bpfprof uprobe -p postgres usdt:postgresql:query__start --arg 1:str 10\n" },
	{ "kprobe", cmd_kprobe, "[OPTIONS] FUNCTION... [DURATION] [-- PROGRAM [ARGS...]]",
	  "calls of functions of the kernel: how many, how long, from where", kprobe_opts,
	  "  bpfprof kprobe -l -P do_nanosleep 10           how long, by process\n"
	  "  bpfprof kprobe -p 1234 --arg 2:str do_sys_openat2 10\n"
	  "  bpfprof kprobe -g 'tcp_*' 10                   who calls, by stack\n" },
	{ "polls", cmd_polls, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "how long tasks of Tokio are polled, by kind and by task", polls_opts,
	  "  bpfprof polls -p 1234 10                  each kind of task of a process\n"
	  "  bpfprof polls -p 1234 --tasks 10          a row for each task\n"
	  "  bpfprof polls -p 1234 --slower-polls 10ms 10  what slow ones sit in\n"
	  "  bpfprof polls -p 1234 --runs 10           where polls are too many to time\n" },
	{ "tracepoint", cmd_tracepoint,
	  "[OPTIONS] CATEGORY:NAME... [DURATION] [-- PROGRAM [ARGS...]]",
	  "tracepoints of the kernel: how many, and how long to another", tracepoint_opts,
	  "  bpfprof tracepoint 'sched:*' 10                all of a category\n"
	  "  bpfprof tracepoint --arg filename:str sched:sched_process_exec 10\n"
	  "  bpfprof tracepoint syscalls:sys_enter_fsync --until syscalls:sys_exit_fsync 10\n" },
	{ "alloc", cmd_alloc, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "who allocates memory, and who leaks it, by stack", alloc_opts,
	  "  bpfprof alloc -p 1234 10                       bytes by stack\n"
	  "  bpfprof alloc -p 1234 --value objects 10       how many instead\n"
	  "  bpfprof alloc -p 1234 --live --older 10s 60    leaks first\n"
	  "  bpfprof alloc -o alloc.html -- ./program       a program from start to end\n" },
	{ "faults", cmd_faults, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "page faults by stack: minor or major, in which memory", faults_opts,
	  "  bpfprof faults -p 1234 10                      who touches new memory\n"
	  "  bpfprof faults -f 10 | grep ';\\[major\\];'       who waits for pages from disk\n"
	  "  bpfprof faults -o faults.svg -- ./program      from start to end\n" },
	{ "io", cmd_io, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "I/O and connections: where they began, how long they took", io_opts,
	  "  bpfprof io 10                             the whole machine, 10 seconds\n"
	  "  bpfprof io -p 1234 --slower 10ms 60       what takes 10 ms and more\n"
	  "  bpfprof io --kind connect -o net.html 60  who waits for connections\n" },
	{ "stat", cmd_stat, "[OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]",
	  "hardware and kernel counters: metrics with a verdict", stat_opts,
	  "  bpfprof stat 10                           the whole machine, 10 seconds\n"
	  "  bpfprof stat -M topdown,cache,tlb -p 1234 10\n"
	  "  bpfprof stat -e cycles,instructions --per-thread 10\n"
	  "  bpfprof stat -r 5 -o new.json -- make && bpfprof diff old.json new.json\n"
	  "  bpfprof stat -M all --report md -o report.md -- PROGRAM\n" },
	{ "list", cmd_list, "[OPTIONS] [PATTERN]",
	  "the events this machine can count (each is tested)", list_opts,
	  "  bpfprof list                             all of them\n"
	  "  bpfprof list cache                       those with it in their names\n"
	  "  bpfprof list 'l1d_*'                     a shell pattern\n"
	  "  bpfprof list cpu/event=0x3c/             does it count?\n" },
	{ "who", cmd_who, "[OPTIONS] [PID...]",
	  "what processes are called: service, container, pod; by which rule", who_opts,
	  "  bpfprof who                              all of this machine\n"
	  "  bpfprof who --json 1234                  every label of one process\n"
	  "  bpfprof who --rules rules.conf           what the rules make of them\n" },
	{ "doctor", cmd_doctor, "[OPTIONS] [COMMAND]",
	  "what this machine lacks, what that costs, and what helps", doctor_opts,
	  "  bpfprof doctor                           all rows\n"
	  "  bpfprof doctor offcpu                    what offcpu needs\n"
	  "  bpfprof doctor --json | jq '.checks[] | select(.state != \"ok\")'\n" },
	{ "report", cmd_report, "[OPTIONS] FILE|DIR[@TIME]",
	  "any view of a saved result, without root", report_opts,
	  "  bpfprof oncpu -o cpu.bpfprof 30 && bpfprof report cpu.bpfprof\n"
	  "  bpfprof report --per-thread -o cpu.svg cpu.bpfprof\n"
	  "  bpfprof report --broken cpu.bpfprof      where stacks break, and what helps\n" },
	{ "annotate", cmd_annotate, "[OPTIONS] FILE [FUNCTION...]",
	  "which lines and instructions of a function are hot, without root", annotate_opts,
	  "  bpfprof annotate cpu.bpfprof               the hottest function\n"
	  "  bpfprof annotate cpu.bpfprof serverCron    this one\n"
	  "  bpfprof annotate --hottest 5 cpu.bpfprof\n"
	  "  bpfprof annotate --file-lines cpu.bpfprof  hottest lines of all code\n" },
	{ "diff", cmd_diff, "[OPTIONS] A B", "what changed between recordings, or results of stat",
	  diff_opts,
	  "  bpfprof diff -s -o diff.html before.bpfprof after.bpfprof\n"
	  "  bpfprof diff --fail-above 5% a?.bpfprof vs b?.bpfprof\n"
	  "  bpfprof diff before.json after.json\n"
	  "  bpfprof diff --fail-on 'ipc<-5%,time>5%' before.json after.json\n"
	  "  bpfprof diff --fail-on 'time>5%' --junit diff.xml before.json after.json\n" },
	{ "history", cmd_history, "[OPTIONS] FILE.csv",
	  "compare the latest result of stat with those before it", history_opts,
	  "  bpfprof stat -r 5 --history x.csv --label v1 -- make; bpfprof history x.csv\n"
	  "  bpfprof history --window 7d --fail-on 'time>5%,ipc<-5%' ci.csv\n"
	  "  bpfprof history --json ci.csv\n" },
	{ "push", cmd_push, "[OPTIONS] --to ENGINE=URL FILE...",
	  "send recordings to Pyroscope, Parca or an OpenTelemetry Collector", push_opts,
	  "  bpfprof push --now --to pyroscope=http://localhost:4040 cpu.bpfprof\n"
	  "  bpfprof push --to parca=http://localhost:7070 --to otlp cpu.bpfprof\n"
	  "  bpfprof push --spool dir --to parca=https://p.example cpu.bpfprof\n"
	  "  bpfprof push --spool dir --to parca=https://p.example      what it kept\n" },
	{ "completion", cmd_completion, "bash|zsh|fish", "a script that completes command lines",
	  completion_opts,
	  "  . <(bpfprof completion bash)     for this shell; make install does so for all\n" },
};
const size_t nr_commands = sizeof(commands) / sizeof(*commands);
