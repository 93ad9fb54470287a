/** A cell of the terminal: eight dots, or a letter over them. */
interface Cell {
  dots: number;
  colour: Colour | undefined;
  letter?: string;
}
type Colour = readonly [number, number, number];
type Point = readonly [number, number];

/** A braille letter has two columns and four rows of dots, in this order of bits. */
const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const;
const ELEMENT = /<(path|line|polyline|rect|text)\b([^>]*?)\/?>(?:([^<]*)<\/text>)?/g;

/**
 * Draws a chart of plain SVG with braille letters: lines, filled rectangles and texts, at the resolution of the letters.
 *
 * @param columns width in letters
 * @param paint colours a text
 * @returns lines; undefined if the picture has no elements that can be drawn this way, or transformed groups
 */
export function drawChart(svg: string, columns: number, paint: (text: string, colour: Colour) => string): string[] | undefined {
  const [, , width = 0, height = 0] = (attribute(svg, 'viewBox') ?? '').split(/[\s,]+/).map(Number);
  if (!(width > 0 && height > 0) || svg.includes('transform=')) return undefined;
  // A letter is about twice as high as wide.
  const rows = Math.round((columns * height) / width / 2);
  const cells: Cell[][] = Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => ({ dots: 0, colour: undefined })),
  );
  const dot = ([x, y]: Point, colour: Colour | undefined): void => {
    const [across, down] = [Math.floor((x / width) * columns * 2), Math.floor((y / height) * rows * 4)];
    const cell = cells[down >> 2]?.[across >> 1];
    if (cell === undefined) return;
    cell.dots |= DOTS[down & 3]?.[across & 1] ?? 0;
    cell.colour = colour ?? cell.colour;
  };
  const line = ([x1, y1]: Point, [x2, y2]: Point, colour: Colour | undefined): void => {
    const steps = Math.ceil(Math.max((Math.abs(x2 - x1) / width) * columns * 4, (Math.abs(y2 - y1) / height) * rows * 8, 1));
    for (let step = 0; step <= steps; step += 1)
      dot([x1 + ((x2 - x1) * step) / steps, y1 + ((y2 - y1) * step) / steps], colour);
  };

  const texts: { attributes: string; text: string }[] = [];
  for (const [, element, attributes = '', text = ''] of svg.matchAll(ELEMENT)) {
    const number = (name: string): number => Number(attribute(attributes, name) ?? 0);
    const stroke = colourOf(attribute(attributes, 'stroke'));
    if (element === 'text') texts.push({ attributes, text });
    else if (element === 'rect') {
      const fill = colourOf(attribute(attributes, 'fill') ?? '#000');
      if (fill === undefined) continue;
      const [left, top, right, bottom] = [number('x'), number('y'), number('x') + number('width'), number('y') + number('height')];
      for (let y = top; y < bottom; y += height / rows / 8)
        for (let x = left; x < right; x += width / columns / 4) dot([x, y], saturated(fill));
    } else if (stroke !== undefined) {
      const strokes =
        element === 'path'
          ? pathLines(attribute(attributes, 'd') ?? '')
          : element === 'line'
            ? [[[number('x1'), number('y1')] as const, [number('x2'), number('y2')] as const]]
            : [pairs(attribute(attributes, 'points') ?? '')];
      for (const points of strokes)
        for (const [index, point] of points.entries()) line(points[index - 1] ?? point, point, saturated(stroke));
    }
  }
  if (cells.every((row) => row.every(({ dots }) => dots === 0))) return undefined;
  for (const { attributes, text } of texts) write(cells, attributes, decoded(text), { width, height });
  return cells.map((row) => lineOf(row, paint));
}

/** Writes a text at its place, or below it if another text is already there. */
function write(cells: Cell[][], attributes: string, text: string, { width, height }: { width: number; height: number }): void {
  const [x, y, size] = ['x', 'y', 'font-size'].map((name) => Number(attribute(attributes, name) ?? 13)) as [number, number, number];
  const middle = attribute(attributes, 'dy') === undefined ? y - size * 0.35 : y;
  const anchor = attribute(attributes, 'text-anchor');
  const shift = anchor === 'end' ? text.length : anchor === 'middle' ? text.length / 2 : 0;
  const columns = cells[0]?.length ?? 0;
  const column = Math.max(0, Math.round((x / width) * columns - shift));
  const row = Math.floor((middle / height) * cells.length);
  const free = [row, row + 1].find((each) =>
    [...text].every((_, index) => cells[each]?.[column + index]?.letter === undefined),
  );
  const letters = cells[free ?? row];
  if (letters === undefined) return;
  for (const [index, letter] of [...text].entries()) letters[column + index] = { dots: 0, colour: undefined, letter };
}

function lineOf(row: readonly Cell[], paint: (text: string, colour: Colour) => string): string {
  let line = '';
  let run = '';
  let colour: Colour | undefined;
  const flush = (): void => {
    line += colour === undefined ? run : paint(run, colour);
    run = '';
  };
  for (const cell of row) {
    if (cell.colour?.join() !== colour?.join()) {
      flush();
      colour = cell.colour;
    }
    run += cell.letter ?? (cell.dots === 0 ? ' ' : String.fromCodePoint(0x2800 + cell.dots));
  }
  flush();
  return line.trimEnd();
}

/** The lines of a path; a curve becomes the straight line to its end. */
function pathLines(data: string): Point[][] {
  const lines: Point[][] = [];
  let [x, y] = [0, 0];
  let points: Point[] = [];
  for (const [, command = '', numbers = ''] of data.matchAll(/([a-z])([^a-z]*)/gi)) {
    const kind = command.toUpperCase();
    const [fromX, fromY] = command === kind ? [0, 0] : [x, y];
    const values = (numbers.match(/-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi) ?? []).map(Number);
    if (kind === 'M') lines.push((points = []));
    if (kind === 'Z' && points[0] !== undefined) [x, y] = points[0];
    else if (kind === 'H') x = fromX + (values.at(-1) ?? 0);
    else if (kind === 'V') y = fromY + (values.at(-1) ?? 0);
    else {
      const step = kind === 'C' ? 6 : kind === 'Q' || kind === 'S' ? 4 : kind === 'A' ? 7 : 2;
      for (let at = step; at <= values.length; at += step) {
        const [baseX, baseY] = command === kind ? [0, 0] : [x, y];
        [x, y] = [baseX + (values[at - 2] ?? 0), baseY + (values[at - 1] ?? 0)];
        points.push([x, y]);
      }
      continue;
    }
    points.push([x, y]);
  }
  return lines;
}

function pairs(text: string): Point[] {
  const values = text.trim().split(/[\s,]+/).map(Number);
  return Array.from({ length: values.length >> 1 }, (_, index) => [values[index * 2] ?? 0, values[index * 2 + 1] ?? 0] as const);
}

/** Undefined for no colour, and for colours as light as paper or grid lines. */
function colourOf(value: string | undefined): Colour | undefined {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(value ?? '')?.[1];
  if (hex === undefined) return value === undefined || value === 'none' || value === 'white' ? undefined : [0, 0, 0];
  const digits = hex.length === 3 ? [...hex].map((digit) => digit + digit) : (hex.match(/../g) ?? []);
  const colour = digits.map((digit) => Number.parseInt(digit, 16)) as unknown as Colour;
  return Math.min(...colour) > 0xc0 ? undefined : colour;
}

/** Greys use the terminal's own colour, which is readable on any background. */
function saturated(colour: Colour): Colour | undefined {
  return Math.max(...colour) - Math.min(...colour) > 40 ? colour : undefined;
}

function attribute(text: string, name: string): string | undefined {
  return new RegExp(`(?<![\\w-])${name}="([^"]*)"`).exec(text)?.[1];
}

function decoded(text: string): string {
  const names: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name?: string) =>
    code === undefined ? (names[name ?? ''] ?? whole) : String.fromCodePoint(Number(code)),
  );
}
