/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two recordings of one kind, or several of each side: what changed, and is it more than noise?
 *
 * Functions and call trees of both are merged by name; so are tasks, threads and the like, where
 * the view is by these (view_by_owner()). What is compared is the share that a
 * function's own samples have of their side, or with absolute what was recorded of it.
 *
 * Noise. Were samples independent, a share of x of n samples would vary with x (1 - x) / n. Real
 * programs vary by more, from run to run and within one. How much more show recordings of a side,
 * where it has several, and slices of time of a recording: chi-square per degree of freedom, of
 * each function drawn towards that of all functions together (as if CHANGES_PRIOR_DF degrees had
 * seen the latter), never less than 1; the larger one counts. The difference of the shares then
 * follows Student's t. Functions are judged together: Holm's method keeps the chance
 * that any of them is called changed without being so at alpha.
 */
#ifndef BPFPROF_PROFILE_CHANGES_H
#define BPFPROF_PROFILE_CHANGES_H

#include "profile/tree.h"

#define CHANGES_PRIOR_DF 20

/* Of both sides, 0 = before, 1 = after. */
struct change {
	uint32_t name;	 /* in tree->names */
	uint32_t module; /* of the merged profile */
	uint8_t kind;	 /* enum frame_kind */
	bool judged;	 /* its share is large enough on a side */
	bool real;	 /* judged, and beyond noise */
	bool failed;	 /* real, and grew by more than fail_above_pct */
	uint64_t self[2], total[2];
	/*
	 * What it costs more: of self over that of all other code, with absolute of self.
	 * INFINITY: nothing before.
	 */
	double change_pct;
	double p; /* how likely noise alone makes as much of it; 1 unless judged */
};

struct changes_opts {
	bool absolute;
	double alpha;
	double fail_above_pct; /* NAN: nothing fails */
};

/* What is written above the results: of the recordings of a side. */
struct changes_side {
	const char *name;	       /* of the first file */
	const struct profile *profile; /* the first one */
	size_t nr;		       /* recordings */
	size_t nr_incomplete;	       /* of which a part could not be read: nothing fails by it */
	uint64_t recorded, lost;       /* of all of them, by the ledger */
};

struct changes {
	struct changes_opts opts;
	struct changes_side sides[2];
	enum view_by by; /* what rows are */
	struct profile *both;
	struct tree *tree;	       /* with the weights after; both sides' nodes */
	uint64_t *self[2], *total[2];  /* of each node */
	struct change *v;	       /* largest difference of self first */
	size_t nr, nr_failed, nr_real; /* nr_real: in any direction */
	double unit;		       /* what one independent sample weighs */
	/*
	 * How much more than independent samples functions vary, all together, at least 1:
	 * from recording to recording, and from slice to slice of a recording.
	 */
	double dispersion, slice_dispersion;
	double shade_noise; /* by how many variances frames that have a colour are off */
	bool noise_known;   /* a side has several recordings */
	bool slices_known;  /* a recording has several slices */
};

/* What of it a side has in all. */
static inline uint64_t changes_all(const struct changes *c, int side)
{
	return c->total[side][0];
}

/* What is missing may be any function's, so none is judged to have become slower. */
static inline size_t changes_incomplete(const struct changes *c)
{
	return c->sides[0].nr_incomplete + c->sides[1].nr_incomplete;
}

/* By how much what was recorded before is multiplied to compare with what is after. */
double changes_scale(const struct changes *c);

/* What rates of a side are of: all that it has, with absolute its recordings. */
double changes_of_side(const struct changes *c, int side);

/*
 * How much the total of a node changed, relative to the larger side: 0 by less than a twentieth or
 * within noise, 1 and -1 below a fifth, 2 below a half, 3 beyond. Frames are judged together, as
 * functions are, and where no function changed none of them has.
 */
int changes_shade(const struct changes *c, uint32_t node);

/*
 * profiles: those of the side before, then those after; names of their files likewise. View:
 * percent_limit is the least share on a side to be judged. All must stay until
 * changes_release(). Negative after one sentence: they are not of one kind, or too large.
 */
int changes_make(struct changes *c, struct profile *const *profiles, char *const *names,
		 const size_t nr[2], const struct view *v, const struct changes_opts *opts);
void changes_release(struct changes *c);

#endif
