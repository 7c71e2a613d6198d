import t from 'tap'
import type { MonitorType } from '../../../shared/checks/check.ts'
import { findTargetProblem, parseDnsTarget, parseTarget } from '../../../shared/checks/target.ts'

const good: [type: MonitorType, url: string, host: string, port: number | null][] = [
  ['http', 'http://example.com', 'example.com', 80],
  ['http', 'HTTPS://Example.COM./a?b', 'example.com', 443],
  ['keyword', 'https://example.com:8443/', 'example.com', 8443],
  ['http', 'http://[::1]:8080/', '::1', 8080],
  ['http', 'http://münchen.example/', 'xn--mnchen-3ya.example', 80],
  ['tcp', 'example.com', 'example.com', null],
  ['tcp', 'example.com:5432', 'example.com', 5432],
  ['tcp', 'localhost:8080', 'localhost', 8080],
  ['tcp', 'tcp://example.com:5432', 'example.com', 5432],
  ['tcp', 'tcp://example.com:5432/', 'example.com', 5432],
  ['tcp', 'TCP://EXAMPLE.com:1', 'example.com', 1],
  ['tcp', '10.0.0.1:65535', '10.0.0.1', 65535],
  ['tcp', '[2001:db8::1]:443', '2001:db8::1', 443],
  ['tcp', '2001:db8::1', '2001:db8::1', null],
  ['tcp', '0177.0.0.1:80', '127.0.0.1', 80],
  ['tcp', 'https://example.com/path', 'example.com', 443],
  ['tcp', 'http://example.com:81', 'example.com', 81],
  ['tcp', 'my_host:80', 'my_host', 80],
  ['ping', 'ping://example.com', 'example.com', null],
  ['ping', 'example.com', 'example.com', null],
  ['ping', 'http://example.com/', 'example.com', 80],
  ['dns', 'dns://example.com', 'example.com', null],
  ['dns', 'example.com.', 'example.com', null],
  ['dns', 'tcp://example.com:53', 'example.com', 53],
  ['dns', 'dns:example.com', 'example.com', null],
  ['dns', 'dns://192.0.2.1/example.com', '192.0.2.1', 53],
  ['dns', 'dns://[2001:db8::1]:5353/example.com?type=mx', '2001:db8::1', 5353],
]

t.test('A url is parsed to host and port in each form of its type', async t => {
  for (const [type, url, host, port] of good) t.same(parseTarget(type, url), { host, port }, `${type} ${url}`)
})

const bad: [type: MonitorType, url: string, error: RegExp][] = [
  ['http', 'example.com', /begin with http:\/\/ or https:\/\//],
  ['keyword', 'tcp://example.com:80', /url of a keyword monitor must begin with http/],
  ['http', 'file:///etc/passwd', /begin with http/],
  ['http', 'javascript:alert(1)', /begin with http/],
  ['http', '', /begin with http/],
  ['http', 'http://', /not a valid URL/],
  ['http', 'http:example.com', /not a valid URL/],
  ['http', 'http://1.2.3.4.5/', /not a valid URL/],
  ['http', 'http://example.com:99999/', /not a valid URL/],
  ['http', 'http://example.com:0/', /port 0/],
  ['http', 'https://user:secret@example.com/', /use auth_type and auth_config/],
  ['http', 'https://token@example.com/', /use auth_type and auth_config/],
  ['http', 'http://example.com/\r\nX-Header: 1', /control character/],
  ['http', 'http://exam\tple.com/', /control character/],
  ['http', 'http://example.com/\0', /control character/],
  ['http', `http://example.com/${'a'.repeat(2048)}`, /longer than 2048/],
  ['tcp', '', /not valid for a tcp monitor/],
  ['tcp', 'ftp://example.com:21', /not valid for a tcp monitor/],
  ['tcp', 'file:///etc/passwd', /not valid for a tcp monitor/],
  ['tcp', 'tcp://user@example.com:80', /not a host/],
  ['tcp', 'tcp://example.com:80/path', /not valid for a tcp monitor/],
  ['tcp', 'example.com:0', /port 0 is not between/],
  ['tcp', 'example.com:65536', /port 65536 is not between/],
  ['tcp', 'example.com:http', /not valid for a tcp monitor/],
  ['tcp', ':80', /not valid for a tcp monitor/],
  ['tcp', 'a b:80', /not a host/],
  ['tcp', 'fe80::1%eth0', /not a host/],
  ['ping', '-c 1; rm -rf /', /not a host/],
  ['ping', '$(id)', /not a host/],
  ['ping', '-f', /not a host/],
  ['http', 'http://$(id)/', /not a host/],
  ['tcp', 'a..b:80', /not a host/],
  ['dns', 'exa\nmple.com', /control character/],
  ['dns', 'dns://', /not valid for a dns monitor/],
  ['dns', 'dns:///', /not valid for a dns monitor/],
  ['dns', 'dns://server/a/b', /not valid for a dns monitor/],
  ['dns', 'dns://server:0/name', /port 0 is not between/],
  ['dns', 'dns://user@server/name', /not a host/],
  ['dns', 'dns://server/-x', /not a host/],
  ['dns', 'dns://server/name?type=PTR', /"ptr" is not a DNS record type; use one of A, AAAA/],
  ['dns', 'dns://server/name?class=CH', /"class=CH" is not supported in a dns url/],
  ['ping', 'dns://server/name', /not valid for a ping monitor/],
]

t.test('An invalid url of a type is refused with a reason', async t => {
  for (const [type, url, error] of bad) t.match(parseTarget(type, url), { error }, `${type} ${url.slice(0, 40)}`)
})

const questions: [url: string, name: string, type: string | null, server: { host: string; port: number } | null][] = [
  ['Example.com.', 'example.com', null, null],
  ['example.com:5353', 'example.com', null, null],
  ['https://example.com/page', 'example.com', null, null],
  ['dns://example.com', 'example.com', null, null],
  ['dns://example.com/', 'example.com', null, null],
  ['dns://example.com:53', 'example.com', null, null],
  ['dns://_dmarc.example.com?type=txt', '_dmarc.example.com', 'TXT', null],
  ['dns:example.com?class=IN;type=SRV', 'example.com', 'SRV', null],
  ['dns:///example.com?type=A', 'example.com', 'A', null],
  ['DNS://Ns1.example.com/Example.com?type=MX', 'example.com', 'MX', { host: 'ns1.example.com', port: 53 }],
  ['dns://192.0.2.1:5353/münchen.example', 'xn--mnchen-3ya.example', null, { host: '192.0.2.1', port: 5353 }],
  ['dns://[2001:db8::1]/example.com', 'example.com', null, { host: '2001:db8::1', port: 53 }],
]

t.test('A url of a dns monitor is parsed to name, type and server', async t => {
  for (const [url, name, type, server] of questions) t.same(parseDnsTarget(url), { name, type, server }, url)
})

const issues: [type: MonitorType, url: string | null, issue: string | null][] = [
  ['http', null, 'url is required to check an http monitor'],
  ['keyword', null, 'url is required to check a keyword monitor'],
  ['tcp', null, 'url is required to check a tcp monitor'],
  ['tcp', 'example.com', 'port is required to check a tcp monitor'],
  ['tcp', 'https://example.com', null],
  ['ping', 'example.com', null],
  ['dns', 'example.com', null],
  [
    'dns',
    '192.0.2.1',
    'a dns monitor needs a name to look up, not an address; to name a server, use dns://server/name',
  ],
  [
    'dns',
    'dns://192.0.2.1',
    'a dns monitor needs a name to look up, not an address; to name a server, use dns://server/name',
  ],
  ['heartbeat', null, null],
]

t.test('A monitor reports the problem of its url', async t => {
  for (const [type, url, issue] of issues) t.equal(findTargetProblem(type, url), issue, `${type} ${url}`)
})
