/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pane draws a tree (flame_trees.js), but only what the current zoom makes wide enough to be seen.
 * All frames of a colour are one <path> and the mouse is looked up by its position, so that a
 * picture of thousands of frames is a few dozen elements plus labels, and a profile of any size
 * draws alike.
 */
const ROW = 17;         /* px from row to row */
const MIN_LABEL = 3;    /* columns */
const PAD = 3;          /* px on both sides of a label */

let columnWidth = 0;

function measureColumn(labels) {
	const probe = svgElement('text', {});

	probe.textContent = 'm'.repeat(100);
	labels.append(probe);
	columnWidth = probe.getComputedTextLength() / 100 || 7.3;
}

class Pane {
	/* key: of its zoom in the address. icicle(): is its root on top? */
	constructor(key, tree, icicle) {
		Object.assign(this, {key, tree, icicle, zoom: 0, rows: [], width: 0,
			svg: svgElement('svg', {'aria-hidden': 'true'}),
			paths: svgElement('g', {}), labels: svgElement('g', {class: 'labels'}),
			cursor: svgElement('rect', {class: 'cursor', hidden: ''})});
		this.svg.append(this.paths, this.labels, this.cursor);
	}

	nameOf(i) {
		return data.names[this.tree.symbol[i]];
	}

	/* Rows of cells from left to right: node, left edge, width; kept: on the way to the zoom. */
	layOut() {
		const {tree, zoom} = this, depth = tree.depth[zoom], rows = this.rows = [];
		const scale = tree.total[zoom] ? this.width / tree.total[zoom] : 0;

		for (let i = zoom; i >= 0; i = tree.parent[i])
			rows[tree.depth[i]] = [{i, x: 0, w: this.width, kept: i !== zoom}];
		for (let d = depth; rows[d] && rows[d].length; d++) {
			const row = [];

			for (const cell of rows[d]) {
				let x = cell.x;

				for (const i of cell.w < data.minWidth ? [] : tree.kids(cell.i)) {
					const w = tree.total[i] * scale;

					if (w >= data.minWidth)
						row.push({i, x, w, kept: false});
					x += w;
				}
			}
			if (row.length)
				rows[d + 1] = row;
		}
	}

	top(depth) {
		return (this.icicle() ? depth : this.rows.length - 1 - depth) * ROW;
	}

	classOf(cell) {
		const s = this.tree.symbol[cell.i];

		return (state.matches && state.matches[s] ? 'match' : colourOf(this.tree, cell.i)) +
			(cell.kept ? ' faded' : '');
	}

	drawPaths() {
		const paths = new Map(), round = x => Math.round(x * 100) / 100;

		this.rows.forEach((row, depth) => {
			const y = this.top(depth);

			for (const cell of row) {
				const {x, w} = cell, name = this.classOf(cell);
				const shown = round(w > 1.5 ? w - 0.7 : w);

				if (!paths.has(name))
					paths.set(name, []);
				paths.get(name).push(`M${round(x)} ${y}h${shown}v${ROW - 1}h-${shown}z`);
			}
		});
		this.paths.replaceChildren(...Array.from(paths, ([name, parts]) =>
			svgElement('path', {class: name, d: parts.join('')})));
	}

	drawLabels() {
		const labels = document.createDocumentFragment();

		this.rows.forEach((row, depth) => {
			for (const {i, x, w} of row) {
				const columns = Math.floor((w - 2 * PAD) / columnWidth);

				if (columns < MIN_LABEL)
					continue;
				const e = svgElement('text', {x: x + PAD, y: this.top(depth) + 12});
				e.textContent = fit(this.nameOf(i), columns);
				labels.append(e);
			}
		});
		this.labels.replaceChildren(labels);
	}

	draw(width) {
		this.width = width;
		if (!columnWidth)
			measureColumn(this.labels);
		this.layOut();
		setAttributes(this.svg, {width, height: this.rows.length * ROW});
		this.drawPaths();
		this.drawLabels();
	}

	cell(i) {
		return i < 0 ? undefined :
			(this.rows[this.tree.depth[i]] || []).find(cell => cell.i === i);
	}

	drawCursor(i) {
		const cell = this.cell(i);

		this.cursor.toggleAttribute('hidden', !cell);
		if (cell)
			setAttributes(this.cursor, {x: cell.x, y: this.top(this.tree.depth[i]),
				width: Math.max(cell.w - 0.7, 1), height: ROW - 1});
	}

	/* The node at a point of the drawing, or -1: the last one in its row that begins left of x. */
	hit(x, y) {
		const row = Math.floor(y / ROW);
		const cells = this.rows[this.icicle() ? row : this.rows.length - 1 - row] || [];
		let low = 0, high = cells.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (cells[middle].x <= x)
				low = middle + 1;
			else
				high = middle;
		}
		if (!low || x < 0)
			return -1;
		return x < cells[low - 1].x + cells[low - 1].w ? cells[low - 1].i : -1;
	}

	/* The lines behind a name. */
	details(i) {
		const {tree, zoom} = this, {total, self, parent} = tree, s = tree.symbol[i];
		const all = totalsOf(data.value)[0], inZoom = zoom && i !== zoom && this.isBelow(i, zoom);
		const of = (whole, name) => `${percent(total[i], whole)} of ${name}`;
		const lines = [[data.module[s], KINDS[data.kind[s]]].filter(Boolean).join(', '),
			tree.whole ? placeOf(i) : '', data.changes ? changeText(tree.totals(i)) : '',
			`${count(total[i])}, self ${amount(self[i])}`,
			of(all, 'all' + (unit() === 'ns' ? '' : ' ' + unit()))];

		if (parent[i] > 0)
			lines.push(of(total[parent[i]], this.nameOf(parent[i])) +
				(tree.up ? ', which it calls' : ', the caller'));
		if (inZoom && parent[i] !== zoom)
			lines.push(of(total[zoom], this.nameOf(zoom)) + ', zoomed into');
		return lines.filter(Boolean);
	}

	isBelow(i, above) {
		while (i > above)
			i = this.tree.parent[i];
		return i === above;
	}

	/* --- where keys lead --- */

	neighbour(i, step) {
		const row = this.rows[this.tree.depth[i]], at = row.findIndex(cell => cell.i === i);

		return row[at + step] && row[at + step].i;
	}

	/* The heaviest one comes first; of an ancestor of the zoomed frame only the way there is drawn. */
	child(i) {
		const found = (this.rows[this.tree.depth[i] + 1] || [])
			.find(cell => this.tree.parent[cell.i] === i);

		return found && found.i;
	}

	step(i, key) {
		if (key === 'ArrowLeft' || key === 'ArrowRight')
			return this.neighbour(i, key === 'ArrowLeft' ? -1 : 1);
		return key === (this.icicle() ? 'ArrowDown' : 'ArrowUp') ? this.child(i) : this.tree.parent[i];
	}
}

/* The class that most of it waited for. */
function classColour(totals) {
	const most = Math.max(0, ...totals);

	return most ? 'class' + data.values[partsOf()[totals.indexOf(most)]].class : 'none';
}

function colourOf(tree, i) {
	if (data.colouring === 'class')
		return classColour(tree.totals(i));
	return data.colouring === 'diff' ? shadeOf(tree.totals(i)) : data.colour[tree.symbol[i]];
}
