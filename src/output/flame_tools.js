/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Around the flame graph (flame.js): its place in the address, so that a link shows what one sees;
 * a stack for the clipboard; and what the colours mean.
 */

/* What a class of colours means, by the classes that it has; the first one is shown. */
const LEGEND = [[/^user/, 'user code, by module'], [/^kernel/, 'kernel'], [/^jit/, 'JIT, Python'],
	[/^unknown/, 'unknown'], [/^none/, 'threads, notes'],
	[/^less/, 'less'], [/^same/, 'no change beyond noise'], [/^more/, 'more']];

/* --- the address: #zoom=12&search=malloc --- */

function writeAddress() {
	const parts = new URLSearchParams();

	if (state.zoom)
		parts.set('zoom', state.zoom);
	if (ui.search.value)
		parts.set('search', ui.search.value);
	try {
		history.replaceState(null, '', String(parts) ? '#' + parts : location.pathname);
	} catch (e) {
		/* where a page may not change its address it has none to pass on */
	}
}

function readAddress() {
	const parts = new URLSearchParams(location.hash.slice(1)), zoom = Number(parts.get('zoom'));

	ui.search.value = parts.get('search') || '';
	search();
	if (Number.isInteger(zoom) && zoom >= 0 && zoom < data.nr && data.total[zoom])
		zoomTo(zoom);
}

/* --- the clipboard --- */

/* Root first, as folded stacks are. */
function stackOf(i) {
	const names = [];

	for (; i > 0; i = data.parent[i])
		names.push(nameOf(i));
	return names.reverse().join(';');
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
	const stack = stackOf(state.cursor < 0 ? state.zoom : state.cursor);
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

function legend() {
	const shown = new Set(data.shade || data.colour), swatches = [];

	for (const [classes, text] of LEGEND) {
		const name = Array.from(shown).sort().reverse().find(c => classes.test(c));

		if (!name)
			continue;
		const box = svgElement('svg', {width: 10, height: 10, 'aria-hidden': 'true'});
		box.append(svgElement('rect', {class: name, width: 10, height: 10}));
		swatches.push(element('span', {}, box, text));
	}
	return element('div', {class: 'legend'}, ...swatches);
}
