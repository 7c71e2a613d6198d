/** The monitors of a bulk change and what happens to each (docs/design/bulk-changes.md). Pure. */
import { type ErrorDetail, validationError } from '../../foundation/web/server/errors.ts'
import { type BulkChange, MAX_MONITORS, type MonitorChange } from './schema.ts'

/** One monitor, and its change. The id may be of any form. */
export type ChangeTarget = { monitorId: string; change: MonitorChange }

/** The targets of a body with ids; null for a query. Throws 400 for what the schema cannot express. */
export function listTargets(body: BulkChange): ChangeTarget[] | null {
  const problems = [...findFormProblems(body), ...listChanges(body).flatMap(findChangeProblems)]
  if (problems.length > 0) throw validationError(problems)
  if (body.query) return null
  const groups = body.changes ?? [{ monitor_ids: body.monitor_ids!, change: body.change! }]
  const targets = new Map<string, ChangeTarget>()
  for (const [group, { monitor_ids, change }] of groups.entries()) {
    for (const [index, id] of monitor_ids.entries()) {
      const monitorId = id.toLowerCase()
      const known = targets.get(monitorId)
      if (known && known.change !== change) throw validationError([describeRepeatedId(group, index)])
      targets.set(monitorId, { monitorId, change })
    }
  }
  assertAllowedCount(targets.size)
  return [...targets.values()]
}

/** Throws 400 for too many monitors. */
export function assertAllowedCount(count: number): void {
  if (count <= MAX_MONITORS) return
  const message = `a bulk change can have at most ${MAX_MONITORS.toLocaleString('en')} monitors; use a narrower query`
  throw validationError([{ path: 'query', message }])
}

function describeRepeatedId(group: number, index: number): ErrorDetail {
  const path = `changes[${group}].monitor_ids[${index}]`
  return { path, message: `${path} is also in an earlier entry of changes` }
}

function findFormProblems({ monitor_ids, query, change, changes }: BulkChange): ErrorDetail[] {
  const given = [monitor_ids, query, changes].filter(one => one !== undefined)
  if (given.length !== 1) {
    return [{ path: '', message: 'the body must have exactly one of monitor_ids, query and changes' }]
  }
  if (changes === undefined && change === undefined) return [{ path: 'change', message: 'change is required' }]
  if (changes !== undefined && change !== undefined) {
    return [{ path: 'change', message: 'change cannot be combined with changes, which has a change in each entry' }]
  }
  return []
}

type PlacedChange = { path: string; change: MonitorChange }

function listChanges({ change, changes = [] }: BulkChange): PlacedChange[] {
  const listed = changes.map((entry, i) => ({ path: `changes[${i}].change`, change: entry.change }))
  return change === undefined ? listed : [{ path: 'change', change }, ...listed]
}

function findChangeProblems({ path, change }: PlacedChange): ErrorDetail[] {
  const names = Object.keys(change)
  const problems: ErrorDetail[] = []
  const add = (place: string, sentence: string) => problems.push({ path: place, message: `${place} ${sentence}` })
  if (names.length === 0) add(path, 'must have at least one property')
  if (change.delete && names.length > 1) add(`${path}.delete`, 'cannot be combined with other changes')
  for (const name of ['regions', 'tags', 'alert_rules'] as const) {
    const edit = change[name]
    if (edit === undefined) continue
    const place = `${path}.${name}`
    if (Object.keys(edit).length === 0) add(place, 'must have at least one property')
    if ('set' in edit && ('add' in edit || 'remove' in edit))
      add(`${place}.set`, 'cannot be combined with add and remove')
  }
  return problems
}
