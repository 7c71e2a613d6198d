import t from 'tap'
import { readConfig } from '../../control-plane/config.ts'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { manifests, readText } from '../support/deployment.ts'
import { NEEDED_ENV } from '../support/needed-env.ts'

const body = (name: string) => ({ email: `${name}@stranger.example` })
const users = async ({ db }: Awaited<ReturnType<typeof startApi>>) =>
  (await query<{ email: string }>(db, "SELECT email FROM users WHERE email LIKE '%@stranger.example' ORDER BY 1")).map(
    ({ email }) => email,
  )

t.test('Without a setting anyone can create an account', async t => {
  const api = await startApi(t)
  t.equal((await api.call('POST', '/agent/bootstrap', { key: null, body: body('one') })).status, 201)
})

t.test('With registration by invitation bootstrap is refused, however often it is tried', async t => {
  const api = await startApi(t, { REGISTRATION: 'invited' })
  for (let i = 0; i < 25; i++) {
    const sent = { key: null, body: i % 2 ? body(`n${i}`) : 'no json' }
    const { status, body: answer } = await api.call('POST', '/agent/bootstrap', sent)
    t.match([status, answer.error], [403, { code: 'registration_closed', status: 403 }])
  }
  t.same(await query(api.db, 'SELECT * FROM bootstrap_attempts'), [], 'it costs no transaction')
  const invited = await api.call('POST', '/agent/invite', { body: body('colleague') })
  t.match([invited.status, invited.body.data.is_new_account], [200, true])
  t.same(await users(api), ['colleague@stranger.example'])
})

t.test('With closed registration only the operator can create accounts', async t => {
  const api = await startApi(t, { REGISTRATION: 'closed' })
  const asked = await api.call('POST', '/agent/bootstrap', { key: null, body: body('two') })
  t.match([asked.status, asked.body.error.code], [403, 'registration_closed'])
  const invited = await api.call('POST', '/agent/invite', { body: body('three') })
  t.match([invited.status, invited.body.error.code], [403, 'registration_closed'])
  t.same(await users(api), [], 'no account is left')
  const other = await api.tenant()
  const [known] = await query<{ email: string }>(api.db, 'SELECT email FROM users WHERE id = ?', [other.userId])
  t.equal((await api.call('POST', '/agent/invite', { body: { email: known!.email } })).status, 200)
})

t.test('The files for Compose and Kubernetes require a choice of who can create accounts', async t => {
  const [, written] = /^REGISTRATION=(.*)$/m.exec(readText('deploy/compose/example.env')) ?? []
  const settings = manifests().find(({ kind }) => kind === 'ConfigMap')!
  for (const value of [written, settings.data.REGISTRATION]) {
    t.throws(
      () => readConfig({ ...NEEDED_ENV, REGISTRATION: value }),
      /REGISTRATION is .* one of open, invited, closed/,
    )
  }
  t.match(readText('deploy/compose/compose.yaml'), /REGISTRATION: \$\{REGISTRATION:\?/)
})
