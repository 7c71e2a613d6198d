import t from 'tap'
import { createSchemaCompiler } from '../../control-plane/foundation/web/validation/schema-compiler.ts'
import type { CompileSchema, SchemaCheck } from '../../control-plane/foundation/web/validation/validation-errors.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { findItemProblems } from '../../control-plane/monitoring/monitors/settings/bulk-problems.ts'
import { MonitorCreate } from '../../control-plane/monitoring/monitors/settings/schema.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'

const api = await createResourceApi(t, (app, handles) => {
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
})

const compile = createSchemaCompiler() as unknown as CompileSchema
const wrong = (monitor: object) => Array.from({ length: 50 }, () => ({ name: 'x', type: 'http', ...monitor }))
const list = <T>(item: (n: number) => T) => Array.from({ length: 900 }, (_, n) => item(n))

/** Bodies of 50 monitors with hundreds of faults each. */
const BODIES: Record<string, object[]> = {
  'empty assertions': wrong({ assertions: list(() => ({})) }),
  'wrong regions': wrong({ regions: list(n => `nowhere-${n}`) }),
  'unknown fields': wrong(Object.fromEntries(list(n => [`field${n}`, 1]))),
  'wrong headers': wrong({ headers: Object.fromEntries(list(n => [`bad header ${n}`, 1])) }),
}

t.test('Less than a sixth of the 135,000 faults of a bulk create are examined', async t => {
  const check = compile({ schema: MonitorCreate })
  for (const [name, monitors] of Object.entries(BODIES)) {
    let faults = 0
    const counting: SchemaCheck = (value, maxValues) => {
      const isGood = check(value, maxValues)
      counting.errors = check.errors
      faults += check.errors?.length ?? 0
      return isGood
    }
    const details = findItemProblems(monitors, counting)
    t.ok(
      details.every(({ length }) => length > 0 && length <= 50),
      `${name}: every item is refused with a sentence`,
    )
    t.ok(faults < 20_000, `${name}: ${faults} faults are looked at`)
  }
})

t.test('POST /monitors/bulk reports the problem of each of 50 invalid items and stores none', async t => {
  const { call } = await api.account()
  for (const [name, monitors] of Object.entries(BODIES)) {
    const { status, body } = await call('POST /monitors/bulk', { monitors })
    t.equal(status, 201, name)
    t.same(
      body.errors.map(({ index }: { index: number }) => index),
      Array.from({ length: 50 }, (_, index) => index),
      name,
    )
  }
  t.equal((await call('GET /monitors')).body.meta.total, 0)
})

t.test('POST /monitors/bulk 400 for a list of 40,000 items names the limit and examines no item', async t => {
  const { call } = await api.account()
  const { status, body } = await call('POST /monitors/bulk', { monitors: Array(40_000).fill({}) })
  t.equal(status, 400)
  t.match(body.error, { code: 'validation_error', message: 'monitors must have at most 50 items' })
  t.equal(body.error.details.length, 1)
})

t.test('All faults of a body of ordinary size are reported', async t => {
  const { call } = await api.account()
  const { status, body } = await call('POST /monitors', { type: 'none', interval_seconds: '1', extra: 1 })
  t.equal(status, 400)
  t.equal(body.error.details.length, 4)
  const large = await call('POST /monitors', { name: 'x', type: 'http', assertions: Array(6_000).fill({}) })
  t.equal(large.status, 400)
  t.match(large.body.error, { code: 'validation_error' })
})
