import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import {
  parseReferral,
  parseWhoisExpiry,
  parseWhoisServer,
} from '../../../../control-plane/verdict/expiry/domains/whois.ts'

const FIXTURES = new URL('../../../fixtures/whois/', import.meta.url)
const fixture = (name: string) => readFileSync(new URL(name, FIXTURES), 'utf8')

const ENDS: Record<string, string | null> = {
  'com.txt': '2027-08-13T04:00:00.000Z',
  'uk.txt': '2027-03-09T00:00:00.000Z',
  'fr.txt': '2027-12-30T17:16:48.000Z',
  'ru.txt': '2027-05-31T21:00:00.000Z',
  'pl.txt': '2027-05-14T13:00:00.000Z',
  'fi.txt': '2027-07-03T00:00:00.000Z',
  'jp.txt': '2027-10-31T00:00:00.000Z',
  'br.txt': '2027-05-18T00:00:00.000Z',
  'cz.txt': '2027-02-01T00:00:00.000Z',
  'de.txt': null,
  'eu.txt': null,
  'iana.txt': null,
  'not-found.txt': null,
}

t.test('the end of a registration is found by the names that registries use', async t => {
  t.same(readdirSync(FIXTURES).sort(), Object.keys(ENDS).sort())
  for (const [name, end] of Object.entries(ENDS)) {
    t.equal(parseWhoisExpiry(fixture(name))?.toISOString() ?? null, end, name)
  }
})

t.test('text in a notice is not parsed as a date', async t => {
  for (const text of [
    'NOTICE: The expiration date displayed in this record is the date the registrar',
    'expires: never',
    'Expiry Date:',
    'created: 2020-01-01',
    'TERMS: access expires 2 hours from now',
    `expires: ${'1'.repeat(1_000_000)}`,
    'expires'.repeat(150_000),
    ' '.repeat(1_000_000),
    `${'expires '.repeat(30)}\n`.repeat(4_000),
    '\0\u0001\u0002',
  ]) {
    const before = process.cpuUsage()
    t.equal(parseWhoisExpiry(text), null, text.slice(0, 40))
    // a pattern that tries each position again would take minutes; the machine may be slow and busy
    const { user, system } = process.cpuUsage(before)
    t.ok((user + system) / 1_000 < 5_000, 'in time that grows with the length')
  }
})

t.test('a response may contain a referral to another server', async t => {
  t.same(parseReferral(fixture('iana.txt')), { host: 'whois.verisign-grs.com', port: 43 })
  t.same(parseReferral('refer: whois.test:4343\r\n'), { host: 'whois.test', port: 4343 })
  t.same(parseReferral('   Registrar WHOIS Server: whois.registrar.example\n'), {
    host: 'whois.registrar.example',
    port: 43,
  })
  for (const text of ['refer:', 'refer: -x', 'refer: a b', 'refer: http://x/', ''])
    t.equal(parseReferral(text), null, text)
})

t.test('the first server is parsed as host or host:port', async t => {
  t.same(parseWhoisServer('whois.iana.org'), { host: 'whois.iana.org', port: 43 })
  t.same(parseWhoisServer('127.0.0.1:4343'), { host: '127.0.0.1', port: 4343 })
  for (const text of ['', 'a b', 'a:0', 'a:70000', 'http://a', '-a']) t.equal(parseWhoisServer(text), null, text)
})
