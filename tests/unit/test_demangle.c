/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names demangled as people write them, and mangled names made to cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "symbol/demangle.h"

struct pair {
	const char *linkage, *shown; /* NULL: as it is */
};

static void check(const struct pair *pairs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char *shown = demangle_name(pairs[i].linkage);

		if (!shown || !pairs[i].shown)
			assert_ptr_equal(shown, pairs[i].shown);
		else
			assert_string_equal(shown, pairs[i].shown);
		free(shown);
	}
}
#define CHECK(pairs) check(pairs, sizeof(pairs) / sizeof(*(pairs)))

static void cxx_has_template_arguments_and_no_parameters(void **state)
{
	const struct pair pairs[] = {
		{ "_Z3fooi", "foo" },
		{ "_ZN1A3barIiEEvT_", "A::bar<int>" },
		{ "_ZNK1A3bazEv", "A::baz" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo" },
		{ "_ZN1AcvbEv", "A::operator bool" },
		{ "_ZN1AC1Ev", "A::A" },
		{ "_ZN1AD0Ev", "A::~A" },
		{ "_ZNSt3mapIiiEixERKi", "std::map<int, int>::operator[]" },
		{ "_ZZ3fooiENKUlvE_clEv", "foo(int)::{lambda()#1}::operator()" },
		{ "_Z1fIiEDTcl1gfp_EET_", "f<int>" },
	};

	CHECK(pairs);
}

static void rust_has_no_hash(void **state)
{
	const struct pair pairs[] = {
		{ "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h5ad5b4ee3c1e9f02E",
		  "core::ptr::drop_in_place<alloc::string::String>" },
		{ "_ZN3std2io5stdio6_print17h2e3c5a7b9d1f4680E.llvm.1234567890",
		  "std::io::stdio::_print" },
		{ "_ZN5tokio7runtime17h2e3c5a7b9d1f4680E.cold.1",
		  "tokio::runtime [clone .cold.1]" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function" },
		{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
		{ "_RNvC3foo3bar.llvm.42", "foo::bar" },
	};

	CHECK(pairs);
}

static void copies_made_by_the_compiler_say_so(void **state)
{
	const struct pair pairs[] = {
		{ "_Z3fooi.cold", "foo [clone .cold]" },
		{ "_Z3fooi@plt", "foo@plt" },
		{ "_Z3fooi.part.0", "foo [clone .part.0]" },
		{ "_Z3fooi.constprop.0.isra.1", "foo [clone .constprop.0] [clone .isra.1]" },
		{ "_Z3fooi.avx512f", "foo [clone .avx512f]" },
		{ "_Z3fooi.7", "foo [clone .7]" },
		{ "_Z3fooi.llvm.1234", "foo" },
		{ "_Z3fooi.llvm.1234.cold", "foo [clone .cold]" },
		{ "_Z3fooi.llvmx.1", "foo [clone .llvmx.1]" },
		{ "vfs_read.llvm.9876", "vfs_read" },
		{ "vfs_read.llvm.9876.cold", "vfs_read.cold" },
		{ "vfs_read.constprop.0", NULL },
		{ "vfs_read.cold", NULL },
	};

	CHECK(pairs);
}

static void what_is_not_mangled_stays(void **state)
{
	const struct pair pairs[] = {
		{ "main", NULL },
		{ "", NULL },
		{ ".", NULL },
		{ "a.", NULL },
		{ ".cold", NULL },
		{ "_Z", NULL },
		{ "_R", NULL },
		{ "_Zone", NULL },
		{ "_Z3fooXX", NULL },
		{ "_Z3foo", "foo" },
		{ "_Z3fooi junk", NULL },
		{ "_ZcvT_", NULL },
		{ "_Z3fooi.", NULL },
		{ "_Z3fooi..a", NULL },
		{ "_Z9999999999f", NULL },
		{ "_Rust_is", NULL },
		{ "runtime.goexit", NULL },
		{ "_ZN", NULL },
	};

	CHECK(pairs);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* The name of substitution nr: S_, S0_ … SZ_, S10_ … */
static void put_substitution(FILE *f, unsigned int nr)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	fputc('S', f);
	if (nr > 36)
		fputc(digits[(nr - 1) / 36], f);
	if (nr)
		fputc(digits[(nr - 1) % 36], f);
	fputc('_', f);
}

/* B<int,int>, B<T1,T1>, B<T2,T2> …: each twice as long as the one before. B is substitution nr. */
static void put_doubling(FILE *f, unsigned int nr, unsigned int levels)
{
	fputs("1BIiiE", f);
	for (unsigned int i = 0; i < levels; i++) {
		put_substitution(f, nr);
		fputc('I', f);
		put_substitution(f, nr + 1 + i);
		put_substitution(f, nr + 1 + i);
		fputc('E', f);
	}
}

/* f<B<int,int>, B<…>, …> */
static char *doubling(unsigned int levels)
{
	size_t len;
	char *name;
	FILE *f = open_memstream(&name, &len);

	fputs("_Z1fI", f);
	put_doubling(f, 1, levels);
	fputs("Evv", f);
	fclose(f);
	return name;
}

/*
 * f<(T…)[sizeof (C<B<int,int>, …>)]> with T the last of them: the demangler searches all of T for a
 * pack to expand before it prints anything, so a bound on the output comes too late.
 */
static char *silent_doubling(unsigned int levels)
{
	size_t len;
	char *name;
	FILE *f = open_memstream(&name, &len);

	fputs("_Z1fIAst1CI", f);
	put_doubling(f, 2, levels);
	fputs("E_Dp", f);
	put_substitution(f, 3 + levels);
	fputs("Evv", f);
	fclose(f);
	return name;
}

/* How long it took, and whether there was another name to show. */
static bool demangles_within(const char *linkage, double seconds)
{
	double start = cpu_seconds();
	char *shown = demangle_name(linkage);
	bool demangled = shown;

	free(shown);
	assert_true(cpu_seconds() - start < seconds);
	return demangled;
}

static void names_that_explode_stay_as_they_are(void **state)
{
	const struct pair pairs[] = {
		{ doubling(1), "f<B<int, int>, B<B<int, int>, B<int, int> > >" },
		{ silent_doubling(0), "f<(B<int, int>)... [sizeof (C<B<int, int> >)]>" },
	};
	char *name;

	CHECK(pairs);
	free((char *)pairs[0].linkage);
	free((char *)pairs[1].linkage);
	for (unsigned int levels = 12; levels <= 300; levels += 16) {
		name = doubling(levels);
		assert_false(demangles_within(name, 0.2));
		free(name);
		name = silent_doubling(levels);
		assert_false(demangles_within(name, 0.2));
		free(name);
	}
}

/* A reference of Rust's v0 mangling to byte at of the name, at > 0, in base 62. */
static void put_reference(FILE *f, size_t at)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	fputc('B', f);
	if (at > 62)
		fputc(digits[(at - 1) / 62], f);
	fputc(digits[(at - 1) % 62], f);
	fputc('_', f);
}

/* a::f::<(u8, u8), ((u8, u8), (u8, u8)), …>: the same by references to earlier bytes. */
static char *rust_doubling(unsigned int levels)
{
	size_t len, last, at;
	char *name;
	FILE *f = open_memstream(&name, &len);

	fputs("_RINvC1a1f", f);
	last = ftell(f) - 2; /* counted from behind "_R" */
	fputs("ThhE", f);
	for (; levels; levels--, last = at) {
		at = ftell(f) - 2;
		fputc('T', f);
		put_reference(f, last);
		put_reference(f, last);
		fputc('E', f);
	}
	fputc('E', f);
	fclose(f);
	return name;
}

static void rust_names_that_explode_stay_as_they_are(void **state)
{
	const struct pair pair = { rust_doubling(1), "a::f::<(u8, u8), ((u8, u8), (u8, u8))>" };
	char *name;

	check(&pair, 1);
	free((char *)pair.linkage);
	for (unsigned int levels = 12; levels <= 250; levels += 14) {
		name = rust_doubling(levels);
		assert_false(demangles_within(name, 0.2));
		free(name);
	}
}

static void long_and_deep_names_stay_as_they_are(void **state)
{
	char *name = calloc(1, 1 << 20);

	memset(name, 'P', 5000);
	memcpy(name, "_Z1f", 4);
	assert_false(demangles_within(name, 0.1));
	memset(name, 'P', 4000);
	memcpy(name, "_Z1f", 4);
	name[4000] = 'i';
	name[4001] = '\0';
	demangles_within(name, 0.1);
	memset(name, 'x', (1 << 20) - 1);
	memcpy(name, "_Z1f", 4);
	assert_false(demangles_within(name, 0.1));
	memset(name, '.', 4096);
	name[4096] = '\0';
	assert_false(demangles_within(name, 0.1));
	free(name);
}

/* Deterministic damage to real names: no crash, no leak, no endless loop. */
static void damaged_names_do_no_harm(void **state)
{
	static const char *const seeds[] = {
		"_ZNSt6vectorIiSaIiEE9push_backERKi",
		"_ZSt4sortIN9__gnu_cxx4iterIPiSt6vectorIiSaIiEEEEZ4mainEUlT_T0_E_EvS7_S7_T1_",
		"_ZN1A3barIJidEEEvDpOT_.constprop.0",
		"_ZNK3fooIXadL_Z3barvEEE3bazILi3EEEDTcl1gfp_fp0_EEPKcz",
		"_RINvNtC3std3mem8align_ofdEB2_B3_.llvm.7",
		"_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h5ad5b4ee3c1e9f02E",
	};
	static const char alphabet[] = "_ZSTIEJDpLXclN0123456789RKPabivBhT.$z";
	uint64_t x = 88172645463325252ull;
	size_t demangled = 0;
	char name[256];

	for (int i = 0; i < 60000; i++) {
		strcpy(name, seeds[i % 6]);
		for (int n = i / 6 % 5; n >= 0; n--) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			name[(x >> 8) % strlen(name)] =
				alphabet[(x >> 32) % (sizeof(alphabet) - 1)];
		}
		demangled += demangles_within(name, 0.5);
	}
	print_message("%zu of 60000 damaged names still demangle\n", demangled);
	assert_true(demangled > 1000 && demangled < 59000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cxx_has_template_arguments_and_no_parameters),
		cmocka_unit_test(rust_has_no_hash),
		cmocka_unit_test(copies_made_by_the_compiler_say_so),
		cmocka_unit_test(what_is_not_mangled_stays),
		cmocka_unit_test(names_that_explode_stay_as_they_are),
		cmocka_unit_test(rust_names_that_explode_stay_as_they_are),
		cmocka_unit_test(long_and_deep_names_stay_as_they_are),
		cmocka_unit_test(damaged_names_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
