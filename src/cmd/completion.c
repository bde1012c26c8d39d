/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof completion: scripts that complete command lines, made of the tables of commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "doctor/doctor.h"

const struct opt completion_opts[] = { OPT_END };

/* Writes text between single quotes of a shell; zsh gives some characters a meaning in them. */
static void put_quoted(const char *text, bool zsh)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (zsh && strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static bool is_option(const struct opt *o)
{
	return !o->hidden && (o->letter || o->name);
}

static bool names_file(const struct opt *o)
{
	return o->metavar && (!strcmp(o->metavar, "FILE") || !strcmp(o->metavar, "PATH"));
}

/* What doctor takes. */
static void put_doctors_words(void)
{
	unsigned int uses;

	for (size_t i = 0; i < nr_commands; i++)
		if (doctor_uses(commands[i].name, &uses))
			printf("%s ", commands[i].name);
}

static void put_shells(void)
{
	fputs("bash zsh fish", stdout);
}

/* Commands that take words of a list. */
static const struct worded {
	enum cmd_result (*run)(const struct command *self, int argc, char **argv);
	const char *name, *what;
	void (*put)(void);
} worded[] = {
	{ cmd_doctor, "doctor", "command", put_doctors_words },
	{ cmd_completion, "completion", "shell", put_shells },
};
#define NR_WORDED (sizeof(worded) / sizeof(*worded))

static const struct worded *words_of(const struct command *c)
{
	for (size_t i = 0; i < NR_WORDED; i++)
		if (worded[i].run == c->run)
			return &worded[i];
	return NULL;
}

static void put_bash_words(const struct command *c)
{
	for (const struct opt *o = c->opts; o->type != OPT_TYPE_END; o++) {
		if (!is_option(o))
			continue;
		if (o->letter)
			printf(" -%c", o->letter);
		if (o->name)
			printf(" --%s", o->name);
	}
	fputs(" -h --help", stdout);
}

/* compgen expands its words as the shell does, and anybody may name a process "$(reboot)". */
static void put_bash(void)
{
	puts("# bash completion of bpfprof\n"
	     "_bpfprof() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options i\n"
	     "\tCOMPREPLY=()\n"
	     "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	     "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	     "\t\t\tdeclare -F _command_offset >/dev/null && _command_offset $((i + 1))\n"
	     "\t\t\treturn\n"
	     "\t\tfi\n"
	     "\tdone\n"
	     "\tcase ${COMP_WORDS[1]} in");
	for (size_t i = 0; i < nr_commands; i++) {
		printf("\t%s) options='", commands[i].name);
		put_bash_words(&commands[i]);
		puts("' ;;");
	}
	fputs("\tesac\n"
	      "\tif [[ $COMP_CWORD -eq 1 ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      stdout);
	for (size_t i = 0; i < nr_commands; i++)
		printf("%s ", commands[i].name);
	puts("--help --version' -- \"$cur\"))");
	for (size_t i = 0; i < NR_WORDED; i++) {
		printf("\telif [[ ${COMP_WORDS[1]} == %s && $cur != -* ]]; then\n"
		       "\t\tCOMPREPLY=($(compgen -W '",
		       worded[i].name);
		worded[i].put();
		puts("' -- \"$cur\"))");
	}
	puts("\telif [[ $prev == -p || $prev == --pid ]]; then\n"
	     "\t\tlocal names=$(ps -eo pid=,comm= | tr -cd '[:alnum:]._+:@\\n -')\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$names\" -- \"$cur\"))\n"
	     "\telif [[ $cur == -* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	     "\tfi\n"
	     "}\n"
	     "complete -o default -F _bpfprof bpfprof");
}

/* '(-F --freq)'{-F,--freq}'[samples per second]:HZ:', and '*' for what may be repeated. */
static void put_zsh_option(const struct opt *o)
{
	bool repeat = o->type == OPT_TYPE_STRINGS;

	if (o->letter && o->name && repeat)
		printf("\t\t'*'{-%c,--%s}'[", o->letter, o->name);
	else if (o->letter && o->name)
		printf("\t\t'(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
	else if (o->name)
		printf("\t\t'%s--%s[", repeat ? "*" : "", o->name);
	else
		printf("\t\t'%s-%c[", repeat ? "*" : "", o->letter);
	put_quoted(o->help, true);
	putchar(']');
	if (o->metavar)
		printf(":%s:%s", o->metavar, names_file(o) ? "_files" : "");
	puts("' \\");
}

static void put_zsh(void)
{
	puts("#compdef bpfprof\n"
	     "_bpfprof() {\n"
	     "\tif (( CURRENT == 2 )); then\n"
	     "\t\tlocal -a names=(");
	for (size_t i = 0; i < nr_commands; i++) {
		printf("\t\t\t'%s:", commands[i].name);
		put_quoted(commands[i].summary, true);
		puts("'");
	}
	puts("\t\t)\n"
	     "\t\t_describe command names\n"
	     "\t\treturn\n"
	     "\tfi\n"
	     "\tlocal command=$words[2]\n"
	     "\tshift words\n"
	     "\t(( CURRENT-- ))\n"
	     "\tcase $command in");
	for (size_t i = 0; i < nr_commands; i++) {
		const struct worded *w = words_of(&commands[i]);

		printf("\t(%s) _arguments -s -S \\\n", commands[i].name);
		for (const struct opt *o = commands[i].opts; o->type != OPT_TYPE_END; o++)
			if (is_option(o))
				put_zsh_option(o);
		fputs("\t\t'(-h --help)'{-h,--help}'[help]' ", stdout);
		if (w) {
			printf("'*:%s:(", w->what);
			w->put();
			puts(")' ;;");
		} else {
			puts("'*:file:_files' ;;");
		}
	}
	puts("\tesac\n"
	     "}\n"
	     "if [ \"$funcstack[1]\" = _bpfprof ]; then\n"
	     "\t_bpfprof \"$@\"\n"
	     "else\n"
	     "\tcompdef _bpfprof bpfprof\n"
	     "fi");
}

static void put_fish_option(const char *command, const struct opt *o)
{
	printf("complete -c bpfprof -n '__fish_seen_subcommand_from %s'", command);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->name)
		printf(" -l %s", o->name);
	if (o->metavar)
		fputs(names_file(o) ? " -rF" : " -x", stdout);
	fputs(" -d '", stdout);
	put_quoted(o->help, false);
	puts("'");
}

static void put_fish(void)
{
	puts("# fish completion of bpfprof");
	for (size_t i = 0; i < nr_commands; i++) {
		printf("complete -c bpfprof -f -n __fish_use_subcommand -a %s -d '",
		       commands[i].name);
		put_quoted(commands[i].summary, false);
		puts("'");
	}
	for (size_t i = 0; i < nr_commands; i++)
		for (const struct opt *o = commands[i].opts; o->type != OPT_TYPE_END; o++)
			if (is_option(o))
				put_fish_option(commands[i].name, o);
	for (size_t i = 0; i < NR_WORDED; i++) {
		printf("complete -c bpfprof -f -n '__fish_seen_subcommand_from %s' -a '",
		       worded[i].name);
		worded[i].put();
		puts("'");
	}
}

static const struct shell {
	const char *name;
	void (*put)(void);
} shells[] = {
	{ "bash", put_bash },
	{ "zsh", put_zsh },
	{ "fish", put_fish },
};
#define NR_SHELLS (sizeof(shells) / sizeof(*shells))

static enum cmd_result run(const char *name)
{
	const char *names[NR_SHELLS];
	char *shown, *hint;

	for (size_t i = 0; i < NR_SHELLS; i++) {
		names[i] = shells[i].name;
		if (strcmp(name, names[i]))
			continue;
		shells[i].put();
		return CMD_OK;
	}
	hint = text_meant("", text_nearest(name, names, NR_SHELLS));
	shown = text_cleaned(name);
	log_err(0, "unknown shell '%s'%s (use bash, zsh or fish)", shown, hint);
	free(hint);
	free(shown);
	return CMD_USAGE;
}

enum cmd_result cmd_completion(const struct command *self, int argc, char **argv)
{
	char **words;
	int nr, err;

	err = opt_parse(self->name, self->opts, argc, argv, NULL, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		return CMD_OK;
	}
	if (!err && nr == 1)
		return run(words[0]);
	if (!err)
		log_err(0, "which shell? (bpfprof completion bash, zsh or fish)");
	return CMD_USAGE;
}
