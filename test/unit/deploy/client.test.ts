import t from 'tap'
import { createPicket } from '../../../deploy/client/index.ts'

/** A client whose requests are answered by `respond`, and the addresses of its requests. */
function connect(respond: () => Response) {
  const urls: string[] = []
  const picket = createPicket({
    origin: 'https://picket.example.com/',
    apiKey: 'svc_a',
    fetch: async request => {
      urls.push((request as Request).url)
      return respond()
    },
  })
  return { picket, urls }
}

const respond = (status: number, body: string | null, type = 'text/html') =>
  connect(() => new Response(body, { status, headers: { 'content-type': type } }))

t.test('An error of another program has the fields of an error of Picket, returned and thrown', async t => {
  const rows: [number, string, string, string][] = [
    [502, '<h1>Bad Gateway</h1>', 'text/html', 'unavailable'],
    [503, '', 'text/html', 'unavailable'],
    [404, '{"error":"not found"}', 'application/json', 'internal_error'],
    [500, 'null', 'application/json', 'internal_error'],
    [413, '', 'text/plain', 'payload_too_large'],
    [429, '"slow"', 'application/json', 'rate_limited'],
    [200, '<h1>Sign in</h1>', 'text/html; charset=utf-8', 'internal_error'],
  ]
  for (const [status, body, type, code] of rows) {
    const { picket } = respond(status, body, type)
    const expected = {
      error: { code, message: `https://picket.example.com answered ${status}, but not as a Picket server`, status },
    }
    const { data, error, response } = await picket.readMonitor({ path: { id: 'a' } })
    t.same([data, error, response.status], [undefined, expected, status])
    const thrown = await picket.readMonitor({ path: { id: 'a' }, throwOnError: true }).catch(reason => reason)
    t.same(thrown, expected)
  }
})

t.test('An error of Picket is returned unchanged', async t => {
  const body = {
    error: { code: 'validation_error', message: 'x', status: 400, details: [{ path: 'x', message: 'x' }] },
  }
  const { picket } = respond(400, JSON.stringify(body), 'application/json')
  t.same((await picket.readProject()).error, body)
})

t.test('exportProject returns JSON, unless its query names a format', async t => {
  const { picket, urls } = respond(200, '{"version":1}', 'application/json')
  t.same((await picket.exportProject()).data, { version: 1 })
  await picket.exportProject({ query: { id: 'a' } })
  await picket.exportProject({ query: { format: 'yaml' } })
  const base = 'https://picket.example.com/api/v1/export'
  t.same(urls, [`${base}?format=json`, `${base}?id=a&format=json`, `${base}?format=yaml`])
})
