// Words and numbers for people.

/** "1 job", "2 jobs", "2,468 jobs" */
export const count = (number: number, noun: string, plural = `${noun}s`): string =>
  `${digits(number)} ${number === 1 ? noun : plural}`;

/** "2,468" */
export const digits = (number: number): string => number.toLocaleString('en');

/** "2.5k", "1.2M": where a column is narrow */
export function short(number: number): string {
  if (number < 10_000) return digits(number);
  if (number < 1_000_000) return `${(number / 1000).toFixed(number < 100_000 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

/** A count that the store only estimates once it is large: "2,468", "about 1.2M" */
export const roughly = (number: number): string => (number > 20_000 ? `about ${short(number)}` : digits(number));

/** Makes control characters visible, which a terminal or an editor would obey: a name may contain anything. */
export const visible = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) =>
    c < '\u0020' ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : '\ufffd',
  );

/** A number from 0 to `size - 1` that is always the same for the same text. */
export function bucket(text: string, size: number): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  hash ^= hash >>> 15;
  return (hash >>> 0) % size;
}

/** JSON with two spaces, or the bytes as text if they are text. */
export function pretty(json: unknown, base64: string | undefined): string {
  if (base64 === undefined) return json === undefined || json === null ? '' : JSON.stringify(json, null, 2);
  try {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return `base64: ${base64}`;
  }
}

/** The text of an error, whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The local moment of an <input type="datetime-local">, as the store wants it; nothing if it is empty. */
export function utcOf(local: string | null | undefined): string | undefined {
  if (!local) return undefined;
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
