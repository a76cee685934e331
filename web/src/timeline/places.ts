// Where there is room for a text: no text may cover a bar, a cross, another text, or the line of now.
const letter = 6.6;
const widths = new Map<string, number>();
let pen: CanvasRenderingContext2D | null = null;

/** Pixels of a text in the picture, with a little room around it. */
export function textWidth(text: string): number {
  if (typeof HTMLCanvasElement === 'undefined') return text.length * letter + 8;
  let width = widths.get(text);
  if (width === undefined) {
    if (!pen) {
      pen = document.createElement('canvas').getContext('2d');
      if (pen) pen.font = `600 11.5px ${getComputedStyle(document.body).fontFamily}`;
    }
    width = (pen?.measureText(text).width ?? text.length * letter) + 8;
    if (widths.size > 2000) widths.clear();
    widths.set(text, width);
  }
  return width;
}

export interface Label {
  text: string;
  x: number;
  y: number;
  anchor: 'start' | 'end';
}

/** The longest beginning of a text that fits, with "…"; empty if it would say nothing. */
export function shortened(text: string, room: number): string {
  if (textWidth(text) <= room) return text;
  let length = Math.min(text.length, Math.floor(room / 4));
  while (length > 2 && textWidth(`${text.slice(0, length)}…`) > room) length -= 1;
  return length > 3 ? `${text.slice(0, length)}…` : '';
}

interface Box {
  y: number;
  left: number;
  right: number;
}

export class Places {
  private readonly boxes: Box[] = [];

  constructor(
    private readonly width: number,
    private readonly now: number,
  ) {}

  take(y: number, left: number, right: number): void {
    this.boxes.push({ y, left, right });
  }

  free(y: number, left: number, right: number): boolean {
    if (left < 0 || right > this.width || (left < this.now + 4 && right > this.now - 4)) return false;
    return !this.boxes.some((box) => Math.abs(box.y - y) < 11 && box.left < right && box.right > left);
  }

  /** The first of the texts that has room right of x, else left of `before`. */
  put(texts: string[], y: number, x: number, before?: number): Label | null {
    for (const anchor of ['start', 'end'] as const) {
      for (const text of texts) {
        const wide = textWidth(text);
        const left = anchor === 'start' ? x : (before ?? NaN) - wide;
        if (!text || !(left >= 0) || !this.free(y, left, left + wide)) continue;
        this.take(y, left, left + wide);
        return { text, x: anchor === 'start' ? left + 4 : left + wide - 4, y: y + 4, anchor };
      }
    }
    return null;
  }
}
