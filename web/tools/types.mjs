// Writes src/api/types.ts from ../api/acts.json: one interface per struct, and what each act takes, answers and needs. The file
// is not committed: a new act changes it, and not the dashboard.
//
//   node tools/types.mjs
import { readFileSync, writeFileSync } from 'node:fs';

const here = new URL('..', import.meta.url);
const { acts, types } = JSON.parse(readFileSync(new URL('../api/acts.json', here), 'utf8'));
const target = new URL('src/api/types.ts', here);

const nameOf = (ref) => ref.slice(ref.lastIndexOf('/') + 1);

function typeOf(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(' | ');
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return several.map(typeOf).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array': {
      const item = typeOf(schema.items);
      return item.includes(' ') ? `(${item})[]` : `${item}[]`;
    }
    default:
      return 'unknown';
  }
}

function interfaceOf([name, schema]) {
  if (!schema.properties) return `export type ${name} = ${typeOf(schema)};\n`;
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties).map(
    ([key, value]) => `  ${key}${required.has(key) ? '' : '?'}: ${typeOf(value)};\n`,
  );
  return `export interface ${name} {\n${members.join('')}}\n`;
}

const text = [
  '// Written by tools/types.mjs from api/acts.json. Do not edit.\n',
  ...Object.entries(types).map(interfaceOf),
  `export interface Acts {\n${acts
    .map((act) => `  '${act.name}': { arguments: ${typeOf(act.arguments)}; answer: ${typeOf(act.answer)} };\n`)
    .join('')}}\n`,
  `export interface Scopes {\n${acts.map((act) => `  '${act.name}': '${act.scope}';\n`).join('')}}\n`,
].join('\n');

writeFileSync(target, text);
