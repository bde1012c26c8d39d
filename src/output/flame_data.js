/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the flame graph viewer (flame.js) shows: unpacks the data that flame.c wrote, and tells what
 * of it to print. Both files are one function within the page.
 */
const KINDS = {user: 'user code', kernel: 'kernel', jit: 'code without a file (JIT)',
	unknown: 'unknown'};

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

/* Per node: "src/a.c:12", and how much of it was there, if that was not all; '' is not known. */
function readPlaces(lines, files, nr) {
	const places = new Array(nr).fill('');

	for (let i = 0, at = 0; i < nr; i++) {
		const file = lines[at++];

		if (!file)
			continue;
		places[i] = `${files[file]}:${lines[at]}` +
			(lines[at + 1] < 100 ? ` (${Math.max(lines[at + 1], 1)}% of it)` : '');
		at += 2;
	}
	return places;
}

function readData() {
	const data = JSON.parse(document.getElementById('flame-data').textContent);
	const up = unpack(data.up, Uint32Array), nr = up.length;
	const symbols = unpack(data.symbols, Uint32Array);

	const after = layOut(up, unpack(data.self, Float64Array));

	return Object.assign(after, readChanges(data, up, after), {
		nr, title: data.title, note: data.note, unit: data.unit, names: data.names,
		symbol: unpack(data.frames, Uint32Array),
		places: data.lines === undefined ? [] :
			readPlaces(unpack(data.lines, Uint32Array), data.files, nr),
		module: data.names.map((_, s) => data.modules[symbols[2 * s]]),
		colour: data.names.map((_, s) => data.colours[symbols[2 * s + 1]]),
	});
}

/* Of two recordings: both sides laid out, and the colour of each node by what changed. */
function readChanges(data, up, after) {
	if (data.before === undefined)
		return {};
	const shade = unpack(data.shades, Uint8Array);

	return {sides: [layOut(up, unpack(data.before, Float64Array)), Object.assign({}, after)],
		side: 1, shade: Array.from(shade, s => SHADES[s])};
}

/* Widths are those of one side: what the other one alone has is not drawn. */
function chooseSide(side) {
	Object.assign(data, data.sides[side], {side});
}

/* Node i and all below it are i .. end[i] - 1; it covers start[i] .. start[i] + total[i]. */
function layOut(up, self) {
	const nr = up.length, depth = new Uint32Array(nr), parent = new Int32Array(nr);
	const end = new Uint32Array(nr), total = Float64Array.from(self);
	const start = new Float64Array(nr), next = new Float64Array(nr);

	for (let i = 0, d = -1, path = []; i < nr; i++) {
		d += 1 - up[i];
		depth[i] = d;
		parent[i] = d ? path[d - 1] : -1;
		path[d] = i;
	}
	for (let i = nr - 1; i > 0; i--) {
		end[i] = Math.max(end[i], i + 1);
		end[parent[i]] = Math.max(end[parent[i]], end[i]);
		total[parent[i]] += total[i];
	}
	end[0] = nr;
	for (let i = 1; i < nr; i++) {
		start[i] = next[i] = next[parent[i]];
		next[parent[i]] += total[i];
	}
	return {depth, parent, end, start, total, self};
}

const data = readData();

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
	return data.unit === 'ns' ? time(n) : n.toLocaleString('en-US');
}

function count(n) {
	return amount(n) + (data.unit === 'ns' ? '' :
		n === 1 && data.unit === 'samples' ? ' sample' : ' ' + data.unit);
}

function percent(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(2) + '%';
}

/* "12.34% before, 15.00% after (+2.66)", of what a node has in all; '' of one recording. */
function change(i) {
	if (!data.sides)
		return '';
	const [before, after] = data.sides.map(({total}) => 100 * total[i] / (total[0] || 1));
	const off = after - before;

	return `${before.toFixed(2)}% before, ${after.toFixed(2)}% after (` +
		(!before ? 'new' : !after ? 'gone' : (off < 0 ? '' : '+') + off.toFixed(2)) + ')';
}

function nameOf(i) {
	return data.names[data.symbol[i]];
}

function kindOf(i) {
	return KINDS[data.colour[data.symbol[i]].replace(/\d+$/, '')] || '';
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
