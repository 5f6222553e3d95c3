/** Markdown in which names are text: nothing in them is markup, and none breaks its line. */
export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

export function cell(text: string): string {
  return inline(text).replaceAll('|', '\\|');
}

export function inline(text: string): string {
  return text
    .replace(/[\r\n\u2028\u2029]+/g, ' ')
    .replace(/[\\`*_[\]~]/g, (c) => `\\${c}`)
    .replaceAll('<', '&lt;');
}
