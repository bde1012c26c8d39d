/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processed format of the Firefox Profiler (profiler.firefox.com), version 60: the last one
 * whose columns are plain arrays; later ones are made of it when it is loaded.
 *
 * A recording keeps no times of samples. In each thread the stacks stand side by side, each as wide
 * as it weighs, so that the stack chart is a flame graph.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/firefox_parts.h"
#include "output/json_put.h"
#include "output/output.h"

#define NONE	     INT64_MIN /* null in a column */
#define LIBRARY	     1	       /* a type of resources */
#define MICROSECONDS "µs"

/* Rows of CATEGORIES. */
enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT };
#define CATEGORY(name, color)                                                                      \
	"{\"name\":\"" name "\",\"color\":\"" color "\",\"subcategories\":[\"Other\"]}"
#define CATEGORIES                                                                                 \
	CATEGORY("Other", "grey")                                                                  \
	"," CATEGORY("User", "yellow") "," CATEGORY("Kernel", "orange") "," CATEGORY("JIT", "blue")

static void put_text(const struct firefox *w, const char *s)
{
	struct json_object *o = json_text(s);

	fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							JSON_C_TO_STRING_NOSLASHESCAPE),
	      w->out);
	json_object_put(o);
}

typedef int64_t (*column_fn)(const struct firefox *w, size_t row);

static void put_column(const struct firefox *w, const char *name, size_t nr, column_fn get)
{
	fprintf(w->out, ",\"%s\":[", name);
	for (size_t i = 0; i < nr; i++) {
		int64_t n = get(w, i);

		if (i)
			fputc(',', w->out);
		if (n == NONE)
			fputs("null", w->out);
		else
			fprintf(w->out, "%" PRId64, n);
	}
	fputc(']', w->out);
}

static void put_flags(const struct firefox *w, const char *name, size_t nr)
{
	fprintf(w->out, ",\"%s\":[", name);
	for (size_t i = 0; i < nr; i++)
		fputs(i ? ",false" : "false", w->out);
	fputc(']', w->out);
}

static void begin_table(const struct firefox *w, const char *name, size_t nr)
{
	fprintf(w->out, ",\n\"%s\":{\"length\":%zu", name, nr);
}

/* --- columns --- */

static const struct dictionary_function *function_at(const struct firefox *w, size_t line)
{
	return &w->d.functions[w->d.lines[line].function - 1];
}

static int64_t zero(const struct firefox *w, size_t i)
{
	return 0;
}

static int64_t null(const struct firefox *w, size_t i)
{
	return NONE;
}

static int64_t one(const struct firefox *w, size_t i)
{
	return LIBRARY;
}

static int64_t node_prefix(const struct firefox *w, size_t i)
{
	return w->nodes[i].prefix1 ? (int64_t)w->nodes[i].prefix1 - 1 : NONE;
}

static int64_t node_frame(const struct firefox *w, size_t i)
{
	return w->nodes[i].frame;
}

/* What is exact in numbers of JavaScript. */
static int64_t frame_address(const struct firefox *w, size_t i)
{
	uint64_t address = firefox_place(w, i)->address;

	return address && address < 1ull << 53 ? (int64_t)address : -1;
}

static int64_t frame_depth(const struct firefox *w, size_t i)
{
	const struct dictionary_place *p = firefox_place(w, i);

	return p->waker ? (int64_t)(i - p->first) : p->first + p->nr - 1 - (int64_t)i;
}

static int64_t frame_category(const struct firefox *w, size_t i)
{
	switch (profile_frame_at(w->d.profile, firefox_place(w, i)->frame)->kind) {
	case FRAME_USER:
	case FRAME_PYTHON:
		return CATEGORY_USER;
	case FRAME_KERNEL:
		return CATEGORY_KERNEL;
	case FRAME_ANON:
		return CATEGORY_JIT;
	default:
		return CATEGORY_OTHER;
	}
}

static int64_t frame_func(const struct firefox *w, size_t i)
{
	return w->func_of[i];
}

static int64_t frame_line(const struct firefox *w, size_t i)
{
	return w->d.lines[i].line ? w->d.lines[i].line : NONE;
}

static int64_t func_name(const struct firefox *w, size_t i)
{
	return function_at(w, w->line_of[i])->name;
}

/* Resources and libraries are mappings. */
static int64_t func_resource(const struct firefox *w, size_t i)
{
	return (int64_t)w->d.mapping_of[firefox_place(w, w->line_of[i])->module] - 1;
}

static int64_t func_source(const struct firefox *w, size_t i)
{
	uint32_t file = function_at(w, w->line_of[i])->file;

	return file ? (int64_t)w->source_of[file] - 1 : NONE;
}

static int64_t itself(const struct firefox *w, size_t i)
{
	return i;
}

static int64_t source_file(const struct firefox *w, size_t i)
{
	return w->sources[i];
}

static int64_t resource_name(const struct firefox *w, size_t i)
{
	return w->resources[i];
}

/* --- the document --- */

static void put_meta(const struct firefox *w)
{
	const struct profile_meta *m = &w->d.profile->meta;
	bool bytes = !strcmp(w->d.types.v[w->d.types.shown].unit, "bytes");

	fprintf(w->out,
		"{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":60,\"processType\":0,"
		"\"debug\":false,\"interval\":%.6f,\"startTime\":%.3f,\"symbolicated\":true,"
		"\"pausedRanges\":[],\"usesOnlyOneStackType\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[],\"extensions\":"
		"{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},\"sampleUnits\":{\"time\":"
		"\"%s\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"" MICROSECONDS
		"\"},\"categories\":[" CATEGORIES "]",
		m->rate_hz ? 1000.0 / m->rate_hz : 1.0, m->start_ns / 1e6, bytes ? "bytes" : "ms");
	fputs(",\"oscpu\":", w->out);
	put_text(w, profile_str(w->d.profile, m->kernel));
	fputs(",\"product\":", w->out);
	put_text(w, profile_str(w->d.profile, m->target));
	fputs("}", w->out);
}

static void put_lib(const struct firefox *w, size_t i)
{
	const struct module *m = &w->d.profile->modules[w->d.mappings[i].module];
	const char *names[] = { "name", "debugName", "path", "debugPath" };

	for (size_t k = 0; k < 4; k++) {
		fprintf(w->out, "%s\"%s\":", k ? "," : i ? ",\n{" : "\n{", names[k]);
		put_text(w, k < 2 ? output_base_name(firefox_path(w, i)) : firefox_path(w, i));
	}
	fputs(",\"breakpadId\":\"\",\"codeId\":", w->out);
	fputs(m->build_id_len ? "\"" : "null", w->out);
	for (uint32_t k = 0; k < m->build_id_len && k < sizeof(m->build_id); k++)
		fprintf(w->out, "%02x", m->build_id[k]);
	fputs(m->build_id_len ? "\",\"arch\":" : ",\"arch\":", w->out);
	put_text(w, profile_str(w->d.profile, w->d.profile->meta.arch));
	fputc('}', w->out);
}

static void put_frames(const struct firefox *w)
{
	size_t nr = w->d.nr_lines;

	begin_table(w, "frameTable", nr);
	put_column(w, "address", nr, frame_address);
	put_column(w, "inlineDepth", nr, frame_depth);
	put_column(w, "category", nr, frame_category);
	put_column(w, "subcategory", nr, zero);
	put_column(w, "func", nr, frame_func);
	put_column(w, "nativeSymbol", nr, null);
	put_column(w, "innerWindowID", nr, zero);
	put_column(w, "line", nr, frame_line);
	put_column(w, "column", nr, null);
	fputc('}', w->out);
}

static void put_funcs(const struct firefox *w)
{
	begin_table(w, "funcTable", w->nr_funcs);
	put_column(w, "name", w->nr_funcs, func_name);
	put_flags(w, "isJS", w->nr_funcs);
	put_flags(w, "relevantForJS", w->nr_funcs);
	put_column(w, "resource", w->nr_funcs, func_resource);
	put_column(w, "source", w->nr_funcs, func_source);
	put_column(w, "lineNumber", w->nr_funcs, null);
	put_column(w, "columnNumber", w->nr_funcs, null);
	fputc('}', w->out);
}

static void put_shared(const struct firefox *w)
{
	size_t nr_libs = w->d.nr_mappings;

	fprintf(w->out, ",\n\"shared\":{\"stackTable\":{\"length\":%zu", w->nr_nodes);
	put_column(w, "prefix", w->nr_nodes, node_prefix);
	put_column(w, "frame", w->nr_nodes, node_frame);
	fputc('}', w->out);
	put_frames(w);
	put_funcs(w);
	begin_table(w, "resourceTable", nr_libs);
	put_column(w, "lib", nr_libs, itself);
	put_column(w, "name", nr_libs, resource_name);
	put_column(w, "host", nr_libs, null);
	put_column(w, "type", nr_libs, one);
	fputs("},\n\"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],"
	      "\"libIndex\":[],\"name\":[]}",
	      w->out);
	begin_table(w, "sources", w->nr_sources);
	put_column(w, "uuid", w->nr_sources, null);
	put_column(w, "filename", w->nr_sources, source_file);
	fputs("},\n\"stringArray\":[", w->out);
	for (size_t i = 0; i < w->d.strings.nr; i++) {
		fputs(i ? ",\n" : "\n", w->out);
		put_text(w, numbered_at(&w->d.strings, i));
	}
	fputs("]}", w->out);
}

/* In ms of time; else one sample (or byte) is as wide as a millisecond. */
static double weight_of(const struct firefox *w, size_t i)
{
	const struct value_types *t = &w->d.types;
	double value = w->d.values[w->order[i] * t->nr + t->shown];

	return !strcmp(t->v[t->shown].unit, "nanoseconds") ? value / 1e6 : value;
}

static double put_samples(const struct firefox *w, size_t from, size_t to)
{
	const char *unit = w->d.types.v[w->d.types.shown].unit;
	double at = 0;

	fprintf(w->out, "\"samples\":{\"length\":%zu,\"weightType\":\"%s\",\"stack\":[", to - from,
		!strcmp(unit, "nanoseconds") ? "tracing-ms"
		: !strcmp(unit, "bytes")     ? "bytes"
					     : "samples");
	for (size_t i = from; i < to; i++)
		fprintf(w->out, i > from ? ",%u" : "%u", w->stack_of[w->order[i]]);
	fputs("],\"time\":[", w->out);
	for (size_t i = from; i < to; i++) {
		fprintf(w->out, i > from ? ",%.6f" : "%.6f", at);
		at += weight_of(w, i);
	}
	fputs("],\"weight\":[", w->out);
	for (size_t i = from; i < to; i++)
		fprintf(w->out, i > from ? ",%.6f" : "%.6f", weight_of(w, i));
	fputs("]}", w->out);
	return at;
}

static void put_thread(const struct firefox *w, size_t from, size_t to)
{
	const struct dictionary_sample *s = &w->d.samples[w->order[from]];
	double end;

	fputs(from ? ",\n{\"name\":" : "\n{\"name\":", w->out);
	put_text(w, s->thread ? numbered_at(&w->d.strings, s->thread) : "[lost]");
	fputs(",\"processName\":", w->out);
	put_text(w, numbered_at(&w->d.strings, s->process));
	fprintf(w->out,
		",\"pid\":\"%u\",\"tid\":%u,\"isMainThread\":%s,\"processType\":\"default\","
		"\"pausedRanges\":[],\"registerTime\":0,\"unregisterTime\":null,"
		"\"processStartupTime\":0,\"markers\":{\"length\":0,\"data\":[],\"name\":[],"
		"\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[]},\n",
		s->pid, s->tid, s->pid == s->tid ? "true" : "false");
	end = put_samples(w, from, to);
	fprintf(w->out, ",\"processShutdownTime\":%.6f}", end);
}

static bool same_thread(const struct firefox *w, size_t i, size_t k)
{
	const struct dictionary_sample *a = &w->d.samples[w->order[i]],
				       *b = &w->d.samples[w->order[k]];

	return a->pid == b->pid && a->tid == b->tid && a->thread == b->thread;
}

static void put_threads(const struct firefox *w)
{
	size_t to;

	fputs(",\n\"threads\":[", w->out);
	for (size_t from = 0; from < w->d.nr_samples; from = to) {
		for (to = from + 1; to < w->d.nr_samples && same_thread(w, from, to);)
			to++;
		put_thread(w, from, to);
	}
	fputs("],\n\"pages\":[],\"profilerOverhead\":[],\"counters\":[]}\n", w->out);
}

int firefox_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct firefox w = { .out = out };

	firefox_tables_init(&w, p, v);
	put_meta(&w);
	fputs(",\n\"libs\":[", out);
	for (size_t i = 0; i < w.d.nr_mappings; i++)
		put_lib(&w, i);
	fputc(']', out);
	put_shared(&w);
	put_threads(&w);
	firefox_tables_release(&w);
	return 0;
}
