import t from 'tap'
import {
  buildRdapUrl,
  listRdapUrls,
  parseBootstrap,
  parseRdapExpiry,
  SHIPPED_BOOTSTRAP,
} from '../../../../control-plane/verdict/expiry/domains/rdap.ts'

const answer = (events: unknown, rest = {}) => JSON.stringify({ objectClassName: 'domain', events, ...rest })

t.test('the end of a registration is the event "expiration" of the domain', async t => {
  const events = [
    { eventAction: 'registration', eventDate: '1995-08-14T04:00:00Z' },
    { eventAction: 'registrar expiration', eventDate: '2030-01-01T00:00:00Z' },
    { eventAction: 'expiration', eventDate: '2027-08-13T04:00:00Z' },
  ]
  t.same(parseRdapExpiry(answer(events)), new Date('2027-08-13T04:00:00Z'))
  t.same(
    parseRdapExpiry(answer([{ eventAction: 'expiration', eventDate: '2027-08-13T04:00:00.123+02:00' }])),
    new Date('2027-08-13T02:00:00Z'),
  )
})

t.test('an invalid RDAP response has no date', async t => {
  const rows: string[] = [
    '',
    'null',
    '[]',
    '7',
    '"expiration"',
    '<html>',
    '{"objectClassName":"domain"}',
    '{"errorCode":404}',
    answer(null),
    answer({}),
    answer([null, 1, 'expiration']),
    answer([{ eventAction: 'expiration' }]),
    answer([{ eventAction: 'expiration', eventDate: 5 }]),
    answer([{ eventAction: 'expiration', eventDate: 'soon' }]),
    answer([{ eventAction: 'expiration', eventDate: '9999-12-31T00:00:00Z' }]),
    answer([{ eventAction: 'expiration', eventDate: '2027-08-13T04:00:00Z' }], { objectClassName: 'entity' }),
    `${'['.repeat(100_000)}`,
  ]
  for (const text of rows) t.equal(parseRdapExpiry(text), null, text.slice(0, 60))
})

t.test('RDAP servers come from the fetched bootstrap list first, then from the extract', async t => {
  t.same(listRdapUrls('example.com', null), ['https://rdap.verisign.com/com/v1/domain/example.com'])
  const fetched = parseBootstrap({
    services: [
      [
        ['com', 'TEST'],
        ['http://a.test/x', 'https://b.test/x/'],
      ],
    ],
  })
  t.same(listRdapUrls('example.com', fetched), [
    'https://b.test/x/domain/example.com',
    'http://a.test/x/domain/example.com',
  ])
  t.same(listRdapUrls('example.test', fetched), [
    'https://b.test/x/domain/example.test',
    'http://a.test/x/domain/example.test',
  ])
  t.same(listRdapUrls('example.org', fetched), ['https://rdap.publicinterestregistry.org/rdap/domain/example.org'])
  t.same(listRdapUrls('example.nowhere', fetched), [])
  t.equal(buildRdapUrl('http://rdap.test', 'example.com'), 'http://rdap.test/domain/example.com')
  t.ok(SHIPPED_BOOTSTRAP.size > 10)
})

t.test('an invalid bootstrap list is refused, and invalid entries are left out', async t => {
  for (const document of [
    null,
    1,
    'x',
    [],
    {},
    { services: {} },
    { services: [] },
    { services: [null, [], [['com']]] },
  ]) {
    t.equal(parseBootstrap(document), null, JSON.stringify(document))
  }
  const usable = parseBootstrap({
    services: [[['com'], ['file:///etc/passwd', 'nonsense', 3]], [['net', 3, null], ['https://n.test/']], 'x'],
  })
  t.same([...(usable ?? [])], [['net', ['https://n.test/']]])
})
