import t from 'tap'
import { startApi } from '../support/api-server.ts'

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '40', RATE_LIMIT_PER_PROJECT: '100' })

const send = (key: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => api.call('GET', '/project', { key })))
const listStatuses = (answers: { status: number }[]) => [...new Set(answers.map(({ status }) => status))].sort()

t.test(
  'Many keys of a project cannot exceed the limit of the project; other projects on the network are not limited',
  async t => {
    const tenant = await api.tenant('business')
    const keys = await Promise.all(Array.from({ length: 8 }, () => api.createKey(tenant, 'read')))
    const ofProject = /100 requests a minute with all API keys and sessions of this project/
    let refused: Awaited<ReturnType<typeof send>> = []
    // again, because a new minute of the clock may begin between two requests
    for (let round = 0; round < 5 && refused.length === 0; round++) {
      const answers = (await Promise.all(keys.map(key => send(key, 40)))).flat()
      t.ok(answers.filter(({ status }) => status === 200).length <= 200, 'of 320 no more than two minutes allow')
      refused = answers.filter(({ body }) => ofProject.test(body.error?.message))
    }
    t.match(refused[0], { status: 429, body: { error: { code: 'rate_limited', status: 429 } } })
    t.match(refused[0]?.headers.get('retry-after'), /^\d+$/)
    const shown = ['limit', 'remaining', 'reset'].map(name => refused[0]?.headers.get(`ratelimit-${name}`))
    t.same(shown, ['100', '0', refused[0]?.headers.get('retry-after')], 'the headers show the limit that refused')
    const others = await Promise.all(Array.from({ length: 4 }, () => api.tenant()))
    for (const { key } of others)
      t.same(listStatuses(await send(key, 40)), [200], 'a network of valid keys has no limit')
  },
)

t.test('A key that sends too many requests is limited, and the other keys of its project are not', async t => {
  const tenant = await api.tenant()
  t.same(listStatuses(await send(tenant.key, 300)), [200, 429])
  t.same(listStatuses(await send(await api.createKey(tenant, 'read'), 20)), [200])
})
