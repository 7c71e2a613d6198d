import type { Figure } from './rig.ts'

/** When and where the figures of a part were measured. */
type MeasurementInfo = { date: string; machine: string }

/** The rows of docs/benchmarks.md that README.md repeats, by the beginning of their first column. */
export const HIGHLIGHTS = [
  'probe: CPU time of an HTTP check',
  'results a second, JetStream',
  'deciding attempt → webhook',
  'a target hangs → webhook, every 30 s',
  '`npm start`, nothing to check: part of a core',
]

const HEAD = '| what | measured | aim | |\n|---|---|---|---|'

export const toRow = ({ what, figure, aim, isMet }: Figure): string =>
  `| ${what} | ${figure} | ${aim} | ${isMet === null ? '' : isMet ? 'met' : 'missed'} |`

/** Replaces the section of one part of the bench. A part without a section is added at the end. */
export function replacePart(
  document: string,
  part: string,
  figures: Figure[],
  { date, machine }: MeasurementInfo,
): string {
  const section = `## ${part}\n\nMeasured on ${date}: ${machine}.\n\n${HEAD}\n${figures.map(toRow).join('\n')}\n`
  const start = document.indexOf(`\n## ${part}\n`)
  if (start === -1) return `${document.trimEnd()}\n\n${section}`
  const next = document.indexOf('\n## ', start + 1)
  return `${document.slice(0, start + 1)}${section}${next === -1 ? '' : document.slice(next)}`
}

/** The table of README.md: the highlighted rows of docs/benchmarks.md, unchanged. Throws when one of them is missing. */
export function buildHighlights(document: string): string {
  const rows = HIGHLIGHTS.map(start => {
    const row = document.split('\n').find(line => line.startsWith(`| ${start}`))
    if (row === undefined) throw new Error(`docs/benchmarks.md has no row that begins with "${start}"`)
    return row
  })
  return [HEAD, ...rows].join('\n')
}

const [BEGIN, END] = ['<!-- bench:begin -->', '<!-- bench:end -->']

/** Replaces the table of figures in README.md, which is between two comments. */
export function replaceHighlights(readme: string, document: string): string {
  const [start, end] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  return `${readme.slice(0, start + BEGIN.length)}\n${buildHighlights(document)}\n${readme.slice(end)}`
}
