/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Around the flame graph (flame.js): its place in the address, so that a link shows what one sees;
 * a stack for the clipboard; what the colours mean; what keys do; and how it takes a page over.
 */

/* What a class of colours means, by the classes that it has; of each hue one is shown. */
const LEGEND = [[/^user/, 'user code, by module'], [/^kernel/, 'kernel'], [/^jit/, 'JIT, Python'],
	[/^unknown/, 'unknown'], [/^io/, 'code'], [/^none/, 'threads, notes'],
	[/^less/, 'less'], [/^same/, 'no change beyond noise'], [/^more/, 'more']];

/* --- the address: #view=inverted&zoom=12.7&icicle=1&search=malloc --- */

function writeAddress() {
	const parts = new URLSearchParams(), set = (name, value) => value && parts.set(name, value);

	set('view', state.view === 'tree' ? '' : state.view);
	set('function', state.view === 'function' && data.names[state.f]);
	for (const {key, tree, zoom} of state.view === 'table' ? [] : state.panes)
		set(key, zoom && tree.name(zoom));
	set('value', data.value);
	set('range', heat && heat.range && heat.range.join('-'));
	set('icicle', state.icicle && 1);
	set('search', ui.search.value);
	try {
		history.replaceState(null, '', String(parts) ? '#' + parts : location.pathname);
	} catch (e) {
		/* where a page may not change its address it has none to pass on */
	}
}

function readRange(text) {
	const range = (text || '').split('-').map(Number);

	setRange(text && isRange(range) ? range : null);
	drawHeat();
}

/* What an address says and the page does not know is as if it had not been said. */
function readAddress() {
	const parts = new URLSearchParams(location.hash.slice(1)), value = Number(parts.get('value'));
	const f = data.names.indexOf(parts.get('function'));
	let view = parts.get('view');

	ui.search.value = parts.get('search') || '';
	data.value = data.values[value] ? value : 0;
	ui.values.value = data.value;
	ui.sides.textContent = data.value ? 'After' : 'Before';
	setIcicle(parts.has('icicle'));
	if (heat)
		readRange(parts.get('range'));
	if (view === 'function' && f >= 0 && outermost(f).length)
		state.f = f;
	else if (view !== 'inverted' && view !== 'table')
		view = 'tree';
	findMatches();
	setView(view, Object.fromEntries(parts));
}

/* --- the clipboard --- */

/* Root first, as folded stacks are; of a function, the part that its pane has. */
function stackOf(pane, i) {
	const names = [], {tree} = pane;

	for (; i > 0 || (i === 0 && state.view === 'function'); i = tree.parent[i])
		names.push(pane.nameOf(i));
	return (tree.up ? names : names.reverse()).join(';');
}

/* By what is selected, where a page may not use the clipboard by itself; SVG has no such command. */
function copySelected(stack) {
	const text = element('textarea', {class: 'copy', 'aria-hidden': 'true'});
	let done = false;

	text.value = stack;
	ui.chart.append(text);
	text.select();
	try {
		done = document.execCommand('copy');
	} catch (e) {
		/* as if it had said no */
	}
	text.remove();
	ui.chart.focus();
	return done;
}

async function copyStack() {
	const {pane, cursor} = state, stack = stackOf(pane, cursor < 0 ? pane.zoom : cursor);
	let done = copySelected(stack);

	try {
		if (!done) {
			await navigator.clipboard.writeText(stack);
			done = true;
		}
	} catch (e) {
		/* neither way */
	}
	ui.status.textContent = done ? `copied: ${stack}` : `this browser does not copy: ${stack}`;
}

/* --- colours --- */

/* User code has several hues, in three shades each (flame_colours.c); all else has one. */
function hueOf(name) {
	const user = name.match(/^user(\d+)$/);

	return user ? Math.floor(user[1] / 3) : 0;
}

/* Which classes of colours mean what, as shown here. */
function legendRows() {
	const shown = new Set(data.colouring === 'diff' ? SHADES : data.colour), rows = [];

	if (data.colouring === 'class')
		return data.values.filter(v => v.class).map(v => [['class' + v.class], v.name]);
	if (data.colouring === 'module') {
		const modules = new Map(data.colour.map((c, s) => [data.module[s], c]).filter(([m]) => m));

		return Array.from(modules, ([m, c]) => [[c], m.replace(/.*\/(?=.)/, '')]).slice(0, 8);
	}
	for (const [classes, text] of LEGEND) {
		const hues = new Map(Array.from(shown).sort().filter(c => classes.test(c)).map(c => [hueOf(c), c]));

		if (hues.size)
			rows.push([Array.from(hues.values()), text]);
	}
	return rows;
}

function legendSpans() {
	return legendRows().map(([names, text]) => {
		const box = svgElement('svg', {width: 12 * names.length - 2, height: 10, 'aria-hidden': 'true'});

		box.append(...names.map((name, i) => svgElement('rect', {class: name, x: 12 * i, width: 10, height: 10})));
		return element('span', {}, box, text);
	});
}

function legend() {
	return element('div', {class: 'legend'}, ...legendSpans());
}

/* --- help --- */

function toggleHelp() {
	const row = (key, text) => element('div', {}, element('kbd', {}, key), text);

	if (ui.keys.hidden)
		ui.keys.replaceChildren(element('b', {}, 'Keys'),
			...Object.entries(KEYS).filter(([key]) => (key !== 'b' || data.changes) &&
				(key !== 'm' || ui.values.isConnected) && (key !== 'h' || heat))
				.map(([key, [, text]]) => row(key === 'Escape' ? 'Esc' : key, text)),
			row('arrows', 'walk the frames, or the rows of the table'),
			row('Enter', 'zoom into the frame, or open the function'),
			row('1 2 3', 'sort the table by a column'),
			element('b', {}, 'Colours'), ...legendSpans());
	ui.keys.hidden = !ui.keys.hidden;
}

/* --- the page --- */

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
