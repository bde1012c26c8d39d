/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of a profile as a table: what each has by itself and with all that it calls. Heads
 * sort, the search filters, and a row leads to its callers and callees. Names reach the page as text.
 */
const MAX_ROWS = 500; /* in the page at a time; the search finds the others */

/* Of a row, what a column sorts by; a second time turns it around. */
const COLUMNS = [
	{head: 'Self', by: r => r.self, down: true, number: true, text: r => shareText(r.self)},
	{head: 'Total', by: r => r.total, down: true, number: true, text: r => shareText(r.total)},
	{head: 'Change', by: r => r.change, down: true, number: true, changes: true,
		text: r => (r.change < 0 ? '' : '+') + r.change.toFixed(2)},
	{head: 'Function', by: r => data.names[r.f], text: r => data.names[r.f]},
	{head: 'Module', by: r => data.module[r.symbol], text: r => data.module[r.symbol], least: true},
];

const table = {rows: null, value: -1, sort: 0, down: true, shown: []};

function shareText(n) {
	return `${percent(n, totalsOf(data.value)[0])} ${amount(n)}`;
}

function columns() {
	return COLUMNS.filter(c => !c.changes || data.changes);
}

/* Of two recordings, those of both, each with what it has in this one, and what changed of its self. */
function tableRows() {
	if (table.value === data.value)
		return table.rows;
	const rows = functionRows(data.value), value = data.value;

	if (data.changes) {
		const other = functionRows(1 - value), all = [0, 1].map(v => totalsOf(v)[0] || 1);
		const self = (map, f) => (map.get(f) || {self: 0}).self;
		const [after, before] = value ? [other, rows] : [rows, other];

		other.forEach((r, f) => rows.has(f) || rows.set(f, {...r, self: 0, total: 0}));
		rows.forEach((r, f) => {
			r.change = 100 * (self(after, f) / all[0] - self(before, f) / all[1]);
		});
	}
	table.value = value;
	table.rows = Array.from(rows.values()).filter(r => r.total || r.self || r.change);
	return table.rows;
}

function compare(a, b) {
	return typeof a === 'number' ? a - b : a < b ? -1 : a > b ? 1 : 0;
}

/* Ties by what is most, then by name. */
function sorted(rows) {
	const {by} = columns()[table.sort], sign = table.down ? -1 : 1;

	return rows.sort((a, b) => sign * compare(by(a), by(b)) || b.self - a.self ||
		b.total - a.total || compare(data.names[a.f], data.names[b.f]));
}

function tableHead() {
	return element('tr', {}, ...columns().map((c, k) => {
		const on = k === table.sort, arrow = on ? table.down ? ' ▾' : ' ▴' : '';
		const head = element('th', {scope: 'col', class: classesOf(c),
			'aria-sort': on ? table.down ? 'descending' : 'ascending' : 'none'});

		head.append(button(c.head + arrow, `Sort by ${c.head.toLowerCase()} (${k + 1})`,
			() => sortBy(k)));
		return head;
	}));
}

function classesOf(column) {
	return column.number ? 'number' : column.least ? 'least' : 'name';
}

function tableCell(c, row) {
	const text = c.text(row);

	if (!c.number)
		return element('td', {class: classesOf(c), title: text}, text);
	const [share, ...rest] = text.split(' ');
	return element('td', {class: 'number'}, share,
		...(rest.length ? [element('span', {class: 'amount'}, ' ' + rest.join(' '))] : []));
}

function tableRow(row) {
	const e = element('tr', {tabindex: '-1', class: state.matches ? 'found' : ''},
		...columns().map(c => tableCell(c, row)));

	e.addEventListener('click', () => showFunction(row.f));
	return e;
}

function drawTable() {
	const rows = sorted(tableRows().filter(r => !state.matches || state.matches[r.symbol]));
	const body = element('tbody', {}, ...rows.slice(0, MAX_ROWS).map(tableRow));
	const more = rows.length - MAX_ROWS;

	table.shown = rows.slice(0, MAX_ROWS);
	if (body.firstChild)
		body.firstChild.tabIndex = 0;
	ui.table.replaceChildren(element('table', {'aria-label': `${rows.length} functions`},
		element('thead', {}, tableHead()), body),
	...(more > 0 ? [element('p', {}, `${more.toLocaleString('en-US')} more functions: search for them`)] : []),
	...(rows.length ? [] : [element('p', {}, 'no function matches')]));
}

function sortBy(k) {
	const focused = ui.table.contains(document.activeElement);

	if (!columns()[k])
		return;
	table.down = k === table.sort ? !table.down : Boolean(columns()[k].down);
	table.sort = k;
	drawTable();
	ui.table.scrollTop = 0;
	if (focused)
		ui.table.querySelectorAll('th button')[k].focus();
}

/* From the heads into the rows, and up and down in these; Enter is a click. */
function tableKey(event) {
	const rows = Array.from(ui.table.querySelectorAll('tbody tr'));
	const at = rows.indexOf(document.activeElement);
	const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20}[event.key];

	if (event.key === 'Enter' && at >= 0) {
		showFunction(table.shown[at].f);
	} else if (step && rows.length) {
		rows[Math.min(Math.max(at + step, 0), rows.length - 1)].focus();
	} else if (/^[1-9]$/.test(event.key)) {
		sortBy(Number(event.key) - 1);
	} else {
		return false;
	}
	return true;
}
