/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls a member of a template 23 times, and a function 10 times that throws at every second call;
 * prints how many exceptions it has caught.
 */
#include <cstdio>
#include <stdexcept>

template <class T> struct Box {
	T kept;
	__attribute__((noinline)) T get(T more)
	{
		kept += more;
		return kept;
	}
};
template struct Box<long>;

__attribute__((noinline)) void thrower(int i)
{
	if (i % 2)
		throw std::runtime_error("odd");
	__asm__ volatile("");
}

int main()
{
	volatile int caught = 0;
	Box<long> box = { 0 };

	for (int i = 0; i < 23; i++)
		box.get(i);
	for (int i = 0; i < 10; i++)
		try {
			thrower(i);
		} catch (const std::exception &) {
			caught = caught + 1;
		}
	std::printf("caught %d\n", (int)caught);
}
