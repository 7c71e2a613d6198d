/** Where the bars of a wallboard are, so that all of them fit into a place of any shape. Pure. */

type LaidGroup = {
  tag: string | null
  /** the place of the label */
  x: number
  y: number
  width: number
  /** an SVG path for each status, by its letter */
  paths: { status: string; path: string }[]
}

type Group = { tag: string | null; statuses: string }
/** The sizes of bars that are tried, from large to small. */
const SIZES = [
  72, 64, 56, 50, 44, 40, 36, 33, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2.5, 2, 1.5, 1,
]
/** Of the height of a bar to its width, with the gaps. */
const RATIO = 2.2
const LABEL = 26
const GAP = 24
/** The least width of a group, for its label. */
const MIN_WIDTH = 150

/** Lays groups out with the largest bars that fit into `width` and `height`. */
export function layoutWall(groups: readonly Group[], width: number, height: number): LaidGroup[] {
  for (const size of SIZES) {
    const blocks = placeBlocks(groups, width, size)
    if (blocks.height <= height || size === SIZES.at(-1))
      return groups.map((group, i) => draw(group, blocks.places[i]!, size))
  }
  return []
}

type Place = { x: number; y: number; columns: number; width: number }

/** Blocks from left to right, in rows as high as their highest block. */
function placeBlocks(groups: readonly Group[], width: number, size: number) {
  const places: Place[] = []
  let [x, y, rowHeight] = [0, 0, 0]
  for (const { statuses } of groups) {
    const wanted = Math.max(MIN_WIDTH, Math.ceil(Math.sqrt(statuses.length * RATIO * 3)) * size)
    const columns = Math.max(1, Math.floor(Math.min(wanted, width) / size))
    const blockWidth = Math.min(width, Math.max(MIN_WIDTH, columns * size))
    if (x > 0 && x + blockWidth > width) [x, y, rowHeight] = [0, y + rowHeight + GAP, 0]
    places.push({ x, y, columns, width: blockWidth })
    rowHeight = Math.max(rowHeight, LABEL + Math.ceil(statuses.length / columns) * size * RATIO)
    x += blockWidth + GAP
  }
  return { places, height: y + rowHeight }
}

function draw({ tag, statuses }: Group, { x, y, columns, width }: Place, size: number): LaidGroup {
  const [barWidth, barHeight] = [round(size * 0.72), round(size * RATIO * 0.8)]
  const paths = new Map<string, string>()
  for (const [i, status] of [...statuses].entries()) {
    const left = round(x + (i % columns) * size)
    const top = round(y + LABEL + Math.floor(i / columns) * size * RATIO)
    const bar = `M${left} ${top}h${barWidth}v${barHeight}h-${barWidth}z`
    paths.set(status, (paths.get(status) ?? '') + bar)
  }
  return { tag, x, y, width, paths: [...paths].map(([status, path]) => ({ status, path })) }
}

const round = (value: number): number => Math.round(value * 100) / 100

/** How many tiles are shown, and in how many columns, so that they take at most half of the screen. */
export function layoutTiles(count: number, width: number, height: number): { columns: number; shown: number } {
  const columns = Math.max(1, Math.min(6, count, Math.floor(width / 260)))
  const rows = Math.max(1, Math.floor((height * 0.55) / 120))
  return { columns, shown: Math.min(count, columns * rows) }
}
