import t from 'tap'
import {
  authProblems,
  maskAuth,
  unmaskAuth,
} from '../../../../control-plane/monitoring/monitors/settings/credentials.ts'

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
