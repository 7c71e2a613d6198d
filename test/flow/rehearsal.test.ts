import t from 'tap'
import { startPicket } from '../support/picket.ts'
import { assertRehearsed, readRehearsal } from '../support/rehearsal.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

const REGIONS = ['us-east', 'eu-west']

t.test(
  'An outage is rehearsed: unchanged settings give the transitions, more re-checks detect it later or not',
  async t => {
    const [{ api }, target] = await Promise.all([startPicket(t, { regions: REGIONS }), startTarget(t)])
    const monitor = {
      name: 'Shop',
      type: 'http',
      url: target.url,
      interval_seconds: 30,
      retry_count: 1,
      regions: REGIONS,
    }
    const { id } = (await api.post('/monitors', monitor)).body.data
    const until = (status: string) =>
      waitFor(async () => (await api.get(`/monitors/${id}`)).body.data.status === status, { label: status })
    const check = () => api.post(`/monitors/${id}/check`).catch(() => {})
    await until('up')
    target.behave({ kind: 'answer', status: 503 })
    await check()
    await until('down')
    target.behave({ kind: 'answer' })
    await check()
    await until('up')

    t.ok(await assertRehearsed(t, api, id), 'every input is stored')
    const { before, after, sentence, limits } = await readRehearsal(api, id, { retry_count: 3 })
    t.equal(before.outages.length, 1)
    const [outage] = after!.outages
    t.ok(!outage || Date.parse(outage.from) > Date.parse(before.outages[0]!.from), sentence)
    t.match(limits, [{ code: 'rechecks_not_made' }, { code: 'second_opinions_not_asked' }])
    const eager = await readRehearsal(api, id, { retry_count: 0 })
    t.ok(Date.parse(eager.after!.outages[0]!.from) < Date.parse(before.outages[0]!.from), eager.sentence)
  },
)
