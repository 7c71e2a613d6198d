import t from 'tap'
import { sources } from './source.ts'

/** Every operation of the specification that is built, with each status that the specification gives it. */
const STATUSES: Record<string, number[]> = {
  'POST /agent/bootstrap': [201, 409, 429],
  'GET /project': [200],
  'PUT /monitors/{id}': [200, 404],
  'DELETE /monitors/{id}': [200, 404],
  'POST /monitors/bulk': [201],
  'GET /monitors/{id}/checks': [200],
  'POST /incidents': [201],
  'GET /incidents': [200],
  'PUT /incidents/{id}': [200],
  'POST /incidents/{id}/updates': [201],
  'GET /alerts/rules': [200],
  'DELETE /alerts/rules/{id}': [200],
  'POST /alerts/project-channels': [201],
  'POST /alerts/channels': [201],
  'POST /alerts/channels/{id}/rotate-secret': [200],
  'POST /alerts/channels/{id}/resume': [200],
  'GET /alerts/log/{id}': [200],
  'POST /alerts/log/{id}/retry': [200],
  'GET /chat/oauth/install': [302],
  'GET /chat/oauth/callback': [302],
  'GET /chat/installations': [200],
  'DELETE /chat/installations/{id}': [200],
  'GET /analytics/summary': [200],
  'GET /analytics/latency': [200],
}

const titles = sources('test/api', 'test/flow').flatMap(({ code }) =>
  [...code.matchAll(/\btest\(\s*(['"`])((?:(?!\1).)*)\1/g)].map(match => match[2] ?? ''),
)

t.test('each status in the specification has a test that names it', async t => {
  const missing = Object.entries(STATUSES).flatMap(([operation, statuses]) => {
    const named = titles.filter(title => `${title} `.includes(`${operation} `))
    return statuses
      .filter(status => !named.some(title => new RegExp(`\\b${status}\\b`).test(title)))
      .map(status => `${operation} ${status}`)
  })
  t.same(missing, [])
})
