/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* As OpenTelemetry Collectors do it. */
#include "push/backoff.h"

uint64_t backoff_ns(unsigned int failures, uint64_t first_ns, uint32_t random)
{
	double ns = first_ns;

	for (; failures > 1 && ns < BACKOFF_MOST_NS; failures--)
		ns *= 1.5;
	if (ns > BACKOFF_MOST_NS)
		ns = BACKOFF_MOST_NS;
	return ns * (0.5 + random / (double)UINT32_MAX);
}

bool backoff_may_retry(long status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}
