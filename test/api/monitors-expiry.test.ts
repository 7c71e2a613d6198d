import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { shareApi } from '../support/api-server.ts'
import { DAY_MS, observeCertificate, readExpiryDates } from '../support/expiry.ts'

const api = await shareApi()
const start = new Date('2027-01-01T12:00:00.000Z')
const [sslEnds, domainEnds] = [new Date(start.getTime() + 50 * DAY_MS), new Date(start.getTime() + 90 * DAY_MS)]

/** A monitor whose certificate and domain are known. */
async function createKnown(): Promise<string> {
  const body = { name: 'Shop', type: 'http', url: 'https://shop.example.com/', ssl_check: true, domain_check: true }
  const { id } = (await api.call('POST', '/monitors', { body })).body.data
  await observeCertificate(api.db, id, start, { ends: sslEnds })
  await execute(api.db, 'UPDATE monitors SET domain_expires_at = ? WHERE id = ?', [domainEnds, id])
  return id
}

const both = { ssl_expires_at: sslEnds.toISOString(), domain_expires_at: domainEnds.toISOString() }
const none = { ssl_expires_at: null, domain_expires_at: null }

t.test('GET /monitors/{id} 200 shows when certificate and domain end', async t => {
  const id = await createKnown()
  t.match((await api.call('GET', `/monitors/${id}`)).body.data, both)
  const { body } = await api.call('GET', '/monitors')
  t.match(body.data[0], both)
})

t.test('PUT /monitors/{id} 200 keeps the dates of an unchanged target and clears the others', async t => {
  const rows: [change: object, dates: object][] = [
    [{ name: 'Other' }, both],
    [{ url: 'https://shop.example.com/health' }, both],
    [{ timeout_ms: 5_000 }, both],
    [{ ssl_check: false }, { ...both, ssl_expires_at: null }],
    [{ domain_check: false }, { ...both, domain_expires_at: null }],
    [{ url: 'https://www.example.org/' }, none],
    [{ url: null }, none],
  ]
  for (const [body, dates] of rows) {
    const id = await createKnown()
    const answer = await api.call('PUT', `/monitors/${id}`, { body })
    t.match(answer.body.data, dates, JSON.stringify(body))
    t.match((await api.call('GET', `/monitors/${id}`)).body.data, dates)
  }
})

t.test('PUT /monitors/{id} 200: a check from before the change has no effect on the new host', async t => {
  const id = await createKnown()
  await api.call('PUT', `/monitors/${id}`, { body: { url: 'https://www.example.org/' } })
  await observeCertificate(api.db, id, new Date(start.getTime() + 1_000), { ends: sslEnds, configVersion: 1 })
  t.equal((await readExpiryDates(api.db, id)).ssl, null)
  await observeCertificate(api.db, id, new Date(start.getTime() + 2_000), { ends: domainEnds, configVersion: 2 })
  t.same((await readExpiryDates(api.db, id)).ssl, domainEnds)
})
