/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The half of a split unit that is in a file of its own (.dwo). libdw opens that by its path, below
 * the folder that the compiler ran in: the one file that it opens itself, as only so it joins the
 * two. So the file is looked at before: libdw unpacks all sections at once, and keeps 70 bytes for
 * each row of a line table, where such a file has none.
 *
 * Limits: 256 MB unpacked, 4 MB of .debug_line.dwo. A file that is exchanged in between is for the
 * memory limit of the process.
 */
#ifndef BPFPROF_SYMBOL_DWARF_SPLIT_H
#define BPFPROF_SYMBOL_DWARF_SPLIT_H

#include <stdbool.h>

#include <elfutils/libdw.h>

/*
 * The DIE of the other half. False: it is gone, or not to be read. path: where it was looked for,
 * NULL = nowhere; to be freed.
 */
bool dwarf_split_find(Dwarf_Die *die, Dwarf_Die *split, char **path);

#endif
