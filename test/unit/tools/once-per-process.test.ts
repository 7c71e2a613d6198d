import t from 'tap'
import { oncePerProcess } from '../../support/once-per-process.ts'
import { withTeardown } from '../../support/teardown.ts'

t.test('A resource that the files of a process share is started once and ended at the end of the process', async t => {
  const events: string[] = []
  await withTeardown(async end => {
    const share = oncePerProcess(async one => {
      events.push('started')
      one.teardown(() => events.push('ended'))
      return {}
    }, end)
    const [first, second] = await Promise.all([share(), share()])
    t.equal(first, second)
    t.equal(await share(), first)
    t.same(events, ['started'])
  })
  t.same(events, ['started', 'ended'])
})

t.test('A start that fails is tried again by the next file', async t => {
  let tries = 0
  const share = oncePerProcess(async () => {
    if (++tries === 1) throw new Error('no port is free')
    return tries
  }, t)
  await t.rejects(share(), { message: 'no port is free' })
  t.equal(await share(), 2)
})
