/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files in which container runtimes say what a container is: its name, image and pod. They are
 * root's, and hold what users have written.
 */
#ifndef BPFPROF_WHO_RUNTIME_FILES_H
#define BPFPROF_WHO_RUNTIME_FILES_H

#include <stddef.h>

#include "who/fact.h"

/* Path i of those that a container with that id may have, without a first '/'. NULL: no more. */
char *runtime_file_path(size_t i, const char *id);
#define RUNTIME_FILE_MAX_BYTES (1u << 20)

/* What file i says. It may hold anything, and needs no zero behind it. */
void runtime_file_parse(size_t i, const char *text, size_t len, fact_fn fn, void *arg);

/* What the folder of a pod's logs says, "NAMESPACE_POD_UID" in var/log/pods, if it is its uid. */
void runtime_log_folder(const char *folder, const char *pod_uid, fact_fn fn, void *arg);

#endif
