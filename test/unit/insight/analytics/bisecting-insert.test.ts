import t from 'tap'
import { insertBisecting } from '../../../../control-plane/insight/analytics/recording/bisecting-insert.ts'

/** A table that rejects some items and counts the inserts. */
function createTable(isBad: (item: number) => boolean) {
  const stored = new Set<number>()
  let inserts = 0
  return {
    stored,
    inserts: () => inserts,
    async insert(from: number, to: number) {
      inserts++
      const items = Array.from({ length: to - from }, (_, i) => from + i)
      if (items.some(isBad)) throw new Error('refused')
      for (const item of items) stored.add(item)
    },
  }
}

const COUNT = 50_000
const always = () => true
const never = () => false

t.test('Rejected items are found and all others are stored in few inserts', async t => {
  const bad = new Set([0, 31_337, 31_338, 49_999])
  const table = createTable(item => bad.has(item))
  const refused = await insertBisecting(COUNT, table.insert, always, never)
  t.same(new Set(refused.map(({ index }) => index)), bad)
  t.equal(table.stored.size, 49_996)
  t.ok(table.inserts() < 130, `${table.inserts()} inserts`)
})

t.test('Bisecting stops early when everything is rejected, unless the error concerns the items', async t => {
  const table = createTable(always)
  await t.rejects(insertBisecting(COUNT, table.insert, always, never), { message: 'refused' })
  t.ok(table.inserts() < 200, `${table.inserts()} inserts`)
  t.equal((await insertBisecting(200, createTable(always).insert, always, always)).length, 200)
})

t.test('An error that must not be bisected is thrown immediately, and no items need no insert', async t => {
  const table = createTable(always)
  await t.rejects(insertBisecting(COUNT, table.insert, never, never), { message: 'refused' })
  t.equal(table.inserts(), 1)
  t.same(await insertBisecting(0, table.insert, always, never), [])
  t.equal(table.inserts(), 1)
})
