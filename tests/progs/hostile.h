/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 64 names that attack whoever prints them: terminals, folded lines, XML, HTML, JSON, spreadsheets,
 * format strings, UTF-8 decoders, demanglers. None is longer than the 15 bytes of a thread's name.
 */
#ifndef BPFPROF_TESTS_HOSTILE_H
#define BPFPROF_TESTS_HOSTILE_H

#define NR_HOSTILE 64

static const char *const hostile_names[NR_HOSTILE] = {
	/* Escape sequences, C0 and C1 controls. */
	"\x1b[31mred",
	"\x1b[2J\x1b[H",
	"\x1b]0;pwned\x07",
	"\x1b]8;;http://x",
	"\x1bP+q\x1b\\",
	"\x1b_G\x1b\\",
	"\x1b[?1049h",
	"\x1b",
	"\x9b\x33\x31m",
	"\xc2\x9b\x33\x31m",
	"\xc2\x85nel",
	"\x90q\x9c",
	"back\b\b\b\bevil",
	"\x7f\x7f\x64\x65l",
	"bell\x07",
	"vt\x0b ff\x0c",
	"shift\x0e\x0f",
	/* The folded grammar. */
	"a;b;c",
	";",
	"all;main 1",
	"x\nall;fake 99",
	"x\r\nfake 5",
	"cr\rover",
	"tab\tb",
	"worker 3",
	"worker 3 100",
	"ratio 3.5",
	" 7",
	"42",
	"trail ",
	"two  spaces",
	"--",
	"-",
	"a_[k]",
	"[unknown]",
	/* Markup, scripts, strings. */
	"</script>",
	"<!--<script>",
	"<svg onload=a()",
	"]]>",
	"<![CDATA[",
	"&#27;&amp;&lt;",
	"&#x1b;",
	"\"onclick=\"a",
	"'><b>",
	"`${x}`",
	"{{x}}",
	"__proto__",
	"\\u001b\\n\\",
	"%s%n%x",
	"../../etc/x",
	/* Spreadsheets. */
	"=cmd()",
	"@SUM(A1)",
	"+1+1",
	"a,b,\"c\"",
	/* No UTF-8, no characters, and other directions. */
	"\xff\xfe",
	"\xc0\xaf",
	"\xe4\xb8",
	"\xed\xa0\x80",
	"\xf4\x90\x80\x80",
	"\xef\xbf\xbe",
	"\xe2\x80\xaegnp.exe",
	"\xe2\x81\xa6iso",
	"\xe2\x80\xa8ls",
	/* Looks mangled. */
	"_ZNSt3mapI",
};

#endif
