/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flame graph viewer, one script for the html and the svg output: what is shown, and what mouse
 * and keys do to it. It comes last, behind the data (flame_data.js), the trees of it
 * (flame_trees.js), the panes that draw these (flame_pane.js), the table of functions
 * (flame_table.js), the heat map (flame_heat.js), and the tools around them (flame_tools.js).
 *
 * Names are hostile: they reach the page as text nodes only. This file also lies within CDATA.
 */
const XHTML = 'http://www.w3.org/1999/xhtml';
const SVG = 'http://www.w3.org/2000/svg';

/* --- what is shown, and the elements that show it --- */

const state = {
	view: 'tree',   /* or 'inverted', 'table', 'function' */
	back: 'tree',   /* where a function's view was opened from */
	f: -1,          /* function, of that view */
	panes: [],
	pane: null,     /* of the cursor */
	cursor: -1,     /* node under the mouse or chosen by keys, -1 for none */
	matches: null,  /* of the search, per symbol */
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
	reset: button('Reset zoom', 'Show everything (Esc)', resetZoom),
	flip: button('Icicle', 'Root at the top or at the bottom (i)', flip),
	invert: button('Inverted', 'Innermost functions first, then their callers (u)',
		() => toggleView('inverted')),
	functions: button('Functions', 'Table of functions (t)', () => toggleView('table')),
	values: element('select', {title: 'What widths stand for (m: the next)',
		'aria-label': 'What widths stand for'}),
	sides: button('Before', 'Widths of the recording before or after (b)', swapSides),
	theme: button('Dark', 'Dark or light (d)', toggleTheme),
	help: button('?', 'Keys (?)', toggleHelp),
	keys: element('div', {class: 'keys', role: 'dialog', 'aria-label': 'Keys', hidden: ''}),
	chart: element('div', {class: 'chart', tabindex: '0', role: 'application'}),
	table: element('div', {class: 'table', hidden: ''}),
	middle: element('div', {class: 'middle'}),
	status: element('div', {class: 'status', 'aria-live': 'polite'}),
	tip: element('div', {class: 'tip', 'aria-hidden': 'true', hidden: ''}),
};

const heatUi = heat && makeHeatUi();

/* --- views --- */

/* The panes of a view; of a function, callers above and callees below it. */
function makePanes() {
	const icicle = () => state.icicle;

	if (state.view === 'function')
		return [new Pane('callers', functionTree(state.f, true), () => false),
			new Pane('callees', functionTree(state.f, false), () => true)];
	if (state.view === 'inverted')
		return [new Pane('zoom', invertedTree(), icicle)];
	return [new Pane('zoom', new WholeTree(), icicle)];
}

/* zooms: by key of a pane, as addresses have them. */
function setView(view, zooms = {}) {
	state.view = view;
	state.panes = makePanes();
	state.pane = state.panes[0];
	state.cursor = -1;
	for (const pane of state.panes)
		pane.zoom = pane.tree.find(zooms[pane.key] || '');
	ui.chart.replaceChildren(...(view === 'function' ? [state.panes[0].svg, ui.middle,
		state.panes[1].svg] : state.panes.map(pane => pane.svg)));
	ui.chart.hidden = view === 'table';
	ui.table.hidden = view !== 'table';
	ui.chart.classList.toggle('icicle', state.icicle || view === 'function');
	ui.invert.setAttribute('aria-pressed', view === 'inverted');
	ui.functions.setAttribute('aria-pressed', view === 'table');
	ui.flip.disabled = view === 'table' || view === 'function';
	ui.tip.hidden = true;
	ui.status.textContent = '';
	draw();
	scrollToRoot();
	writeAddress();
}

function toggleView(view) {
	setView(state.view === view ? 'tree' : view);
	if (state.view === 'table')
		(ui.table.querySelector('tbody tr') || ui.table.querySelector('button')).focus();
	else
		ui.chart.focus();
}

function showFunction(f) {
	if (!outermost(f).length) {
		ui.status.textContent = `${data.names[f]} is no function`;
		return;
	}
	if (state.view !== 'function')
		state.back = state.view;
	state.f = f;
	setView('function');
	ui.chart.focus();
}

function showCursor() {
	const {tree, zoom} = state.pane, i = state.cursor < 0 ? zoom : state.cursor;

	if (state.view !== 'table')
		showFunction(data.functions[tree.symbol[i]]);
}

/* --- drawing --- */

function drawMiddle() {
	const {tree} = state.panes[0], row = functionRows(data.value).get(state.f);
	const self = row ? row.self : 0, all = totalsOf(data.value)[0];

	ui.middle.replaceChildren('callers ▴ ', element('b', {}, data.names[state.f]), ' ▾ callees',
		element('span', {}, ` · ${count(tree.total[0])}, ${percent(tree.total[0], all)} · ` +
			`self ${amount(self)}, ${percent(self, all)}`));
}

function draw() {
	const width = Math.max(ui.chart.clientWidth - 20, 50), {pane} = state;

	if (state.view === 'table') {
		drawTable();
		ui.reset.disabled = true;
		return;
	}
	for (const each of state.panes)
		each.draw(width);
	if (state.view === 'function')
		drawMiddle();
	pane.drawCursor(state.cursor);
	const nr = state.panes.reduce((sum, {rows}) =>
		rows.reduce((cells, row) => cells + row.length, sum), 0);
	ui.chart.setAttribute('aria-label', `Flame graph of ${pane.nameOf(pane.zoom)}, ${nr} frames. ` +
		'Arrow keys walk the frames, Enter zooms, Escape resets.');
	ui.reset.disabled = !state.panes.some(({zoom}) => zoom);
}

/* The root row is what readers start from: keep it in view. */
function scrollToRoot() {
	const {chart, middle} = ui;

	if (state.view === 'function')
		chart.scrollTop = Math.max(0, middle.offsetTop - chart.offsetTop - chart.clientHeight / 2);
	else
		chart.scrollTop = state.icicle ? 0 : chart.scrollHeight;
}

/* --- one frame: under the mouse, or under the keyboard's cursor --- */

function setCursor(pane, i) {
	if (pane === state.pane && i === state.cursor)
		return;
	state.pane.drawCursor(-1);
	state.pane = pane;
	state.cursor = i;
	pane.drawCursor(i);
	ui.status.textContent = i < 0 ? '' : [pane.nameOf(i), ...pane.details(i)].join(' · ');
}

/* The pane and the node at the mouse; of none, the node is -1. */
function hitMouse(event) {
	for (const pane of state.panes) {
		const box = pane.svg.getBoundingClientRect();
		const i = pane.hit(event.clientX - box.left, event.clientY - box.top);

		if (i >= 0)
			return [pane, i];
	}
	return [state.pane, -1];
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

function showTip(pane, i, event) {
	ui.tip.hidden = i < 0;
	if (i < 0)
		return;
	ui.tip.replaceChildren(element('b', {}, pane.nameOf(i)),
		...pane.details(i).map(line => element('div', {}, line)));
	placeTip(event);
}

function onMouse(event) {
	const [pane, i] = hitMouse(event), place = `${event.clientX},${event.clientY}`;

	if (place === state.mouse)
		return; /* not the mouse moved but the page below it, by keys */
	state.mouse = place;
	if (pane === state.pane && i === state.cursor && !ui.tip.hidden)
		placeTip(event);
	else
		showTip(pane, i, event);
	setCursor(pane, i);
}

/* --- zoom, search, looks --- */

function zoomTo(pane, i) {
	ui.tip.hidden = true;
	state.pane = pane;
	pane.zoom = i;
	draw();
	scrollToRoot();
	writeAddress();
}

function resetZoom() {
	for (const pane of state.panes)
		pane.zoom = 0;
	zoomTo(state.pane, 0);
}

/*
 * A regular expression, or the plain text when it is none, or stands in a name as it is; capitals
 * make case matter.
 */
function matcher(query) {
	const flags = query === query.toLowerCase() ? 'iu' : 'u';
	const plain = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), flags);

	if (/[^.]/.test(query) && data.names.some(name => plain.test(name)))
		return plain;
	try {
		return new RegExp(query, flags);
	} catch (e) {
		return plain;
	}
}

/* Samples that have a match anywhere in their stack: below a match nothing counts again. */
function sumMatches() {
	const {nr, end} = data.shape, total = totalsOf(data.value);
	let sum = 0;

	for (let i = 0; i < nr;) {
		if (state.matches[data.symbol[i]]) {
			sum += total[i];
			i = end[i];
		} else {
			i++;
		}
	}
	return sum;
}

function findMatches() {
	const query = ui.search.value;

	state.matches = null;
	ui.matched.textContent = '';
	if (query) {
		const re = matcher(query);

		state.matches = data.names.map(name => re.test(name));
		ui.matched.textContent = 'matched ' + percent(sumMatches(), totalsOf(data.value)[0]);
	}
}

function search() {
	findMatches();
	if (state.view === 'table')
		drawTable();
	for (const pane of state.panes)
		pane.drawPaths();
	writeAddress();
}

function setIcicle(icicle) {
	state.icicle = icicle;
	ui.flip.textContent = icicle ? 'Flame' : 'Icicle';
}

function flip() {
	if (ui.flip.disabled)
		return;
	setIcicle(!state.icicle);
	ui.chart.classList.toggle('icicle', state.icicle);
	draw();
	scrollToRoot();
	writeAddress();
}

/* What the zoom was stays, where the value has any of it. */
function chooseValue(value) {
	const zooms = Object.fromEntries(state.panes.map(({key, tree, zoom}) => [key, tree.name(zoom)]));

	data.value = value;
	ui.values.value = value;
	ui.sides.textContent = value ? 'After' : 'Before';
	drawHeat();
	findMatches();
	setView(state.view, zooms);
}

function nextValue() {
	if (!data.changes)
		chooseValue((data.value + 1) % data.values.length);
}

/* Of two recordings: the other one's widths. */
function swapSides() {
	if (data.changes)
		chooseValue(1 - data.value);
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

function walk(key) {
	let {pane} = state, i = state.cursor, to = pane.cell(i) ? pane.step(i, key) : pane.zoom;

	/* Between callers and callees one goes through the function itself. */
	if (state.panes[1] && i === 0 && (to === undefined || to < 0) && /Up|Down/.test(key)) {
		pane = state.panes[key === 'ArrowUp' ? 0 : 1];
		to = pane === state.pane ? -1 : 0;
	}
	if (to === undefined || to < 0)
		return;
	setCursor(pane, to);
	pane.cursor.scrollIntoView({block: 'nearest'});
}

function escape() {
	if (!ui.keys.hidden) {
		toggleHelp();
	} else if (heat && heat.range && document.activeElement === heatUi.box) {
		chooseRange(null);
	} else if (document.activeElement === ui.search && ui.search.value) {
		ui.search.value = '';
		search();
	} else if (state.view === 'function' && !state.panes.some(({zoom}) => zoom)) {
		setView(state.back);
	} else {
		ui.search.blur();
		resetZoom();
	}
}

const KEYS = {
	'/': [() => ui.search.select(), 'search names (also Ctrl-F)'],
	t: [() => toggleView('table'), 'table of functions'],
	s: [showCursor, 'callers and callees of the frame under the cursor'],
	u: [() => toggleView('inverted'), 'inverted: innermost functions first'],
	i: [flip, 'root at the top (icicle) or at the bottom'],
	m: [nextValue, 'the next value: what widths stand for'],
	b: [swapSides, 'before or after, of two recordings'],
	h: [focusHeat, 'the heat map: arrows, Shift to select, Esc for all time'],
	c: [copyStack, 'copy the stack of the frame under the cursor'],
	d: [toggleTheme, 'dark or light'],
	'?': [toggleHelp, 'these keys'],
	Escape: [escape, 'end the search, zoom out, leave a function'],
};

/* Keys of what has the focus. */
function localKey(event) {
	if (ui.table.contains(event.target) && !event.target.closest('button'))
		return tableKey(event);
	if (state.view === 'table' && /^[1-9]$/.test(event.key) && event.target !== ui.search)
		return tableKey(event);
	if (heat && event.target === heatUi.box)
		return heatKey(event);
	if (event.target !== ui.chart)
		return false;
	if (event.key.startsWith('Arrow'))
		walk(event.key);
	else if (event.key === 'Enter' && state.cursor >= 0)
		zoomTo(state.pane, state.cursor);
	else
		return false;
	return true;
}

function onKey(event) {
	const typing = event.target === ui.search || event.target === ui.values;
	const find = (event.ctrlKey || event.metaKey) && event.key === 'f';

	if (find ? typing : event.ctrlKey || event.metaKey || event.altKey)
		return; /* a second Ctrl-F is the browser's */
	if (find)
		ui.search.select();
	else if (event.key in KEYS && (!typing || event.key === 'Escape'))
		KEYS[event.key][0]();
	else if (!localKey(event))
		return;
	event.preventDefault();
}

/* --- start --- */

function listen() {
	const scheme = matchMedia('(prefers-color-scheme: dark)');

	setDark(scheme.matches);
	scheme.addEventListener('change', event => state.chosen || setDark(event.matches));
	ui.search.addEventListener('input', search);
	ui.values.addEventListener('change', () => chooseValue(Number(ui.values.value)));
	ui.chart.addEventListener('mousemove', onMouse);
	ui.chart.addEventListener('mouseleave', () => {
		ui.tip.hidden = true;
		state.mouse = '';
		setCursor(state.pane, -1);
	});
	ui.chart.addEventListener('click', event => {
		const [pane, i] = hitMouse(event);

		if (i >= 0)
			zoomTo(pane, i);
	});
	document.addEventListener('keydown', onKey);
	new ResizeObserver(() => {
		if (!ui.chart.hidden && state.pane.width !== ui.chart.clientWidth - 20)
			draw();
	}).observe(ui.chart);
	if (heat)
		new ResizeObserver(drawHeat).observe(heatUi.box);
}

function main() {
	const heading = element('div', {class: 'heading'},
		element('h1', {title: data.title}, data.title),
		element('p', {title: data.note}, data.note));
	const tools = element('div', {class: 'tools'}, ui.matched, ui.search, ui.reset, ui.functions,
		ui.invert, ui.flip, ...(data.changes ? [ui.sides] : data.values.length > 1 ? [ui.values] : []), ui.theme, ui.help);

	ui.values.append(...data.values.map(({name}, v) => element('option', {value: v}, name)));
	mount(element('div', {class: 'app'}, element('div', {class: 'bar'}, heading, tools),
		...(heat ? [mountHeat()] : []), ui.chart, ui.table, element('div', {class: 'foot'}, ui.status, legend()), ui.tip,
		ui.keys));
	drawHeat();
	if (location.hash)
		readAddress();
	else
		setView('tree');
	listen();
	addEventListener('hashchange', readAddress);
}

/* Within somebody else's page the picture stays a picture. */
if (document.documentElement.namespaceURI === SVG || !document.getElementById('flame-picture'))
	main();
