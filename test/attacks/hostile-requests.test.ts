import t from 'tap'
import { runCheck } from '../../probe-agent/execution/run-check.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { FailureSource } from '../../shared/checks/result.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { shareApi } from '../support/api-server.ts'
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts'
import { createCheckSpec } from '../support/spec.ts'
import { startTarget } from '../support/target.ts'

// Accepted texts are sent unchanged in requests of checks: none becomes another header or makes a probe fail.

const api = await shareApi()
const { key } = await api.tenant('business')
const target = await startTarget(t)
const egress = createEgress({ allow: ['127.0.0.0/8'] })
const monitor = { name: 'Shop', type: 'http', url: target.url, regions: ['us-east'] }

/** The path of a text in the body of a monitor, and in the check of a probe. */
const PLACES: Record<string, (text: string) => { body: object; spec: Partial<CheckSpec> }> = {
  'a header': text => ({ body: { headers: { 'X-A': text } }, spec: { headers: { 'X-A': text } } }),
  'the name of a header': text => ({ body: { headers: { [text]: 'a' } }, spec: { headers: { [text]: 'a' } } }),
  'a body': text => ({ body: { method: 'POST', body: text }, spec: { method: 'POST', body: text } }),
  'a token': token => ({
    body: { auth_type: 'bearer', auth_config: { token } },
    spec: { auth: { kind: { $case: 'bearerToken', value: token } } },
  }),
  'a user and a password': text => ({
    body: { auth_type: 'basic', auth_config: { username: text, password: text } },
    spec: { auth: { kind: { $case: 'basic', value: { username: text, password: text } } } },
  }),
  'a key in a header': value => ({
    body: { auth_type: 'header', auth_config: { name: 'X-Key', value } },
    spec: { auth: { kind: { $case: 'header', value: { name: 'X-Key', value } } } },
  }),
}

const OWN_HEADERS = ['host', 'user-agent', 'accept', 'connection', 'content-length']

for (const [place, of] of Object.entries(PLACES)) {
  t.test(`A text that is accepted as ${place} of a monitor is sent unchanged and adds nothing else`, async t => {
    let taken = 0
    for (const [what, text] of Object.entries(HOSTILE_TEXTS)) {
      const { body, spec } = of(text)
      const answer = await api.call('POST', '/monitors', { key, body: { ...monitor, ...body } })
      if (answer.status !== 201) {
        t.match(answer, { status: 400, body: { error: { code: 'validation_error' } } }, what)
        continue
      }
      taken++
      target.requests.length = 0
      const { observation } = await runCheck(createCheckSpec({ url: target.url, ...spec }), egress)
      t.not(observation.error?.source, FailureSource.INTERNAL, `${what}: ${observation.error?.message}`)
      const [{ headers } = { headers: {} }] = target.requests
      const own = Object.keys(headers).filter(name => !OWN_HEADERS.includes(name))
      const expected = [...Object.keys(spec.headers ?? {}), ...(spec.auth ? ['authorization', 'x-key'] : [])]
      const foreign = own.filter(name => !expected.some(known => known.toLowerCase() === name))
      t.same(foreign, [], what)
    }
    t.ok(taken > 0)
  })
}
