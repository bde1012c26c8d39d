/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures peaks by threads that begin each sample together. What others take away makes a sample
 * worthless, so each thread also asks how much of its CPU it had.
 */
#include "collect/peaks.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "event/cpus.h"
#include "event/memory.h"

#define NR_SAMPLES  5
#define SAMPLE_NS   200000000ull
#define LEAST_GOOD  2	      /* samples */
#define LEAST_SHARE 0.95      /* of its CPUs a sample must have had */
#define CHUNK	    (1 << 16) /* rounds, and bytes of an array, between two looks at the clock */

/* Three arrays, which together are four times as large as the last-level caches of all CPUs. */
#define NR_ARRAYS    3
#define CACHES	     4
#define LEAST_CACHES 2
#define LEAST_BYTES  (96ull << 20)
#define MOST_BYTES   (2ull << 30)

enum kind { FLOPS, BYTES, NR_KINDS };

struct sample {
	double work, wall_s, cpu_s; /* operations or bytes; s of all threads */
};

struct probe {
	const struct peaks_loop *loop;
	pthread_mutex_t gate; /* closed until it is known how many threads there are */
	bool off;	      /* there are too few of them */
	pthread_barrier_t begin;
	size_t bytes; /* of one array of a thread, a multiple of CHUNK */
	size_t caches, total;
};

struct worker {
	struct probe *probe;
	pthread_t thread;
	uint32_t cpu;
	double *arrays[NR_ARRAYS];
	double result; /* so that nothing is left out */
	struct sample samples[NR_KINDS][NR_SAMPLES];
	int err;
};

static double thread_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double do_flops(struct worker *w, size_t *at)
{
	w->result += w->probe->loop->run(CHUNK, 0.999999, 1e-6);
	return w->probe->loop->flops * CHUNK;
}

/* As STREAM counts: what is read and written, not what a cache reads before it is written. */
static double do_bytes(struct worker *w, size_t *at)
{
	size_t i = *at / sizeof(double);

	peaks_triad(w->arrays[0] + i, w->arrays[1] + i, w->arrays[2] + i, 3, CHUNK);
	*at = (*at + CHUNK) % w->probe->bytes;
	return NR_ARRAYS * (double)CHUNK;
}

static void take_sample(struct worker *w, enum kind kind, struct sample *s)
{
	static double (*const work[NR_KINDS])(struct worker * w, size_t * at) = { do_flops,
										  do_bytes };
	uint64_t begin, now;
	double cpu_s;
	size_t at = 0;

	pthread_barrier_wait(&w->probe->begin);
	begin = now = now_ns();
	cpu_s = thread_seconds();
	while (now - begin < SAMPLE_NS) {
		s->work += work[kind](w, &at);
		now = now_ns();
	}
	s->wall_s = (now - begin) / 1e9;
	s->cpu_s = thread_seconds() - cpu_s;
}

static int prepare(struct worker *w)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return -errno;
	for (size_t i = 0; i < NR_ARRAYS; i++) {
		void *p = mmap(NULL, w->probe->bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return -errno;
		madvise(p, w->probe->bytes, MADV_HUGEPAGE);
		w->arrays[i] = p;
		/* By the thread itself, so that it is near its CPU. */
		for (size_t j = 0; j < w->probe->bytes / sizeof(double); j++)
			w->arrays[i][j] = i;
	}
	return 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&w->probe->gate);
	pthread_mutex_unlock(&w->probe->gate);
	if (w->probe->off)
		return NULL;
	w->err = prepare(w);
	for (size_t i = 0; i < NR_KINDS * NR_SAMPLES; i++) {
		struct sample *s = &w->samples[i / NR_SAMPLES][i % NR_SAMPLES];

		if (w->err)
			pthread_barrier_wait(&w->probe->begin);
		else
			take_sample(w, i / NR_SAMPLES, s);
	}
	for (size_t i = 0; i < NR_ARRAYS && w->arrays[i]; i++)
		munmap(w->arrays[i], w->probe->bytes);
	return NULL;
}

static bool read_cache(uint32_t cpu, int index, const char *what, char to[256])
{
	char path[128];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%d/%s", cpu, index,
		 what);
	f = fopen(path, "re");
	ok = f && fscanf(f, "%255s", to) == 1;
	if (f)
		fclose(f);
	return ok;
}

/* The largest cache of a CPU: its bytes, and the CPUs that share it. 0: not known. */
static size_t last_level(uint32_t cpu, char shared[256])
{
	unsigned long long best = 0, kib;
	char text[256];

	for (int i = 0; read_cache(cpu, i, "size", text); i++) {
		kib = strtoull(text, NULL, 10);
		if (kib > best && read_cache(cpu, i, "shared_cpu_list", shared))
			best = kib;
	}
	return best << 10;
}

/* Of all CPUs; each cache once. */
static size_t last_levels(const struct cpus *cpus)
{
	char(*seen)[256] = xcalloc(cpus->nr, sizeof(*seen));
	size_t all = 0;

	for (size_t i = 0, j; i < cpus->nr; i++) {
		size_t bytes = last_level(cpus->v[i], seen[i]);

		for (j = 0; j < i && strcmp(seen[j], seen[i]) != 0; j++)
			;
		all += j == i ? bytes : 0;
	}
	free(seen);
	return all;
}

/* How much memory the arrays take: half of what can be had at most. */
static int choose_size(struct probe *p, const struct cpus *cpus)
{
	size_t spare = memory_available("") / 2;

	p->caches = last_levels(cpus);
	p->total = p->caches * CACHES < LEAST_BYTES ? LEAST_BYTES : p->caches * CACHES;
	p->total = p->total > MOST_BYTES ? MOST_BYTES : p->total;
	p->total = p->total > spare ? spare : p->total;
	p->bytes = p->total / NR_ARRAYS / cpus->nr / CHUNK * CHUNK;
	p->total = p->bytes * NR_ARRAYS * cpus->nr;
	if (p->bytes && p->total >= p->caches * LEAST_CACHES)
		return 0;
	return log_as(-ENOMEM,
		      "--measure-peaks: arrays of %zu MB, half of the memory that can be had, "
		      "are too small beside %zu MB of last-level cache: give --peak-gflops and "
		      "--peak-gbps",
		      p->total >> 20, p->caches >> 20);
}

/* What all threads did in one sample; rate by the second. */
static struct sample sum_of(const struct worker *w, size_t nr, enum kind kind, size_t i,
			    double *rate)
{
	struct sample sum = {};

	*rate = 0;
	for (size_t j = 0; j < nr; j++) {
		const struct sample *s = &w[j].samples[kind][i];

		*rate += s->wall_s > 0 ? s->work / s->wall_s : 0;
		sum.wall_s += s->wall_s;
		sum.cpu_s += s->cpu_s;
	}
	return sum;
}

struct outcome {
	double best, spread_pct; /* of the samples that count */
	size_t nr_good;
	double reached;	  /* by any sample */
	double share_pct; /* of their CPUs that the threads had in all samples */
};

static struct outcome outcome_of(const struct worker *w, size_t nr, enum kind kind)
{
	double least = INFINITY, wall_s = 0, cpu_s = 0, rate;
	struct outcome o = {};

	for (size_t i = 0; i < NR_SAMPLES; i++) {
		struct sample s = sum_of(w, nr, kind, i, &rate);

		wall_s += s.wall_s;
		cpu_s += s.cpu_s;
		o.reached = fmax(o.reached, rate);
		if (s.cpu_s < LEAST_SHARE * s.wall_s)
			continue;
		o.nr_good++;
		o.best = fmax(o.best, rate);
		least = fmin(least, rate);
	}
	o.spread_pct = o.best > 0 ? 100 * (o.best - least) / o.best : 0;
	o.share_pct = wall_s > 0 ? 100 * cpu_s / wall_s : 0;
	return o;
}

static int judge(const struct probe *p, const struct worker *w, size_t nr,
		 struct metric_peaks *peaks, char **note)
{
	struct outcome flops = outcome_of(w, nr, FLOPS), bytes = outcome_of(w, nr, BYTES);

	if (flops.nr_good < LEAST_GOOD || bytes.nr_good < LEAST_GOOD)
		return log_as(
			-EBUSY,
			"--measure-peaks: this host is busy: the probe had %.0f %% of the time "
			"of %zu CPU%s, so the %.1f GFLOP/s and %.1f GB/s that it reached are "
			"no peaks; measure when little else runs, or give --peak-gflops and "
			"--peak-gbps",
			(flops.share_pct + bytes.share_pct) / 2, nr, nr == 1 ? "" : "s",
			flops.reached / 1e9, bytes.reached / 1e9);
	peaks->flops = flops.best;
	peaks->bandwidth = bytes.best;
	*note = xasprintf(
		"peaks measured on %zu CPU%s for 2 s: %.1f GFLOP/s (%s, double precision, "
		"spread %.1f %%), %.1f GB/s (triad of %zu MB, last-level cache %zu MB, "
		"spread %.1f %%)",
		nr, nr == 1 ? "" : "s", flops.best / 1e9, p->loop->name, flops.spread_pct,
		bytes.best / 1e9, p->total >> 20, p->caches >> 20, bytes.spread_pct);
	log_info("%s", *note);
	return 0;
}

static int run(struct probe *p, struct worker *w, const struct cpus *cpus)
{
	size_t started = 0;
	int err = 0;

	pthread_mutex_init(&p->gate, NULL);
	pthread_barrier_init(&p->begin, NULL, cpus->nr);
	pthread_mutex_lock(&p->gate);
	for (; started < cpus->nr && !err; started += !err) {
		w[started] = (struct worker){ .probe = p, .cpu = cpus->v[started] };
		err = -pthread_create(&w[started].thread, NULL, work, &w[started]);
	}
	p->off = err != 0;
	pthread_mutex_unlock(&p->gate);
	for (size_t i = 0; i < started; i++)
		pthread_join(w[i].thread, NULL);
	pthread_barrier_destroy(&p->begin);
	pthread_mutex_destroy(&p->gate);
	if (err)
		return log_err(err, "--measure-peaks: cannot start a thread");
	for (size_t i = 0; i < started; i++)
		if (w[i].err)
			return log_err(w[i].err, "--measure-peaks: cannot measure on CPU %u",
				       w[i].cpu);
	return 0;
}

int peaks_measure(const struct opt_ids *ids, struct metric_peaks *peaks, char **note)
{
	struct cpus online = {}, cpus = { .v = ids->v, .nr = ids->nr };
	struct probe probe = { .loop = peaks_loop() };
	struct worker *workers;
	int err = ids->nr ? 0 : cpus_online(&online);

	if (err)
		return log_err(err, "--measure-peaks: cannot find the CPUs");
	cpus = ids->nr ? cpus : online;
	workers = xcalloc(cpus.nr, sizeof(*workers));
	log_progress("measuring peaks on %zu CPUs: 2 s", cpus.nr);
	err = choose_size(&probe, &cpus);
	if (!err)
		err = run(&probe, workers, &cpus);
	log_progress(NULL);
	if (!err)
		err = judge(&probe, workers, cpus.nr, peaks, note);
	free(workers);
	cpus_release(&online);
	return err;
}
