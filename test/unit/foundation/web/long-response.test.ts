import t from 'tap'
import { stringifyInChunks } from '../../../../control-plane/foundation/web/server/long-response.ts'

const list = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i))
const AT = new Date('2026-08-01T12:00:00Z')
const interval = (i: number) => ({ at: AT, status: i % 2 ? 'up' : null, left: undefined, text: `"${i}" \u2028 é` })

const VALUES: Record<string, unknown> = {
  'a list of records': { data: list(30_000, interval), meta: { total: 30_000, from: AT } },
  'records with long lists': { data: list(40, i => ({ id: i, monitors: list(1_000, interval), none: [] })) },
  'long texts': { data: list(20, i => ({ id: i, body: 'x"\n'.repeat(200_000) })) },
  'a list with holes': [undefined, null, ...list(9_000, i => (i % 3 === 0 ? undefined : i)), () => 1],
  'a record of many keys': Object.fromEntries(list(20_000, i => [`k"${i}`, i % 2 ? undefined : i])),
  'a deep one': list(5, () => list(5, () => list(5, () => ({ inner: list(200, interval) })))),
  'something small': { data: { id: 1 }, gone: undefined },
  'a record without anything': { data: list(9_000, () => ({})), other: { gone: undefined } },
}

t.test('A long answer is written in chunks with the same content', async t => {
  for (const [name, value] of Object.entries(VALUES)) {
    const bytes = await stringifyInChunks(value, async () => {})
    t.ok(bytes.toString() === JSON.stringify(value), name)
  }
})

t.test('The larger an answer is, the more often other work runs while it is written', async t => {
  const countPauses = async (value: unknown) => {
    let pauses = 0
    await stringifyInChunks(value, async () => void pauses++)
    return pauses
  }
  const rows: [value: unknown, least: number][] = [
    [list(100_000, interval), 80],
    [list(100, () => ({ monitors: list(1_000, interval) })), 80],
    [list(100, () => 'x'.repeat(260_000)), 100],
  ]
  for (const [value, least] of rows) {
    const pauses = await countPauses(value)
    t.ok(pauses >= least, `${pauses} pauses`)
    t.ok(pauses < 1_000, 'and not so often that the pauses cost more than the rest')
  }
})
