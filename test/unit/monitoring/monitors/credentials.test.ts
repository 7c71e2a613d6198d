import t from 'tap'
import {
  authProblems,
  maskAuth,
  unmaskAuth,
} from '../../../../control-plane/monitoring/monitors/settings/credentials.ts'
import { toCreatedFields, toUpdatedFields } from '../../../../control-plane/monitoring/monitors/settings/fields.ts'
import { findMonitorProblems } from '../../../../control-plane/monitoring/monitors/settings/problems.ts'

const none = { authType: null, authConfig: null }
const basic = { authType: 'basic' as const, authConfig: { username: 'bob', password: 'hush' } }

t.test('Each type of authentication has its required keys, and additional keys are kept', async t => {
  t.same(authProblems(none), [])
  t.same(authProblems(basic), [])
  t.same(authProblems({ authType: 'bearer', authConfig: { token: 't', realm: { any: 'thing' } } }), [])
  t.same(authProblems({ authType: 'header', authConfig: { name: 'X-Key', value: 'v' } }), [])
  t.match(authProblems({ authType: 'basic', authConfig: {} }), [
    { path: 'auth_config.username' },
    { path: 'auth_config.password' },
  ])
})

t.test('A token and the value of a header have text, a name and a password need none', async t => {
  t.same(authProblems({ authType: 'basic', authConfig: { username: '', password: '' } }), [])
  t.same(authProblems({ authType: 'bearer', authConfig: { token: '' } }), [
    { path: 'auth_config.token', message: 'auth_config.token must not be empty' },
  ])
  t.same(authProblems({ authType: 'header', authConfig: { name: 'X-Key', value: '' } }), [
    { path: 'auth_config.value', message: 'auth_config.value must not be empty' },
  ])
})

t.test('Stored credentials that would be refused now do not prevent other changes', async t => {
  const url = 'https://shop.example'
  const auth = { auth_type: 'bearer' as const, auth_config: { token: '' } }
  const stored = toCreatedFields({ name: 'Shop', type: 'http', url, ...auth })
  const find = (before: typeof stored | null) =>
    findMonitorProblems(
      toUpdatedFields(stored, { url: `${url}/health` }),
      () => null,
      async () => {},
      before,
    )
  t.same(await find(stored), [])
  t.match(await find({ ...stored, authConfig: { token: 'other' } }), [{ path: 'auth_config.token' }])
  t.match(await find(null), [{ path: 'auth_config.token' }])
})

t.test('A read shows the user name and the header name, never the secret', async t => {
  t.same(maskAuth('basic', basic.authConfig), { username: 'bob', password: '********' })
  t.same(maskAuth('bearer', { token: 't' }), { token: '********' })
  t.same(maskAuth('header', { name: 'X-Key', value: 'v' }), { name: 'X-Key', value: '********' })
  t.same(maskAuth('basic', { token: 't', deep: { secret: 's' } }), { token: '********', deep: '********' })
})

t.test('A mask that is sent back keeps the stored value of the same type and key only', async t => {
  const masked = { username: 'ann', password: '********' }
  const kept = unmaskAuth({ authType: 'basic', authConfig: masked }, basic)
  t.same(kept, { authConfig: { username: 'ann', password: 'hush' }, problems: [] })
  t.match(unmaskAuth({ authType: 'bearer', authConfig: { token: '********' } }, basic).problems, [
    { path: 'auth_config.token' },
  ])
  t.match(unmaskAuth({ authType: 'basic', authConfig: { constructor: '********' } }, basic).problems, [
    { path: 'auth_config.constructor' },
  ])
  t.same(unmaskAuth(none, basic), { authConfig: null, problems: [] })
})
