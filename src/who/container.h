/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process's control groups say of it: the text of /proc/PID/cgroup as container runtimes and
 * systemd write it. Pure; the text may hold anything.
 */
#ifndef BPFPROF_WHO_CONTAINER_H
#define BPFPROF_WHO_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_ID_LEN 64
/* 32 digits, '-' and a number, as ECS has them, are shorter. */
#define CONTAINER_NAME_MAX 128

struct container_place {
	char id[CONTAINER_ID_LEN + 1]; /* of the container, "" = none */
	char name[CONTAINER_NAME_MAX]; /* of one that has a name there: LXC, systemd-nspawn */
	char pod_uid[40];	       /* with '-', "" = none */
	char unit[CONTAINER_NAME_MAX]; /* of systemd, without escapes; "" = none */
	bool is_service;	       /* the unit is a service of the machine */
	bool is_monitor;	       /* it watches a container, and is in none */
};

void container_parse(const char *text, size_t len, struct container_place *c);

#endif
