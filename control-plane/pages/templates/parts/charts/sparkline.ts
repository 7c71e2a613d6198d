const BLOCKS = '▁▂▃▄▅▆▇█'
const COLUMNS = 18
const MIN_RANGE_SHARE = 0.4

/** A row of at most eighteen blocks, each the mean of several days; a space for days without figures. */
export function renderSparkline(values: readonly (number | null)[]): string {
  const width = Math.max(1, Math.ceil(values.length / COLUMNS))
  const means = Array.from({ length: Math.ceil(values.length / width) }, (_, i) =>
    computeMean(values.slice(i * width, (i + 1) * width)),
  )
  const known = means.filter(mean => mean !== null)
  const [least, most] = [Math.min(...known), Math.max(...known)]
  // small variations must look small
  const range = Math.max(most - least, most * MIN_RANGE_SHARE, Number.MIN_VALUE)
  const block = (mean: number) => BLOCKS[Math.round(((mean - least) / range) * (BLOCKS.length - 1))]
  return means.map(mean => (mean === null ? ' ' : block(mean))).join('')
}

function computeMean(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}
