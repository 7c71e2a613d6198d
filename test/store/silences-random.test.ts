import fc from 'fast-check'
import t from 'tap'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { countSuppressions, createScenario } from '../support/silences.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

/** What can happen to a child, its parent and the parent's parent: 0, 1 and 2. */
const member = fc.integer({ min: 0, max: 2 })
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('check' as const), member, checks: fc.constantFrom('+', '-', '-+') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('maintain' as const), member, seconds: fc.integer({ min: 5, max: 90 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 70 }) }) },
)

/** Every DOWN is followed by its UP before the next one, every incident by its end. */
const PAIRED = /^(down created up resolved ?)*(down created)?$/

t.test('Whatever happens to a family of monitors, outages are told in pairs, and none is slept through', async t => {
  let told = 0
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 25 }), async happenings => {
      const house = createScenario(db, (await insertTenant(db)).projectId)
      const ids = await house.addMonitors(3)
      await house.check(ids, '+')
      await house.depend(ids[0]!, [ids[1]!])
      await house.depend(ids[1]!, [ids[2]!])
      const last = ['+', '+', '+']
      for (const one of happenings) {
        if (one.kind === 'check') {
          last[one.member] = one.checks.at(-1)!
          await house.check([ids[one.member]!], one.checks)
        }
        if (one.kind === 'maintain') await house.maintain([ids[one.member]!], one.seconds)
        if (one.kind === 'pass') await house.leap(one.seconds)
        for (const id of ids) {
          const heard = await house.heard(id)
          if (!PAIRED.test(heard)) throw new Error(`not in pairs: ${heard}`)
        }
      }
      // the parents recover, every window ends
      await house.check([ids[1]!, ids[2]!], '+')
      for (let i = 0; i < 6; i++) await house.leap(60)
      for (const [i, id] of ids.entries()) {
        const heard = await house.heard(id)
        const isDown = i === 0 && last[0] === '-'
        if (!PAIRED.test(heard) || heard.endsWith('created') !== isDown) throw new Error(`${i} ${last[i]}: ${heard}`)
        told += heard === '' ? 0 : 1
      }
    }),
    { numRuns: 20 },
  )
  t.ok(told > 4, 'the runs were not all silent')
  t.equal(await countSuppressions(db), 0)
})
