import t from 'tap'
import {
  reconcile,
  type StoredChild,
} from '../../../../control-plane/integrations/data-sources/children/reconciliation.ts'
import type { EvaluatedChild } from '../../../../control-plane/integrations/data-sources/evaluation/evaluate.ts'
import type { StoredMonitor } from '../../../../control-plane/monitoring/monitors/types.ts'

const NOW = new Date('2026-08-01T12:00:00Z')
const HOUR_MS = 3_600_000
const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS)

const found = (key: string, fieldId = 'f'): EvaluatedChild => {
  return { fieldId, key, name: key, value: 'ok', typed: 'ok', outcome: 'up', reason: '' }
}
const stored = (key: string, rest: Partial<StoredChild> = {}): StoredChild => ({
  monitor: { id: key } as StoredMonitor,
  state: null,
  fieldId: 'f',
  key,
  madeName: key,
  value: 'ok',
  missingSince: null,
  archivedAt: null,
  ...rest,
})

function keysAfter(before: StoredChild[], now: EvaluatedChild[]) {
  const { created, matched, missing, archived, pruned } = reconcile(before, now, NOW)
  const keys = (children: { key: string }[]) => children.map(({ key }) => key).join(' ')
  return {
    created: keys(created),
    matched: keys(matched.map(({ found }) => found)),
    missing: keys(missing),
    archived: keys(archived),
    pruned: keys(pruned),
  }
}
const NONE = { created: '', matched: '', missing: '', archived: '', pruned: '' }

t.test('Keys are created, matched, missing, archived after a day, and restored', async t => {
  const missing = stored('c', { missingSince: ago(23.9) })
  const expired = stored('d', { missingSince: ago(24) })
  const archived = stored('e', { missingSince: ago(100), archivedAt: ago(76) })
  t.same(keysAfter([], [found('a')]), { ...NONE, created: 'a' })
  t.same(keysAfter([stored('a')], [found('a')]), { ...NONE, matched: 'a' })
  t.same(keysAfter([stored('a'), missing, expired], []), { ...NONE, missing: 'c a', archived: 'd' })
  t.same(keysAfter([archived], [found('e')]), { ...NONE, matched: 'e' })
  t.same(keysAfter([archived], []), NONE)
})

t.test('The same key of another field is another monitor', async t => {
  t.same(keysAfter([stored('a')], [found('a', 'g')]), { ...NONE, created: 'a', missing: 'a' })
})

t.test('New keys replace those that have been missing for the longest time', async t => {
  const before = Array.from({ length: 200 }, (_, i) => stored(`${i}`, i < 3 ? { missingSince: ago(3 - i) } : {}))
  const kept = before.slice(3).map(({ key }) => found(key))
  const { archived, missing } = keysAfter(before, [...kept, found('x'), found('y')])
  t.same([archived, missing], ['0 1', '2'])
})

t.test('500 documents with random keys leave at most 200 active and 200 archived monitors', async t => {
  let seed = 7
  const random = (limit: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % limit
  }
  let children: StoredChild[] = []
  for (let turn = 0; turn < 500; turn++) {
    const keys = new Set(Array.from({ length: random(201) }, () => `k${random(100_000)}`))
    const { created, matched, missing, archived, pruned } = reconcile(
      children,
      [...keys].map(key => found(key)),
      NOW,
    )
    const deleted = new Set(pruned)
    const resting = children.filter(child => child.archivedAt !== null && !keys.has(child.key) && !deleted.has(child))
    children = [
      ...created.map(({ key }) => stored(key)),
      ...matched.map(({ found: { key } }) => stored(key)),
      ...missing.map(child => ({ ...child, missingSince: child.missingSince ?? ago(1) })),
      ...[...archived, ...resting].map(child => ({ ...child, archivedAt: child.archivedAt ?? ago(1) })),
    ]
    const active = children.filter(({ archivedAt }) => archivedAt === null).length
    if (active > 200 || children.length - active > 200) t.fail(`${active} of ${children.length} after ${turn}`)
  }
  t.ok(children.length > 300)
})
