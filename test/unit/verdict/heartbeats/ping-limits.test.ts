import t from 'tap'
import { createPingLimits } from '../../../../control-plane/verdict/heartbeats/intake/ping-limits.ts'

const MINUTE_MS = 60_000
const START_MS = 1_000 * MINUTE_MS

t.test('a client may ask for 60 different unknown tokens a minute, and goes on with accepted ones', async t => {
  const limits = createPingLimits(1_200)
  limits.record('accepted', 'client', 'stored', START_MS)
  for (let i = 0; i < 60; i++) {
    t.ok(limits.use(`guess ${i}`, 'client', START_MS).allowed)
    limits.record(`guess ${i}`, 'client', 'unknown', START_MS)
  }
  t.notOk(limits.use('guess 60', 'client', START_MS).allowed)
  t.ok(limits.use('accepted', 'client', START_MS).allowed)
  t.ok(limits.use('guess 60', 'another client', START_MS).allowed)
  t.ok(limits.use('guess 60', 'client', START_MS + MINUTE_MS).allowed)
})

t.test('a job that repeats one unknown token does not stop the other jobs of its address', async t => {
  const limits = createPingLimits(1_200)
  let allowed = 0
  for (let i = 0; i < 200; i++) {
    if (!limits.use('of a deleted monitor', 'client', START_MS).allowed) continue
    allowed++
    limits.record('of a deleted monitor', 'client', 'unknown', START_MS)
  }
  t.equal(allowed, 60, 'it is looked up 60 times a minute')
  t.ok(limits.use('not accepted since the start', 'client', START_MS).allowed)
})

t.test('while PostgreSQL is away, 60 pings a minute of tokens that were not accepted before are kept', async t => {
  const limits = createPingLimits(1_200)
  for (let i = 0; i < 60; i++) limits.record('new', 'client', 'kept', START_MS)
  t.notOk(limits.use('new', 'client', START_MS).allowed)
})
