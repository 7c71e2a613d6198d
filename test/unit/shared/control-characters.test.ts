import t from 'tap'
import { hasControlCharacter } from '../../../shared/control-characters.ts'

t.test('A control character of ASCII is found anywhere in a text, and no other character is one', async t => {
  for (let code = 0; code < 0x3000; code++) {
    const isControl = code < 0x20 || code === 0x7f
    const char = String.fromCharCode(code)
    for (const text of [char, `${char}b`, `a${char}`, `a${char}b`])
      if (hasControlCharacter(text) !== isControl) t.fail(JSON.stringify(text))
  }
  t.notOk(hasControlCharacter(''))
  t.notOk(hasControlCharacter('a \u{1f600} b'))
})
