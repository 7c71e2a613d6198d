import { formatCount, formatNumber } from '../../../core/format.ts'
import type { OperationArguments, OperationResponse } from '../../../core/operations.ts'

export type FileSource = NonNullable<NonNullable<OperationArguments<'createImport'>['query']>['from']>
export type ImportJob = OperationResponse<'readImport'>['data']
export type ImportEntry = OperationResponse<'listImportItems'>['data'][number]

export const SOURCE_NAMES: Record<FileSource, string> = {
  'uptime-kuma': 'Uptime Kuma: its database (kuma.db) or a backup',
  gatus: 'Gatus: its configuration',
  picket: 'Picket: an exported project',
}

/** The size of the beginning of a file that `guessSource` needs. */
export const HEAD_BYTES = 65_536

/** What the beginning of a file looks like; null for no known format. The person confirms it. */
export function guessSource(head: string): FileSource | null {
  if (head.startsWith('SQLite format 3\0')) return 'uptime-kuma'
  if (/"(monitorList|notificationList)"\s*:/.test(head)) return 'uptime-kuma'
  if (/^\s*("?)(endpoints|external-endpoints)\1\s*:/m.test(head)) return 'gatus'
  return /(^|[{,\s])"?version"?\s*:\s*1\b/.test(head) ? 'picket' : null
}

/** `812 B`, `1.2 MB`, `256 MB` */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const [unit, size] = bytes < 1_000_000 ? ['kB', bytes / 1_000] : ['MB', bytes / 1_000_000]
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`
}

export const isRunning = ({ status }: Pick<ImportJob, 'status'>): boolean =>
  ['uploading', 'reading', 'planning', 'applying'].includes(status)

const STATUS_WORDS: Record<ImportJob['status'], string> = {
  uploading: 'The file is being uploaded',
  reading: 'The file is being read',
  planning: 'The plan is being made',
  ready: 'Planned, nothing is changed yet',
  applying: 'The file is being imported',
  applied: 'Imported',
  failed: 'Failed, nothing was changed',
}

export const describeStatus = ({ status }: Pick<ImportJob, 'status'>): string => STATUS_WORDS[status]

/** `12 of 40 steps`; nothing before the number of steps is known. An entry of the file has two: its plan and its change. */
export const describeProgress = ({ progress: { done, total } }: Pick<ImportJob, 'progress'>): string | null =>
  total === 0 ? null : `${formatNumber(done)} of ${formatCount(total, 'step')}`

/** The number of records that applying changes. */
export const countChanges = ({ summary }: ImportJob): number =>
  summary === null ? 0 : summary.create + summary.update + summary.delete
