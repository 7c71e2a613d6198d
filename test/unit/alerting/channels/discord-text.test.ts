import t from 'tap'
import { escapeMarkdown } from '../../../../control-plane/alerting/channels/kinds/discord.ts'

const TEXTS: [string, string, string][] = [
  ['plain words stay', 'The shop is down', 'The shop is down'],
  ['formatting is escaped', '**a** _b_ ~~c~~ `d` ||e||', '\\*\\*a\\*\\* \\_b\\_ \\~\\~c\\~\\~ \\`d\\` \\|\\|e\\|\\|'],
  [
    'an address has no backslashes',
    'GET https://a.example/x-y?a=b&c=d#e: 503',
    'GET https://a.example/x-y?a=b&c=d#e: 503',
  ],
  [
    'characters of Markdown in an address are percent-encoded',
    'https://a.example/health_check?a=~b*(c)`|',
    'https://a.example/health%5Fcheck?a=%7Eb%2A%28c%29%60%7C',
  ],
  [
    'the text around an address is escaped',
    '*a* (https://a.example/b_c) _d_',
    '\\*a\\* \\(https://a.example/b%5Fc\\) \\_d\\_',
  ],
  [
    'a link with another text cannot be faked',
    '[https://bank.example](https://evil.example)',
    '\\[https://bank.example\\]\\(https://evil.example\\)',
  ],
  ['the end of a sentence is not part of an address', 'See https://a.example/b!', 'See https://a.example/b!'],
  ['an address cannot hide text', 'https://a.example/||b|| ||c||', 'https://a.example/%7C%7Cb%7C%7C \\|\\|c\\|\\|'],
  ['a mark at the start of a line is escaped', '# a\n- b\n1. c', '\\# a\n\\- b\n1\\. c'],
  ['a mark in the line after an address is escaped', 'https://a.example\n# b', 'https://a.example\n\\# b'],
]

t.test('Texts in a Discord message show no formatting, and their addresses open the same page', async t => {
  for (const [title, text, expected] of TEXTS) t.equal(escapeMarkdown(text), expected, title)
})
