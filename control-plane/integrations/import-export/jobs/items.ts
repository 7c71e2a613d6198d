import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import { type ImportChange, type ImportReport, type ImportWarning, LEFT_OUT } from '../import/import-report.ts'

export const ITEM_ACTIONS = ['create', 'update', 'delete', 'unchanged', 'left_out', 'note'] as const
type ItemAction = (typeof ITEM_ACTIONS)[number]

/** An entry of a plan or result with its warnings. `note`: a warning that concerns no entry, or several. */
export type ImportItem = {
  action: ItemAction
  resource: ImportChange['resource'] | null
  /** name of the record for people, or the place in the file */
  key: string
  id: string | null
  fields: ImportChange['fields']
  warnings: string[]
}

export type ImportCounts = Record<ItemAction, number> & { warnings: number; extra: number }

/** The rank of an action in a list: what changes is shown first. */
const ORDER: Record<ItemAction, number> = { delete: 0, left_out: 1, create: 2, update: 3, note: 4, unchanged: 5 }

/** Resources whose names are in the warnings of converters. */
const NAMED = ['monitor', 'alert_channel']

/** Lists what an import changes, entry by entry. A warning that begins with the name of an entry is part of its item. */
export function buildItems(report: ImportReport, conversionWarnings: readonly ImportWarning[]): ImportItem[] {
  const items: ImportItem[] = [
    ...report.changes.map(change => ({ ...change, warnings: [] as string[] })),
    ...report.unchangedRecords.map(record => ({
      ...{ action: 'unchanged' as const, ...record },
      fields: {},
      warnings: [] as string[],
    })),
  ]
  const byName = new Map<string, ImportItem>()
  for (const item of items) if (NAMED.includes(item.resource ?? '') && !byName.has(item.key)) byName.set(item.key, item)
  for (const { path, message } of [...conversionWarnings, ...report.warnings]) {
    const named = findNamed(byName, message)
    const isLeftOut = message.endsWith(LEFT_OUT)
    if (named && !isLeftOut) {
      named.item.warnings.push(named.rest)
      continue
    }
    const key = findSubject(message) ?? path
    const rest = message.startsWith(`${key}: `) ? message.slice(key.length + 2) : message
    items.push({ action: isLeftOut ? 'left_out' : 'note', resource: null, key, id: null, fields: {}, warnings: [rest] })
  }
  return items.sort((a, b) => ORDER[a.action] - ORDER[b.action])
}

/** The item whose name begins the message, followed by a colon. Names may contain colons. */
function findNamed(
  byName: ReadonlyMap<string, ImportItem>,
  message: string,
): { item: ImportItem; rest: string } | null {
  for (let at = message.indexOf(': '); at !== -1; at = message.indexOf(': ', at + 1)) {
    const item = byName.get(message.slice(0, at))
    if (item) return { item, rest: message.slice(at + 2) }
  }
  return null
}

/** `Shop` of `Shop: upside down mode is not supported; it was left out`. */
const findSubject = (message: string): string | null => /^(.{1,100}?): /s.exec(message)?.[1] ?? null

/** The item for callers with read access only, who must not see the addresses of alert channels. */
export function hideChannelConfig(item: ImportItem): ImportItem {
  const { config } = item.fields
  if (item.resource !== 'alert_channel' || config === undefined) return item
  const hide = (value: unknown) => (value === null ? null : MASK)
  return {
    ...item,
    fields: { ...item.fields, config: { from: hide(config.from), to: hide(config.to), is_secret: true } },
  }
}

export function summarize(items: readonly ImportItem[], extra: number): ImportCounts {
  const counts = { create: 0, update: 0, delete: 0, unchanged: 0, left_out: 0, note: 0 }
  let warnings = 0
  for (const item of items) {
    counts[item.action]++
    warnings += item.warnings.length
  }
  return { ...counts, warnings, extra }
}
