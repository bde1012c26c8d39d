/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -pthread */
/* LDLIBS: -lpthread */
/*
 * demo [SECONDS]: a small search engine for log lines that works for SECONDS, to have something
 * worth profiling (make demo). Threads hand chunks of text along bounded queues:
 *
 *	reader --> parser-0, parser-1 --> indexer        words into postings, now and then a ranking
 *	                              '-> compress       LZ, checksum, write to a memory file
 *	query                                            searches the index while it grows
 *
 * Everything is deterministic but the interleaving. Ends with what it has done.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define CHUNK_SZ   16384
#define QUEUE_LEN  8
#define WORD_LEN   16
#define VOCABULARY 6000
#define SEGMENT	   3000	      /* documents of an index before it starts anew */
#define RANK_EVERY 100	      /* documents */
#define FILE_LIMIT (64 << 20) /* bytes of the memory file before it starts anew */
#define LZ_BITS	   13
#define LZ_MIN	   4

struct chunk {
	uint32_t id;
	size_t len;
	char text[CHUNK_SZ];
};

struct token {
	uint64_t hash;
	char word[WORD_LEN];
};

struct document {
	uint32_t id;
	size_t nr;
	struct token tokens[CHUNK_SZ / 2];
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void *items[QUEUE_LEN];
	size_t head, nr;
};

struct term {
	uint64_t hash;
	char word[WORD_LEN];
	uint32_t count, *docs;
	size_t nr, cap;
};

struct index {
	pthread_mutex_t lock;
	struct term *terms; /* open addressing; a hash of 0 is free */
	size_t nr, cap;
};

static struct queue chunks = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0 };
static struct queue documents = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0
};
static struct queue raw = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0 };
static struct index idx = { .lock = PTHREAD_MUTEX_INITIALIZER };
static char vocabulary[VOCABULARY][WORD_LEN];
static atomic_bool done;
static atomic_ulong nr_lines, nr_words, nr_queries, nr_hits, bytes_in, bytes_out, checksums;

static void *must(void *ptr)
{
	if (!ptr)
		abort();
	return ptr;
}

static uint32_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33);
}

/* --- queues; closed by done --- */

static KEEP bool queue_put(struct queue *q, void *item)
{
	bool put;

	pthread_mutex_lock(&q->lock);
	while (q->nr == QUEUE_LEN && !done)
		pthread_cond_wait(&q->changed, &q->lock);
	put = q->nr < QUEUE_LEN;
	if (put)
		q->items[(q->head + q->nr++) % QUEUE_LEN] = item;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	if (!put)
		free(item);
	return put;
}

/* NULL when all is done. */
static KEEP void *queue_take(struct queue *q)
{
	void *item = NULL;

	pthread_mutex_lock(&q->lock);
	while (!q->nr && !done)
		pthread_cond_wait(&q->changed, &q->lock);
	if (q->nr) {
		item = q->items[q->head];
		q->head = (q->head + 1) % QUEUE_LEN;
		q->nr--;
	}
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return item;
}

static void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

/* --- reader: makes up log lines --- */

static void make_vocabulary(void)
{
	static const char *const parts[] = { "al", "ber", "con", "da",	"er",  "fa", "gra", "hi",
					     "in", "jo",  "ka",	 "lum", "mon", "ne", "or",  "pre" };
	uint64_t seed = 42;
	size_t i, n;

	for (i = 0; i < VOCABULARY; i++)
		for (n = 2 + draw(&seed) % 3; n--;)
			strcat(vocabulary[i], parts[draw(&seed) % 16]);
}

/* Few words are frequent and many are rare, as in any language. */
static const char *pick_word(uint64_t *seed)
{
	double x = draw(seed) / 2147483648.0;

	return vocabulary[(size_t)(x * x * x * VOCABULARY)];
}

static KEEP size_t format_line(char *out, size_t room, uint64_t *seed)
{
	static const char *const levels[] = { "INFO", "INFO", "DEBUG", "WARN", "ERROR" };
	size_t nr = 3 + draw(seed) % 10, len;

	len = (size_t)snprintf(out, room, "2024-05-%02u %s service-%u latency=%uus",
			       1 + draw(seed) % 28, levels[draw(seed) % 5], draw(seed) % 40,
			       draw(seed) % 90000);
	while (nr-- && len + WORD_LEN + 2 < room)
		len += (size_t)snprintf(out + len, room - len, " %s", pick_word(seed));
	out[len++] = '\n';
	return len;
}

static KEEP void fill_chunk(struct chunk *c, uint64_t *seed)
{
	for (c->len = 0; c->len + 300 < sizeof(c->text);)
		c->len += format_line(c->text + c->len, sizeof(c->text) - c->len, seed);
}

static KEEP void *reader_main(void *arg)
{
	uint64_t seed = 1;
	uint32_t id = 0;
	struct chunk *c;

	do {
		c = must(malloc(sizeof(*c)));
		c->id = id++;
		fill_chunk(c, &seed);
	} while (queue_put(&chunks, c) && !done);
	return arg;
}

/* --- parser: lines into fields into words --- */

static KEEP uint64_t hash_word(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	while (len--)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3ull;
	return h | 1;
}

static KEEP void fold_case(char *out, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < WORD_LEN - 1; i++)
		out[i] = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] + 32) : s[i];
	out[i] = '\0';
}

static KEEP void add_token(struct document *d, const char *s, size_t len)
{
	struct token *t = &d->tokens[d->nr];

	fold_case(t->word, s, len);
	t->hash = hash_word(t->word, strlen(t->word));
	d->nr++;
}

/* "key=value" gives both. */
static KEEP void parse_field(struct document *d, const char *s, size_t len)
{
	const char *eq = memchr(s, '=', len);

	if (eq) {
		add_token(d, s, (size_t)(eq - s));
		add_token(d, eq + 1, len - (size_t)(eq - s) - 1);
	} else {
		add_token(d, s, len);
	}
}

static KEEP void parse_line(struct document *d, const char *s, const char *end)
{
	const char *field;

	while (s < end) {
		field = s;
		while (s < end && *s != ' ')
			s++;
		if (s > field)
			parse_field(d, field, (size_t)(s - field));
		s++;
	}
}

static KEEP struct document *parse_chunk(const struct chunk *c)
{
	struct document *d = must(malloc(sizeof(*d)));
	const char *s = c->text, *end = c->text + c->len, *nl;

	d->id = c->id;
	d->nr = 0;
	for (; s < end && (nl = memchr(s, '\n', (size_t)(end - s))); s = nl + 1) {
		parse_line(d, s, nl);
		nr_lines++;
	}
	nr_words += d->nr;
	return d;
}

static KEEP void *parser_main(void *arg)
{
	struct chunk *c;

	while ((c = queue_take(&chunks))) {
		queue_put(&documents, parse_chunk(c));
		queue_put(&raw, c);
	}
	return arg;
}

/* --- indexer: words into postings --- */

static KEEP struct term *index_probe(struct term *terms, size_t cap, uint64_t hash)
{
	size_t i;

	for (i = hash >> 20; terms[i & (cap - 1)].hash; i++)
		if (terms[i & (cap - 1)].hash == hash)
			break;
	return &terms[i & (cap - 1)];
}

static KEEP void index_grow(struct index *x)
{
	size_t cap = x->cap ? x->cap * 2 : 1024, i;
	struct term *terms = must(calloc(cap, sizeof(*terms)));

	for (i = 0; i < x->cap; i++)
		if (x->terms[i].hash)
			*index_probe(terms, cap, x->terms[i].hash) = x->terms[i];
	free(x->terms);
	x->terms = terms;
	x->cap = cap;
}

static KEEP void postings_append(struct term *t, uint32_t doc)
{
	if (t->nr && t->docs[t->nr - 1] >= doc)
		return;
	if (t->nr == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 4;
		t->docs = must(realloc(t->docs, t->cap * sizeof(*t->docs)));
	}
	t->docs[t->nr++] = doc;
}

static KEEP void index_word(struct index *x, const struct token *word, uint32_t doc)
{
	struct term *t;

	if (x->nr * 2 >= x->cap)
		index_grow(x);
	t = index_probe(x->terms, x->cap, word->hash);
	if (!t->hash) {
		t->hash = word->hash;
		memcpy(t->word, word->word, WORD_LEN);
		x->nr++;
	}
	t->count++;
	postings_append(t, doc);
}

static KEEP void index_document(struct index *x, const struct document *d)
{
	size_t i;

	pthread_mutex_lock(&x->lock);
	for (i = 0; i < d->nr; i++)
		index_word(x, &d->tokens[i], d->id);
	pthread_mutex_unlock(&x->lock);
}

static KEEP void drop_segment(struct index *x)
{
	size_t i;

	pthread_mutex_lock(&x->lock);
	for (i = 0; i < x->cap; i++)
		free(x->terms[i].docs);
	free(x->terms);
	x->terms = NULL;
	x->nr = x->cap = 0;
	pthread_mutex_unlock(&x->lock);
}

static KEEP int compare_terms(const struct term *a, const struct term *b)
{
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(a->word, b->word);
}

static KEEP size_t partition_terms(struct term **v, size_t nr)
{
	struct term *pivot = v[nr / 2], *swap;
	size_t i = 0, j = nr - 1;

	for (;; i++, j--) {
		while (compare_terms(v[i], pivot) < 0)
			i++;
		while (compare_terms(v[j], pivot) > 0)
			j--;
		if (i >= j)
			return j + 1;
		swap = v[i];
		v[i] = v[j];
		v[j] = swap;
	}
}

static KEEP void sort_terms(struct term **v, size_t nr)
{
	size_t left;

	if (nr < 2)
		return;
	left = partition_terms(v, nr);
	if (left == nr)
		left--;
	sort_terms(v, left);
	sort_terms(v + left, nr - left);
}

/* The most frequent words, for nobody in particular. */
static KEEP void rank_terms(struct index *x)
{
	struct term **v = must(malloc((x->nr + 1) * sizeof(*v)));
	size_t i, nr = 0;

	for (i = 0; i < x->cap; i++)
		if (x->terms[i].hash)
			v[nr++] = &x->terms[i];
	sort_terms(v, nr);
	free(v);
}

static KEEP void *indexer_main(void *arg)
{
	struct document *d;
	unsigned int nr = 0;

	while ((d = queue_take(&documents))) {
		index_document(&idx, d);
		free(d);
		nr++;
		if (nr % RANK_EVERY == 0)
			rank_terms(&idx);
		if (nr % SEGMENT == 0)
			drop_segment(&idx);
	}
	return arg;
}

/* --- compress --- */

static KEEP size_t match_length(const unsigned char *a, const unsigned char *b,
				const unsigned char *end)
{
	const unsigned char *from = b;

	while (b < end && *a == *b) {
		a++;
		b++;
	}
	return (size_t)(b - from);
}

/* The last place with the same four bytes, and remembers this one. */
static KEEP size_t find_match(uint32_t *table, const unsigned char *in, size_t at, size_t len,
			      size_t *from)
{
	uint32_t word, *slot;

	memcpy(&word, in + at, sizeof(word));
	slot = &table[(word * 2654435761u) >> (32 - LZ_BITS)];
	*from = *slot;
	*slot = (uint32_t)at;
	return *from < at ? match_length(in + *from, in + at, in + len) : 0;
}

static KEEP size_t emit_literals(unsigned char *out, const unsigned char *in, size_t nr)
{
	if (!nr)
		return 0;
	out[0] = (unsigned char)nr;
	memcpy(out + 1, in, nr);
	return nr + 1;
}

static KEEP size_t emit_match(unsigned char *out, size_t distance, size_t len)
{
	out[0] = 0x80;
	out[1] = (unsigned char)(len < 255 ? len : 255);
	out[2] = (unsigned char)distance;
	out[3] = (unsigned char)(distance >> 8);
	return 4;
}

static KEEP size_t compress_block(const unsigned char *in, size_t len, unsigned char *out)
{
	static uint32_t table[1 << LZ_BITS];
	size_t at = 0, literal = 0, from, n, sz = 0;

	memset(table, 0, sizeof(table));
	while (at + LZ_MIN < len) {
		n = find_match(table, in, at, len, &from);
		if (n >= LZ_MIN || at - literal == 127) {
			sz += emit_literals(out + sz, in + literal, at - literal);
			if (n >= LZ_MIN)
				sz += emit_match(out + sz, at - from, n);
			literal = n >= LZ_MIN ? at + n : at;
			at = literal;
		} else {
			at++;
		}
	}
	return sz + emit_literals(out + sz, in + literal, (len - literal) & 127);
}

static KEEP uint32_t checksum(const unsigned char *in, size_t len)
{
	uint32_t crc = ~0u;
	int bit;

	while (len--) {
		crc ^= *in++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static KEEP void write_block(int fd, const unsigned char *out, size_t len)
{
	if (bytes_out % FILE_LIMIT + len > FILE_LIMIT &&
	    (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)))
		abort();
	if (write(fd, out, len) != (ssize_t)len)
		abort();
	bytes_out += len;
}

static KEEP void *compress_main(void *arg)
{
	unsigned char *out = must(malloc(CHUNK_SZ * 2));
	int fd = memfd_create("demo", 0);
	struct chunk *c;
	size_t len;

	while (fd >= 0 && (c = queue_take(&raw))) {
		len = compress_block((unsigned char *)c->text, c->len, out);
		checksums += checksum(out, len);
		write_block(fd, out, len);
		bytes_in += c->len;
		free(c);
	}
	close(fd);
	free(out);
	return arg;
}

/* --- query --- */

static KEEP size_t lower_bound(const uint32_t *v, size_t nr, uint32_t doc)
{
	size_t low = 0, high = nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (v[mid] < doc)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static KEEP double score_document(const struct term *a, const struct term *b, uint32_t doc)
{
	double idf = 1.0 / (double)(1 + a->nr) + 1.0 / (double)(1 + b->nr), x = 1.0 + doc;
	int i;

	for (i = 0; i < 12; i++)
		x = (x + (1.0 + doc) / x) / 2;
	return idf * x;
}

static KEEP size_t intersect_postings(const struct term *a, const struct term *b, double *best)
{
	size_t i, j, hits = 0;
	double score;

	for (i = 0; i < a->nr; i++) {
		j = lower_bound(b->docs, b->nr, a->docs[i]);
		if (j == b->nr || b->docs[j] != a->docs[i])
			continue;
		score = score_document(a, b, a->docs[i]);
		*best = score > *best ? score : *best;
		hits++;
	}
	return hits;
}

static KEEP const struct term *find_term(struct index *x, uint64_t *seed)
{
	const char *word = pick_word(seed);
	const struct term *t;

	if (!x->cap)
		return NULL;
	t = index_probe(x->terms, x->cap, hash_word(word, strlen(word)));
	return t->hash ? t : NULL;
}

static KEEP void run_query(struct index *x, uint64_t *seed)
{
	const struct term *a, *b;
	double best = 0;

	pthread_mutex_lock(&x->lock);
	a = find_term(x, seed);
	b = find_term(x, seed);
	if (a && b)
		nr_hits += intersect_postings(a, b, &best);
	pthread_mutex_unlock(&x->lock);
	nr_queries++;
}

static KEEP void *query_main(void *arg)
{
	struct timespec pause = { 0, 1000000 };
	uint64_t seed = 7;
	int i;

	while (!done) {
		for (i = 0; i < 20; i++)
			run_query(&idx, &seed);
		nanosleep(&pause, NULL);
	}
	return arg;
}

/* --- all together --- */

static const struct {
	const char *name;
	void *(*main)(void *arg);
} roles[] = {
	{ "reader", reader_main },   { "parser-0", parser_main },   { "parser-1", parser_main },
	{ "indexer", indexer_main }, { "compress", compress_main }, { "query", query_main },
};

#define NR_ROLES (sizeof(roles) / sizeof(*roles))

int main(int argc, char **argv)
{
	uint64_t ns = arg_ns(argc, argv, 1, 10);
	struct timespec pause = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
	pthread_t threads[NR_ROLES];
	size_t i;

	make_vocabulary();
	for (i = 0; i < NR_ROLES; i++) {
		if (pthread_create(&threads[i], NULL, roles[i].main, NULL))
			return 1;
		pthread_setname_np(threads[i], roles[i].name);
	}
	nanosleep(&pause, NULL);
	done = true;
	queue_close(&chunks);
	queue_close(&documents);
	queue_close(&raw);
	for (i = 0; i < NR_ROLES; i++)
		pthread_join(threads[i], NULL);
	drop_segment(&idx);
	printf("%lu lines, %lu words; %lu queries, %lu hits; compressed %lu MB to %lu MB\n",
	       nr_lines, nr_words, nr_queries, nr_hits, bytes_in >> 20, bytes_out >> 20);
	return 0;
}
