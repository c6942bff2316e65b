// The flamegraph: d3-flame-graph draws it; what it lacks is added after each drawing: roles and names for screen
// readers, movement by keyboard, colours, marks.

const cellHeight = 24;
const leastWidth = 1; // pixels: a narrower frame is not drawn until a zoom makes it wider
const zoomTime = window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200;

/** The tree as d3-flame-graph wants it: nested objects, which it also writes its own marks into. */
function nest(tree) {
  const items = Array.from(tree.parents, (_, node) => ({ node, children: [] }));
  for (let node = 1; node < items.length; node++)
    items[tree.parents[node]].children.push(items[node]);
  return items;
}

export class Graph {
  #chart = null;
  #frames = new Map(); // by node: the element that is drawn for it
  #current = null;     // the d3 node that Tab comes to
  #ring = null;
  #matched = null;     // functions, by number; null: nothing is marked

  /**
   * `describe` gives a node's texts and colour: label(node), spoken(node), kind(node), hue(node), change(node).
   * `on` is told what happens: inspect(node) when the pointer or the focus comes to a frame, zoom(node).
   */
  constructor(container, describe, on) {
    this.container = container;
    this.describe = describe;
    this.on = on;
    container.addEventListener("keydown", (event) => this.#onKey(event));
    container.addEventListener("focusin", (event) => this.#onFocus(event));
    container.addEventListener("pointerover", (event) => this.#onPointer(event));
    container.addEventListener("pointerleave", () => this.on.inspect(this.zoomed));
    new ResizeObserver(() => this.#fit()).observe(container);
  }

  /** Draws the tree with these values (by node), zoomed out. */
  show(tree, values) {
    this.tree = tree;
    this.values = values;
    this.items = nest(tree);
    this.zoomed = 0;
    this.#current = null;
    this.container.replaceChildren();
    this.#chart = this.#makeChart();
    d3.select(this.container).datum(this.items[0]).call(this.#chart);
    this.#decorate();
    this.#chart.transitionDuration(zoomTime);
  }

  #makeChart() {
    const noTooltip = () => {};
    noTooltip.show = noTooltip.hide = () => {};
    return flamegraph()
      .width(this.#width())
      .cellHeight(cellHeight)
      .minFrameSize(leastWidth)
      .inverted(true)
      .resetHeightOnZoom(true)
      .transitionDuration(0)
      .tooltip(noTooltip)
      .sort((a, b) => b.value - a.value || a.data.node - b.data.node)
      .getValue((item) => this.values[item.node])
      .getName((d) => this.describe.label(d.data.node))
      .setColorMapper(() => "")
      .onClick((d) => this.#onZoom(d));
  }

  #width() {
    const style = getComputedStyle(this.container);
    return Math.max(this.container.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight), 50);
  }

  #fit() {
    if (this.#chart === null || this.#chart.width() === this.#width())
      return;
    this.#chart.width(this.#width()).transitionDuration(0);
    this.#redraw(() => this.#update());
    this.#chart.transitionDuration(zoomTime);
  }

  /** The same tree with other values; the zoom stays. */
  setValues(values) {
    this.values = values;
    this.#redraw(() => this.#update());
  }

  #update() {
    this.#chart.update();
    this.#decorate();
  }

  resetZoom() {
    this.#redraw(() => this.#chart.resetZoom());
  }

  /** A drawing can take the focused frame away: the focus then goes to the frame that Tab comes to. */
  #redraw(draw) {
    const hadFocus = this.hasFocus;
    draw();
    if (hadFocus && !this.hasFocus)
      this.#focus(this.#current);
  }

  get hasFocus() {
    return this.container.contains(document.activeElement);
  }

  /** Marks the frames of these functions and dims the others; null: neither. */
  mark(functions) {
    this.#matched = functions;
    for (const [node, element] of this.#frames)
      this.#setMark(element, node);
  }

  #setMark(element, node) {
    if (this.#matched === null)
      delete element.dataset.match;
    else
      element.dataset.match = this.#matched.has(this.tree.functions[node]) ? "yes" : "no";
  }

  /** The chart has drawn what was clicked, or zoomed to by its own methods. */
  #onZoom(d) {
    this.zoomed = d.data.node;
    this.#current = d;
    this.#decorate();
    this.on.zoom(this.zoomed);
  }

  /** After each drawing. */
  #decorate() {
    const svg = this.container.querySelector("svg");
    const elements = svg.querySelectorAll("g.frame");
    const depth = Array.from(elements).reduce((most, element) => Math.max(most, element.__data__.depth), 0);
    svg.setAttribute("height", (depth + 1) * cellHeight);
    svg.setAttribute("role", "tree");
    svg.setAttribute("aria-labelledby", "graph-title");
    svg.setAttribute("aria-describedby", "graph-help");
    svg.querySelector(":scope > .title")?.remove();
    this.#frames.clear();
    for (const element of elements)
      this.#decorateFrame(element, element.__data__);
    if (!this.#isDrawn(this.#current))
      this.#current = this.#elementOf(this.zoomed).__data__;
    this.#elementOf(this.#current.data.node).setAttribute("tabindex", "0");
    this.#ring?.remove();
    this.#ring = d3.select(svg).append("rect").attr("class", "focus-ring").node();
    this.#placeRing();
  }

  #decorateFrame(element, d) {
    const node = d.data.node;
    this.#frames.set(node, element);
    element.setAttribute("role", "treeitem");
    element.setAttribute("tabindex", "-1");
    element.setAttribute("aria-level", d.depth + 1);
    element.setAttribute("aria-label", this.describe.spoken(node));
    element.setAttribute("aria-setsize", d.parent?.children.length ?? 1);
    element.setAttribute("aria-posinset", d.place ?? 1);
    d.children?.forEach((child, place) => child.place = place + 1); // drawn after its parent
    if (node === this.zoomed)
      element.setAttribute("aria-current", "true");
    else
      element.removeAttribute("aria-current");
    element.querySelector("foreignObject")?.setAttribute("aria-hidden", "true");
    element.dataset.kind = this.describe.kind(node);
    this.#setData(element, "hue", this.describe.hue(node));
    this.#setData(element, "change", this.describe.change(node));
    this.#setMark(element, node);
  }

  #setData(element, key, value) {
    if (value === undefined)
      delete element.dataset[key];
    else
      element.dataset[key] = value;
  }

  #elementOf(node) {
    return this.#frames.get(node);
  }

  #isDrawn(d) {
    return d !== undefined && d !== null && this.#frames.has(d.data.node);
  }

  #placeRing() {
    const d = this.#current;
    const isFocused = this.hasFocus && d !== null;
    this.#ring.classList.toggle("is-shown", isFocused);
    if (!isFocused)
      return;
    const width = this.#chart.width();
    this.#ring.setAttribute("x", d.x0 * width + 1);
    this.#ring.setAttribute("y", d.depth * cellHeight + 1);
    this.#ring.setAttribute("width", Math.max((d.x1 - d.x0) * width - 2, 2));
    this.#ring.setAttribute("height", cellHeight - 2);
  }

  #frameOf(target) {
    return target instanceof Element ? target.closest("g.frame")?.__data__ : undefined;
  }

  #onPointer(event) {
    const d = this.#frameOf(event.target);
    if (d !== undefined)
      this.on.inspect(d.data.node);
  }

  #onFocus(event) {
    const d = this.#frameOf(event.target);
    if (d === undefined)
      return;
    if (this.#isDrawn(this.#current))
      this.#elementOf(this.#current.data.node).setAttribute("tabindex", "-1");
    this.#current = d;
    event.target.setAttribute("tabindex", "0");
    this.#placeRing();
    this.on.inspect(d.data.node);
  }

  #focus(d) {
    if (this.#isDrawn(d)) {
      const element = this.#elementOf(d.data.node);
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }

  #onKey(event) {
    const d = this.#frameOf(event.target);
    if (d === undefined || event.altKey || event.ctrlKey || event.metaKey)
      return;
    const moves = {
      ArrowDown: () => this.#focus(d.children?.find((child) => this.#isDrawn(child))),
      ArrowUp: () => this.#focus(d.parent),
      ArrowLeft: () => this.#focus(this.#beside(d, -1)),
      ArrowRight: () => this.#focus(this.#beside(d, 1)),
      Home: () => this.#focus(this.#elementOf(0).__data__),
      Enter: () => this.#zoomTo(d),
      " ": () => this.#zoomTo(d),
    };
    if (moves[event.key] === undefined)
      return;
    event.preventDefault();
    moves[event.key]();
  }

  #zoomTo(d) {
    this.#redraw(() => this.#chart.zoomTo(d));
  }

  /** The nearest frame to the left (-1) or right (1) in the same row, whoever called it. */
  #beside(d, direction) {
    let nearest;
    for (const element of this.#frames.values()) {
      const other = element.__data__;
      if (other.depth === d.depth && other !== d && (other.x0 - d.x0) * direction > 0 &&
          (nearest === undefined || (nearest.x0 - other.x0) * direction > 0))
        nearest = other;
    }
    return nearest;
  }
}

