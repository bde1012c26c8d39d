/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the flame graph viewer (flame.js) shows: unpacks the data that flame.c wrote, and tells what
 * of it to print. Both files are one function within the page.
 */
const KINDS = {user: 'user code', kernel: 'kernel', jit: 'code without a file (JIT)',
	python: 'Python', unknown: 'unknown', none: ''};

/* What changed between two recordings, from less to more. */
const SHADES = ['less3', 'less2', 'less1', 'same', 'more1', 'more2', 'more3'];

/* --- the data: columns of numbers, one entry per node in depth-first order --- */

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function unpack(text, Numbers) {
	const digits = new Uint8Array(128), out = new Numbers(text.length);
	let nr = 0, value = 0, factor = 1;

	for (let i = 0; i < 64; i++)
		digits[LETTERS.charCodeAt(i)] = i;
	for (let i = 0; i < text.length; i++) {
		const digit = digits[text.charCodeAt(i)];

		value += (digit & 31) * factor; /* no shifts: counts exceed 32 bits */
		factor *= 32;
		if (digit < 32) {
			out[nr++] = value;
			value = 0;
			factor = 1;
		}
	}
	return out.subarray(0, nr);
}

/* Where each node's entry begins in lines, which has one number of what is not known, else three. */
function placesAt(lines, nr) {
	const at = new Uint32Array(nr);

	for (let i = 0, next = 0; i < nr; i++) {
		at[i] = next;
		next += lines[next] ? 3 : 1;
	}
	return at;
}

/* Node i and all below it are i .. end[i] - 1. */
function shapeOf(up) {
	const nr = up.length, depth = new Uint32Array(nr), parent = new Int32Array(nr);
	const end = new Uint32Array(nr), path = [];

	for (let i = 0, d = -1; i < nr; i++) {
		d += 1 - up[i];
		depth[i] = d;
		parent[i] = d ? path[d - 1] : -1;
		path[d] = i;
	}
	for (let i = nr - 1; i >= 0; i--) {
		end[i] = Math.max(end[i], i + 1);
		if (i)
			end[parent[i]] = Math.max(end[parent[i]], end[i]);
	}
	return {nr, depth, parent, end};
}

/* A parent stands before what it has. */
function sumUp(parent, self) {
	const total = Float64Array.from(self);

	for (let i = total.length - 1; i > 0; i--)
		total[parent[i]] += total[i];
	return total;
}

/* Per symbol, the first one of its name: modules tell symbols apart, functions go by name. */
function functionsOf(names) {
	const first = new Map();

	return Uint32Array.from(names, (name, s) => {
		if (!first.has(name))
			first.set(name, s);
		return first.get(name);
	});
}

/* The first value is the one that the page opens with; of two recordings it is that after. */
function readValues(page) {
	const self = unpack(page.self, Float64Array), values = [{name: page.value, unit: page.unit, whole: self}];

	for (const v of page.values)
		values.push({name: v.name, unit: v.unit, class: v.class, packed: v});

	if (page.before !== undefined)
		values.push({name: 'before', unit: page.unit, whole: unpack(page.before, Float64Array)});
	return values;
}

function readData() {
	const page = JSON.parse(document.getElementById('flame-data').textContent);
	const symbols = unpack(page.symbols, Uint32Array), {names} = page;
	const column = (k, list) => names.map((_, s) => list[symbols[3 * s + k]]);

	return {title: page.title, note: page.note, names, functions: functionsOf(names),
		module: column(0, page.modules), kind: column(1, page.kinds),
		colour: column(2, page.colours), shape: shapeOf(unpack(page.up, Uint32Array)),
		symbol: unpack(page.frames, Uint32Array), values: readValues(page), value: 0,
		changes: page.changes, waits: page.waits, colouring: page.colouring, minWidth: page.minWidth,
		files: page.files, moments: page.moments, inRange: null,
		lines: page.lines === undefined ? null : unpack(page.lines, Uint32Array)};
}

const data = readData();

if (data.lines)
	data.linesAt = placesAt(data.lines, data.shape.nr);

/* "src/a.c:12", and how much of it was there, if that was not all; '' is not known. */
function placeOf(i) {
	const {lines} = data, at = lines ? data.linesAt[i] : 0;

	if (!lines || !lines[at])
		return '';
	return `${data.files[lines[at]]}:${lines[at + 1]}` +
		(lines[at + 2] < 100 ? ` (${Math.max(lines[at + 2], 1)}% of it)` : '');
}

/* The totals of all nodes in a value, summed up when first asked for. */
function totalsOf(value) {
	const v = data.values[value];

	v.total = v.total || sumUp(data.shape.parent, selfOf(value));
	return v.total;
}

function unpackSparse(packed) {
	const gaps = unpack(packed.gaps, Uint32Array), self = unpack(packed.self, Float64Array);
	const all = new Float64Array(data.shape.nr);

	for (let nr = 0, i = 0; nr < gaps.length; nr++, i++) {
		i += gaps[nr];
		all[i] = self[nr];
	}
	return all;
}

/* What each node has by itself in a value, of the time that is selected (flame_heat.js). */
function selfOf(value) {
	const v = data.values[value];

	v.whole = v.whole || unpackSparse(v.packed);
	v.self = v.self || (data.inRange ? data.inRange(value) : v.whole);
	return v.self;
}

function unit() {
	return data.values[data.value].unit;
}

/* --- numbers and names as text --- */

/* Three digits, as the other outputs have them: "1.5 s", "230 ms". */
function time(ns) {
	const units = [[1, 'ns', 999.5], [1e3, 'us', 999.5], [1e6, 'ms', 999.5], [1e9, 's', 119.5],
		[60e9, 'min', 119.5], [3600e9, 'h', Infinity]];
	const [size, name] = units.find(([unit, , until]) => ns / unit < until);
	const n = ns / size;

	return (n < 99.95 ? String(Number(n.toPrecision(3))) : n.toFixed(0)) + ' ' + name;
}

function amount(n) {
	return unit() === 'ns' ? time(n) : n.toLocaleString('en-US');
}

function count(n) {
	return amount(n) + (unit() === 'ns' ? '' :
		n === 1 && unit() === 'samples' ? ' sample' : ' ' + unit());
}

function percent(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(2) + '%';
}

/* "12.34% before, 15.00% after (+2.66)", of all; totals as values have them. */
function changeText([after, before]) {
	const [a, b] = [before, after].map((total, k) => 100 * total / (totalsOf(1 - k)[0] || 1));
	const off = b - a;

	return `${a.toFixed(2)}% before, ${b.toFixed(2)}% after (` +
		(!a ? 'new' : !b ? 'gone' : (off < 0 ? '' : '+') + off.toFixed(2)) + ')';
}

/* As changes_shade() of profile/changes.c: what is beyond noise, by how much of the larger side. */
function shadeOf([b, a]) {
	const {scale, of, unit, changed, absolute} = data.changes, all = (a + b) / (of[0] + of[1]);
	const rate = all * (absolute ? 1 : 1 - all) * unit, off = (b - scale * a) / (of[1] || 1);
	const variance = of[0] && of[1] ? rate / of[0] + rate / of[1] : 0;
	const part = Math.abs(b - scale * a) / Math.max(b, scale * a);

	if (!of[1] || !changed || off * off <= data.changes.noise * variance || part < 0.05)
		return SHADES[3];
	return SHADES[3 + (part < 0.2 ? 1 : part < 0.5 ? 2 : 3) * (off < 0 ? -1 : 1)];
}

/* Cut to columns. Most scripts from U+1000 on are drawn double. */
function fit(name, columns) {
	const wide = c => c < '\u1000' ? 1 : 2;
	let used = 0, i = 0;

	if (name.length * 2 <= columns)
		return name;
	if (Array.from(name).reduce((sum, c) => sum + wide(c), 0) <= columns)
		return name;
	for (const c of name) {
		used += wide(c);
		if (used > columns - 1)
			break;
		i += c.length;
	}
	return name.slice(0, i) + '…';
}
