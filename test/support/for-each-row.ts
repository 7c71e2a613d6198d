/** Processes rows with a limit of concurrency. */
export async function forEachRow<Row>(
  rows: readonly Row[],
  atOnce: number,
  work: (row: Row) => Promise<void>,
): Promise<void> {
  const waiting = rows.values()
  const worker = async () => {
    for (const row of waiting) await work(row)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
