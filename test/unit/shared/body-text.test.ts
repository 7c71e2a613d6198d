import t from 'tap'
import { decodeBody } from '../../../shared/checks/body-text.ts'

const text = (hex: string, contentType?: string) =>
  decodeBody({
    body: Buffer.from(hex, 'hex'),
    headers: contentType === undefined ? null : { 'content-type': contentType },
  })

t.test('A body is decoded by the charset of its response', async t => {
  t.equal(text('e9', 'text/html; charset=ISO-8859-1'), 'é')
  t.equal(text('e9', 'text/html; charset="windows-1252"'), 'é')
  t.equal(text('82a0', 'text/plain;charset=Shift_JIS'), 'あ')
  t.equal(text('c3a9', 'text/html; charset=utf-8'), 'é')
  t.equal(text('c3a9', 'text/html'), 'é')
  t.equal(text('c3a9'), 'é')
})

t.test('A byte order mark is removed', async t => {
  t.equal(text('efbbbf61'), 'a')
  t.equal(text('fffe6100'), 'a')
  t.equal(text('feff0061'), 'a')
  t.equal(text('61', 'text/html; charset=unheard-of'), 'a')
  t.equal(text('ff61'), '\ufffda')
  t.equal(decodeBody({ body: null, headers: null }), '')
})

t.test('A label means what it means in browsers', async t => {
  const rows: [label: string, hex: string, text: string][] = [
    ...['iso-8859-1', 'ISO8859-1', 'latin1', 'l1', 'cp819', 'us-ascii', 'ascii', 'windows-1252'].map(
      (label): [string, string, string] => [label, '8093e9', '€“é'],
    ),
    ...['iso-8859-9', 'latin5', 'windows-1254'].map((label): [string, string, string] => [label, '80fd', '€ı']),
    ...['tis-620', 'iso-8859-11', 'windows-874'].map((label): [string, string, string] => [label, '85a1', '…ก']),
    ['iso-8859-2', 'b1', 'ą'],
    ['iso-8859-15', 'a4', '€'],
    ['iso-8859-16', 'a4', '€'],
    ['koi8-r', 'c1', 'а'],
    ['x-mac-cyrillic', 'e0', 'а'],
    ['x-cp1251', 'e0', 'а'],
    ['iso-2022-jp', '1b244224221b284261', 'あa'],
    ['x-euc-jp', 'a4a2', 'あ'],
    ['euc-kr', '8141', '갂'],
    ['unicode-1-1-utf-8', 'c3a9', 'é'],
    ['utf-16', '61006200', 'ab'],
    ['utf-16be', '00610062', 'ab'],
  ]
  for (const [label, hex, expected] of rows) t.equal(text(hex, `text/plain; charset=${label}`), expected, label)
})

t.test('A label that browsers do not know is ignored, so UTF-7 is never decoded', async t => {
  const hex = Buffer.from('&AOk- +AOk- 4142').toString('hex')
  for (const label of [
    'utf-7',
    'UTF-7-IMAP',
    'utf7',
    'unicode11utf7',
    'utf-32',
    'ucs-4',
    'base64',
    'hex',
    'cp437',
    'cesu8',
  ]) {
    t.equal(text(hex, `text/plain; charset=${label}`), '&AOk- +AOk- 4142', label)
    t.equal(page(`<meta charset="${label}"><meta charset="latin1">é`, 'text/html'), 'é', `${label} in a page`)
  }
})

const page = (html: string, contentType?: string) =>
  decodeBody({
    // é in windows-1252
    body: Buffer.from(html, 'latin1'),
    headers: contentType === undefined ? {} : { 'content-type': contentType },
  }).at(-1)

t.test('A meta element decides when the content type has no charset and there is no byte order mark', async t => {
  const declared = '<html><head><meta charset="windows-1252"></head>é'
  for (const type of [
    undefined,
    'text/html',
    'Text/HTML; version=1',
    'application/xhtml+xml',
    'text/html; charset=x-no',
  ]) {
    t.equal(page(declared, type), 'é', type ?? 'no content type')
  }
  for (const type of ['text/plain', 'application/json', 'text/html5', 'text/html; charset=utf-8']) {
    t.equal(page(declared, type), '\ufffd', type)
  }
  t.equal(text(`efbbbf${Buffer.from('<meta charset=windows-1252>é').toString('hex')}`, 'text/html').at(-1), 'é')
  t.equal(
    text('efbbbfc3a9', 'text/html; charset=windows-1252'),
    'é',
    'a byte order mark decides before the content type',
  )
  t.equal(decodeBody({ body: Buffer.from(declared, 'latin1'), headers: null }).at(-1), '\ufffd', 'not HTTP')
})

t.test('A meta element is read in the forms that browsers read', async t => {
  const read = [
    '<meta charset=latin1>é',
    "<META CHARSET='latin1' />é",
    '<meta\n  name=a\n charset = "latin1">é',
    '<meta/charset="latin1"/>é',
    '<meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-1">é',
    '<meta content=text/html;charset=latin1 http-equiv=content-type>é',
    '<meta charset="unheard-of"><meta charset="latin1">é',
    '<!-- <meta charset="utf-8"> --><meta charset="latin1">é',
    `${' '.repeat(1_000)}<meta charset=latin1>é`,
  ]
  for (const html of read) t.equal(page(html, 'text/html'), 'é', html.trim())
  const ignored = [
    '<meta name="description" content="charset=latin1">é',
    '<meta http-equiv="refresh" content="charset=latin1">é',
    '<metadata charset="latin1">é',
    '<meta data-charset="latin1">é',
    '<!-- <meta charset="latin1"> -->é',
    '<!-- <meta charset="latin1">é',
    '<meta charset="utf-8"><meta charset="latin1">é',
    '<meta charset="latin1"',
    '<meta charset>é',
    `${' '.repeat(1_010)}<meta charset=latin1>é`,
  ]
  for (const html of ignored) t.not(page(html, 'text/html'), 'é', html.trim())
})

t.test('UTF-16 in a meta element means UTF-8', async t => {
  for (const label of ['utf-16', 'utf-16le', 'UTF-16BE', 'ucs-2', 'unicode']) {
    const html = Buffer.from(`<meta charset="${label}">é`).toString('hex')
    t.equal(text(html, 'text/html').at(-1), 'é', label)
  }
})
