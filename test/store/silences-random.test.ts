import fc from 'fast-check'
import t from 'tap'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { countSuppressions, createScenario } from '../support/silences.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

/** What can happen to a child (0), its parent (1) and the parent's parent (2). */
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
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('silence' as const), member, seconds: fc.integer({ min: 5, max: 90 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 70 }) }) },
)

/** Every DOWN is followed by its UP before the next one, every incident by its end. */
const PAIRED = /^(down created up resolved ?)*(down created)?$/

t.test('Any sequence of changes to dependent monitors sends outages in pairs and misses none', async t => {
  let sentRuns = 0
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
        if (one.kind === 'silence') await house.silence([ids[one.member]!], one.seconds)
        if (one.kind === 'pass') await house.leap(one.seconds)
        for (const id of ids) {
          const sent = await house.sent(id)
          if (!PAIRED.test(sent)) throw new Error(`not in pairs: ${sent}`)
        }
      }
      // the parents recover, every window and every silence ends
      await house.check([ids[1]!, ids[2]!], '+')
      for (let i = 0; i < 6; i++) await house.leap(60)
      for (const [i, id] of ids.entries()) {
        const sent = await house.sent(id)
        const isDown = i === 0 && last[0] === '-'
        if (!PAIRED.test(sent) || sent.endsWith('created') !== isDown) throw new Error(`${i} ${last[i]}: ${sent}`)
        sentRuns += sent === '' ? 0 : 1
      }
    }),
    { numRuns: 20 },
  )
  t.ok(sentRuns > 4, 'the runs were not all silent')
  t.equal(await countSuppressions(db), 0)
})
