/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flame graph viewer, one script for the html and the svg output. It draws
 * the data of flame_data.js, but only what the current zoom makes wide enough to be seen. All frames
 * of a colour are one <path> and the mouse is looked up by its position, so that a picture of
 * thousands of frames is a few dozen elements plus labels, and a profile of any size draws alike.
 *
 * Names are hostile: they reach the page as text nodes only. This file also lies within CDATA.
 */
const XHTML = 'http://www.w3.org/1999/xhtml';
const SVG = 'http://www.w3.org/2000/svg';
const ROW = 17;         /* px from row to row */
const MIN_WIDTH = 0.5;  /* px; narrower frames, and all above them, are not drawn */
const MIN_LABEL = 3;    /* columns */
const PAD = 3;          /* px on both sides of a label */

/* --- what is shown, and the elements that show it --- */

const state = {
	zoom: 0,        /* node */
	cursor: -1,     /* node under the mouse or chosen by keys, -1 for none */
	matches: null,  /* of the search, per symbol */
	rows: [],       /* per depth the nodes drawn, left to right */
	width: 0,       /* px */
	mouse: '',      /* its place when last seen */
	icicle: false,
	dark: false,
	chosen: false,  /* dark or light by the button, not by the system */
};

function setAttributes(e, attributes) {
	for (const [name, value] of Object.entries(attributes))
		e.setAttribute(name, value);
	return e;
}

function svgElement(tag, attributes) {
	return setAttributes(document.createElementNS(SVG, tag), attributes);
}

/* Strings among the children become text nodes. */
function element(tag, attributes, ...children) {
	const e = setAttributes(document.createElementNS(XHTML, tag), attributes);

	e.append(...children);
	return e;
}

function button(label, title, action) {
	const e = element('button', {type: 'button', title}, label);

	e.addEventListener('click', action);
	return e;
}

const ui = {
	search: element('input', {type: 'search', placeholder: 'Search, regex ( / )',
		spellcheck: 'false', 'aria-label': 'Search names by regular expression'}),
	matched: element('output', {class: 'matched', 'aria-live': 'polite'}),
	reset: button('Reset zoom', 'Show everything (Esc)', () => zoomTo(0)),
	flip: button('Icicle', 'Root at the top or at the bottom (i)', flip),
	sides: button('Before', 'Widths of the recording before or after (b)', swapSides),
	theme: button('Dark', 'Dark or light (d)', toggleTheme),
	chart: element('div', {class: 'chart', tabindex: '0', role: 'application'}),
	status: element('div', {class: 'status', 'aria-live': 'polite'}),
	tip: element('div', {class: 'tip', 'aria-hidden': 'true', hidden: ''}),
	svg: svgElement('svg', {'aria-hidden': 'true'}),
	paths: svgElement('g', {}),
	labels: svgElement('g', {class: 'labels'}),
	cursor: svgElement('rect', {class: 'cursor'}),
};

/* --- drawing --- */

function isAncestor(i) {
	return i < state.zoom && data.end[i] > state.zoom;
}

/* Left edge and width in px. What was zoomed into, and all it was called from, takes it all. */
function extent(i) {
	const scale = state.width / data.total[state.zoom];

	if (i === state.zoom || isAncestor(i))
		return [0, state.width];
	return [(data.start[i] - data.start[state.zoom]) * scale, data.total[i] * scale];
}

function top(i) {
	const depth = data.depth[i];

	return (state.icicle ? depth : state.rows.length - 1 - depth) * ROW;
}

function choose() {
	const {zoom, width} = state, rows = state.rows = [];
	const least = MIN_WIDTH * data.total[zoom] / width;

	for (let i = data.parent[zoom]; i >= 0; i = data.parent[i])
		rows[data.depth[i]] = [i];
	for (let i = zoom; i < data.end[zoom];) {
		if (i > zoom && data.total[i] < least) {
			i = data.end[i];
			continue;
		}
		(rows[data.depth[i]] = rows[data.depth[i]] || []).push(i);
		i++;
	}
}

function classOf(i) {
	const s = data.symbol[i];

	return (state.matches && state.matches[s] ? 'match' :
		data.shade ? data.shade[i] : data.colour[s]) +
		(isAncestor(i) ? ' faded' : '');
}

function drawPaths() {
	const paths = new Map(), round = x => Math.round(x * 100) / 100;

	for (const row of state.rows) {
		const y = top(row[0]);

		for (const i of row) {
			const [x, w] = extent(i), name = classOf(i);
			const shown = round(w > 1.5 ? w - 0.7 : w);

			if (!paths.has(name))
				paths.set(name, []);
			paths.get(name).push(`M${round(x)} ${y}h${shown}v${ROW - 1}h-${shown}z`);
		}
	}
	ui.paths.replaceChildren(...Array.from(paths, ([name, parts]) =>
		svgElement('path', {class: name, d: parts.join('')})));
}

let columnWidth = 0;

function measureColumn() {
	const probe = svgElement('text', {});

	probe.textContent = 'm'.repeat(100);
	ui.labels.append(probe);
	columnWidth = probe.getComputedTextLength() / 100 || 7.3;
}

function drawLabels() {
	const labels = document.createDocumentFragment();

	for (const row of state.rows) {
		for (const i of row) {
			const [x, w] = extent(i), columns = Math.floor((w - 2 * PAD) / columnWidth);

			if (columns < MIN_LABEL)
				continue;
			const e = svgElement('text', {x: x + PAD, y: top(i) + 12});
			e.textContent = fit(nameOf(i), columns);
			labels.append(e);
		}
	}
	ui.labels.replaceChildren(labels);
}

function draw() {
	state.width = Math.max(ui.chart.clientWidth - 20, 50);
	if (!columnWidth)
		measureColumn();
	choose();
	ui.svg.setAttribute('width', state.width);
	ui.svg.setAttribute('height', state.rows.length * ROW);
	drawPaths();
	drawLabels();
	drawCursor();
	const nr = state.rows.reduce((sum, row) => sum + row.length, 0);
	ui.chart.setAttribute('aria-label', `Flame graph of ${nameOf(state.zoom)}, ${nr} frames. ` +
		'Arrow keys walk the frames, Enter zooms, Escape resets.');
	ui.reset.disabled = !state.zoom;
}

/* The root row is what readers start from: keep it in view. */
function scrollToRoot() {
	ui.chart.scrollTop = state.icicle ? 0 : ui.chart.scrollHeight;
}

/* --- one frame: under the mouse, or under the keyboard's cursor --- */

function isDrawn(i) {
	const row = state.rows[data.depth[i]];

	return Boolean(row && row.includes(i));
}

function drawCursor() {
	const i = state.cursor;

	ui.cursor.toggleAttribute('hidden', !isDrawn(i));
	if (!isDrawn(i))
		return;
	const [x, w] = extent(i);
	setAttributes(ui.cursor, {x, y: top(i), width: Math.max(w - 0.7, 1), height: ROW - 1});
}

function setCursor(i) {
	if (i === state.cursor)
		return;
	state.cursor = i;
	drawCursor();
	ui.status.textContent = i < 0 ? '' : [nameOf(i), ...details(i)].join(' · ');
}

/* The lines behind the name. */
function details(i) {
	const {total, self, parent, end} = data, zoom = state.zoom;
	const of = (k, note) => percent(total[i], total[k]) + ' of ' + nameOf(k) + note;
	const lines = [[data.module[data.symbol[i]], kindOf(i)].filter(Boolean).join(', '),
		data.places[i], change(i),
		`${count(total[i])}, self ${amount(self[i])}`,
		of(0, data.unit === 'ns' ? '' : ' ' + data.unit)];

	if (parent[i] > 0)
		lines.push(of(parent[i], ', the caller'));
	if (zoom && i > zoom && i < end[zoom] && parent[i] !== zoom)
		lines.push(of(zoom, ', zoomed into'));
	return lines.filter(Boolean);
}

/* The frame at a point of the drawing, or -1: the last one in its row that begins left of x. */
function hit(x, y) {
	const row = Math.floor(y / ROW);
	const frames = state.rows[state.icicle ? row : state.rows.length - 1 - row] || [];
	let low = 0, high = frames.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (extent(frames[middle])[0] <= x)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || x < 0)
		return -1;
	const [left, width] = extent(frames[low - 1]);
	return x < left + width ? frames[low - 1] : -1;
}

function hitMouse(event) {
	const box = ui.svg.getBoundingClientRect();

	return hit(event.clientX - box.left, event.clientY - box.top);
}

function placeTip(event) {
	const {tip} = ui, gap = 14;
	let x = event.clientX + gap, y = event.clientY + gap;

	if (x + tip.offsetWidth > innerWidth)
		x = Math.max(0, innerWidth - tip.offsetWidth);
	if (y + tip.offsetHeight > innerHeight)
		y = Math.max(0, event.clientY - gap - tip.offsetHeight);
	tip.style.left = x + 'px';
	tip.style.top = y + 'px';
}

function showTip(i, event) {
	ui.tip.hidden = i < 0;
	if (i < 0)
		return;
	ui.tip.replaceChildren(element('b', {}, nameOf(i)),
		...details(i).map(line => element('div', {}, line)));
	placeTip(event);
}

function onMouse(event) {
	const i = hitMouse(event), place = `${event.clientX},${event.clientY}`;

	if (place === state.mouse)
		return; /* not the mouse moved but the page below it, by keys */
	state.mouse = place;
	if (i === state.cursor && !ui.tip.hidden)
		placeTip(event);
	else
		showTip(i, event);
	setCursor(i);
}

/* --- zoom, search, looks --- */

function zoomTo(i) {
	ui.tip.hidden = true;
	state.zoom = i;
	draw();
	scrollToRoot();
	writeAddress();
}

/* A regular expression, or the plain text when it is none; capitals make case matter. */
function matcher(query) {
	const flags = query === query.toLowerCase() ? 'iu' : 'u';

	try {
		return new RegExp(query, flags);
	} catch (e) {
		return new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), flags);
	}
}

/* Samples that have a match anywhere in their stack: below a match nothing counts again. */
function sumMatches() {
	let sum = 0;

	for (let i = 0; i < data.nr;) {
		if (state.matches[data.symbol[i]]) {
			sum += data.total[i];
			i = data.end[i];
		} else {
			i++;
		}
	}
	return sum;
}

function search() {
	const query = ui.search.value;

	state.matches = null;
	ui.matched.textContent = '';
	if (query) {
		const re = matcher(query);

		state.matches = data.names.map(name => re.test(name));
		ui.matched.textContent = 'matched ' + percent(sumMatches(), data.total[0]);
	}
	drawPaths();
	writeAddress();
}

function flip() {
	state.icicle = !state.icicle;
	ui.flip.textContent = state.icicle ? 'Flame' : 'Icicle';
	ui.chart.classList.toggle('icicle', state.icicle);
	draw();
	scrollToRoot();
}

/* Of two recordings: the other one's widths. What it lacks cannot stay zoomed. */
function swapSides() {
	if (!data.sides)
		return;
	chooseSide(1 - data.side);
	ui.sides.textContent = data.side ? 'Before' : 'After';
	if (!data.total[state.zoom])
		state.zoom = 0;
	search();
	draw();
	scrollToRoot();
}

function setDark(dark) {
	state.dark = dark;
	ui.theme.textContent = dark ? 'Light' : 'Dark';
}

/* The dark colours are the last rule of the sheet, under a media query that we can make our own. */
function toggleTheme() {
	const rules = document.getElementById('flame-style').sheet.cssRules;

	state.chosen = true;
	setDark(!state.dark);
	rules[rules.length - 1].media.mediaText = state.dark ? 'all' : 'not all';
}

/* --- keys --- */

function neighbour(i, step) {
	const row = state.rows[data.depth[i]];

	return row[row.indexOf(i) + step];
}

/* The heaviest one comes first; of an ancestor of the zoomed frame only the way there is drawn. */
function callee(i) {
	return (state.rows[data.depth[i] + 1] || []).find(k => data.parent[k] === i);
}

function walk(key) {
	const from = state.cursor, deeper = state.icicle ? 'ArrowDown' : 'ArrowUp';
	let to = state.zoom;

	if (isDrawn(from))
		to = key === 'ArrowLeft' ? neighbour(from, -1) : key === 'ArrowRight' ?
			neighbour(from, 1) : key === deeper ? callee(from) : data.parent[from];
	if (to === undefined || to < 0)
		return;
	setCursor(to);
	ui.cursor.scrollIntoView({block: 'nearest'});
}

function escape() {
	if (document.activeElement === ui.search && ui.search.value) {
		ui.search.value = '';
		search();
	} else {
		ui.search.blur();
		zoomTo(0);
	}
}

const KEYS = {Escape: escape, '/': () => ui.search.select(), i: flip, d: toggleTheme,
	b: swapSides, c: copyStack};

function onKey(event) {
	const typing = event.target === ui.search;
	const find = (event.ctrlKey || event.metaKey) && event.key === 'f';

	if (find ? typing : event.ctrlKey || event.metaKey || event.altKey)
		return; /* a second Ctrl-F is the browser's */
	if (find)
		ui.search.select();
	else if (event.key in KEYS && (!typing || event.key === 'Escape'))
		KEYS[event.key]();
	else if (event.target === ui.chart && event.key.startsWith('Arrow'))
		walk(event.key);
	else if (event.target === ui.chart && event.key === 'Enter' && state.cursor >= 0)
		zoomTo(state.cursor);
	else
		return;
	event.preventDefault();
}

/* --- start --- */

function listen() {
	const scheme = matchMedia('(prefers-color-scheme: dark)');

	setDark(scheme.matches);
	scheme.addEventListener('change', event => state.chosen || setDark(event.matches));
	ui.search.addEventListener('input', search);
	ui.chart.addEventListener('mousemove', onMouse);
	ui.chart.addEventListener('mouseleave', () => {
		ui.tip.hidden = true;
		state.mouse = '';
		setCursor(-1);
	});
	ui.chart.addEventListener('click', event => {
		const i = hitMouse(event);

		if (i >= 0)
			zoomTo(i);
	});
	document.addEventListener('keydown', onKey);
	new ResizeObserver(() => {
		if (state.width !== ui.chart.clientWidth - 20)
			draw();
	}).observe(ui.chart);
}

/* The svg file becomes a page of its own: the picture makes room for all that HTML can do. */
function mount(app) {
	const root = document.documentElement, picture = document.getElementById('flame-picture');

	if (!picture) {
		document.body.append(app);
		return;
	}
	const holder = svgElement('foreignObject', {width: '100%', height: '100%'});
	holder.append(app);
	picture.remove();
	root.removeAttribute('viewBox');
	setAttributes(root, {width: '100%', height: '100%'});
	root.append(holder);
}

function main() {
	const heading = element('div', {class: 'heading'},
		element('h1', {title: data.title}, data.title),
		element('p', {title: data.note}, data.note));
	const tools = element('div', {class: 'tools'}, ui.matched, ui.search, ui.reset, ui.flip,
		...(data.sides ? [ui.sides] : []), ui.theme);

	ui.svg.append(ui.paths, ui.labels, ui.cursor);
	ui.chart.append(ui.svg);
	mount(element('div', {class: 'app'}, element('div', {class: 'bar'}, heading, tools),
		ui.chart, element('div', {class: 'foot'}, ui.status, legend()), ui.tip));
	draw();
	scrollToRoot();
	if (location.hash)
		readAddress();
	listen();
	addEventListener('hashchange', readAddress);
}

/* Within somebody else's page the picture stays a picture. */
if (document.documentElement.namespaceURI === SVG || !document.getElementById('flame-picture'))
	main();
