/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees that panes (flame_pane.js) draw. All have the same face: of node i symbol[i], parent[i],
 * depth[i], total[i] and self[i], its children by kids(i), heaviest first, and totals(i) by value.
 *
 * The one in the file has callers first. Those that are merged from its nodes (inverted, callers and
 * callees of a function) grow where somebody looks: kids(i) makes the children of one node, so that
 * a tree of millions of nodes, of which thousands are wide enough to be seen, costs these thousands.
 */

/* Which values' totals nodes have at hand: before and after, or the classes of waits for colours. */
function partsOf() {
	if (data.changes)
		return [0, 1];
	return data.colouring === 'class' ?
		Array.from(data.values.keys()).filter(v => data.values[v].class) : [];
}

class WholeTree {
	constructor() {
		Object.assign(this, data.shape, {symbol: data.symbol, whole: true,
			self: selfOf(data.value), total: totalsOf(data.value)});
	}

	kids(i) {
		const kids = [];

		for (let k = i + 1; k < this.end[i]; k = this.end[k])
			if (this.total[k])
				kids.push(k);
		return kids;
	}

	totals(i) {
		return partsOf().map(v => totalsOf(v)[i]);
	}

	/* How an address names a node, and the node of a name; 0 when there is none. */
	name(i) {
		return String(i);
	}

	find(name) {
		const i = Number(name);

		return Number.isInteger(i) && i >= 0 && i < this.nr && this.total[i] ? i : 0;
	}
}

/* Scratch of MergedTree.group(): per symbol, which child it is in the round that it was set in. */
const groups = {round: 0, seen: new Uint32Array(data.names.length),
	child: new Uint32Array(data.names.length)};

/*
 * Nodes stand for entries: nodes of the file's tree where they are now (at), and those whose weight
 * they carry (from). Upwards the next of an entry is its caller, downwards each of its callees.
 */
class MergedTree {
	constructor(rootSymbol, up, weights) {
		Object.assign(this, {up, weights, symbol: [rootSymbol], parent: [-1], depth: [0],
			total: [0], self: [0], parts: [[]], at: [[]], from: [[]], made: [null]});
		this.values = partsOf();
	}

	weigh(i, at, from) {
		const all = this.weights(data.value), others = this.values.map(this.weights);
		const parts = others.map(() => 0);
		let total = 0;

		for (const k of from) {
			total += all[k];
			for (let v = 0; v < parts.length; v++)
				parts[v] += others[v][k];
		}
		this.at[i] = at;
		this.from[i] = from;
		this.total[i] = total;
		this.parts[i] = parts;
		this.made[i] = null;
		this.self[i] = 0;
	}

	totals(i) {
		return this.parts[i];
	}

	/* Where the entries of node i go, in two lists of nodes. */
	next(i) {
		const {parent, end} = data.shape, at = [], from = [], own = selfOf(data.value);
		const all = this.weights(data.value);

		this.at[i].forEach((k, nr) => {
			const carried = this.from[i][nr];

			if (!this.up) {
				this.self[i] += own[k];
				for (let c = k + 1; c < end[k]; c = end[c]) {
					at.push(c);
					from.push(c);
				}
			} else if (parent[k] > 0) {
				at.push(parent[k]);
				from.push(carried);
			} else {
				this.self[i] += all[carried];
			}
		});
		return [at, from];
	}

	/* Entries by function, each group a child of node i. */
	group(i, [at, from]) {
		const {functions, symbol} = data, kids = [];

		groups.round++;
		for (let nr = 0; nr < at.length; nr++) {
			const f = functions[symbol[at[nr]]];

			if (groups.seen[f] !== groups.round) {
				groups.seen[f] = groups.round;
				groups.child[f] = kids.length;
				kids.push({symbol: symbol[at[nr]], at: [], from: []});
			}
			kids[groups.child[f]].at.push(at[nr]);
			kids[groups.child[f]].from.push(from[nr]);
		}
		return kids.map(kid => {
			const k = this.symbol.push(kid.symbol) - 1;

			this.parent[k] = i;
			this.depth[k] = this.depth[i] + 1;
			this.weigh(k, kid.at, kid.from);
			return k;
		}).filter(k => this.total[k]).sort((a, b) => this.total[b] - this.total[a] ||
			(data.names[this.symbol[a]] < data.names[this.symbol[b]] ? -1 : 1));
	}

	kids(i) {
		if (!this.made[i]) {
			this.made[i] = this.group(i, this.next(i));
			this.at[i] = this.from[i] = null;
		}
		return this.made[i];
	}

	/* The functions from the root to it; the root's own is empty. */
	name(i) {
		const path = [];

		for (; i > 0; i = this.parent[i])
			path.push(data.functions[this.symbol[i]]);
		return path.reverse().join('.');
	}

	find(name) {
		let i = 0;

		for (const f of name ? name.split('.') : []) {
			i = this.kids(i).find(k => data.functions[this.symbol[k]] === Number(f));
			if (!i)
				return 0;
		}
		return i;
	}
}

/* The innermost function comes first: each node of the file's tree as often as it is innermost. */
function invertedTree() {
	const tree = new MergedTree(data.symbol[0], true, selfOf), all = [];

	const own = [data.value, ...partsOf()].map(selfOf);

	for (let i = 1; i < data.shape.nr; i++)
		if (own.some(self => self[i]))
			all.push(i);
	tree.weigh(0, all, all);
	tree.made[0] = tree.group(0, [all, all]);
	tree.at[0] = tree.from[0] = null;
	return tree;
}

/* Who is called from itself is there once, by its outermost call. */
function outermost(f) {
	const {nr, end} = data.shape, found = [];

	for (let i = 1; i < nr;) {
		if (data.functions[data.symbol[i]] === f && isFunction(i)) {
			found.push(i);
			i = end[i];
		} else {
			i++;
		}
	}
	return found;
}

/* All that calls function f, or all that it calls. */
function functionTree(f, up) {
	const found = outermost(f), tree = new MergedTree(data.symbol[found[0]], up, totalsOf);

	tree.weigh(0, found, found);
	return tree;
}

/* --- functions: what each has, as profile/top.c says it --- */

/* What follows "--" is of who woke the thread. */
const wakers = (() => {
	const {nr, depth, end} = data.shape, is = new Uint8Array(nr);
	const mark = data.names.findIndex((name, s) => name === '--' && data.kind[s] === 'none');

	for (let i = 1; i < nr && mark >= 0; i++) {
		if (depth[i] > 1 && data.symbol[i] === mark) {
			is.fill(1, i, end[i]);
			i = end[i] - 1;
		}
	}
	return is;
})();

function isFunction(i) {
	return data.kind[data.symbol[i]] !== 'none' && !wakers[i];
}

/* Of waits, the function that waited, and not the scheduler that it waited in. */
function waitingNode(i) {
	let kernel = -1, any = -1;

	for (; i > 0; i = data.shape.parent[i]) {
		const s = data.symbol[i];

		if (!isFunction(i))
			continue;
		if (data.kind[s] !== 'kernel')
			return i;
		any = any < 0 ? i : any;
		if (kernel < 0 && !/^(io_|__)?schedule/.test(data.names[s]))
			kernel = i;
	}
	return kernel < 0 ? any : kernel;
}

function ownerOf(i) {
	return data.waits ? waitingNode(i) : isFunction(i) ? i : -1;
}

/* Self and total of each function in a value, a Map by function. */
function functionRows(value) {
	const {nr, end} = data.shape, total = totalsOf(value), self = selfOf(value);
	const rows = new Map();
	const row = i => {
		const f = data.functions[data.symbol[i]];

		if (!rows.has(f))
			rows.set(f, {f, symbol: data.symbol[i], self: 0, total: 0});
		return rows.get(f);
	};

	for (let i = 1; i < nr; i++) {
		const owner = self[i] ? ownerOf(i) : -1;

		if (owner > 0)
			row(owner).self += self[i];
		if (!isFunction(i))
			continue;
		const r = row(i);
		if (i >= (r.until || 0)) {
			r.until = end[i];
			r.total += total[i];
		}
	}
	return rows;
}
