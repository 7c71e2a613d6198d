import t from 'tap'
import { findPasswordProblem, normalizePassword } from '../../../../control-plane/accounts/sign-in/password.ts'
import { parseReturnPath } from '../../../../control-plane/accounts/sign-in/return-path.ts'

const EMAIL = 'ann@example.com'

t.test('A password must be long and not common; kinds of characters do not matter', async t => {
  const rows: [string, RegExp | null][] = [
    ['correct horse', null],
    ['            a bc', null],
    ['пароль и ещё слово', null],
    ['🔒🗝️🔑🧷📎🖇️🧵🪡🧶🪢🪝🧲', null],
    [`${'x'.repeat(250)}abcdef`, null],
    ['short', /at least 12/],
    ['elevenchars', /at least 12/],
    ['abcdef'.repeat(43), /at most 256/],
    [EMAIL, /email/],
    [`${EMAIL.toUpperCase()}1`, /email/],
    ['Password1234', /too common/],
    ['aaaaaaaaaaaa', /too common/],
    ['abababababab', /too common/],
    ['a NUL in it: \0', /invalid characters/],
    [`half a pair: \ud800`, /invalid characters/],
  ]
  for (const [password, problem] of rows) {
    const found = findPasswordProblem(normalizePassword(password), EMAIL)
    if (problem === null) t.equal(found, null, password)
    else t.match(found, problem, password)
  }
})

t.test('A password is the same for all compositions of its letters', async t => {
  t.equal(normalizePassword('cafe\u0301 cre\u0300me'), normalizePassword('caf\u00e9 cr\u00e8me'))
  t.equal(normalizePassword('ｐａｓｓ'), 'pass')
})

t.test('After signing in only paths of the installation are opened', async t => {
  t.equal(parseReturnPath('/monitors/1?tab=checks#now'), '/monitors/1?tab=checks#now')
  const elsewhere = [
    ...['//evil.example', '/\\evil.example', '\\/evil.example', 'https://evil.example', 'javascript:alert(1)', 'x', ''],
    ...['/\t/evil.example', '/a\r\nSet-Cookie: x=1', '/a b', '/\0', `/${'a'.repeat(2_001)}`, undefined, ['/a'], 1],
  ]
  for (const wanted of elsewhere) t.equal(parseReturnPath(wanted), '/', JSON.stringify(wanted))
})
