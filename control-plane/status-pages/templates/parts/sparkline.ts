const BLOCKS = '▁▂▃▄▅▆▇█'
const COLUMNS = 30

/** A row of at most thirty blocks, each the mean of the days that it stands for; a space where nothing is known. */
export function sparkline(values: readonly (number | null)[]): string {
  const width = Math.max(1, Math.ceil(values.length / COLUMNS))
  const means = Array.from({ length: Math.ceil(values.length / width) }, (_, i) =>
    meanOf(values.slice(i * width, (i + 1) * width)),
  )
  const most = Math.max(...means.filter(mean => mean !== null), 0)
  return means.map(mean => (mean === null ? ' ' : BLOCKS[stepOf(mean, most)])).join('')
}

const stepOf = (value: number, most: number) =>
  most === 0 ? 0 : Math.min(BLOCKS.length - 1, Math.floor((value / most) * (BLOCKS.length - 1)))

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}
