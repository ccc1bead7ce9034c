/** Rows with columns as wide as they need to be; the last one is not padded. */
export function toTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** Whatever strangers wrote, on one line and without control characters. */
export function toCell(text: string, maxChars = 100): string {
  const plain = text.replaceAll(/\p{C}+/gu, ' ').trim();
  return plain.length > maxChars ? `${plain.slice(0, maxChars - 1)}…` : plain;
}
