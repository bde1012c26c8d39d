/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * C++ and Rust names as people write them, without parameter lists, by libiberty. Names come from
 * hostile files too, and 300 bytes can ask for a gigabyte; so what is longer than 4 KB mangled or
 * 16 KB demangled, or unfolds to more than 16,384 nodes, stays as it is.
 */
#ifndef BPFPROF_SYMBOL_DEMANGLE_H
#define BPFPROF_SYMBOL_DEMANGLE_H

/*
 * Returns a string to free(), NULL when the name is to be shown as it is. What the compiler
 * appended for a copy stays readable: "_Z3fooi.cold" is "foo [clone .cold]"; ".llvm.123" is
 * dropped, from C names too; so are Rust's hashes. "@plt" stays.
 */
char *demangle_name(const char *linkage);

/* The same with the parameters of C++ functions: "net::Listener::accept(int)". */
char *demangle_signature(const char *linkage);

#endif
