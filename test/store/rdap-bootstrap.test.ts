import t from 'tap'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { refreshRdapBootstrap } from '../../control-plane/verdict/expiry/actions.ts'
import { parseBootstrap } from '../../control-plane/verdict/expiry/domains/rdap.ts'
import { claimRdapFetch, findRdapDocument } from '../../control-plane/verdict/expiry/domains/rdap-bootstrap-store.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createDatabase } from '../support/database.ts'
import { type Behaviour, startTarget } from '../support/target.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const iana = await startTarget(t)
const egress = createEgress({ allow: ['127.0.0.0/8'] })
const now = new Date('2027-01-01T12:00:00Z')
const days = (count: number) => new Date(now.getTime() + count * 86_400_000)
const refresh = () => refreshRdapBootstrap(db, egress, `${iana.url}dns.json`, now)

t.test('The list of registries is fetched once for all processes and is due again in a week', async t => {
  t.equal(await findRdapDocument(db), null)
  iana.behave({ kind: 'answer', body: JSON.stringify({ services: [[['test', 'example'], ['https://rdap.test/']]] }) })
  t.equal(await refresh(), 2)
  t.same(parseBootstrap(await findRdapDocument(db))?.get('test'), ['https://rdap.test/'])
  t.notOk(await claimRdapFetch(db, days(8), days(6)))
  const claims = await Promise.all([claimRdapFetch(db, days(8), days(7)), claimRdapFetch(db, days(8), days(7))])
  t.same(claims.sort(), [false, true], 'one process fetches it')
})

t.test('An invalid list does not replace the stored one', async t => {
  const rows: [behaviour: Behaviour, error: RegExp][] = [
    [{ kind: 'answer', status: 500 }, /status 500/],
    [{ kind: 'answer', body: '<html>' }, /not a list/],
    [{ kind: 'answer', body: '{"services":[]}' }, /not a list/],
    [{ kind: 'answer', body: '{"services":[[["com"],["file:///etc/passwd"]]]}' }, /not a list/],
    [{ kind: 'big', bytes: 5 * 1024 * 1024 }, /not a list/],
    [{ kind: 'reset', after: 'headers' }, /cannot be fetched/],
  ]
  for (const [behaviour, error] of rows) {
    iana.behave(behaviour)
    await t.rejects(refresh(), { message: error })
  }
  t.same(parseBootstrap(await findRdapDocument(db))?.size, 2)
})

t.test('A list that contains NUL is stored', async t => {
  iana.behave({ kind: 'answer', body: '{"description":"\\u0000","services":[[["test"],["https://rdap.test/"]]]}' })
  t.equal(await refresh(), 1)
})
