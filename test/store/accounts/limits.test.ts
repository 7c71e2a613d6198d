import t from 'tap'
import { assertLateLimits, assertWithinLimit, lockLimitsLate } from '../../../control-plane/accounts/plans/actions.ts'
import { readUsage } from '../../../control-plane/accounts/plans/store.ts'
import {
  insertRegistrationAttempt,
  pruneRegistrationAttempts,
} from '../../../control-plane/accounts/registration/store.ts'
import {
  createPostgres,
  query,
  setLockTimeout,
  type Tx,
} from '../../../control-plane/foundation/platform/postgres/client.ts'
import {
  markCarriedOut,
  pruneIdempotencyKeys,
  takeIdempotencyKey,
} from '../../../control-plane/foundation/web/server/idempotency-store.ts'
import { createDatabase } from '../../support/database.ts'
import { insertTenant } from '../../support/tenant.ts'

const db = createPostgres((await createDatabase(t)).url)
t.teardown(() => db.destroy())
const addMember = async (tx: Tx, organizationId: string) => {
  const { userId } = await insertTenant(tx as never)
  await tx('memberships').insert({
    organization_id: organizationId,
    user_id: userId,
    role: 'viewer',
    created_at: new Date(),
  })
}

t.test('Concurrent requests cannot exceed a limit together', async t => {
  const { organizationId } = await insertTenant(db, 'free')
  const add = () =>
    db.transaction(async tx => {
      await assertWithinLimit(tx, organizationId, 'members', 1)
      await addMember(tx, organizationId)
    })
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, add))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2, 'one member existed, the limit is 3')
  const refused = outcomes.find(outcome => outcome.status === 'rejected')
  t.match(refused?.reason, {
    status: 402,
    code: 'tier_limit_reached',
    message: 'the free plan includes 3 members and 3 are in use',
  })
  t.match(await readUsage(db, organizationId, 'members'), { limit: 3, used: 3 })
})

t.test('A transaction that locks late delays no other create, and cannot exceed a limit', async t => {
  const { organizationId } = await insertTenant(db, 'free')
  const add = async (tx: Tx) => {
    await assertWithinLimit(tx, organizationId, 'members', 1)
    await addMember(tx, organizationId)
  }
  const late = db.transaction(async tx => {
    lockLimitsLate(tx, { isDeleting: false })
    await tx.transaction(add)
    await db.transaction(async other => {
      await setLockTimeout(other, 1_000)
      await add(other)
      await add(other)
    })
    await assertLateLimits(tx, organizationId)
  })
  await t.rejects(late, { status: 402, code: 'tier_limit_reached' })
  t.match(await readUsage(db, organizationId, 'members'), { used: 3 })
})

t.test('A request with too many records is refused as a whole, and a plan without limits refuses nothing', async t => {
  const [free, business] = [await insertTenant(db, 'free'), await insertTenant(db, 'business')]
  await t.rejects(
    db.transaction(tx => assertWithinLimit(tx, free.organizationId, 'monitors', 51)),
    { status: 402, message: 'the free plan includes 50 monitors and 0 are in use' },
  )
  await db.transaction(tx => assertWithinLimit(tx, free.organizationId, 'monitors', 50))
  await db.transaction(tx => assertWithinLimit(tx, business.organizationId, 'monitors', 100_000))
})

t.test('Stored answers are deleted after a day and bootstrap attempts after an hour', async t => {
  const { projectId } = await insertTenant(db)
  const now = new Date('2026-08-01T12:00:00Z')
  const before = (hours: number) => new Date(now.getTime() - hours * 3_600_000)
  for (const hours of [1, 23, 25]) {
    const claim = { projectId, key: `${hours}`, at: before(hours) }
    await takeIdempotencyKey(db, claim, Buffer.alloc(32))
    await db.transaction(tx => markCarriedOut(tx, claim))
  }
  t.equal(await pruneIdempotencyKeys(db, now), 1)
  t.match(await query(db, 'SELECT key FROM idempotency_marks ORDER BY key'), [{ key: '1' }, { key: '23' }])
  for (const hours of [0, 0.9, 1.1]) await insertRegistrationAttempt(db, '203.0.113.1', true, before(hours))
  t.equal(await pruneRegistrationAttempts(db, now), 1)
})
