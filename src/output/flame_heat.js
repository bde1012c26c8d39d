/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The heat map above a flame graph: a column for each second of the recording, in it a row for each
 * slice of the second, from the bottom up. The darker a cell, the more was in that slice. What the
 * mouse or the keys select is a time from one slice to another, column by column; the graph, the
 * table and all else then show that time only.
 */
const HEAT = {height: 150, width: [3, 48], shades: 8, gap: 0.5};

function readMoments(m) {
	const numbers = name => unpack(m[name], Float64Array), nr = m.nr, slice = m.slice;
	const rows = Math.max(1, Math.round(1e9 / slice)), first = numbers('gaps');

	for (let i = 1; i < first.length; i++)
		first[i] += first[i - 1];
	return {slice, nr, rows, columns: Math.ceil(nr / rows), first, start: m.start, lost: m.lost,
		other: m.other, spans: numbers('spans'), nodes: numbers('nodes'),
		values: numbers('values'), amounts: numbers('amounts'),
		others: m.others === undefined ? null : numbers('others')};
}

const heat = data.moments && {...readMoments(data.moments), range: null, cursor: -1, anchor: -1,
	dragging: false, cells: null, most: 0};

/* What part i has of a value in each of its slices. */
function heatAmount(i, value) {
	const own = heat.values[i];

	if (heat.other && value === heat.other)
		return heat.others[i];
	return own === value || (!value && data.values[own].class) ? heat.amounts[i] : 0;
}

/* What each slice has of a value. A number of waits is that of those that began in it. */
function heatCells(value) {
	const change = new Float64Array(heat.nr + 1);

	for (let i = 0; i < heat.first.length; i++) {
		const amount = heatAmount(i, value);

		change[heat.first[i]] += amount;
		change[heat.first[i] + heat.spans[i] + 1] -= amount;
	}
	for (let k = 1; k < heat.nr; k++)
		change[k] += change[k - 1];
	return change.subarray(0, heat.nr);
}

/* What each node has of a value between two slices, without the second one. */
function heatSelf(value, [from, to]) {
	const self = new Float64Array(data.shape.nr), {first, spans, nodes} = heat;

	for (let i = 0; i < first.length && first[i] < to; i++) {
		const slices = Math.min(to, first[i] + spans[i] + 1) - Math.max(from, first[i]);

		if (slices > 0)
			self[nodes[i]] += slices * heatAmount(i, value);
	}
	return self;
}

/* --- times as text --- */

function heatTime(slice) {
	const digits = Math.max(0, Math.ceil(-Math.log10(heat.slice / 1e9)));

	return (slice * heat.slice / 1e9).toFixed(digits);
}

function heatRangeText([from, to]) {
	return `${heatTime(from)}–${heatTime(to)} s`;
}

function heatSum([from, to]) {
	let sum = 0;

	for (let k = from; k < to; k++)
		sum += heat.cells[k];
	return sum;
}

/* "12.34–12.36 s · 3 samples · 14:03:07.340" */
function heatDetails(range) {
	const clock = new Date(heat.start + range[0] * heat.slice / 1e6);
	const pad = (n, digits) => String(n).padStart(digits, '0');

	return [heatRangeText(range), count(heatSum(range)),
		`${pad(clock.getHours(), 2)}:${pad(clock.getMinutes(), 2)}:` +
		`${pad(clock.getSeconds(), 2)}.${pad(clock.getMilliseconds(), 3)}`];
}

/* --- drawing --- */

function makeHeatUi() {
	return {
		caption: element('div', {class: 'heat-caption'}),
		all: button('All time', 'Show the whole recording (Esc in the map)', () => chooseRange(null)),
		svg: svgElement('svg', {'aria-hidden': 'true'}),
		cells: svgElement('g', {}),
		back: svgElement('rect', {class: 'heat-back', height: HEAT.height}),
		picked: svgElement('path', {class: 'heat-picked'}),
		cursor: svgElement('rect', {class: 'cursor', hidden: ''}),
		axis: svgElement('g', {class: 'heat-axis'}),
		box: element('div', {class: 'heat-map', tabindex: '0', role: 'application'}),
		whole: element('div', {class: 'heat'}),
	};
}

function heatSize() {
	const room = Math.max(50, heatUi.box.clientWidth), [least, most] = HEAT.width;

	return {w: Math.min(most, Math.max(least, Math.floor(room / heat.columns * 2) / 2)),
		h: HEAT.height / heat.rows};
}

/* One path for all cells of a shade. */
function drawHeatCells({w, h}) {
	const paths = Array.from({length: HEAT.shades + 1}, () => []), {rows, cells, most} = heat;

	cells.forEach((amount, k) => {
		if (amount <= 0)
			return;
		const x = Math.floor(k / rows) * w, y = HEAT.height - (k % rows + 1) * h;

		paths[Math.max(1, Math.ceil(HEAT.shades * amount / most))].push(
			`M${x} ${y}h${w - HEAT.gap}v${h - (h > 2 ? HEAT.gap : 0)}h-${w - HEAT.gap}z`);
	});
	heatUi.cells.replaceChildren(...paths.map((parts, shade) =>
		svgElement('path', {class: 'heat' + shade, d: parts.join('')})).slice(1));
}

function drawHeatAxis({w}) {
	const step = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600]
		.find(seconds => seconds * w >= 48) || 7200;
	const scale = Math.max(1, heat.slice / 1e9), marks = [];

	for (let c = 0; c < heat.columns; c += step) {
		const mark = svgElement('text', {x: c * w, y: HEAT.height + 13});

		mark.textContent = c * scale + ' s';
		marks.push(mark);
	}
	heatUi.axis.replaceChildren(...marks);
}

/* The outline of a range: parts of a first and a last column, and whole ones between them. */
function drawPicked() {
	const {w, h} = heatSize(), {rows} = heat, parts = [];
	const box = (column, from, to, columns = 1) => parts.push(`M${column * w} ` +
		`${HEAT.height - to * h}h${columns * w}v${(to - from) * h}h-${columns * w}z`);
	const range = heatShown();

	if (range) {
		const [a, b] = [range[0], range[1] - 1].map(k => Math.floor(k / rows));

		box(a, range[0] % rows, a === b ? (range[1] - 1) % rows + 1 : rows);
		if (b > a + 1)
			box(a + 1, 0, rows, b - a - 1);
		if (b > a)
			box(b, 0, (range[1] - 1) % rows + 1);
	}
	heatUi.picked.setAttribute('d', parts.join(''));
	heatUi.cursor.toggleAttribute('hidden', heat.cursor < 0);
	if (heat.cursor >= 0)
		setAttributes(heatUi.cursor, {x: Math.floor(heat.cursor / rows) * w,
			y: HEAT.height - (heat.cursor % rows + 1) * h, width: w, height: h});
}

/* While it is chosen, the range between where that began and the cursor. */
function heatShown() {
	return heat.dragging ? heatBetween() : heat.range;
}

function heatBetween() {
	return [Math.min(heat.anchor, heat.cursor), Math.max(heat.anchor, heat.cursor) + 1];
}

function drawHeatCaption() {
	const range = heatShown(), per = time(heat.slice), whole = heatSum([0, heat.nr]);
	const text = range ? [heatDetails(range).join(' · '), percent(heatSum(range), whole) + ' of all'] :
		[heat.rows > 1 ? `Columns are seconds, rows ${per} of them from the bottom up` :
			`Columns are ${per}`, `darkest: ${count(heat.most)}`, 'drag to select a time'];

	if (heat.lost)
		text.push(`${heat.lost.toLocaleString('en-US')} times had no room`);
	heatUi.caption.replaceChildren(element('span', {}, text.join(' · ')), heatUi.all);
	heatUi.all.hidden = !heat.range;
	heatUi.box.setAttribute('aria-label', `Heat map. ${text.join(', ')}. Arrow keys move, with ` +
		'Shift they select, Enter selects a cell, Escape selects all.');
}

function drawHeat() {
	if (!heat)
		return;
	const size = heatSize();

	heat.cells = heatCells(data.value);
	heat.most = heat.cells.reduce((most, amount) => Math.max(most, amount), 0);
	setAttributes(heatUi.svg, {width: heat.columns * size.w, height: HEAT.height + 17});
	heatUi.back.setAttribute('width', heat.columns * size.w);
	drawHeatCells(size);
	drawHeatAxis(size);
	drawPicked();
	drawHeatCaption();
}

/* --- choosing a range --- */

function isRange(range) {
	return range.length === 2 && range.every(Number.isInteger) && range[0] >= 0 &&
		range[0] < range[1] && range[1] <= heat.nr;
}

/* Values have other numbers then; whoever calls it draws anew. */
function setRange(range) {
	heat.range = range;
	data.inRange = range && (value => heatSelf(value, range));
	for (const v of data.values)
		v.self = v.total = null;
}

function chooseRange(range) {
	setRange(range);
	chooseValue(data.value);
}

/* The slice at a point of the map, -1 for none. */
function heatHit(event) {
	const {w, h} = heatSize(), at = heatUi.svg.getBoundingClientRect();
	const column = Math.floor((event.clientX - at.left) / w);
	const row = Math.floor((HEAT.height - event.clientY + at.top) / h);
	const k = column * heat.rows + Math.min(row, heat.rows - 1);

	return column < 0 || row < 0 || k >= heat.nr ? -1 : k;
}

function moveHeatCursor(k) {
	heat.cursor = k;
	drawPicked();
	if (heat.dragging)
		drawHeatCaption();
	ui.status.textContent = k < 0 ? '' : heatDetails([k, k + 1]).join(' · ');
}

function onHeatMouse(event) {
	const k = heatHit(event);

	if (k >= 0 || !heat.dragging)
		moveHeatCursor(k);
	ui.tip.hidden = k < 0;
	if (k < 0)
		return;
	const [range, ...lines] = heatDetails(heat.dragging ? heatBetween() : [k, k + 1]);
	ui.tip.replaceChildren(element('b', {}, range), ...lines.map(line => element('div', {}, line)));
	placeTip(event);
}

function beginDrag(event) {
	const k = heatHit(event);

	if (k < 0 || event.button)
		return;
	heat.anchor = k;
	heat.dragging = true;
	heatUi.box.setPointerCapture(event.pointerId);
	moveHeatCursor(k);
}

function endDrag(chosen) {
	const range = heat.dragging && heatBetween();

	heat.dragging = false;
	if (range && chosen)
		chooseRange(range);
	drawPicked();
}

/* A whole second. */
function chooseColumn(event) {
	const k = heatHit(event), from = k - k % heat.rows;

	if (k >= 0)
		chooseRange([from, Math.min(from + heat.rows, heat.nr)]);
}

const HEAT_STEPS = {ArrowUp: () => 1, ArrowDown: () => -1, ArrowRight: () => heat.rows,
	ArrowLeft: () => -heat.rows};

/* Arrows move the cursor, with Shift they select from where it was. True: it was a key of the map. */
function heatKey(event) {
	const step = HEAT_STEPS[event.key];

	if (step) {
		const was = heat.cursor < 0 ? (heat.range || [0])[0] : heat.cursor, to = was + step();

		if (to < 0 || to >= heat.nr)
			return true;
		heat.anchor = event.shiftKey && heat.anchor >= 0 ? heat.anchor : event.shiftKey ? was : -1;
		moveHeatCursor(to);
		if (event.shiftKey)
			chooseRange(heatBetween());
		return true;
	}
	if (event.key === 'Enter' && heat.cursor >= 0)
		chooseRange([heat.cursor, heat.cursor + 1]);
	else
		return false;
	return true;
}

function focusHeat() {
	if (heat)
		heatUi.box.focus();
}

function mountHeat() {
	const {whole, caption, box, svg} = heatUi;

	svg.append(heatUi.back, heatUi.cells, heatUi.picked, heatUi.cursor, heatUi.axis);
	box.append(svg);
	whole.append(caption, box);
	box.addEventListener('pointermove', onHeatMouse);
	box.addEventListener('pointerdown', beginDrag);
	box.addEventListener('pointerup', () => endDrag(true));
	box.addEventListener('pointercancel', () => endDrag(false));
	box.addEventListener('dblclick', chooseColumn);
	box.addEventListener('pointerleave', () => {
		ui.tip.hidden = true;
		if (!heat.dragging)
			moveHeatCursor(-1);
	});
	return whole;
}
