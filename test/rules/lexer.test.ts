import t from 'tap'
import { blankParts, listParts } from './lexer.ts'
import { sources } from './source.ts'

const read = (source: string, isJsx = true) =>
  listParts(source, isJsx).map(({ kind, start, end }) => `${kind} ${source.slice(start, end)}`)

t.test('comments, texts and regular expressions are found', async t => {
  t.same(read("const a = 'it\\'s' // it's\n/* 'b' */ const c = \"//\""), [
    "string 'it\\'s'",
    "comment // it's",
    "comment /* 'b' */",
    'string "//"',
  ])
  t.same(read("const a = b / c / d, e = /['/]\\//g.test('x')"), ["regexp /['/]\\//g", "string 'x'"])
  // `#` is written instead of the dollar sign, which is not one of a template here
  const template = "f(`a #{b ? `c #{d}` : { e: 'f' }.e} \\#{g}` + '')".replaceAll('#', '$')
  t.same(
    read(template).map(part => part.replaceAll('$', '#')),
    ['template `a #{', 'template `c #{', 'template }`', "string 'f'", 'template } \\#{g}`', "string ''"],
  )
})

t.test('the text of elements is found, and the code and tags between it are not', async t => {
  const source = `const A = <T,>(a: Array<string>) => (
  <B c="it\\" d={'e'} {...f}>
    It's {a < b ? <br /> : <i>no</i>} here
    <>end</>
  </B>
) / 2`
  t.same(
    read(source).map(part => part.replace(/\s+/g, ' ')),
    ['string "it\\"', "string 'e'", "jsx It's ", 'jsx no', 'jsx here ', 'jsx end', 'jsx '],
  )
  t.same(read('const a = <T>b', false), [])
})

t.test('no quote or comment remains between the parts of any file', async t => {
  const files = sources('control-plane', 'probe-agent', 'shared', 'deploy', 'tools', 'proto', 'test')
  t.same(
    files
      .filter(({ path, text }) => /['"`]|\/[/*]/.test(blankParts(text, path.endsWith('.tsx'))))
      .map(({ path }) => path),
    [],
  )
})
