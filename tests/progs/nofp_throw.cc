/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nofp_throw [SECONDS]: C++ as it is compiled for use: exceptions through twenty frames, sorting
 * with a comparison, virtual calls, containers, and all without frame pointers. Each stands below
 * its own function, below main.
 */
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define CHAIN __attribute__((noipa))

static volatile unsigned long sink;

static CHAIN int descend(int frames)
{
	std::string on_the_way(static_cast<size_t>(frames), 'x');

	if (frames == 1)
		throw std::runtime_error(on_the_way);
	return descend(frames - 1) + static_cast<int>(on_the_way.size());
}

static CHAIN void throw_often()
{
	for (int i = 0; i < 5; i++) {
		try {
			sink = sink + static_cast<unsigned long>(descend(20));
		} catch (const std::exception &e) {
			sink = sink + std::string(e.what()).size();
		}
	}
}

static CHAIN void sort_often()
{
	std::vector<unsigned> values(20000);
	unsigned seed = 1;

	for (auto &v : values)
		v = seed = seed * 1103515245 + 12345;
	std::sort(values.begin(), values.end(),
		  [](unsigned a, unsigned b) { return (a ^ 0x5555) < (b ^ 0x5555); });
	sink = sink + values[0];
}

struct shape {
	virtual ~shape() = default;
	virtual unsigned area(unsigned x) const = 0;
};

struct square : shape {
	CHAIN unsigned area(unsigned x) const override
	{
		return x * x;
	}
};

struct deep_square : shape {
	square inner;

	CHAIN unsigned area(unsigned x) const override
	{
		return inner.area(x) + 1;
	}
};

static CHAIN void call_virtual()
{
	std::vector<std::unique_ptr<shape>> shapes;

	for (int i = 0; i < 100; i++) {
		if (i % 3)
			shapes.push_back(std::make_unique<square>());
		else
			shapes.push_back(std::make_unique<deep_square>());
	}
	for (unsigned i = 0; i < 1000; i++)
		for (const auto &s : shapes)
			sink = sink + s->area(i);
}

static CHAIN void fill_map()
{
	std::map<std::string, int> names;

	for (int i = 0; i < 2000; i++)
		names[std::to_string(i * 7919 % 2000)] = i;
	sink = sink + names.size();
}

int main(int argc, char **argv)
{
	using clock = std::chrono::steady_clock;
	std::chrono::duration<double> length(argc > 1 ? atof(argv[1]) : 5);
	auto end = clock::now() + length;

	while (clock::now() < end) {
		throw_often();
		sort_often();
		call_virtual();
		fill_map();
	}
	return 0;
}
